"""What the launch form offers to grade by: models, and versions of judges."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from rubricweb.engine.judging.definition import JudgeDefinition
from rubricweb.errors import Conflict, NotFound
from rubricweb.judges.base import JudgeConfig
from rubricweb.models import PEOPLES, Judge, JudgeVersion, Team, User, asked_judges, unarchived
from rubricweb.selectors.judges import withheld_judges
from rubricweb.services.endpoints import endpoints
from rubricweb.services.judges.definitions import asks_offline, resolved, usual_name
from rubricweb.services.judges.versions import version_called
from rubricweb.templatetags.display import usd


def offered_versions(team: Team, asked: str, viewer: User) -> dict[str, JudgeVersion]:
    """The current version of each judge that people made something of, and the one that is `asked` for, by
    what a run names it: support-judge@v3. An earlier one of a judge whose history the viewer must not know
    is not offered.
    """
    judges = Judge.objects.filter(unarchived(), team=team, versions__origin__in=PEOPLES).distinct()
    found = []
    for judge in judges.select_related("current", "team").order_by("name"):
        if judge.current is not None:
            judge.current.judge = judge
            found.append(judge.current)
    try:
        named = version_called(team, asked.replace("\0", ""))
    except (Conflict, NotFound):
        named = None
    offered = [*([named] if named else []), *found]
    withheld = withheld_judges(team, viewer)
    return {
        str(version): version
        for version in offered
        if version.judge.current_id == version.pk or version.judge_id not in withheld
    }


def judge_choices(
    models: Mapping[str, JudgeConfig], versions: Mapping[str, JudgeVersion]
) -> list[tuple[str, Any]]:
    """What a run may be graded by, as a form offers it: models first, then versions of judges."""
    asked_as_they_are = [(judge_id, config.name) for judge_id, config in models.items()]
    if not versions:
        return [*asked_as_they_are]
    ours = [(words, f"{version.judge.name} · {words}") for words, version in versions.items()]
    return [("Models", asked_as_they_are), ("Judges", ours)]


def judge_line(chosen: str, models: Mapping[str, JudgeConfig], versions: Mapping[str, JudgeVersion]) -> str:
    """Whom the chosen one asks, how and at what price, in a line; "" for what is not offered."""
    if (version := versions.get(chosen)) is not None:
        return _about_version(version)
    return _about(chosen, models[chosen]) if chosen in models else ""


def _about_version(version: JudgeVersion) -> str:
    """Whom it asks and how, in a line."""
    definition = version.definition
    about = usual_name(definition)
    if not definition.wording.is_shipped or any(member.wording for member in definition.members):
        about += "; with words of its own"
    if asks_offline(definition):
        about += f". {endpoints.OFFLINE_ABOUT} It reads no instructions."
    return about


def _about(judge_id: str, config: JudgeConfig) -> str:
    if judge_id == endpoints.OFFLINE:
        return endpoints.OFFLINE_ABOUT
    prices = (config.input_usd_per_million, config.output_usd_per_million)
    price = (
        "price unknown" if None in prices else f"{usd(prices[0])} in, {usd(prices[1])} out per million tokens"
    )
    return f"{config.model} at {urlsplit(config.base_url).hostname} · {price}"


def votes_of(definition: JudgeDefinition) -> tuple[int, ...]:
    """How many votes each of its stages casts."""
    repeats = definition.voting.repeats if definition.voting else (1,)
    members = [member.stage for member in definition.members]
    return tuple(members.count(stage) * times for stage, times in enumerate(repeats))


def votes_once(version: JudgeVersion) -> bool:
    """Whether it asks one model once, as a member of a panel does."""
    return len(version.definition.members) == 1 and version.definition.voting is None


def config_of(version: JudgeVersion) -> JudgeConfig | None:
    """Whom it asks first, as things are today; None where that one is no more."""
    try:
        judge, panel = resolved(version.judge.team, version.definition)
    except Conflict:
        return None
    return asked_judges(judge, panel)[0].config


def named_by(version: JudgeVersion | None) -> str:
    """What a run of this version is started with again; "" for one that models and a way of asking are."""
    return str(version) if version is not None and (version.is_named or version.words_digest) else ""
