"""Definitions of judges from outside: of a request's body or a file, with the endpoints of the team."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from rubricweb.engine.errors import Fault, shown
from rubricweb.engine.errors import Invalid as EngineInvalid
from rubricweb.engine.judging.changes import DefinitionChange, definition_changes
from rubricweb.engine.judging.definition import JudgeDefinition, faults_of_definition
from rubricweb.engine.judging.files import read_judge, write_judge
from rubricweb.engine.judging.reading import read_definition
from rubricweb.errors import Conflict, Invalid
from rubricweb.models import Judge, JudgeVersion, Team, User, VersionOrigin
from rubricweb.selectors.judges import require_judge_visible
from rubricweb.services.endpoints import endpoints
from rubricweb.services.judges import versions


def definition_from(team: Team, told: Any, *, place: str = "") -> JudgeDefinition:
    """The definition that plain data say. A member's `address` may be left out where `endpoint` names one of
    the team's models, and its `name` and `model` are then that one's too.

    Raises Invalid with every fault, each below `place`, for what no judge can be.
    """
    told, faults = _at_endpoints(team, told)
    try:
        read = read_definition(told)
        faults += faults_of_definition(read)
    except EngineInvalid as error:
        faults += error.faults
    if faults:
        raise Invalid("; ".join(map(str, faults)), _below(place, faults))
    return read


def changed_definition(
    team: Team, base: JudgeVersion, changes: Mapping[str, Any], *, place: str = ""
) -> JudgeDefinition:
    """The definition of `base` after a JSON Merge Patch (RFC 7396): null puts a default back, objects are
    merged, and all else is replaced, lists too. Raises as `definition_from`.
    """
    return definition_from(team, _merged(base.definition.model_dump(mode="json"), changes), place=place)


def _merged(target: Any, patch: Any) -> Any:
    if not isinstance(patch, Mapping):
        return patch
    merged = dict(target) if isinstance(target, Mapping) else {}
    for name, value in patch.items():
        if value is None:
            merged.pop(name, None)
        else:
            merged[name] = _merged(merged.get(name), value)
    return merged


def _at_endpoints(team: Team, told: Any) -> tuple[Any, list[Fault]]:
    """With the addresses of members that name an endpoint alone; and what names none."""
    members = told.get("members") if isinstance(told, Mapping) else None
    if not isinstance(members, list):
        return told, []
    known = endpoints.judges_of(team)
    faults, filled = [], []
    for i, member in enumerate(members):
        if isinstance(member, Mapping):
            member = {"name": member.get("endpoint"), **member}
            named = member.get("endpoint")
            found = [config for judge_id, config in known.items() if named in (config.name, judge_id)]
            if "address" in member:
                # That an archived one cannot be asked is said by name, with what would help: see `resolved`.
                answering = (*known.values(), *endpoints.archived_judges(team).values())
                here = [one for one in answering if one.answered_by == member["address"]]
                if isinstance(member["address"], str) and not here:
                    allowed = "the address of one of the team's models, or no address for that of endpoint"
                    faults.append(Fault(f"members[{i}].address", shown(member["address"]), allowed))
            elif found:
                config = found[0]
                member = {"address": config.answered_by, "model": config.model} | member
                member["endpoint"] = config.name
            elif isinstance(named, str):
                names = ", ".join(config.name for config in known.values()) or "none yet"
                faults.append(Fault(f"members[{i}].endpoint", shown(named), f"a model of the team: {names}"))
                member = {"address": "", "model": ""} | member  # so that what else is wrong is told too
        filled.append(member)
    return {**told, "members": filled}, faults


def _below(place: str, faults: Any) -> list[Fault]:
    if not place:
        return list(faults)
    return [Fault(f"{place}.{one.place}".rstrip("."), one.found, one.allowed) for one in faults]


# ── Files ────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class JudgePlan:
    """What a file would bring: the next version of `judge`, after `parent`, or a new judge where it is None.

    `same` is the version that asks just so already. `renamed` and `noted` are another name and note of the
    judge, None where they stay.
    """

    judge: Judge | None
    parent: JudgeVersion | None
    same: JudgeVersion | None
    slug: str
    name: str
    note: str
    definition: JudgeDefinition
    changes: tuple[DefinitionChange, ...]
    renamed: str | None
    noted: str | None

    @property
    def is_no_change(self) -> bool:
        return self.same is not None and self.renamed is None and self.noted is None


def judge_file(version: JudgeVersion, *, viewer: User, shipped: bool = False) -> str:
    """A version as a file. Raises Withheld for a person who must not see its examples."""
    judge = version.judge
    require_judge_visible(judge, viewer)
    return write_judge(
        version.definition,
        slug=judge.slug,
        name=judge.name,
        note=judge.note,
        version=version.number,
        shipped=shipped,
    )


def plan_file(team: Team, data: bytes, *, by: User, after: int | None = None) -> JudgePlan:
    """What a file would bring, refused where storing it would be, but for what others do meanwhile.

    It is the next version of the judge with its slug, made from the version that `after` or the file names,
    else from the current one. Raises Invalid with every fault, Withheld for what this person must not see.
    """
    try:
        told = read_judge(data)
    except EngineInvalid as error:
        raise Invalid(str(error), error.faults) from error
    definition = definition_from(team, told.definition)
    versions.require_valid(team, definition)
    judge = Judge.objects.filter(team=team, slug=told.slug).select_related("team", "current").first()
    if judge is None or not told.slug:
        if told.slug:
            versions.require_slug(told.slug)
        name = told.name or told.slug
        return JudgePlan(
            None, None, None, told.slug, name, told.note or "", definition, (), renamed=None, noted=None
        )
    if judge.archived_at is not None:
        raise Conflict(f"The judge {judge} is archived: restore it first, or name another in the file.")
    require_judge_visible(judge, by)
    parent = _parent(judge, told.version, after)
    return JudgePlan(
        judge,
        parent,
        judge.versions.select_related("judge").filter(digest=definition.digest).first(),
        judge.slug,
        told.name or judge.name,
        judge.note if told.note is None else told.note,
        definition,
        definition_changes(parent.definition, definition),
        renamed=told.name if told.name and told.name != judge.name else None,
        noted=told.note.strip() if told.note is not None and told.note.strip() != judge.note else None,
    )


def _parent(judge: Judge, said: int | None, after: int | None) -> JudgeVersion:
    found = None
    number = said if after is None else after
    if number is not None:
        found = judge.versions.filter(number=number).first() if number < 2**31 else None
        if found is None and after is not None:
            raise Invalid.at("after", f"v{after}", f"a version of {judge.slug}")
    found = found or judge.current or judge.versions.order_by("-number").first()
    if found is None:
        raise Conflict(f"The judge {judge} has no version to compare with.")
    found.judge = judge
    return found


@transaction.atomic
def store_file(plan: JudgePlan, team: Team, *, by: User, note: str = "") -> JudgeVersion:
    """Makes the judge or its next version, with the name and note of the file. Of what asks just so already
    no version is made. Raises as `create_judge` and `keep_version`.
    """
    if plan.judge is None or plan.parent is None:
        return versions.create_judge(
            team,
            plan.definition,
            by=by,
            name=plan.name,
            slug=plan.slug,
            note=plan.note,
            origin=VersionOrigin.FILE,
        )
    if plan.renamed is not None or plan.noted is not None:
        versions.change_judge(plan.judge, by=by, name=plan.renamed, note=plan.noted)
    if plan.same is not None:
        return plan.same
    return versions.keep_version(
        plan.judge, plan.definition, by=by, parent=plan.parent, note=note, origin=VersionOrigin.FILE
    )
