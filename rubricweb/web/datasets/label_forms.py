"""Forms of importing labels: where a file goes, and what its columns, values and raters are."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django import forms

from rubricweb.engine.formats.label_files import FIELDS, SHAPES, LabelChoices, RaterKind
from rubricweb.engine.formats.labels.headers import CriterionNames
from rubricweb.models import Dataset, RubricVersion, Team
from rubricweb.models import RaterKind as StoredKind
from rubricweb.selectors.rubrics import versions
from rubricweb.services.label_files import LabelsPlan
from rubricweb.web.shared.choices import offer_rows

MOST_CHOICES = 4_000
"""Columns times what they can be: a page offers no more than that, a terminal any."""
MOST_RATERS = 100

SHAPE_WORDS = {
    "long": "One label a row",
    "criteria": "A column for each criterion",
    "raters": "A column for each rater",
    "both": "A column for each rater and criterion",
}
FIELD_WORDS = {
    "item_id": "Item id",
    "criterion": "Criterion",
    "rater": "Rater",
    "verdict": "Verdict",
    "reason": "Reason",
    "rater_kind": "Kind of rater",
    "final_verdict": "Final verdict",
    "final_reason": "Reason of the final verdict",
    "case_id": "Case id",
    "system": "System that answered",
    "attempt": "Attempt",
}
KIND_WORDS = [
    (StoredKind.HUMAN, "a person"),
    (StoredKind.MACHINE, "a program or model"),
    (StoredKind.SETTLED, "settled as ground truth"),
]


class LabelsForm(forms.Form):
    """Where a file of labels goes; `own` of the dataset's `items` bring their own rubric."""

    rubric_version = forms.ModelChoiceField(
        RubricVersion.objects.none(),
        required=False,
        empty_label="– none –",
        help_text="Whose criteria the labels name; an item's own rubric goes first.",
    )
    queue_name = forms.CharField(
        label="Name",
        max_length=200,
        required=False,
        help_text="What these labels are called among the review queues. Defaults to the file name.",
    )

    rater_kind = forms.ChoiceField(
        label="Who gave them",
        required=False,
        choices=[
            ("", "as the team knows them, else people"),
            (StoredKind.HUMAN, "people"),
            (StoredKind.MACHINE, "a program or model"),
            (StoredKind.SETTLED, "settled as ground truth"),
        ],
        help_text="For lines without a rater_kind of their own. Labels of programs and models are shown and "
        "count in no figure about people.",
    )

    history = forms.BooleanField(
        required=False,
        label="Labels of the past",
        help_text="What their raters differ on is not to be settled: it is left out of the inbox of "
        "adjudication. Can be changed later on the page of these labels.",
    )

    def __init__(self, data: Any, *, team: Team, dataset: Dataset, items: int, own: int) -> None:
        super().__init__(data, initial={"rubric_version": dataset.rubric_version_id})
        if items == own:
            del self.fields["rubric_version"]
            return
        self.fields["rubric_version"].required = own == 0
        offer_rows(self, "rubric_version", versions.published_versions(team))


@dataclass
class LabelFileChoices:
    """What was said of a kept file so far; as plain data it goes into the session."""

    version: int | None
    queue_name: str
    rater_kind: RaterKind | None
    shape: str = ""
    columns: dict[str, str] = field(default_factory=dict)
    unread: list[str] = field(default_factory=list)
    values: dict[str, str] = field(default_factory=dict)
    rater: str = ""
    criterion: str = ""
    rater_kinds: dict[str, RaterKind] = field(default_factory=dict)
    history: bool = False

    def choices(self) -> LabelChoices:
        return LabelChoices(
            shape=next((shape for shape in SHAPES if shape == self.shape), None),
            columns=self.columns,
            unread=frozenset(self.unread),
            values=self.values,
            rater=self.rater,
            criterion=self.criterion,
            rater_kind=self.rater_kind,
            rater_kinds=self.rater_kinds,
            history=self.history,
        )


class LabelColumnsForm(forms.Form):
    """What a file of labels is read as: its shape, column by column, values and raters.

    `kinds` are those of the rubric's criteria, by name. Fields that were not sent stay as they are.
    """

    def __init__(
        self, data: Any, *, plan: LabelsPlan, choices: LabelFileChoices, kinds: Mapping[str, str]
    ) -> None:
        super().__init__(data)
        self.plan, self.choices, self.found = plan, choices, plan.reading.found
        self._criteria = [name for name, kind in kinds.items() if kind != "check"]
        self._checks = CriterionNames(name for name, kind in kinds.items() if kind == "check")
        self._add(
            "shape", "Shape", [("", "– choose –")] * (self.found is None) + list(SHAPE_WORDS.items()),
            self.found.shape if self.found else choices.shape,
        )  # fmt: skip
        self._add_columns()
        self._add_missing()
        for number, value in enumerate(plan.reading.unknown_values):
            allowed = [("", "– leave out –"), *((one, one) for one in value.allowed)]
            self._add(f"value_{number}", value.value, allowed, "")
        for number, (text, answer) in enumerate(choices.values.items()):
            self._add(f"said_{number}", text, [("", "– leave out –"), (answer, answer)], answer)
        names = Counter(rater.name for rater in plan.raters)
        for number, rater in enumerate(plan.raters[:MOST_RATERS]):
            # Whom the file has as a person and as a machine is what it says line by line.
            if names[rater.name] == 1:
                self._add(f"kind_{number}", rater.name, KIND_WORDS, rater.rater_kind)
        self.fields["queue_name"] = forms.CharField(
            label="Name",
            max_length=200,
            required=False,
            initial=plan.queue_name,
            help_text="What people's labels are called among the review queues.",
        )

    def _add(self, name: str, label: str, choices: list[Any], initial: str) -> None:
        self.fields[name] = forms.ChoiceField(label=label, required=False, choices=choices, initial=initial)

    def _add_columns(self) -> None:
        columns, fields = self.plan.reading.columns, self.plan.reading.fields
        cells = self.found.cells if self.found and self.found.shape == "both" else ()
        raters = list(dict.fromkeys(cell.rater for cell in cells if cell.rater))
        self.too_many = len(columns) * len(self._criteria) * (2 + len(raters)) > MOST_CHOICES
        if self.too_many:
            return
        roles = [("", "– not read –"), *FIELD_WORDS.items()]
        about = [(name, f"Labels on {name}") for name in self._criteria]
        about += [(f"{name} reason", f"Reasons of {name}") for name in self._criteria]
        about += [
            (f"{rater}: {name}", f"Labels on {name} by {rater}")
            for rater in raters
            for name in self._criteria
        ]
        by_rater = self.found is None or self.found.shape == "raters"
        for number, column in enumerate(columns):
            now = fields.get(column, "")
            own = [(column, f"Labels by {column}")] if by_rater and column not in FIELDS else []
            known = {value for value, _ in (*roles, *about, *own)}
            this = [] if now in known else [(now, f"Labels: {now}")]
            self._add(f"column_{number}", column, [*roles, *this, *own, *about], now)
            if not now and self._checks.find(column):
                self.fields[f"column_{number}"].help_text = "A check: computed, and labelled by nobody."

    def _add_missing(self) -> None:
        """Who labelled, and what it is about, where no column says so."""
        if self.found is None or (self.found.shape in ("long", "criteria") and not self.found.rater):
            self.fields["rater"] = forms.CharField(
                label="Who labelled",
                max_length=120,
                required=False,
                initial=self.choices.rater,
                help_text="No column says it. Left empty, the file's name.",
            )
        about_all = self.found is not None and self.found.shape in ("long", "raters")
        if self.found is None or (about_all and not self.found.criterion):
            names = [("", "– a column says it –"), *((name, name) for name in self._criteria)]
            now = self.found.cells[0].criterion if self.found else self.choices.criterion
            self._add("criterion", "What the labels are about", names, now)

    # ── What was chosen ──────────────────────────────────────────────────────────────────────────

    def chosen(self) -> LabelFileChoices:
        """What was said before, with what the form changes."""
        choices = LabelFileChoices(**vars(self.choices))
        shape = self._sent("shape")
        if shape is not None and shape != (self.found.shape if self.found else ""):
            # In another shape columns stand for other things: they are recognised anew.
            choices.shape, choices.columns, choices.unread = shape, {}, []
        else:
            self._choose_columns(choices)
        for name in ("rater", "criterion", "queue_name"):
            text = self._sent(name)
            if text is not None and text != self.fields[name].initial:
                setattr(choices, name, text)
        answered = enumerate(choices.values.items())
        kept = {text: answer for number, (text, answer) in answered if self._sent(f"said_{number}") != ""}
        choices.values = {**kept, **self._values()}
        kinds: dict[str, RaterKind] = {}
        for number, rater in enumerate(self.plan.raters[:MOST_RATERS]):
            kind = self._sent(f"kind_{number}")
            if kind and kind != rater.rater_kind:
                kinds[rater.name] = kind  # type: ignore[assignment]  # one of KIND_WORDS
        choices.rater_kinds = {**choices.rater_kinds, **kinds}
        return choices

    def _choose_columns(self, choices: LabelFileChoices) -> None:
        columns = self.plan.reading.columns
        now = self.plan.reading.fields
        sent = {column: self._sent(f"column_{number}") for number, column in enumerate(columns)}
        if all(what is None or what == now.get(column, "") for column, what in sent.items()):
            return
        chosen = {column: now.get(column, "") if what is None else what for column, what in sent.items()}
        choices.columns = {what: column for column, what in chosen.items() if what}
        choices.columns |= {role: "" for role in FIELDS if role not in choices.columns}
        choices.unread = [column for column, what in chosen.items() if not what]

    def _values(self) -> Mapping[str, str]:
        """A value that several kinds of criteria do not know is said criterion by criterion."""
        unknown = self.plan.reading.unknown_values
        found: dict[str, str] = {}
        for number, one in enumerate(unknown):
            answer = self._sent(f"value_{number}")
            if answer:
                alone = sum(other.value == one.value for other in unknown) == 1
                keys = [one.value] if alone else [f"{name}: {one.value}" for name in one.criteria]
                found |= dict.fromkeys(keys, answer)
        return found

    def _sent(self, name: str) -> str | None:
        return self.cleaned_data.get(name, "") if name in self.fields and name in self.data else None

    def clean(self) -> dict[str, Any]:
        """Two columns cannot be the same thing."""
        chosen: dict[str, str] = {}
        for number, column in enumerate(self.plan.reading.columns):
            what = self._sent(f"column_{number}")
            if what and what in chosen:
                self.add_error(f"column_{number}", f"{chosen[what]} is that already.")
            elif what:
                chosen[what] = column
        return self.cleaned_data

    # ── What the page shows ──────────────────────────────────────────────────────────────────────

    def column_rows(self) -> list[tuple[str, Any, str]]:
        """Each column with its field (its name where that cannot be changed here) and a value of it."""
        fields = self.plan.reading.fields
        examples = self.plan.reading.examples
        return [
            (
                column,
                None if self.too_many else self[f"column_{number}"],
                fields.get(column, "") if self.too_many else examples.get(column, ""),
            )
            for number, column in enumerate(self.plan.reading.columns)
        ]

    def value_rows(self) -> list[tuple[Any, Any]]:
        unknown = self.plan.reading.unknown_values
        return [(one, self[f"value_{number}"]) for number, one in enumerate(unknown)]

    def said_rows(self) -> list[Any]:
        """Values that were answered before: the answer can be taken back."""
        return [self[f"said_{number}"] for number in range(len(self.choices.values))]

    def rater_rows(self) -> list[tuple[Any, Any, str]]:
        """Each rater with what they are: a field, and in words where that cannot be changed here."""
        words = {str(kind): text for kind, text in KIND_WORDS}
        return [
            (one, self[f"kind_{number}"] if f"kind_{number}" in self.fields else None, words[one.rater_kind])
            for number, one in enumerate(self.plan.raters[:MOST_RATERS])
        ]

    def missing_fields(self) -> list[Any]:
        return [self[name] for name in ("rater", "criterion") if name in self.fields]
