"""Operations about single cases."""

from typing import Any

from ninja import Query

from rubricweb import access
from rubricweb.api.cases import schemas
from rubricweb.api.datasets import version_schemas
from rubricweb.api.datasets.versions import right_words
from rubricweb.api.operations import Room, TokenRequest
from rubricweb.models import Role
from rubricweb.selectors.comparison.case import case_answers
from rubricweb.services.datasets.changes import corrections

cases = Room("datasets")


@cases.read("/cases/{int:case_id}", Role.VIEWER, schemas.Case)
def get_case(request: TokenRequest, case_id: int, asked: Query[schemas.CaseQuery]) -> Any:
    """The words of a case, and every answer to it: what the newest run and people said of each.

    Answers you are still to review blind are left out and counted; withheld (403) where all of them are.
    """
    case = access.access_case(request.auth.team, case_id)
    answers = case_answers(case, viewer=request.auth.user, cursor=asked.cursor, size=asked.limit)
    return schemas.case_in_full(case, answers)


@cases.write(
    "PATCH", "/cases/{int:case_id}", Role.EDITOR, version_schemas.ChangePlan, body_setting="UPLOAD_MAX_BYTES"
)
def correct_case(request: TokenRequest, case_id: int, body: version_schemas.CaseWords) -> Any:
    """Correct the words of a case.

    Answers that come in later are asked the new words. Answers there are keep theirs, with labels and
    results; they are paired with answers to the same words only. With `plan` nothing is changed. Refused
    (409) for a sealed split.
    """
    case = access.access_case(request.auth.team, case_id)
    words = right_words(body)
    if body.plan:
        return corrections.plan_case(case, words, request.auth.user)
    return corrections.correct_case(case, words, by=request.auth.user, note=body.note)
