"""Each rater of a queue beside the others: how kind, how right on gold items, how often."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from rubricweb.engine.agreement import RaterMatrix, Ratings, rater_leniency
from rubricweb.engine.agreement.intervals import Figure
from rubricweb.models import QueueItem, Rater, ReviewQueue, Role, Team, User
from rubricweb.selectors.labels.queue_labels import QueueLabels
from rubricweb.selectors.reviews.calibration import gold_accuracy

MOST_RATERS = 12
"""Raters in the matrix: those with the most labels."""


@dataclass(frozen=True)
class RaterName:
    """A rater as this viewer may know them: by their own name, or only as one of several."""

    name: str
    mine: bool


@dataclass(frozen=True)
class PairCell:
    """Two raters on the `n` units that both labelled; the diagonal has no figures."""

    other: RaterName
    n: int
    raw: Figure | None
    kappa: Figure | None


@dataclass(frozen=True)
class MatrixRow:
    """One rater against each; `labelled` units in all."""

    rater: RaterName
    labelled: int
    cells: tuple[PairCell, ...]


@dataclass(frozen=True)
class RaterAgreement:
    """One rater's numbers.

    `labelled` counts labels that are no abstention. `credit` is the mean of what their labels give, 0 to 1:
    for criteria that are met or not, the share MET (UNMET where the weight is negative). `leniency` is own
    credit less that of the others on the same units, −1 to 1, above 0 for a kind rater; `others` is the
    credit of those others. `gold` is the share of their labels on gold items that are like the known
    ones, None in a queue without gold items.
    """

    rater: RaterName
    reviews: int
    labelled: int
    credit: Figure
    others: Figure
    leniency: Figure
    gold: Figure | None


def sees_all_raters(viewer: User, team: Team) -> bool:
    """Whether this person may see everybody's numbers, by name: those who may adjudicate."""
    return team.memberships.filter(user=viewer, role__gte=Role.REVIEWER).exists()


def rater_names(
    queue: ReviewQueue, raters: Sequence[Rater], viewer: User, *, all_names: bool
) -> dict[Rater, RaterName]:
    """What to call each rater. Without `all_names` others are numbered, in an order that tells nothing."""

    def shuffle_key(rater: Rater) -> str:
        return hashlib.sha256(f"{queue.pk} {rater.pk}".encode()).hexdigest()

    names = {}
    for number, rater in enumerate(sorted(raters, key=shuffle_key), start=1):
        mine = rater.user_id == viewer.pk
        names[rater] = RaterName(rater.name if mine or all_names else f"Rater {number}", mine)
    return names


def most_labels(ratings: Ratings) -> Ratings:
    """Those of the raters with the most labels, MOST_RATERS at most."""
    labelled = (ratings.codes >= 0).sum(axis=1)
    kept = [place for place in np.argsort(-labelled, kind="stable")[:MOST_RATERS].tolist() if labelled[place]]
    return replace(ratings, raters=tuple(ratings.raters[place] for place in kept), codes=ratings.codes[kept])


def rater_rows(matrix: RaterMatrix, names: dict[Rater, RaterName]) -> tuple[MatrixRow, ...]:
    """The raters of a matrix against each other, by name."""
    called = [_called(names, rater) for rater in matrix.raters]
    order = sorted(range(len(called)), key=lambda place: _viewer_first(called[place]))
    return tuple(
        MatrixRow(
            rater=called[row],
            labelled=matrix.n[row][row],
            cells=tuple(
                PairCell(called[one], matrix.n[row][one], matrix.raw[row][one], matrix.kappa[row][one])
                for one in order
            ),
        )
        for row in order
    )


def _called(names: dict[Rater, RaterName], rater: object) -> RaterName:
    assert isinstance(rater, Rater)
    return names[rater]


def _viewer_first(name: RaterName) -> tuple[bool, int, str]:
    """Then by name, Rater 2 before Rater 10."""
    return (not name.mine, len(name.name) if name.name.startswith("Rater ") else 0, name.name)


def rater_agreements(
    queue: ReviewQueue,
    labels: QueueLabels,
    names: dict[Rater, RaterName],
    *,
    viewer: User,
) -> tuple[RaterAgreement, ...]:
    """Everybody's numbers, the most lenient first; who can be compared with nobody comes last."""
    reviews = Counter(labels.reviews)
    gold = _gold_figures(queue, viewer)
    found = [
        RaterAgreement(
            rater=names[labels.raters[place]],
            reviews=reviews[place],
            labelled=row.labelled,
            credit=row.mean,
            others=row.others,
            leniency=row.leniency,
            gold=None if gold is None else gold.get(labels.raters[place].pk, Figure(None, None, None, 0)),
        )
        for place, row in enumerate(rater_leniency(labels.of_credit()))
    ]
    return tuple(sorted(found, key=_most_lenient_first))


def _most_lenient_first(row: RaterAgreement) -> tuple[bool, float, str]:
    value = row.leniency.value
    return (value is None, -(value or 0.0), row.rater.name)


def _gold_figures(queue: ReviewQueue, viewer: User) -> dict[int, Figure] | None:
    """Rater id → the share of right labels on gold items; None in a queue without gold items."""
    if not QueueItem.objects.filter(queue=queue, gold=True).exists():
        return None
    figures = gold_accuracy(queue, viewer)
    return {pk: Figure(one.share, one.low, one.high, one.total) for pk, one in figures.items()}
