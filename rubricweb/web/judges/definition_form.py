"""The form of a version of a judge: texts, members, how they vote, examples, the way of asking."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from django import forms

from rubricweb.engine.autograders.panels.panel import MAX_REPEATS
from rubricweb.engine.judging.definition import (
    MAX_MEMBERS,
    JudgeDefinition,
    JudgeExample,
    JudgeMember,
    Voting,
)
from rubricweb.engine.judging.shipped import shipped_left_out
from rubricweb.engine.panels.vote_rules import VOTE_RULES
from rubricweb.errors import Conflict, Invalid
from rubricweb.judges.base import JudgeConfig
from rubricweb.selectors.rubrics.example_criteria import ExampleCriteria
from rubricweb.services.judges.definitions import NAME_MAX
from rubricweb.web.judges.forms import plain
from rubricweb.web.judges.parts.example_form import JudgeExampleForm
from rubricweb.web.judges.parts.member_form import MemberForm, fresh_member
from rubricweb.web.judges.parts.typed import NEW, row_numbers
from rubricweb.web.judges.parts.wording_fields import PLACES, WordingFields, texts_typed
from rubricweb.web.judges.words import way_of, ways
from rubricweb.web.shared.choices import offer
from rubricweb.web.shared.vote_fields import SettlingFields

T = TypeVar("T")


class DefinitionForm(WordingFields, SettlingFields):
    """A version of a judge that is to be kept, made from the definition `base`.

    `texts_for` is the way of asking that the texts are worded for; `begun` the number of the version that
    `base` is of, 0 for none, and `parent` that of the version it is kept after. A new judge has a name
    instead. `members` and `examples` are its rows.
    """

    name = forms.CharField(max_length=NAME_MAX)
    way = forms.ChoiceField(label="Way of asking")
    note = forms.CharField(required=False, widget=forms.Textarea(attrs={"rows": 2}))
    repeats = forms.CharField(
        required=False,
        max_length=200,
        label="Times each is asked",
        widget=forms.TextInput(attrs={"class": "input--short"}),
        help_text=f"1 to {MAX_REPEATS}: asking twice or more shows how often a judge contradicts itself. "
        "With stages one number for all, or one for each: 1, 3.",
    )
    examples_from = forms.ChoiceField(required=False, label="About a criterion of")
    texts_for = forms.CharField(required=False, widget=forms.HiddenInput)
    begun = forms.IntegerField(required=False, min_value=0, initial=0, widget=forms.HiddenInput)
    parent = forms.IntegerField(required=False, min_value=1, widget=forms.HiddenInput)

    VOTING = ("repeats", "quorum", *(f"rule_{scale}" for scale in VOTE_RULES))
    STAGES = ("escalate_on", "min_confidence")

    def __init__(
        self,
        data: Mapping[str, Any] | None = None,
        *,
        base: JudgeDefinition,
        judges: Mapping[str, JudgeConfig],
        criteria: ExampleCriteria,
        initial: Mapping[str, Any],
        is_new: bool,
    ) -> None:
        """`initial` has the fields of rows too, each below its prefix: "member0-model"."""
        self.base, self.judges = base, judges
        known = {"way": way_of(base), "texts_for": way_of(base), **texts_typed(base.wording, way_of(base))}
        super().__init__(data, initial=known | _votes_typed(base.voting) | dict(initial))
        offer(self, "way", ways())
        rubrics = [(str(one.pk), one.title) for one in criteria.rubrics()]
        offer(self, "examples_from", rubrics)
        if is_new:
            del self.fields["parent"]
        else:
            del self.fields["name"]
            self.fields["note"].help_text = "What changed, and why."
        values = initial if data is None else data
        members = _rows(values, "member", base.members)
        self.members = [
            MemberForm(
                data,
                prefix=f"member{place}",
                member=self._fresh(of) if begun is None else begun,
                base=base,
                judges=judges,
                number=number,
                alone=len(members) == 1,
                initial={"of": of} | _below(f"member{place}-", initial),
            )
            for number, (place, of, begun) in enumerate(members, start=1)
        ]
        self.examples = [
            JudgeExampleForm(
                data,
                prefix=f"example{place}",
                shown=begun,
                number=number,
                criteria=criteria,
                initial={"of": of} | _below(f"example{place}-", initial),
            )
            for number, (place, of, begun) in enumerate(_rows(values, "example", base.examples), start=1)
        ]

    def _fresh(self, of: str) -> JudgeMember:
        return (
            fresh_member(self.judges, of.removeprefix(NEW).strip()) if self.judges else self.base.members[0]
        )

    def clean_repeats(self) -> tuple[int, ...]:
        """A number for each stage, or one for all; nothing is 1."""
        words = [word for word in re.split(r"[\s,]+", self.cleaned_data["repeats"]) if word]
        if not all(re.fullmatch(r"-?[0-9]{1,9}", word) for word in words):
            raise forms.ValidationError("Whole numbers: 3, or 1, 3 for two stages.")
        return tuple(map(int, words)) or (1,)

    # ── What the page asks of it ──────────────────────────────────────────────────────────────────

    @property
    def parts(self) -> list[forms.Form]:
        """The form itself and its rows."""
        return [self, *self.members, *self.examples]

    @property
    def worded_for(self) -> str:
        """The way of asking that the texts on the page are for."""
        typed = str(self["texts_for"].value())
        return typed if typed in dict(ways()) else way_of(self.base)

    @property
    def voting_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in self.VOTING]

    @property
    def asks_several(self) -> bool:
        """Whether what tells several votes from one is open on the page."""
        chosen = [self[name].value() not in (None, "", 0, "0", "1") for name in self.VOTING]
        wrong = any(self[name].errors for name in (*self.VOTING, *self.STAGES))
        return len(self.members) > 1 or any(chosen) or wrong or self.has_stages

    @property
    def has_stages(self) -> bool:
        """Whether some model is asked only where others do not settle it, or conditions for that are set."""
        later = any(str(member["stage"].value() or 1) != "1" for member in self.members)
        return later or any(self[name].value() or self[name].errors for name in self.STAGES)

    @property
    def shows_examples(self) -> bool:
        return any(not example.is_kept for example in self.examples)

    @property
    def may_add_member(self) -> bool:
        return len(self.members) < MAX_MEMBERS and bool(self.judges)

    # ── What it says ──────────────────────────────────────────────────────────────────────────────

    def is_whole(self) -> bool:
        """Whether the form and all its rows are valid."""
        valid = [form.is_valid() for form in self.parts]  # each says what is wrong with it
        return all(valid)

    def definition(self) -> JudgeDefinition:
        """What a whole form describes; a text that is the shipped one is left out, and so ours."""
        autograder, _, reply_format = self.cleaned_data["way"].partition(" ")
        members = self._asked()
        examples: list[JudgeExample] = []
        keys = {one.key for one in self.base.examples}
        for row in self.examples:
            examples.append(row.example(keys))
            keys.add(examples[-1].key)
        typed_in = self.base.model_copy(
            update={
                "autograder": autograder,
                "reply_format": reply_format,
                "wording": self.worded(self.base.wording.edition),
                "members": tuple(members),
                "voting": self._voting(members),
                "examples": tuple(examples),
            }
        )
        return shipped_left_out(typed_in)

    def _asked(self) -> list[JudgeMember]:
        """The members, stages without a gap, and the second of two at one endpoint called "name (2)"."""
        asked = [row.asked() for row in self.members]
        stages = sorted({member.stage for member in asked})
        names = {member.name for member in asked}
        found = []
        for member in asked:
            name, number = member.name or member.endpoint, 1
            while not member.name and name in names:
                number += 1
                name = f"{member.endpoint} ({number})"
            names.add(name)
            found.append(member.model_copy(update={"name": name, "stage": stages.index(member.stage)}))
        return found

    def _voting(self, members: Sequence[JudgeMember]) -> Voting | None:
        """How votes are settled; what the version said already is left as it said it."""
        said, before = self.cleaned_data, self.base.voting or Voting()
        repeats = said["repeats"]
        stages = len({member.stage for member in members})
        conditions = tuple(said["escalate_on"]) or None
        same_conditions = set(conditions or ()) == set(before.escalate_on or ())
        same_rules = self.rules == _by_scale(before.rule)
        voting = Voting(
            rule=before.rule if same_rules else self.rules,
            repeats=repeats * stages if len(repeats) == 1 else repeats,
            quorum=said["quorum"] or 0.0,
            escalate_on=before.escalate_on if same_conditions else conditions,
            min_confidence=said["min_confidence"],
        )
        if len(members) == 1 and voting == Voting():
            return voting if self.base.voting == voting else None
        return voting

    # ── What is wrong with it ─────────────────────────────────────────────────────────────────────

    def refuse(self, error: Invalid | Conflict) -> None:
        """Shows every fault at its field, of whichever row; what is about none on top."""
        faults = error.faults if isinstance(error, Invalid) else ()
        for fault in faults:
            form, field = self._field_of(fault.place)
            form.add_error(field, f"Found {fault.found}. Allowed: {fault.allowed}.")
        if not faults:
            taken = "name" in self.fields and "called" in str(error)
            self.add_error("name" if taken else None, str(error))

    def _field_of(self, place: str) -> tuple[forms.Form, str | None]:
        form: forms.Form = self
        if inside := re.fullmatch(r"(members|examples)\[(\d+)\]\.(.+)", place):
            rows: Sequence[forms.Form] = self.members if inside[1] == "members" else self.examples
            form, place = rows[int(inside[2])], inside[3]
        if worded := re.fullmatch(r"wording\.(instructions|whole_messages)\.(\w+)", place):
            place = f"{PLACES[worded[1]]}_{worded[2]}"
        place = place.removeprefix("voting.")
        if place.startswith("rule"):
            place = f"rule_{place.partition('.')[2] or next(iter(VOTE_RULES))}"
        place = "way" if place in ("autograder", "reply_format") else place
        return form, place if place in form.fields else None


def _rows(values: Mapping[str, Any], kind: str, begun: Sequence[T]) -> list[tuple[int, str, T | None]]:
    """The number of each row, what it says it began with, and that of `begun`, None for a new one.

    A page that was just opened has sent none: it has a row for each.
    """
    numbers = row_numbers(values, kind) if "begun" in values else range(len(begun))
    found = []
    for number in numbers:
        of = str(values.get(f"{kind}{number}-of", number))
        known = of.isdecimal() and len(of) < 6 and int(of) < len(begun)
        found.append((number, of, begun[int(of)] if known else None))
    return found


def _below(prefix: str, values: Mapping[str, Any]) -> dict[str, Any]:
    return {name.removeprefix(prefix): value for name, value in values.items() if name.startswith(prefix)}


def _votes_typed(voting: Voting | None) -> dict[str, Any]:
    """Initial values of how votes are settled."""
    voting = voting or Voting()
    rules, repeats = _by_scale(voting.rule) or {}, voting.repeats
    return {
        "repeats": ", ".join(map(str, set(repeats) if len(set(repeats)) == 1 else repeats)),
        "quorum": plain(voting.quorum),
        "escalate_on": list(voting.escalate_on or ()),
        "min_confidence": voting.min_confidence,
        **{f"rule_{scale}": rules.get(scale, "") for scale in VOTE_RULES},
    }


def _by_scale(rule: str | Mapping[str, str] | None) -> dict[str, str] | None:
    """A rule as fields say it: one name stands for every scale that has it."""
    if isinstance(rule, str):
        rule = {scale: rule for scale, known in VOTE_RULES.items() if rule in known}
    return dict(rule) if rule else None
