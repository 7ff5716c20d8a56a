"""Operations that try a judge on one submission."""

from collections.abc import Iterator
from contextlib import closing
from typing import Any

from django.http import HttpResponseBase, StreamingHttpResponse

from rubricweb import access, engine
from rubricweb.api.judges import try_schemas as schemas
from rubricweb.api.operations import LINES, Room, TokenRequest
from rubricweb.engine.errors import Fault, join_place
from rubricweb.engine.judging.definition import JudgeDefinition
from rubricweb.errors import Invalid
from rubricweb.models import Judge, Role
from rubricweb.selectors.judges import require_judge_visible
from rubricweb.selectors.rubrics.versions import checked_draft
from rubricweb.selectors.tries import chosen_item
from rubricweb.services.judges.files import changed_definition, definition_from
from rubricweb.services.tries.judges import definition_called
from rubricweb.services.tries.subject import Subject, subject_of
from rubricweb.services.tries.tries import Trying, TryRequest, start_try

judge_tries = Room("judges")

A_LINE = (
    "With `Accept: application/x-ndjson` lines as they come, each a JSON object with a `kind` (item, answer, "
    "result, sum, waiting or stopped) and under that name what it is; the others are null."
)


@judge_tries.stream(
    "/judge-versions/{int:judge_version_id}/tries",
    Role.EDITOR,
    schemas.JudgeTry,
    body_setting="UPLOAD_MAX_BYTES",
    lines=A_LINE,
)
def try_judge_version(request: TokenRequest, judge_version_id: int, body: schemas.NewVersionTry) -> Any:
    """Try a version on one submission, or a change of it beside it.

    It is asked live what a run would ask, and costs what that costs; a run of the same has the answers. At
    most a minute long: what is not answered then is counted. Refused (429) above ten tries of a team in a
    minute; stopped where the team's budget would be passed.
    """
    team = request.auth.team
    version = access.access_judge_version(team, judge_version_id)
    require_judge_visible(version.judge, request.auth.user)
    definition, before = version.definition, None
    if body.definition is not None and body.changes is not None:
        raise Invalid.at("definition", "both of definition and changes", "one of them")
    if body.definition is not None:
        definition = definition_from(team, body.definition, place="definition")
    elif body.changes is not None:
        definition = changed_definition(team, version, body.changes, place="changes")
    if definition.digest != version.digest:
        before = version.definition
    return _tried(request, body, definition, version.judge, before)


@judge_tries.stream(
    "/named-judges/tries",
    Role.EDITOR,
    schemas.JudgeTry,
    body_setting="UPLOAD_MAX_BYTES",
    lines=A_LINE,
)
def try_definition(request: TokenRequest, body: schemas.NewDefinitionTry) -> Any:
    """Try a judge that is not kept, or a model, on one submission.

    As trying a version, without one beside it.
    """
    if (body.definition is None) == (not body.judge):
        which = "neither" if body.definition is None else "both"
        raise Invalid.at("definition", f"{which} of definition and judge", "one of them")
    if body.definition is not None:
        definition = definition_from(request.auth.team, body.definition, place="definition")
        return _tried(request, body, definition, None, None)
    named_judge = definition_called(request.auth.team, body.judge, viewer=request.auth.user)
    return _tried(request, body, named_judge.definition, named_judge.judge, None)


def _tried(
    request: TokenRequest,
    body: schemas.NewTry,
    definition: JudgeDefinition,
    judge: Judge | None,
    before: JudgeDefinition | None,
) -> schemas.JudgeTry | HttpResponseBase:
    subject = _subject(request, body, judge)
    trying = start_try(TryRequest(request.auth.team, request.auth.user, definition, subject, judge, before))
    item = subject.item.pk if subject.item else None
    if LINES in request.headers.get("Accept", ""):
        return StreamingHttpResponse(_Lines(trying, item), content_type=LINES)
    with closing(trying):
        return schemas.whole_try(trying, subject.rubric, item)


def _subject(request: TokenRequest, body: schemas.NewTry, judge: Judge | None) -> Subject:
    team, viewer = request.auth.team, request.auth.user
    named = [name for name in ("item", "dataset", "submission") if getattr(body, name) is not None]
    if len(named) != 1:
        names = " and ".join(named) or "none"
        raise Invalid.at("item", f"{names} of item, dataset and submission", "one of them")
    if body.rubric_version is not None and body.rubric is not None:
        raise Invalid.at("rubric", "a rubric beside rubric_version", "one of them")
    item = pasted = draft = None
    if body.item is not None:
        item = access.access_item(team, body.item)
    elif body.dataset is not None:
        dataset = access.access_dataset(team, body.dataset)
        item = chosen_item(dataset, body.which, viewer=viewer, after=body.after, judge=judge)
    elif body.submission is not None:
        pasted = engine.Submission(**body.submission.model_dump())
    version = None if body.rubric_version is None else access.access_version(team, body.rubric_version)
    if body.rubric is not None:
        draft, faults = checked_draft(body.rubric)
        if draft is None:
            raise Invalid(
                "The rubric has faults.",
                [Fault(join_place("rubric", fault.place), fault.found, fault.allowed) for fault in faults],
            )
    return subject_of(team, viewer=viewer, item=item, pasted=pasted, version=version, draft=draft)


class _Lines:
    """A try as lines of JSON; closed, it asks nothing more, read or not."""

    def __init__(self, trying: Trying, item: int | None) -> None:
        self._trying = trying
        self._first: list[schemas.TryLine] = [schemas.TryLine(kind="item", item=item)]

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        if self._first:
            line = self._first.pop()
        else:
            line = schemas.line_of(next(self._trying), self._trying.subject.rubric)
        return line.model_dump_json().encode() + b"\n"

    def close(self) -> None:
        self._trying.close()
