"""Made-up worlds in which people labelled every item: open is only who was asked."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from benchmarks.coverage.worlds import Figures, Floats, Random, World
from rubricweb.engine.agreement import Labelling, estimate_people_mean

LABELLED_SIZES = (30, 100, 300)
LABELLED_RATES = (0.05, 0.5, 0.95)
LENIENCY = 0.2
"""Of people's own rates, in √(p(1 − p)): their standard deviation is 0.1 at ½ and 0.044 at 0.05."""
LENIENCY_IN_LOGITS = 0.6
"""Where items differ too: people's means then differ by 0.1 at ½, as every rate is as likely as another."""

# (items × raters): the number of each rater of each item.
Ints = NDArray[np.int64]
Asked = Callable[[Random, int], Ints]
_NORMAL = np.array([NormalDist().inv_cdf((place + 0.5) / 200) for place in range(200)])


def labelled_worlds() -> Iterator[World]:
    """Verdicts and scores of all items, by the same people, by others for each item, and by some of a few."""
    designs: dict[str, Asked] = {f"by the same {count}": the_same(count) for count in (2, 3, 5)}
    designs |= {f"by {count} others each": _others(count) for count in (2, 3, 5)}
    designs |= {"by 2 of 5 each": some_of(5, 2), "by 3 of whom one does 4 in 10": _unequal}
    for design, asked in designs.items():
        for n in LABELLED_SIZES:
            for p in LABELLED_RATES:
                for kind in ("alike", "various"):
                    yield World(
                        family=f"all labelled, {design}",
                        name=f"{kind} items, p {p}, n {n}",
                        n=n,
                        sample=_verdicts_of_all(asked, kind, p),
                        truths={"these items": 0.0},
                    )
            yield World(
                family=f"all labelled, {design}",
                name=f"scores, n {n}",
                n=n,
                sample=_scores_of_all(asked),
                truths={"these items": 0.0},
            )


def the_same(count: int) -> Asked:
    return lambda random, n: np.tile(np.arange(count), (n, 1))


def _others(count: int) -> Asked:
    return lambda random, n: np.arange(n * count).reshape(n, count)


def some_of(people: int, count: int) -> Asked:
    return lambda random, n: random.random((n, people)).argsort(axis=1)[:, :count]


def _unequal(random: Random, n: int) -> Ints:
    """Two of three rate an item: the first four in five, the others three in five."""
    pairs = np.array([(0, 1), (0, 2), (1, 2)])
    return pairs[random.choice(3, n, p=(0.4, 0.4, 0.2))]


def _verdicts_of_all(asked: Asked, kind: str, p: float) -> Callable[[Random, int], Figures]:
    """Every item is MET at the rate of its rater, or at one of its own that the rater moves (Rasch)."""

    def sample(random: Random, n: int) -> Figures:
        raters = asked(random, n)
        people = int(raters.max()) + 1
        if kind == "alike":
            many = 1 / LENIENCY**2 - 1
            rates, truth = random.beta(p * many, (1 - p) * many, people)[raters], p
        else:
            own = random.beta(2 * p, 2 * (1 - p), n)
            rates = _moved(own, random.normal(size=people)[raters])
            truth = float(_moved(own, _NORMAL).mean())
        return _found(raters, (random.random(raters.shape) < rates).astype(np.float64), truth)

    return sample


def _scores_of_all(asked: Asked) -> Callable[[Random, int], Figures]:
    """Scores from 0.2 to 0.8, moved by 0.1 for a rater's leniency and as much from item to item."""

    def sample(random: Random, n: int) -> Figures:
        raters, own = asked(random, n), 0.2 + 0.6 * random.random(n)
        leniency = random.normal(size=int(raters.max()) + 1)[raters]
        given = np.clip(own[:, None] + 0.1 * leniency + 0.1 * random.normal(size=raters.shape), 0, 1)
        # Both together are normal: what all people there could be would give on average.
        truth = np.clip(own[:, None] + 0.1 * np.sqrt(2) * _NORMAL, 0, 1).mean()
        return _found(raters, given, float(truth))

    return sample


def _moved(own: Floats, leniency: Floats) -> Floats:
    """(items × raters): the rates of items, moved by the leniency of their raters on the scale of logits."""
    odds = own[:, None] * np.exp(LENIENCY_IN_LOGITS * leniency)
    return odds / (odds + 1 - own[:, None])


def _found(raters: Ints, given: Floats, truth: float) -> Figures:
    """The mean of these items less what it truly is, which differs from draw to draw."""
    n = len(given)
    by_rater = [
        dict(zip(who, what, strict=True)) for who, what in zip(raters.tolist(), given.tolist(), strict=True)
    ]
    one = estimate_people_mean(
        np.full(n, np.nan),
        given.mean(axis=1),
        np.ones(n),
        Labelling(by_rater=by_rater),
        population="these items",
    )
    assert one.value is not None
    assert one.low is None or one.high is None or (one.low >= 0 and one.high <= 1)
    return {
        "these items": replace(
            one,
            value=one.value - truth,
            low=None if one.low is None else one.low - truth,
            high=None if one.high is None else one.high - truth,
        )
    }
