"""What a shared link shows, without an account: figures as they were."""

from collections.abc import Sequence
from dataclasses import dataclass

from allauth.account.adapter import get_adapter
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from rubricweb.engine.agreement import Figure
from rubricweb.errors import NotFound, Withheld
from rubricweb.models import SharedFigure, SharedPage, SharedTable
from rubricweb.services.shared.throttles import count_opening
from rubricweb.services.sharing import links as sharing
from rubricweb.web.http import now
from rubricweb.web.shared.plots import (
    SHARE_AXIS,
    Axis,
    Mark,
    PictureRow,
    Tick,
    difference_axis,
    kappa_axis,
)


@dataclass(frozen=True)
class DrawnRow:
    """One line: marks on the axis, and the same in numbers."""

    name: str
    about: str
    marks: tuple[Mark, ...]
    cells: tuple[PictureRow, ...]


@dataclass(frozen=True)
class DrawnTable:
    title: str
    note: str
    columns: tuple[str, ...]
    axis: Axis
    rows: tuple[DrawnRow, ...]


@login_not_required
@require_safe
def shared(request: HttpRequest, secret: str) -> HttpResponse:
    """The figures; one page and one status for links that were never made, have ended or are revoked.

    No cookie is set, nothing is kept by browsers and search engines, and no other site learns the address.
    """
    wait = count_opening(get_adapter().get_client_ip(request), now=now())
    if wait is not None:
        answer = render(request, "teams/sharing/nothing.html", {"busy": True}, status=429)
        answer["Retry-After"] = str(wait)
        return _private(answer)
    try:
        link = sharing.open_link(secret, now=now(), counts=request.method == "GET")
    except NotFound:
        return _private(render(request, "teams/sharing/nothing.html", status=404))
    except Withheld as error:
        return _private(render(request, "teams/sharing/nothing.html", {"paused": str(error)}))
    context = {"link": link, "page": link.page, "tables": drawn(link.page)}
    return _private(render(request, "teams/sharing/page.html", context))


def drawn(page: SharedPage) -> list[DrawnTable]:
    """The tables of a page with the axes they are drawn on."""
    return [_drawn(table) for table in page.tables]


def _private(answer: HttpResponse) -> HttpResponse:
    answer["X-Robots-Tag"] = "noindex, nofollow"
    answer["Referrer-Policy"] = "no-referrer"
    return answer


def _drawn(table: SharedTable) -> DrawnTable:
    percent, signed = table.scale == "share", table.scale in ("difference", "points")
    rows = []
    for row in table.rows:
        marks = tuple(Mark(one.who, _figure(one), one.few) for one in row.figures)
        cells = tuple(PictureRow(row.name, row.about, mark, percent, signed) for mark in marks)
        rows.append(DrawnRow(row.name, row.about, marks, cells))
    axis = _axis(table, [mark.figure for row in rows for mark in row.marks])
    return DrawnTable(table.title, table.note, table.columns, axis, tuple(rows))


def _figure(one: SharedFigure) -> Figure:
    return Figure(one.value, one.low, one.high, one.n)


def _axis(table: SharedTable, figures: Sequence[Figure]) -> Axis:
    if table.scale == "share":
        return SHARE_AXIS
    if table.scale == "kappa":
        return kappa_axis(figures, with_words=False)
    if table.scale == "score":
        return _score_axis(figures)
    return difference_axis(figures, unit=1.0 if table.scale == "points" else 0.01)


def _score_axis(figures: Sequence[Figure]) -> Axis:
    """From 0 to 1; of raw scores from the lowest to the highest end of an interval, 0 among them."""
    ends = [end for one in figures for end in (one.value, one.low, one.high) if end is not None]
    low, high = min([0.0, *ends]), max([1.0, *ends])
    ticks = tuple(Tick(at, f"{at:g}") for at in (low, (low + high) / 2, high))
    return Axis(low, high, ticks)
