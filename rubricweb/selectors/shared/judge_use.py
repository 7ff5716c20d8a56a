"""Runs and the judges that graded them."""

from collections.abc import Iterable
from datetime import datetime

from django.db.models import Max, QuerySet

from rubricweb.models import Judge, Run


def last_used(judges: Iterable[Judge]) -> dict[int, datetime]:
    """When the newest run of any version of each judge began, by the judge's id; without those never used."""
    runs = Run.objects.filter(judge_version__judge__in=[judge.pk for judge in judges]).order_by()
    newest = runs.values("judge_version__judge_id").annotate(last=Max("created_at"))
    return dict(newest.values_list("judge_version__judge_id", "last"))


def with_judge(runs: QuerySet[Run]) -> QuerySet[Run]:
    """With the version of their judge, but for what it asks, which is long."""
    return runs.select_related("judge_version__judge").defer("judge_version__definition")
