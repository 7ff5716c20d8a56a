"""One row of the rubric editor: a criterion of any kind, whatever was typed, and the options of a choice."""

import json
from collections.abc import Collection, Mapping
from typing import Any

from django import forms
from django.http import QueryDict
from django.utils.safestring import SafeString, mark_safe

from rubricweb.engine.checks import CHECKS, describe_check
from rubricweb.engine.errors import Fault, InvalidText
from rubricweb.engine.parsers.json_text import parse_json
from rubricweb.engine.rubric.criterion import AGGREGATIONS, KINDS, MAX_OPTIONS, SCALE_TYPES
from rubricweb.engine.rubric.reading import new_id
from rubricweb.errors import Invalid
from rubricweb.services.rubrics.drafts import is_draft
from rubricweb.web.rubrics.check_fields import CheckFields
from rubricweb.web.rubrics.lint_notes import LintNote, digest
from rubricweb.web.rubrics.option_rows import PRESETS, TEMPLATE_OPTION, OptionRow
from rubricweb.web.rubrics.tag_texts import tags_shown, tags_typed
from rubricweb.web.shared.numbers import number_shown, number_typed

PREFIX = "criteria"
TEMPLATE_INDEX = "__index__"
TEMPLATE_ID = "__id__"
SECTION = "section"
BEGINNING = 80
"""Characters of a requirement on the line of a folded row."""
MORE = ("guidance", "tags", "met_example", "unmet_example", "aggregation")
_TEXTS = ("group", "guidance", "met_example", "unmet_example", "description")

VOTE_RULES = (
    ("binary", "Met or unmet", AGGREGATIONS["binary"]),
    ("ordinal", "Steps of a scale", AGGREGATIONS["ordinal"]),
    ("nominal", "Different answers", AGGREGATIONS["nominal"]),
)
"""The vote rules a criterion may name, by what they apply to."""


def _text(**attrs: Any) -> forms.CharField:
    return forms.CharField(
        required=False, strip=False, widget=forms.TextInput({"autocomplete": "off", **attrs})
    )


def _long(label: str, rows: int = 2, **attrs: Any) -> forms.CharField:
    return forms.CharField(
        label=label, required=False, strip=False, widget=forms.Textarea({"rows": rows, **attrs})
    )


# Long because it has a line or two for every field of a criterion.
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
    kind = _text()
    scale_type = forms.CharField(label="Scale", required=False)
    aggregation = forms.CharField(label="Vote rule", required=False)
    check = _text()
    id = forms.CharField(required=False, widget=forms.HiddenInput)
    description = forms.CharField(required=False, strip=False, widget=forms.HiddenInput)
    section = forms.CharField(required=False, widget=forms.HiddenInput)

    index: int | str = 0
    points: float | None = None
    focused = False
    in_use = False
    may_be_lean = was_kept = changed = False
    presets, vote_rules, checks = PRESETS, VOTE_RULES, CHECKS

    def __init__(self, values: Mapping[str, str], *, prefix: str) -> None:
        super().__init__({f"{prefix}-{name}": value for name, value in values.items()}, prefix=prefix)
        self.options: list[OptionRow] = []
        self.options_errors: list[str] = []
        self.params = CheckFields(self.text("check"), f"{prefix}-params")
        self.notes: list[LintNote] = []

    def text(self, name: str) -> str:
        """What a field holds as typed."""
        return str(self[name].value() or "")

    @property
    def kind_chosen(self) -> str:
        return kind if (kind := self.text("kind")) in KINDS else KINDS[0]

    @property
    def scale(self) -> str:
        """What its vote rules depend on: "binary", "ordinal", "nominal"; "" for a check."""
        return {"binary": "binary", "check": ""}.get(self.kind_chosen, self.text("scale_type"))

    @property
    def foreign_vote_rule(self) -> bool:
        """Whether it names a vote rule that does not fit its kind, so that no list offers it."""
        rule = self.text("aggregation")
        return bool(rule) and not any(rule in rules for scale, _, rules in VOTE_RULES if scale == self.scale)

    @property
    def knows_check(self) -> bool:
        return not self.text("check") or self.text("check") in CHECKS

    @property
    def is_open(self) -> bool:
        """Whether its row is not folded: there is something to write or to mend in it."""
        parts = [each.errors for each in (*self.params.fields, self.params.rest)]
        parts += [self.options_errors, *(each.errors for each in self.options)]
        written = self.text("check" if self.kind_chosen == "check" else "requirement").strip()
        return bool(self.errors or any(parts) or not written or self.focused or self.in_use)

    @property
    def is_lean(self) -> bool:
        """Whether its fields come only when it is opened: in a long rubric, while it is folded."""
        return self.may_be_lean and not self.is_open

    @property
    def kept(self) -> SafeString:
        """The whole criterion as one text, where it has no fields; for an attribute in single quotes."""
        entry = self.stored()
        if (section := self.text(SECTION)) != entry.get("group", ""):
            entry[SECTION] = section
        text = json.dumps(entry, ensure_ascii=False, separators=(",", ":"))
        escaped = text.replace("&", "&amp;").replace("'", "&#x27;").replace("<", "&lt;")
        return mark_safe(escaped)  # noqa: S308  escaped above, sparing the many double quotes of JSON

    @property
    def beginning(self) -> str:
        """How its line goes on behind the name: the beginning of what it asks, else the name of its check."""
        words = " ".join(self.text("requirement").split())
        words = f"{words[:BEGINNING]}…" if len(words) > BEGINNING else words
        if not words and self.kind_chosen == "check":
            words = self.params.title
        return words or ("" if self.text("name").strip() else "(empty)")

    @property
    def kind_shown(self) -> str:
        """The kind in a word, where it is not the usual one."""
        return {"choice": "Options", "check": "Check"}.get(self.kind_chosen, "")

    @property
    def mark(self) -> str:
        """The gravest of what lint found in it; "" for nothing."""
        return next(
            (
                severity
                for severity in ("warning", "hint")
                if any(note.severity == severity for note in self.notes)
            ),
            "",
        )

    @property
    def more_is_open(self) -> bool:
        """Whether a fault hides behind the disclosure."""
        return any(self[name].errors for name in MORE)

    @property
    def number(self) -> float | None:
        """The weight, None while it is not a number."""
        weight = number_typed(self.text("weight"))
        return None if isinstance(weight, str) else float(weight)

    @property
    def span(self) -> float:
        """How far apart its best and its worst option are worth as typed; 1 for what is no choice."""
        values = [option.worth or 0.0 for option in self.options if not (option.na or option.is_empty)]
        return max(values) - min(values) if self.kind_chosen == "choice" and values[1:] else 1.0

    @property
    def more_filled(self) -> int:
        """How many of the fields behind the disclosure say something."""
        return sum(bool(self.text(name).strip()) for name in MORE)

    @property
    def label(self) -> str:
        """How lists of criteria call this row: its name, else the beginning of what it asks."""
        name = self.text("name").strip() or self.text("requirement").strip()[:60]
        return name or (self.params.title if self.kind_chosen == "check" else "") or "(empty)"

    @property
    def warnings(self) -> list[LintNote]:
        return [note for note in self.notes if note.severity == "warning"]

    @property
    def hints(self) -> list[LintNote]:
        return [note for note in self.notes if note.severity == "hint"]

    @property
    def notes_digest(self) -> str:
        return digest(self.notes)

    @property
    def option_template(self) -> OptionRow:
        """The empty option that the browser copies; its indexes are placeholders."""
        return OptionRow(TEMPLATE_OPTION, f"{PREFIX}-{TEMPLATE_INDEX}-options-{TEMPLATE_OPTION}")

    def add_option(self, label: str = "", value: str = "", *, na: bool = False) -> OptionRow:
        index = max((int(option.index) for option in self.options), default=-1) + 1
        option = OptionRow(index, f"{self.prefix}-options-{index}", label, value, na)
        self.options.append(option)
        return option

    def remove_option(self, index: str) -> None:
        self.options = [option for option in self.options if str(option.index) != index]

    def begin_with(self, preset: str) -> None:
        """Fills an empty list of options with one of PRESETS; a list that says something stays as it is."""
        if preset in PRESETS and all(option.is_empty for option in self.options):
            self.options = []
            for label, value in PRESETS[preset][1]:
                self.add_option(label, value)

    def stored(self) -> dict[str, Any]:
        """The criterion as a draft holds it: what its kind has, and of the rest what says something."""
        weight, kind = self.number, self.kind_chosen
        found: dict[str, Any] = {"name": name} if (name := self.text("name")).strip() else {}
        found["weight"] = self.text("weight") if weight is None else weight
        if kind != "check" or self.text("requirement").strip():
            found["requirement"] = self.text("requirement")
        found |= {name: text for name in _TEXTS if (text := self.text(name)).strip()}
        found |= {"tags": tags} if (tags := tags_typed(self.text("tags"))) else {}
        if kind == "choice":
            found["scale_type"] = self.text("scale_type") or SCALE_TYPES[0]
            found["options"] = [option.stored() for option in self._filled]
        if kind == "check":
            found["check"] = self.text("check")
            found |= {"params": params} if (params := self.params.params()) else {}
        elif rule := self.text("aggregation").strip():
            found["aggregation"] = rule
        found |= {"id": id} if (id := self.text("id")).strip() else {}
        return found

    def field_of(self, place: str) -> tuple[str | None, str, str]:
        """The control a fault is about, by its place in the criterion: a field's name (None for none of
        them), the control's id ("" for the row itself), and its name for people."""
        head = place.split(".")[0].split("[")[0]
        if head == "params" and self.kind_chosen == "check":
            return None, self.params.control_of(place).id, self.params.name_of(place)
        if head == "options" and (option := self._option_at(place)):
            part = "value" if place.endswith(".value") else "label"
            return None, f"id_{option.prefix}-{part}", f"option {self.options.index(option) + 1}, {part}"
        if head == "options":
            return None, f"{self.prefix}-options", "options"
        if head in self.fields and head not in ("kind", "id", "description"):
            return head, self[head].id_for_label, str(self[head].label).lower()
        return None, "", head if head in ("id", "description") else ""

    def show(self, place: str, fault: Fault) -> None:
        """Puts a fault at the control it is about."""
        head = place.split(".")[0].split("[")[0]
        if head == "params" and self.kind_chosen == "check":
            self.params.control_of(place).errors.append(self.say(place, fault))
        elif head == "options":
            option = self._option_at(place)
            (option.errors if option else self.options_errors).append(sentence(fault))
        else:
            self.add_error(self.field_of(place)[0], sentence(fault))

    def say(self, place: str, fault: Fault) -> str:
        """A fault in words, for the summary."""
        if place.startswith("params") and self.kind_chosen == "check":
            return self.params.sentence(Fault(place, fault.found, fault.allowed))
        return sentence(fault)

    @property
    def _filled(self) -> list[OptionRow]:
        return [option for option in self.options if not option.is_empty]

    def _option_at(self, place: str) -> OptionRow | None:
        digits = place.removeprefix("options[").split("]")[0]
        inside = digits.isascii() and digits.isdigit() and int(digits) < len(self._filled)
        return self._filled[int(digits)] if inside else None


def stored_row(index: int, entry: Mapping[str, Any], section: str | None = None) -> CriterionForm:
    """The row of a stored criterion; a new one weighs 1.

    `section` is the group it had when its rubric was opened, where that is no longer this one.

    A check's requirement that only repeats what the check says is shown empty, so that it follows the
    parameters when they change.
    """
    tags = entry.get("tags") or []
    values = {name: number_shown(entry.get(name)) for name in CriterionForm.base_fields}
    values |= {
        "weight": number_shown(entry.get("weight", 1)),
        SECTION: number_shown(entry.get("group")).strip() if section is None else section,
        "tags": tags_shown(tags) if isinstance(tags, list) else number_shown(tags),
        "kind": _kind(entry),
        "scale_type": number_shown(entry.get("scale_type")) or SCALE_TYPES[0],
    }
    if values["kind"] == "check" and values["requirement"] == _said(entry):
        values["requirement"] = ""
    row = _row(index, values)
    options = entry.get("options")
    for option in options if isinstance(options, list | tuple) else ():
        if isinstance(option, Mapping):
            label, value = number_shown(option.get("label")), number_shown(option.get("value"))
            row.add_option(label, value, na=option.get("na") is True)
    row.params = CheckFields.from_params(row.text("check"), entry.get("params"), f"{row.prefix}-params")
    return row


def typed_row(posted: QueryDict, index: int, options: Collection[int]) -> CriterionForm:
    """The row as typed; `options` are the indexes of its options. Raises Invalid for too many."""
    prefix = f"{PREFIX}-{index}"
    if f"{prefix}-kept" in posted:
        return _kept_row(index, posted.get(f"{prefix}-kept", ""))
    row = _row(index, {name: typed(posted, f"{prefix}-{name}") for name in CriterionForm.base_fields})
    if len(options) > MAX_OPTIONS:
        raise Invalid(f"A criterion has at most {MAX_OPTIONS} options, not {len(options)}.")
    for option in sorted(options, key=lambda one: (order(posted, f"{prefix}-options-{one}"), one)):
        at = f"{prefix}-options-{option}"
        label, value = typed(posted, f"{at}-label"), typed(posted, f"{at}-value")
        row.options.append(OptionRow(option, at, label, value, f"{at}-na" in posted))
    row.params = CheckFields.from_post(row.text("check"), posted, f"{row.prefix}-params")
    return row


def _kept_row(index: int, text: str) -> CriterionForm:
    """The row of a criterion without fields. Raises Invalid for what `kept` does not write."""
    try:
        entry = parse_json(text)
    except InvalidText as error:
        raise Invalid("What the form keeps of a folded criterion cannot be read.", error.faults) from error
    section = entry.pop(SECTION, None) if isinstance(entry, dict) else None
    if not isinstance(section, str | None) or not is_draft({"criteria": [entry]}):
        raise Invalid("What the form keeps of a folded criterion is none: reload the page.")
    row = stored_row(index, entry, section=section)
    row.was_kept = True
    return row


def new_row(index: int) -> CriterionForm:
    """An empty row with an id: its criterion stays the same one however it is reworded, as soon as it is
    saved, in forms that were open before it was published too.
    """
    return stored_row(index, {"id": new_id()})


def template_row() -> CriterionForm:
    """The empty row that the browser copies; its index and its id are placeholders."""
    row = stored_row(0, {"id": TEMPLATE_ID})
    copied = CriterionForm(
        {name: row.text(name) for name in CriterionForm.base_fields}, prefix=f"{PREFIX}-{TEMPLATE_INDEX}"
    )
    copied.index = TEMPLATE_INDEX
    return copied


def sentence(fault: Fault) -> str:
    return f"Found {fault.found}. Allowed: {fault.allowed}."


def typed(posted: QueryDict, name: str) -> str:
    """What was typed, with the line ends the browser changed changed back."""
    return posted.get(name, "").replace("\r\n", "\n").replace("\0", "")


def order(posted: QueryDict, prefix: str) -> int:
    """The order number beside a row; rows without a readable one come last."""
    text = posted.get(f"{prefix}-order", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 9 else 10**9


def _row(index: int, values: Mapping[str, str]) -> CriterionForm:
    row = CriterionForm(values, prefix=f"{PREFIX}-{index}")
    row.index = index
    return row


def _kind(entry: Mapping[str, Any]) -> str:
    """The kind an entry names, else the one that follows from its fields, as the engine has it."""
    if entry.get("kind") in KINDS:
        return str(entry["kind"])
    if entry.get("scale_type") is not None or entry.get("options"):
        return "choice"
    return "check" if entry.get("check") is not None else "binary"


def _said(entry: Mapping[str, Any]) -> str | None:
    """What the check of an entry says by itself."""
    params = entry.get("params")
    known = entry.get("check") in CHECKS and isinstance(params, Mapping | None)
    return describe_check(str(entry["check"]), params) if known else None
