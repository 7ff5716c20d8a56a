"""Launches: a run for each of several system versions, started together."""

from dataclasses import replace

from django.db import transaction

from rubricweb.models import Dataset, Launch, RubricVersion, Run, Team, User
from rubricweb.services.runs.starting import RunOptions, start_run
from rubricweb.services.runs.work_queue import Enqueue


@transaction.atomic
def launch_runs(
    team: Team,
    *,
    by: User | None,
    dataset: Dataset,
    rubric_version: RubricVersion | None,
    enqueue: Enqueue,
    options: RunOptions,
    budget_usd: float | None = None,
    no_cap: bool = False,
) -> list[Run]:
    """A run for each of `options.systems`, in that order, under one launch; one run as `start_run` without.

    `budget_usd` is what they may cost together: each may cost an equal part. A name gets the version behind
    it. All start or none: raises as `start_run`.
    """
    if len(options.systems) < 2:
        run = start_run(
            team,
            by=by,
            dataset=dataset,
            rubric_version=rubric_version,
            enqueue=enqueue,
            options=options,
            budget_usd=budget_usd,
            no_cap=no_cap,
        )
        return [run]
    launch = Launch.objects.create(team=team, budget_usd=budget_usd, created_by=by)
    runs = []
    for version in options.systems:
        name = f"{options.name.strip()} · {str(version) or 'no system named'}" if options.name.strip() else ""
        run = start_run(
            team,
            by=by,
            dataset=dataset,
            rubric_version=rubric_version,
            enqueue=enqueue,
            options=replace(options, systems=(version,), name=name),
            budget_usd=None if budget_usd is None else budget_usd / len(options.systems),
            no_cap=no_cap,
        )
        run.launch = launch
        run.save(update_fields=["launch"])
        runs.append(run)
    return runs
