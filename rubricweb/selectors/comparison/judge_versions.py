"""How far the versions of a judge agree with people, on one dataset."""

from collections.abc import Sequence
from dataclasses import dataclass

from rubricweb.engine.agreement import Figure
from rubricweb.errors import NotFound
from rubricweb.models import Dataset, Judge, JudgeVersion, ReviewQueue, Run, RunState, User
from rubricweb.selectors.comparison.comparison import Comparison, Overview, compare, overview
from rubricweb.selectors.comparison.verdict import seat_of
from rubricweb.selectors.labels.comparable import labelled_queues, queues_to_compare
from rubricweb.selectors.labels.incomparable import no_labels
from rubricweb.selectors.shared.judge_use import with_judge
from rubricweb.selectors.shared.unavailable import Unavailable

MOST_VERSIONS = 6
"""Versions that are measured at most, the newest: each costs about as much as half of a comparison."""


@dataclass(frozen=True)
class MeasuredVersion:
    """A version and its newest finished run; κ beside one person where there is one, on `items`."""

    number: int
    run: Run
    kappa: Figure
    items: int


@dataclass(frozen=True)
class JudgeAgreement:
    """How one version, by its newest finished run over `dataset`, agrees with people, beside the others.

    `run` is None where it has finished none; then `comparison` is None too, and `versions` tells of others.
    `unavailable` says what is missing where the run has no labels to compare. `person` is one person's κ on
    the items of the comparison, without a value where nobody labelled twice.
    """

    datasets: tuple[Dataset, ...]
    dataset: Dataset | None
    run: Run | None
    queues: tuple[ReviewQueue, ...]
    comparison: Comparison | None
    unavailable: Unavailable | None
    person: Figure
    versions: tuple[MeasuredVersion, ...]


def judge_agreement(
    judge: Judge, shown: JudgeVersion, *, viewer: User, dataset_id: int | None = None
) -> JudgeAgreement:
    """The agreement of the version `shown`, and of up to `MOST_VERSIONS`, oldest first.

    The dataset is the one asked for, else the one of the newest run of this version that people labelled,
    else of its newest run, else of the newest run of another. Raises NotFound for one no run of it is over.
    Callers see that the viewer may know which version graded what: see `require_judge_visible`.
    """
    runs = list(
        with_judge(Run.objects.filter(judge_version__judge=judge, state=RunState.FINISHED))
        .filter(team=judge.team)
        .select_related("dataset", "rubric_version")
        .order_by("-created_at", "-pk")
    )
    datasets = {run.dataset_id: run.dataset for run in runs}
    if dataset_id is not None and dataset_id not in datasets:
        raise NotFound("dataset")
    labelled = set(labelled_queues(team=judge.team).order_by().values_list("dataset", flat=True))
    own = [run for run in runs if run.judge_version_id == shown.pk]
    first = next((run for run in own if run.dataset_id in labelled), None) or next(iter(own or runs), None)
    chosen = dataset_id if dataset_id is not None else first.dataset_id if first else None
    newest: dict[int, Run] = {}
    for run in runs:
        if run.dataset_id == chosen and run.judge_version is not None:
            newest.setdefault(run.judge_version.number, run)
    measured = newest.get(shown.number)
    queues = queues_to_compare(measured) if measured is not None else []
    comparison = compare(measured, queues, viewer=viewer) if measured is not None and queues else None
    missing = comparison.unavailable if comparison else no_labels(measured) if measured else None
    seat = seat_of(comparison) if comparison is not None else None
    return JudgeAgreement(
        datasets=tuple(datasets.values()),
        dataset=datasets.get(chosen) if chosen is not None else None,
        run=measured,
        queues=tuple(queues),
        comparison=comparison,
        unavailable=missing,
        person=seat.person if seat is not None else Figure(None, None, None, 0),
        versions=tuple(_measured(newest, shown, comparison, viewer)),
    )


def _measured(
    newest: dict[int, Run], shown: JudgeVersion, comparison: Comparison | None, viewer: User
) -> Sequence[MeasuredVersion]:
    rows = []
    seen: Comparison | Overview
    for number in sorted(newest)[-MOST_VERSIONS:]:
        run = newest[number]
        if number == shown.number and comparison is not None:
            seat, seen = seat_of(comparison), comparison
        elif number == shown.number or not (queues := queues_to_compare(run)):
            continue
        else:
            seen = overview(run, queues, viewer=viewer)
            seat = seen.seat
        kappa = seat.judge if seat is not None else seen.leading.kappa
        items = seat.items if seat is not None else seen.items
        if seen.unavailable is None and kappa.value is not None:
            rows.append(MeasuredVersion(number, run, kappa, items))
    return rows
