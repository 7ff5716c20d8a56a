"""Taking what is deleted out of sight, at once: into a bin, a team that nobody is a member of.

Everything is found by its team, its dataset or its rubric, so nobody finds it any more, under whatever
address, while its many rows still stand. Few rows are written, however much goes.
"""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from uuid import uuid4

from django.db.models import Q

from rubricweb.models import (
    ApiToken,
    Combination,
    CombinationPart,
    Dataset,
    DatasetImport,
    ExampleWords,
    HalfLook,
    IdempotencyKey,
    Invitation,
    Item,
    JudgeEndpoint,
    Membership,
    Notice,
    ReviewQueue,
    Run,
    RunTally,
    SharedLink,
    System,
    SystemVersion,
    Team,
)
from rubricweb.selectors.deletions import Doomed
from rubricweb.services.runs.lost_calls import book_lost


def new_bin(*, now: datetime) -> Team:
    """A team for what is deleted. Nobody comes in: it has no members."""
    return Team.objects.create(name="Deleted", slug=f"deleted-{uuid4().hex}", deleted_at=now)


def close(team: Team, *, now: datetime) -> None:
    """Makes a team its own bin: nobody is in it any more, its keys are forgotten, its address is free."""
    book_lost(RunTally.objects.filter(team=team))
    ApiToken.objects.filter(team=team).delete()
    Invitation.objects.filter(team=team).delete()
    SharedLink.objects.filter(team=team).delete()
    JudgeEndpoint.objects.filter(team=team).update(sealed_key="", sealed_headers="", removed_at=now)
    Notice.objects.filter(team=team).delete()
    Membership.objects.filter(team=team).delete()
    Team.objects.filter(pk=team.pk).update(
        slug=f"deleted-{uuid4().hex}", deleted_at=now, keep_calls_days=None
    )


def move(doomed_rows: Doomed, into: Team) -> None:
    """Moves all of it, and lets go of it what stays."""
    runs, queues = list(doomed_rows.runs.order_by("pk")), list(doomed_rows.queues.order_by("pk"))
    datasets = list(doomed_rows.datasets.order_by("pk"))
    # First of all: `found` finds them by what is about to change.
    rubric_ids = list(doomed_rows.rubrics.values_list("pk", flat=True))
    # What they show goes with the first thing it is of.
    SharedLink.objects.filter(Q(runs__in=runs) | Q(queues__in=queues)).delete()
    _move_runs(runs, datasets, into)
    _move_queues(queues, datasets, into)
    for dataset in datasets:
        _freeze_examples(dataset)
        dataset.halves.update(split_of=None)
        DatasetImport.objects.filter(dataset=dataset).update(team=into)
        Combination.objects.filter(dataset=dataset).update(dataset=None)
        CombinationPart.objects.filter(dataset=dataset).delete()
    Dataset.objects.filter(pk__in=[one.pk for one in datasets]).update(team=into)
    # What came with a dataset's file is no more to go by.
    Dataset.objects.filter(rubric_version__rubric__in=rubric_ids).update(rubric_version=None)
    doomed_rows.rubrics.model.objects.filter(pk__in=rubric_ids).update(team=into)


def move_system(row: System | SystemVersion, into: Team) -> None:
    """Moves a system, or one version of it, that has no answers."""
    if isinstance(row, System):
        System.objects.filter(pk=row.pk).update(team=into)
    else:
        apart = System.objects.create(team=into, name=row.system.name)
        SystemVersion.objects.filter(pk=row.pk).update(system=apart)


def _move_runs(runs: list[Run], datasets: list[Dataset], into: Team) -> None:
    ids = [run.pk for run in runs]
    tallies = RunTally.objects.filter(run__in=ids)
    book_lost(tallies)
    # What was spent stays spent.
    tallies.update(run=None)
    IdempotencyKey.objects.filter(run__in=ids).delete()
    ReviewQueue.objects.filter(run__in=ids).update(run=None)
    HalfLook.objects.filter(run__in=ids).update(run=None)
    Run.objects.filter(pk__in=ids).update(
        team=into, rubric_version=None, system_version=None, launch=None, rater=None, labels_digest=""
    )
    _move_from_datasets(Run, (run.pk for run in runs if run.dataset not in datasets), into)


def _move_queues(queues: list[ReviewQueue], datasets: list[Dataset], into: Team) -> None:
    ids = [queue.pk for queue in queues]
    Notice.objects.filter(queue__in=ids).delete()
    ReviewQueue.objects.filter(pk__in=ids).update(
        team=into, rubric_version=None, label_decision=None, run=None, labels_digest=""
    )
    _move_from_datasets(ReviewQueue, (queue.pk for queue in queues if queue.dataset not in datasets), into)


def _move_from_datasets(model: type[Run | ReviewQueue], ids: Iterable[int], into: Team) -> None:
    """What is over a dataset that stays is from now on over an empty one in the bin."""
    apart = list(ids)
    if apart:
        empty, _ = Dataset.objects.get_or_create(team=into, name=f"without-{into.slug}")
        model._default_manager.filter(pk__in=apart).update(dataset=empty)


def _freeze_examples(dataset: Dataset) -> None:
    """Runs over other datasets that show their judge items of this one keep the words."""
    shown = Q(few_shot__dataset_id=dataset.pk)
    for run in Run.objects.filter(shown, team=dataset.team_id).exclude(dataset=dataset).order_by("pk"):
        assert run.few_shot is not None, "asked for"
        items = Item.objects.filter(dataset=dataset).select_related("dataset")
        found = items.in_bulk({one.item for one in run.few_shot.examples})
        examples = tuple(
            replace(one, words=ExampleWords.of(found[one.item].key, found[one.item].to_engine()))
            if one.item in found
            else one
            for one in run.few_shot.examples
        )
        run.few_shot = replace(run.few_shot, examples=examples)
        run.save(update_fields=["few_shot"])
