"""Runs graded before there were tallies get one row each, summed from their calls; running it again is fine."""

from datetime import date
from typing import Any

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.models import Count, Q, Sum
from django.db.models.functions import TruncMonth

WORKER = "before tallies"


def count(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    calls: Any = apps.get_model("rubricweb", "JudgeCall").objects
    tally: Any = apps.get_model("rubricweb", "RunTally")
    counted = (
        calls.exclude(run__in=tally.objects.values("run"))
        .annotate(month=TruncMonth("created_at"))
        .order_by()
        .values("run_id", "month")
        .annotate(
            calls=Count("pk"),
            tries=Sum("attempts"),
            tokens_in=Sum("prompt_tokens"),
            tokens_out=Sum("completion_tokens"),
            cost=Sum("cost_usd"),
            unknown=Count("pk", filter=Q(cost_usd=None)),
        )
    )
    tally.objects.bulk_create(
        tally(
            run_id=row["run_id"],
            worker=WORKER,
            month=date(row["month"].year, row["month"].month, 1),
            calls=row["calls"],
            attempts=row["tries"] or 0,
            prompt_tokens=row["tokens_in"] or 0,
            completion_tokens=row["tokens_out"] or 0,
            cost_usd=row["cost"] or 0.0,
            unpriced=row["unknown"],
        )
        for row in list(counted)
    )


class Migration(migrations.Migration):
    dependencies = [("rubricweb", "0004_frugal_and_durable_runs")]
    operations = [migrations.RunPython(count, migrations.RunPython.noop)]
