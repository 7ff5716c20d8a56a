"""Summaries of earlier runs leave items with errors out of their figures; running it again is fine."""

from collections import Counter, defaultdict
from typing import Any

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.models import Avg, Count

from rubricweb.engine.agreement.scores.means import mean_figure


def recount(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    run_items: Any = apps.get_model("rubricweb", "RunItem").objects
    summaries: Any = apps.get_model("rubricweb", "RunSummary").objects
    fully = run_items.filter(graded_at__isnull=False, errors=0).order_by()
    counts = dict(fully.values_list("run").annotate(n=Count("pk")))
    errored = set(run_items.filter(errors__gt=0).order_by().values_list("run", flat=True))
    for summary in summaries.select_related("run").iterator():
        summary.fully_judged = counts.get(summary.run_id, 0)
        summary.save(update_fields=["fully_judged"])
        if summary.run_id not in errored:
            continue
        judged = run_items.filter(run=summary.run_id, graded_at__isnull=False, errors=0).order_by("item_id")
        scores = list(judged.filter(score__isnull=False).values_list("score", flat=True))
        mean = mean_figure(scores)
        summary.scored = len(scores)
        summary.score_mean, summary.score_low, summary.score_high = mean.value, mean.low, mean.high
        summary.save(update_fields=["scored", "score_mean", "score_low", "score_high"])
        _recount_criteria(apps, summary.run, judged)


def _recount_criteria(apps: Apps, run: Any, judged: Any) -> None:
    judgements: Any = apps.get_model("rubricweb", "Judgement").objects
    rows: Any = apps.get_model("rubricweb", "RunCriterionSummary").objects
    answers = judgements.filter(
        run=run, error_kind=None, item__in=judged.order_by().values("item")
    ).order_by()
    labels: dict[int, Counter[str]] = defaultdict(Counter)
    for pk, label, n in (
        answers.filter(value=None).values_list("criterion", "verdict").annotate(n=Count("pk"))
    ):
        labels[pk][label] += n
    measured = dict(answers.filter(value__isnull=False).values_list("criterion").annotate(mean=Avg("value")))
    for row in rows.filter(run=run).select_related("criterion"):
        kind, found = row.criterion.kind, labels[row.criterion_id]
        options = {one["label"]: one for one in row.criterion.options} if kind == "choice" else {}
        row.met, row.unmet = (found["MET"], found["UNMET"]) if kind == "binary" else (0, 0)
        row.cannot_assess = sum(
            n
            for label, n in found.items()
            if (options[label].get("na") if label in options else label == "CANNOT_ASSESS")
        )
        row.values_mean = measured.get(row.criterion_id) if kind == "check" else _mean_option(options, found)
        row.options = dict(found) if kind == "choice" else {}
        row.save(update_fields=["met", "unmet", "cannot_assess", "values_mean", "options"])


def _mean_option(options: dict[str, Any], found: Counter[str]) -> float | None:
    """The mean value of the options chosen, without those that abstain; None for another kind of criterion."""
    valued = {label: n for label, n in found.items() if label in options and not options[label].get("na")}
    total = sum(valued.values())
    return sum(options[label]["value"] * n for label, n in valued.items()) / total if total else None


class Migration(migrations.Migration):
    dependencies = [("rubricweb", "0014_fully_judged_items")]
    operations = [migrations.RunPython(recount, migrations.RunPython.noop)]
