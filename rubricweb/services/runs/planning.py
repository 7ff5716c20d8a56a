"""Before a run is started: what it would come to, refused where starting it would be."""

from dataclasses import dataclass
from datetime import datetime

from rubricweb.models import Dataset, RubricVersion, Team, User
from rubricweb.selectors.runs.planning.forecasts import Forecast, forecast
from rubricweb.selectors.runs.planning.plans import Plan, plan
from rubricweb.services.runs import panels
from rubricweb.services.runs.starting import RunOptions, drafted, one_version


@dataclass(frozen=True, slots=True)
class RunPlan:
    """What would be asked, counted, and what it would probably cost and take, measured."""

    plan: Plan
    forecast: Forecast


def plan_run(
    team: Team,
    *,
    dataset: Dataset,
    rubric_version: RubricVersion | None,
    viewer: User | None,
    now: datetime,
    options: RunOptions,
) -> RunPlan:
    """What `launch_runs` with these options would come to; nothing is stored, nobody is asked.

    To a `viewer` who rates blind, earlier answers about items still to review are not told.

    Raises what that would, but for caps: those are what a plan is for.
    """
    draft = drafted(team, options, dataset=dataset, rubric_version=rubric_version, by=viewer)
    if len(options.systems) < 2:  # of several each has a run of its own
        one_version(draft.items)
    counted = plan(
        dataset,
        rubric_version,
        draft.run.autograder,
        votes=draft.run.votes_per_criterion,
        items=draft.items,
    )
    judges = panels.judges_of(draft.run)
    return RunPlan(counted, forecast(draft.run, draft.items, judges, counted, viewer=viewer, now=now))
