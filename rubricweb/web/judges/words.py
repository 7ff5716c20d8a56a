"""What a judge is, in plain language: its settings, and the texts it is told."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast
from urllib.parse import urlsplit

from rubricweb.engine.autograders import AUTOGRADERS, ReplyFormat
from rubricweb.engine.autograders.instructions import JudgeWording, shipped_instructions
from rubricweb.engine.judging.definition import JudgeDefinition, JudgeMember, Voting
from rubricweb.engine.number_format import counted
from rubricweb.engine.rubric.words import Segment, word_diff
from rubricweb.selectors.runs.graders import rule_words
from rubricweb.selectors.withheld_runs import WITHHELD
from rubricweb.services.endpoints import endpoints
from rubricweb.templatetags.run_words import autograder_title

FORMS = ("without_options", "with_options")
"""The forms of a question, as `FormTexts` names them."""

DEAF = f"{endpoints.OFFLINE_ABOUT} It does not read instructions: other words change nothing of what it says."


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


def is_deaf(definition: JudgeDefinition) -> bool:
    """Whether the offline judge is asked, which compares words and reads no instructions."""
    return any(member.address == endpoints.OFFLINE for member in definition.members)


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
    found += [JudgeFact(title, value) for title, value in _of_voting(definition.voting)]
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


def _of_voting(voting: Voting | None) -> Iterator[tuple[str, str]]:
    if voting is None:
        return
    yield "Times each is asked", ", then ".join(map(str, voting.repeats))
    yield "Votes are settled by", rule_words(voting.rule)
    if voting.quorum:
        yield "Minimum share of votes", f"{voting.quorum:g}"
    if voting.escalate_on:
        yield "The next stage is asked when", ", ".join(one.replace("_", " ") for one in voting.escalate_on)
    if voting.min_confidence is not None:
        yield "Minimum confidence", f"{voting.min_confidence:g}"


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
    """Settings that differ, in the order of the newer version and then of the older."""
    old = {one.title: one.value for one in settings_of(before)}
    new = {one.title: one.value for one in settings_of(after)}
    changes = [
        SettingChange(title, old.get(title, "none"), new.get(title, "none"))
        for title in dict.fromkeys([*new, *old])
        if old.get(title, "none") != new.get(title, "none")
    ]
    if before.examples != after.examples and len(before.examples) == len(after.examples):
        changes.append(SettingChange("Examples", old["Examples"], f"{new['Examples']}, others than before"))
    return changes


def changed_texts(before: JudgeDefinition, after: JudgeDefinition) -> list[TextChange]:
    """Texts that differ, word by word; of a member that has its own in one version, what it was told in the
    other.
    """
    ways = way_of(before), way_of(after)
    pairs: list[tuple[str, JudgeWording, JudgeWording]] = [("", before.wording, after.wording)]
    old = {member.name: member.wording for member in before.members}
    for member in after.members:
        if member.name in old and (member.wording or old[member.name]):
            told = old[member.name] or before.wording, member.wording or after.wording
            pairs.append((f"{member.name}: ", *told))
    found = []
    for start, was, now in pairs:
        for form in FORMS:
            one, other = (_told(*told, form).text for told in ((was, ways[0]), (now, ways[1])))
            if one != other:
                title = f"{start}{form_title(ways[1], form)}"
                found.append(TextChange(title, word_diff(one, other)))
    return found
