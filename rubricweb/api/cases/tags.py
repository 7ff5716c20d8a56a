"""Operations about the tags of cases."""

from typing import Any

from rubricweb import access
from rubricweb.api.cases import tag_schemas as schemas
from rubricweb.api.operations import Room, TokenRequest
from rubricweb.models import Role
from rubricweb.selectors.datasets.tags import tag_counts
from rubricweb.services.datasets.tags import tagging

tags = Room("datasets")


@tags.read("/datasets/{int:dataset_id}/tags", Role.VIEWER, list[schemas.TagCount])
def list_tags(request: TokenRequest, dataset_id: int) -> Any:
    """The tags of a dataset's cases, those of the most cases first: at most 500.

    Without the cases whose tags are withheld while you are to review an answer to them blind.
    """
    return tag_counts(access.access_dataset(request.auth.team, dataset_id), viewer=request.auth.user)


@tags.write("POST", "/datasets/{int:dataset_id}/tags", Role.EDITOR, schemas.TagChange)
def change_tags(request: TokenRequest, dataset_id: int, body: schemas.TagsToChange) -> Any:
    """Give tags to cases, and take others away.

    The cases are those named and those that the items answer, at most 10,000 of either. Whether a case has a
    tag already makes no difference. All of them or none.
    """
    dataset = access.access_dataset(request.auth.team, dataset_id)
    return tagging.change_tags(dataset, by=request.auth.user, **body.model_dump())


@tags.write("PUT", "/cases/{int:case_id}/tags", Role.EDITOR, schemas.CaseTags)
def set_tags(request: TokenRequest, case_id: int, body: schemas.TagsOfCase) -> Any:
    """Say which tags a case has, in place of those it had.

    Refused (403) while its tags are withheld from you.
    """
    case = access.access_case(request.auth.team, case_id)
    return {"tags": tagging.set_tags(case, body.tags, by=request.auth.user)}
