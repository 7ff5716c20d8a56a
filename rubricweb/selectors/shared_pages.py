"""Figures as a link shows them: of the dashboard, of judge against people, of run against run.

Only what is named here gets into a link: sentences, names of criteria, runs, judges and system versions, and
figures over many items. No item, no verdict on one and no person is.
"""

from collections.abc import Iterator, Sequence

from django.utils.dateformat import format as date_text

from rubricweb.engine.agreement import Figure
from rubricweb.engine.number_format import counted
from rubricweb.errors import Conflict
from rubricweb.models import Criterion, Run, SharedFigure, SharedPage, SharedRow, SharedTable
from rubricweb.models.snapshots import Scale, Who
from rubricweb.selectors.comparison.comparison import Comparison
from rubricweb.selectors.comparison.verdict import LOOKS, comparison_verdict, seat_of
from rubricweb.selectors.dashboard import Dashboard
from rubricweb.selectors.dashboard_answer import score_answer
from rubricweb.selectors.labels.by_kind import CriterionComparison
from rubricweb.selectors.runs.diff.diff import RunDiff
from rubricweb.selectors.runs.diff.verdict import POINTS, WORDS, diff_sentence, diff_why, in_points, is_raw
from rubricweb.selectors.runs.over_time.score_series import Series

FEW = 30
"""Items below which a mark is hollow."""
ROWS_MAX = 100
TABLES_MAX = 8
NAME_MAX = 200


def shared_comparison(comparison: Comparison) -> SharedPage:
    """The answer of Compare with its criteria. Raises Conflict where judge and people share no answer."""
    verdict = comparison_verdict(comparison)
    if verdict is None:
        raise Conflict("There is nothing to share: judge and people have no answer in common.")
    tables = [_beside_people(comparison, verdict.leads), _criteria(comparison, verdict.leads)]
    return SharedPage(
        sentence=verdict.sentence,
        why=verdict.why,
        badge=verdict.title,
        look=LOOKS.get(verdict.state, "undecided"),
        facts=(
            ("Run", str(comparison.run)),
            ("Dataset", comparison.run.dataset.name),
            ("Rubric", _rubric(comparison.run)),
            ("Judge", str(comparison.judge_version or comparison.run.judge.name)),
            ("Labels", f"{counted(comparison.items, 'item')}, {counted(comparison.raters, 'rater')}"),
        ),
        tables=tuple(table for table in tables if table.rows),
    )


def shared_dashboard(board: Dashboard, name: str) -> SharedPage:
    """The newest score, the scores over time and the criteria. Raises Conflict where no run has a score."""
    answer = score_answer(board)
    if answer is None:
        raise Conflict("There is nothing to share: no run has finished with a score.")
    series = [one for one in board.series if one.points]
    # The one in use first, then the newest.
    series.sort(key=lambda one: (one.number != (board.chosen.number if board.chosen else ""), -one.place[0]))
    tables = [_scores(one) for one in series[:TABLES_MAX]]
    tables += [_pass_rates(board), _judge_and_people(board)]
    facts = [("Dataset", name)]
    if board.rated is not None:
        facts += [("Criteria of", str(board.rated)), ("Rubric", _rubric(board.rated))]
    return SharedPage(
        sentence=answer.sentence,
        why=answer.why,
        badge="",
        look="undecided",
        facts=tuple(facts),
        tables=tuple(table for table in tables if table.rows),
    )


def shared_diff(found: RunDiff) -> SharedPage:
    """What two runs come to, and which criteria moved it. Raises Conflict where nothing has both scores."""
    if not found.scores.n or found.scores.difference.value is None:
        raise Conflict("There is nothing to share: nothing has a score in both runs.")
    badge, look = WORDS[found.direction]
    whole = _row(
        "Change", counted(found.scores.n, found.paired_by), [(_moved(found), found.scores.difference)]
    )
    tables = [
        _table(f"Change of mean {found.scale}", "", "difference", ("Change",), [whole]),
        _table("What changed the score", _points_note(found), "points", ("Points",), list(_parts(found))),
    ]
    this, other = found.sides
    return SharedPage(
        sentence=diff_sentence(found),
        why=diff_why(found),
        badge=badge,
        look=look,
        facts=(
            ("Run", str(found.run)),
            ("Baseline", str(found.baseline)),
            ("Dataset", found.run.dataset.name),
            ("Rubric", _rubric(found.run)),
            (
                "Judges",
                " · ".join(
                    dict.fromkeys(str(side.judge_version or side.run.judge.name) for side in (this, other))
                ),
            ),
        ),
        tables=tuple(table for table in tables if table.rows),
    )


# ── Judge against people ─────────────────────────────────────────────────────────────────────────


def _beside_people(comparison: Comparison, leads: str) -> SharedTable:
    seat, rates = seat_of(comparison), comparison.rates
    if leads == "bias" and rates.judge.value is not None:
        rows = [_row("People", "", [("people", rates.people)]), _row("Judge", "", [("judge", rates.judge)])]
        gives = "Share that gets credit" if comparison.has_penalties else "Share that passes"
        return _table(f"{gives}, all criteria", "", "share", ("Share",), rows)
    if seat is None:
        kappa = comparison.leading.kappa
        rows = [] if kappa.value is None else [_row("Judge", "with people", [("judge", kappa)])]
        return _table(f"Agreement with people ({comparison.leading.name})", "", "kappa", ("κ",), rows)
    rows = [
        _row("One person", "with the others", [("people", seat.person)], seat.items),
        _row("Judge", "in the same seat", [("judge", seat.judge)], seat.items),
    ]
    note = counted(seat.items, "item")
    return _table("Agreement with the other raters (κ), all criteria", note, "kappa", ("κ",), rows)


def _criteria(comparison: Comparison, leads: str) -> SharedTable:
    """By the widest gap, as on the page; checks, which nobody answers, are in none."""
    compared = [row for row in comparison.criteria if row.mean_value is None]
    pairs = [(row, *_sides(row, leads)) for row in compared]
    scale: Scale = "share" if leads == "bias" else "kappa"
    if leads == "bias":
        pairs.sort(key=lambda one: (one[0].bias.value is None, -abs(one[0].bias.value or 0.0)))
        title, columns = "How often each gives credit, largest bias first", ("People", "Judge")
    else:
        pairs.sort(key=lambda one: _gap(one[1], one[2]))
        title, columns = "Criteria, widest gap first", ("One person (κ)", "Judge (κ)")
    rows = [
        _row(row.criterion.title, _weight(row.criterion), [("people", people), ("judge", judge)])
        for row, people, judge in pairs
    ]
    return _table(title, "", scale, columns, rows)


def _sides(row: CriterionComparison, leads: str) -> tuple[Figure, Figure]:
    if leads == "bias":
        return row.rates.people, row.rates.judge
    if row.ceiling.judge is not None and row.ceiling.judge.kappa_difference.value is not None:
        return row.ceiling.kappa, row.ceiling.judge.kappa
    return Figure(None, None, None, 0), row.leading.kappa


def _gap(people: Figure, judge: Figure) -> tuple[bool, float]:
    if people.value is None or judge.value is None:
        return True, 0.0
    return False, judge.value - people.value


# ── The dashboard ────────────────────────────────────────────────────────────────────────────────


def _scores(series: Series) -> SharedTable:
    """The newest points of one series, in its order."""
    rows = [
        _row(
            point.system or point.name,
            date_text(point.at, "j M Y"),
            [("judge", Figure(point.mean, point.low, point.high, point.cases or point.scored or 0))],
        )
        for point in series.points[-ROWS_MAX:]
        if point.mean is not None
    ]
    return _table("Mean score", f"{series.rubric} · {series.judge}", "score", ("Score",), rows)


def _pass_rates(board: Dashboard) -> SharedTable:
    rows = [
        _row(
            rate.criterion.title,
            "share with the error" if rate.criterion.weight < 0 else "",
            [("people", rate.people), ("judge", rate.judge)],
        )
        for rate in board.pass_rates
        if rate.is_share
    ]
    return _table("Criteria", "share that passes", "share", ("People", "Judge"), rows)


def _judge_and_people(board: Dashboard) -> SharedTable:
    agreement = board.agreement
    if agreement is None or agreement.seat is None:
        return _table("", "", "kappa", (), [])
    seat = agreement.seat
    rows = [
        _row("One person", "", [("people", seat.person)], seat.items),
        _row("Judge", "", [("judge", seat.judge)], seat.items),
    ]
    return _table("Agreement with the other raters (κ)", str(agreement.run), "kappa", ("κ",), rows)


# ── Run against run ──────────────────────────────────────────────────────────────────────────────


def _parts(found: RunDiff) -> Iterator[SharedRow]:
    """Every criterion with a part of the difference, what rose first."""
    told = [(change, change.contribution) for change in found.criteria if change.contribution is not None]
    for change, part in sorted(told, key=lambda one: -(one[1].value or 0.0)):
        points = in_points(part, 1 if is_raw(found) else POINTS)
        yield _row(change.criterion.title, _weight(change.criterion), [("none", points)])


def _points_note(found: RunDiff) -> str:
    return "parts of the raw score" if is_raw(found) else "points of 100"


def _moved(found: RunDiff) -> Who:
    return "better" if found.direction == "up" else "worse" if found.direction == "down" else "none"


# ── Parts of a page ──────────────────────────────────────────────────────────────────────────────


def _table(
    title: str, note: str, scale: Scale, columns: tuple[str, ...], rows: Sequence[SharedRow]
) -> SharedTable:
    """With the first ROWS_MAX rows; what is left out is counted in the note."""
    if len(rows) > ROWS_MAX:
        note = " · ".join(filter(None, (note, f"the first {ROWS_MAX} of {len(rows):,}")))
    return SharedTable(title, note, scale, columns, tuple(rows[:ROWS_MAX]))


def _row(name: str, about: str, figures: Sequence[tuple[Who, Figure]], items: int | None = None) -> SharedRow:
    """`items` is how many they rest on where `n` counts labels."""
    shown = (
        SharedFigure(
            who,
            figure.value,
            figure.low,
            figure.high,
            figure.n,
            few=(figure.n if items is None else items) < FEW,
        )
        for who, figure in figures
    )
    return SharedRow(name[:NAME_MAX], about, tuple(shown))


def _rubric(run: Run) -> str:
    return str(run.rubric_version) if run.rubric_version is not None else "each item’s own"


def _weight(criterion: Criterion) -> str:
    return f"{criterion.weight:+g}".replace("-", "\N{MINUS SIGN}")
