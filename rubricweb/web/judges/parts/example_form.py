"""One example that a judge is shown: kept as it is, changed, or new."""

from collections.abc import Collection
from typing import Any

from django import forms

from rubricweb.engine.judging.definition import JudgeExample
from rubricweb.models import Criterion
from rubricweb.selectors.rubrics.example_criteria import ExampleCriteria, example_labels
from rubricweb.web.shared.choices import offer


def _words(rows: int, label: str, *, required: bool = False) -> forms.CharField:
    widget = forms.Textarea(attrs={"rows": rows, "dir": "auto"})
    return forms.CharField(required=required, strip=False, label=label, widget=widget)


class JudgeExampleForm(forms.Form):
    """A row: of one that is kept it has nothing but its number, `of`; of one that is `open` all its words.

    A new one is about a criterion of the rubric `rubric`; an earlier one stays with its own.
    """

    of = forms.CharField(required=False, widget=forms.HiddenInput)
    open = forms.CharField(required=False, widget=forms.HiddenInput)
    rubric = forms.IntegerField(required=False, widget=forms.HiddenInput)
    criterion = forms.ChoiceField()
    label = forms.CharField(
        max_length=200,
        label="Verdict",
        help_text="MET or UNMET; of a criterion with options one of them, as the rubric writes it.",
    )
    reason = _words(2, "Reason")
    output = _words(5, "The answer", required=True)
    query = _words(2, "What was asked")
    reference = _words(2, "Reference answer")
    thinking = _words(2, "Thinking")

    MORE = ("query", "reference", "thinking")

    def __init__(
        self, *args: Any, shown: JudgeExample | None, number: int, criteria: ExampleCriteria, **more: Any
    ) -> None:
        """`shown` is the example as it was, None for a new one; `number` counts from 1."""
        self.shown, self.number, self.criteria = shown, number, criteria
        known: dict[str, Any] = {} if shown is None else {name: getattr(shown, name) for name in _WORDS}
        super().__init__(*args, **more | {"initial": known | more.get("initial", {})})
        if self.is_kept:
            self.fields = {name: field for name, field in self.fields.items() if name in ("of", "open")}
            return
        if shown is not None:
            del self.fields["criterion"]
            if not isinstance(shown.query, str | None):
                del self.fields["query"]  # a conversation, which no field of text holds
        else:
            offer(self, "criterion", [(str(one.pk), one.title) for one in self._offered])
        for field in self.fields.values():  # the page’s list of what is wrong names fields alone
            field.label = f"Example {number}: {field.label or 'Criterion'}"
        self.fields["label"].widget.attrs["list"] = f"{self.prefix}-labels"

    @property
    def is_kept(self) -> bool:
        """Whether it is one that nobody has asked to change."""
        return self.shown is not None and not self["open"].value()

    @property
    def first(self) -> str:
        """The field that is filled in first."""
        return next(name for name in ("criterion", "label", "of") if name in self.fields)

    @property
    def title(self) -> str:
        """What its criterion is called; "" of a new one, which has not chosen."""
        return "" if self.shown is None else self.criteria.title(self.shown)

    @property
    def labels(self) -> list[str]:
        """What it can be labelled, where all that is known."""
        return list(dict.fromkeys(label for one in self._offered for label in example_labels(one)))

    @property
    def more(self) -> list[forms.BoundField]:
        return [self[name] for name in self.MORE if name in self.fields]

    @property
    def opens_more(self) -> bool:
        return any(field.value() or field.errors for field in self.more)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        asked = [one for one in self._offered if self.shown or str(one.pk) == cleaned.get("criterion")]
        label = cleaned.get("label")
        if asked and label:
            allowed = example_labels(asked[0])
            same = [one for one in allowed if one.casefold() == label.casefold()]
            if not same:
                self.add_error("label", f"Found {label!r}. Allowed: {', '.join(allowed)}.")
            cleaned["label"] = next(iter(same), label)
        return cleaned

    def example(self, keys: Collection[str]) -> JudgeExample:
        """What a valid form describes; a new one has a key that is none of `keys`."""
        if self.is_kept:
            assert self.shown is not None
            return self.shown
        said = {name: self.cleaned_data[name].replace("\r\n", "\n") for name in _WORDS if name in self.fields}
        said |= {name: said[name] or None for name in self.MORE if name in said}
        if self.shown is not None:
            return self.shown.model_copy(update=said)
        [criterion] = [one for one in self._offered if str(one.pk) == self.cleaned_data["criterion"]]
        free = (f"example {number}" for number in range(1, len(keys) + 2))
        key = next(one for one in free if one not in keys)
        return JudgeExample(uid=criterion.uid, requirement=criterion.requirement, key=key, **said)

    @property
    def _offered(self) -> list[Criterion]:
        """The criteria it can be about."""
        if self.shown is not None:
            own = self.criteria.of_example(self.shown.uid, self.shown.requirement)
            return [own] if own else []
        chosen = str(self["rubric"].value() or "")
        return self.criteria.of_rubric(int(chosen)) if chosen.isdecimal() and len(chosen) < 19 else []


_WORDS = ("label", "reason", "output", "query", "reference", "thinking")
