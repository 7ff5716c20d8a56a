"""What can be compared: which runs, which queues, and what is missing where nothing can."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from django.db.models import Exists, OuterRef, QuerySet

from rubricweb.models import (
    Criterion,
    Dataset,
    Item,
    Review,
    ReviewQueue,
    ReviewState,
    Run,
    RunState,
    Team,
    unarchived,
)
from rubricweb.selectors.labels.ground_truth import people_first
from rubricweb.selectors.labels.incomparable import no_labels
from rubricweb.selectors.shared.judge_use import with_judge
from rubricweb.selectors.shared.unavailable import Unavailable


def labelled_queues(dataset_id: int | None = None, *, team: Team) -> QuerySet[ReviewQueue]:
    """Queues with labels of people or a file's ground truth, newest first; of one dataset when given.

    Without a dataset those that are archived are left out, and those over archived datasets.
    """
    submitted = Review.objects.filter(state=ReviewState.SUBMITTED, queue=OuterRef("pk"))
    queues = ReviewQueue.objects.filter(Exists(submitted), team=team).select_related("rubric_version")
    if dataset_id is not None:
        queues = queues.filter(dataset=dataset_id)
    else:
        queues = queues.filter(unarchived("", "dataset__"))
    return queues.order_by("-created_at", "-pk")


def counting_queues(dataset: Dataset) -> list[ReviewQueue]:
    """The queues whose labels count for a dataset unless somebody chooses: see `people_first`."""
    return people_first(list(labelled_queues(dataset.pk, team=dataset.team)))


def comparable_runs(team: Team) -> QuerySet[Run]:
    """Ended runs over a dataset that people have labelled, newest first; none over answers of an archived
    system.
    """
    labelled = labelled_queues(team=team).order_by().values("dataset")
    return (
        with_judge(Run.objects.filter(unarchived("", "system_version__system__"), team=team))
        .filter(dataset__in=labelled)
        .exclude(state=RunState.RUNNING)
        .select_related("dataset", "rubric_version")
        .order_by("-created_at", "-pk")
    )


def run_to_compare(team: Team, queues: Sequence[ReviewQueue] = ()) -> Run | None:
    """The run to begin with: the newest finished one over labelled items (of the `queues`, where given)."""
    runs = comparable_runs(team)
    if queues:
        runs = runs.filter(dataset=queues[0].dataset_id)
        version = queues[0].rubric_version
        same_version = runs.filter(rubric_version=version)
        same_rubric = runs.filter(rubric_version__rubric=version.rubric_id) if version else same_version
        runs = next((some for some in (same_version, same_rubric) if some.exists()), runs)
    return runs.filter(state=RunState.FINISHED).first() or runs.first()


def run_with(item: Item) -> Run | None:
    """The newest ended run that graded this item, whether people have labelled it or not."""
    ended = Run.objects.exclude(state=RunState.RUNNING).filter(run_items__item=item, team__deleted_at=None)
    return ended.select_related("dataset", "rubric_version").order_by("-created_at", "-pk").first()


def queues_to_compare(run: Run, asked: Sequence[ReviewQueue] = ()) -> list[ReviewQueue]:
    """Those of the `asked` queues that are over the run's dataset; else all labelled ones of its rubric, by
    whichever version of it: see `people_labels`, which reads them by the run's. The settled labels of a file
    only where no people labelled: see `people_first`.
    """
    fitting = [queue for queue in asked if queue.dataset_id == run.dataset_id]
    if fitting:
        return fitting
    queues = list(labelled_queues(run.dataset_id, team=run.team))
    of_rubric = [queue for queue in queues if _rubric_of(queue) == _rubric_of(run)]
    return people_first(of_rubric or queues)


def _rubric_of(one: ReviewQueue | Run) -> int | None:
    """The rubric it labels or grades by; None where every item brings its own."""
    return None if one.rubric_version is None else one.rubric_version.rubric_id


@dataclass(frozen=True)
class ComparisonSelection:
    """What is compared and what could be instead.

    `left_out` are queues that were asked for but are over another dataset; `run` is None when no run has
    ended over labelled items.
    """

    run: Run | None
    queues: tuple[ReviewQueue, ...]
    runs: tuple[Run, ...]
    offered: tuple[ReviewQueue, ...]
    left_out: tuple[ReviewQueue, ...]

    @property
    def other_versions(self) -> list[ReviewQueue]:
        """Chosen queues whose labels are on another rubric version than the run's verdicts."""
        if self.run is None:
            return []
        return [queue for queue in self.queues if queue.rubric_version_id != self.run.rubric_version_id]


def select_comparison(
    team: Team, *, run: Run | None = None, asked: Sequence[ReviewQueue] = ()
) -> ComparisonSelection:
    """The run and queues to compare, as asked for or chosen here, with all the others on offer.

    Without any ended run the asked queues, else all of the newest labelled dataset, stand alone.
    """
    run = run or run_to_compare(team, asked)
    if run is None:
        labelled = list(labelled_queues(team=team))
        newest = [queue for queue in labelled if queue.dataset_id == labelled[0].dataset_id]
        queues = list(asked) or people_first(newest)
        return ComparisonSelection(None, tuple(queues), (), tuple(labelled), ())
    queues = queues_to_compare(run, asked)
    offered = list(labelled_queues(run.dataset_id, team=team))
    runs = list(comparable_runs(team))
    return ComparisonSelection(
        run=run,
        queues=tuple(queues),
        runs=tuple(runs if run in runs else [run, *runs]),
        offered=(*offered, *(queue for queue in queues if queue not in offered)),
        left_out=tuple(queue for queue in asked if queue.dataset_id != run.dataset_id),
    )


def why_not_comparable(team: Team, selection: ComparisonSelection) -> Unavailable | None:
    """What is missing before anything can be compared, None when nothing is."""
    if selection.run is not None:
        return None if selection.queues else no_labels(selection.run)
    runs = Run.objects.filter(team=team)
    empty = next((queue for queue in selection.queues if queue not in selection.offered), None)
    if empty is None:
        return nothing_over_labels(runs, team)
    runs = runs.filter(dataset=empty.dataset_id)
    if not runs.exists():
        return replace(NO_RUN, why=f"No run has graded {empty.dataset} yet.")
    return nothing_over_labels(runs, team, narrowed=True)


def nothing_over_labels(runs: QuerySet[Run], team: Team, *, narrowed: bool = False) -> Unavailable:
    """Why none of these runs has ended over what people labelled; `narrowed` are some of the team's alone."""
    labelled = labelled_queues(team=team).order_by().values("dataset")
    over_labels = runs.filter(dataset__in=labelled)
    if narrowed and not over_labels.exists():
        newest = runs.select_related("dataset", "rubric_version").order_by("-created_at", "-pk").first()
        return no_labels(newest) if newest else NO_RUN
    if not labelled.exists():
        return NO_LABELS if runs.exists() else NO_RUN
    under_way = over_labels.filter(state=RunState.RUNNING).first()
    if under_way is None:
        return NO_RUN_OVER_LABELS
    return Unavailable(
        "no_finished_run",
        f"{under_way} over what people labelled has not ended.",
        "Its verdicts are held against people’s as soon as it has.",
        page="run",
        run_id=under_way.pk,
    )


NO_RUN = Unavailable(
    "no_run",
    "No run has graded anything yet.",
    "Let a judge grade a dataset, then have people label some of it.",
    page="runs",
)
NO_LABELS = Unavailable(
    "no_labels",
    "Nobody has labelled anything that a run graded.",
    "Open a review queue over the graded dataset, or import labels that exist already.",
    page="queues",
)
NO_RUN_OVER_LABELS = Unavailable(
    "no_run_over_labels",
    "No run has graded what people labelled.",
    "Start a run over the dataset of the labels; until then look at where people differ among themselves.",
    page="runs",
)


def is_holistic(run: Run) -> bool:
    """Whether the run's judge gave one score per item and no verdicts that could be compared."""
    return run.autograder == "rubric_as_judge"


def criteria_of(run: Run | None, queues: Sequence[ReviewQueue]) -> QuerySet[Criterion]:
    """The criteria a run and queues share a rubric version for; none when items bring their own."""
    versions = {queue.rubric_version_id for queue in queues} | ({run.rubric_version_id} if run else set())
    return Criterion.objects.filter(version__in=versions - {None}).order_by("-version_id", "position")
