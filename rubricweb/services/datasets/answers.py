"""Answers of one more system version to the cases of a dataset: a file of case ids and submissions."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from django.db import transaction
from django.db.models import F, Max

from rubricweb.engine.errors import Fault
from rubricweb.engine.formats.content_ids import given_key
from rubricweb.engine.formats.dataset_values import DatasetFile, ItemRecord
from rubricweb.engine.formats.datasets.cases import AnsweredCase
from rubricweb.engine.formats.datasets.known_keys import KnownKeys
from rubricweb.engine.number_format import counted
from rubricweb.errors import Invalid
from rubricweb.models import Case, Dataset, Item, User
from rubricweb.selectors.datasets.systems import require_first_answers
from rubricweb.services.datasets import datasets, systems
from rubricweb.services.datasets.intake import MOST_FAULTS, Intake, made_id_faults, parts
from rubricweb.services.datasets.previews import (
    AS_ASKED,
    ImportChoices,
    ItemsPreview,
    preview_of,
    require_untold,
    tells_who_answered,
)


@dataclass(frozen=True)
class AnswersPlan:
    """What a file of answers comes to, by case key and in the order of the dataset.

    `answers` are those that are new. `unknown` and `answered` cases keep the file from being stored: the
    dataset does not have those, the version has answered these before. `missing` cases stay without an
    answer. `preview` says which items say what an earlier one says, and what is new by name.
    """

    system: str
    answers: int
    missing: tuple[str, ...]
    unknown: tuple[str, ...]
    answered: tuple[str, ...]
    preview: ItemsPreview | None = None


def plan_answers(
    dataset: Dataset,
    *,
    data: bytes,
    filename: str,
    system: str,
    columns: Mapping[str, str] | None = None,
    as_attempt: bool = False,
    viewer: User | None = None,
) -> AnswersPlan:
    """What `add_answers` would store; nothing is, and nothing asked. Raises Invalid for a file that cannot be
    read, Withheld as `AnswersReading`.
    """
    version = systems.read_system_name(system)
    reading = AnswersReading(dataset, version, as_attempt=as_attempt, viewer=viewer)
    file = datasets.read_file(data, filename, columns, rubric=datasets.own_rubric(dataset))
    file = reading.take(file)
    refuse(filename, reading.wrong_rows)
    intake = Intake(dataset, compares=not tells_who_answered(dataset, viewer))
    for part in parts(file):
        intake.take(part)
    return replace(reading.plan(), preview=preview_of(intake, dataset.team))


def add_answers(
    dataset: Dataset,
    *,
    by: User | None,
    data: bytes,
    filename: str,
    system: str,
    columns: Mapping[str, str] | None = None,
    as_attempt: bool = False,
    choices: ImportChoices = AS_ASKED,
) -> AnswersPlan:
    """Stores a version's answers, each asked what its case asks; all of the file or nothing.

    A row names its case by `case_id`, or by `id` where the file has no case ids. `system` is the version, as
    assistant@v5. Raises Invalid naming the rows of unknown cases, of rows of another system, and of cases the
    version has answered before; with `as_attempt` those are its next attempt. Conflict for a sealed half, and
    where something has to be asked that `choices` do not say; Withheld as `add_items_of_file`.
    """
    datasets.require_unsealed(dataset)
    require_untold(dataset, choices.duplicates, by)
    version = systems.read_system_name(system)
    file = datasets.read_file(data, filename, columns, rubric=datasets.own_rubric(dataset))
    with transaction.atomic():
        datasets.hold_with_rubric(dataset)
        reading = AnswersReading(dataset, version, as_attempt=as_attempt, viewer=by)
        file = reading.take(file)
        refuse(filename, reading.faults)
        stored = datasets.add_read_items(dataset, file, by=by, filename=filename, choices=choices)
    return replace(reading.plan(), answers=stored.items, preview=stored.preview)


def refuse(filename: str, faults: Iterable[Fault]) -> None:
    """Refuses the whole file where there are faults."""
    if found := list(faults):
        raise Invalid(f"{filename}: {counted(len(found), 'fault')}, nothing was added.", found)


class AnswersReading:
    """Reads parts of a file as answers of one version, as it is stored, to the cases of a dataset.

    Raises Withheld where which cases that version has answered would tell the viewer who answered.
    """

    def __init__(self, dataset: Dataset, version: str, *, as_attempt: bool, viewer: User | None) -> None:
        if tells_who_answered(dataset, viewer):
            require_first_answers(dataset, [version])
        self._dataset = dataset
        self.version = version
        systems.require_listed(dataset.team, [version])
        self._as_attempt = as_attempt
        name, _, label = version.partition("@")
        of_version = Item.objects.current().filter(
            case__dataset=dataset,
            wording=F("case__wording"),
            system_version__system__name=name,
            system_version__label=label,
        )
        attempts = of_version.order_by().values("case__key").annotate(n=Max("attempt"))
        self._last: dict[str, int] = dict(attempts.values_list("case__key", "n"))
        cases = Case.objects.filter(dataset=dataset).order_by("position")
        # Case key → whether the file answers it.
        self._asked: dict[str, bool] = dict.fromkeys(cases.values_list("key", flat=True), False)
        self._cases = KnownKeys(self._asked)
        # Cases all of whose answers are retired can be answered, and are not missed.
        current = Item.objects.current().filter(dataset=dataset).order_by()
        self._missed = set(current.values_list("case__key", flat=True).distinct())
        self._unknown: set[str] = set()
        self._again: set[str] = set()
        # Case key and attempt → the place of the row that answers it.
        self._places: dict[tuple[str, int], str] = {}
        self._taken = 0
        # Of another system, or with an id that is too long.
        self.wrong_rows: list[Fault] = []
        self._wrong_cases: list[Fault] = []

    @property
    def faults(self) -> list[Fault]:
        """What keeps the file from being added: wrong rows, then wrong cases."""
        return self.wrong_rows or self._wrong_cases

    def take(self, file: DatasetFile) -> DatasetFile:
        """This part of the file with every row as an answer of the version to its case."""
        rows = tuple(self._row(record) for record in file.items)
        return replace(file, items=rows)

    def plan(self) -> AnswersPlan:
        """What the file comes to, once all of it was taken."""
        return AnswersPlan(
            system=self.version,
            answers=len(self._places),
            missing=tuple(
                key
                for key, is_asked in self._asked.items()
                if not is_asked and key in self._missed and key not in self._last
            ),
            unknown=tuple(sorted(self._unknown)),
            answered=tuple(key for key in self._asked if key in self._again),
        )

    def _row(self, record: ItemRecord) -> ItemRecord:
        place, self._taken = f"items[{self._taken}]", self._taken + 1
        if record.system not in ("", self.version):
            allowed = f"{self.version}, the version of the whole file"
            _add(self.wrong_rows, Fault(f"{place}.system", repr(record.system), allowed))
        row = _answer(record, self.version, self._cases)
        last = self._last.get(row.case_id, 0)
        if self._as_attempt and last:
            row = _next_attempt(row, last)
        if row.case_id not in self._asked:
            self._unknown.add(row.case_id)
            why = f"the id of a case of {self._dataset}"
        elif row.attempt <= last:
            self._asked[row.case_id] = True
            self._again.add(row.case_id)
            why = f"a case that {self.version} has not answered, or another attempt"
        elif earlier := self._places.get((row.case_id, row.attempt)):
            why = f"one answer to a case, or another attempt (it is answered at {earlier})"
        else:
            self._asked[row.case_id] = True
            self._places[row.case_id, row.attempt] = place
            for fault in made_id_faults(row.id, f"{place}.id"):
                _add(self.wrong_rows, fault)
            return row
        found = repr(row.case_id) if given_key(row.case_id) else "an id that was made from the content"
        _add(self._wrong_cases, Fault(f"{place}.case_id", found, why))
        return row


def _add(faults: list[Fault], fault: Fault) -> None:
    if len(faults) < MOST_FAULTS:
        faults.append(fault)


def _answer(record: ItemRecord, version: str, cases: KnownKeys) -> ItemRecord:
    named = record.case_id or record.id
    own_id = (
        record.id if record.case_id and record.id != AnsweredCase(named, "", record.attempt).item_id else ""
    )
    case_id = cases.find(named) or named
    answered = AnsweredCase(case_id, version, record.attempt)
    return replace(record, id=own_id or answered.item_id, case_id=case_id, system=version)


def _next_attempt(record: ItemRecord, last: int) -> ItemRecord:
    attempt = last + record.attempt
    is_named_after_case = record.id == AnsweredCase(record.case_id, record.system, record.attempt).item_id
    id = AnsweredCase(record.case_id, record.system, attempt).item_id if is_named_after_case else record.id
    return replace(record, id=id, attempt=attempt)
