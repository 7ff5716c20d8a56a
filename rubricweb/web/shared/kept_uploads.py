"""Files a browser session sent for a place, kept between the steps of a form."""

from collections.abc import Iterable
from typing import Any, Literal, TypeAlias

from rubricweb.errors import NotFound
from rubricweb.models import Dataset
from rubricweb.services.shared import uploads
from rubricweb.web.http import TeamRequest

UPLOADS_PER_SESSION = 3

Holds: TypeAlias = Literal["items", "labels", "rubric"]
"""What a file that is sent holds."""


def kept(request: TeamRequest, upload_id: str, dataset: Dataset | None, *, holds: Holds) -> dict[str, Any]:
    """What is known of such a file that this browser session sent for this place."""
    known: dict[str, Any] | None = request.session.get("uploads", {}).get(upload_id)
    meant_for = (request.team.pk, dataset.pk if dataset else None, holds)
    if known is None or (known["team"], known.get("dataset"), known.get("holds")) != meant_for:
        raise NotFound("upload any more; choose the file again")
    return known


def keep(
    request: TeamRequest,
    data: bytes | Iterable[bytes],
    filename: str,
    name: str,
    dataset: Dataset | None,
    *,
    holds: Holds,
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
        "holds": holds,
        "labels": labels,
    }
    request.session["uploads"] = held
    return upload_id


def forget(request: TeamRequest, upload_id: str) -> None:
    uploads.drop(upload_id)
    request.session["uploads"] = {
        other: what for other, what in request.session.get("uploads", {}).items() if other != upload_id
    }
