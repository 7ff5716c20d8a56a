"""What a judge is, in plain language: its settings, and the texts it is told."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import urlsplit

from rubricweb.engine.autograders import AUTOGRADERS, ReplyFormat
from rubricweb.engine.autograders.instructions import JudgeWording, shipped_instructions
from rubricweb.engine.judging.changes import DefinitionChange, definition_changes
from rubricweb.engine.judging.definition import JudgeDefinition, JudgeMember, Voting
from rubricweb.engine.judging.sampling import SAMPLING_OPTIONS
from rubricweb.engine.number_format import counted
from rubricweb.engine.rubric.words import Segment
from rubricweb.selectors.runs.graders import rule_words
from rubricweb.selectors.runs.judge_settings import setting_words
from rubricweb.selectors.withheld_runs import WITHHELD
from rubricweb.services.endpoints import endpoints
from rubricweb.services.judges.definitions import asks_offline
from rubricweb.templatetags.run_words import autograder_title

FORMS = ("without_options", "with_options")
"""The forms of a question, as `FormTexts` names them."""

DEAF = f"{endpoints.OFFLINE_ABOUT} It does not read instructions: other words change nothing of what it says."

TITLES = {
    "autograder": "Way of asking",
    "reply_format": "Form of the reply",
    "wording.edition": "Edition of our instructions",
    "fallback_model": "Fallback model",
    "address": "Asked at",
    **{f"sampling.{option.name}": option.says.title for option in SAMPLING_OPTIONS},
    "voting": "Votes",
    "voting.repeats": "Times each is asked",
    "voting.rule": "Votes are settled by",
    "voting.quorum": "Minimum share of votes",
    "voting.escalate_on": "The next stage is asked when",
    "voting.min_confidence": "Minimum confidence",
    "members": "Order of the members",
    "examples": "Order of the examples",
}
"""What fields of a definition are called, those of a member by their place in it."""


@dataclass(frozen=True)
class JudgeFact:
    title: str
    value: str


@dataclass(frozen=True)
class ToldText:
    """A text that a judge, or a member of it, is told. `source` is ours, own, or whole (word for word)."""

    title: str
    text: str
    source: str


@dataclass(frozen=True)
class SettingChange:
    title: str
    before: str
    after: str


@dataclass(frozen=True)
class TextChange:
    title: str
    words: tuple[Segment, ...]


def way_name(autograder: str, reply_format: str) -> str:
    """ "Criterion by criterion, in prose"."""
    return autograder_title(autograder) + ("" if reply_format == "json" else ", in prose")


def ways() -> list[tuple[str, str]]:
    """Every way of asking with its name, as a form sends it: "per_criterion yes_no"."""
    return [
        (f"{name} {reply}", way_name(name, reply))
        for name, asks in AUTOGRADERS.items()
        for reply in asks.reply_formats
    ]


def prompt_of(way: str, form: str) -> str:
    """The shipped prompt of a way of asking, "per_criterion json", for questions of this form."""
    autograder, _, reply = way.partition(" ")
    return AUTOGRADERS[autograder].prompt_name(cast(ReplyFormat, reply), options=form == "with_options")


def way_of(definition: JudgeDefinition) -> str:
    return f"{definition.autograder} {definition.reply_format}"


def form_title(way: str, form: str) -> str:
    """ "Criteria with options", or "Rubrics with options" where one question is about all of them."""
    noun = "Criteria" if way.startswith("per_criterion") else "Rubrics"
    return f"{noun} {form.replace('_', ' ')}"


def deaf_words(definition: JudgeDefinition) -> str:
    """That its judge reads no instructions; "" where it does."""
    return DEAF if asks_offline(definition) else ""


# ── Settings ─────────────────────────────────────────────────────────────────────────────────────


def settings_of(definition: JudgeDefinition, *, withheld: bool = False) -> list[JudgeFact]:
    """Everything but its texts, each a title and what stands there. Its examples may be `withheld`."""
    found = [JudgeFact("Way of asking", way_name(definition.autograder, definition.reply_format))]
    several = len(definition.members) > 1
    for member in definition.members:
        start = f"{member.name}: " if several else ""
        found += [
            JudgeFact(f"{start}{title}" if start else title.capitalize(), value)
            for title, value in _of_member(member, several)
        ]
    found += _of_voting(definition.voting)
    examples = counted(len(definition.examples), "labelled answer") if definition.examples else "none"
    return [*found, JudgeFact("Examples", WITHHELD if withheld else examples)]


def models_of(definition: JudgeDefinition) -> str:
    """ "gpt-5-mini, claude-5"."""
    return ", ".join(dict.fromkeys(member.model for member in definition.members))


def _of_member(member: JudgeMember, several: bool) -> Iterator[tuple[str, str]]:
    yield "model", member.model
    yield "asked at", f"{member.endpoint}{_host(member)}"
    yield "sampling", member.sampling.in_words or "nothing is sent"
    if member.fallback_model:
        yield "fallback model", member.fallback_model
    if several:
        yield "weight", f"{member.weight:g}"
    if member.stage:
        yield "stage", f"{member.stage + 1}, where the one before does not settle it"


def _host(member: JudgeMember) -> str:
    host = urlsplit(member.address).netloc
    return f" ({host})" if host else ""


def _of_voting(voting: Voting | None) -> Iterator[JudgeFact]:
    if voting is None:
        return
    yield JudgeFact(TITLES["voting.repeats"], ", then ".join(map(str, voting.repeats)))
    yield JudgeFact(TITLES["voting.rule"], rule_words(voting.rule))
    if voting.quorum:
        yield JudgeFact(TITLES["voting.quorum"], f"{voting.quorum:g}")
    if voting.escalate_on:
        conditions = ", ".join(one.replace("_", " ") for one in voting.escalate_on)
        yield JudgeFact(TITLES["voting.escalate_on"], conditions)
    if voting.min_confidence is not None:
        yield JudgeFact(TITLES["voting.min_confidence"], f"{voting.min_confidence:g}")


# ── Texts ────────────────────────────────────────────────────────────────────────────────────────


def texts_of(definition: JudgeDefinition) -> list[ToldText]:
    """What the judge is told for each form of a question; then what members are told that have their own."""
    found = [_told(definition.wording, way_of(definition), form) for form in FORMS]
    for member in definition.members:
        if member.wording is not None:
            found += [_told(member.wording, way_of(definition), form, f"{member.name}: ") for form in FORMS]
    return found


def _told(wording: JudgeWording, way: str, form: str, start: str = "") -> ToldText:
    whole, own = getattr(wording.whole_messages, form), getattr(wording.instructions, form)
    source = "whole" if whole else "own" if own else "ours"
    text = whole or own or shipped_instructions(prompt_of(way, form), edition=wording.edition)
    return ToldText(f"{start}{form_title(way, form)}", text, source)


# ── What changed ─────────────────────────────────────────────────────────────────────────────────


def changed_settings(before: JudgeDefinition, after: JudgeDefinition) -> list[SettingChange]:
    return setting_changes(definition_changes(before, after))


def setting_changes(changes: Iterable[DefinitionChange]) -> list[SettingChange]:
    """What differs beside texts, each with a title."""
    return [
        SettingChange(_title(one.place), _value(one.place, one.before), _value(one.place, one.after))
        for one in changes
        if one.words is None
    ]


def text_changes(changes: Iterable[DefinitionChange], way: str) -> list[TextChange]:
    """Texts that differ, word by word; `way` is the newer one's way of asking."""
    found = []
    for one in changes:
        if one.words is not None:
            start, _, place = one.place.rpartition("wording.")
            kind, _, form = place.partition(".")
            whole = ", word for word" if kind == "whole_messages" else ""
            found.append(TextChange(f"{_whose(start)}{form_title(way, form)}{whole}", one.words))
    return found


def _whose(start: str) -> str:
    """ "gpt-5-mini: " of `members[gpt-5-mini].`"""
    name = start.removeprefix("members[").removesuffix(".").removesuffix("]")
    return f"{name}: " if name else ""


def _title(place: str) -> str:
    """ "gpt-5-mini: temperature" of `members[gpt-5-mini].sampling.temperature`."""
    if place.startswith(("members[", "examples[")):
        kind, _, rest = place.partition("[")
        name, _, field = rest.rpartition("]")
        title = TITLES.get(field.removeprefix("."), field.removeprefix(".")).lower()
        start = name if kind == "members" else f"Example {name}"
        return f"{start}: {title}" if title else start
    return TITLES.get(place) or place.replace("_", " ").replace(".", ", ").capitalize()


def _value(place: str, value: Any) -> str:
    """What stands there, in words; "none" where nothing does."""
    if place == "voting.rule":
        return rule_words(value)
    if value is None or value == "":
        return "none"
    if place == "autograder":
        return autograder_title(value)
    if place == "reply_format":
        return "JSON" if value == "json" else "prose"
    if place == "voting":
        voting = Voting.model_validate(value, strict=False)
        return ", ".join(f"{one.title.lower()} {one.value}" for one in _of_voting(voting))
    if place.endswith(".stage"):
        return str(value + 1)
    if isinstance(value, dict):
        return str(value.get("model") or value.get("label") or "as in the file")
    if isinstance(value, list):
        return ", ".join(str(one).replace("_", " ") for one in value)
    return setting_words(value)
