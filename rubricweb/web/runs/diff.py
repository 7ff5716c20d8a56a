"""Pages of a run against another one: what changed over the same items, and one item side by side."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from rubricweb import access
from rubricweb.errors import Invalid, NotFound, Withheld
from rubricweb.models import Role, Run
from rubricweb.selectors.comparison.run_table import MOST
from rubricweb.selectors.judges import shown_judge, withheld_judges
from rubricweb.selectors.runs.diff import diff as selected
from rubricweb.selectors.runs.diff import items
from rubricweb.selectors.runs.diff.item import item_in_both
from rubricweb.selectors.runs.over_time.version_pairs import version_called, version_pair
from rubricweb.web.http import TeamRequest, team_page, whole_number
from rubricweb.web.runs.diff_answer import diff_answer
from rubricweb.web.shared.titles import titles


@team_page(Role.VIEWER)
@require_safe
def choose(request: TeamRequest, run_id: int) -> HttpResponse:
    """On to the baseline that is asked for, else to the likeliest; a page that says so when there is none."""
    run = access.access_run(request.team, run_id)
    asked = whole_number(request.GET.get("baseline"), "The baseline")
    baseline = selected.baseline_for(run) if asked is None else access.access_run(request.team, asked)
    if baseline is None:
        return render(request, "runs/diff/nothing.html", {"run": run})
    selected.require_comparable(run, baseline)
    return redirect("run_diff", request.team.slug, run.pk, baseline.pk)


@team_page(Role.VIEWER)
@require_safe
def pair(request: TeamRequest) -> HttpResponse:
    """On to the two runs that were ticked in the list, the later one held against the earlier, or to the
    table of three to twelve. Where it is another number the list says so.
    """
    ticked = {whole_number(one, "A run") for one in request.GET.getlist("run")} - {None}
    if 2 < len(ticked) <= MOST:
        asked = urlencode([("run", str(one)) for one in sorted(filter(None, ticked))])
        return redirect(f"{reverse('run_table', args=[request.team.slug])}?{asked}")
    if len(ticked) != 2:
        messages.error(request, f"Tick two to {MOST} runs to compare them, not {len(ticked)}.")
        return redirect("runs", request.team.slug)
    runs = [access.access_run(request.team, one) for one in ticked if one is not None]
    baseline, run = sorted(runs, key=lambda one: (one.created_at, one.pk))
    selected.require_comparable(run, baseline)
    return redirect("run_diff", request.team.slug, run.pk, baseline.pk)


@team_page(Role.VIEWER)
@require_safe
def versions(request: TeamRequest, dataset_id: int) -> HttpResponse:
    """On to the newest runs over `version` and `baseline`; a page that says which is missing.

    Over answers in this dataset, graded alike.
    """
    dataset = access.access_dataset(request.team, dataset_id)
    context: dict[str, Any] = {
        "dataset": dataset,
        "dataset_id": str(dataset.pk),
        "may_edit": request.membership.may(Role.EDITOR),
    }
    try:
        version, baseline = (
            version_called(request.team, request.GET.get(name, "")) for name in ("version", "baseline")
        )
        pair = version_pair(request.team, version, baseline, dataset=dataset)
    except Invalid as error:
        return render(request, "runs/diff/cases/no_pair.html", context | {"why": str(error)})
    return redirect("run_diff", request.team.slug, pair.run.pk, pair.baseline.pk)


@team_page(Role.VIEWER)
@require_safe
@vary_on_headers("HX-Request")
def diff(request: TeamRequest, run_id: int, baseline_id: int) -> HttpResponse:
    """The page; with htmx the list of items alone."""
    run, baseline = _both(request, run_id, baseline_id)
    hidden = items.hidden_from(run, request.user)
    changes = items.item_changes(run, baseline, hidden)
    context: dict[str, Any] = {
        "run": run,
        "baseline": baseline,
        "page": items.item_page(
            changes,
            run,
            baseline,
            change=request.GET.get("change", ""),
            cursor=whole_number(request.GET.get("cursor"), "The cursor"),
        ),
        "scale": items.score_scale(run, baseline),
    }
    context |= titles(request, [row.item.pk for row in context["page"].rows])
    if request.htmx and not request.htmx.boosted:
        return render(request, "runs/diff/_items.html", context)
    found = selected.run_diff(run, baseline, viewer=request.user, changes=changes)
    withheld = withheld_judges(request.team, request.user)
    others = selected.baselines(run, baseline)
    context |= {
        "found": found,
        "answer": diff_answer(found),
        "others": [(other, shown_judge(other, withheld)) for other in others],
    }
    return render(request, "runs/diff/diff.html", context)


@team_page(Role.VIEWER)
@require_safe
def item(request: TeamRequest, run_id: int, baseline_id: int, item_id: int) -> HttpResponse:
    """Both runs' answers about one item, or about two answers to one case, of which `beside` names the other.

    For a rater who is still to review it blind, only the item.
    """
    run, baseline = _both(request, run_id, baseline_id)
    item = access.access_item(request.team, item_id)
    change = request.GET.get("change", "")
    context: dict[str, Any] = {
        "run": run,
        "baseline": baseline,
        "item": item,
        **titles(request, [item.pk]),
        "change": change,
        "submission": item.to_engine(),
    }
    changes = items.item_changes(run, baseline, items.hidden_from(run, request.user))
    around = items.items_around(items.narrowed(changes, change), item.pk)
    try:
        beside = whole_number(request.GET.get("beside"), "The other answer")
        seen = item_in_both(run, baseline, item, viewer=request.user, beside=beside)
    except Withheld as error:
        return render(request, "runs/diff/item.html", context | {"withheld": str(error)})
    if seen is None:
        raise NotFound("item in these runs")
    context |= {
        "seen": seen,
        "attempts": (
            (seen.baseline_rows, seen.baseline_row, seen.run_row, "Baseline"),
            (seen.run_rows, seen.run_row, seen.baseline_row, "This run"),
        ),
        "around": around,
        "before_url": _item_url(request, run, baseline, around.before, change),
        "after_url": _item_url(request, run, baseline, around.after, change),
    }
    return render(request, "runs/diff/item.html", context)


def _both(request: TeamRequest, run_id: int, baseline_id: int) -> tuple[Run, Run]:
    run, baseline = access.access_run(request.team, run_id), access.access_run(request.team, baseline_id)
    selected.require_comparable(run, baseline)
    return run, baseline


def _item_url(request: TeamRequest, run: Run, baseline: Run, item_id: int | None, change: str) -> str:
    """Where an item of the list opens, narrowed as the list is; "" for none."""
    if item_id is None:
        return ""
    url = reverse("run_diff_item", args=[request.team.slug, run.pk, baseline.pk, item_id])
    return f"{url}?change={change}" if change else url
