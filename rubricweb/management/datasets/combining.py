"""`rubricweb datasets combine`: several datasets become one, copied by this process; and what came of it."""

import argparse

from rubricweb import tasks
from rubricweb.engine.number_format import counted
from rubricweb.errors import Invalid
from rubricweb.management.terminal.actor import note, resolve_actor
from rubricweb.management.terminal.background import left_to_workers, note_without_workers
from rubricweb.management.terminal.paging import first, note_more
from rubricweb.management.terminal.printed import moment, say, table, terminal
from rubricweb.management.terminal.shapes import print_shape
from rubricweb.models import CombinationState, Dataset, Role
from rubricweb.selectors.datasets import combinations as selected
from rubricweb.selectors.shared.clock import database_clock, database_now
from rubricweb.selectors.teams import lookup
from rubricweb.services.combinations import combinations, plans, reruns
from rubricweb.services.combinations.matching import AskedPart, suggested
from rubricweb.services.grading.workers.registry import worker_name
from rubricweb.templatetags.display import count

SHOWN = 20


def combine(options: argparse.Namespace) -> int:
    """All or nothing. Ended by Ctrl+C nothing stays; killed, a worker goes on with it."""
    actor = resolve_actor(options, Role.EDITOR)
    datasets = [lookup.dataset_called(actor.team, name) for name in options.datasets]
    systems = _systems(datasets, options)
    asked = plans.CombinationRequest(
        name=options.name,
        parts=tuple(AskedPart(dataset, system) for dataset, system in zip(datasets, systems, strict=True)),
        as_attempts=options.as_attempts,
        match=options.match,
        archive_originals=options.archive_originals,
    )
    if options.plan:
        plan = plans.plan(actor.team, asked, viewer=actor.user)
        runs = reruns.planned(asked.parts, viewer=actor.user, now=database_now())
        return _say_plan(plan, runs, as_json=options.json)
    combination = combinations.start(actor.team, asked, by=actor.user, enqueue=None)
    try:
        with left_to_workers():
            combination = combinations.work(combination.pk, worker=worker_name(), now=database_clock())
    except KeyboardInterrupt:
        combinations.cancel(combination, now=database_now())
        raise
    if combination.state != CombinationState.DONE:
        raise Invalid(combination.message or f"Combining ended: {combination.get_state_display().lower()}.")
    if options.json:
        from rubricweb.api.datasets.combination_schemas import Combination

        print_shape(Combination, combination)
        return 0
    assert combination.dataset is not None, "it is done"
    note(
        f"Combined {counted(combination.items_copied, 'item')} in {combination.dataset} "
        f"(id:{combination.dataset.pk})."
    )
    return 0


def list_combinations(options: argparse.Namespace) -> int:
    """What was combined, the newest first."""
    actor = resolve_actor(options, Role.EDITOR)
    page = first(
        options.limit, lambda cursor, size: selected.combinations(actor.team, cursor=cursor, size=size)
    )
    if options.json:
        from rubricweb.api.datasets.combination_schemas import Combination

        for one in page.rows:
            print_shape(Combination, one)
    elif page.rows:
        rows = table(("id", "name", "state", "from", "by", "begun"), ("copied", "runs left"))
        for one in page.rows:
            originals = ", ".join(str(part.dataset) for part in one.parts.all())
            copied = f"{count(one.items_copied)} of {count(one.items_planned)}"
            figures = (copied, count(one.runs_left))  # type: ignore[attr-defined]  # the selector counts
            about = (one.name, one.get_state_display().lower(), originals, str(one.created_by or ""))
            rows.add_row(str(one.pk), *about, moment(one.created_at), *figures)
        terminal().print(rows)
    else:
        note("Nothing was combined. Do it with: rubricweb datasets combine DATASET DATASET --name NAME")
    note_more(page, options.limit)
    return 0


def runs(options: argparse.Namespace) -> int:
    """The runs of the originals; those named are started again over the combined dataset, all or none."""
    actor = resolve_actor(options, Role.EDITOR)
    combination = lookup.combination_called(actor.team, options.combination)
    if options.run:
        made = reruns.start(
            combination,
            options.run,
            by=actor.user,
            enqueue=tasks.notify,
            budget_usd=options.budget,
            no_cap=options.no_cap,
        )
        if options.json:
            from rubricweb.api.datasets.combination_schemas import StartedRuns

            print_shape(StartedRuns, {"run_ids": [run.pk for run in made]})
            return 0
        ids = ", ".join(str(run.pk) for run in made)
        say(f"Started {counted(len(made), 'run')} over {combination.dataset}: {ids}")
        note_without_workers()
        return 0
    if options.budget is not None or options.no_cap:
        raise Invalid.at("--run", "none", "with --budget or --no-cap the runs to start again")
    offered = reruns.of_combination(combination, viewer=actor.user, now=database_now())
    if options.json:
        from rubricweb.api.datasets.combination_schemas import Rerun

        for one in offered:
            print_shape(Rerun, one)
    else:
        _say_runs(offered)
        if not offered:
            state = combination.get_state_display().lower()
            note(f"There are no runs to start again: {combination} is {state}.")
    return 0


def cancel(options: argparse.Namespace) -> int:
    """Nothing of it stays."""
    actor = resolve_actor(options, Role.EDITOR)
    combination = lookup.combination_called(actor.team, options.combination)
    combinations.cancel(combination, now=database_now())
    if options.json:
        from rubricweb.api.datasets.combination_schemas import Combination

        print_shape(Combination, combination)
        return 0
    return say(f"Combining {combination} is cancelled; nothing of it stays.")


def _systems(datasets: list[Dataset], options: argparse.Namespace) -> list[str]:
    """A version for each dataset, as --versions says, else as their names suggest."""
    proposed = suggested(datasets, options.system)
    if options.versions is None:
        return proposed
    versions = [version.strip() for version in options.versions.split(",")]
    if len(versions) != len(datasets):
        allowed = f"{len(datasets)}, one for each dataset"
        raise Invalid.at("--versions", counted(len(versions), "version"), allowed)
    system = options.system or next((one.partition("@")[0] for one in proposed if one), "assistant")
    return [one if not one or "@" in one else f"{system}@{one}" for one in versions]


def _say_plan(plan: plans.CombinationPlan, runs: list[reruns.Rerun], *, as_json: bool) -> int:
    if as_json:
        from rubricweb.api.datasets.combination_schemas import CombinationPlan, plan_as_data

        print_shape(CombinationPlan, plan_as_data(plan, runs))
        return 0
    for part in plan.parts:
        systems = ", ".join(part.systems)
        alone = f", {counted(part.cases_alone, 'case')} in no other" if part.cases_alone else ""
        note(f"{part.dataset}: {counted(part.items, 'item')} as {systems}{alone}")
    note(f"{counted(plan.items, 'item')} of {counted(plan.cases, 'case')} in {plan.name}.")
    for datasets, cases in plan.shared:
        note(f"{counted(cases, 'case')} in {counted(datasets, 'dataset')}.")
    note(
        f"Comes along: {counted(plan.labels, 'label')}, {counted(plan.adjudications, 'adjudication')}, "
        f"{counted(plan.revisions, 'revision')}, {counted(plan.imported_runs, 'imported run')}."
    )
    for line in plan.stays:
        note(f"Stays with the originals: {line}.")
    _say_runs(runs)
    for fault in plan.conflicts[:SHOWN]:
        note(f"Conflict: {fault}")
    if plan.conflict_count:
        raise Invalid(f"{counted(plan.conflict_count, 'conflict')}: it would be refused.")
    return 0


def _say_runs(runs: list[reruns.Rerun]) -> None:
    for one in runs:
        what = f"{one.cached.low:,.0f} of {counted(one.calls, 'call')} are answered already"
        if one.started_as is not None:
            what = f"started as run {one.started_as}"
        named = f"run {one.run.pk}, {one.run.name}" if one.run.name else str(one.run)
        note(f"{named}, as {one.system or 'it was'}: {one.refused or what}")
