"""Operations that change what becomes of a run: pause, cancel, resume, extend, and what it may cost."""

from typing import Any

from django.utils import timezone

from rubricweb import access, tasks
from rubricweb.api.idempotency import IdempotencyKey, once
from rubricweb.api.operations import Room, TokenRequest
from rubricweb.api.runs import control_schemas as schemas
from rubricweb.api.runs.answers import one_run
from rubricweb.api.runs.schemas import Run
from rubricweb.models import Role
from rubricweb.services.runs import lifecycle as services
from rubricweb.services.shared.idempotency import Done

run_control = Room("runs")


@run_control.write("POST", "/runs/{int:run_id}/pause", Role.EDITOR, Run)
def pause_run(
    request: TokenRequest,
    run_id: int,
    body: schemas.Stop = schemas.Stop(),  # noqa: B008 never changed; ninja reads the default
) -> Any:
    """Stop asking until the run is resumed.

    A run that is not running stays as it is; one that was paused can still be told to break off its calls.
    """
    run = access.access_run(request.auth.team, run_id)
    services.pause_run(run, by=request.auth.user, finish_in_flight=body.in_flight == "finish")
    return one_run(run, request.auth.user)


@run_control.write("POST", "/runs/{int:run_id}/cancel", Role.EDITOR, Run)
def cancel_run(
    request: TokenRequest,
    run_id: int,
    body: schemas.Stop = schemas.Stop(),  # noqa: B008 as above
) -> Any:
    """End the run before everything is graded.

    Verdicts so far stay, and resuming goes on from there. A run that has ended stays as it is.
    """
    run = access.access_run(request.auth.team, run_id)
    services.cancel_run(
        run, by=request.auth.user, now=timezone.now(), finish_in_flight=body.in_flight == "finish"
    )
    return one_run(run, request.auth.user)


@run_control.write("POST", "/runs/{int:run_id}/resume", Role.EDITOR, schemas.ResumedRun)
def resume_run(
    request: TokenRequest,
    run_id: int,
    body: schemas.Resumption = schemas.Resumption(),  # noqa: B008 as above
    key: IdempotencyKey = None,
) -> Any:
    """Grade what is missing.

    Items never graded, and verdicts that failed: all of them, or only some error kinds, or only those of
    some items. Verdicts already given are not asked for again. Refused (409) while the run is running; sent
    again with its `Idempotency-Key`, it is answered and nothing is asked twice. While the run's progress is
    `withheld` from you, only items never graded are: asking again for what failed is refused (403).
    """

    def resume() -> Done:
        run = access.access_run(request.auth.team, run_id)
        items = services.resume_run(
            run,
            by=request.auth.user,
            enqueue=tasks.notify,
            error_kinds=body.error_kinds,
            item_ids=body.item_ids,
        )
        return run, items

    run, items = once(request, key, body, resume)
    return {"items": items, "run": one_run(run, request.auth.user)}


@run_control.write("POST", "/runs/{int:run_id}/extend", Role.EDITOR, schemas.ExtendedRun)
def extend_run(request: TokenRequest, run_id: int, key: IdempotencyKey = None) -> Any:
    """Take in the items that were added to the dataset since the run was started.

    A finished run goes on with them; one that is paused, cancelled or failed waits to be resumed. Sent again
    with its `Idempotency-Key`, it takes in nothing more and answers as before.
    """

    def extend() -> Done:
        run = access.access_run(request.auth.team, run_id)
        return run, services.extend_run(run, by=request.auth.user, enqueue=tasks.notify)

    run, items = once(request, key, None, extend)
    return {"items": items, "run": one_run(run, request.auth.user)}


@run_control.write("PUT", "/runs/{int:run_id}/budget", Role.EDITOR, Run)
def set_budget(request: TokenRequest, run_id: int, body: schemas.Budget) -> Any:
    """Change what the run may cost.

    A run that its cap had paused stays paused until it is resumed.
    """
    run = access.access_run(request.auth.team, run_id)
    services.set_budget(run, by=request.auth.user, budget_usd=body.budget_usd)
    return one_run(run, request.auth.user)
