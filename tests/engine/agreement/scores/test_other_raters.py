"""Where a mean would lie if other people had been asked: by person, by item, and never beyond the scale."""

from math import sqrt

import numpy as np
import pytest

from rubricweb.engine.agreement.scores.other_raters import other_raters

ONES = np.ones


def test_the_same_people_on_every_item_tell_by_the_spread_of_their_means() -> None:
    given = [{"ann": 1.0, "rae": 0.75, "ed": 0.5}] * 4
    found = other_raters(0.75, ONES(4), given, 0.95)
    # Their means are 1, ¾ and ½: s² = 1/16 over three people, t of 2 degrees 4.3027.
    assert found.error == pytest.approx(sqrt(1 / 48))
    assert (found.low, found.high) == (pytest.approx(0.75 - 4.3027 * sqrt(1 / 48), abs=1e-4), 1.0)
    # A hundred items more do not tell of more people.
    many = other_raters(0.75, ONES(100), given * 25, 0.95)
    assert many.error == pytest.approx(found.error)


def test_others_for_each_item_tell_by_their_differences_there() -> None:
    given = [{(item, "first"): 0.0, (item, "second"): 1.0} for item in range(12)]
    found = other_raters(0.5, ONES(12), given, 0.95)
    # s² = ½ of two raters: V = 12 · ¼ / 144 = 0.020833; t of 11 degrees 2.2010.
    assert found.error == pytest.approx(sqrt(1 / 48))
    assert found.high == pytest.approx(0.5 + 2.2010 * sqrt(1 / 48), abs=1e-4)


def test_people_who_share_some_items_count_by_their_parts() -> None:
    given = [{"a": 1.0, "b": 0.0}, {"a": 1.0, "c": 0.0}, {"b": 0.5, "c": 0.5}]
    found = other_raters(0.5, ONES(3), given, 0.95)
    # A rating is 1/6 of the mean, a person ⅓. Distances ½: u = 1/6, −1/12, −1/12, Σu² = 1/24. L has 1/3 − 1/6
    # on its diagonal and −1/12 beside it: ‖L‖² = 3/36 + 6/144 = 1/8. V = 1/24 · ⅓ / (1/8) = 1/9.
    assert found.error == pytest.approx(1 / 3)
    # By item (½ + ½)/2/9 and one more, ¼/9: 1/12, which is less.
    assert found.error > sqrt(1 / 12)


@pytest.mark.parametrize(("given", "told"), [([1.0, 1.0], "never differed"), ([1.0], "one rater an item")])
def test_it_is_said_why_nothing_is_told(given: list[float], told: str) -> None:
    found = other_raters(1.0, ONES(5), [dict(enumerate(given))] * 5, 0.95)
    assert (found.low, found.high) == (None, None)
    assert told in found.reason


def test_it_takes_three_people_of_about_equal_parts() -> None:
    three = [{"a": 1.0, "b": 0.5, "c": 0.0}] * 9
    assert other_raters(0.5, ONES(10), [*three, {"a": 1.0, "b": 0.5}], 0.95).low is not None
    # Of one person all and of nine others one item each there is one contrast: a and the rest.
    with_a = [{"a": 1.0, place: 0.0} for place in range(9)]
    found = other_raters(0.5, ONES(9), with_a, 0.95)
    assert (found.error, found.low) == (None, None)
    assert "three people or more" in found.reason


def test_the_interval_stays_on_the_scale() -> None:
    """Two items of two own raters each, 0 and 1, were −0.19 … 1.19."""
    given = [{(item, rater): float(rater) for rater in (0, 1)} for item in (0, 1)]
    found = other_raters(0.5, ONES(2), given, 0.95)
    assert (found.low, found.high) == (0.0, 1.0)


def test_what_an_item_counts_is_what_its_raters_count() -> None:
    """Two answers to one case share its weight: people differ as on one item with the mean of both."""
    given = [{"a": 1.0, "b": 0.0, "c": 0.0}, {"a": 1.0, "b": 1.0, "c": 0.0}, {"a": 0.5, "b": 0.0, "c": 0.5}]
    once = [{"a": 1.0, "b": 0.5, "c": 0.0}, given[2]]
    weighed = other_raters(5 / 12, np.tile([0.5, 0.5, 1.0], 9), given * 9, 0.95)
    # Means of the people: 0.75, 0.25, 0.25; s² = 1/12 over three.
    assert weighed.error == pytest.approx(1 / 6)
    assert other_raters(5 / 12, ONES(18), once * 9, 0.95).error == pytest.approx(1 / 6)
