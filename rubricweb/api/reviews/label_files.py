"""Operations that bring labels in as files."""

from typing import Annotated, Any

from ninja import File, Form, UploadedFile
from pydantic import Field

from rubricweb import access
from rubricweb.api import uploads
from rubricweb.api.datasets.routes import version_or_own
from rubricweb.api.datasets.schemas import LabelsPlan, RaterKindName
from rubricweb.api.operations import Room, TokenRequest
from rubricweb.api.reviews.label_file_schemas import LabelsImported, labels_imported
from rubricweb.api.schemas import Id, InputAsText, OneOf
from rubricweb.engine.formats.label_files import SHAPES
from rubricweb.models import Role
from rubricweb.services import label_files as services

label_files = Room("datasets")

Pairs = Annotated[list[str], Field(max_length=10_000)]


class LabelsForm(InputAsText):
    """What a file of labels is, beside the file. What is left out is recognised."""

    rubric_version_id: Annotated[
        Id | None, Field(description="Whose criteria are meant; the version that came with the dataset.")
    ] = None
    name: Annotated[str, Field(description="Of the queue; the file's unless given.")] = ""
    rater_kind: Annotated[
        RaterKindName | None, Field(description="What raters are where nothing else says so.")
    ] = None
    shape: Annotated[
        Annotated[str, OneOf(SHAPES)] | None,
        Field(description="One label a row, or a column for each criterion, rater, or both."),
    ] = None
    columns: Annotated[Pairs, Field(description="FIELD=COLUMN, as in item_id=example.")] = []
    values: Annotated[Pairs, Field(description="VALUE=ANSWER, as in good=MET.")] = []
    rater: Annotated[str, Field(description="Who gave the labels where no column says so.")] = ""
    criterion: Annotated[str, Field(description="What labels are about where no column says so.")] = ""
    rater_kinds: Annotated[Pairs, Field(description="RATER=KIND, as in gpt-4=machine.")] = []
    history: Annotated[
        bool,
        Field(
            description="Labels of the past: what their raters differ on is no unit to settle in the inbox "
            "of adjudication."
        ),
    ] = False
    strict: Annotated[
        bool,
        Field(
            description="Refuse the file for whatever does not fit; else that is left out. "
            "Labels that were imported before are left out either way."
        ),
    ] = True


@label_files.write("POST", "/datasets/{int:dataset_id}/labels", Role.EDITOR, LabelsImported, status=201)
def import_labels(
    request: TokenRequest, dataset_id: int, file: File[UploadedFile], form: Form[LabelsForm]
) -> Any:
    """Import labels.

    A CSV, JSONL, JSON or Parquet file of labels, one a row or in columns by criterion, rater or both, becomes
    a closed review queue called `name`. Labels of a machine become an imported run and count in no figure
    about people. Labels that were imported before are left out, so a file that grew brings what is new in it;
    one whose labels were all imported before is a conflict. Columns that say nothing are
    always refused; whatever else does not fit is too, contradictions among it, unless `strict` is false: then
    it is left out. `left_out` says what was. Refused (403) for labels on items that are hidden from you, in
    the plan as well.
    """
    stored = services.import_sent_labels(by=request.auth.user, **_sent(request, dataset_id, file, form))
    return labels_imported(stored, request.auth.user)


@label_files.write("POST", "/datasets/{int:dataset_id}/labels/plan", Role.EDITOR, LabelsPlan)
def plan_labels(
    request: TokenRequest, dataset_id: int, file: File[UploadedFile], form: Form[LabelsForm]
) -> Any:
    """Say what a file of labels would become.

    Takes what the import takes and is refused as that would be; stores nothing. With `strict` false it says
    what would be left out, and which values are no answers.
    """
    sent = _sent(request, dataset_id, file, form)
    return services.plan_as_data(services.plan_labels(viewer=request.auth.user, **sent))


def _sent(request: TokenRequest, dataset_id: int, file: UploadedFile, form: LabelsForm) -> dict[str, Any]:
    dataset = access.access_dataset(request.auth.team, dataset_id)
    version = version_or_own(request.auth.team, form.rubric_version_id, dataset)
    data, filename = uploads.read(file)
    return {
        "dataset": dataset,
        "rubric_version": version,
        "data": data,
        "filename": filename,
        "queue_name": form.name,
        "choices": services.said_choices(
            shape=form.shape,
            columns=form.columns,
            values=form.values,
            rater_kind=form.rater_kind,
            rater_kinds=form.rater_kinds,
            history=form.history,
            rater=form.rater,
            criterion=form.criterion,
        ),
        "strict": form.strict,
    }
