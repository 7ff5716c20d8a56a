"""What goes with a thing that is deleted, what stays, and what keeps it from being deleted."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Model, Q, QuerySet

from rubricweb.engine.number_format import counted
from rubricweb.errors import NotFound
from rubricweb.models import (
    NOT_RETIRED,
    UNENDED,
    Adjudication,
    ApiToken,
    Case,
    Combination,
    CombinationState,
    Comment,
    Criterion,
    Dataset,
    DatasetImport,
    Deletion,
    ImportState,
    Item,
    JudgeCall,
    JudgeEndpoint,
    Judgement,
    Membership,
    QueueItem,
    QueueState,
    Review,
    ReviewQueue,
    ReviewState,
    Rubric,
    RubricVersion,
    Run,
    RunItem,
    RunTally,
    SharedLink,
    System,
    SystemVersion,
    Team,
    Vote,
)
from rubricweb.selectors.datasets.versions import said_of
from rubricweb.selectors.shared.pages import Page, keyset_page
from rubricweb.selectors.spending.spending import holding

Deletable = Rubric | Dataset | Run | ReviewQueue | System | SystemVersion | Team


KINDS: dict[str, type[Deletable]] = {
    "rubric": Rubric,
    "dataset": Dataset,
    "run": Run,
    "queue": ReviewQueue,
    "system": System,
    "system-version": SystemVersion,
    "team": Team,
}


def kind_of(row: Model, kinds: Mapping[str, type[Model]] = KINDS) -> str:
    """Its name among these kinds."""
    return next(kind for kind, model in kinds.items() if isinstance(row, model))


@dataclass(frozen=True)
class Doomed:
    """The rows of one deletion: everything else goes because it belongs to one of them."""

    runs: QuerySet[Run]
    queues: QuerySet[ReviewQueue]
    datasets: QuerySet[Dataset]
    rubrics: QuerySet[Rubric]


@dataclass(frozen=True)
class DeletionPlan:
    """What deleting would do. `counts` names what goes, nothing that is not there; `stays` are sentences.

    `refused` says what keeps it from being deleted now, "" where nothing does. `rows` is how many rows are to
    be removed, about.
    """

    kind: str
    name: str
    counts: dict[str, int]
    stays: tuple[str, ...]
    refused: str
    rows: int

    @property
    def goes(self) -> tuple[str, ...]:
        """The counts in words: "2 runs", "4,000 verdicts"."""
        return tuple(counted(n, *WORDS[what]) for what, n in self.counts.items())


WORDS: dict[str, tuple[str, ...]] = {
    "rubrics": ("rubric",),
    "datasets": ("dataset",),
    "versions": ("published version",),
    "cases": ("case",),
    "items": ("item",),
    "runs": ("run",),
    "verdicts": ("verdict of judges", "verdicts of judges"),
    "queues": ("review queue",),
    "reviews": ("review",),
    "labels": ("label of people", "labels of people"),
    "people": ("person who gave labels", "people who gave labels"),
    "adjudications": ("adjudication",),
    "comments": ("comment",),
    "imports": ("import",),
    "shared_links": ("shared link",),
    "systems": ("system",),
    "system_versions": ("system version",),
    "endpoints": ("endpoint with its key", "endpoints with their keys"),
    "members": ("membership",),
    "tokens": ("API token",),
}
"""What `DeletionPlan.counts` may name, in this order: singular, and a plural that is not made by an s."""


def doomed(row: Deletable) -> Doomed:
    """What a deletion of this row is about. Runs and queues go with their dataset and with their rubric."""
    pk = row.pk
    if isinstance(row, Team):
        return Doomed(
            Run.objects.filter(team=pk),
            ReviewQueue.objects.filter(team=pk),
            Dataset.objects.filter(team=pk),
            Rubric.objects.filter(team=pk),
        )
    if isinstance(row, System | SystemVersion):
        # It goes alone, or not at all.
        return Doomed(
            Run.objects.none(), ReviewQueue.objects.none(), Dataset.objects.none(), Rubric.objects.none()
        )
    none = (Run.objects.none(), ReviewQueue.objects.none(), Dataset.objects.none(), Rubric.objects.none())
    runs, queues, datasets, rubrics = none
    if isinstance(row, Run):
        runs = Run.objects.filter(pk=pk)
    elif isinstance(row, ReviewQueue):
        queues = ReviewQueue.objects.filter(pk=pk)
    elif isinstance(row, Dataset):
        datasets = Dataset.objects.filter(pk=pk)
        runs, queues = Run.objects.filter(dataset=pk), ReviewQueue.objects.filter(dataset=pk)
    else:
        rubrics = Rubric.objects.filter(pk=pk)
        runs = Run.objects.filter(rubric_version__rubric=pk)
        queues = ReviewQueue.objects.filter(rubric_version__rubric=pk)
    return Doomed(runs, queues, datasets, rubrics)


def plan(row: Deletable, *, now: datetime) -> DeletionPlan:
    """What deleting it now would do. Some twenty counts, each by an index; a second for a million rows."""
    doomed_rows = doomed(row)
    runs, queues = doomed_rows.runs.order_by().values("pk"), doomed_rows.queues.order_by().values("pk")
    reviews = Review.objects.filter(queue__in=queues)
    submitted = reviews.filter(state=ReviewState.SUBMITTED)
    in_dataset = Q(item__dataset__in=doomed_rows.datasets.order_by().values("pk"))
    belongs: dict[str, QuerySet[Any, Any]] = {
        "versions": RubricVersion.objects.filter(rubric__in=doomed_rows.rubrics),
        "cases": Case.objects.filter(dataset__in=doomed_rows.datasets),
        "items": Item.objects.filter(dataset__in=doomed_rows.datasets),
        "runs": doomed_rows.runs,
        "verdicts": Judgement.objects.filter(run__in=runs),
        "queues": doomed_rows.queues,
        "reviews": reviews,
        "labels": Judgement.objects.in_reviews(queue__in=queues),
        "people": submitted.order_by().values("rater").distinct(),
        "adjudications": Adjudication.objects.filter(in_dataset | Q(criterion__in=_criteria(doomed_rows))),
        "comments": Comment.objects.filter(in_dataset),
        "imports": DatasetImport.objects.filter(dataset__in=doomed_rows.datasets),
        "shared_links": SharedLink.objects.filter(Q(runs__in=runs) | Q(queues__in=queues)).distinct(),
    }
    if isinstance(row, System | SystemVersion):
        belongs["items"] = answers_of(row)
    if isinstance(row, System):
        belongs["system_versions"] = SystemVersion.objects.filter(system=row)
    if isinstance(row, Team):
        belongs = {
            "rubrics": doomed_rows.rubrics,
            "datasets": doomed_rows.datasets,
            **belongs,
            "systems": System.objects.filter(team=row).exclude(name=""),
            "endpoints": JudgeEndpoint.objects.filter(team=row, removed_at=None),
            "members": Membership.objects.filter(team=row),
            "tokens": ApiToken.objects.filter(team=row),
            "shared_links": SharedLink.objects.filter(team=row),
        }
    # The thing itself is no news.
    if isinstance(row, Run | ReviewQueue):
        del belongs["runs" if isinstance(row, Run) else "queues"]
    counts = {what: rows.order_by().count() for what, rows in belongs.items()}
    counts = {what: n for what, n in counts.items() if n}
    # How often a judge was asked can tell what it said: that is for the progress of the removal alone.
    asked = [rows.filter(run__in=runs).count() for rows in (RunItem.every, JudgeCall.objects, Vote.objects)]
    more = sum(asked) + QueueItem.objects.filter(queue__in=queues).count()
    return DeletionPlan(
        kind=kind_of(row),
        name=str(row),
        counts=counts,
        stays=tuple(_stays(row, doomed_rows)),
        refused=refusal(row, now=now),
        rows=1 + more + sum(n for what, n in counts.items() if what != "people"),
    )


def _criteria(doomed_rows: Doomed) -> QuerySet[Criterion, Any]:
    """The ids of the criteria of its rubrics."""
    rubrics = doomed_rows.rubrics.order_by().values("pk")
    return Criterion.objects.filter(version__rubric__in=rubrics).order_by().values("pk")


def _stays(row: Deletable, doomed_rows: Doomed) -> Iterator[str]:
    """What one might expect to go, and does not."""
    runs = doomed_rows.runs.order_by().values("pk")
    if RunTally.objects.filter(run__in=runs).exists():
        yield "What its runs have cost, in the spending."
        if not isinstance(row, Team):
            yield "Verdicts of other runs that took answers from its calls."
    if isinstance(row, Dataset):
        shown = Run.objects.filter(team=row.team_id, few_shot__dataset_id=row.pk).exclude(dataset=row).count()
        if shown:
            yield f"The examples that {counted(shown, 'run')} over other datasets showed its judge from here."
        for half in row.halves.order_by("pk"):
            yield f"{half}, the {half.sealed_as} split that was copied from it: its items are copies."
    if isinstance(row, Rubric):
        yield "The datasets, with all items."
        brought = (
            Dataset.objects.filter(rubric_version__rubric=row).exclude(pk__in=doomed_rows.datasets).count()
        )
        if brought:
            yield f"{counted(brought, 'dataset')} whose file it came in: without a rubric from then on."
        said = Comment.objects.filter(criterion__in=_criteria(doomed_rows)).count()
        if said:
            yield f"{counted(said, 'comment')} on its criteria: from then on about their items as a whole."
    if isinstance(row, ReviewQueue):
        decided = Adjudication.objects.filter(queue=row).count()
        if decided:
            yield f"{counted(decided, 'adjudication')} made in it: they belong to the items."
    if isinstance(row, Team):
        yield "The accounts of its members."
        yield "The audit log, for who runs this server. Nobody opens the team any more."
    else:
        yield "The lines of the audit log."


def refusal(row: Deletable, *, now: datetime) -> str:
    """What is to be done before it can be deleted, with its place; "" when it can be."""
    if isinstance(row, System | SystemVersion):
        return _refused_for_answers(row)
    doomed_rows = doomed(row)
    if run := doomed_rows.runs.filter(state__in=UNENDED).order_by("pk").first():
        return f"{run} is {run.state}: cancel it first, or wait until it has finished."
    open_queues = doomed_rows.queues.exclude(state=QueueState.CLOSED).order_by("pk")
    if queue := open_queues.first():
        return f"The review queue {queue} is {queue.state}: close it first."
    under_way = (ImportState.WAITING, ImportState.RUNNING, ImportState.ASKS)
    # Of a team also those of new datasets, which are made when all of the file is read.
    into = Q(team=row.pk) if isinstance(row, Team) else Q(dataset__in=doomed_rows.datasets)
    imports = DatasetImport.objects.filter(into, state__in=under_way).order_by("pk")
    if found_import := imports.first():
        dataset = f" into {found_import.dataset}" if found_import.dataset else ""
        return f"The import of {found_import}{dataset} has not ended: cancel it, or wait."
    copying = Combination.objects.filter(
        parts__dataset__in=doomed_rows.datasets,
        state__in=(CombinationState.WAITING, CombinationState.RUNNING),
    )
    if combination := copying.order_by("pk").first():
        return f"Combining datasets to {combination} has not ended: cancel it, or wait."
    runs = doomed_rows.runs.order_by().values("pk")
    held = RunItem.every.filter(run__in=runs, graded_at=None, leased_until__gt=now).values("run")
    asked = RunTally.objects.filter(holding(now), run__in=runs).values("run")
    if run := doomed_rows.runs.filter(Q(pk__in=held) | Q(pk__in=asked)).order_by("pk").first():
        return f"Calls of {run} are still in flight: try again in a minute."
    return ""


def answers_of(row: System | SystemVersion) -> QuerySet[Item]:
    """The answers of a system, or of one version, in all datasets, retired ones too."""
    is_whole = isinstance(row, System)
    return Item.objects.filter(Q(system_version__system=row) if is_whole else Q(system_version=row))


def _refused_for_answers(row: System | SystemVersion) -> str:
    """The dataset with answers of it, which are what they are; those that are being removed too.

    Retired answers go along with it where nothing was made of them.
    """
    answers = answers_of(row).select_related("dataset__team")
    removed = answers.exclude(dataset__team__deleted_at=None)
    if removed.exists():
        return "Its answers are still being removed: try again when that is done."
    if answer := answers.filter(retired_in=NOT_RETIRED).order_by("pk").last():
        return (
            f"The dataset {answer.dataset} has answers of it: retire or undo them, delete that first, or "
            "rename the system."
        )
    said = said_of(list(answers.order_by("pk").values_list("pk", flat=True)))
    if said:
        return f"Its retired answers have {', '.join(said)}: delete the runs and queues first."
    return ""


def team_of(row: Deletable) -> Team:
    """The team that has it. Reads `row.team` or `row.system.team`."""
    if isinstance(row, Team):
        return row
    return row.system.team if isinstance(row, SystemVersion) else row.team


def deletions(team: Team, *, cursor: str | None = None, size: int = 50) -> Page[Deletion]:
    """What was deleted in the team, the newest first."""
    return keyset_page(_of(team), order=("-pk",), cursor=cursor, size=size)


def deletion_for(team: Team, deletion_id: int) -> Deletion:
    """The access check of a deletion."""
    deletion = _of(team).filter(pk=deletion_id).first() if 0 < deletion_id < 2**63 else None
    if deletion is None:
        raise NotFound("deletion")
    return deletion


def _of(team: Team) -> QuerySet[Deletion]:
    return Deletion.objects.filter(team=team).select_related("deleted_by")
