"""What the dashboard says first: the newest score, what stood before, what is weakest."""

from dataclasses import dataclass

from rubricweb.engine.agreement.intervals import Figure
from rubricweb.engine.number_format import counted, from_to, number, share, value_of
from rubricweb.selectors.dashboard import Dashboard
from rubricweb.selectors.runs.over_time.score_series import Point, Series
from rubricweb.web.shared.plots import FEW, Mark, Picture, PictureRow, kappa_axis


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
    earlier = [point for point in series.points if point.tells and point.run_id != newest.run_id]
    before = [point for point in earlier if point.mean is not None and not point.withheld]
    if not before:
        return ""
    last = before[-1] if before[-1].at <= newest.at else before[0]
    return f"{last.system or last.name} had {number(last.mean, 2)}."


def _weakest(board: Dashboard) -> str:
    """The criterion that loses most points."""
    if board.rated is None or board.newest is None or board.rated.pk != board.newest.run_id:
        return ""
    worst = next((one for one in board.trends if one.rate.is_share and one.lost > 0), None)
    if worst is None:
        return ""
    of = share(worst.rate.judge.value)
    said = f"{of} have the error" if worst.rate.criterion.weight < 0 else f"{of} pass"
    return f"Weakest: {worst.rate.criterion.title}, {said}."


def judge_picture(board: Dashboard) -> Picture | None:
    """How far the judge agrees with people, beside one person where two labelled the same; None without κ."""
    agreement = board.agreement
    if agreement is None or agreement.leading.kappa.value is None:
        return None
    seat, few = agreement.seat, agreement.leading.kappa.n < FEW
    marks = [("Judge", Mark("judge", agreement.leading.kappa, few))]
    if seat is not None:
        marks = [("Person", Mark("people", seat.person, few)), ("Judge", Mark("judge", seat.judge, few))]
    rows = tuple(PictureRow(name, "", mark, False) for name, mark in marks)
    figures = [mark.figure for _, mark in marks]
    note = f"Agreement (κ) on {counted(agreement.leading.kappa.n, 'label')} of {agreement.run.dataset.name}."
    return Picture("Judge", rows, kappa_axis(figures, with_words=False), note)
