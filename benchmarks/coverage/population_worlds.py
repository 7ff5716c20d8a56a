"""Made-up worlds in which both the cases and the people who label them are drawn."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from benchmarks.coverage.labelled_worlds import Asked, Ints, some_of, the_same
from benchmarks.coverage.worlds import Figures, Floats, Random, World
from rubricweb.engine.agreement import Labelling, estimate_people_mean

CASES = (30, 100, 200)
LENIENCIES = (0.05, 0.1)
"""Standard deviations of what a person's leniency adds to every score."""


def population_worlds() -> Iterator[World]:
    """Every case labelled by the same people, by some of them, or some cases labelled and all judged."""
    designs: dict[str, tuple[Asked, float]] = {
        f"by the same {count}": (the_same(count), 1.0) for count in (3, 5)
    }
    designs |= {
        "by 2 of 5 each": (some_of(5, 2), 1.0),
        "by 1 of 5 each": (some_of(5, 1), 1.0),
        "a third by the same 3": (the_same(3), 1 / 3),
    }
    for design, (asked, part) in designs.items():
        for n in CASES:
            for leniency in LENIENCIES:
                for kind in ("scores", "verdicts"):
                    yield World(
                        family=f"cases and people drawn, {design}",
                        name=f"{kind}, leniency {leniency}, n {n}",
                        n=n,
                        sample=_drawn(asked, part, kind, leniency),
                        truths={"cases like these": 0.5},
                    )
    for count in (1, 2):
        for n in CASES:
            yield World(
                family="cases drawn, labelled by 1 or 2",
                name=f"by the same {count}, leniency 0.1, n {n}",
                n=n,
                sample=_drawn(the_same(count), 1.0, "scores", 0.1),
                truths={"of these raters": 0.0},
            )


def _drawn(asked: Asked, part: float, kind: str, leniency: float) -> Callable[[Random, int], Figures]:
    """`n` labelled cases of n / part, all judged by somebody who is lenient by 0.1."""

    def sample(random: Random, n: int) -> Figures:
        total = round(n / part)
        own = 0.2 + 0.6 * random.random(total)
        raters = asked(random, n)
        lenient = leniency * random.normal(size=int(raters.max()) + 1)
        given = _given(random, kind, own[:n, None] + lenient[raters])
        people = np.full(total, np.nan)
        people[:n] = given.mean(axis=1)
        judged = np.clip(own + 0.1 + 0.1 * random.normal(size=total), 0, 1)
        one = estimate_people_mean(
            judged,
            people,
            np.full(total, part),
            Labelling(by_rater=[*_by_rater(raters, given), *[{} for _ in range(total - n)]]),
            binary=False,
        )
        if not one.of_raters:
            return {"cases like these": one}
        truth = 0.5 + float(lenient.mean())
        assert one.value is not None
        assert one.low is not None
        assert one.high is not None
        moved = replace(one, value=one.value - truth, low=one.low - truth, high=one.high - truth)
        return {"of these raters": moved}

    return sample


def _given(random: Random, kind: str, rates: Floats) -> Floats:
    if kind == "verdicts":
        return (random.random(rates.shape) < rates).astype(np.float64)
    # Even about the middle, so that what the ends of the scale cut off leaves the mean where it is.
    return np.clip(rates + 0.1 * random.normal(size=rates.shape), 0, 1)


def _by_rater(raters: Ints, given: Floats) -> list[dict[int, float]]:
    return [
        dict(zip(who, what, strict=True)) for who, what in zip(raters.tolist(), given.tolist(), strict=True)
    ]
