"""How long the figures of a large comparison take: `python -m benchmarks.agreement`.

Prints seconds for 10,000 units by 20 raters with 1,000 bootstrap resamples clustered by item, and their ratio
to one plain pass over the same labels, which holds from machine to machine.
"""

import time
from collections.abc import Callable

import numpy as np

from rubricweb.engine.agreement import Ratings, alpha_nominal, compare_labels

UNITS, RATERS, UNITS_PER_ITEM = 10_000, 20, 10


def seconds(work: Callable[[], object]) -> float:
    """The best of three."""
    times = []
    for _ in range(3):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> None:
    random = np.random.default_rng(0)
    codes = random.integers(0, 2, size=(RATERS, UNITS))
    labels = [["MET" if code else "UNMET" for code in row] for row in codes]
    clusters = [unit // UNITS_PER_ITEM for unit in range(UNITS)]
    ratings = Ratings.from_columns(labels, clusters=clusters)
    plain = seconds(lambda: [label == "MET" for row in labels for label in row])
    alpha = seconds(lambda: alpha_nominal(ratings, resamples=1000))
    pair = seconds(lambda: compare_labels(labels[0], labels[1], clusters, resamples=1000))
    print(f"1,000 resamples over {UNITS:,} units, in seconds and against one plain pass:")
    print(f"α of {RATERS} raters       {alpha:7.3f} s  {alpha / plain:6.1f} ×")
    print(f"judge against people {pair:7.3f} s  {pair / plain:6.1f} ×")


if __name__ == "__main__":
    main()
