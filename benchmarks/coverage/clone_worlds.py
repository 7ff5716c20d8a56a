"""Made-up worlds in which the judge is one more such person: it is neither lenient nor strict.

`python -m benchmarks.coverage.clone_worlds` prints how often it is called so, in some four minutes.
"""

import sys
import zlib
from collections import Counter
from collections.abc import Callable, Iterator

import numpy as np

from benchmarks.coverage.worlds import Figures, Random, World
from rubricweb.engine.agreement import Figure, compare_scores, leaning
from rubricweb.engine.agreement.raters.unit_values import UnitValue, bias_of
from rubricweb.engine.scoring.parts import score_columns

WEIGHTS = (5, 3, 2, 1, -4, -2)
"""Of the rubric whose scores are cut at 0 where people see more errors than merits."""

MOST_FALSE = 0.055
"""Of the judges like people, so many may be called lenient, and so many strict."""

CLONE_SIZES = (30, 100, 300)
CLONE_RATES = (0.05, 0.165, 0.5)
CLONE_PEOPLE = (2, 3, 5)


def clone_worlds() -> Iterator[World]:
    """People and judge who say MET at the same rate: of every unit, or of each unit at one of its own.

    Held against the majority of three the judge would be lenient at low rates; the interval of its bias is
    to leave 0 out as seldom as it says, so that the words are wrong in one of twenty at most.
    """
    for n in CLONE_SIZES:
        for p in CLONE_RATES:
            for people in CLONE_PEOPLE:
                for kind in ("alike", "various"):
                    yield World(
                        family=f"the judge is like {people} people",
                        name=f"{kind} units, p {p}, n {n}",
                        n=n,
                        sample=_clone(p, people, kind),
                        truths={"bias, one criterion": 0.0, "bias, six criteria": 0.0, "bias of scores": 0.0},
                        drift=("bias, one criterion", "bias, six criteria", "bias of scores"),
                    )


def _clone(p: float, people: int, kind: str) -> Callable[[Random, int], Figures]:
    def sample(random: Random, n: int) -> Figures:
        shape = (n, len(WEIGHTS))
        rates = np.full(shape, p) if kind == "alike" else random.beta(p, 1 - p, shape)
        # (people and judge × items × criteria): the judge is the last.
        said = (random.random((people + 1, *shape)) < rates).astype(np.float64)
        units = [
            [
                UnitValue(
                    judged=float(said[-1, item, place]),
                    by_rater=dict(enumerate(said[:-1, item, place].tolist())),
                    weight=weight,
                    cluster=item,
                )
                for place, weight in enumerate(WEIGHTS)
            ]
            for item in range(n)
        ]
        nothing_failed = np.zeros(shape, dtype=np.bool_)
        scores = np.array([score_columns(WEIGHTS, one, nothing_failed) for one in said])
        return {
            "bias, one criterion": bias_of([of_item[0] for of_item in units]),
            "bias, six criteria": bias_of([unit for of_item in units for unit in of_item]),
            "bias of scores": compare_scores(scores[:-1].mean(axis=0), scores[-1], resamples=0).bias,
        }

    return sample


def called(world: World, repetitions: int, *, seed: int = 0) -> Counter[str]:
    """In how many draws the judge is called "lenient", "strict" or neither (""), over all six criteria."""
    random = np.random.default_rng([seed, zlib.crc32(f"{world.family} {world.name}".encode())])
    biases = (world.sample(random, world.n)["bias, six criteria"] for _ in range(repetitions))
    return Counter(leaning(bias) for bias in biases if isinstance(bias, Figure))


def main() -> int:
    """Prints how often the judge of each world is wrongly called lenient or strict: at most MOST_FALSE."""
    repetitions, found = 400, Counter[str]()
    for world in clone_worlds():
        here = called(world, repetitions)
        lenient, strict = here["lenient"] / repetitions, here["strict"] / repetitions
        print(f"{lenient:6.1%} lenient {strict:6.1%} strict  {world.family}, {world.name}", flush=True)
        found += here
    shares = {word: found[word] / found.total() for word in ("lenient", "strict")}
    print(", ".join(f"{share:.1%} {word}" for word, share in shares.items()), "in all")
    return int(max(shares.values()) > MOST_FALSE)


if __name__ == "__main__":
    sys.exit(main())
