"""Operations about runs and the judges they ask."""

from typing import Any

from django.utils import timezone
from ninja import Query

from rubricweb import access, tasks
from rubricweb.api.datasets.routes import version_or_own
from rubricweb.api.deletions import schemas as deletion_schemas
from rubricweb.api.deletions.deleting import deleted, planned
from rubricweb.api.idempotency import IdempotencyKey, once
from rubricweb.api.operations import Room, TokenRequest
from rubricweb.api.paging import leaving_out_archived, listed, whole
from rubricweb.api.runs import schemas
from rubricweb.api.runs.answers import one_run, run_in_full, run_in_list
from rubricweb.api.runs.launch_schemas import NewRun
from rubricweb.api.runs.options import run_options
from rubricweb.api.schemas import Naming, WithFields, list_of
from rubricweb.errors import Invalid, NotFound
from rubricweb.models import JudgeEndpoint, Role, Run
from rubricweb.selectors.datasets.columns import read_where
from rubricweb.selectors.runs import listing as selected
from rubricweb.selectors.runs import reports, results
from rubricweb.services.endpoints import endpoints
from rubricweb.services.runs import lifecycle as services
from rubricweb.services.runs.launching import launch_runs
from rubricweb.services.shared import archiving
from rubricweb.services.shared.idempotency import Done

runs = Room("runs")


@runs.read("/judges", Role.VIEWER, list_of(schemas.PricedJudge, leaves_out=True))
def list_judges(request: TokenRequest) -> Any:
    """The judges this team can grade with, all on one page.

    `offline` is no LLM: it only compares words of the criterion with words of the submission, and is for
    trying rubricweb without a key. Judges with versions, which a run may name as well, are in
    `GET /named-judges`.
    """
    judges = endpoints.judges_of(request.auth.team)
    rows = [WithFields(judge, id=judge_id) for judge_id, judge in judges.items()]
    return whole(rows) | leaving_out_archived(request, JudgeEndpoint)


@runs.read("/runs", Role.VIEWER, list_of(schemas.Run, leaves_out=True))
def list_runs(request: TokenRequest, asked: Query[schemas.RunQuery]) -> Any:
    """The team's runs, newest first."""
    narrowed = selected.of(dataset_id=asked.dataset, rubric_id=asked.rubric, named_judge_id=asked.named_judge)
    page = selected.runs(
        request.auth.team,
        viewer=request.auth.user,
        narrowed=narrowed,
        state=asked.state or "",
        cursor=asked.cursor,
        size=asked.limit,
    )
    rows = {"items": [run_in_list(row) for row in page.rows], "next_cursor": page.next_cursor}
    archived = asked.state == selected.ARCHIVED
    return rows | leaving_out_archived(request, Run, narrowed, archived=archived)


@runs.write("POST", "/runs", Role.EDITOR, schemas.Run, status=201)
def start_run(request: TokenRequest, body: NewRun, key: IdempotencyKey = None) -> Any:
    """Start a run over a dataset, or some items of it.

    By one judge, or by a panel of several; rubrics of checks alone need neither. What the team was answered
    before is not asked again, and the run pauses before a call would pass a budget. Sent again with its
    `Idempotency-Key`, it starts no second run and answers with the first.
    """

    if len(body.systems) > 1:
        raise Invalid.at(
            "systems", f"{len(body.systems)} versions", "one; POST /launches starts a run for each"
        )

    def start() -> Done:
        team = request.auth.team
        dataset = access.access_dataset(team, body.dataset_id)
        run = services.start_run(
            team,
            by=request.auth.user,
            dataset=dataset,
            rubric_version=version_or_own(team, body.rubric_version_id, dataset),
            enqueue=tasks.notify,
            budget_usd=body.budget_usd,
            no_cap=body.no_cap,
            options=run_options(team, dataset, body, viewer=request.auth.user),
        )
        return run, 0

    run, _ = once(request, key, body, start)
    return one_run(run, request.auth.user)


@runs.write("POST", "/launches", Role.EDITOR, schemas.Launch, status=201)
def start_launch(request: TokenRequest, body: NewRun, key: IdempotencyKey = None) -> Any:
    """Start a run for each of `systems`, all or none.

    Each may cost an equal part of `budget_usd`. Sent again with its `Idempotency-Key`, it starts nothing and
    answers with the same runs.
    """

    def start() -> Done:
        team = request.auth.team
        dataset = access.access_dataset(team, body.dataset_id)
        started = launch_runs(
            team,
            by=request.auth.user,
            dataset=dataset,
            rubric_version=version_or_own(team, body.rubric_version_id, dataset),
            enqueue=tasks.notify,
            budget_usd=body.budget_usd,
            no_cap=body.no_cap,
            options=run_options(team, dataset, body, viewer=request.auth.user),
        )
        return started[0], 0

    first, _ = once(request, key, body, start)
    return {"runs": [one_run(run, request.auth.user) for run in first.launched_with]}


@runs.read("/runs/{int:run_id}", Role.VIEWER, schemas.RunInFull)
def get_run(request: TokenRequest, run_id: int) -> Any:
    """A run: how far it is, what came out, what went wrong."""
    return run_in_full(access.access_run(request.auth.team, run_id), request.auth.user)


@runs.write("PATCH", "/runs/{int:run_id}", Role.EDITOR, schemas.RunInFull)
def change_run(request: TokenRequest, run_id: int, body: Naming) -> Any:
    """Rename, archive or restore a run.

    Archived, it is left out of lists, choosers and the dashboard. Refused (409) before it has ended.
    """
    run = access.access_run(request.auth.team, run_id)
    archiving.change(run, by=request.auth.user, now=timezone.now(), **body.model_dump())
    return run_in_full(run, request.auth.user)


@runs.read("/runs/{int:run_id}/deletion", Role.OWNER, deletion_schemas.DeletionPlan)
def plan_run_deletion(request: TokenRequest, run_id: int) -> Any:
    """What deleting a run would take with it, and what would stay."""
    return planned(access.access_run(request.auth.team, run_id))


@runs.write("DELETE", "/runs/{int:run_id}", Role.OWNER, deletion_schemas.Deletion, status=202)
def delete_run(request: TokenRequest, run_id: int, body: deletion_schemas.DeletionName) -> Any:
    """Delete a run for good, with its verdicts and calls. What it has cost stays in the spending.

    Refused (409) before it has ended, and while calls of it are in flight.
    """
    return deleted(request, access.access_run(request.auth.team, run_id), body)


@runs.read("/runs/{int:run_id}/items", Role.VIEWER, list_of(schemas.RunItem, leaves_out=True))
def list_run_items(request: TokenRequest, run_id: int, asked: Query[schemas.RunItemQuery]) -> Any:
    """The graded items of a run, in the order of its dataset.

    `left_out` counts those of the run that are not listed: by score also those that failed or have none.
    """
    run, viewer = access.access_run(request.auth.team, run_id), request.auth.user
    page = results.run_items(
        run,
        viewer=viewer,
        order=asked.sort,
        cursor=asked.cursor,
        size=asked.limit,
        where=read_where(run.dataset, asked.where),
    )
    return listed(page) | {"left_out": results.left_out_items(run, viewer=viewer, order=asked.sort)}


@runs.read("/runs/{int:run_id}/items/{int:item_id}", Role.VIEWER, schemas.Report)
def get_report(request: TokenRequest, run_id: int, item_id: int) -> Any:
    """The report on one item: score, verdicts, reasons, errors, and the votes behind them.

    Withheld (403) while you are still to review the item blind.
    """
    run = access.access_run(request.auth.team, run_id)
    item = access.access_item(request.auth.team, item_id)
    report = reports.item_report(run, item, viewer=request.auth.user)
    if report is None:
        raise NotFound("item in this run")
    verdicts = [
        WithFields(
            one.judgement,
            value=one.value,
            votes=one.votes,
            agreement=one.agreement,
            flips=one.flips,
            contribution=one.contribution,
            effect=one.effect,
        )
        for one in report.criteria
        if one.judgement is not None
    ]
    return WithFields(report.row, verdicts=verdicts, groups=report.groups)
