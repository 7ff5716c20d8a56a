"""Undoing the newest version of a dataset, while nothing stands on it (decision 0041)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

from django.db import transaction
from django.db.models import F

from rubricweb.engine.number_format import counted
from rubricweb.errors import Conflict
from rubricweb.models import (
    NOT_RETIRED,
    Case,
    CaseSplit,
    CaseText,
    ChangeKind,
    Combination,
    CombinationState,
    Dataset,
    DatasetChange,
    DatasetImport,
    HalfLook,
    ImportState,
    Item,
    ItemAbsence,
    JournalEntry,
    Review,
    ReviewQueue,
    Run,
    Stratum,
    System,
    SystemVersion,
    User,
)
from rubricweb.selectors.datasets.systems import require_unblinded
from rubricweb.selectors.datasets.versions import AT_ONCE, said_of
from rubricweb.services import dataset_versions
from rubricweb.services.datasets import columns
from rubricweb.services.datasets.changes.removal import remove_items
from rubricweb.services.datasets.changes.retirement import unclosed_queues, withdraw
from rubricweb.services.datasets.datasets import require_unsealed
from rubricweb.services.reviews import assignments
from rubricweb.services.shared.journal import record

STANDING_NAMED = 5


@dataclass(frozen=True)
class UndoPlan:
    """What undoing the newest `version` does, or did: the dataset is in the version before again.

    `change` of `items` is what made it. `system_versions` came with it alone, and go with it. `stands` says
    what keeps it: sentences, none where it can be undone.
    """

    version: int
    change: ChangeKind
    items: int
    system_versions: tuple[str, ...] = ()
    stands: tuple[str, ...] = ()

    @property
    def says(self) -> list[str]:
        """What it does in short lines, for people."""
        what = {
            ChangeKind.APPEND: "that were added are removed",
            ChangeKind.CORRECT: "have the words of before again",
            ChangeKind.RETIRE: "that were retired are current again",
            ChangeKind.RESTORE: "that were restored are retired again",
        }[self.change]
        lines = [f"{counted(self.items, 'item')} {what}."]
        if self.system_versions:
            lines.append(f"No other answers are of {', '.join(self.system_versions)}: removed as well.")
        return lines


@dataclass(frozen=True)
class _Undone:
    """The newest change of a dataset, and what it did: items it added, retired and restored."""

    change: DatasetChange
    added: list[int]
    retired: list[int]
    restored: list[int]
    texts: list[CaseText]


def plan_undoing(dataset: Dataset, viewer: User | None) -> UndoPlan:
    """What `undo` would do; nothing is changed. Raises Conflict for a half of a split and for a dataset in
    its first version, Withheld to whom it would tell who gave an answer.
    """
    require_unsealed(dataset)
    done = _newest(dataset)
    require_unblinded(dataset, [*done.added, *done.retired, *done.restored], viewer)
    return UndoPlan(
        dataset.version,
        ChangeKind(done.change.kind),
        done.change.items,
        tuple(str(one) for one in _versions_that_came(done)),
        tuple(islice(_standing(dataset, done), STANDING_NAMED)),
    )


@transaction.atomic
def undo(dataset: Dataset, *, by: User | None, seen: int) -> UndoPlan:
    """Puts the dataset back into the version before the newest, which must be the one that was `seen`.

    Items that were added are gone, with cases, system versions and rubrics that came with them alone; retired
    ones are current, restored ones retired, corrected ones have the words of before. Open queues follow.
    Raises Conflict for another version than the one seen, and where something stands on it; else as
    `plan_undoing`.
    """
    dataset_versions.hold(dataset)
    if dataset.version != seen:
        raise Conflict(f"{dataset} is in version {dataset.version} by now, not {seen}: look at that first.")
    done = _newest(dataset)
    # From here on nobody takes up one of the items; who did before is found below.
    for part in _parts(done.added):
        withdraw(dataset, part)
    plan = plan_undoing(dataset, by)
    if plan.stands:
        raise Conflict(f"Version {plan.version} of {dataset} cannot be undone. {' '.join(plan.stands)}")
    came = _versions_that_came(done)
    since = _began(done) if done.added else done.change.created_at
    remove_items(done.added)
    _remove_versions(came, since=since)
    for text in done.texts:
        Case.objects.filter(pk=text.case_id).update(wording=F("wording") - 1)
        text.delete()
    _retire_again(dataset, done)
    for part in _parts(done.retired):
        Item.objects.filter(pk__in=part).update(retired_in=NOT_RETIRED)
        columns.take_back(dataset, part)
        for queue in unclosed_queues(dataset):
            assignments.ask_again(queue, part)
    columns.count_anew(dataset)
    before = plan.version - 1
    ReviewQueue.objects.filter(dataset=dataset, dataset_version=plan.version).update(dataset_version=before)
    done.change.delete()
    Dataset.objects.filter(pk=dataset.pk).update(version=before)
    dataset.version = before
    details = {"version": plan.version, "change": plan.change.value, "items": plan.items}
    if plan.system_versions:
        details["removed_systems"] = list(plan.system_versions)
    record(dataset.team, by, "undid a version of", dataset, **details)
    return plan


def _newest(dataset: Dataset) -> _Undone:
    version = dataset.version
    change = DatasetChange.objects.filter(dataset=dataset, version=version).first()
    if version < 2 or change is None:
        raise Conflict(
            f"{dataset} is in its first version, which cannot be undone: an owner can delete the dataset."
        )
    items = Item.objects.filter(dataset=dataset).order_by("pk")
    previous = DatasetChange.objects.filter(dataset=dataset, version=version - 1).first()
    since = previous.created_at if previous is not None else dataset.created_at
    texts = CaseText.objects.filter(case__dataset=dataset, created_at__gt=since).order_by("-number")
    absences = ItemAbsence.objects.filter(item__dataset=dataset, restored_in=version)
    return _Undone(
        change,
        list(items.filter(added_in=version).values_list("pk", flat=True)),
        list(items.filter(retired_in=version).values_list("pk", flat=True)),
        list(absences.order_by("pk").values_list("item", flat=True)),
        list(texts) if change.kind == ChangeKind.CORRECT else [],
    )


# ── What stands on it ────────────────────────────────────────────────────────────────────────────


def _standing(dataset: Dataset, done: _Undone) -> Iterator[str]:
    """What was made of the version or of its items, a sentence each: it would be about nothing any more."""
    version, since = dataset.version, done.change.created_at
    for run in Run.objects.filter(dataset=dataset, dataset_version__gte=version).order_by("pk"):
        yield f"The run {run} is over it."
    for queue in ReviewQueue.objects.filter(dataset=dataset, created_at__gt=since).order_by("pk"):
        yield f"The review queue {queue} is over it."
    for said in said_of(done.added):
        yield f"{said} on items it added."
    begun = Review.objects.filter(started_at__gt=since)
    if again := sum(begun.filter(item__in=part).count() for part in _parts(done.restored)):
        yield f"{counted(again, 'review')} of restored items began since."
    if Stratum.objects.filter(draw__queue__dataset=dataset, draw__drawn_at__gt=since).exists():
        yield "Items were drawn at random for a review queue since."
    if CaseSplit.objects.filter(dataset=dataset, dataset_version__gte=version).exists():
        yield "Its cases were split in dev and test."
    if HalfLook.objects.filter(dataset=dataset, dataset_version__gte=version).exists():
        yield "Its test split was looked at."
    if half := Dataset.objects.filter(split_of=dataset, created_at__gt=since).first():
        yield f"{half} was copied from it."
    shown = Run.objects.filter(few_shot__dataset_id=dataset.pk, created_at__gt=since).exclude(dataset=dataset)
    if other := shown.first():
        yield f"The run {other} may show its items as examples."
    exported = JournalEntry.objects.filter(team=dataset.team_id, verb="exported", target_id=dataset.pk)
    if exported.filter(target_kind="dataset", detail__dataset_version__gte=version).exists():
        yield "It was exported."
    under_way = (ImportState.WAITING, ImportState.RUNNING, ImportState.ASKS)
    if job := DatasetImport.objects.filter(dataset=dataset, state__in=under_way).first():
        yield f"The import of {job} has not ended."
    copying = (CombinationState.WAITING, CombinationState.RUNNING)
    if copy := Combination.objects.filter(parts__dataset=dataset, state__in=copying).first():
        yield f"Combining datasets to {copy} has not ended."


# ── What goes ────────────────────────────────────────────────────────────────────────────────────


def _versions_that_came(done: _Undone) -> list[SystemVersion]:
    """The system versions that the change made, of which there is nothing else."""
    if not done.added:
        return []
    within = SystemVersion.objects.filter(
        created_at__range=(_began(done), done.change.created_at), system__team=done.change.dataset.team_id
    )
    added = set(done.added)
    found = []
    for version in within.exclude(system__name="").select_related("system").order_by("system", "position"):
        answers = Item.objects.filter(system_version=version).values_list("pk", flat=True)
        used = version.queue_system_versions.exists() or Run.objects.filter(system_version=version).exists()
        if not used and added.issuperset(answers.iterator()):
            found.append(version)
    return found


def _began(done: _Undone) -> datetime:
    """When the change began: items are written with one moment, before the systems that they need."""
    return Item.objects.filter(pk=done.added[0]).values_list("created_at", flat=True).get()


def _remove_versions(versions: Sequence[SystemVersion], *, since: datetime) -> None:
    """Removes them, with systems that were made as well and have no other version."""
    SystemVersion.objects.filter(pk__in=[one.pk for one in versions]).delete()
    systems = System.objects.filter(pk__in={one.system_id for one in versions}, versions=None)
    systems.filter(created_at__gte=since).delete()


def _retire_again(dataset: Dataset, done: _Undone) -> None:
    for part in _parts(done.restored):
        absences = ItemAbsence.objects.filter(item__in=part, restored_in=done.change.version)
        for item_id, retired_in in absences.values_list("item", "retired_in"):
            Item.objects.filter(pk=item_id).update(retired_in=retired_in)
        absences.delete()
        columns.leave_out(dataset, part)
        withdraw(dataset, part)


def _parts(ids: Sequence[int]) -> Iterator[Sequence[int]]:
    for begin in range(0, len(ids), AT_ONCE):
        yield ids[begin : begin + AT_ONCE]
