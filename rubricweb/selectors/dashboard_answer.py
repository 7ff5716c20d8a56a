"""The one sentence a dashboard comes to: the newest score, what stood before, what is weakest."""

from dataclasses import dataclass

from rubricweb.engine.agreement.intervals import Figure
from rubricweb.engine.number_format import counted, from_to, number, share, value_of
from rubricweb.selectors.dashboard import Dashboard
from rubricweb.selectors.runs.over_time.score_series import Point, Series


@dataclass(frozen=True)
class ScoreAnswer:
    """One sentence on the newest point of the series that is followed, and what else matters."""

    sentence: str
    why: str


def score_answer(board: Dashboard) -> ScoreAnswer | None:
    """None where no run has a score; of scores that are withheld nothing is said but that they are."""
    newest, series = board.newest, board.chosen
    if newest is None or series is None:
        return None
    name = newest.system or newest.name
    if newest.withheld:
        return ScoreAnswer(f"The score of {name} is hidden until you finish your reviews.", "")
    if newest.mean is None:
        return None
    figure = Figure(newest.mean, newest.low, newest.high, newest.cases or 0)
    sentence = f"{name} scores {value_of(figure)}{_people(board)}."
    why = [_basis(newest), _before(series, newest), _weakest(board)]
    return ScoreAnswer(sentence, " ".join(filter(None, why)))


def _people(board: Dashboard) -> str:
    """What people would say of the same run, where it could be estimated."""
    agreement, newest = board.agreement, board.newest
    if agreement is None or newest is None or agreement.run.pk != newest.run_id:
        return ""
    figure = agreement.estimate.like_these or agreement.estimate.these
    return "" if figure is None or figure.value is None else f"; people would say {number(figure.value, 2)}"


def _basis(point: Point) -> str:
    between = from_to(point.low, point.high)
    cases = counted(point.cases or point.scored or 0, "case")
    return f"95 % interval {between}, {cases}." if between else f"{cases}, too few for an interval."


def _before(series: Series, newest: Point) -> str:
    """The mean of the run before it in the order of the series: of two versions over the cases they share."""
    earlier = series.points[: series.points.index(newest)]
    before = [point for point in earlier if point.mean is not None and not point.withheld]
    if not before:
        return ""
    last, shared = before[-1], series.shared
    if last.system == newest.system:
        return f"{last.name} had {number(last.mean, 2)}."
    if shared is None or not {last.run_id, newest.run_id} <= shared.means.keys():
        return ""
    had, has = shared.means[last.run_id].value, shared.means[newest.run_id].value
    if shared.cases == last.cases == newest.cases:
        return f"{last.system} had {number(had, 2)}."
    both = f"{last.system} {number(had, 2)}, {newest.system} {number(has, 2)}"
    return f"Over the {counted(shared.cases, 'shared case')}: {both}."


def _weakest(board: Dashboard) -> str:
    """The criterion that loses most points."""
    if board.rated is None or board.newest is None or board.rated.pk != board.newest.run_id:
        return ""
    worst = next((one for one in board.trends if one.lost > 0), None)
    if worst is None:
        return ""
    value = worst.rate.judge.value
    result = f"{share(value)} have the error" if worst.rate.criterion.weight < 0 else f"{share(value)} pass"
    if not worst.rate.is_share:
        result = f"mean {number(value, 2)}"
    return f"Weakest: {worst.rate.criterion.title}, {result}."
