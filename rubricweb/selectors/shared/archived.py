"""How many rows a list leaves out because they are archived."""

from django.db.models import Q

from rubricweb.models import Dataset, Judge, JudgeEndpoint, ReviewQueue, Rubric, Run, System, Team, unarchived
from rubricweb.selectors.shared.left_out import LeftOutItems, left_out

Listed = Dataset | Judge | JudgeEndpoint | ReviewQueue | Rubric | Run | System
NOUNS: dict[type[Listed], str] = {
    Dataset: "dataset",
    Judge: "judge",
    JudgeEndpoint: "endpoint",
    ReviewQueue: "queue",
    Rubric: "rubric",
    Run: "run",
    System: "system",
}
# What is in no list at all: endpoints that were removed, the system without a name.
_UNLISTED: dict[type[Listed], Q] = {JudgeEndpoint: Q(removed_at__isnull=False), System: Q(name="")}


def archived_count(team: Team, model: type[Listed], *narrowed: Q) -> int:
    """How many rows of the team are archived, of those that meet the conditions. One query."""
    rows = model._default_manager.filter(unarchived(archived=True), *narrowed, team=team)
    return rows.exclude(_UNLISTED.get(model, Q(pk=None))).count()


def archived_left_out(
    team: Team, model: type[Listed], *narrowed: Q, archived: bool = False
) -> tuple[LeftOutItems, ...]:
    """What a list of these rows leaves out; nothing where it lists those `archived`, as it was asked to."""
    if archived:
        return ()
    return left_out(noun=NOUNS[model], archived=archived_count(team, model, *narrowed))
