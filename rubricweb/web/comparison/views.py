"""Comparison: judge against people in figures, and one item with everybody's verdicts."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET

from rubricweb import access
from rubricweb.errors import Withheld
from rubricweb.models import Item, ReviewQueue, Role, Run, RunState
from rubricweb.selectors.adjudication import inbox
from rubricweb.selectors.adjudication.units import aliases
from rubricweb.selectors.comparison import comparison as selected
from rubricweb.selectors.comparison.findings import findings
from rubricweb.selectors.comparison.item import CriterionAnswers, item_comparison
from rubricweb.selectors.judges import shown_judge, withheld_judges
from rubricweb.selectors.labels import comparable
from rubricweb.selectors.reviews import comments
from rubricweb.selectors.reviews.reviews import Measured, measured
from rubricweb.selectors.reviews.revision_rates import revision_rates
from rubricweb.selectors.rubrics.todo import rubric_todo
from rubricweb.selectors.shared.unavailable import sample_for
from rubricweb.services.datasets.halves import looks
from rubricweb.web.comparison import words
from rubricweb.web.comparison.answer import comparison_answer
from rubricweb.web.comparison.asides import dots, faults
from rubricweb.web.comparison.figure_tables import figure_lines, verdict_rows
from rubricweb.web.comparison.forms import ComparisonQuery, read_asked
from rubricweb.web.comparison.numbers import COLUMNS, comparison_rows
from rubricweb.web.comparison.opened import opened_criterion
from rubricweb.web.comparison.tiles import tiles
from rubricweb.web.csv_files import csv_file
from rubricweb.web.http import TeamRequest, team_page
from rubricweb.web.shared.names import are_names_shown
from rubricweb.web.shared.refreshing import read_refresh
from rubricweb.web.shared.titles import titles


@team_page(Role.VIEWER)
@require_GET
def compare(request: TeamRequest) -> HttpResponse:
    asked, selection = _asked(request)
    withheld = withheld_judges(request.team, request.user) if selection.runs else frozenset()
    context: dict[str, Any] = {
        "asked": asked,
        "refresh": read_refresh(request.GET),
        "selection": selection,
        "runs": [(run, shown_judge(run, withheld)) for run in selection.runs],
        "judge_name": shown_judge(selection.run, withheld) if selection.run else "",
    }
    if selection.run is None or not selection.queues:
        context["unavailable"] = comparable.why_not_comparable(request.team, selection)
        page = render(request, "comparison/nothing.html", context)
        if request.htmx:
            page["HX-Redirect"] = request.get_full_path()
        return page
    run = selection.run
    comparison = selected.compare(run, selection.queues, viewer=request.user)
    comparison = looks.count_look(comparison, by=request.user)
    if asked.as_file:
        return csv_file(f"comparison-{run.pk}.csv", COLUMNS, comparison_rows(comparison))
    waiting = inbox.inbox(inbox.scope(request.team, request.user, selection.queues, run))
    low = comparison.scale_low
    choices = [(row, list(figure_lines(row, low))) for row in comparison.criteria if row.options is not None]
    rubric = run.rubric_version.rubric if run.rubric_version is not None else None
    todo = rubric_todo(rubric, viewer=request.user) if rubric is not None else []
    answer = comparison_answer(comparison, asked.by, asked.criterion_id)
    inbox_url = f"{reverse('adjudication', args=[request.team.slug])}?{asked.pair}"
    context |= {
        "found": comparison,
        "answer": answer,
        "judge_version": comparison.judge_version,
        "dots": dots(request, comparison, asked.pair),
        "sample": sample_for(run, answer.verdict.more_items or 0) if answer else None,
        "faults": (causes := faults(todo)),
        "most_faults": max([fault.count for fault in causes] + [len(waiting), 1]),
        "todo": todo,
        "tiles": list(tiles(comparison)),
        "other_wordings": words.other_wordings(comparison, selection.other_versions),
        "special_cases": list(words.special_cases(comparison, inbox_url, has_choices=bool(choices))),
        "bias_words": words.bias_words(comparison.scores.agreement, comparison.confidence),
        "estimate_words": words.estimate_words(comparison.scores.estimate),
        "binary": verdict_rows(comparison),
        "choices": choices,
        "checks": [row for row in comparison.criteria if row.mean_value is not None],
        "findings": findings(comparison),
        "holistic": comparable.is_holistic(run),
        "running": run.state == RunState.RUNNING,
        "waiting": len(waiting),
        "revisions": revision_rates(run, selection.queues, viewer=request.user),
    }
    if answer is not None and answer.opened is not None:
        opened = opened_criterion(comparison, answer.opened, waiting, viewer=request.user)
        context["opened"] = opened
        context |= titles(request, [opened.example.item.pk] if opened.example else [])
    part = request.htmx and not request.htmx.boosted
    return render(request, f"comparison/{'_' if part else ''}compare.html", context)


@team_page(Role.VIEWER)
@require_GET
def item(request: TeamRequest, item_id: int) -> HttpResponse:
    """One item with everybody's verdicts; for a rater who is still to review it blind, only the item."""
    item = access.access_item(request.team, item_id)
    asked, run, queues = _asked_for_item(request, item)
    names = are_names_shown(request, item)
    context: dict[str, Any] = {
        "asked": asked,
        "item": item,
        **titles(request, [item.pk]),
        "submission": item.to_engine(),
        "run": run,
        "thread": comments.thread(
            item,
            viewer=request.user,
            run=run,
            queues=queues,
            letters=None if names else aliases(item),
        ),
    }
    try:
        seen = item_comparison(item, run, queues, viewer=request.user, names=names)
    except Withheld as error:
        return render(request, "comparison/item.html", context | {"withheld": str(error)})
    context |= {
        "seen": seen,
        "rows": [(row, _measured(row, item)) for row in seen.criteria],
        "names": names,
    }
    return render(request, "comparison/item.html", context)


# ── What the views above are made of ─────────────────────────────────────────────────────────────


def _asked(request: TeamRequest) -> tuple[ComparisonQuery, comparable.ComparisonSelection]:
    asked = read_asked(request.GET)
    run = access.access_run(request.team, asked.run_id) if asked.run_id is not None else None
    selection = comparable.select_comparison(
        request.team, run=run, asked=access.access_queues(request.team, asked.queue_ids)
    )
    return asked.of(selection.run, selection.queues), selection


def _asked_for_item(
    request: TeamRequest, item: Item
) -> tuple[ComparisonQuery, Run | None, tuple[ReviewQueue, ...]]:
    """As asked, or the run and queues of the item's own dataset."""
    asked = read_asked(request.GET)
    run = access.access_run(request.team, asked.run_id) if asked.run_id is not None else None
    queues = access.access_queues(request.team, asked.queue_ids)
    if not queues:
        queues = comparable.counting_queues(item.dataset)
    if run is None and not asked.queue_ids:
        run = comparable.run_to_compare(request.team, queues) if queues else comparable.run_with(item)
    return asked.of(run, queues), run, tuple(queues)


def _measured(row: CriterionAnswers, item: Item) -> Measured | None:
    """What a check finds in the item; nobody has to decide that."""
    return measured(row.criterion, item.to_engine()) if row.criterion.kind == "check" else None
