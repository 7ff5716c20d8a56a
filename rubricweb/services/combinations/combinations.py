"""Combining datasets: item by item into a workshop nobody sees, then in its place at once (decision 0031)."""

import logging
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any
from uuid import uuid4

from django.db import transaction
from django.db.models import Q, QuerySet

from rubricweb.engine.number_format import counted
from rubricweb.errors import Conflict, Invalid, Refusal
from rubricweb.models import (
    Case,
    ChangeKind,
    Combination,
    CombinationPart,
    CombinationState,
    Dataset,
    Item,
    ReviewQueue,
    RubricVersion,
    Run,
    SystemVersion,
    Team,
    User,
)
from rubricweb.selectors.datasets.columns import MOST_COLUMNS, names
from rubricweb.selectors.datasets.combinations import UNENDED
from rubricweb.selectors.datasets.tags import tags_of
from rubricweb.services import copies, dataset_versions, imported_runs, labels
from rubricweb.services.combinations import plans
from rubricweb.services.combinations.matching import AskedPart, Matching, Placed
from rubricweb.services.combinations.plans import CombinationRequest
from rubricweb.services.combinations.stamps import stamp_of
from rubricweb.services.datasets import columns, datasets, systems
from rubricweb.services.datasets.tags import tagging
from rubricweb.services.deletions.removal import Remover
from rubricweb.services.shared import archiving
from rubricweb.services.shared.database_retry import DATABASE_AWAY, retry_while_away
from rubricweb.services.shared.journal import record
from rubricweb.services.shared.names import saved_unless_taken

log = logging.getLogger(__name__)

BATCH_ITEMS = 200
SILENT_AFTER = timedelta(minutes=10)


class _Stopped(Exception):
    """Somebody cancelled it, or another process has it."""


def start(
    team: Team, asked: CombinationRequest, *, by: User, enqueue: Callable[[int], None] | None
) -> Combination:
    """Begins a combination; `enqueue` wakes a worker, None leaves the work to the caller.

    Raises as `plans.check`.
    """
    asked = plans.check(team, asked, viewer=by)
    with transaction.atomic():
        made = Combination.objects.create(
            team=team,
            name=asked.name,
            as_attempts=asked.as_attempts,
            match=asked.match,
            archive_originals=asked.archive_originals,
            items_planned=_items(asked.parts),
            created_by=by,
        )
        CombinationPart.objects.bulk_create(
            CombinationPart(combination=made, dataset=part.dataset, place=place, system=part.system)
            for place, part in enumerate(asked.parts)
        )
        archiving.hold_team(team)
        if enqueue is not None:
            transaction.on_commit(lambda: enqueue(made.pk))
    return made


def cancel(combination: Combination, *, now: datetime) -> None:
    """Nothing of it stays. Raises Conflict for one that has ended."""
    if not _end(
        Combination.objects.filter(pk=combination.pk, state__in=UNENDED), CombinationState.CANCELLED, now
    ):
        combination.refresh_from_db()
        raise Conflict(
            f"Combining {combination} has ended already: {combination.get_state_display().lower()}."
        )
    combination.refresh_from_db()


def due(now: datetime, *, is_dead: Callable[[str, datetime], bool]) -> list[int]:
    """The ids of those nobody is at, or that left something behind; first those of the dead are freed."""
    for one in Combination.objects.filter(state=CombinationState.RUNNING):
        is_silent = one.beat_at is None or one.beat_at < now - SILENT_AFTER
        if is_silent or is_dead(one.worker, now):
            held = Combination.objects.filter(pk=one.pk, state=CombinationState.RUNNING, worker=one.worker)
            held.update(state=CombinationState.WAITING, worker="")
    left = Q(workshop__isnull=False) & ~Q(state__in=UNENDED)
    rows = Combination.objects.filter(Q(state=CombinationState.WAITING) | left)
    return list(rows.order_by("pk").values_list("pk", flat=True))


def work(pk: int, *, worker: str, now: Callable[[], datetime]) -> Combination:
    """Copies what is left of a combination that waits; done twice, it is done once.

    Returns it as it then is: done, refused, or failed by a fault of ours. Raises what a database that is away
    raises; it then waits for whoever comes next.
    """
    waiting = Combination.objects.filter(pk=pk, state=CombinationState.WAITING)
    if waiting.update(state=CombinationState.RUNNING, worker=worker, beat_at=now()):
        held = Combination.objects.filter(pk=pk, worker=worker, state=CombinationState.RUNNING)

        def beat(**progress: Any) -> None:
            if not held.update(beat_at=now(), **progress):
                raise _Stopped

        try:
            _copy(pk, beat, now)
        except _Stopped:
            pass
        except Refusal as refusal:
            _end(held, CombinationState.REFUSED, now(), _said(refusal))
        except DATABASE_AWAY:
            retry_while_away(lambda: held.update(state=CombinationState.WAITING, worker=""))
            raise
        except Exception as fault:
            log.exception("combination %s ended", pk)
            _end(held, CombinationState.FAILED, now(), f"An internal error: {type(fault).__name__}: {fault}")
    _clear(pk)
    return Combination.objects.select_related("dataset", "team", "created_by").get(pk=pk)


def parts_of(combination: Combination) -> tuple[AskedPart, ...]:
    """The datasets that are combined, without those deleted since; versions by the names they have now."""
    rows = combination.parts.select_related("dataset__team").order_by("place")
    ids = {row.system: combination.made.get(f"version {row.system}") for row in rows}
    versions = SystemVersion.objects.select_related("system").in_bulk([pk for pk in ids.values() if pk])
    names = {system: str(versions[pk]) for system, pk in ids.items() if pk in versions}
    return tuple(AskedPart(row.dataset, names.get(row.system, row.system)) for row in rows)


# ── Copying ──────────────────────────────────────────────────────────────────────────────────────


def _copy(pk: int, beat: Callable[..., None], now: Callable[[], datetime]) -> None:
    combination = Combination.objects.select_related("dataset", "team", "workshop", "created_by").get(pk=pk)
    parts = parts_of(combination)
    asked = CombinationRequest(
        combination.name, parts, combination.as_attempts, combination.match, combination.archive_originals
    )
    stamp = stamp_of(asked.parts)
    if combination.workshop is not None and combination.stamp != stamp:
        raise _changed()
    matched = Matching(asked.parts, asked.as_attempts, asked.match)
    if matched.conflict_count:
        many = counted(matched.conflict_count, "conflict")
        raise Invalid(f"{many}, nothing was combined.", matched.conflicts)
    with transaction.atomic():
        beat(items_planned=len(matched.placed))
        if combination.workshop is None:
            _begin(combination, asked, stamp)
    copier = _Copier(combination, asked, matched)
    for start_at in range(combination.items_copied, len(matched.placed), BATCH_ITEMS):
        batch = matched.placed[start_at : start_at + BATCH_ITEMS]
        with transaction.atomic():
            # The row first: whoever else is at it waits here, and finds that it lost.
            beat(items_copied=start_at + len(batch))
            copier.copy(batch, first=start_at)
    for run in Run.objects.filter(dataset=copier.into, run_items=None).order_by("pk"):
        with transaction.atomic():
            beat()
            imported_runs.finish(run, by=combination.created_by, source=combination.name)
    _publish(combination, asked, stamp, beat, now)


def _begin(combination: Combination, asked: CombinationRequest, stamp: list[Any]) -> None:
    """The empty dataset in its workshop."""
    originals = [part.dataset for part in asked.parts]
    combination.workshop = Team.objects.create(name="Workshop", slug=f"workshop-{uuid4().hex}")
    wanted = dict.fromkeys(name for dataset in originals for name in names(dataset))
    rubrics = {dataset.rubric_version_id for dataset in originals}
    combination.dataset = Dataset.objects.create(
        team=combination.workshop,
        name=combination.name,
        prompt=_shared([dataset.prompt for dataset in originals]),
        reference=_shared([dataset.reference for dataset in originals]),
        rubric_version_id=rubrics.pop() if len(rubrics) == 1 else None,
        columns=[{"name": name, "values": [], "counts": []} for name in list(wanted)[:MOST_COLUMNS]],
        created_by=combination.created_by,
    )
    # By id: systems may be renamed later, and others take their names.
    named = systems.named_versions(combination.team, {part.system for part in asked.parts if part.system})
    combination.made = {f"version {name}": version.pk for name, version in named.items()}
    combination.stamp = stamp
    combination.save(update_fields=["workshop", "dataset", "made", "stamp"])


class _Copier:
    """Copies batches of items with all that is said of them, each in a transaction of the caller's."""

    def __init__(self, combination: Combination, asked: CombinationRequest, matched: Matching) -> None:
        assert combination.dataset is not None, "made before"
        self.into = combination.dataset
        self._found = combination
        self._cases = matched.cases
        self._systems = {part.dataset.pk: part.system for part in asked.parts}
        originals = [part.dataset for part in asked.parts]
        self._queues = list(ReviewQueue.objects.filter(dataset__in=originals).order_by("pk"))
        self._imported = list(
            Run.objects.filter(dataset__in=originals, rater__isnull=False)
            .select_related("rater", "rubric_version")
            .order_by("pk")
        )
        versions = systems.named_versions(combination.team, {one.system for one in matched.placed})
        self._versions: dict[str, SystemVersion] = versions

    def copy(self, batch: Sequence[Placed], *, first: int) -> None:
        rows = Item.objects.select_related("dataset").in_bulk([one.item_id for one in batch])
        cases = self._get_or_create_cases(batch)
        placed = []
        for position, one in enumerate(batch, start=first):
            item = rows[one.item_id]
            if self.into.prompt != item.dataset.prompt and item.prompt is None:
                item.prompt = item.dataset.prompt
            if self.into.reference != item.dataset.reference and item.reference is None:
                item.reference = item.dataset.reference
            version = self._versions[one.system]
            place = copies.Place(cases[one.case], 1, version.pk, one.attempt, one.key, position)
            placed.append((item, place))
        self._give_tags({item.case_id: place.case_id for item, place in placed})
        copied = copies.copy_items(placed, self.into)
        columns.take_back(self.into, [copy.pk for copy in copied.values()])
        made_before = len(self._found.made)
        for settled in (False, True):
            queue_for = partial(self._queue, settled=settled)
            copies.copy_labels(self._queues, copied, queue_for, settled=settled)
        copies.copy_adjudications(copied)
        for run in self._imported:
            if grades := copies.imported_grades(run, copied):
                assert run.rater is not None, "asked for"
                imported_runs.add(self._imported_run(run), run.rater, grades)
        if len(self._found.made) != made_before:
            self._found.save(update_fields=["made"])

    def _get_or_create_cases(self, batch: Sequence[Placed]) -> dict[int, int]:
        """Position → id of the cases of this batch; those the dataset has not yet are created."""
        wanted = sorted({one.case for one in batch})
        there = Case.objects.filter(dataset=self.into, position__in=wanted)
        found = dict(there.values_list("position", "pk"))
        new = [
            Case(dataset=self.into, key=self._cases[at].key, position=at) for at in wanted if at not in found
        ]
        return found | {case.position: case.pk for case in Case.objects.bulk_create(new)}

    def _give_tags(self, case_ids: Mapping[int, int]) -> None:
        """The tags of cases (old id → new id) to those they become; one has those of all that become it."""
        wanted: dict[int, set[str]] = defaultdict(set)
        for case_id, tags in tags_of(case_ids).items():
            wanted[case_ids[case_id]].update(tags)
        if wanted:
            tagging.give(wanted)

    def _queue(self, version: RubricVersion | None, *, settled: bool) -> ReviewQueue:
        name = f"queue {version.pk if version else '-'} {settled}"
        if name in self._found.made:
            return ReviewQueue.objects.get(pk=self._found.made[name])
        what = "Ground truth" if settled else "Labels"
        wanted = f"{what} of {self.into.name}"
        if version is not None:
            wanted = f"{what} by {version} of {self.into.name}"
        queue_name = labels.free_queue_name(self.into, wanted)
        queue = copies.label_queue(self.into, version, queue_name, by=self._found.created_by)
        self._found.made[name] = queue.pk
        return queue

    def _imported_run(self, run: Run) -> Run:
        """The run for what a machine said in a file: over the version that its items became."""
        name = f"run {run.pk}"
        if name in self._found.made:
            return Run.objects.get(pk=self._found.made[name])
        assert run.rater is not None, "asked for"
        new = imported_runs.begin(
            self.into, run.rubric_version, run.rater, by=self._found.created_by, source=str(run)
        )
        system = self._systems[run.dataset_id]
        new.system_version = self._versions[system] if system else run.system_version
        new.save(update_fields=["system_version"])
        self._found.made[name] = new.pk
        return new


# ── In its place ─────────────────────────────────────────────────────────────────────────────────


@transaction.atomic
def _publish(
    combination: Combination,
    asked: CombinationRequest,
    stamp: list[Any],
    beat: Callable[..., None],
    now: Callable[[], datetime],
) -> None:
    """Moves the finished dataset, its queues and runs from the workshop to the team. Refused where an
    original is not any more as it was.
    """
    beat()
    # By id: two combinations that name them in other orders would wait for each other.
    for part in sorted(asked.parts, key=lambda part: part.dataset.pk):
        dataset_versions.hold(part.dataset)
    if stamp_of(asked.parts) != stamp:
        raise _changed()
    for part in asked.parts:
        plans.require_open(part.dataset)
    into, team, by = combination.dataset, combination.team, combination.created_by
    assert into is not None, "copied before"
    datasets.require_free_name(team, combination.name)
    columns.count_anew(into)
    dataset_versions.made(
        into,
        into.version,
        ChangeKind.APPEND,
        items=combination.items_planned or Item.objects.filter(dataset=into).count(),
        by=by,
        note="Combined from " + ", ".join(part.dataset.name for part in asked.parts),
    )
    into.team = team
    with saved_unless_taken(datasets.name_taken(combination.name)):
        into.save(update_fields=["team"])
    for queue in ReviewQueue.objects.filter(dataset=into).order_by("pk"):
        queue.name, queue.team = labels.free_queue_name(into, queue.name), team
        with saved_unless_taken(_queue_taken(queue.name)):
            queue.save(update_fields=["name", "team"])
    Run.objects.filter(dataset=into).update(team=team)
    names_of = [part.dataset.name for part in asked.parts]
    record(team, by, "combined", into, items=combination.items_planned, datasets=names_of)
    if asked.archive_originals and by is not None:
        for part in asked.parts:
            archiving.archive(part.dataset, by=by, now=now())
    workshop = combination.workshop
    Combination.objects.filter(pk=combination.pk).update(workshop=None)
    if workshop is not None:
        Team.objects.filter(pk=workshop.pk).delete()
    _end(Combination.objects.filter(pk=combination.pk), CombinationState.DONE, now())


def _queue_taken(name: str) -> str:
    return f"The team got a queue called {name!r} just now. Nothing was combined: start it again."


def _changed() -> Conflict:
    return Conflict(
        "One of the datasets changed meanwhile, or was labelled. Nothing was combined: start it again, at a "
        "time when nobody works on them."
    )


def _items(parts: Sequence[AskedPart]) -> int:
    return Item.objects.current().filter(dataset__in=[part.dataset for part in parts]).count()


def _shared(values: Sequence[Any]) -> Any:
    return values[0] if all(one == values[0] for one in values) else None


def _said(refusal: Refusal) -> str:
    faults = refusal.faults[:20] if isinstance(refusal, Invalid) else ()
    return "\n".join([str(refusal), *map(str, faults)])


def _end(rows: QuerySet[Combination], state: CombinationState, now: datetime, message: str = "") -> bool:
    return bool(rows.update(state=state, ended_at=now, worker="", message=message))


def _clear(pk: int) -> None:
    """Removes what an ended combination left in its workshop, and the workshop."""
    left = Combination.objects.filter(pk=pk, workshop__isnull=False).exclude(state__in=UNENDED).first()
    if left is None or left.workshop is None:
        return
    ids = list(Dataset.objects.filter(team=left.workshop).values_list("pk", flat=True))
    Remover(lambda n: None).remove(Dataset, ids)
    Team.objects.filter(pk=left.workshop.pk).delete()
