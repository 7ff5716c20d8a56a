"""Texts of a judge, or of a member of it, as fields of a form; and ours put back in their place."""

from typing import Any

from django import forms

from rubricweb.engine.autograders.instructions import FormTexts, JudgeWording, shipped_instructions
from rubricweb.web.judges.words import FORMS, prompt_of

PLACES = {"instructions": "text", "whole_messages": "whole"}
"""Parts of a wording, and how their fields begin."""

KEPT_BESIDE = "beside"
"""How a field begins that keeps a text which another took the place of."""


def _area(rows: int) -> forms.Textarea:
    return forms.Textarea(attrs={"rows": rows, "class": "input--mono", "dir": "auto", "spellcheck": "true"})


def _kept_area() -> forms.Textarea:
    return forms.Textarea(attrs={"rows": 6, "class": "input--mono", "dir": "auto", "readonly": True})


class WordingFields(forms.Form):
    """Texts for both forms of a question; beside each the one that stood there before ours came back."""

    text_without_options = forms.CharField(
        required=False, widget=_area(10), label="Instructions without options"
    )
    text_with_options = forms.CharField(required=False, widget=_area(10), label="Instructions with options")
    whole_without_options = forms.CharField(
        required=False, widget=_area(6), label="Whole message without options"
    )
    whole_with_options = forms.CharField(required=False, widget=_area(6), label="Whole message with options")
    beside_without_options = forms.CharField(
        required=False, widget=_kept_area(), label="The text before, without options"
    )
    beside_with_options = forms.CharField(
        required=False, widget=_kept_area(), label="The text before, with options"
    )

    def worded(self, edition: int) -> JudgeWording:
        """What a valid form says."""
        said: dict[str, dict[str, str]] = {part: {} for part in PLACES}
        for form in FORMS:
            for part, start in PLACES.items():
                said[part][form] = unix(self.cleaned_data[f"{start}_{form}"])
        return JudgeWording(edition=edition, **{part: FormTexts(**texts) for part, texts in said.items()})


def ours(way: str, form: str, edition: int) -> str:
    return shipped_instructions(prompt_of(way, form), edition=edition).strip()


def texts_typed(wording: JudgeWording, way: str) -> dict[str, str]:
    """Initial values of `WordingFields`: the shipped text where there is none of one's own."""
    values = {}
    for form in FORMS:
        values[f"text_{form}"] = getattr(wording.instructions, form) or ours(way, form, wording.edition)
        values[f"whole_{form}"] = getattr(wording.whole_messages, form)
    return values


def put_back(data: dict[str, Any], prefix: str, form: str, ways: tuple[str, str], edition: int) -> None:
    """Puts the shipped text of the second way in its field; the one that stood there, of the first way, goes
    beside it, unless it was ours.
    """
    text, whole = f"{prefix}text_{form}", f"{prefix}whole_{form}"
    before, after = ways
    old = unix(data.get(whole) or data.get(text) or "")
    if old and old != ours(before, form, edition):
        data[f"{prefix}{KEPT_BESIDE}_{form}"] = old
    data[text], data[whole] = ours(after, form, edition), ""


def unix(text: str) -> str:
    return text.replace("\r\n", "\n").strip()
