"""Operations that hand data out as files."""

from urllib.parse import quote

from django.http import StreamingHttpResponse
from ninja import Query

from rubricweb import access
from rubricweb.api.exports import schemas
from rubricweb.api.operations import Room, TokenRequest
from rubricweb.models import Role
from rubricweb.selectors.exports import exports as selected
from rubricweb.selectors.exports.recorded import RecordedExport, recorded_exports
from rubricweb.services import exports as services

exports = Room("exports")
FILES: dict[str, str] = {}
for _form in services.EXPORT_FORMATS.values():
    _kind = _form.content_type.partition(";")[0]
    FILES[_kind] = f"{FILES[_kind]} or {_form.title}" if _kind in FILES else _form.title


@exports.read("/exports", Role.VIEWER, None, names_rows=True, files=FILES)
def export(request: TokenRequest, asked: Query[schemas.ExportQuery]) -> StreamingHttpResponse:
    """Export ground truth or verdicts as a file.

    Ground truth comes from the people of `queue`; verdicts are those of `queue` and `run`, of the run alone
    where no queue is named. A bundle is an archive of the verdicts with items, ground truth, adjudications
    and, of a run and queues, agreement; without a queue it holds nothing of people. Items you are
    still to review blind are left out: the header `X-Withheld-Items` counts them, `GET /exports/withheld`
    names them; where that is every item the answer is 403.
    """
    team = request.auth.team
    made = services.export(
        team,
        viewer=request.auth.user,
        what=asked.what,
        format=asked.format,
        dataset=access.access_dataset(team, asked.dataset),
        queues=access.access_queues(team, asked.queue),
        run=None if asked.run is None else access.access_run(team, asked.run),
        item_ids=asked.item or None,
    )
    response = StreamingHttpResponse(made.chunks, content_type=made.content_type)
    response["Content-Disposition"] = f"attachment; filename*=UTF-8''{quote(made.filename)}"
    if made.withheld.keys:
        response["X-Withheld-Items"] = str(len(made.withheld.keys))
    return response


@exports.read("/datasets/{int:dataset_id}/exports", Role.VIEWER, list[schemas.RecordedExport])
def list_exports(request: TokenRequest, dataset_id: int) -> list[RecordedExport]:
    """The last exports of a dataset, newest first, each with the decisions by which it counts earlier labels.

    A decision that was replaced since stays what that export counted by; the same export of today counts
    otherwise.
    """
    dataset = access.access_dataset(request.auth.team, dataset_id)
    return recorded_exports(dataset, viewer=request.auth.user)


@exports.read("/exports/withheld", Role.VIEWER, schemas.WithheldItems, names_rows=True)
def withheld_items(request: TokenRequest, asked: Query[schemas.WithheldQuery]) -> schemas.WithheldItems:
    """Items an export leaves out for you.

    You are still to review them, or the same words elsewhere, blind: by id, in the order of the dataset.
    """
    withheld = selected.withheld_items(
        request.auth.user, access.access_dataset(request.auth.team, asked.dataset)
    )
    return schemas.WithheldItems(items=list(withheld.keys), why=withheld.why)
