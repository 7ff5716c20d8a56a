"""Each rater of a queue beside the others: how kind, how right on gold items, how often."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from rubricweb.engine.agreement import rater_leniency
from rubricweb.engine.agreement.intervals import Figure
from rubricweb.models import QueueItem, Rater, ReviewQueue, Role, Team, User
from rubricweb.selectors.labels.queue_labels import QueueLabels
from rubricweb.selectors.reviews.calibration import gold_accuracy


@dataclass(frozen=True)
class RaterName:
    """A rater as this viewer may know them: by their own name, or only as one of several."""

    name: str
    mine: bool


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
    """Whether this person may see everybody's numbers, by name: whoever may adjudicate."""
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
