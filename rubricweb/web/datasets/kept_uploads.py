"""Files a browser session sent for a place, kept between the steps of a form."""

from collections.abc import Iterable
from typing import Any

from rubricweb.errors import NotFound
from rubricweb.models import Dataset
from rubricweb.services.shared import uploads
from rubricweb.web.http import TeamRequest

UPLOADS_PER_SESSION = 3


def kept(request: TeamRequest, upload_id: str, dataset: Dataset | None, *, labels: bool) -> dict[str, Any]:
    """What is known of a file, of items or of labels, that this browser session sent for this place."""
    known: dict[str, Any] | None = request.session.get("uploads", {}).get(upload_id)
    meant_for = (request.team.pk, dataset.pk if dataset else None, labels)
    if known is None or (known["team"], known.get("dataset"), bool(known.get("labels"))) != meant_for:
        raise NotFound("upload any more; choose the file again")
    return known


def keep(
    request: TeamRequest,
    data: bytes | Iterable[bytes],
    filename: str,
    name: str,
    dataset: Dataset | None,
    *,
    labels: dict[str, Any] | None = None,
    about: dict[str, Any] | None = None,
) -> str:
    """Keeps the file for this browser session, at the cost of its oldest one when there are too many.

    The file of an import that has not ended outlives that.
    """
    upload_id = uploads.keep(data, about)
    held = request.session.get("uploads", {})
    for old in list(held)[: max(0, len(held) + 1 - UPLOADS_PER_SESSION)]:
        uploads.drop_unused(old)
        del held[old]
    held[upload_id] = {
        "team": request.team.pk,
        "dataset": dataset.pk if dataset else None,
        "filename": filename[:200],
        "name": name,
        "labels": labels,
    }
    request.session["uploads"] = held
    return upload_id


def forget(request: TeamRequest, upload_id: str) -> None:
    uploads.drop(upload_id)
    request.session["uploads"] = {
        other: what for other, what in request.session.get("uploads", {}).items() if other != upload_id
    }
