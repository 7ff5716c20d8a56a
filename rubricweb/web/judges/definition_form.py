"""The form of a version of a judge: its texts, its members and its way of asking."""

import re
from collections.abc import Mapping
from typing import Any

from django import forms
from django.http import QueryDict

from rubricweb.engine.autograders.instructions import (
    FormTexts,
    JudgeWording,
    shipped_instructions,
)
from rubricweb.engine.errors import Invalid as EngineInvalid
from rubricweb.engine.judging.definition import JudgeDefinition, JudgeMember
from rubricweb.engine.judging.sampling import SAMPLING_OPTIONS, Sampling
from rubricweb.engine.judging.shipped import shipped_left_out
from rubricweb.errors import Conflict, Invalid
from rubricweb.judges.base import JudgeConfig
from rubricweb.services.endpoints import endpoints
from rubricweb.services.judges.definitions import NAME_MAX
from rubricweb.web.http import text_of
from rubricweb.web.judges.forms import plain, sampling_field
from rubricweb.web.judges.words import FORMS, prompt_of, way_of, ways

AS_IT_IS = "as-it-is"
"""Chosen of a member whose endpoint is none of the team's any more."""

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
                said[part][form] = _unix(self.cleaned_data[f"{start}_{form}"])
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
    old = _unix(data.get(whole) or data.get(text) or "")
    if old and old != ours(before, form, edition):
        data[f"{prefix}{KEPT_BESIDE}_{form}"] = old
    data[text], data[whole] = ours(after, form, edition), ""


class MemberForm(WordingFields):
    """One model that is asked, and how; of a panel's member also whether it is told something of its own."""

    endpoint = forms.ChoiceField(label="Asked at")
    model = forms.CharField(
        max_length=200,
        required=False,
        label="Model",
        widget=forms.TextInput(attrs={"class": "input--mono"}),
        help_text="As the endpoint names it. Empty is the endpoint’s own.",
    )
    fallback_model = forms.CharField(
        max_length=200,
        required=False,
        label="Fallback model",
        widget=forms.TextInput(attrs={"class": "input--mono"}),
        help_text="Asked at the same address when the model has failed for good.",
    )
    own = forms.BooleanField(required=False, label="This member is told its own texts")

    SAMPLING = tuple(Sampling.model_fields)

    def __init__(
        self,
        *args: Any,
        member: JudgeMember,
        base: JudgeDefinition,
        judges: Mapping[str, JudgeConfig],
        **more: Any,
    ) -> None:
        self.member, self.base, self.judges = member, base, judges
        there = [name for name, config in judges.items() if config.answered_by == member.address]
        same = [name for name in there if judges[name].name == member.endpoint]
        self.asked_at = next(iter(same or there), AS_IT_IS)
        known = {name: plain(value) for name, value in member.sampling.model_dump().items()}
        known |= {
            "endpoint": self.asked_at,
            "model": member.model,
            "fallback_model": member.fallback_model,
            "own": member.wording is not None,
        }
        known |= texts_typed(member.wording or base.wording, way_of(base))
        super().__init__(*args, **more | {"initial": known | more.get("initial", {})})
        self.fields |= {option.name: sampling_field(option) for option in SAMPLING_OPTIONS}
        choices = [(name, f"{config.name} ({config.model})") for name, config in judges.items()]
        if self.asked_at == AS_IT_IS:
            choices.insert(0, (AS_IT_IS, f"{member.endpoint}, which is none of the team’s models any more"))
        if len(base.members) > 1:  # the page’s list of what is wrong names fields alone
            for field in self.fields.values():
                field.label = f"{member.name}: {field.label}"
        field = self.fields["endpoint"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = choices

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        options = {name: cleaned[name] for name in self.SAMPLING if name in cleaned}
        try:
            cleaned["sampling"] = Sampling().changed(**options)
        except EngineInvalid as error:
            for fault in error.faults:
                self.add_error(fault.place, f"Found {fault.found}; allowed: {fault.allowed}.")
        return cleaned

    def asked(self, *, alone: bool) -> JudgeMember:
        """The member a valid form describes."""
        said, before = self.cleaned_data, self.member
        changes: dict[str, Any] = {
            "model": said["model"] or before.model,
            "fallback_model": said["fallback_model"],
            "sampling": said["sampling"],
            "wording": self.worded(self.base.wording.edition) if said["own"] and not alone else None,
        }
        config = self.judges.get(said["endpoint"])
        moved = said["endpoint"] != self.asked_at
        if config is not None:
            # The model of another endpoint is seldom known there; the built-in judge has one alone.
            if (
                (moved and said["model"] == before.model)
                or not said["model"]
                or said["endpoint"] == endpoints.OFFLINE
            ):
                changes["model"] = config.model
            if moved:
                changes |= {"endpoint": config.name, "address": config.answered_by}
                if alone or before.name == before.endpoint:
                    changes["name"] = config.name
        return before.model_copy(update=changes)

    @property
    def sampling(self) -> list[forms.BoundField]:
        return [self[name] for name in self.SAMPLING]


class DefinitionForm(WordingFields):
    """A version of a judge that is to be kept, made from the definition `base`.

    `texts_for` is the way of asking that the texts are worded for, `parent` the number of the version that
    the person began with. A new judge has a name instead.
    """

    name = forms.CharField(max_length=NAME_MAX)
    way = forms.ChoiceField(label="Way of asking")
    note = forms.CharField(
        required=False, widget=forms.Textarea(attrs={"rows": 2}), help_text="What it is for."
    )
    texts_for = forms.CharField(required=False, widget=forms.HiddenInput)
    parent = forms.IntegerField(required=False, min_value=1, widget=forms.HiddenInput)

    def __init__(
        self,
        data: Mapping[str, Any] | None = None,
        *,
        base: JudgeDefinition,
        judges: Mapping[str, JudgeConfig],
        initial: Mapping[str, Any],
        is_new: bool,
    ) -> None:
        """`initial` has the fields of members too, each below its prefix: "member0-model"."""
        self.base = base
        known = {"way": way_of(base), "texts_for": way_of(base), **texts_typed(base.wording, way_of(base))}
        super().__init__(data, initial=known | dict(initial))
        field = self.fields["way"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = ways()
        if is_new:
            del self.fields["parent"]
        else:
            del self.fields["name"]
            self.fields["note"].help_text = "What changed, and why."
        self.members = [
            MemberForm(
                data,
                prefix=prefix,
                member=member,
                base=base,
                judges=judges,
                initial={
                    name.removeprefix(f"{prefix}-"): value
                    for name, value in initial.items()
                    if name.startswith(f"{prefix}-")
                },
            )
            for place, member in enumerate(base.members)
            for prefix in [f"member{place}"]
        ]

    @property
    def worded_for(self) -> str:
        """The way of asking that the texts on the page are for."""
        typed = str(self["texts_for"].value())
        return typed if typed in dict(ways()) else way_of(self.base)

    def is_whole(self) -> bool:
        """Whether the form and all its members are valid."""
        return all([self.is_valid(), *(member.is_valid() for member in self.members)])

    def definition(self) -> JudgeDefinition:
        """What a whole form describes; a text that is the shipped one is left out, and so ours."""
        autograder, _, reply_format = self.cleaned_data["way"].partition(" ")
        alone = len(self.members) == 1
        typed_in = self.base.model_copy(
            update={
                "autograder": autograder,
                "reply_format": reply_format,
                "wording": self.worded(self.base.wording.edition),
                "members": tuple(member.asked(alone=alone) for member in self.members),
            }
        )
        return shipped_left_out(typed_in)

    def refuse(self, error: Invalid | Conflict) -> None:
        """Shows every fault at its field, of whichever member; what is about none on top."""
        faults = error.faults if isinstance(error, Invalid) else ()
        for fault in faults:
            form, field = self._field_of(fault.place)
            form.add_error(field, f"Found {fault.found}. Allowed: {fault.allowed}.")
        if not faults:
            taken = "name" in self.fields and "called" in str(error)
            self.add_error("name" if taken else None, str(error))

    def _field_of(self, place: str) -> tuple[WordingFields, str | None]:
        form: WordingFields = self
        if inside := re.fullmatch(r"members\[(\d+)\]\.(.+)", place):
            form, place = self.members[int(inside[1])], inside[2]
        if worded := re.fullmatch(r"wording\.(instructions|whole_messages)\.(\w+)", place):
            place = f"{PLACES[worded[1]]}_{worded[2]}"
        place = "way" if place in ("autograder", "reply_format") else place
        return form, place if place in form.fields else None


def typed(data: QueryDict) -> dict[str, Any]:
    """What a browser sent, as initial values: a box that is not ticked is not sent, and is none."""
    sent = {name: text_of(data, name) for name in data if name != "csrfmiddlewaretoken"}
    ticked = ["own", *(option.name for option in SAMPLING_OPTIONS if option.kind is bool)]
    boxes = [f"{prefix}{name}" for prefix in _prefixes(data) for name in ticked]
    return {**sent, **{name: name in data for name in boxes}}


def turned(data: QueryDict, way: str, edition: int) -> dict[str, Any]:
    """The same with ours put back for another way of asking, everywhere."""
    values = typed(data)
    before = values["texts_for"]
    for prefix in ["", *_prefixes(data)]:
        for form in FORMS:
            put_back(values, prefix, form, (before, way), edition)
    return values | {"way": way, "texts_for": way}


def restored(data: QueryDict, place: str, edition: int, *, back: bool) -> dict[str, Any]:
    """The same with ours put back at one place, "with_options" or "member0-with_options"; or with what stands
    beside it `back` in its field.
    """
    values = typed(data)
    prefix, dash, form = place.rpartition("-")
    if form not in FORMS or f"{prefix}{dash}" not in ["", *_prefixes(data)]:
        raise Invalid.at("action", repr(place[:40]), "a text on this page")
    way = values["texts_for"]
    text, kept = (f"{prefix}{dash}{start}_{form}" for start in ("text", KEPT_BESIDE))
    beside = values.get(kept, "")
    put_back(values, f"{prefix}{dash}", form, (way, way), edition)
    if back:
        values[text] = beside
        values[kept] = values[kept] if values.get(kept) != beside else ""
    return values


def _prefixes(data: Mapping[str, Any]) -> list[str]:
    found = (re.match(r"member\d{1,2}-", name) for name in data)
    return list(dict.fromkeys(match[0] for match in found if match))


def _unix(text: str) -> str:
    return text.replace("\r\n", "\n").strip()
