"""What is said about a comparison, on tables whose figures are plain to see."""

from dataclasses import replace

import pytest

from rubricweb.engine.agreement import (
    Ratings,
    compare_labels,
    compare_options,
    compare_scores,
    human_ceiling,
    prediction_powered_mean,
)
from rubricweb.engine.agreement.intervals import Figure
from rubricweb.models import Criterion, Run
from rubricweb.selectors.comparison import Comparison
from rubricweb.selectors.comparison_by_kind import CriterionComparison
from rubricweb.selectors.comparison_findings import findings
from rubricweb.selectors.comparison_scores import ScoreComparison

UNKNOWN = Figure(None, None, None, 0)
GOOD_PEOPLE = Figure(0.9, 0.85, 0.95, 100)
LEVELS, VALUES = ["Poor", "Fair", "Good"], [0.0, 0.5, 1.0]


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


def choice(pairs: list[tuple[str, str]], scale_type: str, *, alpha: Figure = GOOD_PEOPLE) -> Comparison:
    """A comparison on one choice: Poor 0, Fair 0.5, Good 1, by what people and judge chose."""
    found = comparison({})
    options = [{"label": label, "value": value} for label, value in zip(LEVELS, VALUES, strict=True)]
    agreement = compare_options(
        [people for people, _ in pairs],
        [judge for _, judge in pairs],
        range(len(pairs)),
        levels=LEVELS,
        scale_type="ordinal" if scale_type == "ordinal" else "nominal",
        values=VALUES,
        resamples=200,
    )
    row = CriterionComparison(
        criterion=Criterion(name="tone", kind="choice", options=options, scale_type=scale_type),
        pair=found.overall,
        options=agreement,
        mean_value=None,
        human_alpha=alpha,
        ceiling=found.ceiling,
        units=len(pairs),
        errors=0,
        adjudicated=0,
    )
    return replace(found, criteria=(row,), units=len(pairs), judged=len(pairs))


def test_a_rubric_of_choices_is_spoken_of_choice_by_choice() -> None:
    # The judge is one step above people on 20 of 60: 20 × 0.5 / 60 = 0.1667.
    pairs = [("Poor", "Poor"), ("Fair", "Good"), ("Good", "Good")] * 20
    agreement, people = findings(choice(pairs, "ordinal"))
    assert agreement.title == "tone: the judge agrees with people more than chance would have it."
    assert agreement.text.startswith(
        "They choose the same option on 67 % of 60 items. Within one step: 100 %. "
        "The judge's options are worth 0.1667 more on average. κ with quadratic weights is "
    )
    assert people.title == "tone: people agree well enough to measure a judge."


def test_unordered_options_are_measured_by_plain_kappa() -> None:
    # Every pair equally often: chance.
    pairs = [(people, judge) for people in LEVELS for judge in LEVELS] * 8
    [agreement, _] = findings(choice(pairs, "nominal"))
    assert agreement.title == "tone: agreement with people cannot be told apart from chance."
    assert "Cohen κ is 0.0000" in agreement.text


def test_few_labels_of_a_choice_are_pointed_out_and_none_say_nothing() -> None:
    assert titles(choice([("Poor", "Good")] * 3, "nominal"))[-1].startswith("Only 3 units")
    assert findings(choice([], "nominal")) == []


def test_a_rubric_of_checks_leaves_nothing_to_agree_on() -> None:
    found = choice([], "nominal")
    check = replace(
        found.criteria[0],
        criterion=Criterion(name="short", kind="check"),
        options=None,
        mean_value=Figure(0.75, 0.5, 0.9, 20),
    )
    [said] = findings(replace(found, criteria=(check,)))
    assert said.title.startswith("Every criterion is a check")
    assert said.text == "short 0.7500 on average."
