"""Operations about what people and judges differ on: the inbox, decisions, where ground truth comes from."""

from typing import Any

from ninja import Query

from rubricweb import access
from rubricweb.api.adjudication import schemas
from rubricweb.api.operations import Room, TokenRequest
from rubricweb.api.paging import cut
from rubricweb.api.schemas import WithFields, list_of
from rubricweb.errors import Invalid
from rubricweb.models import Role
from rubricweb.selectors.adjudication import inbox as selected
from rubricweb.selectors.adjudication.units import unit_to_decide
from rubricweb.selectors.blinding import require_visible
from rubricweb.selectors.comparison.comparison import cell_units
from rubricweb.selectors.labels.adjudications import criterion_for
from rubricweb.selectors.labels.comparable import criteria_of, queues_to_compare
from rubricweb.selectors.labels.ground_truth import Unit
from rubricweb.selectors.labels.provenance import item_provenance
from rubricweb.selectors.reviews.revision_rates import revision_rates
from rubricweb.selectors.rubrics.todo import rubric_todo
from rubricweb.selectors.shared.left_out import left_out
from rubricweb.services import adjudications as services

adjudication = Room("adjudication")

UNIT = "/items/{int:item_id}/criteria/{int:criterion_id}/adjudication"


@adjudication.read("/adjudication", Role.VIEWER, list_of(schemas.InboxUnit, leaves_out=True), names_rows=True)
def list_to_adjudicate(request: TokenRequest, asked: Query[schemas.InboxQuery]) -> Any:
    """What people and judges differ on, most telling first.

    People differ, the judge differs from them, the judge's votes or repeats differ, several cannot assess.
    Final labels count, settled units only when asked for. `left_out` counts items of these datasets you are
    still to review blind. What was labelled in queues of the past alone (`history`) is listed where a run or
    queue is asked for.
    """
    team = request.auth.team
    run = None if asked.run is None else access.access_run(team, asked.run)
    where = selected.scope(team, request.auth.user, access.access_queues(team, asked.queue), run)
    rows = selected.inbox(
        where,
        criterion_ids=asked.criterion,
        kind=asked.kind or "",
        cause=asked.cause or "",
        decided=asked.include_decided,
        only=_cell(where, asked),
    )
    page = cut(rows, asked, key=lambda row: row.key)
    hidden = left_out(to_review_blind=selected.items_left_out(where))
    return page | {"items": selected.shown(where, page["items"]), "left_out": hidden}


def _cell(where: selected.Scope, asked: schemas.InboxQuery) -> list[Unit] | None:
    """The units of the cell of the confusion matrix that is asked for; None where none is."""
    if asked.judged is None and asked.truth is None:
        return None
    if asked.judged is None or asked.truth is None or asked.run is None:
        raise Invalid("A cell of the confusion matrix is named by run, judged and truth together.")
    criterion = None
    if len(asked.criterion) == 1:
        criterion = criteria_of(where.runs[0], where.queues).filter(pk=asked.criterion[0]).first()
    return cell_units(
        where.runs[0], where.queues, judged=asked.judged, truth=asked.truth, criterion=criterion
    )


@adjudication.read(UNIT, Role.VIEWER, schemas.Unit)
def get_unit_to_adjudicate(request: TokenRequest, item_id: int, criterion_id: int) -> Any:
    """Everybody's word on one criterion of one item.

    Raters have letters in place of names, other ones on every item. Withheld (403) while you are still to
    review the item blind.
    """
    item = access.access_item(request.auth.team, item_id)
    return unit_to_decide(item, criterion_for(item, criterion_id), viewer=request.auth.user)


@adjudication.write("POST", f"{UNIT}/names", Role.VIEWER, schemas.Unit)
def look_at_names_of_unit(request: TokenRequest, item_id: int, criterion_id: int) -> Any:
    """Everybody's word on one criterion of one item, with the names of the raters.

    That you looked is written down in the audit log. Withheld (403) while you are still to review the item
    blind.
    """
    item = access.access_item(request.auth.team, item_id)
    unit = unit_to_decide(item, criterion_for(item, criterion_id), viewer=request.auth.user, names=True)
    services.note_names_shown(item, by=request.auth.user)
    return unit


@adjudication.write("PUT", UNIT, Role.REVIEWER, schemas.Adjudication)
def adjudicate(request: TokenRequest, item_id: int, criterion_id: int, body: schemas.NewAdjudication) -> Any:
    """Decide the final verdict on one criterion of one item.

    Deciding again replaces your own decision. Another person's is only replaced when `seen` is its
    `decided_at`; else the answer (409) says what they decided meanwhile. The audit log keeps all. Withheld
    (403) while you are still to review the item blind.
    """
    item = access.access_item(request.auth.team, item_id)
    criterion = criterion_for(item, criterion_id)
    require_visible(request.auth.user, item)
    return services.adjudicate(
        item,
        criterion,
        by=request.auth.user,
        verdict=body.verdict,
        cause=body.cause,
        reason=body.reason,
        seen=body.seen,
    )


@adjudication.write("DELETE", UNIT, Role.REVIEWER, schemas.Unit)
def withdraw_adjudication(
    request: TokenRequest, item_id: int, criterion_id: int, asked: Query[schemas.WithdrawQuery]
) -> Any:
    """Take a decision back; the one it replaced stands again, else what people said.

    Safe to repeat with `seen`, the `decided_at` of the decision that is meant.
    """
    item = access.access_item(request.auth.team, item_id)
    criterion = criterion_for(item, criterion_id)
    services.withdraw(item, criterion, by=request.auth.user, seen=asked.seen)
    return unit_to_decide(item, criterion, viewer=request.auth.user)


@adjudication.read("/queues/{int:queue_id}/agreed", Role.REVIEWER, schemas.Agreed)
def get_agreed(request: TokenRequest, queue_id: int) -> Any:
    """How many units of a queue everybody agrees on and could be accepted at once."""
    queue = access.access_queue(request.auth.team, queue_id)
    where = selected.scope(request.auth.team, request.auth.user, [queue])
    return {
        "units": len(selected.agreed(queue, request.auth.user)),
        "waiting": len(selected.inbox(where)),
        "hidden_items": selected.items_left_out(where),
    }


@adjudication.write("POST", "/queues/{int:queue_id}/accept", Role.REVIEWER, schemas.Accepted)
def accept_agreed(request: TokenRequest, queue_id: int) -> Any:
    """Accept every unit of a queue on which all people and the judge say the same.

    They stand as ground truth by the rule unanimous, with your name and the labels as they are now.
    """
    queue = access.access_queue(request.auth.team, queue_id)
    return {"accepted": services.accept_agreed(queue, by=request.auth.user)}


@adjudication.read("/items/{int:item_id}/ground-truth", Role.VIEWER, schemas.GroundTruthOfItem)
def get_ground_truth(request: TokenRequest, item_id: int) -> Any:
    """What stands for every labelled criterion of an item: by which rule, from which labels, when.

    Withheld (403) while you are still to review the item blind.
    """
    item = access.access_item(request.auth.team, item_id)
    provenances = item_provenance(item, viewer=request.auth.user)
    return schemas.ground_truth_of_item(item, provenances, names=False)


@adjudication.write("POST", "/items/{int:item_id}/ground-truth/names", Role.VIEWER, schemas.GroundTruthOfItem)
def look_at_names_of_ground_truth(request: TokenRequest, item_id: int) -> Any:
    """What stands for every labelled criterion of an item, with the names of those who labelled and decided.

    That you looked is written down in the audit log. Withheld (403) while you are still to review the item
    blind.
    """
    item = access.access_item(request.auth.team, item_id)
    provenances = item_provenance(item, viewer=request.auth.user)
    services.note_names_shown(item, by=request.auth.user)
    return schemas.ground_truth_of_item(item, provenances, names=True)


@adjudication.read("/rubrics/{int:rubric_id}/work", Role.VIEWER, schemas.RubricWork)
def get_rubric_work(request: TokenRequest, rubric_id: int) -> Any:
    """The to-do list of a rubric: why people and judges differed, criterion by criterion.

    Items you are still to review blind are left out.
    """
    rubric = access.access_rubric(request.auth.team, rubric_id)
    return {"rubric_id": rubric.pk, "criteria": rubric_todo(rubric, viewer=request.auth.user)}


@adjudication.read("/runs/{int:run_id}/revisions", Role.VIEWER, schemas.RevisionRates)
def get_revision_rates(request: TokenRequest, run_id: int, asked: Query[schemas.RevisionRatesQuery]) -> Any:
    """How often people changed a verdict once they had seen this run's judge say something else.

    Items you are still to review blind are left out.
    """
    team = request.auth.team
    run = access.access_run(team, run_id)
    queues = queues_to_compare(run, access.access_queues(team, asked.queue))
    return WithFields(revision_rates(run, queues, viewer=request.auth.user), run_id=run.pk)
