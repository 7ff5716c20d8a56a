"""What may be done to a run from its page: pause, resume, retry, cancel, extend, another budget."""

from collections.abc import Callable

from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from rubricweb import access, tasks
from rubricweb.engine.number_format import counted
from rubricweb.errors import Conflict, Invalid, Withheld
from rubricweb.models import Role, Run, RunState
from rubricweb.services.runs import lifecycle as services
from rubricweb.templatetags.display import usd
from rubricweb.web.http import TeamRequest, now, team_page, whole_number
from rubricweb.web.shared.numbers import number_typed

BREAK_OFF = "break_off"


@team_page(Role.VIEWER, post=Role.EDITOR)
@require_POST
def pause(request: TeamRequest, run_id: int) -> HttpResponse:
    """Calls in flight finish, unless in_flight=break_off."""
    run = access.access_run(request.team, run_id)
    finish = _may_finish(request)
    services.pause_run(run, by=request.user, finish_in_flight=finish)
    fate = "calls in flight may finish" if finish else "calls in flight are broken off"
    return _stopped(request, run, RunState.PAUSED, f"{run} is paused; {fate}.")


@team_page(Role.VIEWER, post=Role.EDITOR)
@require_POST
def cancel(request: TeamRequest, run_id: int) -> HttpResponse:
    """Calls in flight finish, unless in_flight=break_off."""
    run = access.access_run(request.team, run_id)
    services.cancel_run(run, by=request.user, now=now(), finish_in_flight=_may_finish(request))
    return _stopped(request, run, RunState.CANCELLED, f"{run} is cancelled; what was graded stays.")


@team_page(Role.VIEWER, post=Role.EDITOR)
@require_POST
def resume(request: TeamRequest, run_id: int) -> HttpResponse:
    """Goes on with what is missing: everything, one kind of error (`kind`), the errors of one `item`, or
    only=pending items.
    """
    run = access.access_run(request.team, run_id)
    item_id = whole_number(request.POST.get("item"), "The item")
    kinds = _read_retry(request.POST)

    def go_on() -> str:
        items = services.resume_run(
            run,
            by=request.user,
            enqueue=tasks.notify,
            error_kinds=kinds,
            item_ids=None if item_id is None else [item_id],
        )
        return f"Working on {counted(items, 'item')}." if items else "Nothing is missing in this run."

    return _done_or_refused(request, run, go_on)


@team_page(Role.VIEWER, post=Role.EDITOR)
@require_POST
def extend(request: TeamRequest, run_id: int) -> HttpResponse:
    """Takes in the items that came into the dataset after the run was planned."""
    run = access.access_run(request.team, run_id)

    def take_in() -> str:
        items = services.extend_run(run, by=request.user, enqueue=tasks.notify)
        return f"{counted(items, 'item')} added." if items else "No item is new to this run."

    return _done_or_refused(request, run, take_in)


@team_page(Role.VIEWER, post=Role.EDITOR)
@require_POST
def budget(request: TeamRequest, run_id: int) -> HttpResponse:
    """What the run may cost from now on, nothing for no cap; with `resume` a paused run goes on at once."""
    run = access.access_run(request.team, run_id)

    def change() -> str:
        amount = _dollars(request.POST.get("budget_usd", ""))
        if "resume" in request.POST:
            services.set_budget_and_go_on(run, by=request.user, enqueue=tasks.notify, budget_usd=amount)
        else:
            services.set_budget(run, by=request.user, budget_usd=amount)
        cap = "no cap of its own" if run.budget_usd is None else f"a budget of {usd(run.budget_usd)}"
        return f"{run} has {cap}."

    return _done_or_refused(request, run, change)


def _stopped(request: TeamRequest, run: Run, state: RunState, words: str) -> HttpResponse:
    """Back to the run's page with these words, unless it had ended before it could be stopped."""
    if run.state == state:
        messages.success(request, words)
    else:
        messages.info(request, f"{run} had already ended.")
    return _back(request, run)


def _done_or_refused(request: TeamRequest, run: Run, do: Callable[[], str]) -> HttpResponse:
    """Back to the run's page with what `do` says was done, or with why it was refused."""
    try:
        messages.success(request, do())
    except (Conflict, Invalid, Withheld) as error:
        messages.error(request, str(error))
    return _back(request, run)


def _may_finish(request: TeamRequest) -> bool:
    return request.POST.get("in_flight") != BREAK_OFF


def _dollars(text: str) -> float | None:
    """None for an empty field. Raises Invalid."""
    if not text.strip():
        return None
    number = number_typed(text.strip().removeprefix("$"))
    if isinstance(number, str):
        raise Invalid(f"The budget is {text[:40]!r}; allowed are US dollars from 0, or nothing for no cap.")
    return float(number)


def _back(request: TeamRequest, run: Run) -> HttpResponse:
    return redirect("run", request.team.slug, run.pk)


def _read_retry(data: QueryDict) -> tuple[str, ...] | None:
    """Which failed verdicts to ask for again: kind=… one kind, only=pending none, else all (None)."""
    if data.get("only") == "pending":
        return ()
    kind = data.get("kind", "")
    return (kind,) if kind else None
