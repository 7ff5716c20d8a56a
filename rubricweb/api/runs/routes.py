"""Operations about runs and the judges they ask."""

from typing import Any

from ninja import Query

from rubricweb import access, tasks
from rubricweb.api.datasets.routes import version_or_own
from rubricweb.api.idempotency import IdempotencyKey, once
from rubricweb.api.operations import Room, TokenRequest
from rubricweb.api.paging import listed
from rubricweb.api.runs import schemas
from rubricweb.api.runs.answers import one_run, run_in_full, run_in_list
from rubricweb.api.runs.launch_schemas import NewRun
from rubricweb.api.runs.options import run_options
from rubricweb.api.schemas import WithFields, list_of
from rubricweb.errors import NotFound
from rubricweb.models import Role
from rubricweb.selectors.runs import listing as selected
from rubricweb.selectors.runs import reports, results
from rubricweb.services.endpoints import endpoints
from rubricweb.services.runs import lifecycle as services
from rubricweb.services.shared.idempotency import Done

runs = Room("runs")


@runs.read("/judges", Role.VIEWER, list_of(schemas.PricedJudge))
def list_judges(request: TokenRequest) -> Any:
    """The judges this team can grade with, all on one page.

    `offline` is no LLM: it only compares words of the criterion with words of the submission, and is for
    trying rubricweb without a key.
    """
    judges = endpoints.judges_of(request.auth.team)
    rows = [WithFields(judge, id=judge_id) for judge_id, judge in judges.items()]
    return {"items": rows, "next_cursor": None}


@runs.read("/runs", Role.VIEWER, list_of(schemas.Run))
def list_runs(request: TokenRequest, asked: Query[schemas.RunQuery]) -> Any:
    """The team's runs, newest first."""
    page = selected.runs(
        request.auth.team,
        viewer=request.auth.user,
        dataset_id=asked.dataset,
        rubric_id=asked.rubric,
        state=asked.state or "",
        cursor=asked.cursor,
        size=asked.limit,
    )
    return {"items": [run_in_list(row) for row in page.rows], "next_cursor": page.next_cursor}


@runs.write("POST", "/runs", Role.EDITOR, schemas.Run, status=201)
def start_run(request: TokenRequest, body: NewRun, key: IdempotencyKey = None) -> Any:
    """Start a run over a dataset, or some items of it.

    By one judge, or by a panel of several; rubrics of checks alone need neither. What the team was answered
    before is not asked again, and the run pauses before a call would pass a budget. Sent again with its
    `Idempotency-Key`, it starts no second run and answers with the first.
    """

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
            options=run_options(team, dataset, body),
        )
        return run, 0

    run, _ = once(request, key, body, start)
    return one_run(run, request.auth.user)


@runs.read("/runs/{int:run_id}", Role.VIEWER, schemas.RunInFull)
def get_run(request: TokenRequest, run_id: int) -> Any:
    """A run: how far it is, what came out, what went wrong."""
    return run_in_full(access.access_run(request.auth.team, run_id), request.auth.user)


@runs.read("/runs/{int:run_id}/items", Role.VIEWER, list_of(schemas.RunItem))
def list_run_items(request: TokenRequest, run_id: int, asked: Query[schemas.RunItemQuery]) -> Any:
    """The graded items of a run, worst first; without those you are still to review blind."""
    run = access.access_run(request.auth.team, run_id)
    return listed(
        results.run_items(
            run, viewer=request.auth.user, order=asked.sort, cursor=asked.cursor, size=asked.limit
        )
    )


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
