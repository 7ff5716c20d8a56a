"""`rubricweb grade`: a run started, graded in this process and summed up at the terminal."""

import argparse
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from rubricweb import access
from rubricweb.errors import Invalid
from rubricweb.judges.base import JudgeConfig
from rubricweb.management.datasets.imports import dataset_named, rubric_named
from rubricweb.management.judges.models import start_offline
from rubricweb.management.runs import gates, grade_tables
from rubricweb.management.runs.progress_bar import progress_bar
from rubricweb.management.terminal.actor import Actor, note, resolve_actor
from rubricweb.management.terminal.named_files import require_writable, write_file
from rubricweb.management.terminal.shapes import print_shape
from rubricweb.models import Dataset, JudgeVersion, Role, RubricVersion, Run, RunState
from rubricweb.selectors.datasets.systems import versions_called
from rubricweb.selectors.runs import progress as run_progress
from rubricweb.selectors.runs import results
from rubricweb.selectors.runs.planning.forecasts import Forecast
from rubricweb.selectors.runs.planning.samples import sample_ids
from rubricweb.selectors.shared.clock import database_clock, database_now
from rubricweb.selectors.teams import lookup
from rubricweb.selectors.withheld_runs import is_withheld_run, stop_reason
from rubricweb.services import exports as export_service
from rubricweb.services.endpoints import endpoints, prices
from rubricweb.services.grading import session
from rubricweb.services.judges.versions import version_called
from rubricweb.services.runs import lifecycle, panels
from rubricweb.services.runs.few_shot import FewShot
from rubricweb.services.runs.launching import launch_runs
from rubricweb.services.runs.planning import plan_run
from rubricweb.services.runs.starting import RunOptions

COMMAND_LINE = "command-line"
KILLED_BY = 128
"""Added to a signal's number, the exit code of what the signal ended."""
OUTPUT_FORMATS = {".csv": "csv", ".jsonl": "jsonl"}


def run(options: argparse.Namespace) -> int:
    _check(options)
    if options.resume is None:  # one that goes on may have raw scores: see `_resume`
        gates.require_reachable(options)
    actor = resolve_actor(options, Role.EDITOR)
    with ExitStack() as stack:
        if options.plan:
            with _systems_named(options):
                grade_tables.print_plan(_plan(options, actor, stack))
            return 0
        with _systems_named(options):
            started = [_resume(options, actor, stack)] if options.resume else _start(options, actor, stack)
        with _signals_noted() as signals:
            for place, one in enumerate(started):
                if not _grade(actor, one, signals):
                    _pause(actor, started[place:])
                    return KILLED_BY + signals[0]
    codes = [_finish(options, actor, access.access_run(actor.team, one.pk)) for one in started]
    return 1 if 1 in codes else max(codes)


def _pause(actor: Actor, left: list[Run]) -> None:
    for one in left:
        lifecycle.pause_run(one, by=actor.user)
        progress = run_progress.progress(one, viewer=actor.user, now=database_now())
        note(f"Paused after {progress.graded} of {progress.items} items; what was graded is kept.")
        note(f"Go on with: rubricweb grade --resume {one.pk}")


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
    if options.plan and options.resume is not None:
        raise Invalid("--plan is for a run that is to be started; --resume goes on with one that was.")
    starting = options.no_cap or options.no_cache or options.sample or options.item or options.system
    starting = starting or options.split
    if options.resume is not None and starting:
        raise Invalid(
            "--no-cap, --no-cache, --sample, --item, --system and --split are for a run that is to be "
            "started, not for --resume."
        )
    if options.sample and options.item:
        raise Invalid("--sample and --item both choose the items; give one of them.")
    if options.output and len(options.system) > 1:
        raise Invalid("--output takes the verdicts of one run; with several --system export each afterwards.")
    if options.output and options.output.suffix not in OUTPUT_FORMATS:
        raise Invalid(f"{options.output} must end in {' or '.join(OUTPUT_FORMATS)}.")
    if options.output:
        require_writable(options.output)


@contextmanager
def _systems_named(options: argparse.Namespace) -> Iterator[None]:
    """Says with which option to choose among the answers of several system versions."""
    try:
        yield
    except Invalid as error:
        if options.system or all(fault.place != "systems" for fault in error.faults):
            raise
        why = f"{error}. Name one with --system, or several with one each."
        raise Invalid(why, error.faults) from error


# ── Starting ─────────────────────────────────────────────────────────────────────────────────────


def _start(options: argparse.Namespace, actor: Actor, stack: ExitStack) -> list[Run]:
    """One run, or one for each --system."""
    notes: list[str] = []
    with transaction.atomic():  # what the files bring is not kept when the run is refused
        dataset = dataset_named(actor, options.dataset, tell=notes.append)
        rubric_version = rubric_named(actor, options.rubric, dataset, tell=notes.append)
        started = launch_runs(
            actor.team,
            by=actor.user,
            dataset=dataset,
            rubric_version=rubric_version,
            budget_usd=options.budget,
            no_cap=options.no_cap,
            enqueue=_nobody,
            options=_run_options(options, actor, stack, dataset, rubric_version),
        )
    for line in notes:
        note(line)
    for one in started:
        rubric = "the rubric of each item" if rubric_version is None else rubric_version
        on = f"If it is cut off, go on with: rubricweb grade --resume {one.pk}"
        note(f"Run {one.pk} has started: {rubric} over {dataset}. {on}")
    return started


def _plan(options: argparse.Namespace, actor: Actor, stack: ExitStack) -> Forecast:
    """What it would come to; what files bring is read, and not kept."""
    with transaction.atomic():
        dataset = dataset_named(actor, options.dataset)
        rubric_version = rubric_named(actor, options.rubric, dataset)
        made = plan_run(
            actor.team,
            dataset=dataset,
            rubric_version=rubric_version,
            viewer=actor.user,
            now=timezone.now(),
            options=_run_options(options, actor, stack, dataset, rubric_version),
        )
        transaction.set_rollback(True)
    return made.forecast


def _run_options(
    options: argparse.Namespace,
    actor: Actor,
    stack: ExitStack,
    dataset: Dataset,
    rubric_version: RubricVersion | None,
) -> RunOptions:
    systems = versions_called(dataset, options.system)
    item_ids = lookup.items_called(dataset, options.item, viewer=actor.user) if options.item else None
    if options.sample:
        item_ids = sample_ids(dataset, options.sample, viewer=actor.user, half=options.split, systems=systems)
    return replace(
        _judges(options, actor, stack, dataset, rubric_version),
        few_shot_from=_examples(options, actor),
        autograder=options.autograder,
        reply_format=options.reply_format,
        abstention=options.abstention,
        on_error=options.on_error,
        name=options.name,
        use_cache=not options.no_cache,
        item_ids=item_ids,
        systems=systems,
        half=options.split,
    )


def _examples(options: argparse.Namespace, actor: Actor) -> FewShot | None:
    if not options.examples:
        return None
    return FewShot(lookup.dataset_called(actor.team, options.examples), n=options.n_examples)


def _resume(options: argparse.Namespace, actor: Actor, stack: ExitStack) -> Run:
    started = access.access_run(actor.team, options.resume)
    if started.normalize:
        gates.require_reachable(options)
    if panels.asks_offline(started):
        start_offline(stack)
        _say_what_it_is()
    if options.budget is not None:
        lifecycle.set_budget(started, by=actor.user, budget_usd=options.budget)
    if started.state != RunState.RUNNING:
        lifecycle.resume_run(started, by=actor.user, enqueue=_nobody)
    return started


def _nobody(run_id: int) -> None:
    """This process grades by itself; workers join in when their reaper finds the run waiting."""


def _is_panel(options: argparse.Namespace) -> bool:
    return len(options.judge) > 1 or any(count > 1 for count in options.repeats)


def _judges(
    options: argparse.Namespace,
    actor: Actor,
    stack: ExitStack,
    dataset: Dataset,
    rubric_version: RubricVersion | None,
) -> RunOptions:
    """Who is asked, as `start_run` takes it: nobody, one judge, or a panel of those the options name."""
    named = options.judge or options.base_url or options.model
    if not named and not lifecycle.needs_judge(dataset, rubric_version):
        return RunOptions()
    members = [_named(options, judge, actor, stack) for judge in options.judge or [""]]
    if any(is_offline for _, _, is_offline in members):
        _say_what_it_is()
    if not _is_panel(options):
        [(judge_id, judge, _)] = members
        return RunOptions(judge_id=judge_id, judge=judge)
    asked = [
        panels.PanelMember(judge_id, stage=number if options.cascade else 0, config=judge)
        for number, (judge_id, judge, _) in enumerate(members)
    ]
    return RunOptions(panel=panels.Panel(asked, rule=options.vote or None, repeats=options.repeats or 1))


def _named(
    options: argparse.Namespace, name: str, actor: Actor, stack: ExitStack
) -> tuple[str, JudgeConfig | None, bool]:
    """A model, ready to be asked, or a version of a judge, by its name alone; then whether the offline judge
    is asked, which is started.
    """
    version = _version(options, name, actor)
    if version is None:
        judge_id, judge = _judge(options, name, actor, stack)
        return judge_id, judge, judge_id == endpoints.OFFLINE
    is_offline = any(one.endpoint == endpoints.OFFLINE_NAME for one in version.definition.members)
    if is_offline:
        start_offline(stack)
    return str(version), None, is_offline


def _version(options: argparse.Namespace, name: str, actor: Actor) -> JudgeVersion | None:
    """The version of a judge of this name, if there is one and no model is called so."""
    judges = endpoints.judges_of(actor.team) | endpoints.archived_judges(actor.team)
    if not name or name in judges or name in {judge.name for judge in judges.values()}:
        return None
    version = version_called(actor.team, name)
    if version is not None and options.model:
        raise Invalid(
            "--model names another model than the judge's own; make a version of it that asks that."
        )
    return version


def _judge(options: argparse.Namespace, name: str, actor: Actor, stack: ExitStack) -> tuple[str, JudgeConfig]:
    """The judge that the options name, else the team's first, else the offline one."""
    if options.base_url:
        typed = JudgeConfig(
            name=options.model,
            base_url=options.base_url,
            model=options.model,
            timeout_seconds=settings.JUDGE_TIMEOUT_SECONDS,
            max_attempts=settings.JUDGE_MAX_ATTEMPTS,
            concurrency=settings.JUDGE_CONCURRENCY,
            allow_private_hosts=True,  # whoever types the address may reach it anyway
        )
        return COMMAND_LINE, prices.priced(actor.team, {COMMAND_LINE: typed})[COMMAND_LINE]
    judges = endpoints.judges_of(actor.team)
    named = judges | endpoints.archived_judges(actor.team)
    called = [judge_id for judge_id, judge in named.items() if judge.name == name]
    judge_id = name if name in judges or not called else called[0]
    judge_id = judge_id or next(iter(judges), endpoints.OFFLINE)
    if judge_id == endpoints.OFFLINE:
        start_offline(stack)
    return judge_id, endpoints.choose_judge(actor.team, judge_id, model=options.model)


def _say_what_it_is() -> None:
    note(f"Judge: the {endpoints.OFFLINE_NAME}. {endpoints.OFFLINE_ABOUT}")
    note("For a real one set OPENAI_API_KEY, or give --base-url.")


# ── Grading ──────────────────────────────────────────────────────────────────────────────────────


@contextmanager
def _signals_noted() -> Iterator[list[int]]:
    """The numbers of Ctrl+C's signal and SIGTERM as they come: the first of them asks grading to stop.

    Calls in flight may finish for a moment and are stored, for they are paid for; a second one breaks them
    off.
    """
    signals: list[int] = []

    def take(number: int, _: object) -> None:
        signals.append(number)
        if len(signals) > 1:
            raise KeyboardInterrupt
        again = "Ctrl+C" if number == signal.SIGINT else "SIGTERM"
        note(f"Stopping: what is in flight is stored. {again} again breaks it off.")

    before = {one: signal.signal(one, take) for one in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield signals
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)


def _grade(actor: Actor, started: Run, signals: Sequence[int]) -> bool:
    """Grades until the run has ended, whoever else may be grading it too; False when a signal came before."""
    clock = database_clock()
    waits = 0
    try:
        with progress_bar(started, actor.user):
            while access.access_run(actor.team, started.pk).state == RunState.RUNNING:
                if signals:
                    return False
                if not session.grade(
                    started.pk, now=clock, only_this_run=True, shutting_down=lambda: bool(signals)
                ):
                    waits += 1
                    if waits == 2:  # after the first time the run has ended, or others hold the rest
                        note(
                            "Workers hold the rest. What one holds that is gone is taken over within "
                            f"{settings.GRADING_LEASE_SECONDS} seconds."
                        )
                    time.sleep(0.2)
    except KeyboardInterrupt:
        return False
    return True


# ── Summing up ───────────────────────────────────────────────────────────────────────────────────


def _finish(options: argparse.Namespace, actor: Actor, ended: Run) -> int:
    result = results.result(ended, viewer=actor.user, failed_items=options.failed_items)
    if options.json:
        from rubricweb.api.runs.answers import run_in_full
        from rubricweb.api.runs.schemas import RunInFull

        print_shape(RunInFull, run_in_full(ended, actor.user, result))
    else:
        grade_tables.print_summary(ended, result, actor)
    if options.output:
        _write_verdicts(options.output, actor, ended)
    why = stop_reason(ended, withheld=is_withheld_run(ended, actor.user))
    if ended.state != RunState.FINISHED:
        grade_tables.note_unfinished(ended, why)
        return 1
    if result.hidden:
        note(gates.undecided(result.hidden))
        return int(gates.is_asked_for(options))
    return gates.exit_code(
        options,
        mean=result.mean,
        items=result.graded,
        errored=result.errored,
        how_to_retry=f"Retry with: rubricweb grade --resume {ended.pk}",
    )


def _write_verdicts(path: Path, actor: Actor, ended: Run) -> None:
    export = export_service.export(
        actor.team,
        viewer=actor.user,
        what="verdicts",
        format=OUTPUT_FORMATS[path.suffix],
        dataset=ended.dataset,
        queues=[],
        run=ended,
    )
    write_file(path, export.chunks)
