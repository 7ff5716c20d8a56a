"""Operations that bring labels in as files."""

from typing import Any

from ninja import File, Form, UploadedFile

from rubricweb import access
from rubricweb.api import uploads
from rubricweb.api.datasets.routes import version_or_own
from rubricweb.api.datasets.schemas import LabelsPlan, RaterKindName
from rubricweb.api.operations import Room, TokenRequest
from rubricweb.api.reviews.queue_schemas import Queue
from rubricweb.api.schemas import Id
from rubricweb.models import RaterKind, Role
from rubricweb.services.reviews import reviews

label_files = Room("datasets")


@label_files.write("POST", "/datasets/{int:dataset_id}/labels", Role.EDITOR, Queue, status=201)
def import_labels(
    request: TokenRequest,
    dataset_id: int,
    file: File[UploadedFile],
    rubric_version_id: Form[Id | None] = None,
    name: Form[str] = "",
    rater_kind: Form[RaterKindName | None] = None,
) -> Any:
    """Import labels.

    A CSV or JSONL file with item_id, criterion, rater, verdict, reason and rater_kind becomes a closed review
    queue called `name`. `rater_kind` is what raters are where a line does not say so; labels of machines are
    shown and count in no figure about people. Without `rubric_version_id` the version that came with the
    dataset is meant.
    """
    return reviews.import_labels(**_sent(request, dataset_id, file, rubric_version_id, name, rater_kind))


@label_files.write("POST", "/datasets/{int:dataset_id}/labels/plan", Role.EDITOR, LabelsPlan)
def plan_labels(
    request: TokenRequest,
    dataset_id: int,
    file: File[UploadedFile],
    rubric_version_id: Form[Id | None] = None,
    name: Form[str] = "",
    rater_kind: Form[RaterKindName | None] = None,
) -> Any:
    """Say what a file of labels would become.

    Takes what the import takes and is refused as that would be, with every fault by line; stores nothing.
    """
    return reviews.plan_labels(**_sent(request, dataset_id, file, rubric_version_id, name, rater_kind))


def _sent(
    request: TokenRequest,
    dataset_id: int,
    file: UploadedFile,
    rubric_version_id: int | None,
    name: str,
    rater_kind: str | None,
) -> dict[str, Any]:
    dataset = access.access_dataset(request.auth.team, dataset_id)
    version = version_or_own(request.auth.team, rubric_version_id, dataset)
    data, filename = uploads.read(file)
    return {
        "dataset": dataset,
        "rubric_version": version,
        "by": request.auth.user,
        "data": data,
        "filename": filename,
        "queue_name": name,
        "rater_kind": rater_kind or RaterKind.HUMAN,
    }
