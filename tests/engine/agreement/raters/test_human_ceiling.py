"""How far one person agrees with the others, against loops and worked examples."""

import numpy as np
import pytest

from rubricweb.engine.agreement import Figure, Ratings, human_ceiling, human_ceilings, rater_leniency
from tests.engine.agreement.oracles import sklearn_metrics

THREE = [["MET", "MET", "UNMET"], ["MET", "MET", "UNMET"], ["UNMET", "MET", "UNMET"]]


def test_three_people_worked_by_hand():
    found = human_ceiling(Ratings.from_columns(THREE))
    assert found.n == 3
    assert found.accuracy.value == pytest.approx((1 / 3 + 1 + 1) / 3)  # the METs meet a tie, the UNMET no one
    expected = (25 / 9 + 16 / 9) / 9
    assert found.kappa.value == pytest.approx((7 / 9 - expected) / (1 - expected))
    assert found.pair_accuracy.value == pytest.approx((1 / 3 + 1 + 1) / 3)
    assert found.pair_kappa.value == pytest.approx((1 + 0.4 + 0.4) / 3)


@pytest.mark.parametrize("seed", range(10))
def test_leave_one_out_is_its_definition_written_out(seed):
    generator = np.random.default_rng(seed)
    table = generator.integers(0, 3, size=(5, 20)).astype(float)
    table[generator.random(table.shape) < 0.3] = np.nan
    others, persons, weights, units = [], [], [], 0
    for unit in table.T:
        given = [int(cell) for cell in unit if not np.isnan(cell)]
        if len(given) < 2:
            continue
        units += 1
        for person, label in enumerate(given):
            rest = given[:person] + given[person + 1 :]
            most = [option for option in set(rest) if rest.count(option) == max(map(rest.count, rest))]
            for option in most:
                others.append(option)
                persons.append(label)
                weights.append(1 / len(most) / len(given))
    columns = [[None if np.isnan(cell) else "abc"[int(cell)] for cell in row] for row in table]
    ratings = Ratings.from_columns(columns, levels="abc")
    found = human_ceiling(ratings, resamples=50)
    assert found.n == units
    accuracy = sklearn_metrics.accuracy_score(others, persons, sample_weight=weights)
    assert found.accuracy.value == pytest.approx(accuracy)
    kappa = sklearn_metrics.cohen_kappa_score(others, persons, sample_weight=weights)
    assert found.kappa.value == pytest.approx(kappa)
    weighted = human_ceiling(ratings, weighting="quadratic", resamples=50).kappa.value
    expected = sklearn_metrics.cohen_kappa_score(
        others, persons, sample_weight=weights, weights="quadratic", labels=range(3)
    )
    assert weighted == pytest.approx(expected)


def test_with_two_people_the_other_is_the_majority():
    found = human_ceiling(Ratings.from_columns(THREE[1:]))
    assert found.accuracy.value == found.pair_accuracy.value == pytest.approx(2 / 3)


def test_a_judge_in_a_persons_seat_meets_the_same_others():
    people = Ratings.from_columns(THREE)
    found = human_ceiling(people, ["MET", "MET", "UNMET"])
    # On the first unit two of the three see a tie (½), one sees MET MET (1): (½ + ½ + 1) / 3 = 2/3.
    assert found.judge.accuracy.value == pytest.approx((2 / 3 + 1 + 1) / 3)
    assert found.judge.accuracy_difference.value == pytest.approx(1 / 9)
    # Others × judge: MET–MET 5/3, UNMET–MET 1/3, UNMET–UNMET 1; p_e = (5/3·2 + 4/3·1) / 9 = 14/27.
    assert found.judge.kappa.value == pytest.approx((8 / 9 - 14 / 27) / (1 - 14 / 27))
    assert found.judge.kappa_difference.value == pytest.approx(found.judge.kappa.value - found.kappa.value)
    assert found.tied == pytest.approx((2 / 3) / 3)
    assert found.raters == 3


def test_a_judge_that_says_what_one_of_two_says_stands_where_that_one_stands():
    generator = np.random.default_rng(2)
    ann, rae = generator.choice(["MET", "UNMET"], size=(2, 60)).tolist()
    found = human_ceiling(Ratings.from_columns([ann, rae]), ann)
    # In ann's seat the judge meets rae as ann does; in rae's it meets ann, and agrees throughout.
    assert found.judge.accuracy.value == pytest.approx((found.accuracy.value + 1) / 2)


def test_units_the_judge_did_not_answer_count_for_nobody():
    people = Ratings.from_columns(THREE)
    found = human_ceiling(people, ["CANNOT_ASSESS", "MET", None])
    assert (found.n, found.accuracy.value, found.judge.accuracy.value) == (1, 1, 1)
    with pytest.raises(ValueError, match="judged must have one label per unit: 3; found 1"):
        human_ceiling(people, ["MET"])


def test_a_judge_like_everybody_is_not_as_good_for_certain():
    labels = ["MET", "UNMET"] * 20
    found = human_ceiling(Ratings.from_columns([labels, labels]), labels).judge
    assert found.kappa_difference.value == found.accuracy_difference.value == 0
    assert found.kappa_difference.low < -0.05 < 0.05 < found.kappa_difference.high


def test_the_seat_of_ordered_options_is_weighted():
    levels = ("low", "mid", "high")
    people = Ratings.from_columns([["low", "mid", "high"], ["low", "mid", "high"]], levels=levels)
    near = human_ceiling(people, ["low", "mid", "mid"], weighting="quadratic")
    # One of three a step off: Σ v·o = 1; margins 1 1 1 and 1 2 0: Σ v·e = (2·1 + 1·1 + 1·4 + 2·1) / 3 = 3.
    assert near.judge.kappa.value == pytest.approx(1 - 1 / 3)


def test_each_criterion_has_its_own_ceiling():
    units = [(item, criterion) for item in range(6) for criterion in ("tone", "facts")]
    rows = [(unit, rater, "MET" if unit[0] % 2 else "UNMET") for unit in units for rater in ("ann", "rae")]
    split = [(unit, "bob", "MET" if unit[1] == "tone" else label) for unit, _, label in rows[::2]]
    ratings = Ratings.from_triples([*rows, *split], cluster_of=lambda unit: unit[0])
    found = human_ceilings(ratings, lambda unit: unit[1])
    assert list(found) == ["tone", "facts"]
    assert found["facts"].accuracy.value == 1.0
    assert found["facts"].n == found["tone"].n == 6
    # Three of six units are UNMET UNMET MET: the UNMETs meet a tie, the MET meets two UNMETs.
    assert found["tone"].accuracy.value == pytest.approx((3 * 1 + 3 * (2 / 3) * (1 / 2)) / 6)
    assert found["facts"].accuracy.low == pytest.approx(6 / (6 + 1.959964**2))  # Wilson, 6 of 6


def test_a_lone_person_has_no_ceiling():
    found = human_ceiling(Ratings.from_columns([["MET", "UNMET"], [None, None]]))
    nothing = Figure(None, None, None, 0)
    assert found.accuracy == found.kappa == found.pair_accuracy == found.pair_kappa == nothing


def test_leniency_worked_by_hand():
    ann, rae, bob = rater_leniency(
        Ratings.from_columns([["MET", "MET", "UNMET"], ["MET", "UNMET", "UNMET"], ["UNMET", None, "UNMET"]])
    )
    assert ann.mean.value == pytest.approx(2 / 3)
    assert ann.others.value == pytest.approx((1 / 2 + 0 + 0) / 3)
    assert ann.leniency.value == pytest.approx((1 / 2 + 1 + 0) / 3)
    assert rae.leniency.value == pytest.approx((1 / 2 - 1 + 0) / 3)
    assert (bob.labelled, bob.leniency.n) == (2, 2)
    assert bob.leniency.value == pytest.approx((0 - 1 + 0) / 2)
    assert (bob.leniency.low, bob.leniency.high) == (-1, 1)  # two units say nothing


def test_leniency_needs_company():
    alone, idle = rater_leniency(Ratings.from_columns([["MET", "UNMET"], [None, None]]))
    assert alone.mean.value == 0.5
    assert alone.leniency == Figure(None, None, None, 0)
    assert idle.mean == Figure(None, None, None, 0)


def test_leniency_of_options_uses_their_values():
    columns = [["low", "high"], ["mid", "mid"]]
    levels = ("low", "mid", "high")
    ann, _ = rater_leniency(Ratings.from_columns(columns, levels=levels, values=(0, 0.4, 1)))
    assert ann.leniency.value == pytest.approx((-0.4 + 0.6) / 2)
    with pytest.raises(ValueError, match="'low', 'mid', 'high' have no numbers; pass values with levels"):
        rater_leniency(Ratings.from_columns(columns, levels=levels))


def test_leniencies_of_two_raters_are_opposite():
    generator = np.random.default_rng(1)
    columns = generator.choice(["MET", "UNMET"], size=(2, 50)).tolist()
    ann, rae = rater_leniency(Ratings.from_columns(columns))
    assert ann.leniency.value == pytest.approx(-rae.leniency.value)
    assert (ann.rater, rae.rater) == (0, 1)
