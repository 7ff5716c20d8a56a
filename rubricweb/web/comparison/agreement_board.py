"""The agreement board of a queue, and its numbers as a file."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from rubricweb import access
from rubricweb.errors import Withheld
from rubricweb.models import Role
from rubricweb.selectors.comparison.board import board as selected
from rubricweb.selectors.comparison.board.rows import COLUMNS, board_rows
from rubricweb.web.comparison.board_answer import board_answer
from rubricweb.web.comparison.figure_tables import board_table
from rubricweb.web.comparison.tiles import board_tiles
from rubricweb.web.csv_files import csv_file
from rubricweb.web.http import TeamRequest, team_page, whole_number
from rubricweb.web.shared.titles import titles


@team_page(Role.VIEWER)
@require_GET
def board(request: TeamRequest, queue_id: int) -> HttpResponse:
    """The page; `?criterion=` narrows pairs, items and weeks, `?format=csv` hands out the numbers."""
    queue = access.access_queue(request.team, queue_id)
    criterion_id = whole_number(request.GET.get("criterion"), "criterion")
    as_file = request.GET.get("format") == "csv"
    context: dict[str, Any] = {"queue": queue}
    try:
        figures = selected.agreement_board(queue, request.user, criterion_id=criterion_id)
    except Withheld as error:
        if as_file:
            raise
        return render(request, "comparison/agreement/board.html", context | {"withheld": str(error)})
    if as_file:
        rows = ([row[column] for column in COLUMNS] for row in board_rows(figures))
        return csv_file(f"agreement-{queue.pk}.csv", COLUMNS, rows)
    context |= titles(request, [row.item_id for row in figures.hardest]) | {
        "board": figures,
        "answer": board_answer(figures),
        "tiles": list(board_tiles(figures)),
        "table": board_table(figures),
    }
    part = request.htmx and not request.htmx.boosted
    return render(request, f"comparison/agreement/{'_' if part else ''}board.html", context)
