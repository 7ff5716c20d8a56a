"""What `rubricweb grade` prints: a plan before the run, its figures after."""

from rich.table import Table

from rubricweb.engine.number_format import counted, low_end_words, share, text_of
from rubricweb.management.runs.watching import saved_words, tokens_words
from rubricweb.management.terminal.actor import Actor, note
from rubricweb.management.terminal.printed import facts, mean_words, passed_words, terminal
from rubricweb.models import Run, RunState
from rubricweb.selectors.runs import errors, results
from rubricweb.selectors.runs import progress as run_progress
from rubricweb.selectors.runs import votes as run_votes
from rubricweb.selectors.runs.planning.forecasts import Forecast
from rubricweb.selectors.shared.clock import database_now
from rubricweb.selectors.spending.spending import refused_by
from rubricweb.selectors.withheld_runs import WITHHELD
from rubricweb.templatetags.display import usd
from rubricweb.templatetags.run_plan_words import duration_span, span, usd_span


def print_plan(plan: Forecast) -> None:
    """What the run would come to on standard output, and what that rests on as notes."""
    table = _table()
    table.add_row("items", f"{plan.items:,}")
    table.add_row("calls", f"{span(plan.calls)}: {span(plan.new)} new, {span(plan.cached)} answered before")
    table.add_row("tokens", f"{span(plan.prompt_tokens)} in, {span(plan.completion_tokens)} out")
    cost = "" if plan.cost_usd is None else usd_span(plan.cost_usd)
    unknown = f"unknown for {', '.join(plan.unpriced)} (no price is set)" if plan.unpriced else ""
    table.add_row("cost", "; ".join(filter(None, (cost, unknown))))
    table.add_row("time", "moments" if plan.seconds is None else duration_span(plan.seconds))
    if len(plan.judges) > 1:
        for judge in plan.judges:
            price = "unknown" if judge.cost_usd is None else usd_span(judge.cost_usd)
            table.add_row(f"  {judge.name}", f"{span(judge.new)} new calls, cost {price}")
    if plan.month is None:
        table.add_row("this month", WITHHELD)
    elif plan.month.cap_usd is not None:
        table.add_row("this month", f"{usd(plan.month.spent_usd)} of {usd(plan.month.cap_usd)} spent")
    _print(table)
    for line in plan.basis:
        note(line)


def print_summary(ended: Run, result: results.Result, actor: Actor) -> None:
    """What came out and what it cost, without what this person is still to review blind."""
    progress = run_progress.progress(ended, viewer=actor.user, now=database_now())
    table = _table()
    table.add_row("run", f"{ended.pk}, {ended.state}, {ended.autograder} by {ended.judge.name}")
    for name, words in graded_by_and_over(ended):
        table.add_row(name, words)
    if ended.system:
        table.add_row("system", ended.system)
    if ended.half:
        table.add_row("split", f"{ended.half} cases")
    table.add_row("items", f"{progress.graded} of {progress.items} graded")
    table.add_row("mean score", mean_words(result.mean, result.unit))
    if result.low_end.lowest is not None:
        table.add_row("  low end", low_end_words(result.low_end.lowest, result.low_end.below_bar))
    if result.errored:
        table.add_row("fully judged", f"{result.fully_judged} of {result.graded} items")
    for one in result.groups:
        table.add_row(f"  {one.name or 'no group'}", mean_words(one.score, one.unit, lowest=one.lowest))
    table.add_row("coverage", share(result.coverage))
    if result.passed.value is not None:
        table.add_row("passed", passed_words(result.passed, result.unit))
    table.add_row("verdicts", WITHHELD if progress.withheld else str(progress.verdicts))
    votes = run_votes.run_votes(ended, viewer=actor.user)
    if votes is not None:
        table.add_row("votes", _about_votes(votes.overall))
        if ended.panel and ended.panel.cascade:
            went_on = f"{votes.overall.went_on} of {votes.overall.units} criteria of items"
            table.add_row("went on", f"{went_on}, past the first stage")
    table.add_row("errors", WITHHELD if progress.withheld else str(progress.errors))
    for found in errors.error_classes(ended, viewer=actor.user):
        table.add_row(f"  {found.kind}", f"{found.count} × {found.example}"[:200])
    known = [] if progress.cost_usd is None else [usd(progress.cost_usd)]
    if progress.unpriced:
        known.append(f"{counted(progress.unpriced, 'call')} of unknown cost")
    cost = " and ".join(known) or "unknown"
    if progress.lost_calls:
        lost = counted(progress.lost_calls, "request")
        cost += f", and at most {usd(progress.lost_at_most_usd)} by {lost} without an answer"
    cost += saved_words(progress)
    table.add_row("tokens", WITHHELD if progress.withheld else tokens_words(progress))
    table.add_row("cost", WITHHELD if progress.withheld else cost)
    _print(table)


def graded_by_and_over(run: Run) -> list[tuple[str, str]]:
    """The rubric version and the dataset of a run, with the ids that name them to other commands."""
    version = run.rubric_version
    rubric = "that of each item" if version is None else f"{version} (id:{version.pk})"
    if version is not None and run.dataset.items.filter(rubric_version__isnull=False).exists():
        rubric += "; items that bring a rubric are judged by their own"
    return [("rubric", rubric), ("dataset", f"{run.dataset} (id:{run.dataset_id})")]


def note_unfinished(run: Run, why: str) -> None:
    """Says of a run that did not finish what became of it, and with which command it goes on."""
    if run.state == RunState.CANCELLED:
        note("The run was cancelled.")
    else:
        note(f"The run {'stopped early' if run.state == RunState.FAILED else 'is paused'}. {why}")
    cap = refused_by(run.stop_reason)
    if cap == "month_budget":
        note("An owner of the team can raise that: rubricweb spending cap MORE")
    first = "Once that is mended" if run.state == RunState.FAILED else "Go on with"
    more = " --budget MORE" if cap == "budget" else ""
    note(f"{first}: rubricweb grade --resume {run.pk}{more}")


def _about_votes(votes: run_votes.VoteAgreement) -> str:
    words = [f"{votes.votes}, {votes.failed} of them failed"]
    if votes.agreement.value is not None:
        words.append(f"{text_of(votes.agreement, percent=True)} agree with the verdict")
    if votes.flips.value is not None:
        words.append(f"{text_of(votes.flips, percent=True)} of repeats differ")
    return "; ".join(words)


def _table() -> Table:
    return facts()


def _print(table: Table) -> None:
    terminal().print(table)
