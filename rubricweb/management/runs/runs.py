"""`rubricweb runs`: which runs there are, one of them, and what may be done to it, at the terminal."""

import argparse

from django.utils import timezone

from rubricweb import access, tasks
from rubricweb.engine.number_format import counted, low_end_words, text_of
from rubricweb.engine.origin import origin_words
from rubricweb.management.runs import grade_tables, watching
from rubricweb.management.terminal.actor import Actor, note, resolve_actor
from rubricweb.management.terminal.background import note_without_workers
from rubricweb.management.terminal.paging import first, note_left_out, note_more
from rubricweb.management.terminal.printed import Table, facts, say, terminal
from rubricweb.management.terminal.shapes import print_shape
from rubricweb.models import Role, Run, RunMode, RunState
from rubricweb.selectors.datasets.new_items import new_item_count
from rubricweb.selectors.judges import judge_called, version_told_to
from rubricweb.selectors.runs import errors as run_errors
from rubricweb.selectors.runs import listing as selected
from rubricweb.selectors.runs import log, results
from rubricweb.selectors.runs import progress as run_progress
from rubricweb.selectors.runs.errors import ERROR_KINDS
from rubricweb.selectors.runs.group_means import GroupMean
from rubricweb.selectors.shared.archived import archived_left_out
from rubricweb.selectors.shared.clock import database_now
from rubricweb.selectors.teams import lookup
from rubricweb.services.runs import lifecycle as services
from rubricweb.services.teams import retention
from rubricweb.templatetags.display import count, finished_words, percent, score, usd

LOG_SHOWN = 20


def list_runs(options: argparse.Namespace) -> int:
    """The newest runs of the team, a line each."""
    actor = resolve_actor(options, Role.VIEWER)
    dataset = lookup.dataset_called(actor.team, options.dataset) if options.dataset else None
    judge = judge_called(actor.team, options.judge) if options.judge else None
    narrowed = selected.of(
        dataset_id=dataset.pk if dataset else None, named_judge_id=judge.pk if judge else None
    )
    page = first(
        options.limit,
        lambda cursor, size: selected.runs(
            actor.team,
            viewer=actor.user,
            narrowed=narrowed,
            state=options.state,
            cursor=cursor,
            size=size,
        ),
    )
    if options.json:
        from rubricweb.api.runs.answers import run_in_list
        from rubricweb.api.runs.schemas import Run as Shown

        for row in page.rows:
            print_shape(Shown, run_in_list(row))
    elif page.rows:
        _print_list(page.rows)
    else:
        note("There are no such runs yet.")
    note_more(page, options.limit)
    archived = options.state == selected.ARCHIVED
    note_left_out(archived_left_out(actor.team, Run, narrowed, archived=archived), "--state archived")
    return 0


def _print_list(rows: tuple[selected.RunRow, ...]) -> None:
    table = Table()
    table.add_column("id", justify="right", no_wrap=True)
    table.add_column("run")
    table.add_column("state", no_wrap=True)
    for title in ("graded", "score", "fully judged", "coverage", "errors", "cost"):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("started", no_wrap=True)
    for row in rows:
        table.add_row(*_cells(row))
    terminal().print(table)


def _cells(row: selected.RunRow) -> list[str]:
    run, summary = row.run, row.summary
    graded = "" if row.items is None else f"{count(row.graded)} of {count(row.items)}"
    if row.withheld:
        figures = ["to be reviewed", "", "", "", ""]
    elif summary is None:
        figures = [""] * 5
    else:
        figures = [
            score(summary.score_mean),
            f"{count(summary.fully_judged)} of {count(summary.items)}",
            percent(summary.coverage),
            count(summary.errors),
            usd(summary.cost_usd),
        ]
    started = run.created_at.astimezone().strftime("%Y-%m-%d %H:%M")
    # Few runs are by a version that a person made: a column for it would push the others out of sight.
    named = f", by {row.version}" if row.version is not None and row.version.is_named else ""
    return [str(run.pk), f"{run}{named}", run.shown_state, graded, *figures, started]


def _judge_version(run: Run, actor: Actor) -> list[tuple[str, str]]:
    """Its judge and the version of it, as far as this person may know; nothing where it has none."""
    version = run.judge_version
    if version is None:
        return []
    told = version_told_to(run, actor.user)
    return [("judge", version.judge.name if told is None else f"{version.judge.name}, {told}")]


def show(options: argparse.Namespace) -> int:
    """One run: how far it is, what it cost, what went wrong, its log."""
    actor = resolve_actor(options, Role.VIEWER)
    run = access.access_run(actor.team, options.run)
    if options.json:
        from rubricweb.api.runs.answers import run_in_full
        from rubricweb.api.runs.schemas import RunInFull

        print_shape(RunInFull, run_in_full(run, actor.user))
        return 0
    progress = run_progress.progress(run, viewer=actor.user, now=database_now())
    errors = run_errors.error_classes(run, viewer=actor.user)
    events = log.run_log(run, viewer=actor.user, size=LOG_SHOWN).rows
    result = results.result(run, viewer=actor.user)
    rows: list[tuple[str, str]] = [
        ("run", f"{run.pk}, {run}, {finished_words(run.shown_state, progress.errored)}"),
        ("origin", f"{run.judge.name}, {origin_words(run.origin)}")
        if run.imported
        else ("asked", f"{run.autograder} by {run.judge.name}{', by batch' * (run.mode == RunMode.BATCH)}"),
        *_judge_version(run, actor),
        *grade_tables.graded_by_and_over(run),
        *([("system", run.system)] if run.system else []),
        *([("split", f"{run.half} cases")] if run.half else []),
        *watching.lines(progress),
    ]
    if progress.stop_reason:
        rows.insert(2, ("stopped", progress.stop_reason))
    if result.mean.value is not None:
        without = f", without {result.hidden} to be reviewed" if result.hidden else ""
        items = f", {counted(result.scored, 'item')}" if result.unit == "case" else ""
        of = f"{counted(result.mean.n, result.unit)}{items}"
        rows.append(("mean score", f"{text_of(result.mean)} of {of}{without}"))
        rows.append(("  low end", low_end_words(result.low_end.lowest, result.low_end.below_bar)))
    rows += [(f"  {one.name or 'no group'}", _group(one)) for one in result.groups]
    if result.errored:
        retry = f"retry the others with: rubricweb runs retry {run.pk}"
        rows.append(("fully judged", f"{result.fully_judged} of {result.graded} items; {retry}"))
    rows += [
        (f"  {one.kind}", f"{one.count} × {one.example or ERROR_KINDS.get(one.kind, '')}"[:300])
        for one in errors
    ]
    if new := new_item_count(run):
        rows.append(("new items", f"{new}, to be taken in with: rubricweb runs extend {run.pk}"))
    console = terminal()
    console.print(facts(rows))
    for event in events:
        console.print(watching.event_line(event), soft_wrap=True)
    return 0


def _group(group: GroupMean) -> str:
    if group.score.value is None:
        return "undefined: every answer abstained"
    said = f"{text_of(group.score)} of {counted(group.score.n, group.unit)}"
    return said if group.lowest is None else f"{said}, {low_end_words(group.lowest)}"


def show_log(options: argparse.Namespace) -> int:
    """What was decided in a run, by whom or why, newest first."""
    actor = resolve_actor(options, Role.VIEWER)
    run = access.access_run(actor.team, options.run)
    page = first(
        options.limit, lambda cursor, size: log.run_log(run, viewer=actor.user, cursor=cursor, size=size)
    )
    if options.json:
        from rubricweb.api.runs.watching_schemas import RunEvent

        for event in page.rows:
            print_shape(RunEvent, event)
    else:
        say(*map(watching.event_line, page.rows))
    note_more(page, options.limit)
    return 0


def watch(options: argparse.Namespace) -> int:
    """Follows a run until it has ended: 0 when it is finished and something was scored, else 1."""
    actor = resolve_actor(options, Role.VIEWER)
    run_id = access.access_run(actor.team, options.run).pk
    return watching.watch(
        lambda: access.access_run(actor.team, run_id),
        viewer=actor.user,
        as_json=options.json,
        every_seconds=options.every,
    )


# ── What may be done to a run ────────────────────────────────────────────────────────────────────


def pause(options: argparse.Namespace) -> int:
    actor, run = _mine(options)
    changed = services.pause_run(run, by=actor.user, finish_in_flight=not options.break_off)
    return _said(run, f"Run {run.pk} is {run.state}." if changed else f"Run {run.pk} is {run.state} already.")


def cancel(options: argparse.Namespace) -> int:
    actor, run = _mine(options)
    changed = services.cancel_run(
        run, by=actor.user, now=timezone.now(), finish_in_flight=not options.break_off
    )
    return _said(run, f"Run {run.pk} is {run.state}." if changed else f"Run {run.pk} is {run.state} already.")


def resume(options: argparse.Namespace) -> int:
    """Goes on with items that were never graded; failed verdicts are left as they are."""
    actor, run = _mine(options)
    items = services.resume_run(run, by=actor.user, enqueue=tasks.notify, error_kinds=())
    return _said(run, _working_on(run, items))


def retry(options: argparse.Namespace) -> int:
    """Asks again for verdicts that failed: all, of some kinds, of some items."""
    actor, run = _mine(options)
    items = services.resume_run(
        run,
        by=actor.user,
        enqueue=tasks.notify,
        error_kinds=options.kind or None,
        item_ids=lookup.items_called(run.dataset, options.item, viewer=actor.user) if options.item else None,
    )
    return _said(run, _working_on(run, items))


def extend(options: argparse.Namespace) -> int:
    """Takes in the items that were added to the dataset since."""
    actor, run = _mine(options)
    items = services.extend_run(run, by=actor.user, enqueue=tasks.notify)
    return _said(run, f"{counted(items, 'item')} added to run {run.pk}, which is {run.state}.")


def budget(options: argparse.Namespace) -> int:
    """What the run may cost from now on; one that its cap had paused stays paused."""
    actor, run = _mine(options)
    services.set_budget(run, by=actor.user, budget_usd=options.budget)
    cap = "no cap of its own" if run.budget_usd is None else f"a budget of {usd(run.budget_usd)}"
    on = f" Go on with: rubricweb runs resume {run.pk}" if run.state == RunState.PAUSED else ""
    return _said(run, f"Run {run.pk} has {cap}.{on}")


def prune(options: argparse.Namespace) -> int:
    """Clears prompts and replies that are older than the team keeps them; verdicts stay."""
    actor = resolve_actor(options, Role.OWNER)
    if actor.team.keep_calls_days is None:
        note(f"{actor.team} keeps prompts and replies for ever; an owner can change that in its settings.")
        return 0
    cleared = retention.prune(actor.team, now=timezone.now())
    return say(f"{cleared:,} calls cleared that are older than {actor.team.keep_calls_days} days.")


def _mine(options: argparse.Namespace) -> tuple[Actor, Run]:
    actor = resolve_actor(options, Role.EDITOR)
    return actor, access.access_run(actor.team, options.run)


def _working_on(run: Run, items: int) -> str:
    if not items:
        return f"Nothing is missing in run {run.pk}, which is {run.state}."
    return f"{counted(items, 'item')} of run {run.pk} to do. Follow it with: rubricweb runs watch {run.pk}"


def _said(run: Run, words: str) -> int:
    say(words)
    if run.state == RunState.RUNNING:
        note_without_workers()
    return 0
