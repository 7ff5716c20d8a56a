"""What the page of a run says first: its mean score, what fails, the lowest items, and the criteria."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rubricweb.engine.number_format import counted, from_to, number, value_of
from rubricweb.engine.scoring import outcomes
from rubricweb.engine.scoring.effect import points_lost
from rubricweb.models import Judgement, Run, RunItem, RunState
from rubricweb.selectors.labels.stored_answers import outcome
from rubricweb.selectors.runs.criterion_counts import CriterionCounts
from rubricweb.selectors.runs.results import Result
from rubricweb.selectors.shared.score_ends import score_ends
from rubricweb.web.shared.plots import Mark

LOWEST_SHOWN = 3


@dataclass(frozen=True)
class RunAnswer:
    """`sentence` is the result, `why` what it rests on; `failing` counts items the rubric's rule turns down,
    None without a rule; `bar` is the least score that passes, None where that does not decide or scores are
    raw: the rule is about normalised ones."""

    sentence: str
    why: str
    failing: int | None
    bar: float | None


def run_answer(run: Run, result: Result) -> RunAnswer | None:
    """None where nothing has a score yet."""
    if not result.scored or result.mean.value is None:
        return None
    so_far = " so far" if run.state in (RunState.RUNNING, RunState.PAUSED) else ""
    rule = run.rubric_version.to_engine().pass_rule if run.rubric_version is not None else None
    lowest = result.low_end.lowest
    failing = None
    parts = [f"Mean score {value_of(result.mean)}{so_far}"]
    if rule is not None and result.passed.value is not None:
        of = result.passed.n
        passing = round(result.passed.value * of)
        failing = of - passing
        parts.append(f"{passing:,} of {counted(of, result.unit)} pass")
        lowest_words = "" if lowest is None else f"the lowest has {number(lowest, 2)}"
    else:
        of_all = counted(result.scored, "item")
        lowest_words = "" if lowest is None else f"the lowest of {of_all} has {number(lowest, 2)}"
    sentence = ". ".join(parts) + (f"; {lowest_words}." if lowest_words else ".")
    decides = rule is not None and rule.min_criterion is None and run.normalize
    bar = rule.min_score if rule is not None and decides else None
    why = _basis(result)
    if run.state != RunState.FINISHED:
        why += f" This is of the {counted(result.graded, 'item')} graded."
    return RunAnswer(sentence, why, failing, bar)


def _basis(result: Result) -> str:
    between = from_to(result.mean.low, result.mean.high)
    few = f"Too few {result.unit}s for an interval"
    known = f"95 % interval {between}" if between else few
    if result.errored:
        rest = f"{counted(result.errored, 'item')} left out with errors"
    elif result.coverage is not None and result.coverage < 1:
        rest = f"{number(100 * result.coverage, 0)}% of the rubric’s weight answered, no errors"
    else:
        rest = "all answered, no errors"
    return f"{known}, {rest}."


# ── The lowest items ─────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class LowItem:
    """One of the lowest items with the answers that cost it points, most points first; an option between the
    best and the worst costs some. `reason` is the judge's on the first of them that has one."""

    row: RunItem
    lost: tuple[Judgement, ...]

    @property
    def reason(self) -> str:
        return next((one.reason for one in self.lost if one.reason), "")


def lowest_items(run: Run, rows: Sequence[RunItem]) -> list[LowItem]:
    """The first of these rows, lowest score first, of those below the best score there is. One query, and
    two more where scores are raw.
    """
    _, best = score_ends(run)
    low = [row for row in rows if row.score is not None and row.score < best][:LOWEST_SHOWN]
    said = Judgement.objects.filter(run=run, repeat=0, item__in=[row.item_id for row in low])
    lost: dict[int, list[tuple[float, Judgement]]] = defaultdict(list)
    for one in said.select_related("criterion").order_by("criterion__position"):
        worth = outcomes.value_of(outcome(one.criterion, one))
        if (points := points_lost(worth, one.criterion.weight)) > 0:
            lost[one.item_id].append((points, one))
    return [
        LowItem(row, tuple(one for _, one in sorted(lost[row.item_id], key=lambda pair: -pair[0])))
        for row in low
    ]


# ── The criteria ─────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class PlottedRate:
    """One criterion of the table; `failing` counts answers that cost points, None where options do."""

    counts: CriterionCounts
    marks: tuple[Mark, ...]

    @property
    def lost(self) -> float:
        return points_lost(self.counts.rate.value, self.counts.criterion.weight)

    @property
    def failing(self) -> int | None:
        return self.counts.hurt if self.counts.criterion.kind == "binary" else None

    @property
    def is_share(self) -> bool:
        return self.counts.criterion.kind == "binary"


def plotted_rates(rates: Iterable[CriterionCounts]) -> list[PlottedRate]:
    """Criteria whose values end at 1, most points lost first; others keep to the table of all figures."""
    rows = [
        PlottedRate(one, (Mark.of("judge", one.rate),))
        for one in rates
        if one.rate.value is not None and (one.criterion.kind != "check" or one.criterion.weight)
    ]
    return sorted(rows, key=lambda row: (-row.lost, row.counts.criterion.position))
