"""Forms of the datasets room: a file, what its columns mean, and labels for its items."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from django import forms
from django.utils.text import Truncator

from rubricweb.engine.errors import Fault, encodable
from rubricweb.engine.formats.datasets.files import ALIASES, Preview
from rubricweb.errors import Conflict, Invalid, Withheld
from rubricweb.models import Dataset
from rubricweb.services.combinations.matching import AskedPart, suggested
from rubricweb.services.combinations.plans import CombinationRequest
from rubricweb.services.combinations.reruns import Rerun
from rubricweb.services.runs.budgets import MAX_BUDGET_USD
from rubricweb.web.shared.refused_forms import RefusableForm, Refused

CELL_CHARACTERS = 280
EXAMPLE_CHARACTERS = 40

FIELDS: dict[str, tuple[str, str]] = {
    "submission": ("Submission", "The text to grade. Every item needs one."),
    "id": ("Id", "Unique in the file. Without it, ids are made from the content."),
    "prompt": ("Prompt", "What the submission answers: text, or a list of chat turns."),
    "reference": ("Reference", "An answer known to be good."),
    "thinking": ("Thinking", "Reasoning that came with the submission."),
    "description": ("Description", "A few words for people, shown in lists."),
    "rubric": ("Rubric", "A rubric of the item's own."),
    "ground_truth": ("Ground truth", "Labels, one per criterion."),
    "ground_truth_reasons": ("Ground truth reasons", "One per label."),
    "labels": ("Labels by rater", "An object of raters, each with labels, one per criterion."),
    "label_reasons": ("Label reasons by rater", "The same shape, one reason per label."),
    "metadata": ("Metadata", "An object; columns not named here become metadata too."),
    "case_id": (
        "Case id",
        "The same for all answers to one question: versions of a system are compared by it.",
    ),
    "system": ("System", "Which version answered, as assistant@v4; or the name of a model."),
    "attempt": ("Attempt", "A number that tells several answers of one version to the same case apart."),
    "case_tags": ("Tags of the case", "A list, or with commas between them. Else the column is metadata."),
}


VERSION_OF_NEW = (
    "A version of a system, as assistant@v4: answers of the next one can then be added and compared. Each "
    "row names its case by its case id, or by its id."
)
VERSION_OF_MORE = (
    "A version of a system, as assistant@v5. Each row then names a case of the dataset by its case id, or by "
    "its id, and is asked what the case asks."
)


class UploadForm(forms.Form):
    name = forms.CharField(
        max_length=200,
        required=False,
        help_text="Defaults to the name in the file, or the file name.",
    )

    def __init__(self, data: Any, *, is_new: bool = True) -> None:
        super().__init__(data)
        if not is_new:
            del self.fields["name"]


class MappingForm(forms.Form):
    """Which column each field is read from, beginning with what the names suggest.

    A new dataset is asked for a name, further items of one whether those that came before are kept.
    """

    name = forms.CharField(max_length=200, required=False, help_text=UploadForm.base_fields["name"].help_text)
    system = forms.CharField(
        max_length=201,
        required=False,
        label="System version",
    )

    keep_all = forms.BooleanField(
        required=False,
        label="Keep items that say what an earlier one says",
        help_text="Else you are asked where there are some.",
    )

    def __init__(self, data: Any, *, preview: Preview, name: str = "", is_new: bool = True) -> None:
        super().__init__(data, initial={"name": name, **_prefixed(preview.mapping)})
        del self.fields["keep_all" if is_new else "name"]
        self.fields["system"].help_text = VERSION_OF_NEW if is_new else VERSION_OF_MORE
        self.preview = preview
        columns = [(column, f"{column}{_example(preview, column)}") for column in preview.columns if column]
        for field, (label, help_text) in FIELDS.items():
            self.fields[f"column_{field}"] = forms.ChoiceField(
                label=label,
                help_text=help_text + _perhaps(preview, field),
                required=False,
                choices=[("", "– not in the file –"), *columns],
            )

    @property
    def unsure(self) -> list[forms.BoundField]:
        """What the page asks: the submission where no column is called so, an id by another name, fields that
        a column may hold by its name, and what was refused.
        """
        return [self[f"column_{field}"] for field in FIELDS if self._is_unsure(field)]

    @property
    def settled(self) -> list[forms.BoundField]:
        """The other fields: they are as their columns are called, and can be changed."""
        return [self[f"column_{field}"] for field in FIELDS if not self._is_unsure(field)]

    @property
    def read_as(self) -> list[tuple[str, str]]:
        """Label and column of every field that is read from one and not asked about."""
        pairs = ((str(field.label), str(field.value() or "")) for field in self.settled)
        return [(label, column) for label, column in pairs if column]

    @property
    def kept_as_metadata(self) -> list[str]:
        """Columns that no field is read from and nobody is asked about."""
        taken = {self[f"column_{field}"].value() for field in FIELDS} | {*self.preview.suggestions.values()}
        return [column for column in self.preview.columns if column and column not in taken]

    def _is_unsure(self, field: str) -> bool:
        preview = self.preview
        return (
            field in preview.suggestions
            or (field == "submission" and field not in preview.mapping)
            or (field == "id" and preview.own_id)
            or (self.is_bound and f"column_{field}" in self.errors)
        )

    def columns(self) -> dict[str, str]:
        """What the person changed; the rest is guessed item by item: later rows may have more keys."""
        sent = [field for field in FIELDS if f"column_{field}" in self.data]
        chosen = {field: self.cleaned_data[f"column_{field}"] for field in sent}
        # Ids of another name were seen on this page, so they are said, or the file is refused.
        seen = {"id": chosen["id"]} if self.preview.own_id and chosen.get("id") else {}
        return seen | {
            field: column for field, column in chosen.items() if column != self.preview.mapping.get(field, "")
        }

    def show(self, faults: tuple[Fault, ...]) -> tuple[Fault, ...]:
        """Puts faults about the mapping and the version at their field and gives back the others."""
        rest = []
        for fault in faults:
            field = fault.place.removeprefix("columns.")
            is_column = fault.place.startswith("columns.") and field in ALIASES
            if is_column or fault.place == "system":
                place = f"column_{field}" if is_column else field
                self.add_error(place, f"Found {fault.found}. Allowed: {fault.allowed}.")
            else:
                rest.append(fault)
        return tuple(rest)


def _example(preview: Preview, column: str) -> str:
    """The first value that a column has, as " – The capital is…"; "" where it has none in the first rows."""
    values = (_cell(row.get(column)).strip() for row in preview.rows)
    value = next(filter(None, values), "")
    return f" \N{EN DASH} {Truncator(value).chars(EXAMPLE_CHARACTERS)}" if value else ""


def _perhaps(preview: Preview, field: str) -> str:
    if field == "id" and preview.own_id:
        return f" {preview.mapping['id']} is another name of it: its values are unique."
    column = preview.suggestions.get(field)
    return f" Perhaps {column}?" if column else ""


class SplitForm(forms.Form):
    """How many labelled items are set apart to draw examples from; the others judge the judge."""

    n_dev = forms.IntegerField(
        min_value=1,
        initial=10,
        label="Items for examples",
        widget=forms.NumberInput(attrs={"class": "input--short"}),
        help_text="They become dev; every other labelled item becomes test.",
    )
    seed = forms.IntegerField(
        min_value=0,
        max_value=2**63 - 1,
        initial=0,
        label="Seed",
        widget=forms.NumberInput(attrs={"class": "input--short"}),
    )

    def refuse(self, error: Invalid | Conflict | Withheld) -> None:
        place = error.faults[0].place if isinstance(error, Invalid) and error.faults else ""
        self.add_error(place if place in self.fields else None, str(error))


class HalvesForm(SplitForm):
    """How many cases are marked dev; the others are marked test."""

    n_dev = forms.IntegerField(
        min_value=1,
        label="Cases for examples",
        widget=forms.NumberInput(attrs={"class": "input--short"}),
        help_text="They are dev; every other case is test.",
    )


def _tags(label: str, help_text: str) -> forms.CharField:
    """Tags with commas between them; those the dataset has are offered."""
    widget = forms.TextInput(attrs={"list": "tags-known", "autocomplete": "off", "dir": "auto"})
    return forms.CharField(max_length=1_000, required=False, label=label, help_text=help_text, widget=widget)


class TagForm(RefusableForm):
    """Tags that cases are given, and others that are taken away from them."""

    add = _tags("Add", "With commas between them: billing, hard.")
    remove = _tags("Remove", "From those that have them.")


class CorrectionForm(forms.Form):
    """The right words of an answer or a case; what is not changed is left as it is.

    `wording` is the number of the words the case had when the form was opened.
    """

    wording = forms.IntegerField(required=False, widget=forms.HiddenInput)
    note = forms.CharField(max_length=200, required=False, label="Why")

    def __init__(self, data: Any, words: dict[str, str], *, wording: int) -> None:
        super().__init__(data, initial={"wording": wording})
        note = self.fields.pop("note")
        for name, text in words.items():
            self.fields[name] = forms.CharField(
                required=False,
                strip=False,
                label=FIELDS[name][0],
                initial=text,
                widget=forms.Textarea(attrs={"rows": 4 if len(text) < CELL_CHARACTERS else 12}),
            )
        self.fields["note"] = note
        self._words = words

    def changed_words(self) -> dict[str, str]:
        """Those that are not as they were, line ends aside."""
        sent = {name: self.cleaned_data[name].replace("\r\n", "\n") for name in self._words}
        return {name: text for name, text in sent.items() if text != self._words[name].replace("\r\n", "\n")}

    def refuse(self, error: Invalid | Conflict) -> None:
        place = error.faults[0].place if isinstance(error, Invalid) and error.faults else ""
        self.add_error(place if place in self.fields else None, str(error))


def cells(preview: Preview) -> list[list[str]]:
    """The first rows as texts, column by column; long ones are cut."""
    return [[_cell(row.get(column)) for column in preview.columns] for row in preview.rows]


def kept_preview(preview: Preview) -> dict[str, Any]:
    """The preview as it is kept beside a file: of long values no more than is shown, and nothing that no
    database stores.
    """
    rows = [
        {encodable(str(column)): encodable(_cell(value)) for column, value in row.items()}
        for row in preview.rows
    ]
    named = {"columns": preview.columns, "machine_raters": preview.machine_raters}
    mapped = {"mapping": preview.mapping, "suggestions": preview.suggestions}
    return (
        asdict(preview)
        | {"rows": rows}
        | {name: [encodable(one) for one in ones] for name, ones in named.items()}
        | {name: {field: encodable(one) for field, one in of.items()} for name, of in mapped.items()}
    )


def preview_of(kept: Mapping[str, Any]) -> Preview:
    """What `kept_preview` kept, by this release or one that knew no faults."""
    return Preview(**{**kept, "faults": tuple(Fault(**one) for one in kept.get("faults", ()))})


def _cell(value: Any) -> str:
    if value is None:
        return ""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return Truncator(text).chars(CELL_CHARACTERS)


def _prefixed(mapping: dict[str, str]) -> dict[str, str]:
    return {f"column_{field}": column for field, column in mapping.items()}


class CombineForm(RefusableForm):
    """As which system version each dataset's items are kept, and what the combined dataset is called."""

    places = {"datasets": "name", "match": "match"}

    name = forms.CharField(max_length=200, label="Name of the combined dataset")
    match = forms.ChoiceField(
        label="Items answer one case",
        choices=[
            ("cases", "by their case id, else where prompt, reference and rubric are equal"),
            ("ids", "where they have the same id"),
        ],
        initial="cases",
        widget=forms.RadioSelect,
    )
    as_attempts = forms.BooleanField(
        required=False,
        label="Keep several answers of one version to a case as attempts",
        help_text="Otherwise they are refused, item by item.",
    )
    archive_originals = forms.BooleanField(
        required=False,
        label="Archive the originals afterwards",
        help_text="They stay as they are either way.",
    )

    def __init__(self, data: Any, *, datasets: Sequence[Dataset]) -> None:
        super().__init__(data)
        self.datasets = datasets
        for dataset, proposed in zip(datasets, suggested(datasets), strict=True):
            self.fields[f"system_{dataset.pk}"] = forms.CharField(
                max_length=201,
                required=False,
                label=f"{dataset} holds answers of",
                initial=proposed,
                help_text="" if proposed else "Left empty, its items keep the versions they name.",
                widget=forms.TextInput(attrs={"placeholder": "assistant@v4"}),
            )
        names = [field for field in self.fields if field.startswith("system_")]
        self.order_fields(["name", *names, "match", "as_attempts", "archive_originals"])

    def asked(self) -> CombinationRequest:
        """What is asked for, of a form that is valid."""
        chosen = self.cleaned_data
        parts = tuple(AskedPart(one, chosen[f"system_{one.pk}"]) for one in self.datasets)
        return CombinationRequest(
            chosen["name"], parts, chosen["as_attempts"], chosen["match"], chosen["archive_originals"]
        )

    def refuse(self, error: Refused) -> None:
        """A version that is none beside the dataset it was said of."""
        faults = error.faults if isinstance(error, Invalid) else ()
        place = faults[0].place if faults else ""
        if place.startswith("datasets[") and place.endswith("].system"):
            number = int(place.removeprefix("datasets[").removesuffix("].system"))
            self.add_error(f"system_{self.datasets[number].pk}", str(faults[0]))
        else:
            super().refuse(error)


class RerunForm(RefusableForm):
    """Which runs of combined datasets are started again, and what each may cost."""

    run = forms.MultipleChoiceField(choices=[], error_messages={"required": "Choose at least one run."})
    budget_usd = forms.FloatField(
        min_value=0,
        max_value=MAX_BUDGET_USD,
        required=False,
        label="Budget of each",
        help_text="In US dollars. What was asked before is answered from the cache and costs nothing.",
        widget=forms.NumberInput(attrs={"class": "input--short", "step": "any"}),
    )
    no_cap = forms.BooleanField(required=False, label="Start without a budget where no price is known")

    def __init__(self, data: Any, *, runs: Sequence[Rerun]) -> None:
        super().__init__(data)
        there = [one for one in runs if not one.refused and one.started_as is None]
        self.fields["run"].choices = [(str(one.run.pk), str(one.run)) for one in there]  # type: ignore[attr-defined]  # a choice field

    def chosen(self) -> dict[str, Any]:
        """What `reruns.start` is asked for, of a form that is valid."""
        chosen = self.cleaned_data
        return {
            "run_ids": [int(number) for number in chosen["run"]],
            "budget_usd": chosen["budget_usd"],
            "no_cap": chosen["no_cap"],
        }
