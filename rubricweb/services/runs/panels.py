"""Panels and cascades of a run: asked for by name, checked, frozen into the run's row, made ready to ask."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from django.conf import settings

from rubricweb.engine.autograders import PromptedAutograder
from rubricweb.engine.autograders.panels.cascade import CONDITIONS
from rubricweb.engine.autograders.prompted import VerdictAutograder
from rubricweb.engine.errors import Fault
from rubricweb.engine.judging.definition import faults_of_members
from rubricweb.errors import Conflict, Invalid
from rubricweb.judges.base import JudgeConfig
from rubricweb.models import (
    CascadeSnapshot,
    JudgeEndpoint,
    JudgeSnapshot,
    JudgeVersion,
    MemberSnapshot,
    PanelSnapshot,
    Run,
    Team,
    User,
)
from rubricweb.selectors.runs.graders import vote_grader
from rubricweb.services.endpoints import endpoints
from rubricweb.services.judges.as_members import asked_alone
from rubricweb.services.judges.versions import version_called


@dataclass(frozen=True)
class PanelMember:
    """One judge of a panel, by the id `endpoints.judges_of` gives it.

    `stage` counts from 0: members of stage 1 are asked where stage 0 escalates. `name` is what its votes
    carry, by default the judge's own, told apart by a number where two are alike. `config` overrides what
    `judge_id` stands for; `version` is what of a judge was named: see `with_versions`.
    """

    judge_id: str
    weight: float = 1.0
    stage: int = 0
    name: str = ""
    config: JudgeConfig | None = field(default=None, compare=False)
    version: JudgeVersion | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Panel:
    """Who votes and how it is settled; members in several stages make a cascade.

    `rule` as in `engine.autograders.PanelGrader`; `repeats` is how often each member is asked, one number or
    one per stage. `escalate_on` and `min_confidence` are those of `CascadeGrader`.
    """

    members: Sequence[PanelMember]
    rule: str | Mapping[str, str] | None = None
    repeats: int | Sequence[int] = 1
    quorum: float = 0.0
    escalate_on: Sequence[str] | None = None
    min_confidence: float | None = None

    @property
    def versions(self) -> list[JudgeVersion | None]:
        """The version that each member was named by."""
        return [member.version for member in self.members]


def with_versions(team: Team, panel: Panel, *, viewer: User | None) -> Panel:
    """The panel, each version of a judge that `judge_id` names as the one model that it asks.

    Raises as `version_called` and `asked_alone`.
    """
    members = []
    for i, member in enumerate(panel.members):
        version = None if member.config else version_called(team, member.judge_id)
        if version is not None:
            judge = asked_alone(version, place=f"panel.members[{i}].judge", viewer=viewer)
            member = replace(member, judge_id=judge.id, config=judge.config, version=version)
        members.append(member)
    return replace(panel, members=members)


def snapshot(team: Team, panel: Panel, grader: PromptedAutograder) -> PanelSnapshot:
    """The panel as `Run.panel` keeps it, judges without keys.

    Every member asks as `grader` does. Raises Invalid with the place of each fault.
    """
    if not isinstance(grader, VerdictAutograder):
        raise Invalid.at(
            "autograder",
            type(grader).__name__,
            "per_criterion or one_shot: a panel votes on every criterion",
        )
    _check_members(panel)
    stages = 1 + max(member.stage for member in panel.members)
    repeats = _repeats(panel.repeats, stages)
    configs = _configs(team, panel.members)
    names = _names(panel.members, configs)
    cascade = None
    if stages > 1:
        conditions = None if panel.escalate_on is None else tuple(panel.escalate_on)
        cascade = CascadeSnapshot(tuple(repeats), conditions, panel.min_confidence)
    elif panel.escalate_on is not None or panel.min_confidence is not None:
        raise Invalid.at(
            "panel.escalate_on",
            "conditions in a panel of one stage",
            "conditions where members have stages 0, 1, …",
        )
    frozen = PanelSnapshot(
        members=tuple(
            MemberSnapshot(name, member.weight, member.stage, JudgeSnapshot.of(member.judge_id, config))
            for member, config, name in zip(panel.members, configs, names, strict=True)
        ),
        rule=panel.rule if panel.rule is None or isinstance(panel.rule, str) else dict(panel.rule),
        repeats=repeats[0],
        quorum=panel.quorum,
        cascade=cascade,
    )
    try:
        vote_grader(frozen, lambda member: grader)
    except (ValueError, TypeError) as error:
        raise Invalid(str(error), [Fault("panel", "these settings", str(error))]) from error
    return frozen


def judges_of(run: Run) -> dict[str, JudgeConfig]:
    """The judges a run asks, by the name its votes carry, ready to be called; none for checks alone.

    Raises Conflict when one of them cannot be used: it was removed or moved, or cannot be asked from here.
    """
    if run.panel is None:
        return {} if not run.asked_judges else {run.judge.name: endpoints.loaded(run)}
    ids = {member.name: endpoints.endpoint_of(member.judge.id) for member in run.panel.members}
    rows = JudgeEndpoint.objects.filter(team_id=run.team_id).in_bulk([pk for pk in ids.values() if pk])
    judges = {}
    for member in run.panel.members:
        pk = ids[member.name]
        if pk is not None and pk not in rows:
            raise Conflict(f"The judge {member.name!r} was removed since the run started. Start a new run.")
        judges[member.name] = endpoints.ready(member.judge, rows.get(pk) if pk else None)
    return judges


def frozen_judges(run: Run) -> dict[str, JudgeConfig]:
    """The judges that the run asks, by the name their votes carry, without their keys."""
    frozen = (
        [(one.name, one.judge) for one in run.panel.members] if run.panel else [(run.judge.name, run.judge)]
    )
    return {name: judge.config for name, judge in frozen if judge.config is not None}


def require_judges(run: Run) -> None:
    """Raises Conflict when a judge of the run can be asked no more, or is archived.

    Nothing is said of a run that others may ask, though not this process.
    """
    endpoints.require_unarchived(run.team, (judge.id for judge in run.asked_judges))
    if can_ask_from_here(run):
        judges_of(run)


def can_ask_from_here(run: Run) -> bool:
    """False where the run asks the offline judge and this process does not know where that answers.

    Those know it that `rubricweb serve` starts, and whoever has OFFLINE_JUDGE_URL set.
    """
    return bool(settings.OFFLINE_JUDGE_URL) or not asks_offline(run)


def asks_offline(run: Run) -> bool:
    """Whether the offline judge is among those the run asks."""
    return any(judge.id == endpoints.OFFLINE for judge in run.asked_judges)


def _check_members(panel: Panel) -> None:
    faults = [*faults_of_members(panel.members, "panel.members")]
    for i, condition in enumerate(panel.escalate_on or ()):
        if condition not in CONDITIONS:
            faults.append(Fault(f"panel.escalate_on[{i}]", repr(condition), ", ".join(CONDITIONS)))
    if faults:
        raise Invalid("; ".join(map(str, faults)), faults)


def _repeats(repeats: int | Sequence[int], stages: int) -> list[int]:
    if isinstance(repeats, int):
        return [repeats] * stages
    if len(repeats) == 1:
        return list(repeats) * stages
    if len(repeats) != stages:
        raise Invalid.at(
            "panel.repeats", f"{len(repeats)} numbers", f"one number, or one for each of {stages} stages"
        )
    return list(repeats)


def _configs(team: Team, members: Sequence[PanelMember]) -> list[JudgeConfig]:
    configs: list[JudgeConfig] = []
    faults: list[Fault] = []
    for i, member in enumerate(members):
        try:
            configs.append(member.config or endpoints.choose_judge(team, member.judge_id))
        except Invalid:
            known = ", ".join(endpoints.judges_of(team)) or "none"
            faults.append(Fault(f"panel.members[{i}].judge", repr(member.judge_id), f"one of {known}"))
    if faults:
        raise Invalid("; ".join(map(str, faults)), faults)
    return configs


def _names(members: Sequence[PanelMember], configs: Sequence[JudgeConfig]) -> list[str]:
    """Every member's name, the second of two alike as "name (2)"."""
    names: list[str] = []
    for i, (member, config) in enumerate(zip(members, configs, strict=True)):
        named = member.name.strip() or (str(member.version) if member.version else config.name.strip())
        wanted = (named or f"judge {i + 1}")[:190]
        name, number = wanted, 1
        while name in names:
            if member.name.strip():
                raise Invalid.at(
                    f"panel.members[{i}].name", f"{wanted!r} again", "a name no other member has"
                )
            number += 1
            name = f"{wanted} ({number})"
        names.append(name)
    return names
