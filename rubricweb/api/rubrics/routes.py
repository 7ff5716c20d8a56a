"""Operations about rubrics: drafts, published versions, files."""

from typing import Any

from django.utils import timezone
from ninja import File, Form, Query, UploadedFile

from rubricweb import access
from rubricweb.api import uploads
from rubricweb.api.deletions import schemas as deletion_schemas
from rubricweb.api.deletions.deleting import deleted, planned
from rubricweb.api.operations import Room, TokenRequest
from rubricweb.api.paging import ListQuery, leaving_out_archived, listed
from rubricweb.api.rubrics import label_schemas as labels
from rubricweb.api.rubrics import schemas
from rubricweb.api.schemas import Naming, list_of
from rubricweb.engine import lint
from rubricweb.engine.checks import CHECKS
from rubricweb.engine.formats.tables.rubric_table_writer import write_rubric_table
from rubricweb.models import Role, Rubric
from rubricweb.selectors.labels.label_evidence import label_evidence
from rubricweb.selectors.probes import changes_with_probes
from rubricweb.selectors.rubrics import versions as selected
from rubricweb.selectors.rubrics.label_changes import LabelChanges
from rubricweb.selectors.shared.pages import keyset_page
from rubricweb.services import label_queues
from rubricweb.services.rubrics import rubrics as services
from rubricweb.services.rubrics.starters import start_from, starters
from rubricweb.services.shared import archiving

rubrics = Room("rubrics")


@rubrics.read("/rubrics", Role.VIEWER, list_of(schemas.RubricInList, leaves_out=True))
def list_rubrics(request: TokenRequest, asked: Query[schemas.RubricQuery]) -> Any:
    """The team's rubrics, newest edit first."""
    page = selected.rubrics(
        request.auth.team,
        search=asked.search,
        archived=asked.archived,
        cursor=asked.cursor,
        size=asked.limit,
    )
    return listed(page) | leaving_out_archived(request, Rubric, archived=asked.archived)


@rubrics.write("POST", "/rubrics", Role.EDITOR, schemas.Rubric, status=201)
def create_rubric(request: TokenRequest, body: schemas.Draft) -> Any:
    """Start a rubric with a draft."""
    return services.create_rubric(
        request.auth.team, by=request.auth.user, title=body.title, draft=body.content()
    )


@rubrics.write("POST", "/rubrics/import", Role.EDITOR, schemas.RubricVersion, status=201)
def import_rubric(request: TokenRequest, file: File[UploadedFile], title: Form[str] = "") -> Any:
    """Import a rubric file.

    A JSON, YAML or TOML file, or a table (CSV, TSV) with a criterion in each row, becomes version 1 of a
    new rubric, or nothing at all: every fault in it is listed.
    """
    data, filename = uploads.read(file)
    version = services.import_rubric(
        request.auth.team, by=request.auth.user, data=data, filename=filename, title=title
    )
    return selected.version_with_criteria(version.pk)


@rubrics.read("/rubrics/{int:rubric_id}", Role.VIEWER, schemas.Rubric)
def get_rubric(request: TokenRequest, rubric_id: int) -> Any:
    """A rubric with its draft."""
    return access.access_rubric(request.auth.team, rubric_id)


@rubrics.write("PATCH", "/rubrics/{int:rubric_id}", Role.EDITOR, schemas.Rubric)
def change_rubric(request: TokenRequest, rubric_id: int, body: Naming) -> Any:
    """Rename, archive or restore a rubric.

    Published versions keep the title they were published with. Archived, it is left out of lists and
    choosers, and new runs and queues with it are refused (409); so is archiving while a run with it has not
    ended or a queue is not closed.
    """
    rubric = access.access_rubric(request.auth.team, rubric_id)
    archiving.change(rubric, by=request.auth.user, now=timezone.now(), **body.model_dump())
    return rubric


@rubrics.read("/rubrics/{int:rubric_id}/deletion", Role.OWNER, deletion_schemas.DeletionPlan)
def plan_rubric_deletion(request: TokenRequest, rubric_id: int) -> Any:
    """What deleting a rubric would take with it, and what would stay."""
    return planned(access.access_rubric(request.auth.team, rubric_id))


@rubrics.write("DELETE", "/rubrics/{int:rubric_id}", Role.OWNER, deletion_schemas.Deletion, status=202)
def delete_rubric(request: TokenRequest, rubric_id: int, body: deletion_schemas.DeletionName) -> Any:
    """Delete a rubric for good, with its versions, and the runs and queues that used one.

    Refused (409) while such a run has not ended or such a queue is not closed.
    """
    return deleted(request, access.access_rubric(request.auth.team, rubric_id), body)


@rubrics.read("/rubrics/{int:rubric_id}/lint", Role.VIEWER, list_of(schemas.Finding))
def lint_draft(request: TokenRequest, rubric_id: int) -> Any:
    """What is likely to go wrong with the saved draft, all on one page.

    Found without a judge; nothing here keeps a draft from being published.
    """
    rubric = access.access_rubric(request.auth.team, rubric_id)
    return {"items": lint.lint_draft(rubric.draft), "next_cursor": None}


@rubrics.write("PUT", "/rubrics/{int:rubric_id}/draft", Role.EDITOR, schemas.Rubric)
def save_draft(request: TokenRequest, rubric_id: int, body: schemas.DraftSave) -> Any:
    """Save the draft.

    `revision` is the `draft_revision` your change began from. When somebody saved in between, nothing is
    overwritten and the answer is 409: `detail` says who saved and what was changed, `faults` every field of
    a criterion (`place`) that both changed, with yours (`found`) and theirs (`allowed`).
    """
    rubric = access.access_rubric(request.auth.team, rubric_id)
    draft = body.draft.content()
    return services.save_draft(rubric, by=request.auth.user, draft=draft, revision=body.revision)


@rubrics.write("POST", "/rubrics/{int:rubric_id}/publish", Role.EDITOR, schemas.RubricVersion)
def publish_rubric(
    request: TokenRequest,
    rubric_id: int,
    body: schemas.Publication = schemas.Publication(),  # noqa: B008 never changed; ninja reads the default
) -> Any:
    """Publish the draft as the next version.

    A draft that equals the newest version gives that version back. Every fault of the draft is listed.
    Criteria without an id get one in the draft too; where one has no name either, that raises
    `draft_revision`.
    """
    rubric = access.access_rubric(request.auth.team, rubric_id)
    wishes = {
        uid: one.opening(request.auth.team, f"label_decisions.{uid}.")
        for uid, one in body.label_decisions.items()
    }
    version = label_queues.publish(
        rubric,
        by=request.auth.user,
        note=body.note,
        revision=body.revision,
        decisions={uid: one.chosen() for uid, one in body.label_decisions.items()},
        opening={uid: wish for uid, wish in wishes.items() if wish is not None},
    )
    return selected.version_with_criteria(version.pk)


@rubrics.read("/rubrics/{int:rubric_id}/label-changes", Role.VIEWER, labels.LabelChanges)
def get_label_changes(request: TokenRequest, rubric_id: int) -> Any:
    """What publishing the draft would ask in other words than its labels were given to.

    Empty for a draft with faults and before the first version.
    """
    rubric = access.access_rubric(request.auth.team, rubric_id)
    changes = selected.draft_state(rubric, viewer=request.auth.user).labels
    return changes or LabelChanges((), None)


@rubrics.read("/rubrics/{int:rubric_id}/versions", Role.VIEWER, list_of(schemas.VersionInList))
def list_rubric_versions(request: TokenRequest, rubric_id: int, asked: Query[ListQuery]) -> Any:
    """The published versions of a rubric, newest first."""
    versions = selected.versions(access.access_rubric(request.auth.team, rubric_id))
    return listed(keyset_page(versions, order=("-number",), cursor=asked.cursor, size=asked.limit))


@rubrics.read("/rubric-versions/{int:version_id}", Role.VIEWER, schemas.RubricVersion)
def get_rubric_version(request: TokenRequest, version_id: int) -> Any:
    """A published version with its criteria."""
    version = access.access_version(request.auth.team, version_id)
    return selected.version_with_criteria(version.pk)


@rubrics.read("/rubric-versions/{int:version_id}/table", Role.VIEWER, schemas.RubricTable)
def get_rubric_table(request: TokenRequest, version_id: int) -> Any:
    """A published version as a table, one that *Import a rubric file* reads, and what no table can hold."""
    version = selected.version_with_criteria(access.access_version(request.auth.team, version_id).pk)
    text, left_out = write_rubric_table(version.to_engine())
    return {"csv": text, "left_out": left_out}


@rubrics.write("POST", "/rubric-versions/{int:version_id}/restore", Role.EDITOR, schemas.Rubric)
def restore_rubric_version(request: TokenRequest, version_id: int, body: schemas.Restoration) -> Any:
    """Put a version into its rubric's draft, in place of what is there. Publish it to use it."""
    version = selected.version_with_criteria(access.access_version(request.auth.team, version_id).pk)
    return services.restore(version, by=request.auth.user, revision=body.revision)


@rubrics.write("POST", "/rubric-versions/{int:version_id}/copy", Role.EDITOR, schemas.Rubric, status=201)
def copy_rubric_version(request: TokenRequest, version_id: int, body: schemas.CopiedRubric) -> Any:
    """Start a rubric of its own from a version. Its criteria keep their ids; labels and runs stay behind."""
    version = selected.version_with_criteria(access.access_version(request.auth.team, version_id).pk)
    return services.copy(version, by=request.auth.user, title=body.title)


@rubrics.read("/rubric-versions/{int:version_id}/label-changes", Role.VIEWER, labels.LabelChanges)
def get_version_label_changes(request: TokenRequest, version_id: int) -> Any:
    """What a version asks in other words than those before it, with the decision about the labels of each."""
    version = access.access_version(request.auth.team, version_id)
    return changes_with_probes(selected.version_with_criteria(version.pk), viewer=request.auth.user)


@rubrics.write("PUT", "/rubric-versions/{int:version_id}/label-decisions", Role.EDITOR, labels.LabelChange)
def decide_about_labels(request: TokenRequest, version_id: int, body: labels.LabelDecisionChange) -> Any:
    """Decide what becomes of the labels of a reworded criterion, or of all others under new `guidelines`.

    It takes the place of the current decision, which has to be the one you have `seen`; else the answer is
    409. Pages and figures follow at once.
    """
    version = selected.version_with_criteria(access.access_version(request.auth.team, version_id).pk)
    return label_queues.decide(
        version,
        body.uid,
        body.chosen(),
        by=request.auth.user,
        seen=body.seen,
        opening=body.opening(request.auth.team),
    )


@rubrics.write("POST", "/rubric-versions/{int:version_id}/label-queues", Role.EDITOR, labels.LabelChange)
def open_label_queues(request: TokenRequest, version_id: int, body: labels.LabelQueueChange) -> Any:
    """Open the review queue of the decision to label again, or to probe.

    To label again: over every item whose labels wait, for as many raters as labelled it before. To probe:
    over items drawn at random, each for one who labelled it, who does not see their earlier label. One queue
    for each dataset; those that there are already are no second time opened. The answer is 409 unless the
    decision is the one you have `seen`.
    """
    version = selected.version_with_criteria(access.access_version(request.auth.team, version_id).pk)
    wish = body.wish(request.auth.team, "")
    return label_queues.open_queues(version, body.uid, wish, by=request.auth.user, seen=body.seen)


@rubrics.read("/rubric-versions/{int:version_id}/lint", Role.VIEWER, list_of(schemas.Finding))
def lint_version(request: TokenRequest, version_id: int) -> Any:
    """What is likely to go wrong with a published version, all on one page.

    First what its text gives cause for, then what labels have shown, without items you are still to review
    blind; `reads` tells them apart.
    """
    version = selected.version_with_criteria(access.access_version(request.auth.team, version_id).pk)
    content = version.to_engine()
    shown = lint.lint_data(content, label_evidence(version, request.auth.team, viewer=request.auth.user))
    return {"items": [*lint.lint(content), *shown], "next_cursor": None}


@rubrics.read("/starters", Role.VIEWER, list_of(schemas.Starter))
def list_starters(request: TokenRequest) -> Any:
    """The rubrics to begin with that come with rubricweb, all on one page."""
    return {"items": starters(), "next_cursor": None}


@rubrics.write("POST", "/starters/copy", Role.EDITOR, schemas.Rubric, status=201)
def copy_starter(request: TokenRequest, body: schemas.CopiedStarter) -> Any:
    """Start a rubric from a starter, which becomes its draft. Nothing is published."""
    return start_from(body.starter, request.auth.team, by=request.auth.user, title=body.title)


@rubrics.read("/checks", Role.VIEWER, list_of(schemas.Check))
def list_checks(request: TokenRequest) -> Any:
    """The checks a criterion can name, with their parameters, all on one page."""
    rows = [
        {
            "name": check.name,
            "title": check.title,
            "description": check.description,
            "params": check.params.model_json_schema(),
        }
        for check in CHECKS.values()
    ]
    return {"items": rows, "next_cursor": None}
