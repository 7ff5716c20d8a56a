"""Which datasets can be combined, which are being combined or were, and which of their runs are left."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db.models import Exists, OuterRef, Q, QuerySet

from rubricweb.models import (
    Combination,
    CombinationState,
    Dataset,
    Run,
    RunState,
    Team,
    unarchived,
)
from rubricweb.selectors.shared.pages import Page, keyset_page

UNENDED = (CombinationState.WAITING, CombinationState.RUNNING)
OFFERED = 200
MOST_RUNS = 20
"""So many of the runs of the originals are offered to be started again, the newest."""
NOTED = 5
NOTED_DAYS = 7


def combinable(team: Team) -> list[Dataset]:
    """The newest datasets that are no halves of a split and are not archived."""
    rows = Dataset.objects.filter(unarchived(), team=team, sealed_as="")
    return list(rows.order_by("-created_at", "-pk")[:OFFERED])


def combinations(team: Team, *, cursor: str | None = None, size: int = 50) -> Page[Combination]:
    """The team's combinations, newest first, with their datasets and `runs_left`. Five queries at most."""
    page = keyset_page(_listed(team), order=("-pk",), cursor=cursor, size=size)
    _count_runs_left(page.rows)
    return page


def noteworthy(team: Team, now: datetime) -> list[Combination]:
    """What somebody may want to go on with: those under way, and of the last days those of which nothing came
    in spite of them, and those with `runs_left`. The newest; five queries at most.
    """
    recent = Q(ended_at__gte=now - timedelta(days=NOTED_DAYS))
    tried_again = Combination.objects.filter(team=team, name=OuterRef("name"), pk__gt=OuterRef("pk"))
    failed = Q(state__in=(CombinationState.REFUSED, CombinationState.FAILED)) & ~Exists(tried_again)
    done = Q(state=CombinationState.DONE, dataset__team=team)
    found = list(_listed(team).filter(Q(state__in=UNENDED) | recent & (failed | done)).order_by("-pk")[:20])
    _count_runs_left(found)
    of_note = [one for one in found if one.state != CombinationState.DONE or one.runs_left]  # type: ignore[attr-defined]  # counted
    return of_note[:NOTED]


def finished_runs(dataset_ids: Sequence[int]) -> QuerySet[Run]:
    """The runs over these datasets that can be started again over what they are combined in, newest first."""
    runs = Run.objects.filter(unarchived(), dataset__in=dataset_ids, rater=None, state=RunState.FINISHED)
    return runs.order_by("-pk")


def started_again(combinations: Sequence[Combination]) -> dict[tuple[int, int], int]:
    """(combination, run of an original) → the run it was started again as, where that was not deleted."""
    started = {(one.pk, int(old)): new for one in combinations for old, new in one.started.items()}
    teams = {one.team_id for one in combinations}
    there = set(Run.objects.filter(pk__in=started.values(), team__in=teams).values_list("pk", flat=True))
    return {place: new for place, new in started.items() if new in there}


def _listed(team: Team) -> QuerySet[Combination]:
    rows = Combination.objects.filter(team=team).select_related("dataset", "team", "created_by")
    return rows.defer("stamp", "made").prefetch_related("parts__dataset")


def _count_runs_left(combinations: Sequence[Combination]) -> None:
    """Counts as `runs_left` how many of the runs that are offered were not started again yet."""
    for one in combinations:
        one.runs_left = 0  # type: ignore[attr-defined]  # for its readers
    done = [one for one in combinations if one.state == CombinationState.DONE and one.dataset_id is not None]
    systems = {one.pk: {part.dataset_id: part.system for part in one.parts.all()} for one in done}
    originals = {dataset_id for parts in systems.values() for dataset_id in parts}
    if not originals:
        return
    rows = finished_runs(sorted(originals)).values_list("pk", "dataset_id", "system_version_id")
    runs, started = list(rows), started_again(done)
    for one in done:
        parts = systems[one.pk]
        offered = [run for run in runs if run[1] in parts][:MOST_RUNS]
        one.runs_left = sum(  # type: ignore[attr-defined]  # for its readers
            # A run over answers of several versions cannot be started as one.
            bool(parts[dataset_id] or version_id) and (one.pk, pk) not in started
            for pk, dataset_id, version_id in offered
        )
