"""Versions of judges as members of a panel: each is the one model that it asks, told its own words."""

from collections.abc import Sequence

from rubricweb.engine.autograders.instructions import JudgeWording
from rubricweb.engine.judging.definition import JudgeDefinition, JudgeExample
from rubricweb.errors import Invalid
from rubricweb.models import JudgeSnapshot, JudgeVersion, User
from rubricweb.selectors.judges import require_judge_visible
from rubricweb.services.judges.definitions import resolved

Versions = Sequence[JudgeVersion | None]
"""The version that each member of a panel was named by; None for a model by its own name."""


def asked_alone(version: JudgeVersion, *, place: str, viewer: User | None) -> JudgeSnapshot:
    """The one model that a version asks, as things are today.

    Raises Invalid at `place` for a version that casts several votes itself; Withheld for one of a judge whose
    examples and history this viewer must not know, for they would be another judge's; Conflict as `resolved`.
    """
    if viewer is not None:
        require_judge_visible(version.judge, viewer)
    if len(version.definition.members) > 1 or version.definition.voting is not None:
        raise Invalid.at(
            place,
            f"{version}, which casts several votes itself",
            "a model, or a version that asks one model once; or that version alone, asked once",
        )
    return resolved(version.judge.team, version.definition)[0]


def shared_way(versions: Versions) -> tuple[str, str]:
    """The way of asking, autograder and reply format, that these versions share; "" twice without any.

    Raises Invalid, with its place in the panel, where two ask otherwise.
    """
    first, shared = None, ("", "")
    for i, version in enumerate(versions):
        if version is None:
            continue
        way = version.definition.autograder, version.definition.reply_format
        if first is not None and way != shared:
            found = f"{version}, which asks {' in '.join(way)}"
            allowed = f"{' in '.join(shared)}, as {first} asks"
            raise Invalid.at(f"panel.members[{i}].judge", found, allowed)
        first, shared = version, way
    return shared


def shared_examples(versions: Versions) -> tuple[JudgeExample, ...]:
    """What these members are all shown. Raises Invalid, with its place in the panel, where some are not."""
    shown = [version.definition.examples if version else () for version in versions]
    for i, examples in enumerate(shown):
        if examples != shown[0]:
            odd = i if examples else 0
            raise Invalid.at(
                f"panel.members[{odd}].judge",
                f"{versions[odd]}, which is shown examples that not all members are",
                "versions with the same examples, or without any",
            )
    return shown[0] if shown else ()


def made_of(versions: Versions) -> JudgeVersion | None:
    """The version that a panel of these is noted to be made of: one of a judge that has examples, if there is
    one, so that who must not know that judge does not read its words in another.
    """
    named = [version for version in versions if version is not None]
    judges = [version.judge_id for version in named]
    shows = JudgeVersion.objects.filter(judge__in=judges, definition__examples__0__isnull=False)
    shown = set(shows.values_list("judge_id", flat=True)) if named else set()
    return next((version for version in named if version.judge_id in shown), next(iter(named), None))


def in_their_words(definition: JudgeDefinition, versions: Versions) -> JudgeDefinition:
    """The definition of a panel, its members told what these versions are told."""
    told = [version.definition if version else None for version in versions]
    words = [(one.members[0].wording or one.wording) if one else JudgeWording() for one in told]
    if all(one == words[0] for one in words):
        return definition.model_copy(update={"wording": words[0]})
    members = [
        member.model_copy(update={"wording": None if one == JudgeWording() else one})
        for member, one in zip(definition.members, words, strict=True)
    ]
    return definition.model_copy(update={"members": tuple(members)})
