"""Operations about the splits of a dataset: its cases marked dev or test."""

from typing import Any

from rubricweb import access
from rubricweb.api.datasets import split_schemas as schemas
from rubricweb.api.operations import Room, TokenRequest
from rubricweb.models import Role
from rubricweb.selectors.datasets import halves as selected
from rubricweb.services.datasets.halves import drawing

splits = Room("datasets")


@splits.read("/datasets/{int:dataset_id}/split", Role.VIEWER, schemas.DatasetSplit)
def get_split(request: TokenRequest, dataset_id: int) -> Any:
    """Which cases of a dataset are dev and which test, in numbers."""
    dataset = access.access_dataset(request.auth.team, dataset_id)
    return selected.halves(dataset, viewer=request.auth.user)


@splits.write("POST", "/datasets/{int:dataset_id}/split", Role.EDITOR, schemas.DatasetSplit, status=201)
def split_cases(request: TokenRequest, dataset_id: int, body: schemas.NewSplit) -> Any:
    """Split the cases of a dataset.

    Each is marked dev, for examples a judge is shown, or test, for judging the judge, with all its answers;
    every label is spread alike over both. Answers that come later join their case's split. Refused (409) for
    a dataset that is split already, and (403) while you are to review items of it blind.
    """
    dataset = access.access_dataset(request.auth.team, dataset_id)
    drawing.split_cases(dataset, n_dev=body.n_dev, by=request.auth.user, seed=body.seed)
    return selected.halves(dataset, viewer=request.auth.user)


@splits.write("POST", "/datasets/{int:dataset_id}/split/extend", Role.EDITOR, schemas.DatasetSplit)
def extend_split(request: TokenRequest, dataset_id: int, body: schemas.MoreCases) -> Any:
    """Extend a split.

    Marks the cases that came later, with the share of dev cases that the first draw had; the others keep
    their split. Refused (409) for a dataset that is not split, and (403) while you are to review items of it
    blind.
    """
    dataset = access.access_dataset(request.auth.team, dataset_id)
    drawing.extend_split(dataset, by=request.auth.user, seed=body.seed)
    return selected.halves(dataset, viewer=request.auth.user)
