"""A try as an answer to a browser: lines that a script puts into the page as they come, or the page when all
is told.
"""

import json
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse, StreamingHttpResponse
from django.template.loader import render_to_string

from rubricweb.errors import Invalid, Refusal
from rubricweb.services.tries.answers import BEFORE, TRIED
from rubricweb.services.tries.tries import Trying
from rubricweb.web.errors import STATUS
from rubricweb.web.shared.tries.table import TryTable

LINES = "application/x-ndjson"
CELL, SUMS, TABLE = (f"shared/tries/_{name}.html" for name in ("cell", "sums", "table"))


def reads_lines(request: HttpRequest) -> bool:
    """Whether the page's script asks, which puts answers into the page as they come."""
    return LINES in request.headers.get("Accept", "")


def told(
    request: HttpRequest,
    begin: Callable[[], Trying],
    page: Callable[..., HttpResponse],
    *,
    headings: dict[str, str],
    about: dict[str, Any] | None = None,
) -> HttpResponseBase:
    """What comes of a try: as lines to a script, else the page with `tried`, or `try_refused` and a
    status.
    """
    try:
        trying = begin()
    except Refusal as error:
        return refused(request, error, page)
    table = TryTable(trying.subject, trying.sides, headings)
    if reads_lines(request):
        response = StreamingHttpResponse(TryStream(trying, table, about or {}), content_type=LINES)
        response["X-Content-Type-Options"] = "nosniff"
        return response
    with closing(trying):
        for piece in trying:
            table.take(piece)
    return page(tried=table, **(about or {}))


def refused(request: HttpRequest, error: Refusal, page: Callable[..., HttpResponse]) -> HttpResponseBase:
    """Why nothing was tried: to the script in a sentence, else on the page."""
    status = 422 if isinstance(error, Invalid) else STATUS[type(error)]
    if reads_lines(request):
        return JsonResponse({"message": str(error)}, status=status)
    return page(try_refused=error, status=status)


class TryStream:
    """Lines of JSON, each with a `place` of the page and the `html` that stands there now.

    Closed when nobody reads on, read or not: then nothing more is asked.
    """

    def __init__(self, trying: Trying, table: TryTable, about: dict[str, Any]) -> None:
        self._trying = trying
        self._table = table
        self._about = about
        self._lines = self._made()

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        return next(self._lines)

    def close(self) -> None:
        self._lines.close()
        self._trying.close()

    def _made(self) -> Generator[bytes]:
        table = self._table
        item = self._trying.subject.item
        context = {"tried": table, **self._about}
        yield _line("try-result", render_to_string(TABLE, context), after=item.pk if item else None)
        shows_overall = False
        for piece in self._trying:
            changed = table.take(piece)
            if table.shows_overall and not shows_overall:
                # A row that nobody knew of before.
                shows_overall = True
                yield _line("try-result", render_to_string(TABLE, context))
                continue
            for cell in changed:
                yield _line(cell.place, render_to_string(CELL, {"cell": cell}))
            yield _line("try-sums", render_to_string(SUMS, {"tried": table}))


def one_line(place: str, html: str, **more: Any) -> HttpResponse:
    """An answer that is there at once, as the script of the page reads it."""
    return HttpResponse(_line(place, html, **more), content_type=LINES)


def _line(place: str, html: str, **more: Any) -> bytes:
    return json.dumps({"place": place, "html": html} | more).encode() + b"\n"


def headings_of(tried: str, before: str = "") -> dict[str, str]:
    """What the columns are called."""
    return {TRIED: tried, BEFORE: before}
