"""Taking items out of a dataset, and back in: what was made of them stays (decision 0026)."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import F, Value

from rubricweb.engine.number_format import counted
from rubricweb.errors import Conflict, Invalid, NotFound
from rubricweb.models import (
    NOT_RETIRED,
    ChangeKind,
    Dataset,
    Item,
    ItemAbsence,
    QueueState,
    ReviewQueue,
    User,
)
from rubricweb.selectors.datasets import versions
from rubricweb.selectors.datasets.systems import require_unblinded
from rubricweb.selectors.datasets.versions import AT_ONCE, Behind
from rubricweb.services import dataset_versions
from rubricweb.services.datasets import columns
from rubricweb.services.datasets.datasets import require_unsealed
from rubricweb.services.reviews import assignments, queues
from rubricweb.services.shared import bulk_rows
from rubricweb.services.shared.journal import record

NAMED_MAX = 20


@dataclass(frozen=True)
class ChangePlan:
    """What retiring, restoring or correcting items does, or did: it made `version`.

    Of the chosen items `unchanged` were retired, or current, before. `cases` are left without an answer, have
    one again, or are corrected; `items` are then their answers, which keep the words before. `taken` items,
    as id:7, cannot come back: another one, chosen or current, has their key, or their answer's place.
    `replacement` is the id of the item that stands in the place of a corrected one.
    """

    change: ChangeKind
    version: int
    items: int
    unchanged: int
    cases: int
    behind: Behind
    taken: tuple[str, ...] = ()
    replacement: int | None = None

    @property
    def says(self) -> list[str]:
        """The same in short lines, for people."""
        retires, behind = self.change == ChangeKind.RETIRE, self.behind
        rewords = self.change == ChangeKind.CORRECT and bool(self.cases)
        kept = "kept, with the words before" if self.change == ChangeKind.CORRECT else "kept"
        asked = "open, which go on with the words before" if rewords else "open, withdrawn"
        if behind.begun_reviews and not rewords:
            asked += f"; {behind.begun_reviews:,} begun, whose drafts can be read"
        lines = (
            (self.unchanged, "item", "retired before" if retires else "current before"),
            (
                self.cases * (not rewords),
                "case",
                "left without an answer" if retires else "with an answer again",
            ),
            (self.items * rewords, "answer", "kept, with the words before: none to the new ones yet"),
            (behind.labels, "label", kept),
            (behind.adjudications, "adjudication", kept),
            (behind.open_reviews, "review", asked),
            (behind.runs, "run", "whose results and figures stay"),
            (behind.unended_runs, "run", "of these under way, which grades them to the end"),
            (behind.held_out, "item", "with a copy in a test split, which stays as it is sealed"),
            (len(self.taken), "item", f"whose place another item has: {named(self.taken)}"),
        )
        return [f"{counted(number, noun)} {what}" for number, noun, what in lines if number]


def named(items: Sequence[str]) -> str:
    """The items for a sentence, the first twenty of many."""
    more = len(items) - NAMED_MAX
    return ", ".join(items[:NAMED_MAX]) + (f" and {more:,} more" if more > 0 else "")


def plan_retirement(dataset: Dataset, item_ids: Sequence[int], viewer: User | None) -> ChangePlan:
    """What `retire` would do; nothing is changed. Raises as it does."""
    require_unsealed(dataset)
    chosen = _chosen(dataset, item_ids)
    require_unblinded(dataset, chosen, viewer)
    current = [pk for pk, is_current in chosen.items() if is_current]
    return ChangePlan(
        ChangeKind.RETIRE,
        _version(dataset, current),
        len(current),
        len(chosen) - len(current),
        versions.lost_cases(current),
        versions.behind(dataset, current, viewer),
    )


def plan_restoration(dataset: Dataset, item_ids: Sequence[int], viewer: User | None) -> ChangePlan:
    """What `restore` would do; nothing is changed. Raises as it does."""
    require_unsealed(dataset)
    chosen = _chosen(dataset, item_ids)
    require_unblinded(dataset, chosen, viewer)
    retired = [pk for pk, is_current in chosen.items() if not is_current]
    return ChangePlan(
        ChangeKind.RESTORE,
        _version(dataset, retired),
        len(retired),
        len(chosen) - len(retired),
        versions.found_cases(retired),
        versions.behind(dataset, retired, viewer),
        tuple(versions.taken_places(dataset, retired)),
    )


@transaction.atomic
def retire(dataset: Dataset, item_ids: Sequence[int], *, by: User | None, note: str = "") -> ChangePlan:
    """Takes items out of the dataset from its next version on; retired before, they stay as they are.

    Lists, new runs and new queues know of them no more. Finished runs, their figures and labels keep them,
    runs under way finish them. Queues ask nobody about them any more: reviews that were not submitted are
    withdrawn. Raises Conflict for a half of a split, NotFound for items of another dataset, Withheld for
    answers of which this person must not learn who gave them.
    """
    dataset_versions.hold(dataset)
    plan = plan_retirement(dataset, item_ids, by)
    if not plan.items:
        return plan
    ids = [pk for pk, is_current in _chosen(dataset, item_ids).items() if is_current]
    for part in _parts(ids):
        Item.objects.filter(pk__in=part).update(retired_in=plan.version)
        columns.leave_out(dataset, part)
        withdraw(dataset, part)
    return _done(dataset, plan, by=by, note=note)


@transaction.atomic
def restore(dataset: Dataset, item_ids: Sequence[int], *, by: User | None, note: str = "") -> ChangePlan:
    """Puts retired items back, at the place they had; current ones stay as they are.

    Queues that are not closed ask about them again; those over the whole dataset ask about them as about the
    others, whether or not they did before. Raises Conflict for a half of a split, where another item has the
    key or the place of one of them, or one of them has that of another, and as `queues.take_in`: then none is
    restored.
    """
    dataset_versions.hold(dataset)
    plan = plan_restoration(dataset, item_ids, by)
    if plan.taken:
        raise Conflict(
            f"{counted(len(plan.taken), 'item')} cannot be restored: {named(plan.taken)}. "
            "Another item has the id, or answers the same case for the same version: retire that one first, "
            "or restore one of them alone."
        )
    if not plan.items:
        return plan
    ids = [pk for pk, is_current in _chosen(dataset, item_ids).items() if not is_current]
    for part in _parts(ids):
        rows = Item.objects.filter(pk__in=part).order_by("pk")
        bulk_rows.insert_for_each(
            ItemAbsence,
            rows,
            item_id=F("pk"),
            retired_in=F("retired_in"),
            restored_in=Value(plan.version),
        )
        rows.update(retired_in=NOT_RETIRED)
        columns.take_back(dataset, part)
        for queue in unclosed_queues(dataset):
            assignments.ask_again(queue, part)
    done = _done(dataset, plan, by=by, note=note)
    for part in _parts(ids):
        queues.take_in(dataset, Item.objects.filter(pk__in=part))
    return done


def withdraw(dataset: Dataset, item_ids: Sequence[int]) -> None:
    """Nobody is asked about these items in queues that are not closed; in the caller's transaction."""
    for queue in unclosed_queues(dataset):
        assignments.withdraw(queue, item_ids)


def _done(dataset: Dataset, plan: ChangePlan, *, by: User | None, note: str) -> ChangePlan:
    columns.count_anew(dataset)
    dataset_versions.made(dataset, plan.version, plan.change, items=plan.items, by=by, note=note)
    verb = "retired items of" if plan.change == ChangeKind.RETIRE else "restored items of"
    details = {"note": note.strip()} if note.strip() else {}
    record(dataset.team, by, verb, dataset, items=plan.items, version=plan.version, **details)
    return plan


def _version(dataset: Dataset, changed: Sequence[int]) -> int:
    return dataset_versions.next_version(dataset) if changed else dataset.version


def _chosen(dataset: Dataset, item_ids: Sequence[int]) -> dict[int, bool]:
    """Item id → whether it is current, for each of these items of the dataset."""
    wanted = list(dict.fromkeys(item_ids))
    if not wanted:
        raise Invalid.at("item_ids", "no items", "at least one")
    found: dict[int, bool] = {}
    for part in _parts(wanted):
        rows = Item.objects.filter(dataset=dataset, pk__in=part).values_list("pk", "retired_in")
        found |= {pk: retired_in == NOT_RETIRED for pk, retired_in in rows}
    if len(found) < len(wanted):
        raise NotFound(f"item in {dataset}")
    return found


def unclosed_queues(dataset: Dataset) -> list[ReviewQueue]:
    return list(ReviewQueue.objects.filter(dataset=dataset).exclude(state=QueueState.CLOSED).order_by("pk"))


def _parts(ids: Sequence[int]) -> list[Sequence[int]]:
    return [ids[begin : begin + AT_ONCE] for begin in range(0, len(ids), AT_ONCE)]
