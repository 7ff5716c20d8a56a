"""What the pages of runs say in figures and sentences of several cases."""

from collections.abc import Iterator

from django.utils.html import format_html

from rubricweb.engine.number_format import counted, money, number, whole
from rubricweb.judges.base import JudgeConfig
from rubricweb.models import Run, RunState
from rubricweb.selectors.runs.planning.forecasts import Forecast
from rubricweb.selectors.runs.planning.plans import Plan
from rubricweb.selectors.runs.progress import Progress
from rubricweb.templatetags.display import duration, percent, relative_time
from rubricweb.templatetags.run_plan_words import about_duration, cap_warning, duration_span, span, usd_span
from rubricweb.web.shared.tiles import PageNotice, Tile, sentence

IMPORTED = (
    "A machine gave them before they came here in a file. Nobody is asked again, and nothing is billed. "
    "Scores are of what it judged; checks are not among them."
)
KEPT = "Graded items are kept; resuming asks only for what is missing."
PAUSED_BY_CAP = {
    "budget": "Paused: the budget is used up",
    "month_budget": "Paused: the team's budget for the month is used up",
}
RAISE_THE_CAP = {
    "budget": "Raise the cap and resume.",
    "month_budget": "An owner of the team can raise it under Settings, Spending; then resume.",
}


# ── A run while it is graded ─────────────────────────────────────────────────────────────────────


def live_notice(run: Run, progress: Progress) -> PageNotice | None:
    """Why a run does not go on, and what to do about it; None while it does."""
    if progress.start_command:
        text = format_html("The run waits for one. Start it with <code>{}</code>.", progress.start_command)
        return PageNotice("warning", "triangle-alert", "No worker is running", text)
    if run.imported:
        return PageNotice("info", "bot", "These grades were imported", IMPORTED)
    if run.state == RunState.FAILED:
        return PageNotice("error", "circle-x", "The run stopped before it was done", progress.stop_reason)
    if run.state == RunState.CANCELLED:
        return PageNotice("info", "square", format_html("Cancelled {}", relative_time(run.finished_at)), KEPT)
    if run.state == RunState.PAUSED:
        return _pause_notice(run, progress)
    return None


def _pause_notice(run: Run, progress: Progress) -> PageNotice:
    if progress.is_moving and run.finish_in_flight:
        next_step = "Answers to calls in flight still come in."
    elif progress.is_moving:
        next_step = "Calls in flight are being stopped."
    else:
        next_step = sentence(RAISE_THE_CAP.get(progress.waiting, ""), KEPT, between=" ")
    title = PAUSED_BY_CAP.get(progress.waiting, "Paused")
    text = sentence(progress.stop_reason, next_step, between=" ")
    return PageNotice("warning" if progress.stop_reason else "info", "pause", title, text)


def live_tiles(run: Run, progress: Progress, *, by_batch: bool) -> list[Tile]:
    """The figures below the bar, always in the same order, so that they keep their places."""
    if run.imported:
        verdicts = "withheld" if progress.verdicts is None else whole(progress.verdicts)
        return [
            Tile("Imported", relative_time(run.created_at)),
            Tile("Items", whole(progress.items)),
            Tile("Verdicts", verdicts),
        ]
    tiles = list(_pace_tiles(run, progress))
    if progress.is_moving:
        tiles.append(_in_flight(run, progress, by_batch=by_batch))
    if progress.withheld:
        why = "while you review blind: they can tell what a judge said"
        tiles.append(Tile("Verdicts, errors, calls and cost", "withheld", why, is_muted=True))
        if run.budget_usd is not None:
            tiles.append(Tile("Cap", money(run.budget_usd), "of this run"))
    else:
        tiles += _call_tiles(progress, by_batch=by_batch)
        tiles.append(_spent(run, progress))
    if (cap := progress.month_budget_usd) is not None:
        spent = "withheld" if progress.month_usd is None else money(progress.month_usd)
        tiles.append(Tile("This month", spent, "all runs of the team", limit=f"of {money(cap)}"))
    return tiles


def _pace_tiles(run: Run, progress: Progress) -> Iterator[Tile]:
    if run.state == RunState.RUNNING and not progress.withheld and progress.waiting != "batch":
        seconds, speed = progress.seconds_left, progress.calls_per_second
        yield Tile("Time left", "–" if seconds is None else f"about {about_duration(seconds)}")
        yield Tile("Speed", "–" if speed is None else f"{number(speed, 1)} calls/s")
    elif run.finished_at:
        yield Tile("Ended", relative_time(run.finished_at))


def _in_flight(run: Run, progress: Progress, *, by_batch: bool) -> Tile:
    if by_batch:
        with_provider = progress.waiting == "batch" or run.state != RunState.RUNNING
        note = "with the provider" if with_provider else ""
    else:
        note = counted(len(progress.workers), "worker") if progress.workers else "no worker"
    if progress.withheld:
        return Tile("In flight", "withheld", note, is_muted=True)
    return Tile("In flight", "a batch" if by_batch else counted(progress.in_flight or 0, "call"), note)


def _call_tiles(progress: Progress, *, by_batch: bool) -> Iterator[Tile]:
    yield Tile("Verdicts", whole(progress.verdicts))
    yield Tile("Errors", whole(progress.errors), level="danger" if progress.errors else "")
    note = sentence(
        f"{progress.cached:,} more from earlier answers" if progress.cached else "",
        f"{progress.retries:,} sent again" if progress.retries else "",
        between=", ",
    )
    yield Tile("Calls", whole(progress.calls), note, may_grow=progress.is_moving and not by_batch)
    cached = f", {percent(progress.cached_share)} of in cached" if progress.cached_prompt_tokens else ""
    out = f"{whole(progress.completion_tokens)} out"
    yield Tile("Tokens", f"{whole(progress.prompt_tokens)} in", f"{out}{cached}")


def _spent(run: Run, progress: Progress) -> Tile:
    if progress.cost_usd is None:
        value = "unknown"
    else:
        asked = progress.calls or progress.cached or progress.held_usd
        value = money(progress.cost_usd) if asked else "–"
    if progress.unpriced and progress.cost_usd is not None:
        note = f"and {counted(progress.unpriced, 'call')} of unknown cost"
    else:
        note = "no cap" if run.budget_usd is None else "the run’s cap"
    lost, held = progress.lost_calls, progress.held_usd
    note = sentence(
        note,
        f"perhaps up to {money(progress.lost_at_most_usd)} more, "
        f"by {counted(lost, 'request')} without an answer"
        if lost
        else "",
        f"{money(held)} set aside" if held else "",
        f"{money(progress.cache_saved_usd)} ({percent(progress.cache_saved_share)}) saved by cached prompts"
        if progress.cache_saved_share and progress.cache_saved_share > 0
        else "",
    )
    return Tile("Spent", value, note, limit="" if run.budget_usd is None else f"of {money(run.budget_usd)}")


def workers_words(progress: Progress, *, by_batch: bool) -> str:
    """What is said where no worker is listed."""
    if not by_batch:
        return "Waiting for a worker."
    if progress.waiting == "batch":
        return "A worker fetches the answers once the provider has them."
    return "A worker submits the batch and fetches the answers once the provider has them."


# ── A run before it starts ───────────────────────────────────────────────────────────────────────


def plan_tiles(plan: Plan, forecast: Forecast | None) -> list[Tile]:
    """What a run asks, costs and takes."""
    calls, items = _calls(plan, forecast), Tile("Items", whole(plan.items), _rubrics_of(plan))
    if forecast and forecast.calls.high:
        return [_cost(forecast), calls, _time(forecast), items]
    return [calls, items]


def _rubrics_of(plan: Plan) -> str:
    if plan.own == plan.items:
        return "each with a rubric of its own"
    if plan.own:
        return f"{plan.own:,} with a rubric of their own"
    return "without a rubric" if plan.unjudged else "all by one rubric"


def _calls(plan: Plan, forecast: Forecast | None) -> Tile:
    if forecast:
        value = span(forecast.new)
    else:
        value = " – ".join(f"{calls:,}" for calls in (plan.calls, plan.calls_at_most) if calls is not None)
    criteria = "no criteria yet"
    if plan.most:
        several = plan.fewest != plan.most
        criteria = f"{plan.fewest:,} – {plan.most:,} criteria" if several else ""
        criteria = f"{criteria or counted(plan.most, 'criterion', 'criteria')} per item"
    note = sentence(
        f"and {span(forecast.cached)} answered before, at no cost"
        if forecast and forecast.cached.high
        else "",
        "more when the first judge is often unsure" if plan.calls_at_most is not None else "",
        "checks only: no judge is asked" if plan.most and not plan.calls else "",
        criteria,
    )
    return Tile("Calls", value, note)


def _cost(forecast: Forecast) -> Tile:
    value = usd_span(forecast.cost_usd) if forecast.cost_usd else "unknown"
    if forecast.unpriced:
        extra = ", which comes on top" if forecast.cost_usd else ""
        return Tile("Cost", value, f"no price is known for {', '.join(forecast.unpriced)}{extra}")
    tokens = f"{span(forecast.prompt_tokens)} tokens in, {span(forecast.completion_tokens)} out"
    return Tile("Cost", value, tokens)


def _time(forecast: Forecast) -> Tile:
    if not forecast.seconds:
        return Tile("Time", "moments", "no judge is asked")
    return Tile("Time", duration_span(forecast.seconds), "once a worker starts")


def unjudged_words(plan: Plan) -> str:
    """What to do about items without a rubric; "" where every item has one."""
    if not plan.unjudged:
        return ""
    verb = "has" if plan.unjudged == 1 else "have"
    return f"{counted(plan.unjudged, 'item')} {verb} no rubric: choose one to see calls, cost and time."


def plan_notices(forecast: Forecast | None, budget_usd: float | None, *, no_cap: bool) -> list[PageNotice]:
    """What may keep a run from being done, or from being held to a budget."""
    if forecast is None:
        return []
    notices = []
    unknown = "The price of its judge is not known"
    if forecast.unpriced and no_cap and budget_usd is None:
        text = f"{unknown}, so neither its budget nor the team’s can limit it."
        notices.append(PageNotice("warning", "triangle-alert", "Nothing caps this run", text))
    elif forecast.unpriced:
        text = f"{unknown}. Have an owner enter a price, or tick “Run it without a cap”."
        notices.append(PageNotice("warning", "triangle-alert", "No budget can hold this run", text))
    if warning := cap_warning(forecast, budget_usd):
        notices.append(PageNotice("warning", "triangle-alert", "It may stop early", warning))
    return notices


def attempts_words(judge: JudgeConfig) -> str:
    """How often and how long one call of a judge is tried."""
    return f"up to {counted(judge.max_attempts, 'attempt')}, {duration(judge.timeout_seconds)} each"
