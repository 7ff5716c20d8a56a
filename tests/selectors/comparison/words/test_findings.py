"""What is said about a comparison, on tables whose figures are plain to see."""

from dataclasses import replace

import pytest
from django.utils import timezone

from rubricweb.engine.agreement import (
    OptionScale,
    compare_options,
    effect_bias,
    mean_rates,
)
from rubricweb.engine.agreement.intervals import Figure, confidence_of_look
from rubricweb.models import Criterion, Dataset
from rubricweb.selectors.comparison.comparison import Comparison
from rubricweb.selectors.comparison.findings import findings
from rubricweb.selectors.datasets.looks import Look
from rubricweb.selectors.labels.by_kind import CriterionComparison
from tests.selectors.comparison.words.made import GOOD_PEOPLE, UNKNOWN, comparison, seated

LEVELS, VALUES = ["Poor", "Fair", "Good"], [0.0, 0.5, 1.0]


def titles(found: Comparison) -> list[str]:
    return [finding.title for finding in findings(found)]


def test_nothing_is_said_without_units() -> None:
    assert findings(comparison({})) == []


def test_a_lenient_judge_is_named_with_both_rates() -> None:
    # Judge MET on 90 of 100, people on 30: neither Wilson interval (0.83–0.94, 0.22–0.40) reaches the other.
    [bias, *_] = findings(comparison({"MET MET": 30, "UNMET MET": 60, "UNMET UNMET": 10}))
    assert bias.title == "The judge is lenient: its answers make scores higher than people's do."
    # (90 − 30) / 100
    assert bias.text.startswith("Bias +0.60 [")
    assert bias.text.endswith("the judge says MET on 90% of the units, people on 30%.")


def test_a_strict_judge_is_named_too() -> None:
    found = comparison({"MET MET": 30, "MET UNMET": 60, "UNMET UNMET": 10})
    assert titles(found)[0] == "The judge is strict: its answers make scores lower than people's do."


def test_rates_whose_intervals_overlap_are_not_called_different() -> None:
    # 55 and 50 of 100.
    found = comparison({"MET MET": 45, "UNMET MET": 10, "MET UNMET": 5, "UNMET UNMET": 40})
    assert titles(found)[0] == "No clear bias."


def test_no_bias_is_claimed_where_the_interval_leaves_room_for_none_alone() -> None:
    # 501 and 500 of 1,000, differing on 11: the interval reaches from about −0.006 to 0.008.
    found = comparison({"MET MET": 495, "UNMET MET": 6, "MET UNMET": 5, "UNMET UNMET": 494})
    assert titles(found)[0] == "The judge is neither lenient nor strict: its bias is within ±0.05."


def test_a_stretched_interval_ends_where_the_figure_does() -> None:
    alike = comparison({"MET MET": 20, "UNMET UNMET": 20, "MET UNMET": 1})
    look = Look(40, confidence_of_look(40), 41, 41, Dataset(), 1, "", None, None, timezone.now())
    said = next(one.text for one in findings(replace(alike, look=look)) if "Cohen κ is" in one.text)
    assert ", 1.00]" in said


def test_without_an_interval_nothing_is_said_of_a_side_and_weights_are_told_where_they_count() -> None:
    found = comparison({"MET MET": 1, "MET UNMET": 1})
    bias = replace(found.bias, value=-0.75, low=None, high=None)
    [said, *_] = findings(replace(found, bias=bias))
    assert said.title == "These are too few labels to tell whether the judge is lenient or strict."
    # By plain rates −0.50.
    assert said.text == (
        "Bias −0.75; the judge says MET on 50% of the units, people on 100%. "
        "Bias counts every criterion by its weight, and every option by its value."
    )


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


def test_whether_people_agree_well_enough_is_open_where_the_interval_holds_the_bar() -> None:
    # α 0.61 [0.10, 0.90] against 0.667: z = 1.95996 · 0.057 / 0.29 = 0.385, p = 0.70: above the bar or below.
    found = comparison({"MET MET": 10, "UNMET UNMET": 10}, alpha=Figure(0.61, 0.1, 0.9, 20))
    [said] = [finding for finding in findings(found) if "eople" in finding.title and "α" in finding.text]
    assert (said.level, said.title) == (
        "info",
        "Not enough labels to say whether people agree.",
    )
    assert said.text.startswith("α among people is 0.61 [0.10, 0.90] over 20 units; at least 0.667 is the ")
    # 0.4 [0.2, 0.6] is below: z = 1.95996 · 0.267 / 0.2 = 2.62, p = 0.009.
    below = comparison({"MET MET": 10, "UNMET UNMET": 10}, alpha=Figure(0.4, 0.2, 0.6, 20))
    assert "People differ among themselves too much to measure a judge finely." in titles(below)


def test_room_below_the_ceiling_is_told_in_a_persons_seat() -> None:
    labels = ["MET", "UNMET"] * 60
    wrong = ["UNMET", "UNMET", "MET", "MET", *labels[4:]]  # two of the first four
    guessing = [label if place % 3 else "MET" for place, label in enumerate(labels)]
    below = "The judge is below the human ceiling of these 2 people: there is room to improve it."
    # People agree throughout, the judge on 5/6: α says nothing of it, however low.
    assert below in titles(seated([labels, labels], guessing))
    said = titles(seated([labels, wrong], wrong))
    assert below not in said
    assert any("may be as good as one of these 2 people" in title for title in said)
    numbers = [finding.text for finding in findings(seated([labels, labels], guessing))]
    assert any("on 120 units" in text and "one of these 2 people 1.0" in text for text in numbers)


def test_few_units_and_poor_coverage_are_pointed_out() -> None:
    found = replace(comparison({"MET MET": 5, "UNMET UNMET": 5}), units=20)
    assert titles(found)[-2:] == [
        "Only 10 units: take every figure as a hint.",
        "The judge gave a verdict on 50% of the units only.",
    ]


def choice(pairs: list[tuple[str, str]], scale_type: str, *, alpha: Figure = GOOD_PEOPLE) -> Comparison:
    """A comparison on one choice: Poor 0, Fair 0.5, Good 1, by what people and judge chose."""
    found = comparison({})
    options = [{"label": label, "value": value} for label, value in zip(LEVELS, VALUES, strict=True)]
    agreement = compare_options(
        [people for people, _ in pairs],
        [judge for _, judge in pairs],
        range(len(pairs)),
        OptionScale(LEVELS, "ordinal" if scale_type == "ordinal" else "nominal", VALUES),
        resamples=200,
    )
    by_people, by_judge = ([VALUES[LEVELS.index(pair[side])] for pair in pairs] for side in (0, 1))
    row = CriterionComparison(
        criterion=Criterion(name="tone", kind="choice", options=options, scale_type=scale_type),
        pair=found.overall,
        options=agreement,
        mean_value=None,
        bias=effect_bias(by_judge, by_people, [1.0] * len(pairs), range(len(pairs))),
        rates=mean_rates(by_judge, by_people, range(len(pairs))),
        human_alpha=alpha,
        human_figures={},
        ceiling=found.ceiling,
        units=len(pairs),
        undecided=0,
        errors=0,
        adjudicated=0,
    )
    return replace(found, criteria=(row,), units=len(pairs), judged=len(pairs))


def test_a_rubric_of_choices_is_spoken_of_choice_by_choice() -> None:
    # The judge is one step above people on 20 of 60, weight 1: 20 × 0.5 / 60 = 0.1667.
    pairs = [("Poor", "Poor"), ("Fair", "Good"), ("Good", "Good")] * 20
    agreement, people = findings(choice(pairs, "ordinal"))
    assert agreement.title == "tone: the judge agrees with people more than chance would have it."
    assert agreement.text.startswith(
        "They choose the same option on 67% of 60 items. Within one step: 100%. "
        "The judge's options move the score by +0.17 ["
    )
    assert people.title == "tone: people agree well enough to measure a judge."


def test_unordered_options_are_measured_by_plain_kappa() -> None:
    # Every pair equally often: chance.
    pairs = [(people, judge) for people in LEVELS for judge in LEVELS] * 8
    [agreement, _] = findings(choice(pairs, "nominal"))
    assert agreement.title == "tone: agreement with people cannot be told apart from chance."
    assert "Cohen κ is 0.00 [" in agreement.text


def test_few_labels_of_a_choice_are_pointed_out_and_none_say_nothing() -> None:
    assert titles(choice([("Poor", "Good")] * 3, "nominal"))[-1].startswith("Only 3 units")
    assert findings(choice([], "nominal")) == []


def several(*kappas: Figure, alpha: Figure = GOOD_PEOPLE) -> Comparison:
    """A comparison on one unordered choice for each of these κ."""
    found = choice([("Poor", "Poor"), ("Good", "Good")] * 20, "nominal", alpha=alpha)
    [row] = found.criteria
    assert row.options is not None
    figures = [row.options.figures | {"cohen_kappa": kappa} for kappa in kappas]
    rows = tuple(replace(row, options=replace(row.options, figures=one)) for one in figures)
    return replace(found, criteria=rows)


# 1.95996 · 0.30 / 0.2525 = 2.3287 of a normal scale, p = 0.0199; / 0.2863 = 2.0537, p = 0.0400.
SURE, LESS_SURE, OPEN = (Figure(0.3, 0.3 - half, 0.3 + half, 40) for half in (0.2525, 0.2863, 0.6))
MORE = "tone: the judge agrees with people more than chance would have it."
CHANCE = "tone: agreement with people cannot be told apart from chance."


def test_words_of_several_choices_follow_p_after_holm() -> None:
    # Holm: 2 · 0.0199 = 0.0398, then 1 · 0.0400: both below 0.05. The second interval at 1 − 5 %/2 (z 2.2414)
    # is 0.3 ± 0.2863 · 2.2414 / 1.95996 = 0.3274, which holds 0: Bonferroni alone would say nothing of it.
    said = [finding for finding in findings(several(SURE, LESS_SURE)) if "chance" in finding.title]
    assert [finding.title for finding in said] == [MORE, MORE]
    # 0.2525 · 2.2414 / 1.95996 = 0.2888.
    assert "Cohen κ is 0.30 [0.01, 0.59]; " in said[0].text
    assert "Cohen κ is 0.30 [−0.03, 0.63]; " in said[1].text
    assert all(finding.text.endswith("p = 0.040 after Holm over 2 choices.") for finding in said)


def test_each_choice_more_makes_words_dearer() -> None:
    # With a third choice 3 · 0.0199 = 0.0597 is above 0.05, and none below it may follow.
    said = [title for title in titles(several(SURE, LESS_SURE, OPEN)) if "chance" in title]
    assert said == [CHANCE] * 3
    # By itself each keeps its own p.
    assert MORE in titles(several(LESS_SURE))


def test_whether_people_agree_well_enough_on_several_choices_is_adjusted_too() -> None:
    # α 0.8 ± 0.13 against 0.667: z = 1.95996 · 0.133 / 0.13 = 2.005, p = 0.045; over two choices 0.09.
    alpha = Figure(0.8, 0.67, 0.93, 40)
    well = "tone: people agree well enough to measure a judge."
    assert well in titles(several(SURE, alpha=alpha))
    assert well not in titles(several(SURE, SURE, alpha=alpha))


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
    assert said.text == "short 0.75 [0.50, 0.90] on average."
