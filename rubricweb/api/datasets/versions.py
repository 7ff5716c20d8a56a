"""Operations that change the items of a dataset, and about its versions."""

from typing import Any

from rubricweb import access
from rubricweb.api.datasets import version_schemas as schemas
from rubricweb.api.datasets.routes import datasets
from rubricweb.api.operations import Room, TokenRequest
from rubricweb.models import Dataset, Role
from rubricweb.selectors.datasets import versions as selected
from rubricweb.services.datasets.changes import corrections, undoing
from rubricweb.services.datasets.changes import retirement as services
from rubricweb.services.rubrics import rubrics

versions = Room("datasets")


@versions.read("/datasets/{int:dataset_id}/versions", Role.VIEWER, list[schemas.DatasetVersion])
def list_dataset_versions(request: TokenRequest, dataset_id: int) -> Any:
    """The versions of a dataset, newest first.

    Each import, addition, correction, retirement and restoration of items makes the next. Without notes while
    you are to review answers of the dataset blind.
    """
    return selected.changes(access.access_dataset(request.auth.team, dataset_id), viewer=request.auth.user)


@versions.write("POST", "/datasets/{int:dataset_id}/retire", Role.EDITOR, schemas.ChangePlan)
def retire_items(request: TokenRequest, dataset_id: int, body: schemas.ItemsToMove) -> Any:
    """Take items out of a dataset.

    Lists, new runs and new queues know of them no more; finished runs, their figures and labels keep them. In
    queues that are not closed nobody is asked about them any more: reviews that were not submitted are
    withdrawn. With `plan` nothing is changed and the answer says what would be. Refused (409) for a sealed
    split, and (403) while it would tell whose answers they are that you are to review blind.
    """
    dataset = access.access_dataset(request.auth.team, dataset_id)
    ids = _chosen(dataset, body, retired=False)
    if body.plan:
        return services.plan_retirement(dataset, ids, request.auth.user)
    return services.retire(dataset, ids, by=request.auth.user, note=body.note)


@versions.write("POST", "/datasets/{int:dataset_id}/restore", Role.EDITOR, schemas.ChangePlan)
def restore_items(request: TokenRequest, dataset_id: int, body: schemas.ItemsToMove) -> Any:
    """Put retired items back into a dataset.

    At the place they had; queues that are not closed ask about them again, those over the whole dataset also
    where they did not before. Of a case's retired answers with the same id the newest comes back. With `plan`
    nothing is changed and the answer says what would be. Refused (409) where another item has the id or the
    place of one of them.
    """
    dataset = access.access_dataset(request.auth.team, dataset_id)
    ids = _chosen(dataset, body, retired=True)
    if body.plan:
        return services.plan_restoration(dataset, ids, request.auth.user)
    return services.restore(dataset, ids, by=request.auth.user, note=body.note)


@versions.write("POST", "/datasets/{int:dataset_id}/undo", Role.EDITOR, schemas.UndoPlan)
def undo_version(request: TokenRequest, dataset_id: int, body: schemas.VersionToUndo) -> Any:
    """Undo the newest version of a dataset.

    Items it added are removed, with the cases and system versions that came with them alone; retired ones are
    current, restored ones retired, corrected ones have the words of before. With `plan` nothing is changed.
    Refused (409) where something stands on it (`stands` of the plan): runs, reviews, exports; for the first
    version, and for a sealed split.
    """
    dataset = access.access_dataset(request.auth.team, dataset_id)
    if body.plan:
        return undoing.plan_undoing(dataset, request.auth.user)
    return undoing.undo(dataset, by=request.auth.user, seen=body.version)


@datasets.write(
    "PATCH", "/items/{int:item_id}", Role.EDITOR, schemas.ChangePlan, body_setting="UPLOAD_MAX_BYTES"
)
def correct_item(request: TokenRequest, item_id: int, body: schemas.ItemWords) -> Any:
    """Correct an answer.

    An item with the right words takes its place, and this one is retired in the same version: labels, reviews
    and results stay with the words they were given to. Prompt, reference and rubric are those of the case:
    they can be corrected along where no other answer shares it. With `plan` nothing is changed. Refused (409)
    for a retired item and for a sealed split.
    """
    item = access.access_item(request.auth.team, item_id)
    words = right_words(body, submission=body.submission, thinking=body.thinking)
    if body.plan:
        return corrections.plan_item(item, words, request.auth.user)
    return corrections.correct_item(item, words, by=request.auth.user, note=body.note)


def right_words(body: schemas.CaseWords, **of_answer: str | None) -> corrections.Correction:
    """What is to be corrected, for the service."""
    rubric = None if body.rubric is None else rubrics.checked(body.rubric)
    return corrections.Correction(prompt=body.prompt, reference=body.reference, rubric=rubric, **of_answer)


def _chosen(dataset: Dataset, body: schemas.ItemsToMove, *, retired: bool) -> list[int]:
    return [*body.item_ids, *selected.items_of_cases(dataset, body.case_ids, retired=retired)]
