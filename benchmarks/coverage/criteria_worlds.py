"""Made-up worlds of several criteria, each met at a rate of its own: chance is counted within each."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.coverage.worlds import MANY, RESAMPLES, VERDICTS, Bools, Figures, Floats, Random, World
from rubricweb.engine.agreement import (
    Ratings,
    alpha_within,
    human_ceiling,
    pair_kappa_within,
    seat_within,
)

SIZES = (8, 12, 20, 30)
PEOPLE = 3
RATES = {"even": (0.3, 0.5, 0.7), "steep": (0.05, 0.9, 0.5, 0.2)}


@dataclass(frozen=True)
class Criteria:
    """So many criteria, and the share of items that each is asked of."""

    name: str
    count: int
    asked: float


CRITERIA = (
    Criteria("2 criteria", 2, 1.0),
    Criteria("14 criteria", 14, 1.0),
    Criteria("1 criterion of all items and 13 of one in five", 14, 0.2),
)

WRONG = (0.1, 0.3)


def criteria_worlds() -> Iterator[World]:
    """A judge against people, people among themselves, and a judge as good as one of them in a seat."""
    for n in SIZES:
        for criteria in CRITERIA:
            for shape in RATES:
                for judge in ("perfect", "good", "useless"):
                    yield World(
                        family=f"{criteria.name}, judge against people",
                        name=f"{judge} judge, {shape} rates, n {n}",
                        n=n,
                        sample=_judged(criteria, shape, judge),
                    )
                for wrong in WRONG:
                    for items in ("alike", "hard and easy"):
                        yield World(
                            family=f"{criteria.name}, people and a judge in a seat",
                            name=f"wrong {wrong}, {items} items, {shape} rates, n {n}",
                            n=n,
                            sample=_seat(criteria, shape, wrong, items),
                        )


def _units(random: Random, criteria: Criteria, n: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(units,): the item and the criterion of each; the first criterion is asked of all items."""
    asked = random.random((n, criteria.count)) < criteria.asked
    asked[:, 0] = True
    items, of = np.nonzero(asked)
    return items, of


def _met(random: Random, criteria: Criteria, shape: str, of: NDArray[np.int64]) -> Bools:
    rates: Floats = np.resize(np.array(RATES[shape]), criteria.count)
    return np.asarray(random.random(len(of)) < rates[of])


def _judged(criteria: Criteria, shape: str, judge: str) -> Callable[[Random, int], Figures]:
    """A useless judge knows how often each criterion is met, and nothing else."""

    def sample(random: Random, n: int) -> Figures:
        items, of = _units(random, criteria, n)
        people = _met(random, criteria, shape, of)
        said = {
            "perfect": people,
            "good": people ^ (random.random(len(of)) < 0.15),
            "useless": _met(random, criteria, shape, of),
        }[judge]
        found = pair_kappa_within(
            VERDICTS[people.astype(int)].tolist(),
            VERDICTS[said.astype(int)].tolist(),
            items.tolist(),
            of.tolist(),
            resamples=0 if n == MANY else RESAMPLES,
        )
        return {"κ within": found}

    return sample


def _seat(criteria: Criteria, shape: str, wrong: float, kind: str) -> Callable[[Random, int], Figures]:
    """Judge and people are wrong equally often; of hard items nine times as often as of easy ones."""

    def sample(random: Random, n: int) -> Figures:
        items, of = _units(random, criteria, n)
        truth = _met(random, criteria, shape, of)
        hard = random.choice((0.2, 1.8), n) if kind != "alike" else np.ones(n)
        flips = random.random((PEOPLE + 1, len(of))) < np.minimum(0.5, wrong * hard)[items]
        codes = (truth ^ flips).astype(np.int64)
        ratings = Ratings(
            raters=tuple(range(PEOPLE)),
            units=tuple(range(len(of))),
            labels=tuple(VERDICTS.tolist()),
            codes=codes[:PEOPLE],
            clusters=items,
            levels=tuple(VERDICTS.tolist()),
            values=(0.0, 1.0),
        )
        judge, strata = VERDICTS[codes[PEOPLE]].tolist(), of.tolist()
        draws = 0 if n == MANY else RESAMPLES
        ceiling = human_ceiling(ratings, judge, resamples=draws).judge
        seat = seat_within(ratings, judge, strata, resamples=draws)
        assert ceiling is not None
        return {
            "Δ accuracy": ceiling.accuracy_difference,
            "α within": alpha_within(ratings, strata, resamples=draws),
            "κ of a person within": seat.kappa,
            "κ in a seat within": seat.judge_kappa,
            "Δ κ within": seat.kappa_difference,
        }

    return sample
