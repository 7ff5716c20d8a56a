"""The one sentence a comparison comes to: how the judge stands beside people, and what would decide it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from rubricweb.engine.agreement import Figure, holm
from rubricweb.engine.agreement.intervals import p_against, widened
from rubricweb.engine.agreement.intervals import within as inside
from rubricweb.engine.agreement.raters.leading import SeatKappas, seat_kappas
from rubricweb.engine.number_format import counted, from_to, number, share
from rubricweb.models.snapshots import Look
from rubricweb.selectors.comparison.comparison import Comparison
from rubricweb.selectors.labels.by_kind import CriterionComparison

VerdictState = Literal["lenient", "strict", "better", "close", "below", "undecided", "measured"]

STATES: dict[VerdictState, str] = {
    "lenient": "Too lenient",
    "strict": "Too strict",
    "better": "Better than a person",
    "close": "As good as a person",
    "below": "Below a person",
    "undecided": "Undecided",
    "measured": "Measured",
}
"""Every state with its words. `measured` is a figure that is beside no person: nobody labelled twice."""

LOOKS: dict[VerdictState, Look] = {
    "better": "better",
    "close": "better",
    "below": "worse",
    "lenient": "worse",
    "strict": "worse",
}
"""State of a verdict → look of its badge; every other state is undecided."""

CLOSE = 0.10
"""How far κ of the judge may lie below that of a person for both to be called as good."""
CLOSE_TAKES = 100
"""Items of two people below which no judge is called as good as one: fewer find a worse one too seldom."""
PILOT = 20
"""Labelled items below which nothing can be said about how many more would decide."""
LEAST_BIAS = 0.05
"""The least bias that leads: a smaller one may be certain and still not matter."""
HARDLY_AGREE = 0.4
"""People whose κ lies below this with its whole interval hardly agree with each other."""
CHANCE_TO_DECIDE = 0.8
"""With so many more labels as are asked for, the interval decides about so often."""
MOST_ITEMS = 2000
"""Beyond so many more items nobody is asked to label them."""

_Z_HALF_WIDTH, _Z_CHANCE = 1.96, 0.84


@dataclass(frozen=True)
class ComparisonVerdict:
    """What a reader takes away in three seconds.

    `sentence` names the judge and the number that decides, `why` what else matters, in two sentences at most.
    `leads` says what picture and table show: agreement (κ), or bias (how often each side passes).
    `more_items` is about how many more labelled items would decide, None where none would or none are needed.
    """

    state: VerdictState
    sentence: str
    why: str
    leads: Literal["agreement", "bias"]
    more_items: int | None = None

    @property
    def title(self) -> str:
        return STATES[self.state]


def comparison_verdict(comparison: Comparison) -> ComparisonVerdict | None:
    """The verdict of a comparison; None where judge and people have no answer in common.

    A bias that is told and large leads: while a judge gives credit twice as often as people, how well it
    ranks answers matters less. Otherwise κ of the judge in a person's seat decides, at the confidence of the
    comparison (95 %, or what the look at a test half leaves).
    """
    if not comparison.judged or comparison.unavailable is not None:
        return None
    bias = inside(widened(comparison.bias, comparison.confidence), -1, 1)
    if comparison.leaning and abs(bias.value or 0.0) >= LEAST_BIAS:
        return _biased(comparison, bias)
    seat = seat_of(comparison)
    return _unseated(comparison) if seat is None else _seated(comparison, seat)


def seat_of(comparison: Comparison) -> SeatKappas | None:
    """One person and the judge in that person's seat, of all binary criteria; without any, of the only
    choice.
    """
    if comparison.n_binary:
        return seat_kappas(comparison.ceiling, comparison.within)
    choices = [row for row in comparison.criteria if row.options is not None and row.options.n]
    return seat_kappas(choices[0].ceiling, None) if len(choices) == 1 else None


# ── Bias leads ───────────────────────────────────────────────────────────────────────────────────


def _biased(comparison: Comparison, bias: Figure) -> ComparisonVerdict:
    people, judge = comparison.rates.people.value, comparison.rates.judge.value
    lenient = comparison.leaning == "lenient"
    # With choices in it the bias may have the other sign than the rates of binary criteria.
    if people is None or judge is None or (judge > people) != lenient:
        side = "higher" if lenient else "lower"
        sentence = f"This judge’s answers score {number(abs(bias.value or 0.0), 2)} {side} than people’s."
    else:
        passes = "gives credit on" if comparison.has_penalties else "passes"
        give = "give it on" if comparison.has_penalties else "pass"
        sentence = f"This judge {passes} {share(judge)} where people {give} {share(people)}."
    rows = [row for row in comparison.criteria if row.bias.value is not None]
    leaning = leaning_criteria(rows, comparison)
    alike = sum(leaning[row.criterion.pk] == comparison.leaning for row in rows)
    told = f"It is too {comparison.leaning} on {alike} of {counted(len(rows), 'criterion', 'criteria')}."
    if not alike:
        told = "On no criterion alone can that be told." if rows else ""
    why = [told, _people_words(comparison)]
    state: VerdictState = "lenient" if lenient else "strict"
    return ComparisonVerdict(state, sentence, " ".join(filter(None, why)), "bias")


def leaning_criteria(rows: Sequence[CriterionComparison], comparison: Comparison) -> dict[int, str]:
    """Criterion id → "lenient" or "strict" where its bias is told after Holm over all of them, else ""."""
    adjusted = holm([p_against(row.bias) for row in rows])
    told: dict[int, str] = {}
    for row, p in zip(rows, adjusted, strict=True):
        sure = p is not None and p < 1 - comparison.confidence
        told[row.criterion.pk] = ("lenient" if (row.bias.value or 0) > 0 else "strict") if sure else ""
    return told


def _people_words(comparison: Comparison) -> str:
    seat = seat_of(comparison)
    if seat is None or seat.person.value is None or seat.person.high is None:
        return ""
    if seat.person.high >= HARDLY_AGREE:
        return ""
    of = number(seat.person.value, 2)
    return (
        f"People hardly agree with each other (κ {of}), so reword the criteria before you look for a better "
        "judge."
    )


# ── Agreement leads ──────────────────────────────────────────────────────────────────────────────


def apart_of(comparison: Comparison, seat: SeatKappas) -> Figure:
    """κ of the judge less that of a person, with its interval at the confidence of the comparison."""
    return inside(widened(seat.difference, comparison.confidence), -2, 2)


def _seated(comparison: Comparison, seat: SeatKappas) -> ComparisonVerdict:
    apart = apart_of(comparison, seat)
    items, rest = seat.items, _bias_words(comparison)
    # Of items that one person labelled the seat knows nothing.
    labelled, twice = "item", " with labels of two people"
    if items >= comparison.items:
        labelled, twice = "labelled item", ""
    people = f"one of these {counted(comparison.ceiling.raters, 'person', 'people')}"
    if apart.low is None or apart.high is None or apart.value is None:
        sentence = f"{counted(items, 'item')}{twice} cannot tell how this judge compares with a person."
        return ComparisonVerdict("undecided", sentence, rest, "agreement", _pilot(items))
    if apart.low > 0:
        sentence = "This judge agrees with people better than one of them does."
        return ComparisonVerdict("better", sentence, rest, "agreement")
    if apart.high < 0:
        sentence = "This judge agrees with people less than one of them does."
        why = f"Its κ is {number(-apart.value, 2)} below that of {people}. {rest}"
        return ComparisonVerdict("below", sentence, why.strip(), "agreement")
    if apart.low > -CLOSE and items >= CLOSE_TAKES:
        sentence = "This judge agrees with people as well as one of them does."
        why = f"Its κ is at most {number(-apart.low, 2)} below that of {people}. {rest}"
        return ComparisonVerdict("close", sentence, why.strip(), "agreement")
    sentence = f"This judge may be as good as a person. {counted(items, 'item')}{twice} cannot tell."
    more = items_needed(apart, items)
    asked = "" if more is None else f"About {counted(more, f'more {labelled}')}{twice} would decide."
    if asked and items < PILOT:
        asked = f"{PILOT} {labelled}s{twice} are the least to learn how many it takes."
    return ComparisonVerdict("undecided", sentence, f"{asked} {rest}".strip(), "agreement", more)


def _pilot(items: int) -> int:
    return max(PILOT - items, 1)


def items_needed(apart: Figure, items: int) -> int | None:
    """How many more labelled items would decide, about: a rough plan, not a promise.

    `apart` is κ of the judge less that of a person on `items` items, with its interval. The width of the
    interval shrinks with the root of the items. What it would decide is the nearer truth: below a person
    (the interval ends below 0), or as good as one (it begins above −`CLOSE`, on `CLOSE_TAKES` items).
    Below `PILOT` items it asks for a pilot. None where more than `MOST_ITEMS` would be needed.

    Worked: −0.15 [−0.25, 0.01] on 20 items: half a width of 0.13 must become 0.15 · 1.96 / (1.96 + 0.84) =
    0.105 to end below 0 in 80 % of repeats: 20 · (0.13 / 0.105)² = 30.66, so 11 more.
    """
    if items < PILOT or apart.low is None or apart.high is None or apart.value is None:
        return _pilot(items)
    half = (apart.high - apart.low) / 2
    is_below = apart.value < -CLOSE / 2
    distance = -apart.value if is_below else apart.value + CLOSE
    allowed = distance * _Z_HALF_WIDTH / (_Z_HALF_WIDTH + _Z_CHANCE)
    needed = math.ceil(items * (half / allowed) ** 2)
    if not is_below:
        needed = max(needed, CLOSE_TAKES)
    more = max(needed - items, 1)
    return more if more <= MOST_ITEMS else None


def _bias_words(comparison: Comparison) -> str:
    people, judge = comparison.rates.people.value, comparison.rates.judge.value
    if people is None or judge is None:
        return ""
    passes = "gives credit on" if comparison.has_penalties else "passes"
    rates = f"the judge {passes} {share(judge)} of labels, people {share(people)}."
    if comparison.leaning:
        return f"It is slightly {comparison.leaning}: {rates}"
    return f"No clear bias: {rates}"


def _unseated(comparison: Comparison) -> ComparisonVerdict:
    """Nobody labelled what another labelled, or several choices: there is no person to stand beside."""
    leading = inside(widened(comparison.leading.kappa, comparison.confidence), -1, 1)
    rest = _bias_words(comparison)
    if not comparison.n_binary:
        rows = [row.options for row in comparison.criteria if row.options is not None]
        total = sum(options.n for options in rows)
        if not total:
            sentence = "Every item brings its own options, so that nothing is said over all of them."
            return ComparisonVerdict("measured", sentence, "Look at the scores of items.", "agreement")
        same = sum(round((options.accuracy.value or 0.0) * options.n) for options in rows)
        sentence = f"Judge and people choose the same option in {same:,} of {counted(total, 'answer')}."
        why = "Options of different criteria are no common scale: look at each criterion."
        return ComparisonVerdict("measured", sentence, why, "agreement")
    agrees = f"The judge agrees with people on {share(comparison.overall.accuracy.value)} of labels"
    alone = (
        ""
        if comparison.ceiling.n
        else "No item has labels of two people, so nobody knows how far people agree."
    )
    if leading.value is None:
        return ComparisonVerdict("measured", f"{agrees}.", f"{alone} {rest}".strip(), "agreement")
    kappa = f"κ {number(leading.value, 2)}"
    if leading.high is not None and leading.high < 0:
        sentence = f"{agrees}, fewer than by chance ({kappa})."
        return ComparisonVerdict("measured", sentence, f"{alone} {rest}".strip(), "agreement")
    if leading.low is None or leading.low <= 0 or comparison.items < PILOT:
        between = "" if leading.low is None else f", {from_to(leading.low, leading.high)}"
        sentence = f"{counted(comparison.items, 'item')} cannot tell whether this judge beats chance."
        why = f"{agrees} ({kappa}{between}). {alone or rest}"
        more = _pilot(comparison.items) if comparison.items < PILOT else None
        return ComparisonVerdict("undecided", sentence, why, "agreement", more)
    return ComparisonVerdict("measured", f"{agrees} ({kappa}).", f"{alone} {rest}".strip(), "agreement")
