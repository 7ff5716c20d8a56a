"""What a run would come to, said before it is started."""

from typing import Any

from django.utils import timezone

from rubricweb import access
from rubricweb.api.datasets.routes import version_or_own
from rubricweb.api.operations import Room, TokenRequest
from rubricweb.api.runs import launch_schemas as schemas
from rubricweb.api.runs.options import run_options
from rubricweb.api.schemas import WithFields
from rubricweb.models import Role
from rubricweb.services.runs import planning as services

run_planning = Room("runs")


@run_planning.write("POST", "/runs/plan", Role.EDITOR, schemas.RunPlan)
def plan_run(request: TokenRequest, body: schemas.NewRun) -> Any:
    """Say what such a run would ask, cost and take.

    Nothing is stored and nobody is asked. Every number is a range and says what it rests on; of a large
    dataset a sample of 200 items is looked at.
    """
    team = request.auth.team
    dataset = access.access_dataset(team, body.dataset_id)
    made = services.plan_run(
        team,
        dataset=dataset,
        rubric_version=version_or_own(team, body.rubric_version_id, dataset),
        viewer=request.auth.user,
        now=timezone.now(),
        options=run_options(team, dataset, body, viewer=request.auth.user),
    )
    return WithFields(
        made.forecast,
        own_rubrics=made.plan.own,
        criteria_fewest=made.plan.fewest,
        criteria_most=made.plan.most,
    )
