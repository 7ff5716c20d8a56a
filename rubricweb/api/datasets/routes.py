"""Operations about datasets and the items in them."""

from typing import Any

from django.utils import timezone
from ninja import File, Form, Query, UploadedFile

from rubricweb import access
from rubricweb.api import uploads
from rubricweb.api.datasets import schemas
from rubricweb.api.deletions import schemas as deletion_schemas
from rubricweb.api.deletions.deleting import deleted, planned
from rubricweb.api.operations import Room, TokenRequest
from rubricweb.api.paging import leaving_out_archived, listed
from rubricweb.api.people import people
from rubricweb.api.schemas import Naming, WithFields, list_of
from rubricweb.models import Dataset, Role, RubricVersion, Team
from rubricweb.selectors.datasets import items as selected
from rubricweb.selectors.datasets.columns import columns, read_where
from rubricweb.selectors.datasets.halves import read_half
from rubricweb.selectors.datasets.imports import imported_raters
from rubricweb.selectors.datasets.judged.filters import read_judged
from rubricweb.selectors.datasets.systems import answers_called
from rubricweb.selectors.datasets.tags import asked_tags, name_tags
from rubricweb.selectors.datasets.versions import retired_left_out
from rubricweb.services.datasets import answers, raters, splits
from rubricweb.services.datasets import columns as column_services
from rubricweb.services.datasets import datasets as services
from rubricweb.services.shared import archiving

datasets = Room("datasets")


@datasets.read("/datasets", Role.VIEWER, list_of(schemas.DatasetInList, leaves_out=True))
def list_datasets(request: TokenRequest, asked: Query[schemas.DatasetQuery]) -> Any:
    """The team's datasets, newest first."""
    page = selected.datasets(
        request.auth.team,
        search=asked.search,
        archived=asked.archived,
        cursor=asked.cursor,
        size=asked.limit,
    )
    return listed(page) | leaving_out_archived(request, Dataset, archived=asked.archived)


@datasets.write("POST", "/datasets/import", Role.EDITOR, schemas.ImportedDataset, status=201)
def import_dataset(
    request: TokenRequest,
    file: File[UploadedFile],
    form: Form[schemas.DatasetFileForm],
) -> Any:
    """Import a dataset file.

    A JSON, JSONL, CSV or YAML file becomes a whole dataset or nothing at all: every fault in it is listed
    with its place. A rubric in the file is published, ground truth becomes submitted reviews, grades of
    machines imported runs. `system`, as assistant@v5, is the version that answered where the rows name none;
    a row that names another is a fault. With `strict` false, what has no counterpart here in a file of
    another program is left out, and `left_out` says what. Refused (409) where items say what an earlier one
    says, unless `duplicates` says what becomes of them, and for a system or version that is named much like
    another, unless `new_names` is true. `preview` says what was new.
    """
    data, filename = uploads.read(file)
    stored = services.import_dataset_file(
        request.auth.team,
        by=request.auth.user,
        data=data,
        filename=filename,
        name=form.name,
        system=form.system,
        columns=services.said_columns(form.columns),
        choices=form.choices(strict=form.strict),
    )
    shown = schemas.dataset_in_full(stored.dataset, request.auth.user)
    return WithFields(shown, **schemas.left_out_of(stored))


@datasets.write("POST", "/datasets/import/plan", Role.EDITOR, schemas.ItemsPreview)
def plan_import(request: TokenRequest, file: File[UploadedFile], form: Form[schemas.DatasetFileForm]) -> Any:
    """Say what a dataset file would bring.

    Takes what the import takes and is refused as that would be, but asks nothing; stores nothing.
    """
    data, filename = uploads.read(file)
    given: dict[str, Any] = {"name": form.name, "system": form.system, "strict": form.strict}
    given["columns"] = services.said_columns(form.columns)
    return services.plan_dataset_file(request.auth.team, data=data, filename=filename, **given)


@datasets.write("POST", "/datasets/{int:dataset_id}/items", Role.EDITOR, schemas.AddedItems, status=201)
def add_items(
    request: TokenRequest, dataset_id: int, file: File[UploadedFile], form: Form[schemas.ItemsFileForm]
) -> Any:
    """Add the items of a file to a dataset.

    Read as an import is, all of it or nothing unless `strict` is false: every id must be new to the dataset.
    Runs take the items in when they are extended, open queues hand them out after the others. Refused (409)
    for a sealed split, and for duplicates and names as an import is; while you are to review answers of it
    blind, only `keep` is taken of `duplicates` (else 403). `preview` says what was new.
    """
    dataset = access.access_dataset(request.auth.team, dataset_id)
    data, filename = uploads.read(file)
    stored = services.add_items_of_file(
        dataset,
        by=request.auth.user,
        data=data,
        filename=filename,
        columns=services.said_columns(form.columns),
        choices=form.choices(strict=form.strict),
    )
    shown = schemas.dataset_in_full(dataset, request.auth.user)
    return {"items": stored.items, "dataset": shown, **schemas.left_out_of(stored)}


@datasets.write("POST", "/datasets/{int:dataset_id}/items/plan", Role.EDITOR, schemas.ItemsPreview)
def plan_items(
    request: TokenRequest, dataset_id: int, file: File[UploadedFile], form: Form[schemas.ItemsFileForm]
) -> Any:
    """Say what the items of a file would add to a dataset.

    Takes what adding them takes and is refused as that would be, but asks nothing; stores nothing.
    """
    dataset = access.access_dataset(request.auth.team, dataset_id)
    data, filename = uploads.read(file)
    given: dict[str, Any] = {"data": data, "filename": filename, "strict": form.strict}
    given["columns"] = services.said_columns(form.columns)
    return services.plan_items(dataset, viewer=request.auth.user, **given)


@datasets.read("/datasets/{int:dataset_id}", Role.VIEWER, schemas.Dataset)
def get_dataset(request: TokenRequest, dataset_id: int) -> Any:
    """A dataset."""
    return schemas.dataset_in_full(access.access_dataset(request.auth.team, dataset_id), request.auth.user)


@datasets.write("PATCH", "/datasets/{int:dataset_id}", Role.EDITOR, schemas.Dataset)
def change_dataset(request: TokenRequest, dataset_id: int, body: Naming) -> Any:
    """Rename, archive or restore a dataset.

    Archived, it is left out of lists and choosers, and new runs and queues over it are refused (409); so is
    archiving while a run over it has not ended or a queue is not closed.
    """
    dataset = access.access_dataset(request.auth.team, dataset_id)
    archiving.change(dataset, by=request.auth.user, now=timezone.now(), **body.model_dump())
    return schemas.dataset_in_full(dataset, request.auth.user)


@datasets.read("/datasets/{int:dataset_id}/deletion", Role.OWNER, deletion_schemas.DeletionPlan)
def plan_dataset_deletion(request: TokenRequest, dataset_id: int) -> Any:
    """What deleting a dataset would take with it, and what would stay."""
    return planned(access.access_dataset(request.auth.team, dataset_id))


@datasets.write("DELETE", "/datasets/{int:dataset_id}", Role.OWNER, deletion_schemas.Deletion, status=202)
def delete_dataset(request: TokenRequest, dataset_id: int, body: deletion_schemas.DeletionName) -> Any:
    """Delete a dataset for good, with its items, runs, queues and all labels and comments on them.

    Refused (409) while a run over it has not ended, a queue is not closed, or an import into it is under way.
    """
    return deleted(request, access.access_dataset(request.auth.team, dataset_id), body)


@datasets.write("POST", "/datasets/{int:dataset_id}/answers", Role.EDITOR, schemas.AddedAnswers, status=201)
def add_answers(
    request: TokenRequest,
    dataset_id: int,
    file: File[UploadedFile],
    form: Form[schemas.AnswersForm],
) -> Any:
    """Add a system version's answers to the cases of a dataset.

    A row of the file names its case by `case_id`, or by `id` where there are no case ids, and holds the
    submission; it is asked what its case asks. All of it or nothing: rows of unknown cases and of cases that
    `system` (assistant@v5) has answered before are refused, unless `as_attempt` makes those its next attempt.
    With `plan` nothing is stored or asked and the answer says what would be. Refused (409) for a sealed
    split, and for duplicates and names as added items are, such as a system without its version.
    """
    dataset = access.access_dataset(request.auth.team, dataset_id)
    data, filename = uploads.read(file)
    given: dict[str, Any] = {"data": data, "filename": filename}
    given |= {"system": form.system, "as_attempt": form.as_attempt}
    given["columns"] = services.said_columns(form.columns)
    if form.plan:
        return answers.plan_answers(dataset, viewer=request.auth.user, **given)
    return answers.add_answers(dataset, by=request.auth.user, choices=form.choices(), **given)


@datasets.read("/datasets/{int:dataset_id}/items", Role.VIEWER, list_of(schemas.ItemInList, leaves_out=True))
def list_items(request: TokenRequest, dataset_id: int, asked: Query[schemas.ItemQuery]) -> Any:
    """The items of a dataset, without their bodies.

    Those it has now, unless `version` names another version or those that are retired.
    """
    dataset = access.access_dataset(request.auth.team, dataset_id)
    version = selected.read_version(asked.version)
    page = selected.items(
        dataset,
        viewer=request.auth.user,
        search=asked.search,
        order=asked.sort,
        cursor=asked.cursor,
        size=asked.limit,
        where=read_where(dataset, asked.where),
        listed=selected.Listed(
            version,
            read_half(asked.split),
            asked_tags(asked.tag),
            answers_called(dataset, asked.system),
            read_judged(request.auth.team, asked.judged),
        ),
    )
    return listed(page) | {"left_out": retired_left_out(dataset, version)}


@datasets.read("/datasets/{int:dataset_id}/columns", Role.VIEWER, list[schemas.ColumnInList])
def list_columns(request: TokenRequest, dataset_id: int) -> Any:
    """The metadata columns that lists of a dataset's items are narrowed by."""
    return columns(access.access_dataset(request.auth.team, dataset_id))


@datasets.write("PUT", "/datasets/{int:dataset_id}/columns", Role.EDITOR, list[schemas.ColumnInList])
def declare_columns(request: TokenRequest, dataset_id: int, body: schemas.Columns) -> Any:
    """Declare metadata columns.

    At most eight, in place of those declared before; items keep all their metadata.
    """
    dataset = access.access_dataset(request.auth.team, dataset_id)
    column_services.declare(dataset, body.columns, by=request.auth.user)
    return columns(dataset)


@datasets.read("/items/{int:item_id}", Role.VIEWER, schemas.Item)
def get_item(request: TokenRequest, item_id: int) -> Any:
    """One item with its submission."""
    item = access.access_item(request.auth.team, item_id)
    told = selected.name_systems([item], viewer=request.auth.user, team=request.auth.team)
    name_tags([item], told=told)
    return item


@datasets.read("/datasets/{int:dataset_id}/raters", Role.VIEWER, list[schemas.ImportedRater])
def list_imported_raters(request: TokenRequest, dataset_id: int) -> Any:
    """Who labelled in files, and whether they count as people."""
    return imported_raters(access.access_dataset(request.auth.team, dataset_id))


@datasets.write(
    "PATCH",
    "/datasets/{int:dataset_id}/raters/{int:rater_id}",
    Role.EDITOR,
    list[schemas.ImportedRater],
)
def change_imported_rater(
    request: TokenRequest, dataset_id: int, rater_id: int, body: schemas.ChangedRater
) -> Any:
    """Say what a rater is.

    Everything this rater labelled in files of the team counts accordingly from now on. `member` says that a
    name is a member of the team, who joined later: its labels are theirs, those of later files too. Refused
    (409) for people who labelled here.
    """
    team = request.auth.team
    dataset = access.access_dataset(team, dataset_id)
    rater = access.access_imported_rater(dataset, rater_id)
    if body.rater_kind is not None:
        raters.change_kind(rater, body.rater_kind, by=request.auth.user)
    if body.member:
        [member] = people(team, [body.member], "member")
        raters.declare_member(rater, member, by=request.auth.user)
    elif body.member is not None:
        raters.take_member_back(rater, by=request.auth.user)
    return imported_raters(dataset)


@datasets.write("POST", "/datasets/{int:dataset_id}/seal", Role.EDITOR, schemas.SealedCopies, status=201)
def seal_dataset(request: TokenRequest, dataset_id: int, body: schemas.NewSealedCopies) -> Any:
    """Split labelled items into two sealed datasets.

    `dev` is for examples a judge is shown, `test` for judging the judge; they share no item, and every label
    is spread alike over both. Refused (409) while a blind queue over the dataset is open.
    """
    team = request.auth.team
    made = splits.split_dataset(
        access.access_dataset(team, dataset_id),
        n_dev=body.n_dev,
        by=request.auth.user,
        seed=body.seed,
        queues=access.access_queues(team, body.queue_ids),
    )
    return schemas.sealed_copies(made, request.auth.user)


def version_or_own(team: Team, version_id: int | None, dataset: Dataset) -> RubricVersion | None:
    """The version asked for, else the one that came with the dataset; None when there is neither."""
    return dataset.rubric_version if version_id is None else access.access_version(team, version_id)
