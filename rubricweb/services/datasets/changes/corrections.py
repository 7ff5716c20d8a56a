"""Correcting an answer, or the words of a case: what was said stays with the words it was said about."""

import json
from dataclasses import dataclass, replace
from typing import Any

from django.db import transaction

from rubricweb import engine
from rubricweb.engine.autograders.examples.few_shot import content_digest
from rubricweb.engine.errors import Fault, InvalidFile
from rubricweb.engine.formats.dataset_values import ItemRecord
from rubricweb.engine.formats.datasets.files import read_dataset
from rubricweb.errors import Conflict, Invalid
from rubricweb.models import NOT_RETIRED, Case, CaseText, ChangeKind, Item, User
from rubricweb.selectors.datasets import versions
from rubricweb.selectors.datasets.cases import words_of
from rubricweb.selectors.datasets.items import is_sole_answer
from rubricweb.selectors.datasets.systems import require_unblinded
from rubricweb.services import dataset_versions
from rubricweb.services.datasets import columns
from rubricweb.services.datasets.changes.retirement import ChangePlan, withdraw
from rubricweb.services.datasets.datasets import require_unsealed
from rubricweb.services.reviews import queues
from rubricweb.services.rubrics import rubrics
from rubricweb.services.shared.journal import record


@dataclass(frozen=True)
class Correction:
    """The right words; None leaves what there is. The last three are the case's."""

    submission: str | None = None
    thinking: str | None = None
    prompt: Any = None
    reference: str | None = None
    rubric: engine.Rubric | None = None

    @property
    def of_case(self) -> bool:
        return not (self.prompt is None and self.reference is None and self.rubric is None)

    @property
    def of_answer(self) -> bool:
        return not (self.submission is None and self.thinking is None)


def plan_item(item: Item, words: Correction, viewer: User | None) -> ChangePlan:
    """What `correct_item` would do; nothing is changed. Raises as it does."""
    _check_item(item, words)
    return behind_item(item, viewer)


def behind_item(item: Item, viewer: User | None) -> ChangePlan:
    """What stands behind an answer that is to be corrected, whatever its new words. Withheld where it would
    tell the viewer who gave an answer they are to review blind.
    """
    require_unblinded(item.dataset, [item.pk], viewer)
    number = dataset_versions.next_version(item.dataset)
    return ChangePlan(ChangeKind.CORRECT, number, 1, 0, 0, versions.behind(item.dataset, [item.pk], viewer))


def plan_case(case: Case, words: Correction, viewer: User | None) -> ChangePlan:
    """What `correct_case` would do; nothing is changed."""
    _check_case(case, words)
    return behind_case(case, viewer)


def behind_case(case: Case, viewer: User | None) -> ChangePlan:
    """What stands behind the words of a case that are to be corrected, whatever the new ones."""
    ids = versions.items_of_cases(case.dataset, [case.pk])
    number = dataset_versions.next_version(case.dataset)
    # Counted over all answers to the case, it tells of none of them whose it is.
    return ChangePlan(ChangeKind.CORRECT, number, len(ids), 0, 1, versions.behind(case.dataset, ids, viewer))


@transaction.atomic
def correct_item(
    item: Item,
    words: Correction,
    *,
    by: User | None,
    note: str = "",
    expected_wording: int | None = None,
) -> ChangePlan:
    """Puts an item with the right words at the place of this one, which is retired in the same version.

    Labels, reviews and results stay with the words they were given to; open reviews of those are withdrawn,
    and open queues over the whole dataset ask about the new ones. The words of its case can be corrected
    along with an answer that is the only one to it; else they are those of the case. Raises Invalid for no
    change or what cannot be stored, Conflict for a retired item, for a half of a split, where other answers
    share the case, and where its words are corrected along but are not any more those of `expected_wording`;
    Withheld for an answer of which this person must not learn who gave it.
    """
    dataset = item.dataset
    dataset_versions.hold(dataset)
    item.refresh_from_db(fields=["retired_in"])
    item.case.refresh_from_db(fields=["wording"])
    plan = plan_item(item, words, by)
    if words.of_case:
        _require_wording(item.case, expected_wording)
    Item.objects.filter(pk=item.pk).update(retired_in=plan.version)
    if words.of_case:
        _store_text(item.case, words, by=by)
    new = _corrected(item, words)
    new.added_in = plan.version
    new.save(force_insert=True)
    columns.leave_out(dataset, [item.pk])
    columns.take_back(dataset, [new.pk])
    columns.count_anew(dataset)
    withdraw(dataset, [item.pk])
    dataset_versions.made(dataset, plan.version, ChangeKind.CORRECT, items=1, by=by, note=note)
    queues.take_in(dataset, Item.objects.filter(pk=new.pk))
    details: dict[str, Any] = {"note": note.strip()} if note.strip() else {}
    details |= {"item": item.pk, "replacement": new.pk}
    record(dataset.team, by, "corrected an item of", dataset, version=plan.version, **details)
    return replace(plan, replacement=new.pk)


@transaction.atomic
def correct_case(
    case: Case,
    words: Correction,
    *,
    by: User | None,
    note: str = "",
    expected_wording: int | None = None,
) -> ChangePlan:
    """Gives a case other words: answers that come in later are asked these.

    Answers there are keep theirs, with labels, reviews and results: they stay current, and are paired with
    answers to the same words only. Raises Invalid for no change or what cannot be stored, Conflict for a half
    of a split, and where the words are not any more those of `expected_wording`.
    """
    dataset = case.dataset
    dataset_versions.hold(dataset)
    case.refresh_from_db(fields=["wording"])
    _require_wording(case, expected_wording)
    plan = plan_case(case, words, by)
    _store_text(case, words, by=by)
    dataset_versions.made(dataset, plan.version, ChangeKind.CORRECT, items=plan.items, by=by, note=note)
    details: dict[str, Any] = {"note": note.strip()} if note.strip() else {}
    record(dataset.team, by, "corrected a case of", dataset, version=plan.version, case=case.pk, **details)
    return plan


def _require_wording(case: Case, expected: int | None) -> None:
    """Refuses words that were written with others in view than the case has now."""
    if expected not in (None, case.wording):
        raise Conflict(
            "The words of the case were corrected since you opened this: nothing was changed. "
            "Look at the words there are now, and correct those."
        )


def _check_item(item: Item, words: Correction) -> None:
    require_unsealed(item.dataset)
    # Items and cases by number: their keys may be withheld.
    if item.retired_in != NOT_RETIRED:
        raise Conflict(
            f"The item id:{item.pk} was retired in version {item.retired_in}: correct the item there is now."
        )
    if words.of_case and not is_sole_answer(item):
        raise Conflict(
            f"Other answers share the case id:{item.case_id}: correct the case, and this answer on its own."
        )
    changed = _corrected(item, words)
    # With the number of the case's words: whoever types those before them again changes the case.
    fields = ("submission", "thinking", "wording", "prompt", "reference")
    if words.rubric is None and all(getattr(changed, name) == getattr(item, name) for name in fields):
        raise Invalid.at("correction", "the words there are", "other words")
    _read(changed)


def _check_case(case: Case, words: Correction) -> None:
    require_unsealed(case.dataset)
    if words.of_answer:
        raise Invalid.at("submission", "an answer", "a prompt, reference or rubric: the words of a case")
    known = words_of(case)
    asked = _asked(known, words)
    asked.submission = "…"  # a case has none, and a file brings no item without
    if words.rubric is None and (asked.prompt, asked.reference) == (known.prompt, known.reference):
        raise Invalid.at("correction", "the words there are", "other words")
    _read(asked)


def _read(item: Item) -> ItemRecord:
    """The item as a file would bring it. Raises Invalid for what no file may hold."""
    fields = {"id": item.key or "case", "submission": item.submission, "thinking": item.thinking}
    fields |= {"prompt": item.prompt, "reference": item.reference}
    try:
        file = read_dataset(json.dumps([fields]).encode(), filename="correction.json")
    except InvalidFile as error:
        faults = [Fault(fault.place.rpartition(".")[2], fault.found, fault.allowed) for fault in error.faults]
        raise Invalid("; ".join(map(str, faults)), faults) from error
    return file.items[0]


def _asked(known: Item, words: Correction) -> Item:
    """The words of a case as an item has them, corrected; not stored."""
    return Item(
        dataset=known.dataset,
        case=known.case,
        prompt=known.prompt if words.prompt is None else words.prompt,
        reference=known.reference if words.reference is None else words.reference,
        description=known.description,
        rubric_version_id=known.rubric_version_id,
    )


def _store_text(case: Case, words: Correction, *, by: User | None) -> None:
    """The case has these words from now on, under the next number."""
    asked = _asked(words_of(case), words)
    rubric_version_id = asked.rubric_version_id
    if words.rubric is not None:
        rubric_version_id = rubrics.store_versions([words.rubric], by=by)[0].pk
    case.wording += 1
    case.save(update_fields=["wording"])
    CaseText.objects.create(
        case=case,
        number=case.wording,
        prompt=asked.prompt,
        reference=asked.reference,
        description=asked.description,
        rubric_version_id=rubric_version_id,
        created_by=by,
    )


def _corrected(item: Item, words: Correction) -> Item:
    """The item that takes its place, with the words of the case as they are now; not stored."""
    asked = item if item.wording == item.case.wording else words_of(item.case)
    asked = _asked(asked, words) if words.of_case else asked
    new = Item(
        dataset=item.dataset,
        case=item.case,
        wording=item.case.wording if words.of_case else item.wording,
        system_version_id=item.system_version_id,
        attempt=item.attempt,
        key=item.key,
        position=item.position,
        submission=item.submission if words.submission is None else words.submission,
        thinking=item.thinking if words.thinking is None else words.thinking,
        prompt=asked.prompt if words.of_case else item.prompt,
        reference=asked.reference if words.of_case else item.reference,
        description=item.description,
        metadata=item.metadata,
        rubric_version_id=asked.rubric_version_id if words.of_case else item.rubric_version_id,
        replaces_id=item.replaces_id or item.pk,
    )
    new.content_hash = content_digest(new.to_engine())
    return new
