"""The small rows lists and dashboards read, written when a run ends."""

from django.db.models import Avg, F, Sum

from rubricweb.engine.agreement.means import mean_figure
from rubricweb.models import (
    Criterion,
    Judgement,
    Run,
    RunCriterionSummary,
    RunItem,
    RunSummary,
    RunTally,
)
from rubricweb.selectors.criterion_counts import criterion_counts


def summarise(run: Run) -> RunSummary:
    """Writes the summary of a run and of its criteria; the only function that writes them."""
    items = RunItem.objects.filter(run=run)
    scored = items.filter(score__isnull=False).order_by("item_id").values_list("score", flat=True)
    scores = [score for score in scored.iterator() if score is not None]
    mean = mean_figure(scores)
    spent = RunTally.objects.filter(run=run).aggregate(
        calls=Sum(F("calls") + F("cached")),
        prompt=Sum("prompt_tokens"),
        completion=Sum("completion_tokens"),
        cost=Sum("cost_usd"),
        unpriced=Sum("unpriced"),
    )
    summary, _ = RunSummary.objects.update_or_create(
        run=run,
        defaults={
            "items": items.count(),
            "scored": len(scores),
            "score_mean": mean.value,
            "score_low": mean.low,
            "score_high": mean.high,
            "coverage": items.filter(graded_at__isnull=False).aggregate(mean=Avg("coverage"))["mean"],
            "verdicts": Judgement.objects.filter(run=run, error_kind=None).count(),
            "errors": items.aggregate(total=Sum("errors"))["total"] or 0,
            "prompt_tokens": spent["prompt"] or 0,
            "completion_tokens": spent["completion"] or 0,
            "cost_usd": None if spent["unpriced"] or not spent["calls"] else spent["cost"],
        },
    )
    RunCriterionSummary.objects.filter(run=run).delete()
    if run.rubric_version_id is not None:
        _summarise_criteria(run)
    return summary


def _summarise_criteria(run: Run) -> None:
    judgements = Judgement.objects.filter(run=run, criterion__version_id=run.rubric_version_id)
    criteria = Criterion.objects.filter(version_id=run.rubric_version_id).order_by("position")
    RunCriterionSummary.objects.bulk_create(
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
    )
