"""Operations about runs and the judges they ask."""

from typing import Any

from django.utils import timezone
from ninja import Query

from rubricweb import access, tasks
from rubricweb.api.datasets import version_or_own
from rubricweb.api.operations import Room, TokenRequest
from rubricweb.api.paging import listed
from rubricweb.api.schemas import runs as schemas
from rubricweb.api.schemas.shared import With, list_of
from rubricweb.engine.errors import Fault
from rubricweb.errors import Invalid, NotFound
from rubricweb.models import Role, Team
from rubricweb.selectors import run_reports, run_votes
from rubricweb.selectors import runs as selected
from rubricweb.services import endpoints
from rubricweb.services import runs as services
from rubricweb.services.few_shot import FewShot
from rubricweb.services.panels import Member, Panel

runs = Room("runs")


@runs.read("/judges", Role.VIEWER, list_of(schemas.PricedJudge))
def list_judges(request: TokenRequest) -> Any:
    """The judges this team can grade with, all on one page."""
    judges = endpoints.judges_of(request.auth.team)
    rows = [
        {
            "id": judge_id,
            "name": judge.name,
            "model": judge.model,
            "input_usd_per_million": judge.input_usd_per_million,
            "output_usd_per_million": judge.output_usd_per_million,
        }
        for judge_id, judge in judges.items()
    ]
    return {"items": rows, "next_cursor": None}


@runs.read("/runs", Role.VIEWER, list_of(schemas.Run))
def list_runs(request: TokenRequest, asked: Query[schemas.RunQuery]) -> Any:
    """The team's runs, newest first."""
    return listed(
        selected.runs(
            request.auth.team,
            dataset_id=asked.dataset,
            rubric_id=asked.rubric,
            state=asked.state or "",
            cursor=asked.cursor,
            size=asked.limit,
        )
    )


@runs.write("POST", "/runs", Role.EDITOR, schemas.Run, status=201)
def start_run(request: TokenRequest, body: schemas.NewRun) -> Any:
    """Start a run over every item of a dataset.

    By one judge, or by a panel of several; rubrics of checks alone need neither.
    """
    team = request.auth.team
    dataset = access.dataset_for(team, body.dataset_id)
    return services.start_run(
        team,
        by=request.auth.user,
        dataset=dataset,
        rubric_version=version_or_own(team, body.rubric_version_id, dataset),
        judge_id=body.judge,
        panel=_panel(body.panel),
        few_shot_from=_few_shot(team, body.few_shot),
        enqueue=tasks.ring,
        autograder=body.autograder,
        reply_format=body.reply_format,
        normalize=body.normalize,
        abstention=body.abstention,
        on_error=body.on_error,
        option_seed=body.option_seed,
        name=body.name,
    )


def _panel(asked: schemas.NewPanel | None) -> Panel | None:
    if asked is None:
        return None
    members = [Member(one.judge, one.weight, one.stage, one.name) for one in asked.members]
    return Panel(
        members,
        rule=asked.rule,
        repeats=asked.repeats,
        quorum=asked.quorum,
        escalate_on=asked.escalate_on,
        min_confidence=asked.min_confidence,
    )


def _few_shot(team: Team, asked: schemas.NewFewShot | None) -> FewShot | None:
    """Where the examples come from: a queue stands for its dataset."""
    if asked is None:
        return None
    queue = access.queue_for(team, asked.queue_id) if asked.queue_id is not None else None
    if asked.dataset_id is not None:
        return FewShot(access.dataset_for(team, asked.dataset_id), queue, asked.n, asked.seed)
    if queue is None:
        fault = Fault("few_shot", "neither dataset_id nor queue_id", "one of them")
        raise Invalid(str(fault), [fault])
    return FewShot(queue.dataset, queue, asked.n, asked.seed)


@runs.read("/runs/{int:run_id}", Role.VIEWER, schemas.RunInFull)
def get_run(request: TokenRequest, run_id: int) -> Any:
    """A run: how far it is, what came out, what went wrong."""
    run = access.run_for(request.auth.team, run_id)
    return With(
        run,
        progress=selected.progress(run, now=timezone.now()),
        score=selected.mean_score(run),
        coverage=selected.mean_coverage(run),
        error_classes=selected.error_classes(run),
        criteria=selected.criterion_rates(run, viewer=request.auth.user),
        pass_rate=selected.pass_rate(run, viewer=request.auth.user),
        votes=run_votes.run_votes(run, viewer=request.auth.user),
    )


@runs.write("POST", "/runs/{int:run_id}/cancel", Role.EDITOR, schemas.Run)
def cancel_run(request: TokenRequest, run_id: int) -> Any:
    """Stop asking.

    Verdicts so far stay, and resuming goes on from there. A run that has ended stays as it is.
    """
    run = access.run_for(request.auth.team, run_id)
    services.cancel_run(run, by=request.auth.user, now=timezone.now())
    return run


@runs.write("POST", "/runs/{int:run_id}/resume", Role.EDITOR, schemas.ResumedRun)
def resume_run(
    request: TokenRequest,
    run_id: int,
    body: schemas.Resumption = schemas.Resumption(),  # noqa: B008 never changed; ninja reads the default
) -> Any:
    """Grade what is missing.

    Items never graded, and verdicts that failed: all of them, or only some error kinds. Verdicts already
    given are not asked for again.
    """
    run = access.run_for(request.auth.team, run_id)
    items = services.resume_run(run, by=request.auth.user, enqueue=tasks.ring, error_kinds=body.error_kinds)
    return {"items": items, "run": run}


@runs.read("/runs/{int:run_id}/items", Role.VIEWER, list_of(schemas.RunItem))
def list_run_items(request: TokenRequest, run_id: int, asked: Query[schemas.RunItemQuery]) -> Any:
    """The graded items of a run, worst first; without those you are still to review blind."""
    run = access.run_for(request.auth.team, run_id)
    return listed(
        selected.run_items(
            run, viewer=request.auth.user, order=asked.sort, cursor=asked.cursor, size=asked.limit
        )
    )


@runs.read("/runs/{int:run_id}/items/{int:item_id}", Role.VIEWER, schemas.Report)
def get_report(request: TokenRequest, run_id: int, item_id: int) -> Any:
    """The report on one item: score, verdicts, reasons, errors, and the votes behind them.

    Withheld (403) while you are still to review the item blind.
    """
    run = access.run_for(request.auth.team, run_id)
    item = access.item_for(request.auth.team, item_id)
    report = run_reports.item_report(run, item, viewer=request.auth.user)
    if report is None:
        raise NotFound("item in this run")
    verdicts = [
        With(
            one.judgement,
            value=one.value,
            votes=one.votes,
            agreement=one.agreement,
            flips=one.flips,
            contribution=one.contribution,
        )
        for one in report.criteria
        if one.judgement is not None
    ]
    return With(report.row, verdicts=verdicts, groups=report.groups)
