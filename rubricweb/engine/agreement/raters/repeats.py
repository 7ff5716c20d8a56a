"""How steady a judge is: flips between repeats, and votes of a panel that equal its final verdict."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rubricweb.engine.agreement.intervals import CONFIDENCE, Figure, mean_interval
from rubricweb.engine.agreement.raters.many_raters import raw_agreement_of
from rubricweb.engine.agreement.ratings import Ratings, cluster_codes, label_texts


@dataclass(frozen=True, slots=True)
class Steadiness:
    """How often repeats of the same question answer the same.

    `flip_rate` is the chance that two repeats of a unit differ, `unsteady` the share of units where any two
    do; `n` units have at least two answers.
    """

    n: int
    flip_rate: Figure
    unsteady: Figure


def steadiness(repeats: Ratings) -> Steadiness:
    """Flip rate and share of unsteady units; the repeats stand where raters do.

    Abstentions and errors are gaps unless they are labels of the ratings. The flip rate does not grow with
    the number of repeats, the unsteady share does. Intervals: see `flip_rate`.

    Worked: three repeats of two units, MET MET UNMET and MET MET MET → flip rate (2/3 + 0) / 2 = 1/3,
    unsteady 1/2.
    """
    counts = repeats.label_counts()
    pairable = counts.sum(axis=1) >= 2
    changed = (np.count_nonzero(counts, axis=1) > 1).astype(np.float64)
    return Steadiness(
        n=int(pairable.sum()),
        flip_rate=flip_rate(repeats),
        unsteady=mean_interval(changed[pairable], repeats.clusters[pairable], limits=(0.0, 1.0)),
    )


def flip_rate(repeats: Ratings) -> Figure:
    """Chance that two repeats of the same unit differ, averaged over units: 1 − `raw_agreement`, in [0, 1].

    None when no unit has two answers. Worked: see `steadiness`.
    """
    return flip_rate_of(repeats.label_counts(), repeats.clusters)


def flip_rate_of(
    counts: NDArray[np.int64], clusters: NDArray[np.int64], confidence: float = CONFIDENCE
) -> Figure:
    """`flip_rate` of (units × labels), how often each was given."""
    return _flipped(raw_agreement_of(counts, clusters, confidence))


def _flipped(same: Figure) -> Figure:
    if same.value is None:
        return same
    if same.low is None or same.high is None:
        return Figure(1 - same.value, None, None, same.n)
    return Figure(1 - same.value, 1 - same.high, 1 - same.low, same.n)


def panel_agreement(
    votes: Sequence[Sequence[str | None]],
    finals: Sequence[str | None],
    clusters: Sequence[Hashable] | None = None,
) -> Figure:
    """Share of a panel's votes that equal its final verdict, averaged over units, in [0, 1].

    `votes[i]` are the votes on unit i, None for a vote that abstained or failed: it is set aside. `finals[i]`
    is the verdict that came of them; a unit without one, or without a vote, is left out. For one criterion,
    pass its units. Raises ValueError on unequal lengths.

    Worked: votes MET MET UNMET → MET and MET None MET → MET: (2/3 + 1) / 2 = 0.8333.
    """
    votes, finals = [label_texts(given) for given in votes], label_texts(finals)
    kept, items = _kept(votes, finals, clusters)
    shares = [
        sum(vote == finals[place] for vote in votes[place]) / sum(vote is not None for vote in votes[place])
        for place in kept
    ]
    return mean_interval(np.array(shares, dtype=np.float64), cluster_codes(items), limits=(0.0, 1.0))


def vote_entropy(
    votes: Sequence[Sequence[str | None]],
    options: int,
    clusters: Sequence[Hashable] | None = None,
) -> Figure:
    """How split a panel's votes are, averaged over units: 0 unanimous, 1 evenly spread over all options.

    `votes` as for `panel_agreement`, units without a vote left out. Shannon (1948): −Σ p log p / log options.
    None when fewer than two `options` could be chosen. Raises ValueError when a unit has more different votes
    than options, or the lengths differ.

    Worked: two options, votes MET MET UNMET UNMET and MET MET → (1 + 0) / 2 = 0.5.
    """
    votes = [label_texts(given) for given in votes]
    kept, items = _kept(votes, [""] * len(votes), clusters)
    if options < 2:
        return Figure(None, None, None, len(kept))
    shares = []
    for place in kept:
        given = [vote for vote in votes[place] if vote is not None]
        counts = np.array([given.count(label) for label in dict.fromkeys(given)], dtype=np.float64)
        if len(counts) > options:
            raise ValueError(
                f"votes[{place}] hold {len(counts)} different labels; allowed are at most {options} options"
            )
        parts = counts / counts.sum()
        shares.append(max(0.0, float(-(parts * np.log(parts)).sum() / np.log(options))))
    parts = np.minimum(np.array(shares, dtype=np.float64), 1.0)
    return mean_interval(parts, cluster_codes(items), limits=(0.0, 1.0))


def _kept(
    votes: Sequence[Sequence[str | None]],
    finals: Sequence[str | None],
    clusters: Sequence[Hashable] | None,
) -> tuple[list[int], list[Hashable]]:
    items = list(range(len(votes))) if clusters is None else list(clusters)
    if not len(votes) == len(finals) == len(items):
        raise ValueError(
            "votes, finals and clusters must cover the same units; "
            f"found {len(votes)}, {len(finals)} and {len(items)}"
        )
    kept = [
        place
        for place, given in enumerate(votes)
        if finals[place] is not None and any(vote is not None for vote in given)
    ]
    return kept, [items[place] for place in kept]
