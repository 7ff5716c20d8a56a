"""One model that a judge asks: where, how, in which words, and what its votes count."""

import re
from collections.abc import Mapping
from typing import Any

from django import forms

from rubricweb.engine.errors import Invalid as EngineInvalid
from rubricweb.engine.judging.definition import MAX_MEMBERS, JudgeDefinition, JudgeMember
from rubricweb.engine.judging.sampling import SAMPLING_OPTIONS, Sampling
from rubricweb.judges.base import JudgeConfig
from rubricweb.services.endpoints import endpoints
from rubricweb.web.judges.forms import plain, sampling_field
from rubricweb.web.judges.parts.wording_fields import WordingFields, texts_typed
from rubricweb.web.judges.words import way_of

_MODEL_ATTRS = {"class": "input--mono", "list": "model-names", "autocomplete": "off"}

AS_IT_IS = "as-it-is"
"""Chosen of a member whose endpoint is none of the team's any more."""


class MemberForm(WordingFields):
    """A row: of a judge of one model its model, of a panel's member also what tells it from the others."""

    of = forms.CharField(required=False, widget=forms.HiddenInput)
    endpoint = forms.ChoiceField(
        label="Asked at",
        error_messages={"invalid_choice": "This is none of the team’s models any more: choose another."},
    )
    model = forms.CharField(
        max_length=200,
        required=False,
        label="Model",
        widget=forms.TextInput(attrs=_MODEL_ATTRS),
        help_text="As the endpoint names it. Empty is the endpoint’s own.",
    )
    fallback_model = forms.CharField(
        max_length=200,
        required=False,
        label="Fallback model",
        widget=forms.TextInput(attrs=_MODEL_ATTRS),
        help_text="Asked at the same address when the model has failed for good.",
    )
    name = forms.CharField(
        max_length=190,
        required=False,
        label="Name of its votes",
        help_text="Each member has another one. Empty is what its endpoint is called.",
    )
    weight = forms.FloatField(
        required=False,
        label="Weight",
        widget=forms.NumberInput(attrs={"class": "input--short", "step": "any", "min": 0}),
        help_text="From 0; it counts for the rules that weigh.",
    )
    stage = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=MAX_MEMBERS,
        label="Stage",
        widget=forms.NumberInput(attrs={"class": "input--short"}),
        help_text="1 is asked first, 2 only where stage 1 does not settle it.",
    )
    own = forms.BooleanField(
        required=False,
        label="This member is told its own texts",
        help_text="Else it is told what the judge is.",
    )

    SAMPLING = tuple(Sampling.model_fields)
    first = "endpoint"

    def __init__(
        self,
        *args: Any,
        member: JudgeMember,
        base: JudgeDefinition,
        judges: Mapping[str, JudgeConfig],
        number: int,
        alone: bool,
        **more: Any,
    ) -> None:
        """`member` is what the row begins with. `number` counts from 1; `alone` if no other one is asked."""
        self.member, self.base, self.judges, self.alone = member, base, judges, alone
        there = [name for name, config in judges.items() if config.answered_by == member.address]
        same = [name for name in there if judges[name].name == member.endpoint]
        self.asked_at = next(iter(same or there), AS_IT_IS)
        known = {name: plain(value) for name, value in member.sampling.model_dump().items()}
        known |= {
            "endpoint": self.asked_at,
            "model": member.model,
            "fallback_model": member.fallback_model,
            "name": member.name,
            "weight": plain(member.weight),
            "stage": member.stage + 1,
            "own": member.wording is not None,
        }
        known |= texts_typed(member.wording or base.wording, way_of(base))
        super().__init__(*args, **more | {"initial": known | more.get("initial", {})})
        self.fields |= {option.name: sampling_field(option) for option in SAMPLING_OPTIONS}
        choices = [(name, f"{config.name} ({config.model})") for name, config in judges.items()]
        if self.asked_at == AS_IT_IS:
            choices.insert(0, (AS_IT_IS, f"{member.endpoint}, which is none of the team’s models any more"))
        typed = self.data.get(self.add_prefix("name")) if self.is_bound else self.initial["name"]
        self.title = str(typed or f"Model {number}")
        if not alone:  # the page’s list of what is wrong names fields alone
            for field in self.fields.values():
                field.label = f"{self.title}: {field.label}"
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

    def asked(self) -> JudgeMember:
        """The member a valid form describes; its name is "" where nobody chose one."""
        said, before = self.cleaned_data, self.member
        changes: dict[str, Any] = {
            "name": before.name if self.alone else self._name_chosen(),
            "model": said["model"] or before.model,
            "fallback_model": said["fallback_model"],
            "sampling": said["sampling"],
            "weight": before.weight if said["weight"] is None else said["weight"],
            "stage": (said["stage"] or before.stage + 1) - 1,
            "wording": self.worded(self.base.wording.edition) if said["own"] else None,
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
                if self.alone:
                    changes["name"] = ""
        return before.model_copy(update=changes)

    def _name_chosen(self) -> str:
        """What was typed; "" for the name of the endpoint it was asked at, numbered or not, once it moved."""
        said, before = self.cleaned_data, self.member
        typed = " ".join(said["name"].split())
        is_endpoints = re.fullmatch(rf"{re.escape(before.endpoint)}( \(\d+\))?", typed) is not None
        return "" if is_endpoints and said["endpoint"] != self.asked_at else typed

    @property
    def sampling(self) -> list[forms.BoundField]:
        return [self[name] for name in self.SAMPLING]

    @property
    def opens_sampling(self) -> bool:
        return any(self[name].errors for name in (*self.SAMPLING, "fallback_model"))

    @property
    def opens_own(self) -> bool:
        texts = [name for name in WordingFields.base_fields if self[name].errors]
        return bool(self["own"].value() or texts)

    @property
    def shows_own(self) -> bool:
        """Whether own texts are on the page: of a judge of one model only where it has some."""
        return not self.alone or bool(self["own"].value())


def fresh_member(judges: Mapping[str, JudgeConfig], judge_id: str) -> JudgeMember:
    """What a new row begins with: this model of the team's, or the first where it is none; without a name."""
    config = judges.get(judge_id) or next(iter(judges.values()))
    return JudgeMember(name="", endpoint=config.name, address=config.answered_by, model=config.model)
