"""What a run asks, as the definition of a judge; and a definition as what a run keeps of it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import cast
from urllib.parse import urlsplit

from rubricweb.engine.autograders import AUTOGRADERS, PromptedAutograder, ReplyFormat
from rubricweb.engine.judging.definition import JudgeDefinition, JudgeExample, JudgeMember, Voting
from rubricweb.errors import Conflict, Invalid
from rubricweb.judges.base import JudgeConfig
from rubricweb.models import (
    CascadeSnapshot,
    JudgeEndpoint,
    JudgeSnapshot,
    MemberSnapshot,
    PanelSnapshot,
    Team,
    asked_judges,
    unarchived,
)
from rubricweb.services.endpoints import endpoints, prices


@dataclass(frozen=True)
class Way:
    """A way of asking: as the name of a judge says it, its title, and a line on what it asks and what that
    costs. The `name` stands in what is stored: with another one the same judge would be made again.
    """

    name: str
    title: str
    line: str


WAYS = {
    "per_criterion": Way(
        "criterion by criterion",
        "Criterion by criterion",
        "One call per criterion: the most careful, and the most calls.",
    ),
    "one_shot": Way(
        "all at once",
        "All criteria at once",
        "One call per item with a verdict on every criterion: cheaper; one verdict may colour the next.",
    ),
    "rubric_as_judge": Way(
        "one score for all",
        "One overall score",
        "One call per item: the judge reads the whole rubric and gives a single score from 0 to 100. "
        "No verdicts, so nothing to compare with people criterion by criterion.",
    ),
}
"""By the names of our autograders; one from another package is in none."""

NAME_MAX = 80


def definition_of(
    judge: JudgeSnapshot,
    panel: PanelSnapshot | None,
    *,
    autograder: str,
    reply_format: str,
    examples: Sequence[JudgeExample] = (),
) -> JudgeDefinition | None:
    """The definition of a judge that was picked; None where nobody is asked."""
    members = (
        [_member(one, name=one.name) for one in asked_judges(judge, panel)]
        if panel is None
        else [_member(one.judge, name=one.name, weight=one.weight, stage=one.stage) for one in panel.members]
    )
    if not members:
        return None
    return JudgeDefinition.model_validate(
        {
            "autograder": autograder,
            "reply_format": reply_format,
            "members": tuple(members),
            "voting": None if panel is None else _voting(panel),
            "examples": tuple(examples),
        }
    )


def _member(judge: JudgeSnapshot, *, name: str, weight: float = 1.0, stage: int = 0) -> JudgeMember:
    config = judge.config
    assert config is not None, "only what is asked is a member"
    return JudgeMember(
        name=name,
        endpoint=config.name,
        address=config.answered_by,
        model=config.model,
        fallback_model=config.fallback_model,
        sampling=config.sampling,
        weight=weight,
        stage=stage,
    )


def _voting(panel: PanelSnapshot) -> Voting:
    cascade = panel.cascade
    return Voting(
        rule=panel.rule,
        repeats=panel.repeats_by_stage,
        quorum=panel.quorum,
        escalate_on=cascade.escalate_on if cascade else None,
        min_confidence=cascade.min_confidence if cascade else None,
    )


def usual_name(definition: JudgeDefinition) -> str:
    """What a judge is called that nobody named: "gpt-5-mini, criterion by criterion", "a + b, all at once".

    Stages of a cascade are told by an arrow, repeats by a times sign.
    """
    repeats = definition.voting.repeats if definition.voting else (1,)
    stages = []
    for stage, times in enumerate(repeats):
        names = " + ".join(member.name for member in definition.members if member.stage == stage)
        stages.append(names if times == 1 else f"{names} × {times}")
    known = WAYS.get(definition.autograder)
    way = known.name if known else definition.autograder
    if definition.reply_format != "json":
        way += ", in prose"
    who = " → ".join(stages)
    room = NAME_MAX - len(way) - 2
    return f"{who if len(who) <= room else who[: room - 1] + '…'}, {way}"


def asks_offline(definition: JudgeDefinition) -> bool:
    """Whether the offline judge is asked, which compares words and reads no instructions."""
    return any(member.address == endpoints.OFFLINE for member in definition.members)


def grader(autograder: str, reply_format: str, normalize: bool) -> PromptedAutograder:
    """The autograder of that name, to see that it can be asked so. Raises Invalid."""
    if autograder not in AUTOGRADERS:
        raise Invalid(f"{autograder!r} is not an autograder. Known: {', '.join(AUTOGRADERS)}.")
    try:
        return AUTOGRADERS[autograder](reply_format=cast(ReplyFormat, reply_format), normalize=normalize)
    except ValueError as error:
        raise Invalid(str(error)) from error


# ── Ready for a run ──────────────────────────────────────────────────────────────────────────────


def resolved(team: Team, definition: JudgeDefinition) -> tuple[JudgeSnapshot, PanelSnapshot | None]:
    """What a run keeps as its judge and its panel: with the addresses, limits and prices of today.

    Raises Conflict for a member whose endpoint is no more, is archived, or answers elsewhere.
    """
    known = endpoints.judges_of(team)
    judges = [_snapshot(team, member, known) for member in definition.members]
    if definition.voting is None:
        return judges[0], None
    voting = definition.voting
    stages = len(voting.repeats)
    panel = PanelSnapshot(
        members=tuple(
            MemberSnapshot(member.name, member.weight, member.stage, judge)
            for member, judge in zip(definition.members, judges, strict=True)
        ),
        rule=voting.rule,
        repeats=voting.repeats[0],
        quorum=voting.quorum,
        cascade=CascadeSnapshot(voting.repeats, voting.escalate_on, voting.min_confidence)
        if stages > 1
        else None,
    )
    return panel.as_judge(), panel


def _snapshot(team: Team, member: JudgeMember, known: dict[str, JudgeConfig]) -> JudgeSnapshot:
    there = {judge_id: config for judge_id, config in known.items() if config.answered_by == member.address}
    named = [judge_id for judge_id, config in there.items() if config.name == member.endpoint]
    judge_id = next(iter(named or there), None)
    if judge_id is None:
        raise Conflict(_gone(team, member))
    config = prices.for_model(team, there[judge_id], member.model)
    config = replace(
        config, name=member.endpoint, fallback_model=member.fallback_model, sampling=member.sampling
    )
    return JudgeSnapshot.of(judge_id, prices.priced(team, {"": config})[""])


def _gone(team: Team, member: JudgeMember) -> str:
    """Why nobody answers for a member any more, and what would help."""
    archived = JudgeEndpoint.objects.filter(unarchived(archived=True), team=team, removed_at=None)
    for endpoint in archived:
        if endpoint.base_url.rstrip("/") == member.address:
            return f"The endpoint {endpoint} that {member.name} is asked at is archived: restore it first."
    host = urlsplit(member.address).netloc or member.address
    return (
        f"{member.name} is asked at {host} ({member.endpoint}), which is none of the team's models any more. "
        "Add it again, or make a version of the judge that asks another."
    )
