"""Forms of the rubrics room; the editor's form keeps whatever was typed, valid or not."""

import csv
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django import forms
from django.http import QueryDict

from rubricweb.engine.errors import Fault
from rubricweb.engine.rubric import MAX_CRITERIA, MAX_TITLE
from rubricweb.engine.weight_shares import weight_shares
from rubricweb.errors import Invalid
from rubricweb.web.http import whole_number

PREFIX = "criteria"
TEMPLATE_INDEX = "__index__"
MORE = ("guidance", "tags", "met_example", "unmet_example")
_POSTED = re.compile(rf"{PREFIX}-(\d{{1,6}})-")
_PLACE = re.compile(r"criteria\[(\d+)\](?:\.(\w+))?")


class TitleForm(forms.Form):
    title = forms.CharField(max_length=MAX_TITLE, widget=forms.TextInput({"autofocus": True}))


class ImportForm(forms.Form):
    title = forms.CharField(
        max_length=MAX_TITLE,
        required=False,
        help_text="Left empty, it is called what the file says, or like the file.",
    )


class PublishForm(forms.Form):
    note = forms.CharField(
        max_length=300,
        required=False,
        widget=forms.TextInput({"autofocus": True}),
        help_text="Why this version: shown beside it in every list.",
    )


def _text(**attrs: Any) -> forms.CharField:
    return forms.CharField(
        required=False, strip=False, widget=forms.TextInput({"autocomplete": "off", **attrs})
    )


def _long(label: str, rows: int = 2, **attrs: Any) -> forms.CharField:
    return forms.CharField(
        label=label, required=False, strip=False, widget=forms.Textarea({"rows": rows, **attrs})
    )


class HeadForm(forms.Form):
    title = _text()
    guidelines = _long("Guidelines", rows=3)


class CriterionForm(forms.Form):
    """One row of the editor. Nothing is required here: what is missing is said when publishing."""

    name = _text()
    requirement = _long("Requirement")
    weight = _text(inputmode="decimal", **{"class": "input--short", "data-weight": True})
    group = _text(list="criterion-groups")
    guidance = _long("Guidance")
    tags = _text()
    met_example = _long("Example that meets it")
    unmet_example = _long("Example that does not")

    index: int | str = 0
    share: float | None = None
    focused = False

    @property
    def more_is_open(self) -> bool:
        """Whether a fault hides behind the disclosure."""
        return any(self[name].errors for name in MORE)

    @property
    def number(self) -> float | None:
        """The weight, None while it is not a number."""
        return _weight(self)

    @property
    def more_filled(self) -> int:
        """How many of the fields behind the disclosure say something."""
        return sum(bool(str(self[name].value() or "").strip()) for name in MORE)

    @property
    def label(self) -> str:
        """How lists of criteria call this row: its name, else the beginning of what it asks."""
        name = str(self["name"].value() or "").strip()
        return name or str(self["requirement"].value() or "").strip()[:60] or "(empty)"


@dataclass(frozen=True)
class Problem:
    """One line of the summary above a form: which control it is about and what is wrong with it."""

    anchor: str
    label: str
    message: str


class RubricForm:
    """A rubric draft as a form: a head, and one row per criterion in order.

    `revision` is the save the form began from; `problems` sum up what was refused.
    """

    def __init__(
        self,
        *,
        title: str,
        guidelines: str,
        criteria: Iterable[tuple[int, Mapping[str, str]]],
        revision: int,
    ) -> None:
        self.revision = revision
        self.head = HeadForm({"title": title, "guidelines": guidelines})
        self.rows = [_row(index, values) for index, values in criteria]
        self.problems: list[Problem] = []
        self._share()

    @classmethod
    def from_draft(cls, draft: Mapping[str, Any], revision: int) -> "RubricForm":
        """The form of a saved draft, with one empty row when it has no criteria yet."""
        entries = [entry for entry in draft.get("criteria") or [{}] if isinstance(entry, dict)]
        return cls(
            title=_shown(draft.get("title")),
            guidelines=_shown(draft.get("guidelines")),
            criteria=enumerate(_values(entry) for entry in entries),
            revision=revision,
        )

    @classmethod
    def from_post(cls, posted: QueryDict) -> "RubricForm":
        """The form as typed. Rows stand in the order of their order numbers. Raises Invalid for too many."""
        indexes = {int(match[1]) for key in posted if (match := _POSTED.match(key))}
        if len(indexes) > MAX_CRITERIA:
            raise Invalid(f"A rubric has at most {MAX_CRITERIA} criteria, not {len(indexes)}.")
        ordered = sorted(indexes, key=lambda index: (_order(posted, index), index))
        return cls(
            title=_typed(posted, "title"),
            guidelines=_typed(posted, "guidelines"),
            criteria=[
                (
                    index,
                    {name: _typed(posted, f"{PREFIX}-{index}-{name}") for name in CriterionForm.base_fields},
                )
                for index in ordered
            ],
            revision=whole_number(posted.get("revision"), "The revision") or 0,
        )

    def add_row(self) -> None:
        row = _row(max((row.index for row in self.rows), default=-1) + 1, _values({}))
        row.focused = True
        self.rows.append(row)
        self._share()

    def remove_row(self, index: str) -> None:
        self.rows = [row for row in self.rows if str(row.index) != index]
        self._share()

    @property
    def template_row(self) -> CriterionForm:
        """The empty row that the browser copies; its index is a placeholder."""
        row = _row(0, _values({}), prefix=f"{PREFIX}-{TEMPLATE_INDEX}")
        row.index = TEMPLATE_INDEX
        return row

    @property
    def groups(self) -> list[str]:
        """The groups in use, in order of appearance."""
        return list(dict.fromkeys(name for row in self.rows if (name := _value(row, "group").strip())))

    def draft(self) -> dict[str, Any]:
        """The draft to store: numbers where the weights are numbers, otherwise as typed."""
        return {
            "title": self.head["title"].value(),
            "guidelines": self.head["guidelines"].value(),
            "criteria": [_criterion(row) for row in self.rows],
        }

    def describe(self, faults: Iterable[Fault]) -> list[Problem]:
        """Faults in the words of the form, each with the control it is about (none: an empty anchor)."""
        problems = []
        for fault in faults:
            form, name, label = self._field(fault.place)
            if form is None:
                anchor = ""
            else:
                anchor = form[name].id_for_label if name else f"criterion-{form.index}"
            problems.append(Problem(anchor, label or fault.place, _sentence(fault)))
        return problems

    def show(self, faults: Iterable[Fault]) -> None:
        """Puts each fault at the field its place names, and all of them into the summary."""
        faults = tuple(faults)
        self.problems = self.describe(faults)
        for fault in faults:
            form, name, _ = self._field(fault.place)
            if form is not None:
                form.add_error(name, _sentence(fault))

    def _field(self, place: str) -> tuple[Any, str | None, str]:
        if place in self.head.fields:
            return self.head, place, place.capitalize()
        match = _PLACE.match(place)
        if match is None or int(match[1]) >= len(self.rows):
            return None, None, ""
        row = self.rows[int(match[1])]
        name = match[2] if match[2] in row.fields else None
        label = f"Criterion {int(match[1]) + 1}"
        return row, name, f"{label}, {str(row[name].label).lower()}" if name else label

    def _share(self) -> None:
        for row, share in zip(self.rows, weight_shares([_weight(row) for row in self.rows]), strict=True):
            row.share = share


def _sentence(fault: Fault) -> str:
    return f"Found {fault.found}. Allowed: {fault.allowed}."


def _row(index: int, values: Mapping[str, str], prefix: str = "") -> CriterionForm:
    prefix = prefix or f"{PREFIX}-{index}"
    row = CriterionForm({f"{prefix}-{name}": value for name, value in values.items()}, prefix=prefix)
    row.index = index
    return row


def _values(entry: Mapping[str, Any]) -> dict[str, str]:
    """A stored criterion as the texts of its row; a new one weighs 1."""
    tags = entry.get("tags") or []
    return {
        **{name: _shown(entry.get(name)) for name in CriterionForm.base_fields},
        "weight": _shown(entry.get("weight", 1)),
        "tags": _joined(tags) if isinstance(tags, list) else _shown(tags),
    }


def _criterion(row: CriterionForm) -> dict[str, Any]:
    """A row as a stored criterion; fields left empty are left out, except the two every criterion needs."""
    weight = _weight(row)
    found: dict[str, Any] = {"name": name} if (name := _value(row, "name")).strip() else {}
    found["weight"] = _value(row, "weight") if weight is None else weight
    found["requirement"] = _value(row, "requirement")
    for field in ("group", "guidance", "met_example", "unmet_example"):
        if (text := _value(row, field)).strip():
            found[field] = text
    tags = [tag.strip() for tag in next(csv.reader([_value(row, "tags")], skipinitialspace=True), [])]
    return found | ({"tags": tags} if (tags := [tag for tag in tags if tag]) else {})


def _weight(row: CriterionForm) -> float | None:
    """The weight when it is a finite number. "1,5" and "1,000" look alike, so a comma is never guessed at."""
    text = _value(row, "weight").strip().replace("\N{MINUS SIGN}", "-")
    if not re.fullmatch(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", text, re.ASCII):
        return None
    number = float(text)
    return number if math.isfinite(number) else None


def _value(row: CriterionForm, name: str) -> str:
    return str(row[name].value() or "")


def _joined(tags: Iterable[Any]) -> str:
    """Tags with commas between them; a tag that holds a comma or a quote is quoted as in CSV."""
    shown = [_shown(tag) for tag in tags]
    return ", ".join(
        f'"{tag.replace(chr(34), chr(34) * 2)}"' if {",", '"'} & set(tag) else tag for tag in shown
    )


def _shown(value: Any) -> str:
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return "" if value is None else str(value)


def _typed_row(posted: QueryDict, index: int) -> dict[str, str]:
    return {name: _typed(posted, f"{PREFIX}-{index}-{name}") for name in CriterionForm.base_fields}


def _typed(posted: QueryDict, name: str) -> str:
    """What was typed, with the line ends the browser changed changed back."""
    return posted.get(name, "").replace("\r\n", "\n").replace("\0", "")


def _order(posted: QueryDict, index: int) -> int:
    text = posted.get(f"{PREFIX}-{index}-order", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 9 else 10**9
