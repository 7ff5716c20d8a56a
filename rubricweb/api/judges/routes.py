"""Operations about judges and their versions: what a team grades with, and what changed in it."""

from typing import Any

from django.db import transaction
from django.utils import timezone
from ninja import Query

from rubricweb import access
from rubricweb.api.idempotency import IdempotencyKey, kept
from rubricweb.api.judges import schemas
from rubricweb.api.operations import Room, TokenRequest
from rubricweb.api.paging import ListQuery, leaving_out_archived
from rubricweb.api.schemas import WithFields, list_of
from rubricweb.errors import Invalid, NotFound
from rubricweb.models import Judge, JudgeVersion, Role
from rubricweb.selectors import judges as selected
from rubricweb.selectors.shared.pages import keyset_page
from rubricweb.services.judges import versions as services
from rubricweb.services.judges.files import changed_definition, definition_from
from rubricweb.services.shared import archiving

judges = Room("judges")


@judges.read("/named-judges", Role.VIEWER, list_of(schemas.NamedJudgeInList, leaves_out=True))
def list_named_judges(request: TokenRequest, asked: Query[schemas.NamedJudgeQuery]) -> Any:
    """The team's judges that have versions, by name.

    Those that somebody named, and one for each model and way of asking that was picked. What a run may name
    besides, such as a model by itself, is in `GET /judges`; the runs of a judge are `GET /runs?named_judge=`.
    """
    team = request.auth.team
    page = selected.judges(
        team, search=asked.search, archived=asked.archived, cursor=asked.cursor, size=asked.limit
    )
    withheld = selected.withheld_judges(team, request.auth.user)
    rows = [schemas.NamedJudgeInList.of(row, withheld) for row in page.rows]
    found = {"items": rows, "next_cursor": page.next_cursor}
    return found | leaving_out_archived(request, Judge, archived=asked.archived)


@judges.write("POST", "/named-judges", Role.EDITOR, schemas.NamedJudge, status=201)
def create_judge(request: TokenRequest, body: schemas.NewJudge, key: IdempotencyKey = None) -> Any:
    """Make a judge with a name of its own, and its first version.

    Refused (409) for a name or slug that is taken; a slug stays taken when its judge is archived. Sent again
    with its `Idempotency-Key`, it makes no second one and answers with the first.
    """

    def create() -> JudgeVersion:
        team, parent = request.auth.team, None
        if body.parent is not None:
            parent = access.access_judge_version(team, body.parent)
            selected.require_judge_visible(parent.judge, request.auth.user)
        return services.create_judge(
            team,
            definition_from(team, body.definition, place="definition"),
            by=request.auth.user,
            name=body.name,
            slug=body.slug,
            note=body.note,
            parent=parent,
        )

    return _in_full(request, kept(request, key, body, create).judge)


@judges.read("/named-judges/{int:judge_id}", Role.VIEWER, schemas.NamedJudge)
def get_judge(request: TokenRequest, judge_id: int) -> Any:
    """A judge with its current version in full."""
    return _in_full(request, access.access_judge(request.auth.team, judge_id))


@judges.write("PATCH", "/named-judges/{int:judge_id}", Role.EDITOR, schemas.NamedJudge)
def change_judge(request: TokenRequest, judge_id: int, body: schemas.NamedJudgeChanges) -> Any:
    """Rename a judge, change its slug or note, archive or restore it.

    Under its old slug a judge is not found any more. Archived, it is left out of lists and choosers, and new
    runs with it are refused (409); so is archiving while a run with it has not ended.
    """
    judge = access.access_judge(request.auth.team, judge_id)
    with transaction.atomic():
        if body.name is not None or body.slug is not None or body.note is not None:
            services.change_judge(judge, by=request.auth.user, name=body.name, slug=body.slug, note=body.note)
        archiving.archive_or_restore(judge, body.archived, by=request.auth.user, now=timezone.now())
    return _in_full(request, judge)


@judges.read("/named-judges/{int:judge_id}/versions", Role.VIEWER, list_of(schemas.JudgeVersionInList))
def list_judge_versions(request: TokenRequest, judge_id: int, asked: Query[ListQuery]) -> Any:
    """The versions of a judge, newest first, each with how many runs used it.

    The current one alone while what changed is withheld from you.
    """
    judge = access.access_judge(request.auth.team, judge_id)
    versions = selected.visible_versions(judge, request.auth.user)
    page = keyset_page(versions, order=("-number",), cursor=asked.cursor, size=asked.limit)
    withheld = selected.withheld_judges(request.auth.team, request.auth.user)
    seen = [selected.visible_version(row, request.auth.user, withheld=withheld) for row in page.rows]
    rows = [schemas.JudgeVersionInList.of(one) for one in seen]
    return {"items": rows, "next_cursor": page.next_cursor}


@judges.write("POST", "/named-judges/{int:judge_id}/versions", Role.EDITOR, schemas.JudgeVersion, status=201)
def keep_judge_version(
    request: TokenRequest, judge_id: int, body: schemas.NewJudgeVersion, key: IdempotencyKey = None
) -> Any:
    """Keep the next version of a judge; it becomes the current one.

    Refused (409) where somebody else kept a version meanwhile, which stays: look at what it changed, then
    send yours with that version as `parent`. So is what asks just as an earlier version does, which can be
    made the current one again. Sent again with its `Idempotency-Key`, it answers with the version it kept.
    """
    team, user = request.auth.team, request.auth.user
    judge = access.access_judge(team, judge_id)
    selected.require_judge_visible(judge, user)

    def keep() -> JudgeVersion:
        parent = judge.versions.filter(number=body.parent).first()
        if parent is None:
            raise NotFound(f"version {body.parent} of this judge")
        if (body.definition is None) == (body.changes is None):
            which = "neither" if body.definition is None else "both"
            raise Invalid.at("definition", f"{which} of definition and changes", "one of them")
        definition = (
            definition_from(team, body.definition, place="definition")
            if body.changes is None
            else changed_definition(team, parent, body.changes, place="changes")
        )
        return services.keep_version(judge, definition, by=user, parent=parent, note=body.note)

    return _version(request, kept(request, key, body, keep))


@judges.read("/judge-versions/{int:judge_version_id}", Role.VIEWER, schemas.JudgeVersion)
def get_judge_version(request: TokenRequest, judge_version_id: int) -> Any:
    """A version with its definition."""
    return _version(request, access.access_judge_version(request.auth.team, judge_version_id))


@judges.write("POST", "/judge-versions/{int:judge_version_id}/current", Role.EDITOR, schemas.NamedJudge)
def make_judge_version_current(request: TokenRequest, judge_version_id: int) -> Any:
    """Go back, or forward, to a version: it is meant where a run names the judge alone.

    No version is lost by that.
    """
    version = access.access_judge_version(request.auth.team, judge_version_id)
    selected.require_judge_visible(version.judge, request.auth.user)
    services.make_current(version, by=request.auth.user)
    return _in_full(request, version.judge)


@judges.read(
    "/judge-versions/{int:judge_version_id}/against/{int:baseline_version_id}", Role.VIEWER, schemas.JudgeDiff
)
def compare_judge_versions(request: TokenRequest, judge_version_id: int, baseline_version_id: int) -> Any:
    """What a version asks otherwise than another, of the same judge or of another one.

    Each field that differs with what it was and is; texts word by word.
    """
    team = request.auth.team
    after = access.access_judge_version(team, judge_version_id)
    before = access.access_judge_version(team, baseline_version_id)
    changes = selected.changes_between(before, after, viewer=request.auth.user)
    return {"before": before, "after": after, "changes": changes}


def _in_full(request: TokenRequest, judge: Judge) -> WithFields:
    """A judge as it is now, for the schema `NamedJudge`."""
    row = selected.judge_with_counts(judge)
    withheld = selected.withheld_judges(request.auth.team, request.auth.user)
    current = None if row.current is None else _version(request, row.current)
    return WithFields(schemas.NamedJudgeInList.of(row, withheld), current=current)


def _version(request: TokenRequest, version: JudgeVersion) -> WithFields:
    """A version as far as this person may see it, for the schema `JudgeVersion`."""
    row = selected.judge_versions(version.judge).get(pk=version.pk)
    return schemas.JudgeVersionInList.of(selected.visible_version(row, request.auth.user))
