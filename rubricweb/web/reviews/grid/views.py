"""A rater's own items as rows, criteria as columns: the review page of several items at once."""

from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render

from rubricweb import access
from rubricweb.errors import Conflict, Forbidden
from rubricweb.models import Criterion, Review, ReviewQueue, ReviewState, Role
from rubricweb.selectors.reviews import queues as selected
from rubricweb.selectors.reviews import reviews
from rubricweb.services.reviews import prefetch
from rubricweb.services.reviews import queues as services
from rubricweb.web.http import TeamRequest, now, team_page, whole_number
from rubricweb.web.reviews.forms import known_answer
from rubricweb.web.shared.titles import titles


@dataclass(frozen=True)
class GridCell:
    """One criterion of a row: the question with what is stored of it, as its form sends it back."""

    question: reviews.ReviewQuestion
    known: str


@dataclass(frozen=True)
class GridRow:
    """One draft; a cell is None where its item is not asked about the column. `elsewhere`: it has a rubric of
    its own and is answered on its page.
    """

    review: Review
    cells: tuple[GridCell | None, ...]
    elsewhere: bool


@team_page(Role.VIEWER, post=Role.ANNOTATOR)
def grid(request: TeamRequest, queue_id: int) -> HttpResponse:
    """POST takes items until the table is full. `open` is the review whose item stands beside the table."""
    queue = access.access_queue(request.team, queue_id)
    request.is_quiet = True
    if request.method == "POST":
        try:
            services.fill_grid(queue, request.user, now=now())
        except (Conflict, Forbidden) as error:
            messages.error(request, str(error))
        return redirect("queue_grid", request.team.slug, queue.pk)
    drafts = _drafts(request, queue) if queue.grid else []
    opened = whole_number(request.GET.get("open"), "The review")
    shown = next((one for one in drafts if one.pk == opened), drafts[0] if drafts else None)
    context: dict[str, Any] = {
        "queue": queue,
        "shown": shown,
        **titles(request, [one.item_id for one in drafts]),
    }
    if shown is not None:
        version = shown.item.rubric_version or queue.rubric_version
        context |= {
            "item": shown.item,
            "submission": shown.item.to_engine(),
            "sheet": version,
            "quotable": {},
        }
    if request.htmx and not request.htmx.boosted:
        return render(request, "reviews/grid/_panel.html", context)
    columns = list(queue.criteria_asked().exclude(kind="check").order_by("position"))
    for one in drafts:
        prefetch.mark_opened(one)
    context |= {
        "columns": columns,
        "rows": [_row(one, columns) for one in drafts],
        "progress": selected.own_progress(queue, request.user),
        "i_rate": selected.rates(queue, request.user),
        "takes": services.GRID_ROWS - len(drafts),
    }
    return render(request, "reviews/grid/grid.html", context)


def _drafts(request: TeamRequest, queue: ReviewQueue) -> list[Review]:
    """The person's own open reviews of the queue, in the order they were handed out."""
    mine = Review.objects.filter(queue=queue, rater__user=request.user, state=ReviewState.DRAFT)
    rows = mine.select_related("queue__rubric_version", "item__rubric_version", "item__case", "item__dataset")
    return list(rows.order_by("started_at", "pk")[: services.GRID_ROWS])


def _row(review: Review, columns: list[Criterion]) -> GridRow:
    asked = {
        one.criterion.pk: GridCell(one, known_answer(one))
        for one in reviews.questions(review)
        if one.is_asked
    }
    elsewhere = not set(asked) <= {column.pk for column in columns}
    return GridRow(review, tuple(asked.get(column.pk) for column in columns), elsewhere)
