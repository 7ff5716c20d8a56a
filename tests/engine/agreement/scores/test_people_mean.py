from dataclasses import replace
from math import sqrt

import numpy as np
import pytest

from rubricweb.engine.agreement import Labelling, estimate_people_mean, labels_needed
from rubricweb.engine.agreement.distributions import t_quantile
from rubricweb.engine.agreement.scores.other_raters import persons_part
from rubricweb.engine.number_format import text_of

JUDGED = [1, 1, 1, 0, 1, 0, 1, 0, 0, 0, 1, 0]
NOBODY = float("nan")
TEN_CASES = Labelling(answered=np.arange(40) % 10)
PEOPLE = [1, 1, 0, 0] + [NOBODY] * 8
FOUR = [(1.0, 1.0), (1.0, 0.0), (0.0, 1.0), (0.0, 0.0)]


def test_verdicts_are_weighed_by_how_often_the_judge_gives_each_answer():
    found = estimate_people_mean(JUDGED, PEOPLE, [1 / 3] * 12, population="these items")
    # Six items each way. Of those the judge calls MET 2 of 3 labelled are, of the others 0 of 1.
    assert found.value == pytest.approx((2 / 3 + 0) / 2)
    assert (found.n, found.population_size, found.method) == (4, 12, "post-stratified")
    assert found.lam == pytest.approx(2 / 3)
    # Wilson of 2/3 with 3 / (1 − 3/6) = 6 labels: centre (2/3 + 3.8415/12) / 1.64024 = 0.60163, half
    # 1.95996·√(2/9/6 + 3.8415/144) / 1.64024 = 0.30162; of 0 with 1 / (1 − 1/6) = 1.2: up to 3.2012/4.2012.
    above = 0.5 * sqrt((0.60163 + 0.30162 - 2 / 3) ** 2 + (3.2012 / 4.2012) ** 2)
    assert found.high == pytest.approx(1 / 3 + above, abs=1e-4)
    # 1/3 − ½·(2/3 − 0.30001) = 0.15; but two of the twelve are MET for certain.
    assert found.low == pytest.approx(2 / 12)


def test_a_rate_of_these_items_is_possible_by_the_labels_there_are():
    # Two overlapping draws: five METs at π 0.9, two UNMETs at π 0.2, three unlabelled. Weighted (5/0.9) /
    # (5/0.9 + 2/0.2) = 0.357, but five of the ten are MET for certain and two are not: 0.5 … 0.8.
    people = [1] * 5 + [0, 0] + [NOBODY] * 3
    found = estimate_people_mean([1] * 10, people, [0.9] * 5 + [0.2] * 5, population="these items")
    assert (found.value, found.low, found.high) == (0.5, 0.5, 0.8)
    assert found.low <= found.value <= found.high
    # Of other cases nothing is certain.
    like = estimate_people_mean([1] * 10, people, [0.9] * 5 + [0.2] * 5)
    assert like.value == pytest.approx(5 / 0.9 / (5 / 0.9 + 10))


def test_cases_like_these_are_less_certain_than_these_items():
    these, like = (
        estimate_people_mean(JUDGED, PEOPLE, [1 / 3] * 12, population=which)
        for which in ("these items", "cases like these")
    )
    assert these.value == like.value
    assert like.low < these.low
    assert like.high > these.high


def test_scores_are_corrected_by_the_weighted_difference():
    judged = np.tile([0.2, 0.4, 0.6, 0.8], 10)
    people = np.full(40, NOBODY)
    people[:20] = judged[:20] / 2 + np.tile([0.1, -0.1], 10)
    found = estimate_people_mean(judged, people, np.full(40, 0.5), population="these items")
    # f − f̄ = ∓0.3, ∓0.1, y − ȳ = −0.05, −0.15, 0.15, 0.05: Cov = (0.015 + 0.015 + 0.015 + 0.015) / 4 = 0.015,
    # Var f = 0.05, λ = 0.3. f̄ is 0.5 in the sample and in all, so θ = ȳ = 0.25.
    assert found.lam == pytest.approx(0.3)
    assert found.value == pytest.approx(0.25)
    # r − r̄ = 0.04, −0.12, 0.12, −0.04: squares add up to 20·0.008 = 0.16, over 19; n/N = ½; t of 18 degrees:
    # 2.10092·√(0.5·0.16/19/20) = 0.0305. Labels 0 and 1 where the judge gives its mean have r −0.15 and 0.85:
    # the mean of r goes from 0.1 to 2.7/22, and of Σ 0.77364 comes 2.08596·√(0.5·0.77364/21/22) = 0.06036.
    assert found.high - found.value == pytest.approx(0.5 * (2.7 / 22 - 0.1) + 0.06036, abs=1e-5)
    assert found.residual_variance == pytest.approx(0.16 / 19)


def test_a_half_done_queue_counts_each_stratum_by_its_size():
    judged = np.full(100, NOBODY)
    people = np.full(100, NOBODY)
    people[:40], people[50:60] = 1.0, 0.0  # 40 of the first fifty, 10 of the second
    inclusion = np.repeat([0.8, 0.2], 50)
    found = estimate_people_mean(judged, people, inclusion)
    assert found.value == pytest.approx(0.5)  # (40/0.8) / (40/0.8 + 10/0.2); 1/N would say 0.8
    assert found.effective_n == pytest.approx(100**2 / (40 * 1.25**2 + 10 * 5**2))
    assert found.lam is None


def test_a_perfect_judge_leaves_an_interval_all_the_same():
    judged = np.linspace(0.1, 0.9, 100)
    people = np.where(np.arange(100) % 5 == 0, judged, NOBODY)
    found = estimate_people_mean(judged, people, np.full(100, 0.2), population="these items")
    assert found.lam == pytest.approx(1)
    assert found.value == pytest.approx(judged.mean())
    # Twenty residuals of 0 and one at each end: s² = 2/21, of which 1 − 20/100 is left; t of 18 degrees.
    assert found.high - found.value == pytest.approx(2.10092 * sqrt(0.8 * 2 / 21 / 20), abs=1e-4)


def test_a_census_is_certain_of_its_items_but_for_the_raters():
    people = np.array([1.0, 0.5, 0.5, 0.0])
    options = {"judged": people, "people": people, "inclusion": np.ones(4), "population": "these items"}
    alone = estimate_people_mean(**options)
    assert (alone.value, alone.low, alone.method) == (0.5, None, "census")
    assert "with one rater an item is unknown" in alone.reason
    # Others for each item: s² = 0.5 of two, so √(2 · 0.5/2) / 4; one more item on which they differ adds
    # (1/4)/16: √(0.75)/4 = 0.2165, t of 3 degrees 3.1824.
    others = [{(item, 0): value[0], (item, 1): value[1]} for item, value in enumerate(FOUR)]
    each = estimate_people_mean(**options, labelling=Labelling(by_rater=others))
    assert each.rater_error == pytest.approx(sqrt(0.75) / 4)
    assert (each.low, each.high) == (0, 1)  # 0.5 ± 0.689
    unanimous = estimate_people_mean(
        **options, labelling=Labelling(by_rater=[{"ann": one, "rae": one} for one in people])
    )
    assert (unanimous.low, "never differed" in unanimous.reason) == (None, True)


def test_two_people_who_rated_everything_do_not_tell_what_others_would_say():
    """One of four verdicts differs: read as two others for each item it would be 0.82 … 1.06."""
    by_rater = [{"ann": 1.0, "rae": 1.0}] * 3 + [{"ann": 1.0, "rae": 0.5}]
    given = Labelling(by_rater=by_rater)
    people = [1.0, 1.0, 1.0, 0.75]
    found = estimate_people_mean(people, people, np.ones(4), given, population="these items")
    assert (found.value, found.low, found.high, found.rater_error) == (0.9375, None, None, None)
    assert found.reason == (
        "Every item is labelled: nothing is left to sample. What other raters would say cannot be told: it "
        "takes three people or more who rated about as many items each."
    )
    assert text_of(found) == "0.94"
    # Of cases like these the cases are a sample all the same.
    assert estimate_people_mean(people, people, np.ones(4), given).low is not None


def test_the_scale_of_the_answers_is_theirs():
    """Options worth ½ and 1: three times 1 is three of three, Wilson's 3/(3 + 3.8415) = 0.4385 of the way."""
    half = Labelling(scale=(0.5, 1.0))
    found = estimate_people_mean([NOBODY] * 3, [1.0] * 3, [1.0] * 3, half)
    assert (found.low, found.high) == (pytest.approx(0.5 + 0.5 * 0.4385, abs=1e-4), 1.0)
    # Thirty times as long, everything is thirty times as far.
    judged = np.tile([0.2, 0.4, 0.6, 0.8], 10)
    people = np.where(np.arange(40) % 2 == 0, judged, NOBODY)
    one, raw = (
        estimate_people_mean(by * judged, by * people, np.full(40, 0.5), Labelling(scale=(0.0, by)))
        for by in (1.0, 30.0)
    )
    assert (raw.value, raw.low, raw.high) == pytest.approx((30 * one.value, 30 * one.low, 30 * one.high))
    assert raw.case_variance == pytest.approx(900 * one.case_variance)
    assert raw.lam == pytest.approx(one.lam)


def test_a_census_of_verdicts_still_is_a_sample_of_cases_like_these():
    found = estimate_people_mean([1, 1, 0, 1], [1.0] * 4, [1.0] * 4)
    assert found.value == 1
    # Wilson of 4 in 4: lower end 4 / (4 + 3.8415).
    assert found.low == pytest.approx(4 / 7.8415, abs=1e-4)
    assert found.high == 1


def test_items_of_one_case_count_once():
    judged, people = [1, 1, 0, 0, 1, 0], [1, 0, 0, 0, 1, NOBODY]
    found = estimate_people_mean(judged, people, [1.0] * 6, Labelling(cases=["a", "a", "b", "b", "c", "c"]))
    assert (found.n, found.population_size) == (2, 3)  # c is not labelled in whole
    # Case means: people ½ and 0, judge 1, 0 and ½. λ = ½, and half the judge's mean ½ plus residuals of 0.
    assert (found.lam, found.value) == (0.5, 0.25)
    assert (found.low, found.reason) == (None, "2 labelled items: too few for an interval.")


def test_answers_to_the_same_cases_leave_the_spread_of_the_cases():
    """40 scores from 0 to 1, every other one labelled: alone, or as four answers to each of ten cases."""
    judged = np.tile(np.linspace(0, 1, 10), 4)
    people = np.where(np.arange(40) % 2 == 0, judged, NOBODY)
    alone = estimate_people_mean(judged, people, np.full(40, 0.5))
    found = estimate_people_mean(judged, people, np.full(40, 0.5), TEN_CASES)
    assert (alone.cases, found.cases, found.value) == (40, 10, alone.value)
    # V gains s²ᵧ (1/10 − 1/40); t of 18 degrees becomes t of 9.
    assert alone.case_variance is not None
    before = ((alone.high - alone.value) / 2.10092) ** 2
    half = 2.26216 * sqrt(before + alone.case_variance * (1 / 10 - 1 / 40))
    assert found.high - found.value == pytest.approx(half, abs=1e-4)
    # Of these very items the cases tell nothing.
    these = {"population": "these items"}
    assert replace(
        estimate_people_mean(judged, people, np.full(40, 0.5), TEN_CASES, **these), cases=40
    ) == estimate_people_mean(judged, people, np.full(40, 0.5), **these)
    with pytest.raises(ValueError, match="answered must have one value per item: 40; found 2"):
        estimate_people_mean(judged, people, np.full(40, 0.5), Labelling(answered=["a", "b"]))


def test_every_case_weighs_the_same_however_many_answers_it_has():
    judged, people = [1, 1, 1, 0], [1.0, 1.0, 0.5, 0.25]
    # (1 + 1 + 0.5)/3 = 0.8333 of the case a and 0.25 of b.
    found = estimate_people_mean(judged, people, [1.0] * 4, Labelling(answered=["a", "a", "a", "b"]))
    assert (found.value, found.cases) == (pytest.approx((2.5 / 3 + 0.25) / 2), 2)
    verdicts = estimate_people_mean(judged, [1, 1, 0, 0], [1.0] * 4, Labelling(answered=["a", "a", "a", "b"]))
    assert verdicts.value == pytest.approx(1 / 3)


def test_a_mean_of_scores_is_within_what_the_known_labels_allow():
    """Nine of ten are labelled and sum to 4.2: with the last at 0 or 1 the mean is 0.42 or 0.52."""
    people = [0.0, 0.1, 0.2, 0.3, 0.4, 0.6, 0.7, 0.9, 1.0, NOBODY]
    judged = [1.0, 0.9, 0.8, 0.7, 0.6, 0.4, 0.3, 0.1, 0.0, 0.0]
    found = estimate_people_mean(judged, people, [1.0] * 10, population="these items")
    assert found.low == pytest.approx(0.42)
    assert found.value >= found.low
    assert found.high <= 0.52 + 1e-12


def test_extremes_of_cases_like_these_have_no_interval_where_two_items_have_none():
    asked = Labelling(drawn=[True, True])
    found = estimate_people_mean([NOBODY] * 2, [0.5, NOBODY], [1.0, 1.0], asked)
    assert (found.missing, found.worst, found.best) == (1, None, None)
    these = estimate_people_mean([NOBODY] * 2, [0.5, NOBODY], [1.0, 1.0], asked, population="these items")
    assert (these.worst, these.best) == (0.25, 0.75)


@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize("answers", [[5] * 40, [16] * 10 + [1] * 40], ids=["five each", "unequal"])
def test_the_interval_of_cases_like_these_holds_over_attempts(binary: bool, answers: list[int]):
    """600 draws of cases with many attempts, alike; six of ten items are labelled. Taken for as many cases,
    200 items give 95 % intervals that hold the true ½ in three of four draws at most.
    """
    draw, held, without = np.random.default_rng(3), 0, 0
    cases = np.repeat(np.arange(len(answers)), answers)
    for _ in range(600):
        spread = draw.normal(0, 0.2, len(answers))
        mean = np.clip(0.5 + spread[cases] + draw.normal(0, 0.05, 200), 0, 1)
        truth = (draw.beta(0.3, 0.3, len(answers))[cases] > 0.5).astype(float) if binary else mean
        judged = np.where(draw.random(200) < 0.9, truth, 1 - truth)
        people = np.full(200, NOBODY)
        asked = draw.choice(200, 120, replace=False)
        people[asked] = truth[asked]
        inclusion = np.full(200, 0.6)
        found = estimate_people_mean(judged, people, inclusion, Labelling(answered=cases))
        alone = estimate_people_mean(judged, people, inclusion)
        held += found.low <= 0.5 <= found.high
        without += alone.low <= 0.5 <= alone.high
    assert held / 600 >= 0.93
    assert without / 600 < 0.75


def test_what_was_drawn_and_not_labelled_shows_in_the_extremes():
    people = np.array([1.0] * 16 + [NOBODY] * 84)
    drawn = np.arange(100) < 20
    found = estimate_people_mean(np.full(100, NOBODY), people, np.full(100, 0.2), Labelling(drawn=drawn))
    assert found.missing == 4
    sixteen = estimate_people_mean(
        np.full(100, NOBODY), np.where(drawn, np.nan_to_num(people), NOBODY), np.full(100, 0.2)
    )
    assert found.worst == sixteen.low
    assert found.best == 1
    assert found.worst < found.low
    few = estimate_people_mean(
        np.full(100, NOBODY),
        np.where(np.arange(100) < 18, 1, NOBODY),
        np.full(100, 0.2),
        Labelling(drawn=drawn),
    )
    assert (few.missing, few.worst, few.best) == (2, None, None)  # 2 of 20 are not above a tenth


def test_with_everything_drawn_the_extremes_of_these_items_are_their_means():
    # All ten were drawn and two have no answer: with them at the ends 6 or 8 of the ten are MET, exactly.
    people = np.array([1.0] * 6 + [0.0] * 2 + [NOBODY] * 2)
    everything = Labelling(drawn=np.ones(10, np.bool_))
    found = estimate_people_mean(np.ones(10), people, np.ones(10), everything, population="these items")
    assert (found.missing, found.worst, found.best) == (2, 0.6, 0.8)
    like = estimate_people_mean(np.ones(10), people, np.ones(10), everything)
    assert (like.worst < 0.6, like.best > 0.8) == (True, True)


def test_without_labels_there_is_a_reason_and_no_number():
    found = estimate_people_mean([1, 0], [NOBODY, NOBODY], [0.5, 0.5])
    assert (found.value, found.n, found.reason) == (None, 0, "No item of the sample is labelled.")
    assert estimate_people_mean([], [], []).reason == "There are no items."


def test_labels_needed_follow_from_a_pilot():
    judged = np.arange(1000) % 2
    people = np.where(np.arange(1000) < 100, judged, NOBODY)
    pilot = estimate_people_mean(judged, people, np.full(1000, 0.1))
    # Each answer was right 50 of 50 times: moved by two each way 52/54, so s²ᵣ = 52·2/54² = 0.035665; half
    # are MET, so s²ᵧ = 0.25. SE* = 0.05 / 2.8016, squared 0.00031852, less 0.25/1000 plus s²ᵣ/1000: 343.
    assert labels_needed(pilot, 0.05).labels == 343
    # Of these items alone s²ᵧ does not count: 0.035665 / (0.00031852 + 0.000035665) = 100.7.
    assert (
        labels_needed(
            estimate_people_mean(judged, people, np.full(1000, 0.1), population="these items"), 0.05
        ).labels
        == 101
    )
    # SE*² = (0.01 / 2.8016)² = 0.00001274 < 0.25/1000: it takes 0.25 / 0.00001274 cases.
    impossible = labels_needed(pilot, 0.01)
    assert impossible.labels is None
    assert impossible.cases == pytest.approx(0.25 / (0.01 / 2.801585) ** 2, abs=1)
    assert "from one 0.01 away takes about" in impossible.reason


def test_a_pilot_of_twenty_comes_before_any_plan():
    found = labels_needed(estimate_people_mean(JUDGED * 3, PEOPLE * 3, [1 / 3] * 36), 0.1)
    assert (found.labels, found.reason) == (
        20,
        "Label 20 random items first: fewer tell too little of the spread.",
    )


def test_labels_needed_are_more_where_cases_have_unequal_numbers_of_answers():
    """Ten cases of nine answers and ten of one, every other item labelled: a label of a single answer weighs
    nine times as much. N·Σshare²/(Σshare)² = mean answers · mean of 1/answers = 5 · (1/9 + 1)/2 = 2.7778.
    """
    answered = np.repeat(np.arange(20), [9] * 10 + [1] * 10)
    people = np.where(np.arange(100) % 2 == 0, (np.arange(100) // 2) % 2, NOBODY)
    pilot = estimate_people_mean(
        np.full(100, NOBODY),
        people,
        np.full(100, 0.5),
        Labelling(answered=answered),
        population="these items",
    )
    assert pilot.design_effect == pytest.approx(2.7778, abs=1e-4)
    # 22 of 45 labels and 3 of the 5 of single answers are 1: (22/9 + 3) / (45/9 + 5) = 0.5444 from
    # (45/9 + 5)² / (45/81 + 5) = 18 labels, two more each way (9.8 + 2)/22 = 0.5364; s²ᵣ = 0.24868.
    # SE*² = (0.2/2.8016)² = 0.0050963; 2.7778·0.24868 = 0.69078, / (0.0050963 + 0.0069078) = 57.5.
    assert pilot.residual_variance == pytest.approx(0.24868, abs=1e-5)
    assert labels_needed(pilot, 0.2).labels == 58
    alone = estimate_people_mean(np.full(100, NOBODY), people, np.full(100, 0.5), population="these items")
    assert alone.design_effect == 1


def test_so_many_labels_tell_the_margin_where_cases_have_unequal_numbers_of_answers():
    """400 draws of the number that is said: the means then vary as the margin asks, 0.05 / 2.8016."""
    draw = np.random.default_rng(5)
    answered = np.repeat(np.arange(400), [9] * 200 + [1] * 200)
    truth, nothing, known = draw.random(2000), np.full(2000, NOBODY), Labelling(answered=answered)

    def estimate(labels: int):
        people = np.full(2000, NOBODY)
        asked = draw.choice(2000, labels, replace=False)
        people[asked] = truth[asked]
        return estimate_people_mean(
            nothing, people, np.full(2000, labels / 2000), known, population="these items"
        )

    needed = labels_needed(estimate(1000), 0.05).labels
    assert needed is not None
    means = [estimate(needed).value for _ in range(400)]
    assert np.std(means) == pytest.approx(0.05 / 2.8016, rel=0.1)


@pytest.mark.parametrize("people", [[0.2, 0.4, 0.6, 0.8] * 6, [0.0, 1.0] * 12], ids=["scores", "verdicts"])
def test_answers_to_one_case_do_not_tell_how_cases_differ(people: list[float]):
    one = Labelling(answered=np.zeros(24))
    found = estimate_people_mean([NOBODY] * 24, people, [1.0] * 24, one)
    why = "All items answer one case: that does not tell how cases differ."
    assert (found.value, found.low, found.high, found.reason) == (pytest.approx(0.5), None, None, why)
    # No number of labels of it does either.
    needed = labels_needed(found, 0.05)
    assert (needed.labels, needed.cases, needed.reason) == (None, None, why)
    # Of two cases the interval is wide; of the items themselves one case tells as much as many.
    two = estimate_people_mean([NOBODY] * 24, people, [1.0] * 24, Labelling(answered=np.arange(24) % 2))
    assert two.low is not None
    half = [*people[:12], *[NOBODY] * 12]
    these = estimate_people_mean([NOBODY] * 24, half, [0.5] * 24, one, population="these items")
    assert these.low is not None


def test_bad_input_is_named_by_its_place():
    with pytest.raises(ValueError, match=r"inclusion\[1\] is 0"):
        estimate_people_mean([1, 0], [1, 0], [1, 0])
    with pytest.raises(ValueError, match="people must have one value per item: 2; found 1"):
        estimate_people_mean([1, 0], [1], [1, 1])
    with pytest.raises(ValueError, match=r"judged\[0\] is infinite"):
        estimate_people_mean([float("inf")], [1], [1])
    with pytest.raises(ValueError, match="population is 'all'"):
        estimate_people_mean([1], [1], [1], population="all")
    with pytest.raises(ValueError, match="right is a difference above 0"):
        labels_needed(estimate_people_mean([1], [1], [1]), 0)


def test_quantiles_of_t_are_those_of_the_tables():
    assert t_quantile(0.975, 1) == pytest.approx(12.7062, abs=1e-4)
    assert t_quantile(0.975, 28) == pytest.approx(2.0484, abs=1e-4)


def three_people(n: int, leniency: tuple[float, ...] = (0.1, 0.0, -0.1)) -> tuple[list[float], Labelling]:
    """Cases of 0.4 and 0.6 in turn, each labelled by people who are lenient by as much."""
    by_rater = [{who: 0.4 + 0.2 * (i % 2) + moved for who, moved in enumerate(leniency)} for i in range(n)]
    return [sum(one.values()) / len(one) for one in by_rater], Labelling(by_rater=by_rater)


def test_people_who_label_every_case_are_drawn_too():
    people, labelling = three_people(100)
    found = estimate_people_mean([NOBODY] * 100, people, [1.0] * 100, labelling)
    # People's own means 0.6, 0.5, 0.4: s² = 0.01, /3 with 2 degrees. Cases: with a 0 and a 1 more Σ(x − m)² =
    # 1.5, /101/102 with 101 degrees. V = 0.0033333 + 0.0001456, degrees V²/(0.0033333²/2 + 0.0001456²/101) =
    # 2.1785, t 3.9765 (between 4.3027 of 2 and 3.1824 of 3): half 3.9765·√0.0034789 = 0.2345. That of these
    # very items is wider, 4.3027·√(0.01/3) = 0.2484, and no interval is narrower than it.
    assert found.value == pytest.approx(0.5)
    assert t_quantile(0.975, 2.1785) * 0.0034789**0.5 == pytest.approx(0.2345, abs=1e-3)
    assert found.high - found.value == pytest.approx(0.2484, abs=1e-4)
    assert (found.raters, found.of_raters) == (3, "")
    these = estimate_people_mean([NOBODY] * 100, people, [1.0] * 100, labelling, population="these items")
    assert these.high - these.value == pytest.approx(0.2484, abs=1e-3)
    assert found.low <= these.low
    assert found.high >= these.high


def test_somebody_who_labelled_one_case_does_not_move_what_people_differ_by():
    part = persons_part(np.ones(50), [{0: 0.6, 1: 0.5, 2: 0.4} for _ in range(49)] + [{0: 0.6, 3: 0.0}])
    assert part.raters == 4
    # Shares 16.83, 16.33, 16.33 and 0.5 of 50: Σc² 0.3269, m̄ 0.496, Σc(m − m̄)² 0.00912, so
    # 0.00912/0.6731 · 0.3269 = 0.00443, near the 0.00333 of the three. Counted alike, the four would have
    # 0.0692/4 = 0.0173.
    assert part.variance == pytest.approx(0.00443, abs=1e-5)
    # Worked in its docstring: 1, ¾ and ½ of three people.
    assert persons_part(np.ones(4), [{0: 1.0, 1: 0.75, 2: 0.5}] * 4).variance == pytest.approx(1 / 48)


@pytest.mark.parametrize(
    ("leniency", "words"), [((0.1, -0.1), "of these 2 raters"), ((0.1,), "of this one rater")]
)
def test_what_one_or_two_people_label_is_said_to_be_of_them(leniency, words):
    people, labelling = three_people(100, leniency)
    found = estimate_people_mean([NOBODY] * 100, people, [1.0] * 100, labelling)
    assert found.of_raters == words
    # Of the cases alone, with a 0 and a 1 more: for two people 1.9837·√(1.5/101/102).
    assert found.high - found.low < 0.06
    nobody_named = estimate_people_mean([NOBODY] * 100, people, [1.0] * 100)
    assert (nobody_named.raters, nobody_named.of_raters) == (0, "")
