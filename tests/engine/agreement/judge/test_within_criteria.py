"""Agreement over several criteria with chance counted within each: knowing their base rates earns nothing."""

import numpy as np
import pytest

from rubricweb.engine.agreement import (
    Ratings,
    alpha_nominal,
    alpha_within,
    compare_labels,
    human_ceiling,
    mean_pair_kappa,
    pair_kappa_within,
    people_within,
    rater_matrix,
    seat_within,
)
from rubricweb.engine.agreement.judge.kappa import cohen_kappa, kappa_within

M, U = "MET", "UNMET"

# Criterion a is met on nine of ten items, b on one of ten; the judge says MET of a and UNMET of b throughout.
PEOPLE = [M] * 9 + [U] + [U] * 9 + [M]
BASE_RATES = [M] * 10 + [U] * 10
CRITERIA = ["a"] * 10 + ["b"] * 10
ITEMS = [*range(10), *range(10)]


def test_kappa_within_criteria_adds_up_agreement_and_chance_of_each() -> None:
    # a: n 10, pₒ 0.8, both say MET 8 of 10: pₑ 0.68. b: n 20, pₒ 0.75, margins 10/10 and 9/11: pₑ 0.5.
    # κ = (10·0.12 + 20·0.25) / (10·0.32 + 20·0.5) = 6.2 / 13.2.
    tables = np.array([[[7.0, 1.0], [1.0, 1.0]], [[7.0, 3.0], [2.0, 8.0]]])
    assert kappa_within(tables) == pytest.approx(6.2 / 13.2)
    assert kappa_within(tables[:1]) == pytest.approx(cohen_kappa(tables)[0])
    # A criterion where both always say the same adds nothing, and nothing but such criteria is undefined.
    constant = np.array([[[5.0, 0.0], [0.0, 0.0]]])
    assert kappa_within(np.concatenate([tables, constant])) == pytest.approx(6.2 / 13.2)
    assert np.isnan(kappa_within(constant))


def test_a_judge_that_knows_base_rates_alone_has_kappa_0_within_criteria() -> None:
    figure = pair_kappa_within(PEOPLE, BASE_RATES, ITEMS, CRITERIA)
    assert (figure.value, figure.n) == (0.0, 20)
    assert figure.low is not None
    assert figure.low <= 0.0 <= (figure.high or 0)
    # pₒ 0.9, both say MET on half: (0.9 − 0.5) / 0.5.
    assert compare_labels(PEOPLE, BASE_RATES, ITEMS).kappa.value == pytest.approx(0.8)


def test_abstentions_and_gaps_are_in_no_table_and_one_verdict_throughout_is_undefined() -> None:
    more = [*PEOPLE, "CANNOT_ASSESS", M], [*BASE_RATES, M, None], [*ITEMS, 10, 11], [*CRITERIA, "a", "c"]
    assert pair_kappa_within(*more).n == 20
    alike = pair_kappa_within([M, M, U, U], [M, M, U, U], range(4), ["a", "a", "b", "b"])
    assert (alike.value, "within every criterion" in alike.reason) == (None, True)
    assert pair_kappa_within(PEOPLE, BASE_RATES, ITEMS, CRITERIA, resamples=0).low is None
    assert pair_kappa_within(PEOPLE, BASE_RATES, [1] * 20, CRITERIA).low is None
    with pytest.raises(ValueError, match="must cover the same units"):
        pair_kappa_within([M], [M], [1], [])


def test_alpha_within_criteria() -> None:
    rows = [("a", M, M), ("a", M, M), ("a", M, U), ("b", U, U), ("b", U, U), ("b", U, M)]
    triples = [
        (unit, rater, label) for unit, (_, *labels) in enumerate(rows) for rater, label in enumerate(labels)
    ]
    ratings, criteria = Ratings.from_triples(triples), [row[0] for row in rows]
    # Each: observed disagreements 2, expected (36 − 26) / 5 = 2. Together: 4 of (144 − 72) / 11.
    assert alpha_within(ratings, criteria).value == pytest.approx(0.0)
    assert alpha_nominal(ratings).value == pytest.approx(1 - 4 / (72 / 11))
    assert alpha_within(ratings, ["a"] * 6).value == pytest.approx(alpha_nominal(ratings).value)
    with pytest.raises(ValueError, match="one of each unit"):
        alpha_within(ratings, ["a"])


def test_a_seat_within_criteria_holds_person_and_judge_to_the_same_chance() -> None:
    # Three people, each off the others on one item of either criterion; the judge knows base rates alone.
    labels = [[M, M, M]] * 6 + [[U, M, M], [M, U, M], [M, M, U]]
    rows = [(n, r, label) for n, row in enumerate(labels) for r, label in enumerate(row)]
    rows += [(n + 9, r, U if label == M else M) for n, r, label in rows]
    ratings = Ratings.from_triples(rows, cluster_of=lambda unit: int(str(unit)) % 9)
    judged, criteria = [M] * 9 + [U] * 9, ["a"] * 9 + ["b"] * 9
    seat = seat_within(ratings, judged, criteria)
    assert (seat.n, seat.judge_kappa.value) == (18, pytest.approx(0.0))
    one = seat_within(ratings, judged, ["a"] * 18)
    pooled = human_ceiling(ratings, judged)
    assert pooled.judge is not None
    assert one.kappa.value == pytest.approx(pooled.kappa.value)
    assert one.kappa_difference.value == pytest.approx(pooled.judge.kappa_difference.value)
    # The judge agrees with the majority of the others more than a person, by knowing base rates alone.
    assert (pooled.judge.kappa.value or 0) > 0.6


def test_people_by_themselves_within_criteria() -> None:
    # x: MET of a's four items, UNMET of b's; y differs from x on one item of each.
    a, b = [(M, M), (M, M), (M, M), (M, U)], [(U, U), (U, U), (U, U), (U, M)]
    triples = [(n, r, label) for n, row in enumerate([*a, *b]) for r, label in enumerate(row)]
    ratings = Ratings.from_triples(triples, cluster_of=lambda unit: int(str(unit)) % 4)
    criteria = ["a"] * 4 + ["b"] * 4
    found = people_within(ratings, criteria)
    # Of each 7 alike of 8 values: 2 unlike pairs, by chance 2·7·1/7 = 2, so α = 0. x never varies: κ = 0.
    assert (found.n, found.alpha.value) == (8, pytest.approx(0.0))
    assert found.pair_kappa.value == pytest.approx(0.0)
    # A seat holds either against the other: 3 MET MET and ½ of both mixed, pₑ = (3.5² + 0.5²)/16 = 0.78125.
    assert found.kappa.value == pytest.approx((0.75 - 0.78125) / 0.21875)
    assert found.pair_kappa.low is not None
    assert found.pair_kappa.low < 0 < (found.pair_kappa.high or 0)
    # In one table both have half MET: (6/8 − ½)/½.
    assert mean_pair_kappa(ratings).value == pytest.approx(0.5)
    matrix = rater_matrix(ratings, strata=criteria)
    [[_, pair], _] = matrix.kappa
    assert pair == found.pair_kappa
    assert matrix.raw[0][1].value == pytest.approx(6 / 8)
    assert rater_matrix(ratings).kappa[0][1].value == pytest.approx(0.5)
    for refused in (people_within, lambda *some: rater_matrix(some[0], strata=some[1])):
        with pytest.raises(ValueError, match="one of each unit"):
            refused(ratings, ["a"])


def test_kappa_within_criteria_is_small_where_a_verdict_is_rare_in_what_varies() -> None:
    # Criterion c is MET throughout on both sides: it has no chance, and its ten METs count for no class.
    people, judge = [*PEOPLE, *[M] * 10], [*BASE_RATES[:9], U, *BASE_RATES[10:], *[M] * 10]
    found = pair_kappa_within(people, judge, [*ITEMS, *range(10)], [*CRITERIA, *["c"] * 10])
    assert (found.small, found.reason) == (False, "")
    of_a = pair_kappa_within(people[:10], judge[:10], ITEMS[:10], CRITERIA[:10])
    assert (of_a.small, of_a.reason) == (True, "only 1 unit of a verdict: too few to tell much")
