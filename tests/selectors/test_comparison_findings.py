"""What is said about a comparison, on tables whose figures are plain to see."""

from dataclasses import replace

import pytest

from rubricweb.engine.agreement import (
    Ratings,
    compare_labels,
    compare_scores,
    human_ceiling,
    prediction_powered_mean,
)
from rubricweb.engine.agreement.intervals import Figure
from rubricweb.models import Run
from rubricweb.selectors.comparison import Comparison
from rubricweb.selectors.comparison_findings import findings
from rubricweb.selectors.comparison_scores import ScoreComparison

UNKNOWN = Figure(None, None, None, 0)
GOOD_PEOPLE = Figure(0.9, 0.85, 0.95, 100)


def comparison(cells: dict[str, int], *, alpha: Figure = GOOD_PEOPLE) -> Comparison:
    """A comparison with these counts by what people and judge said: {"MET UNMET": 3} is three missed METs."""
    pairs = [words.split() for words, count in cells.items() for _ in range(count)]
    overall = compare_labels(
        [people for people, _ in pairs], [judge for _, judge in pairs], range(len(pairs)), resamples=200
    )
    return Comparison(
        run=Run(),
        queues=(),
        overall=overall,
        n_binary=len(pairs),
        human_alpha=alpha,
        ceiling=human_ceiling(Ratings.from_triples([])),
        scores=ScoreComparison(compare_scores([], []), prediction_powered_mean([], [])),
        raters=2,
        units=len(pairs),
        judged=len(pairs),
        errors=0,
        undecided=0,
        adjudicated=0,
        hidden_items=0,
        criteria=(),
    )


def titles(found: Comparison) -> list[str]:
    return [finding.title for finding in findings(found)]


def test_nothing_is_said_without_units() -> None:
    assert findings(comparison({})) == []


def test_a_lenient_judge_is_named_with_both_rates() -> None:
    # Judge MET on 90 of 100, people on 30: neither Wilson interval (0.83–0.94, 0.22–0.40) reaches the other.
    [bias, *_] = findings(comparison({"MET MET": 30, "UNMET MET": 60, "UNMET UNMET": 10}))
    assert bias.title == "The judge says MET far more often than people."
    assert bias.text == "The judge says it on 90 % of the units, people on 30 %."


def test_a_strict_judge_is_named_too() -> None:
    found = comparison({"MET MET": 30, "MET UNMET": 60, "UNMET UNMET": 10})
    assert titles(found)[0] == "The judge says MET far less often than people."


def test_rates_whose_intervals_overlap_are_not_called_different() -> None:
    # 55 and 50 of 100.
    found = comparison({"MET MET": 45, "UNMET MET": 10, "MET UNMET": 5, "UNMET UNMET": 40})
    assert titles(found)[0].startswith("Judge and people say MET about equally often")


def test_chance_is_called_chance() -> None:
    # Independent halves: κ = 0.
    found = comparison({"MET MET": 25, "UNMET MET": 25, "MET UNMET": 25, "UNMET UNMET": 25})
    assert "Agreement with people cannot be told apart from chance." in titles(found)


def test_less_than_chance_is_said() -> None:
    found = comparison({"MET MET": 5, "UNMET MET": 45, "MET UNMET": 45, "UNMET UNMET": 5})
    assert "Judge and people agree less than chance would have it." in titles(found)


def test_one_verdict_throughout_measures_nothing() -> None:
    assert "Agreement beyond chance cannot be measured here." in titles(comparison({"MET MET": 50}))


@pytest.mark.parametrize(
    ("alpha", "said"),
    [
        (Figure(0.14, 0.05, 0.2, 100), "People differ among themselves too much to measure a judge finely."),
        (GOOD_PEOPLE, "People agree well enough to measure a judge."),
        (UNKNOWN, "How well people agree among themselves is not known."),
    ],
)
def test_people_are_measured_before_the_judge_is_blamed(alpha: Figure, said: str) -> None:
    found = comparison({"MET MET": 45, "UNMET MET": 5, "MET UNMET": 5, "UNMET UNMET": 45}, alpha=alpha)
    assert said in titles(found)


def test_room_below_the_ceiling_needs_intervals_apart() -> None:
    # 70 of 100 agree, halves: κ = 0.4, its interval well below 0.85.
    cells = {"MET MET": 35, "UNMET MET": 15, "MET UNMET": 15, "UNMET UNMET": 35}
    below = "The judge is below the human ceiling: there is room to improve it."
    assert below in titles(comparison(cells))
    open_ended = comparison(cells, alpha=Figure(0.5, 0.3, 0.7, 100))
    assert below not in titles(open_ended)
    assert any("is open" in title for title in titles(open_ended))


def test_few_units_and_poor_coverage_are_pointed_out() -> None:
    found = replace(comparison({"MET MET": 5, "UNMET UNMET": 5}), units=20)
    assert titles(found)[-2:] == [
        "Only 10 units: take every figure as a hint.",
        "The judge gave a verdict on 50 % of the units only.",
    ]
