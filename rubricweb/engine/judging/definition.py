"""What a judge is: whom it asks, in which way and in which words. Equal definitions ask the same."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Final, Protocol

from pydantic import BaseModel, BeforeValidator, ConfigDict

from rubricweb.engine.autograders import AUTOGRADERS, ReplyFormat
from rubricweb.engine.autograders.instructions import JudgeWording, faults_of
from rubricweb.engine.errors import Fault
from rubricweb.engine.judging.sampling import Sampling
from rubricweb.engine.submission import Submission

_FROZEN = ConfigDict(frozen=True, extra="forbid", strict=True)

MAX_MEMBERS: Final = 20


def _as_kept(sampling: Any) -> Any:
    """A version keeps its options, in whichever range of its day."""
    return Sampling.stored(sampling) if isinstance(sampling, Mapping) else sampling


class JudgeMember(BaseModel):
    """One model that is asked: at which endpoint, with which options, and what its votes count.

    ``name`` is what its votes carry. ``endpoint`` is what the team calls the endpoint; ``address`` says whose
    answers they are: its base URL, or the identity of a built-in judge. ``stage`` counts from 0: members of
    stage 1 are asked where stage 0 escalates. ``wording`` None is the judge's own.
    """

    model_config = _FROZEN

    name: str
    endpoint: str
    address: str
    model: str
    fallback_model: str = ""
    sampling: Annotated[Sampling, BeforeValidator(_as_kept)] = Sampling()
    weight: float = 1.0
    stage: int = 0
    wording: JudgeWording | None = None


class Voting(BaseModel):
    """How the answers of several members, or of one asked several times, are settled: see ``PanelGrader``.

    ``repeats`` has a number for each stage. ``escalate_on`` and ``min_confidence`` are those of
    ``CascadeGrader``.
    """

    model_config = _FROZEN

    rule: str | dict[str, str] | None = None
    repeats: tuple[int, ...] = (1,)
    quorum: float = 0.0
    escalate_on: tuple[str, ...] | None = None
    min_confidence: float | None = None


class JudgeExample(BaseModel):
    """One label that people decided, as the judge is shown it; in words, so that it outlives its item.

    It belongs to the criterion with this ``uid`` as long as that asks ``requirement``, or means the same.
    """

    model_config = _FROZEN

    uid: str
    requirement: str
    label: str
    reason: str = ""
    key: str
    output: str
    thinking: str | None = None
    query: Any = None
    reference: str | None = None

    def submission(self) -> Submission:
        return Submission(
            output=self.output, thinking=self.thinking, query=self.query, reference=self.reference
        )


class JudgeDefinition(BaseModel):
    """All that decides what a judge is asked. Not in it: keys, headers, limits, patience, prices, and how
    verdicts become a score.

    ``voting`` None is one member asked once. ``autograder`` and ``reply_format`` are the way of asking.
    """

    model_config = _FROZEN

    autograder: str = "per_criterion"
    reply_format: ReplyFormat = "json"
    wording: JudgeWording = JudgeWording()
    members: tuple[JudgeMember, ...]
    voting: Voting | None = None
    examples: tuple[JudgeExample, ...] = ()

    @property
    def digest(self) -> str:
        """SHA-256 over all that decides what is asked and how it is settled, as 64 hexadecimal digits.

        Names are not in it: an endpoint that was renamed is still the same judge. What is at its default is
        left out, so that an option of a later release moves no digest; the edition of the prompts is named.
        """
        content = self.model_dump(mode="json", exclude_defaults=True)
        content["members"] = [
            {name: value for name, value in member.items() if name not in ("name", "endpoint")}
            | ({"wording": _named(one.wording)} if one.wording else {})
            for one, member in zip(self.members, content["members"], strict=True)
        ]
        content["wording"] = _named(self.wording)
        text = json.dumps(content, sort_keys=True, ensure_ascii=True)
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def words_digest(self) -> str:
        """What tells it apart from a definition that asks the same models in other words: SHA-256 as 64
        hexadecimal digits, "" where every word is of the first edition.
        """
        words = {"": self.wording} | {
            member.name: member.wording for member in self.members if member.wording is not None
        }
        if all(one.is_shipped and one.edition == 1 for one in words.values()):
            return ""
        texts = {name: _named(one) for name, one in words.items()}
        return hashlib.sha256(json.dumps(texts, sort_keys=True).encode()).hexdigest()


def faults_of_definition(definition: JudgeDefinition) -> Iterator[Fault]:
    """What no judge can be, each with its place; what panels and rules allow is seen when they are made."""
    if definition.autograder not in AUTOGRADERS:
        yield Fault("autograder", repr(definition.autograder), ", ".join(AUTOGRADERS))
    elif definition.reply_format not in AUTOGRADERS[definition.autograder].reply_formats:
        allowed = ", ".join(AUTOGRADERS[definition.autograder].reply_formats)
        yield Fault("reply_format", definition.reply_format, allowed)
    wrong = [*faults_of_members(definition.members, "members")]
    yield from wrong
    stages = {member.stage for member in definition.members}
    repeats = definition.voting.repeats if definition.voting else (1,)
    if not wrong and len(stages) != len(repeats):
        counted = f"{len(repeats)} {'number' if len(repeats) == 1 else 'numbers'}"
        allowed = f"a number for each of {len(stages)} stages" if len(stages) > 1 else "one number"
        yield Fault("voting.repeats", counted, f"{allowed}, as the members have")
    if len(definition.members) > 1 and definition.voting is None:
        yield Fault("voting", "nothing beside several members", "how their votes are settled")
    if definition.voting and len(repeats) == 1:
        for name in ("escalate_on", "min_confidence"):
            if getattr(definition.voting, name) is not None:
                yield Fault(f"voting.{name}", "a condition without a second stage", "a member of stage 1")
    yield from faults_of(definition.wording, "wording.")
    names = [member.name for member in definition.members]
    for place, member in enumerate(definition.members):
        if member.name in names[:place]:
            yield Fault(f"members[{place}].name", f"{member.name!r} again", "a name no other member has")
        if member.wording is not None:
            yield from faults_of(member.wording, f"members[{place}].wording.")


class Weighed(Protocol):
    """A member of a panel: what its votes count, and when it is asked."""

    @property
    def weight(self) -> float: ...

    @property
    def stage(self) -> int: ...


def faults_of_members(members: Sequence[Weighed], place: str) -> Iterator[Fault]:
    """What no members of a panel can be: so many, of stages with a gap between them, or of such a weight."""
    if not 1 <= len(members) <= MAX_MEMBERS:
        yield Fault(place, f"{len(members)} members", f"1 to {MAX_MEMBERS}")
    stages = sorted({member.stage for member in members})
    if stages != list(range(len(stages))):
        found = f"members of the stages {', '.join(map(str, stages))}"
        yield Fault(place, found, "stages from 0 without a gap")
    for number, member in enumerate(members):
        if not 0 <= member.weight < float("inf"):
            yield Fault(f"{place}[{number}].weight", f"{member.weight:g}", "a finite number from 0")


def _named(wording: JudgeWording) -> dict[str, Any]:
    return {"edition": wording.edition} | wording.model_dump(mode="json", exclude_defaults=True)
