"""The small rows lists and dashboards read, written when a run ends or is paused."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import Avg, Count, F, Max, Q, Sum
from django.utils import timezone

from rubricweb.engine.agreement.scores.low_end import low_end
from rubricweb.engine.agreement.scores.means import mean_figure
from rubricweb.engine.agreement.scores.pairing import case_means
from rubricweb.models import (
    FULLY_JUDGED,
    Criterion,
    Run,
    RunCriterionSummary,
    RunItem,
    RunState,
    RunSummary,
    RunTally,
)
from rubricweb.selectors.runs import group_means
from rubricweb.selectors.runs.criterion_counts import criterion_counts, on_judged_items
from rubricweb.selectors.runs.progress import item_counts
from rubricweb.selectors.shared.cases import has_repeated_cases, with_cases
from rubricweb.selectors.shared.score_ends import score_ends

# While the last answers are on their way what was worked out may be out of date at once. Whoever brings the
# very last one sums up again.
TRIES = 3
SUMMED_AT_ONCE = 20
"""So many runs without a summary are summed up by one sweep of a worker."""


@dataclass(frozen=True)
class SummaryFigures:
    """What a summary says, and what the rows it rests on looked like before they were read."""

    seen: tuple[Mapping[str, Any], ...]
    summary: Mapping[str, Any]
    criteria: Sequence[RunCriterionSummary]


def summarise(run: Run) -> None:
    """Writes the summary of a run and of its criteria, unless it is running; nothing else writes them.

    The interval of 100,000 scores takes more than a second. It is worked out before the run's row is held, or
    workers that store would wait, and again where something came in meanwhile.
    """
    for left in reversed(range(TRIES)):
        if _written(run, figures_of(run), anyway=not left):
            return


def summarise_at_once(held: Run, figures: SummaryFigures) -> None:
    """Writes what was worked out before the run was held; anew where something came in since.

    Whoever sees that the run has ended sees its summary too.
    """
    if not _written(held, figures, anyway=False):
        _written(held, figures_of(held), anyway=True)


def summarise_stopped() -> None:
    """Sums up, newest first, some of those that have ended without: whose process was killed before it came
    to that, those whose summary an update took away, and those summed up before a lowest score was kept, of
    the run or of its groups.

    Of many no worker does all at once: it has others to look after.
    """
    to_write = Q(summary=None) | Q(summary__score_lowest=None, summary__scored__gt=0)
    to_write |= Q(summary__groups__0__isnull=False, summary__groups__0__lowest__isnull=True)
    ended = Run.objects.exclude(state=RunState.RUNNING).filter(to_write)
    for run in ended.order_by("-pk")[:SUMMED_AT_ONCE]:
        summarise(run)


def figures_of(run: Run) -> SummaryFigures:
    """What there is to say of a run now; of 100,000 scores that takes more than a second."""
    seen, counts = _seen(run), item_counts(run, timezone.now())
    _, spent = seen
    rows = RunItem.objects.filter(run=run)
    scored = rows.filter(FULLY_JUDGED, score__isnull=False).order_by("item_id")
    repeats_cases = has_repeated_cases(run, anew=True)
    scores, passed, _, cases = with_cases(scored, "score", "passed", by_case=repeats_cases)
    means, ends = case_means(scores, cases), low_end(scores, passed, cases)
    mean = mean_figure(means.tolist(), limits=score_ends(run))
    groups = group_means.group_means(run, rows.filter(FULLY_JUDGED))
    summary = {
        "items": counts.everything,
        "scored": len(scores),
        "cases": len(means),
        "repeats_cases": repeats_cases,
        "fully_judged": counts.graded - counts.errored,
        "score_mean": mean.value,
        "score_low": mean.low,
        "score_high": mean.high,
        "score_lowest": ends.lowest,
        "below_bar": ends.below_bar,
        "coverage": rows.filter(graded_at__isnull=False).aggregate(mean=Avg("coverage"))["mean"],
        "verdicts": counts.verdicts,
        "errors": counts.errors,
        "prompt_tokens": spent["prompt"] or 0,
        "completion_tokens": spent["completion"] or 0,
        "groups": group_means.as_stored(groups),
        "cost_usd": None if spent["unpriced"] or not spent["calls"] else spent["cost"],
        "lost_at_most_usd": spent["lost"] or 0.0,
    }
    return SummaryFigures(seen, summary, [] if run.rubric_version_id is None else _criteria(run))


def _seen(run: Run) -> tuple[Mapping[str, Any], ...]:
    """What is other than before once anything was stored or taken away; two sums in the database."""
    items = RunItem.objects.filter(run=run).aggregate(
        items=Count("pk"),
        which=Sum("item"),  # others come in their place where a run is extended
        graded=Count("graded_at"),
        latest=Max("graded_at"),
        errors=Sum("errors"),
    )
    spent = RunTally.objects.filter(run=run).aggregate(
        calls=Sum(F("calls") + F("cached")),
        prompt=Sum("prompt_tokens"),
        completion=Sum("completion_tokens"),
        cost=Sum("cost_usd"),
        unpriced=Sum("unpriced"),
        lost=Sum("lost_at_most_usd"),
    )
    return items, spent


def _criteria(run: Run) -> list[RunCriterionSummary]:
    judgements = on_judged_items(run).filter(criterion__version_id=run.rubric_version_id)
    criteria = Criterion.objects.filter(version_id=run.rubric_version_id).order_by("position")
    return [
        RunCriterionSummary(
            run=run,
            criterion_id=found.criterion.pk,
            met=found.met,
            unmet=found.unmet,
            cannot_assess=found.cannot_assess,
            errors=found.errors,
            values_mean=found.values_mean,
            options=dict(found.labels) if found.criterion.kind == "choice" else {},
        )
        for found in criterion_counts(criteria, judgements)
        if found.answers or found.errors
    ]


@transaction.atomic
def _written(run: Run, figures: SummaryFigures, *, anyway: bool) -> bool:
    """Writes them if they still hold, or `anyway`; else False. A run that goes on again has no summary."""
    held = Run.objects.select_for_update(no_key=True).get(pk=run.pk)
    if held.state == RunState.RUNNING:
        return True
    if not anyway and _seen(run) != figures.seen:
        return False
    RunSummary.objects.update_or_create(run=run, defaults=figures.summary)
    RunCriterionSummary.objects.filter(run=run).delete()
    RunCriterionSummary.objects.bulk_create(figures.criteria)
    return True
