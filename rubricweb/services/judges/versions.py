"""Judges and their versions: found or made when one is picked, kept by a person, read from a file."""

import re
from collections.abc import Iterator
from itertools import count

from django.db import transaction
from django.utils.text import slugify

from rubricweb import access
from rubricweb.engine.autograders.panels.by_vote import WrongSetting
from rubricweb.engine.autograders.prompted import VerdictAutograder
from rubricweb.engine.errors import Fault
from rubricweb.engine.judging.definition import JudgeDefinition, faults_of_definition
from rubricweb.errors import Conflict, Invalid, NotFound
from rubricweb.models import PEOPLES, Judge, JudgeVersion, Team, User, VersionOrigin, unarchived
from rubricweb.selectors.runs.graders import vote_grader
from rubricweb.services.judges.definitions import NAME_MAX, grader, resolved, usual_name
from rubricweb.services.shared.journal import record
from rubricweb.services.shared.names import saved_unless_taken

RESERVED = frozenset({"offline", "environment", "none", "panel", "imported", "new"})
"""Words that name a judge otherwise, which no slug is; nor is "endpoint-3"."""

NOTE_MAX = 2_000
TAKEN = "The team already has a judge called {!r}; choose another name."


def version_picked(
    team: Team, definition: JudgeDefinition, *, by: User | None, parent: JudgeVersion | None = None
) -> JudgeVersion:
    """The version that asks just so, made where there is none; within the caller's transaction. `parent` is
    the version of another judge that a new judge is made of.

    One that was picked before is taken before one that a person named. A new one is the next version of the
    judge of its usual name, or its first.
    """
    digest = definition.digest
    if (known := _that_asks(team, digest)) is not None:
        return known
    _hold(team)
    if (known := _that_asks(team, digest)) is not None:  # made while this waited for the team
        return known
    name = usual_name(definition)
    judge = Judge.objects.filter(
        unarchived(), team=team, name__iexact=name, versions__number=1, versions__origin__in=_UNNAMED
    ).first()
    if judge is None:
        judge = Judge.objects.create(
            team=team, name=_free_name(team, name), slug=_free_slug(team, name), created_by=by
        )
    return _next(judge, definition, by=by, origin=VersionOrigin.PICKED, parent=judge.current or parent)


_UNNAMED = tuple(set(VersionOrigin) - set(PEOPLES))


def _that_asks(team: Team, digest: str) -> JudgeVersion | None:
    versions = JudgeVersion.objects.filter(unarchived("judge__"), judge__team=team, digest=digest)
    found = sorted(versions.select_related("judge"), key=lambda one: (one.is_named, one.pk))
    return found[0] if found else None


@transaction.atomic
def create_judge(
    team: Team,
    definition: JudgeDefinition,
    *,
    by: User,
    name: str,
    slug: str = "",
    note: str = "",
    parent: JudgeVersion | None = None,
    origin: VersionOrigin = VersionOrigin.KEPT,
) -> JudgeVersion:
    """A judge with a name of its own, and its first version. `parent` is the version it was made from.

    Raises Invalid for a name, slug or definition that cannot be, each with its place; Conflict for a name or
    slug that is taken.
    """
    require_valid(team, definition)
    name, note = _checked_name(name), _checked_note(note)
    _hold(team)
    slug = _checked_slug(slug) if slug else _free_slug(team, name)
    if Judge.objects.filter(unarchived(), team=team, name__iexact=name).exists():
        raise Conflict(TAKEN.format(name))
    with saved_unless_taken(f"The team already has a judge with the slug {slug!r}; choose another."):
        judge = Judge.objects.create(team=team, name=name, slug=slug, note=note, created_by=by)
    record(team, by, "created", judge)
    return _next(judge, definition, by=by, origin=origin, parent=parent)


@transaction.atomic
def keep_version(
    judge: Judge,
    definition: JudgeDefinition,
    *,
    by: User,
    parent: JudgeVersion,
    note: str = "",
    origin: VersionOrigin = VersionOrigin.KEPT,
) -> JudgeVersion:
    """The next version of a judge, and its current one. `parent` is what the person began with.

    Raises Conflict, naming it, where somebody else kept another version from it meanwhile, and where the
    definition is that of an earlier version: that can be made the current one again. Invalid as
    `create_judge`.
    """
    require_valid(judge.team, definition)
    note = _checked_note(note)
    _hold(judge.team)
    judge = _locked(judge)
    newest = judge.versions.order_by("-number").first()
    if newest is not None and newest.pk != parent.pk and judge.current_id != parent.pk:
        who = newest.created_by or "Somebody"
        raise Conflict(f"{who} kept {newest} meanwhile. Look at what it changed, then keep yours after it.")
    same = judge.versions.filter(digest=definition.digest).first()
    if same is not None:
        raise Conflict(f"{same} asks just so. Make it the current version instead.")
    version = _next(judge, definition, by=by, origin=origin, parent=parent, note=note)
    record(judge.team, by, "kept a version of", judge, version=version.number)
    return version


@transaction.atomic
def make_current(version: JudgeVersion, *, by: User) -> None:
    """Goes back, or forward, to this version: what is meant where no version is named."""
    judge = _locked(version.judge)
    access.require_changeable(judge.team)
    if judge.current_id == version.pk:
        return
    before = judge.current.number if judge.current else None
    judge.current = version
    judge.save(update_fields=["current"])
    record(judge.team, by, "made current", judge, version=version.number, before=before)


@transaction.atomic
def change_judge(
    judge: Judge, *, by: User, name: str | None = None, slug: str | None = None, note: str | None = None
) -> None:
    """Another name, slug or note; None leaves one as it is. Raises as `create_judge`."""
    locked = _locked(judge)
    access.require_changeable(locked.team)
    before = locked.name
    if name is not None:
        locked.name = _checked_name(name)
    if slug is not None:
        locked.slug = _checked_slug(slug)
    if note is not None:
        locked.note = _checked_note(note)
    same = Judge.objects.filter(unarchived(), team=locked.team_id, name__iexact=locked.name)
    if same.exclude(pk=locked.pk).exists():
        raise Conflict(TAKEN.format(locked.name))
    with saved_unless_taken(f"The team already has a judge with the slug {locked.slug!r}; choose another."):
        locked.save(update_fields=["name", "slug", "note"])
    if locked.name != before:
        record(locked.team, by, "renamed", locked, before=before)
    judge.refresh_from_db()


def version_called(team: Team, words: str) -> JudgeVersion | None:
    """`support-judge@v3`, or `support-judge` for its current version; None for words of another kind.

    Raises NotFound for a slug or number that is not there, Conflict for a judge that is archived.
    """
    slug, at, label = words.strip().partition("@")
    if slug in RESERVED or not slug or re.fullmatch(r"endpoint-\d+", slug):
        return None
    judge = Judge.objects.filter(team=team, slug=slug).select_related("current").first()
    if judge is None:
        if at:
            raise NotFound(f"judge {words!r}")
        return None
    if judge.archived_at is not None:
        raise Conflict(f"The judge {judge} is archived: restore it first, or choose another.")
    if not at:
        version = judge.current
    elif re.fullmatch(r"v[1-9]\d{0,8}", label):
        version = judge.versions.filter(number=int(label[1:])).first()
    else:
        version = None
    if version is None:
        raise NotFound(f"version {label or 'of a judge'!r} of the judge {judge.slug}")
    version.judge = judge
    return version


def require_slug(slug: str) -> None:
    """Refuses words that are no slug of a judge. Raises Invalid with the place."""
    _checked_slug(slug)


def require_valid(team: Team, definition: JudgeDefinition) -> None:
    """Refuses what nobody can be asked by. Raises Invalid with the place of each fault, Conflict for an
    endpoint that is no more.
    """
    if faults := [*faults_of_definition(definition)]:
        raise Invalid("; ".join(map(str, faults)), faults)
    asking = grader(definition.autograder, definition.reply_format, True)
    _, panel = resolved(team, definition)
    if panel is not None:
        if not isinstance(asking, VerdictAutograder):
            raise Invalid.at("autograder", definition.autograder, "a way that asks about every criterion")
        try:
            vote_grader(panel, lambda member: asking)
        except WrongSetting as error:
            fault = Fault(f"voting.{error.place}", error.found, error.allowed)
            raise Invalid(str(fault), [fault]) from error
        except (ValueError, TypeError) as error:
            raise Invalid(str(error), [Fault("voting", "these settings", str(error))]) from error


# ── Rows ─────────────────────────────────────────────────────────────────────────────────────────


def _hold(team: Team) -> None:
    """Until the transaction ends nobody else makes a judge or a version in this team."""
    held = Team.objects.select_for_update(no_key=True).get(pk=team.pk)
    access.require_changeable(held)


def _locked(judge: Judge) -> Judge:
    found = Judge.objects.select_for_update(of=("self",), no_key=True).filter(pk=judge.pk)
    locked = found.select_related("team").first()
    if locked is None:
        raise NotFound("judge")
    return locked


def _next(
    judge: Judge,
    definition: JudgeDefinition,
    *,
    by: User | None,
    origin: VersionOrigin,
    parent: JudgeVersion | None,
    note: str = "",
) -> JudgeVersion:
    last = judge.versions.order_by("-number").values_list("number", flat=True).first() or 0
    version = JudgeVersion.objects.create(
        judge=judge,
        number=last + 1,
        definition=definition,
        digest=definition.digest,
        words_digest=definition.words_digest,
        parent=parent,
        origin=origin,
        note=note,
        created_by=by,
    )
    judge.current = version
    judge.save(update_fields=["current"])
    return version


# ── Words ────────────────────────────────────────────────────────────────────────────────────────


def _checked_name(name: str) -> str:
    name = " ".join(name.split())
    if not 1 <= len(name) <= NAME_MAX:
        found = f"{len(name)} characters" if name else "nothing"
        raise Invalid.at("name", found, f"1 to {NAME_MAX} characters")
    return name


def _checked_note(note: str) -> str:
    note = note.strip()
    if len(note) > NOTE_MAX:
        raise Invalid.at("note", f"{len(note):,} characters", f"up to {NOTE_MAX:,}")
    return note


def _checked_slug(slug: str) -> str:
    if _is_reserved(slug):
        raise Invalid.at("slug", repr(slug), "a word that names no other judge, such as support-judge")
    if not re.fullmatch(r"[a-z0-9]+(?:[-_][a-z0-9]+)*", slug) or len(slug) > NAME_MAX:
        raise Invalid.at("slug", repr(slug[:60]), "small letters, digits and single hyphens: support-judge")
    return slug


def _is_reserved(slug: str) -> bool:
    return slug in RESERVED or re.fullmatch(r"endpoint-\d+", slug) is not None


def _free_name(team: Team, name: str) -> str:
    taken = {
        one.lower() for one in Judge.objects.filter(unarchived(), team=team).values_list("name", flat=True)
    }
    return next(one for one in _numbered(name, " ({})") if one.lower() not in taken)


def _free_slug(team: Team, name: str) -> str:
    taken = set(Judge.objects.filter(team=team).values_list("slug", flat=True))
    # A dot or a colon between figures is no letter: qwen2.5:0.5b would else become qwen2505b.
    slug = slugify(re.sub(r"[.:/]", "-", name))[:NAME_MAX].strip("-_") or "judge"
    return next(one for one in _numbered(slug, "-{}") if one not in taken and not _is_reserved(one))


def _numbered(word: str, form: str) -> Iterator[str]:
    """word, word-2, word-3 and so on, each short enough."""
    yield word
    for number in count(2):
        tail = form.format(number)
        yield f"{word[: NAME_MAX - len(tail)]}{tail}"
