"""Records of a file as items, each checked alone and all of them together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from rubricweb.engine.errors import (
    FaultList,
    InvalidText,
    join_place,
    nearest,
    shown,
)
from rubricweb.engine.formats.content_ids import content_id, numbered_ids
from rubricweb.engine.formats.dataset_values import (
    ALIASES,
    MACHINES_KEY,
    ColumnsRead,
    DatasetHeader,
    ItemRecord,
    LabelRow,
    Prompt,
    ProvenanceRow,
)
from rubricweb.engine.formats.datasets.case_tags import CaseTagReader
from rubricweb.engine.formats.datasets.cases import (
    UNNAMED,
    AnsweredCase,
    CaseReader,
    asked_words,
    checked_item_id,
)
from rubricweb.engine.formats.datasets.columns import guessed_columns, leave_unsure
from rubricweb.engine.formats.datasets.item_labels import (
    read_label_row,
    read_machine_raters,
    read_rater_reasons,
    read_rater_rows,
    read_reason_row,
)
from rubricweb.engine.formats.datasets.item_provenance import read_provenance_row
from rubricweb.engine.formats.datasets.submission_column import SUBMISSION_NAMES, SubmissionColumn
from rubricweb.engine.formats.field_values import (
    canonical,
    is_chat_text,
    read_id,
    read_prompt,
    read_text,
    storable,
)
from rubricweb.engine.formats.label_provenance import PROVENANCE_KEY
from rubricweb.engine.formats.records import PlacedRecord
from rubricweb.engine.parsers.json_text import parse_json
from rubricweb.engine.parsers.plain_text import unstorable
from rubricweb.engine.rubric import Rubric, check_rubric

_STRUCTURED = (
    "prompt",
    "rubric",
    "metadata",
    "ground_truth",
    "ground_truth_reasons",
    PROVENANCE_KEY,
    MACHINES_KEY,
    "labels",
    "label_reasons",
)
"""Fields whose values are lists or objects, which a CSV cell holds as JSON."""


class ItemReader:
    """Turns records into items one by one, remembering what must hold for all of them together.

    ``explicit`` is which column a field is read from, as ``read_dataset`` takes it; ``cells`` says that lists
    and objects are written as JSON in text cells, ``row_by_row`` that every row without a
    submission is a fault of its own. ``needs`` are fields no item may leave out, beside the
    submission; a rubric may also be the dataset's. ``version`` is the system version that answered all items,
    where one is said of the whole file. Faults go to ``faults``.
    """

    def __init__(
        self,
        header: DatasetHeader,
        explicit: Mapping[str, str],
        *,
        cells: bool,
        row_by_row: bool = False,
        faults: FaultList,
        needs: Iterable[str] = (),
        version: str = UNNAMED,
    ) -> None:
        self.header = header
        self.explicit = explicit
        self.cells = cells
        self.faults = faults
        self.needs = frozenset(needs)
        self.places_by_id: dict[str, str] = {}
        # Only of items with a rubric of their own: no other id may come again.
        self._graded_by_id: dict[str, object] = {}
        # How often an id was numbered already: a million equal items are not counted from one each time.
        self._numbered: Counter[str] = Counter()
        self.columns_seen: dict[str, None] = {}
        self.any_record = False
        self.cases = CaseReader(faults, self.places_by_id, version)
        self.tags = CaseTagReader(faults)
        self._submissions = SubmissionColumn(faults, noun="" if row_by_row else "column" if cells else "key")
        self._read_as: dict[str, str] = {}

    def read(self, record: PlacedRecord) -> ItemRecord | None:
        """The item, or None when something about it was refused."""
        before, self.any_record = self.faults.total, True
        self.columns_seen |= dict.fromkeys(record.data)
        mapping = self._mapping(record)
        place = record.place
        if not self._submissions.is_there(record, mapping):
            return None
        values: dict[str, Any] = {name: record.data.get(column) for name, column in mapping.items()}
        values |= {key: record.data[key] for key in _OWN_KEYS if key in record.data}
        if self.cells:
            values = {name: self._cell(name, value, place) for name, value in values.items()}

        submission, thinking = self._submission(values, mapping, place)
        prompt = read_prompt(values.get("prompt"), _at(place, mapping, "prompt"), self.faults)
        reference = read_text(values.get("reference"), _at(place, mapping, "reference"), self.faults)
        description = read_text(values.get("description"), _at(place, mapping, "description"), self.faults)
        rubric, rubric_is_faulty = self._rubric(values.get("rubric"), _at(place, mapping, "rubric"))
        in_force = rubric or (None if rubric_is_faulty else self.header.rubric)
        labels_unchecked = rubric_is_faulty or (rubric is None and self.header.rubric_is_faulty)
        self._check_needs(values | {"rubric": in_force or labels_unchecked or None}, mapping, place)
        if labels_unchecked:
            values = {name: value for name, value in values.items() if name not in _LABEL_FIELDS}
        truth, reasons = self._ground_truth(values, in_force, place)
        provenance = self._provenance(values, truth, place)
        labels, label_reasons = self._labels(values, in_force, place)
        machines = read_machine_raters(
            values.get(MACHINES_KEY) if labels else None, labels, join_place(place, MACHINES_KEY), self.faults
        )
        metadata = self._metadata(values.get("metadata"), record, set(mapping.values()), place)
        id_place = _at(place, mapping, "id")
        asked = partial(self._asked, prompt, reference, rubric)
        answered, tags = self._answered(values, asked, mapping, place)
        id = self._given_id(values.get("id"), answered, id_place)
        graded = (submission, thinking, canonical(prompt), reference) if rubric is not None else None
        id = self._own_id(id, graded, place, id_place)
        if self.faults.total > before or submission is None or answered is None:
            return None
        if id is None:
            id = self._numbered_id(content_id(submission, thinking, prompt, reference, rubric), place)
        if not answered.case_id and not self.cases.read_alone(id, asked(), place, id_place):
            return None
        return ItemRecord(
            id,
            submission,
            thinking,
            prompt,
            reference,
            rubric,
            description or "",
            metadata,
            truth,
            reasons,
            labels,
            label_reasons,
            provenance,
            machines,
            case_id=answered.case_id,
            system=answered.system or self.cases.version,
            attempt=answered.attempt,
            case_tags=tags,
        )

    def _check_needs(self, values: Mapping[str, Any], mapping: Mapping[str, str], place: str) -> None:
        for name in sorted(self.needs):
            if values.get(name) is None:
                self.faults.add(_at(place, mapping, name), "nothing", f"a {name} for every item")

    def columns_read(self, *, own_id: bool = False) -> ColumnsRead:
        """What the columns of the records so far were read as."""
        fields = {name: self._read_as[name] for name in ALIASES if name in self._read_as}
        others = self.columns_seen.keys() - {*fields.values(), *_OWN_KEYS}
        metadata = [column for column in self.columns_seen if column in others]
        return ColumnsRead(fields, tuple(metadata[:MOST_COLUMNS]), own_id)

    def check_whole(self, *, empty: bool) -> None:
        """What only shows at the end: no items at all, columns that no item has."""
        self._submissions.check_whole()
        if empty and not self.faults:
            self.faults.add("items", "no items", "at least one item")
        if not self.any_record:
            return
        for name, column in self.explicit.items():
            if name in ALIASES and column and column not in self.columns_seen:
                self.faults.add(
                    f"columns.{name}", f"the column {column!r}", nearest(column, sorted(self.columns_seen))
                )

    def _mapping(self, record: PlacedRecord) -> dict[str, str]:
        mapping = guessed_columns(record.data, self.explicit)
        for name in ("labels", "label_reasons"):
            value = record.data.get(mapping.get(name, ""))
            is_object = isinstance(value, dict) or (
                self.cells and isinstance(value, str) and value.lstrip().startswith("{")
            )
            if name in mapping and name not in self.explicit and value is not None and not is_object:
                del mapping[name]
        leave_unsure(mapping, record.data, self.explicit)
        for name, column in mapping.items():
            if column in record.data:
                self._read_as.setdefault(name, column)
        return mapping

    def _cell(self, name: str, value: Any, place: str) -> Any:
        """A text cell as the value it stands for: lists and objects are written into cells as JSON."""
        if not isinstance(value, str) or name not in _STRUCTURED:
            return value
        text = value.strip()
        if name == "prompt" and not is_chat_text(text):
            return value
        if name == "ground_truth" and not text.startswith(("[", "{")):
            mark = next((mark for mark in ("|", ";", ",") if mark in text), ",")
            return [label.strip() or None for label in text.split(mark)]
        try:
            return parse_json(text)
        except InvalidText as error:
            self.faults.add(join_place(place, name), error.faults[0].found, "JSON in this cell")
            return None

    def _submission(
        self, values: Mapping[str, Any], mapping: Mapping[str, str], place: str
    ) -> tuple[str | None, str | None]:
        value: Any = values.get("submission")
        thinking: Any = values.get("thinking")
        here = _at(place, mapping, "submission")
        if isinstance(value, dict) and set(value) <= {"thinking", "output"} and thinking is None:
            value, thinking = value.get("output"), value.get("thinking")
        if value is None:
            self.faults.add(here, "nothing", f"the text to grade, {SUBMISSION_NAMES}")
        elif isinstance(value, str) and not value.strip():
            self.faults.add(here, "an empty text", "the text to grade")
        elif not isinstance(value, str):
            self.faults.add(here, shown(value), "text (structured data as a JSON text)")
        submission = read_text(value, here, self.faults) if isinstance(value, str) else None
        return submission, read_text(thinking, _at(place, mapping, "thinking"), self.faults)

    def _rubric(self, value: Any, place: str) -> tuple[Rubric | None, bool]:
        if value is None:
            return None, False
        rubric = check_rubric(value, self.faults, place)
        return rubric, rubric is None

    def _ground_truth(
        self, values: Mapping[str, Any], rubric: Rubric | None, place: str
    ) -> tuple[LabelRow | None, LabelRow | None]:
        given, reasons = values.get("ground_truth"), values.get("ground_truth_reasons")
        here = join_place(place, "ground_truth")
        truth = None if given is None else read_label_row(given, rubric, here, self.faults)
        if reasons is None or (truth is None and given is not None):
            return truth, None
        here = join_place(place, "ground_truth_reasons")
        if truth is None and isinstance(reasons, list):
            self.faults.add(here, "reasons without ground_truth", "reasons beside the labels they explain")
            return None, None
        return truth, read_reason_row(reasons, truth, rubric, here, self.faults)

    def _provenance(
        self, values: Mapping[str, Any], truth: LabelRow | None, place: str
    ) -> ProvenanceRow | None:
        given = values.get(PROVENANCE_KEY)
        if given is None or (truth is None and values.get("ground_truth") is not None):
            return None
        return read_provenance_row(given, truth, join_place(place, PROVENANCE_KEY), self.faults)

    def _labels(
        self, values: Mapping[str, Any], rubric: Rubric | None, place: str
    ) -> tuple[dict[str, LabelRow], dict[str, LabelRow]]:
        given, reasons = values.get("labels"), values.get("label_reasons")
        if given is None and reasons is None:
            return {}, {}
        rows = (
            {} if given is None else read_rater_rows(given, rubric, join_place(place, "labels"), self.faults)
        )
        if reasons is None:
            return rows, {}
        here = join_place(place, "label_reasons")
        return rows, read_rater_reasons(reasons, rows, rubric, here, self.faults)

    def _metadata(self, value: Any, record: PlacedRecord, used: set[str], place: str) -> dict[str, Any]:
        passed_over = used | set(_OWN_KEYS)
        metadata = {
            key: extra for key, extra in record.data.items() if key not in passed_over and extra is not None
        }
        if value is not None and not isinstance(value, dict):
            self.faults.add(join_place(place, "metadata"), shown(value), "an object")
        elif value is not None:
            for key, given in value.items():
                if str(key) in metadata:
                    twice = f"{str(key)!r} both here and in the item itself"
                    self.faults.add(join_place(place, "metadata"), twice, "each key in one place")
                metadata[str(key)] = given
        for key in metadata:
            if unstorable(key):
                self.faults.add(
                    join_place(place, "metadata"), f"a key with {unstorable(key)}", "keys of text"
                )
        return {
            key: storable(given, join_place(place, f"metadata.{key}"), self.faults)
            for key, given in metadata.items()
        }

    def _answered(
        self,
        values: Mapping[str, Any],
        asked: Callable[[], str],
        mapping: Mapping[str, str],
        place: str,
    ) -> tuple[AnsweredCase | None, tuple[str, ...]]:
        """What the item answers, and the tags of that case."""

        def at(name: str) -> str:
            return _at(place, mapping, name)

        answered = self.cases.read(values, asked, place, at)
        return answered, self.tags.read(values.get("case_tags"), answered, at("case_tags"))

    def _asked(self, prompt: Prompt | None, reference: str | None, rubric: Rubric | None) -> str:
        """A digest of what an item asks: where it has no prompt or reference of its own, the header's."""
        words = self.header.prompt if prompt is None else prompt
        known = self.header.reference if reference is None else reference
        return asked_words(words, known, rubric)

    def _numbered_id(self, base: str, place: str) -> str:
        """An id made from the content, numbered where equal items came before."""
        numbers = numbered_ids(base, after=self._numbered[base])
        number, id = next(one for one in numbers if one[1] not in self.places_by_id)
        self._numbered[base] = number
        self.places_by_id[id] = place
        return id

    def _given_id(self, value: Any, answered: AnsweredCase | None, place: str) -> str | None:
        """The id the file gives the item, else one of its case and system; None where it has neither."""
        given = read_id(value, place, self.faults)
        if given is None and answered is not None and answered.case_id:
            return checked_item_id(answered, place, self.faults)
        return given

    def _own_id(self, id: str | None, graded: object, place: str, id_place: str) -> str | None:
        """The id, numbered ``id#2``, ``id#3`` where a submission comes again under a rubric of its own.

        An id names a submission, so it may only come again with that very submission (``graded``, None for
        items without a rubric of their own); anything else under a used id is a fault.
        """
        if id is None:
            return None
        if id not in self.places_by_id:
            self.places_by_id[id] = place
            if graded is not None:
                self._graded_by_id[id] = graded
            return id
        if graded is None or self._graded_by_id.get(id) != graded:
            allowed = (
                "ids that occur once (the same submission may come again with another rubric of its own), "
                "or no id column: ids then follow from the content"
            )
            self.faults.add(id_place, f"{shown(id)} again (as {self.places_by_id[id]})", allowed)
            return id
        number = max(self._numbered[id], 1) + 1
        while (numbered := f"{id}#{number}") in self.places_by_id:
            number += 1
        self._numbered[id] = number
        self.places_by_id[numbered] = place
        return numbered


MOST_COLUMNS = 200
"""So many columns that became metadata are told."""

_OWN_KEYS = (PROVENANCE_KEY, MACHINES_KEY)
_LABEL_FIELDS = ("ground_truth", "ground_truth_reasons", "labels", "label_reasons", *_OWN_KEYS)


def _at(place: str, mapping: Mapping[str, str], name: str) -> str:
    return join_place(place, mapping.get(name) or name)
