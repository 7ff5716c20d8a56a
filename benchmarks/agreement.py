"""How long the figures of a large comparison take: `python -m benchmarks.agreement`.

Prints seconds for 10,000 units by 20 raters with 1,000 bootstrap resamples clustered by item, and their ratio
to one plain pass over the same labels, which holds from machine to machine.
"""

from collections.abc import Callable
from functools import partial

import numpy as np

from benchmarks.timing import seconds
from rubricweb.engine.agreement import (
    Labelling,
    OptionScale,
    Ratings,
    alpha_interval,
    alpha_nominal,
    alpha_ordinal,
    compare_labels,
    compare_options,
    compare_scores,
    estimate_people_mean,
    fleiss_kappa,
    gwet_ac2,
    human_ceiling,
    rater_matrix,
)

UNITS, RATERS, UNITS_PER_ITEM = 10_000, 20, 10
LEVELS = ("poor", "weak", "fair", "good", "best")
SCORES = 2_000


def main() -> None:
    random = np.random.default_rng(0)
    codes = random.integers(0, len(LEVELS), size=(RATERS, UNITS))
    clusters = [unit // UNITS_PER_ITEM for unit in range(UNITS)]
    options = [[LEVELS[code] for code in row] for row in codes]
    verdicts = [["MET" if code > 1 else "UNMET" for code in row] for row in codes]
    plain = seconds(lambda: [label == "MET" for row in verdicts for label in row])
    print(f"1,000 resamples over {UNITS:,} units, in seconds and against one plain pass:")

    def show(name: str, work: Callable[[], object], times: int = 3) -> None:
        taken = seconds(work, times)
        print(f"{name:<44} {taken:7.3f} s  {taken / plain:7.1f} ×")

    values = [0, 0.25, 0.5, 0.75, 1]
    for grouping, items in (("10 units per item", clusters), ("one unit per item", list(range(UNITS)))):
        ratings = Ratings.from_columns(options, clusters=items, levels=LEVELS, values=values)
        show(f"α nominal, {RATERS} raters, {grouping}", partial(alpha_nominal, ratings))
        show(f"α ordinal, {RATERS} raters, {grouping}", partial(alpha_ordinal, ratings))
        show(f"α interval, {RATERS} raters, {grouping}", partial(alpha_interval, ratings))
    show("Fleiss κ, one unit per item", lambda: fleiss_kappa(ratings))
    show("Gwet AC2, one unit per item", lambda: gwet_ac2(ratings))
    show("judge against people, verdicts", lambda: compare_labels(verdicts[0], verdicts[1], clusters))
    show(
        "judge against people, five options",
        lambda: compare_options(options[0], options[1], clusters, OptionScale(LEVELS, "ordinal")),
    )
    people = Ratings.from_columns(verdicts, clusters=clusters)
    show("human ceiling, 20 raters, verdicts", lambda: human_ceiling(people), 1)
    three = Ratings.from_columns(verdicts[:3], clusters=list(range(UNITS)))
    show("judge in the seat of 3, 10,000 items", lambda: human_ceiling(three, verdicts[3]), 1)
    show("rater × rater, 190 pairs, verdicts", lambda: rater_matrix(people), 1)
    one, other = random.random(SCORES).tolist(), random.random(SCORES).tolist()
    show(f"scores, {SCORES:,} items, all correlations", lambda: compare_scores(one, other), 1)
    labels = np.where(np.arange(UNITS) < 1_000, codes[0] > 1, np.nan)
    share = np.full(UNITS, 0.1)
    show(
        "people's mean", lambda: estimate_people_mean(codes[1] > 1, labels, share, Labelling(cases=clusters))
    )


if __name__ == "__main__":
    main()
