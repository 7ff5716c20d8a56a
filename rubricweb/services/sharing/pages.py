"""What a link to people outside would show: one page, as it is now, with what its figures are of."""

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from rubricweb import access
from rubricweb.errors import Conflict, Invalid, Withheld
from rubricweb.models import Blind, QueueState, ReviewQueue, Run, SharedKind, SharedPage, Team, User
from rubricweb.selectors import dashboard as dashboards
from rubricweb.selectors.blinding import hidden_from_somebody
from rubricweb.selectors.comparison import comparison as comparisons
from rubricweb.selectors.labels import comparable
from rubricweb.selectors.runs.diff import diff as diffs
from rubricweb.selectors.shared_pages import shared_comparison, shared_dashboard, shared_diff
from rubricweb.services.datasets.halves import looks


@dataclass(frozen=True)
class Shown:
    """Which page a link shows, by the ids of what it is of. What is None or empty is chosen as on the page.

    A comparison is of `run_id` and `queue_ids`, a run against run of `run_id` and `baseline_id`; a dashboard
    is of `dataset_id`, of all datasets where it is None, narrowed by `rubric_id` and `series`.
    """

    kind: SharedKind
    run_id: int | None = None
    baseline_id: int | None = None
    queue_ids: tuple[int, ...] = ()
    dataset_id: int | None = None
    rubric_id: int | None = None
    series: str = ""


@dataclass(frozen=True)
class FrozenPage:
    """What a link is about to show, with the runs and queues its figures are of, and its live address below
    that of the team.
    """

    kind: SharedKind
    page: SharedPage
    runs: tuple[Run, ...]
    queues: tuple[ReviewQueue, ...]
    address: str
    title: str


def freeze(team: Team, shown: Shown, *, by: User) -> FrozenPage:
    """The page as it is now, for people outside.

    Raises NotFound for what is not the team's, Invalid for ids that do not fit the kind, Conflict where there
    is nothing to show, and Withheld while anybody is still to review some of it blind: who holds the link may
    be one of them. Of test cases it is a look, as opening the page is.
    """
    if shown.kind == SharedKind.COMPARISON:
        return _comparison(team, shown, by)
    if shown.kind == SharedKind.RUN_DIFF:
        return _diff(team, shown, by)
    return _dashboard(team, shown, by)


def _comparison(team: Team, shown: Shown, by: User) -> FrozenPage:
    if shown.run_id is None:
        raise Invalid.at("run_id", "none", "the run that is compared with people")
    run = access.access_run(team, shown.run_id)
    queues = access.access_queues(team, shown.queue_ids) or comparable.queues_to_compare(run)
    if not queues:
        raise Conflict("There is nothing to share: nobody has reviewed the items of this run.")
    _require_shown_to_all(team, tuple(run.launched_with))
    comparison = looks.count_look(comparisons.compare(run, queues, viewer=by), by=by)
    query = urlencode({"run": run.pk, "queue": [queue.pk for queue in queues]}, doseq=True)
    return FrozenPage(
        shown.kind,
        shared_comparison(comparison),
        comparison.runs,
        tuple(queues),
        f"compare/?{query}",
        f"{run}: judge against people",
    )


def _diff(team: Team, shown: Shown, by: User) -> FrozenPage:
    if shown.run_id is None or shown.baseline_id is None:
        raise Invalid.at("run_id", "one run", "the run in run_id and its baseline in baseline_id")
    run, baseline = (access.access_run(team, one) for one in (shown.run_id, shown.baseline_id))
    diffs.require_comparable(run, baseline)
    _require_shown_to_all(team, (run, baseline))
    page = shared_diff(diffs.run_diff(run, baseline, viewer=by))
    address = f"runs/{run.pk}/against/{baseline.pk}/"
    return FrozenPage(shown.kind, page, (run, baseline), (), address, f"{run} against {baseline}")


def _dashboard(team: Team, shown: Shown, by: User) -> FrozenPage:
    name, query = team.name, {"dataset": "all"}
    if shown.dataset_id is not None:
        dataset = access.access_dataset(team, shown.dataset_id)
        name, query = dataset.name, {"dataset": str(dataset.pk)}
    if shown.rubric_id is not None:
        query["rubric"] = str(access.access_rubric(team, shown.rubric_id).pk)
    if shown.series:
        query["series"] = shown.series
    board = dashboards.dashboard(
        team,
        by,
        dataset_id=shown.dataset_id,
        rubric_id=shown.rubric_id,
        series_number=shown.series or None,
    )
    ids = {point.run_id for series in board.series for point in series.points}
    if board.rated is not None:
        ids.add(board.rated.pk)
    if board.agreement is not None:
        ids.update(run.pk for run in board.agreement.runs)
    runs = tuple(Run.objects.filter(pk__in=ids, team=team).select_related("team", "dataset").order_by("pk"))
    _require_shown_to_all(team, runs)
    queues = comparable.queues_to_compare(board.agreement.run) if board.agreement is not None else ()
    page = shared_dashboard(board, name)
    return FrozenPage(shown.kind, page, runs, tuple(queues), f"?{urlencode(query)}", f"{name}: scores")


def _require_shown_to_all(team: Team, runs: Sequence[Run]) -> None:
    """Who holds the link may be a rater: it must not tell what the pages keep from one."""
    hidden = hidden_from_somebody(team)
    for run in runs:
        if any(run in one for one in hidden):
            queues = ReviewQueue.objects.filter(team=team, dataset=run.dataset_id).exclude(blind=Blind.NONE)
            names = queues.exclude(state=QueueState.CLOSED).order_by("pk").values_list("name", flat=True)
            which = f" ({', '.join(names[:3])})" if names else ""
            raise Withheld(
                f"Somebody is still to review answers of {run} blind, and whoever reviews could open the "
                f"link. Share it once the blind queues over these answers are finished or closed{which}."
            )
