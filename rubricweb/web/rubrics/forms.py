"""Forms of the rubrics room; the editor's form keeps whatever was typed, valid or not."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django import forms
from django.http import QueryDict

from rubricweb.engine.errors import Fault
from rubricweb.engine.rubric import MAX_CRITERIA, MAX_TITLE, LengthPenalty
from rubricweb.engine.rubric.reading import new_id
from rubricweb.engine.scoring.points import score_points
from rubricweb.errors import Invalid
from rubricweb.web.http import whole_number
from rubricweb.web.rubrics import file_metadata, lint_notes
from rubricweb.web.rubrics.criterion_rows import (
    PREFIX,
    CriterionForm,
    new_row,
    order,
    sentence,
    stored_row,
    template_row,
    typed,
    typed_row,
)
from rubricweb.web.rubrics.option_rows import PRESETS
from rubricweb.web.shared.numbers import number_shown, number_typed

_POSTED = re.compile(rf"{PREFIX}-(\d{{1,6}})-(?:options-(\d{{1,6}})-)?")
_PLACE = re.compile(r"criteria\[(\d+)\]\.?(.*)")
MOST_NOTES = 20
"""So many findings are listed together; the others are marked on their criteria."""
MOST_FIELDS = 20
"""A longer rubric has the fields of its folded rows fetched when they are opened: its page stays small."""


class TitleForm(forms.Form):
    title = forms.CharField(max_length=MAX_TITLE, widget=forms.TextInput({"autofocus": True}))


class ImportForm(forms.Form):
    title = forms.CharField(
        max_length=MAX_TITLE,
        required=False,
        help_text="Defaults to the name in the file, or the file name.",
    )


class PublishForm(forms.Form):
    note = forms.CharField(
        max_length=300,
        required=False,
        help_text="Why this version: shown beside it in every list.",
    )


class HeadForm(forms.Form):
    title = forms.CharField(required=False, strip=False, widget=forms.TextInput({"autocomplete": "off"}))
    guidelines = forms.CharField(required=False, strip=False, widget=forms.Textarea({"rows": 3}))
    metadata = forms.CharField(required=False, widget=forms.HiddenInput)


def _number(label: str) -> forms.CharField:
    attrs = {"inputmode": "decimal", "autocomplete": "off", "class": "input--short"}
    return forms.CharField(label=label, required=False, strip=False, widget=forms.TextInput(attrs))


class PassRuleForm(forms.Form):
    """When a submission passes; both left empty is no rule."""

    min_score = _number("Score of at least")
    min_criterion = _number("Every criterion at least")


COUNTED_WORDS = [
    ("ALL", "thinking and output"),
    ("OUTPUT_ONLY", "the output"),
    ("THINKING_ONLY", "the thinking"),
]


class LengthPenaltyForm(forms.Form):
    """What a long submission loses, as soon as it is switched on."""

    on = forms.BooleanField(label="Long submissions lose score", required=False)
    free_budget = _number("Free up to")
    max_cap = _number("Full penalty from")
    penalty_at_cap = _number("Full penalty")
    exponent = _number("Exponent")
    counts = forms.ChoiceField(
        label="Words of",
        required=False,
        choices=COUNTED_WORDS,
    )


RULES: dict[str, tuple[type[PassRuleForm] | type[LengthPenaltyForm], str]] = {
    "pass_rule": (PassRuleForm, "Pass rule"),
    "length_penalty": (LengthPenaltyForm, "Length penalty"),
}
_PENALTY = {name: number_shown(value) for name, value in LengthPenalty().to_dict().items()}


@dataclass(frozen=True)
class FormProblem:
    """One line of the summary above a form: which control it is about and what is wrong with it."""

    anchor: str
    label: str
    message: str


# Long because it has a line or two for every part of a rubric.
class RubricForm:
    """A rubric draft as a form: a head, the rules of the whole, and one row per criterion in order.

    `revision` is the save the form began from; `problems` sum up what was refused, `notes` what lint found.
    """

    def __init__(
        self,
        *,
        title: str,
        guidelines: str,
        metadata: str,
        rows: Iterable[CriterionForm],
        pass_rule: Mapping[str, str],
        length_penalty: Mapping[str, str],
        revision: int,
    ) -> None:
        self.revision = revision
        self.head = HeadForm({"title": title, "guidelines": guidelines, "metadata": metadata})
        self.pass_rule = _rule_form("pass_rule", pass_rule)
        self.length_penalty = _rule_form("length_penalty", length_penalty)
        self.rows = list(rows)
        self.problems: list[FormProblem] = []
        self._weigh()
        self._lint()

    @classmethod
    def from_draft(cls, draft: Mapping[str, Any], revision: int) -> "RubricForm":
        """The form of a saved draft, with one empty row when it has no criteria yet."""
        entries = draft.get("criteria") or []
        penalty = draft.get("length_penalty")
        return cls(
            title=number_shown(draft.get("title")),
            guidelines=number_shown(draft.get("guidelines")),
            metadata=file_metadata.packed(draft),
            rows=[stored_row(index, entry) for index, entry in enumerate(entries) if isinstance(entry, dict)]
            or [new_row(0)],
            pass_rule={name: number_shown(value) for name, value in (draft.get("pass_rule") or {}).items()},
            length_penalty=_PENALTY if penalty is None else _shown_penalty(penalty),
            revision=revision,
        )

    @classmethod
    def from_post(cls, posted: QueryDict) -> "RubricForm":
        """The form as typed. Rows stand in the order of their order numbers. Raises Invalid for too many."""
        indexes: dict[int, set[int]] = {}
        for key in posted:
            if match := _POSTED.match(key):
                options = indexes.setdefault(int(match[1]), set())
                options |= {int(match[2])} if match[2] else set()
        if len(indexes) > MAX_CRITERIA:
            raise Invalid(f"A rubric has at most {MAX_CRITERIA} criteria, not {len(indexes)}.")
        ordered = sorted(indexes, key=lambda index: (order(posted, f"{PREFIX}-{index}"), index))
        return cls(
            title=typed(posted, "title"),
            guidelines=typed(posted, "guidelines"),
            metadata=typed(posted, "metadata"),
            rows=[typed_row(posted, index, indexes[index]) for index in ordered],
            pass_rule=_typed_rule(posted, "pass_rule"),
            length_penalty=_typed_rule(posted, "length_penalty"),
            revision=whole_number(posted.get("revision"), "The revision") or 0,
        )

    def show_rows(self, rows: Iterable[CriterionForm]) -> None:
        """Puts these rows in place of those it has."""
        self.rows = list(rows)
        self._weigh()
        self._lint()

    def head_fields(self) -> dict[str, str | bool]:
        """What the fields say that stand above the criteria, by the names they are posted under."""
        bound = [field for each in (self.head, self.pass_rule, self.length_penalty) for field in each]
        return {
            field.html_name: bool(field.value())
            if isinstance(field.field, forms.BooleanField)
            else str(field.value() or "")
            for field in bound
        }

    most = MAX_CRITERIA

    def add_row(self) -> None:
        row = new_row(max((int(row.index) for row in self.rows), default=-1) + 1)
        row.focused = True
        self.rows.append(row)
        self._weigh()

    def duplicate_row(self, index: str) -> None:
        """Puts a criterion like this one, with an id of its own, behind it."""
        row = self.row(index)
        if row is not None:
            entry = {**row.stored(), "id": new_id()}
            copied = stored_row(max(int(each.index) for each in self.rows) + 1, entry)
            copied.focused = True
            self.rows.insert(self.rows.index(row) + 1, copied)
            self._weigh()

    def remove_row(self, index: str) -> None:
        self.rows = [row for row in self.rows if str(row.index) != index]
        self._weigh()

    def row(self, index: str) -> CriterionForm | None:
        """The row of an index, None for one that is not there."""
        return next((row for row in self.rows if str(row.index) == index), None)

    @property
    def template_row(self) -> CriterionForm:
        """The empty row that the browser copies; its index is a placeholder."""
        return template_row()

    @property
    def presets(self) -> dict[str, tuple[tuple[str, str], ...]]:
        """The options a choice can begin with, by name: labels with their values."""
        return {name: options for name, (_, options) in PRESETS.items()}

    @property
    def groups(self) -> list[str]:
        """The groups in use, in order of appearance."""
        return list(dict.fromkeys(name for row in self.rows if (name := row.text("group").strip())))

    @property
    def rules_filled(self) -> int:
        """How many rules of the whole rubric are set."""
        return sum(name in self.draft_rules() for name in RULES)

    @property
    def rules_are_open(self) -> bool:
        """Whether a fault hides behind the disclosure."""
        return bool(self.pass_rule.errors or self.length_penalty.errors)

    @property
    def warnings(self) -> list[lint_notes.LintNote]:
        return [note for note in self.notes if note.severity == "warning"]

    @property
    def hints(self) -> list[lint_notes.LintNote]:
        return [note for note in self.notes if note.severity == "hint"]

    @property
    def further_notes(self) -> int:
        """How many warnings and hints are beyond those listed together."""
        return sum(max(len(notes) - MOST_NOTES, 0) for notes in (self.warnings, self.hints))

    most_notes = f":{MOST_NOTES}"

    @property
    def notes_digest(self) -> str:
        return lint_notes.digest(self.notes)

    def draft(self) -> dict[str, Any]:
        """The draft to store: numbers where the weights are numbers, otherwise as typed."""
        return {
            "title": self.head["title"].value(),
            "guidelines": self.head["guidelines"].value(),
            "criteria": [row.stored() for row in self.rows],
            **file_metadata.unpacked(
                self.head["metadata"].value(),
                [(row.text("section"), row.text("group").strip()) for row in self.rows],
            ),
            **self.draft_rules(),
        }

    def draft_rules(self) -> dict[str, Any]:
        """The rules of the whole that say something, by their names in a draft."""
        rules = {}
        if limits := _rule_fields(self.pass_rule):
            rules["pass_rule"] = limits
        if self.length_penalty["on"].value():
            rules["length_penalty"] = _rule_fields(self.length_penalty)
        return rules

    def describe(self, faults: Iterable[Fault]) -> list[FormProblem]:
        """Faults in the words of the form, each with the control it is about (none: an empty anchor)."""
        return [self._problem(fault) for fault in faults]

    def show(self, faults: Iterable[Fault]) -> None:
        """Puts each fault at the field its place names, and all of them into the summary."""
        faults = tuple(faults)
        self.problems = self.describe(faults)
        for fault in faults:
            form, name, row, inner = self._place(fault.place)
            if row is not None:
                row.show(inner, fault)
            elif form is not None:
                form.add_error(name, sentence(fault))

    def _problem(self, fault: Fault) -> FormProblem:
        form, name, row, inner = self._place(fault.place)
        if row is not None:
            _, anchor, words = row.field_of(inner)
            number = f"Criterion {self.rows.index(row) + 1}"
            label = f"{number}, {words}" if words else number
            return FormProblem(anchor or f"criterion-{row.index}", label, row.say(inner, fault))
        if form is not None:
            rule = RULES[fault.place.split(".")[0]][1] if fault.place.split(".")[0] in RULES else ""
            label = str(form[name].label).lower() if rule and name else fault.place.capitalize()
            anchor = form[name].id_for_label if name else "rules"
            return FormProblem(
                anchor, ", ".join(filter(None, (rule, label if name else ""))), sentence(fault)
            )
        return FormProblem("", fault.place, sentence(fault))

    def _place(self, place: str) -> tuple[forms.Form | None, str | None, CriterionForm | None, str]:
        """Where a fault belongs: a form of the head with a field's name, or a row with the place in it."""
        if place in self.head.fields:
            return self.head, place, None, ""
        rule, _, inner = place.partition(".")
        if rule in RULES:
            form = self.pass_rule if rule == "pass_rule" else self.length_penalty
            return form, inner if inner in form.fields else None, None, ""
        match = _PLACE.match(place)
        if match is None or int(match[1]) >= len(self.rows):
            return None, None, None, ""
        return None, None, self.rows[int(match[1])], match[2]

    def _weigh(self) -> None:
        weights, spans = [row.number for row in self.rows], [row.span for row in self.rows]
        for row, points in zip(self.rows, score_points(weights, spans), strict=True):
            row.points, row.may_be_lean = points, len(self.rows) > MOST_FIELDS

    def _lint(self) -> None:
        links = [
            lint_notes.RowLink(f"criterion-{row.index}", number, row.label)
            for number, row in enumerate(self.rows, start=1)
        ]
        self.notes = lint_notes.notes(self.draft(), links)
        for note in self.notes:
            if note.position is not None:
                self.rows[note.position].notes.append(note)


def _rule_form(name: str, values: Mapping[str, str]) -> Any:
    form = RULES[name][0]({f"{name}-{field}": value for field, value in values.items()}, prefix=name)
    counts = form.fields.get("counts")
    if isinstance(counts, forms.ChoiceField) and not counts.valid_value(values.get("counts") or "ALL"):
        counts.choices = [*COUNTED_WORDS, (values["counts"], values["counts"])]
    return form


def _typed_rule(posted: QueryDict, name: str) -> dict[str, str]:
    return {field: typed(posted, f"{name}-{field}") for field in RULES[name][0].base_fields}


def _shown_penalty(penalty: Mapping[str, Any]) -> dict[str, str]:
    shown = {name: number_shown(value) for name, value in penalty.items() if value is not None}
    if "penalty_type" in shown:
        shown["counts"] = shown.pop("penalty_type")
    return {**_PENALTY, **shown, "on": "on"}


def _rule_fields(form: forms.Form) -> dict[str, Any]:
    """A rule's fields that say something: numbers where they are numbers, otherwise as typed."""
    found = {name: str(form[name].value() or "") for name in form.fields if name != "on"}
    return {
        name: text if name == "counts" else number_typed(text) for name, text in found.items() if text.strip()
    }
