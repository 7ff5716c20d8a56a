"""Answers of one more system version to the cases of a dataset: a file of case ids and submissions."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from django.db import transaction
from django.db.models import F, Max

from rubricweb.engine.errors import Fault, FaultList
from rubricweb.engine.formats.dataset_values import DatasetFile, ItemRecord
from rubricweb.engine.formats.datasets.cases import AnsweredCase, read_system
from rubricweb.engine.number_format import counted
from rubricweb.errors import Invalid
from rubricweb.models import Case, Dataset, Item, User
from rubricweb.services.datasets import cases, datasets


@dataclass(frozen=True)
class AnswersPlan:
    """What a file of answers comes to, by case key and in the order of the dataset.

    `answers` are those that are new. `unknown` and `answered` cases keep the file from being stored: the
    dataset does not have those, the version has answered these before. `missing` cases stay without an
    answer.
    """

    system: str
    answers: int
    missing: tuple[str, ...]
    unknown: tuple[str, ...]
    answered: tuple[str, ...]


def plan_answers(
    dataset: Dataset,
    *,
    data: bytes,
    filename: str,
    system: str,
    columns: Mapping[str, str] | None = None,
    as_attempt: bool = False,
) -> AnswersPlan:
    """What `add_answers` would store; nothing is. Raises Invalid for a file that cannot be read."""
    return _planned(dataset, _read(dataset, data, filename, system, columns), as_attempt=as_attempt)[0]


def add_answers(
    dataset: Dataset,
    *,
    by: User | None,
    data: bytes,
    filename: str,
    system: str,
    columns: Mapping[str, str] | None = None,
    as_attempt: bool = False,
) -> AnswersPlan:
    """Stores a version's answers, each asked what its case asks; all of the file or nothing.

    A row names its case by `case_id`, or by `id` where the file has no case ids. `system` is the version, as
    assistant@v5. Raises Invalid naming the rows of unknown cases, of rows of another system, and of cases the
    version has answered before; with `as_attempt` those are its next attempt. Conflict for a sealed half.
    """
    datasets.require_unsealed(dataset)
    file = _read(dataset, data, filename, system, columns)
    with transaction.atomic():
        datasets.hold(dataset)
        plan, records = _planned(dataset, file, as_attempt=as_attempt)
        faults = [
            Fault(f"items[{i}].case_id", repr(record.case_id), why)
            for i, record in enumerate(file.items)
            for names, why in (
                (plan.unknown, f"the id of a case of {dataset}"),
                (plan.answered, f"a case that {plan.system} has not answered, or another attempt"),
            )
            if record.case_id in names
        ]
        _refuse(filename, faults)
        datasets.add_read_items(dataset, replace(file, items=records), by=by, filename=filename)
    return plan


def _refuse(filename: str, faults: Iterable[Fault]) -> None:
    """Refuses the whole file where there are faults."""
    if found := list(faults):
        raise Invalid(f"{filename}: {counted(len(found), 'fault')}, nothing was added.", found)


def _read(
    dataset: Dataset, data: bytes, filename: str, system: str, columns: Mapping[str, str] | None
) -> DatasetFile:
    """The file with every row as an answer of the version to its case."""
    faults = FaultList()
    version = read_system(system, "system", faults)
    if version is None and not faults:
        faults.add("system", "nothing", "a system and its version, as assistant@v5")
    _refuse(filename, faults)
    assert version is not None, "a fault says so"
    file = datasets.read_file(data, filename, columns, rubric=datasets.own_rubric(dataset))
    rows = []
    for i, record in enumerate(file.items):
        if record.system not in ("", version):
            faults.add(f"items[{i}].system", repr(record.system), f"{version}, the version of the whole file")
        rows.append(_answer(record, version))
    _refuse(filename, faults)
    return replace(file, items=tuple(rows))


def _answer(record: ItemRecord, version: str) -> ItemRecord:
    case_id = record.case_id or record.id
    own_id = (
        record.id if record.case_id and record.id != AnsweredCase(case_id, "", record.attempt).item_id else ""
    )
    answered = AnsweredCase(case_id, version, record.attempt)
    return replace(record, id=own_id or answered.item_id, case_id=case_id, system=version)


def _planned(
    dataset: Dataset, file: DatasetFile, *, as_attempt: bool
) -> tuple[AnswersPlan, tuple[ItemRecord, ...]]:
    """What the file comes to, and its rows with the attempts they are."""
    version = file.items[0].system if file.items else ""
    name, _, label = version.partition("@")
    of_version = Item.objects.filter(
        case__dataset=dataset,
        wording=F("case__wording"),
        system_version__system__name=name,
        system_version__label=label,
    )
    last = dict(
        of_version.order_by().values("case__key").annotate(n=Max("attempt")).values_list("case__key", "n")
    )
    keys = list(Case.objects.filter(dataset=dataset).order_by("position").values_list("key", flat=True))
    known, asked = set(keys), {cases.case_key(record) for record in file.items}
    records = tuple(
        _next_attempt(record, last[record.case_id]) if as_attempt and record.case_id in last else record
        for record in file.items
    )
    again = {one.case_id for one in records if one.attempt <= last.get(one.case_id, 0)}
    plan = AnswersPlan(
        system=version,
        answers=sum(one.case_id in known and one.case_id not in again for one in records),
        missing=tuple(key for key in keys if key not in asked and key not in last),
        unknown=tuple(sorted(asked - known)),
        answered=tuple(key for key in keys if key in again),
    )
    return plan, records


def _next_attempt(record: ItemRecord, last: int) -> ItemRecord:
    attempt = last + record.attempt
    is_named_after_case = record.id == AnsweredCase(record.case_id, record.system, record.attempt).item_id
    id = AnsweredCase(record.case_id, record.system, attempt).item_id if is_named_after_case else record.id
    return replace(record, id=id, attempt=attempt)
