"""`rubricweb grade`: a run started, graded in this process and summed up at the terminal."""

import argparse
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Any

from django.conf import settings
from django.db import connection
from django.utils import timezone
from rich import box
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from rubricweb import access
from rubricweb.engine.agreement.intervals import Figure
from rubricweb.errors import Invalid
from rubricweb.judges.base import JudgeConfig
from rubricweb.judges.offline.server import running_server
from rubricweb.management import exports
from rubricweb.management.imports import dataset_named, rubric_named
from rubricweb.management.who import Who, acting, note
from rubricweb.models import Dataset, Role, RubricVersion, Run, RunState
from rubricweb.selectors import operators, run_votes
from rubricweb.selectors import runs as selected
from rubricweb.services import endpoints, grading, panels, runs
from rubricweb.services import exports as export_service
from rubricweb.services.few_shot import FewShot

COMMAND_LINE = "command-line"
BELOW_MIN_SCORE = 100
INTERRUPTED = 130
OUTPUT_FORMATS = {".csv": "csv", ".jsonl": "jsonl"}


def run(options: argparse.Namespace) -> int:
    _check(options)
    who = acting(options, Role.EDITOR)
    with ExitStack() as stack:
        started = _resume(options, who, stack) if options.resume else _start(options, who, stack)
        try:
            _grade(who, started)
        except KeyboardInterrupt:
            runs.cancel_run(started, by=who.user, now=timezone.now())
            progress = selected.progress(started, now=timezone.now())
            note(f"Cancelled after {progress.graded} of {progress.items} items; what was graded is kept.")
            note(f"Go on with: rubricweb grade --resume {started.pk}")
            return INTERRUPTED
    return _finish(options, who, access.run_for(who.team, started.pk))


def _check(options: argparse.Namespace) -> None:
    """Refuses before anything is stored or paid for."""
    if options.resume is None and not (options.rubric and options.dataset):
        raise Invalid("Name a RUBRIC and a DATASET, or --resume RUN. See rubricweb grade --help.")
    if options.resume is not None and (options.rubric or options.dataset):
        raise Invalid("--resume goes on with the run's own rubric and dataset; name neither.")
    if options.base_url and not options.model:
        raise Invalid("--base-url needs --model, the name of the model to ask there.")
    if options.base_url and options.judge:
        raise Invalid("--base-url and --judge both name a judge; give one of them.")
    if len(options.judge) > 1 and options.model:
        raise Invalid("--model names one judge's model; with several --judge each asks for its own.")
    if options.cascade and len(options.judge) < 2:
        raise Invalid("--cascade needs two --judge or more, in the order they are to be asked.")
    if len(options.repeats) > 1 and not options.cascade:
        raise Invalid("--repeats takes one number; several are for the stages of a --cascade.")
    if options.vote and not _is_panel(options):
        raise Invalid("--vote settles several votes: give several --judge, or --repeats.")
    if options.output and options.output.suffix not in OUTPUT_FORMATS:
        raise Invalid(f"{options.output} must end in {' or '.join(OUTPUT_FORMATS)}.")


# ── Starting ─────────────────────────────────────────────────────────────────────────────────────


def _start(options: argparse.Namespace, who: Who, stack: ExitStack) -> Run:
    dataset = dataset_named(who, options.dataset)
    rubric_version = rubric_named(who, options.rubric, dataset)
    return runs.start_run(
        who.team,
        by=who.user,
        dataset=dataset,
        rubric_version=rubric_version,
        **_judges(options, who, stack, dataset, rubric_version),
        few_shot_from=_examples(options, who),
        autograder=options.autograder,
        reply_format=options.reply_format,
        abstention=options.abstention,
        on_error=options.on_error,
        name=options.name,
        enqueue=_nobody,
    )


def _examples(options: argparse.Namespace, who: Who) -> FewShot | None:
    if not options.examples:
        return None
    return FewShot(operators.dataset_called(who.team, options.examples), n=options.n_examples)


def _resume(options: argparse.Namespace, who: Who, stack: ExitStack) -> Run:
    started = access.run_for(who.team, options.resume)
    if panels.asks_offline(started):
        _offline_judge(stack)
    if started.state != RunState.RUNNING:
        runs.resume_run(started, by=who.user, enqueue=_nobody)
    return started


def _nobody(run_id: int) -> None:
    """This process grades by itself; workers join in when their sweep finds the run waiting."""


def _is_panel(options: argparse.Namespace) -> bool:
    return len(options.judge) > 1 or any(count > 1 for count in options.repeats)


def _judges(
    options: argparse.Namespace,
    who: Who,
    stack: ExitStack,
    dataset: Dataset,
    rubric_version: RubricVersion | None,
) -> dict[str, Any]:
    """Who is asked, as `start_run` takes it: nobody, one judge, or a panel of those the options name."""
    named = options.judge or options.base_url or options.model
    if not named and not runs.needs_judge(dataset, rubric_version):
        return {}
    members = [_judge(options, judge, who, stack) for judge in options.judge or [""]]
    if not _is_panel(options):
        [(judge_id, judge)] = members
        return {"judge_id": judge_id, "judge": judge}
    asked = [
        panels.Member(judge_id, stage=number if options.cascade else 0, config=judge)
        for number, (judge_id, judge) in enumerate(members)
    ]
    return {"panel": panels.Panel(asked, rule=options.vote or None, repeats=options.repeats or 1)}


def _judge(options: argparse.Namespace, name: str, who: Who, stack: ExitStack) -> tuple[str, JudgeConfig]:
    """The judge that the options name, else the team's first, else the offline one."""
    if options.base_url:
        return COMMAND_LINE, JudgeConfig(
            name=options.model,
            base_url=options.base_url,
            model=options.model,
            timeout_seconds=settings.JUDGE_TIMEOUT_SECONDS,
            max_attempts=settings.JUDGE_MAX_ATTEMPTS,
            concurrency=settings.JUDGE_CONCURRENCY,
            allow_private_hosts=True,  # whoever types the address may reach it anyway
        )
    judges = endpoints.judges_of(who.team)
    called = [judge_id for judge_id, judge in judges.items() if judge.name == name]
    judge_id = name if name in judges or not called else called[0]
    judge_id = judge_id or next(iter(judges), endpoints.OFFLINE)
    if judge_id == endpoints.OFFLINE:
        _offline_judge(stack)
    return judge_id, endpoints.choose_judge(who.team, judge_id, model=options.model)


def _offline_judge(stack: ExitStack) -> None:
    """Starts the offline judge for as long as the command runs, unless one is running already."""
    if not settings.OFFLINE_JUDGE_URL:
        settings.OFFLINE_JUDGE_URL = stack.enter_context(running_server())
        note("Judge: the offline judge (not an LLM). For a real one set OPENAI_API_KEY, or give --base-url.")


# ── Grading ──────────────────────────────────────────────────────────────────────────────────────


def _grade(who: Who, started: Run) -> None:
    """Grades until the run has ended, whoever else may be grading it too."""
    with _progress_bar(started):
        while access.run_for(who.team, started.pk).state == RunState.RUNNING:
            if not grading.grade_chunk(started.pk, now=timezone.now):
                time.sleep(0.2)  # others hold the rest


@contextmanager
def _progress_bar(started: Run) -> Iterator[None]:
    """A bar on standard error, drawn from the rows by a thread of its own."""
    bar = Progress(
        TextColumn("Grading"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("items · {task.fields[errors]} errors"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
        disable=not sys.stderr.isatty(),
    )
    over = Event()

    def follow() -> None:
        task = bar.add_task("", total=None, errors=0)
        try:
            while not over.wait(0.5):
                seen = selected.progress(started, now=timezone.now())
                bar.update(task, total=seen.items, completed=seen.graded, errors=seen.errors)
        finally:
            connection.close()

    with bar:
        thread = Thread(target=follow, name="progress", daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()


# ── Summing up ───────────────────────────────────────────────────────────────────────────────────


def _finish(options: argparse.Namespace, who: Who, ended: Run) -> int:
    mean = selected.mean_score(ended)
    _print_summary(ended, mean, who)
    if options.output:
        _write_verdicts(options.output, who, ended)
    if ended.state == RunState.FAILED:
        note(f"The run stopped early. {ended.stop_reason}")
        note(f"Once that is mended: rubricweb grade --resume {ended.pk}")
        return 1
    if mean.value is None:
        note("No item could be scored.")
        return 1
    if options.min_score is not None and mean.value < options.min_score:
        note(f"The mean score {mean.value:.4f} is below --min-score {options.min_score:g}.")
        return BELOW_MIN_SCORE
    return 0


def _print_summary(ended: Run, mean: Figure, who: Who) -> None:
    progress = selected.progress(ended, now=timezone.now())
    table = Table(box=box.SIMPLE, show_header=False)
    table.add_column(style="bold")
    table.add_column()
    table.add_row("run", f"{ended.pk}, {ended.state}, {ended.autograder} by {ended.judge['name']}")
    table.add_row("items", f"{progress.graded} of {progress.items} graded")
    table.add_row("mean score", _with_interval(mean))
    coverage = selected.mean_coverage(ended)
    table.add_row("coverage", "–" if coverage is None else f"{coverage:.4f}")
    passing = selected.pass_rate(ended, viewer=who.user)
    if passing.value is not None:
        table.add_row("passed", f"{passing.value:.4f} of {passing.n} items, by the rubric's rule")
    table.add_row("verdicts", str(progress.verdicts))
    votes = run_votes.run_votes(ended, viewer=who.user)
    if votes is not None:
        table.add_row("votes", _about_votes(votes.overall))
    table.add_row("errors", str(progress.errors))
    for found in selected.error_classes(ended):
        table.add_row(f"  {found.kind}", f"{found.count} × {found.example}"[:200])
    table.add_row("tokens", f"{progress.prompt_tokens:,} in, {progress.completion_tokens:,} out")
    cost = "unknown (no price is set)" if progress.cost_usd is None else f"${progress.cost_usd:.4f}"
    table.add_row("cost", cost)
    Console(width=None if sys.stdout.isatty() else 120, highlight=False, markup=False).print(table)


def _about_votes(votes: run_votes.VoteAgreement) -> str:
    said = [f"{votes.votes}, {votes.failed} of them failed"]
    if votes.agreement.value is not None:
        said.append(f"{votes.agreement.value:.4f} agree with the verdict")
    if votes.flips.value is not None:
        said.append(f"{votes.flips.value:.4f} of repeats differ")
    return "; ".join(said)


def _with_interval(mean: Figure) -> str:
    if mean.value is None:
        return "–"
    if mean.low is None or mean.high is None:
        return f"{mean.value:.4f}"
    return f"{mean.value:.4f} (95 % interval {mean.low:.4f} to {mean.high:.4f}, {mean.n} items)"


def _write_verdicts(path: Path, who: Who, ended: Run) -> None:
    export = export_service.export(
        who.team,
        viewer=who.user,
        what="verdicts",
        format=OUTPUT_FORMATS[path.suffix],
        dataset=ended.dataset,
        queues=[],
        run=ended,
    )
    exports.write(path, export.chunks)
