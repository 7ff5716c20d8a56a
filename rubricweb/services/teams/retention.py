"""How long a team keeps what was said in calls to judges: their prompts, raw replies and reasoning."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Q

from rubricweb.errors import Invalid
from rubricweb.models import PRUNED, JudgeCall, Run, Team, TriedCall, User
from rubricweb.services.shared.journal import record

MAX_DAYS = 36_500
AT_MOST = 50_000
"""So many calls of a team, and no more, a worker prunes before it lets other tasks have a turn."""


@transaction.atomic
def change_retention(team: Team, *, by: User, days: int | None) -> None:
    """Keeps calls for so many days from when they were made, None for ever.

    Nothing is deleted here: a worker does so within the hour. Raises Invalid.
    """
    if days is not None and not 1 <= days <= MAX_DAYS:
        raise Invalid.at(
            "keep_calls_days", str(days), f"1 to {MAX_DAYS} days, or nothing to keep calls for ever"
        )
    if days == team.keep_calls_days:
        return
    team.keep_calls_days = days
    team.save(update_fields=["keep_calls_days"])
    record(team, by, "changed how long calls are kept of", team, days=days or "for ever")


def prune_all(*, now: datetime) -> int:
    """Prunes every team's calls that are due; how many. Harmless at any time and from any process.

    Of each team `AT_MOST`: whoever gets so many or more calls it again.
    """
    teams = Team.objects.filter(keep_calls_days__isnull=False).order_by("pk")
    return sum(prune(team, now=now, at_most=AT_MOST) for team in teams)


def prune(team: Team, *, now: datetime, batch: int = 500, at_most: int | None = None) -> int:
    """Clears what was said in the team's calls that are older than it keeps them; how many calls.

    Verdicts, reasons, tokens, cost and errors stay; a pruned call answers no question again. What was
    answered in tries goes as a whole, and is not counted: nothing else was kept of it. Works in transactions
    of `batch` calls, each of which tells the audit log's one line how many there are by now, and stops after
    `at_most`: the rest is due next time. Doing it twice does nothing.
    """
    if team.keep_calls_days is None:
        return 0
    before = now - timedelta(days=team.keep_calls_days)
    TriedCall.objects.filter(team=team, created_at__lt=before).delete()
    pruned, line = 0, None
    for ids in _due(team, before, batch):
        with transaction.atomic():
            pruned += JudgeCall.objects.filter(pk__in=ids).update(
                request=None, reply="", reasoning="", content_key=None
            )
            if line is None:
                line = record(team, None, PRUNED, team, calls=pruned, before=before.isoformat())
            else:
                line.detail["calls"] = pruned
                line.save(update_fields=["detail"])
        if at_most is not None and pruned >= at_most:
            break
    return pruned


def _due(team: Team, before: datetime, batch: int) -> Iterator[list[int]]:
    """Ids of calls that still hold something said before `before`, oldest runs first."""
    holding = Q(request__isnull=False) | ~Q(reply="") | ~Q(reasoning="") | Q(content_key__isnull=False)
    runs = Run.objects.filter(team=team, created_at__lt=before).order_by("pk").values_list("pk", flat=True)
    for run_id in runs:
        calls = JudgeCall.objects.filter(holding, run_id=run_id, created_at__lt=before).order_by("pk")
        latest = 0
        while ids := list(calls.filter(pk__gt=latest).values_list("pk", flat=True)[:batch]):
            latest = ids[-1]
            yield ids
