"""`rubricweb datasets combine`: several datasets become one, copied by this process."""

import argparse

from rubricweb.engine.number_format import counted
from rubricweb.errors import Invalid
from rubricweb.management.terminal.actor import note, resolve_actor
from rubricweb.management.terminal.shapes import print_shape
from rubricweb.models import CombinationState, Dataset, Role
from rubricweb.selectors.shared.clock import database_clock, database_now
from rubricweb.selectors.teams import lookup
from rubricweb.services.combinations import combinations, plans, reruns
from rubricweb.services.combinations.matching import AskedPart, suggested
from rubricweb.services.grading.workers.registry import worker_name

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
    found = combinations.start(actor.team, asked, by=actor.user, enqueue=None)
    try:
        found = combinations.work(found.pk, worker=worker_name(), now=database_clock())
    except KeyboardInterrupt:
        combinations.cancel(found, now=database_now())
        raise
    if found.state != CombinationState.DONE:
        raise Invalid(found.message or f"Combining ended: {found.get_state_display().lower()}.")
    if options.json:
        from rubricweb.api.datasets.combination_schemas import Combination

        print_shape(Combination, found)
        return 0
    assert found.dataset is not None, "it is done"
    note(f"Combined {counted(found.items_copied, 'item')} in {found.dataset} (id:{found.dataset.pk}).")
    return 0


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
    for one in runs:
        what = one.refused or f"{one.cached.low:,.0f} of {counted(one.calls, 'call')} are answered already"
        note(f"{one.run} (id:{one.run.pk}) as {one.system or 'it was'}: {what}")
    for fault in plan.conflicts[:SHOWN]:
        note(f"Conflict: {fault}")
    if plan.conflict_count:
        raise Invalid(f"{counted(plan.conflict_count, 'conflict')}: it would be refused.")
    return 0
