"""The lowest and the highest score that runs can give, and value that an answer can have."""

from collections.abc import Collection

from django.db.models import Q, Sum

from rubricweb.engine.rubric.criterion import Option
from rubricweb.models import Criterion, RubricVersion, Run, RunItem

Ends = tuple[float, float]
NORMALISED: Ends = (0.0, 1.0)


def score_ends(*runs: Run) -> Ends:
    """The lowest and the highest score that any of these gives: 0 and 1, or raw ones unless all normalise."""
    if all(run.normalize for run in runs):
        return NORMALISED
    lows, highs = zip(*raw_score_ends(runs).values(), strict=True)
    return min(lows), max(highs)


def raw_score_ends(runs: Collection[Run]) -> dict[int, Ends]:
    """Run id → the lowest and the highest raw score that a rubric of its items allows. Two queries.

    The sum of the negative weights, less what length can cost at most, and that of the positive ones. Weights
    10, 5 and −3 with a penalty of 0.5 at the cap: −3.5 … 15.
    """
    rows = RunItem.objects.filter(run__in=[run.pk for run in runs])
    versions = RubricVersion.objects.filter(pk__in=rows.values("rubric_version")).order_by()
    sums = versions.values_list("pk", "length_penalty").annotate(
        lost=Sum("criteria__weight", filter=Q(criteria__weight__lt=0), default=0.0),
        won=Sum("criteria__weight", filter=Q(criteria__weight__gt=0), default=0.0),
    )
    of_version = {
        pk: (lost - (penalty["penalty_at_cap"] if penalty else 0.0), won) for pk, penalty, lost, won in sums
    }
    ends = {run.pk: (0.0, 0.0) for run in runs}
    for run_id, version_id in rows.order_by().values_list("run_id", "rubric_version_id").distinct():
        low, high = of_version[version_id]
        ends[run_id] = min(ends[run_id][0], low), max(ends[run_id][1], high)
    return ends


def value_ends(criterion: Criterion) -> Ends | None:
    """The lowest and the highest value of an answer; None of a check of weight 0, which finds any number."""
    if criterion.kind == "check" and criterion.weight == 0:
        return None
    worth = [option.value for option in (Option(**one) for one in criterion.options) if not option.na]
    return (min(worth), max(worth)) if worth else NORMALISED
