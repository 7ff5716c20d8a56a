"""Operations about the halves of a dataset: its cases marked dev or test."""

from typing import Any

from rubricweb import access
from rubricweb.api.datasets import half_schemas as schemas
from rubricweb.api.operations import Room, TokenRequest
from rubricweb.models import Role
from rubricweb.selectors.datasets import halves as selected
from rubricweb.services.datasets.halves import drawing

halves = Room("datasets")


@halves.read("/datasets/{int:dataset_id}/halves", Role.VIEWER, schemas.Halves)
def get_halves(request: TokenRequest, dataset_id: int) -> Any:
    """Which cases of a dataset are dev and which test, in numbers."""
    dataset = access.access_dataset(request.auth.team, dataset_id)
    return selected.halves(dataset, viewer=request.auth.user)


@halves.write("POST", "/datasets/{int:dataset_id}/halves", Role.EDITOR, schemas.Halves, status=201)
def draw_halves(request: TokenRequest, dataset_id: int, body: schemas.NewHalves) -> Any:
    """Split the cases of a dataset.

    Each is marked dev, for examples a judge is shown, or test, for judging the judge, with all its answers;
    every label is spread alike over both. Answers that come later join their case's half. Refused (409) for a
    dataset that is split already, and (403) while you are to review items of it blind.
    """
    dataset = access.access_dataset(request.auth.team, dataset_id)
    drawing.split_cases(dataset, n_dev=body.n_dev, by=request.auth.user, seed=body.seed)
    return selected.halves(dataset, viewer=request.auth.user)


@halves.write("POST", "/datasets/{int:dataset_id}/halves/extend", Role.EDITOR, schemas.Halves)
def extend_halves(request: TokenRequest, dataset_id: int, body: schemas.MoreCases) -> Any:
    """Extend a split.

    Marks the cases that came later, with the share of dev cases that the first draw had; the others keep
    their half. Refused (409) for a dataset that is not split, and (403) while you are to review items of it
    blind.
    """
    dataset = access.access_dataset(request.auth.team, dataset_id)
    drawing.extend_split(dataset, by=request.auth.user, seed=body.seed)
    return selected.halves(dataset, viewer=request.auth.user)
