"""The agreement board of a queue: how far its raters agree, by criterion, pair, item, rater and week."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date

import numpy as np

from rubricweb.engine.agreement import (
    Figure,
    HumanCeiling,
    People,
    PeopleWithin,
    Ratings,
    alpha_within,
    median_figure,
    people_within,
    rater_matrix,
    raw_agreement,
    unit_agreement,
)
from rubricweb.engine.agreement.judge.kappa import Weighting
from rubricweb.engine.formats.content_ids import name_of
from rubricweb.errors import NotFound
from rubricweb.models import Criterion, Item, QueueState, ReviewQueue, User
from rubricweb.selectors.blinding import is_hidden, require_queues_visible
from rubricweb.selectors.comparison.board.raters import (
    MatrixRow,
    RaterAgreement,
    most_labels,
    rater_agreements,
    rater_names,
    rater_rows,
    sees_all_raters,
)
from rubricweb.selectors.labels.queue_labels import QueueLabels, files_together, item_id, queue_labels
from rubricweb.selectors.reviews.queues import queue_progress
from rubricweb.selectors.shared.unavailable import Unavailable

RESAMPLES = 1000
LEAST_RESAMPLES = 200
DRAWS_MAX = 4_000_000
"""Items × resamples of one interval: 10,000 items are drawn 400 times."""

TOO_FEW = 10
"""Below so many units a figure is too little to tell anything by."""

MOST_HARD_ITEMS = 20
MOST_WEEKS = 12


@dataclass(frozen=True)
class CriterionAgreement:
    """How far raters agree on one criterion, or on all binary ones together where `criterion` is None.

    `alpha` is Krippendorff's α at the criterion's level of measurement: ordinal where options are steps, else
    nominal. The pairwise κ has quadratic weights for steps. `figures` has every one of `RATER_FIGURES` that a
    board shows, by name. `seconds` is the median time a rater had the criterion open, with n 0 where nothing
    was measured. `raters` gave a label that is no abstention.
    """

    criterion: Criterion | None
    items: int
    raters: int
    abstained: int
    alpha: Figure
    ceiling: HumanCeiling
    figures: Mapping[str, Figure]
    seconds: Figure

    @property
    def kappa(self) -> Figure:
        """Mean of Cohen's κ over pairs of raters, weighted by the units they share."""
        return self.ceiling.pair_kappa

    @property
    def raw(self) -> Figure:
        return self.ceiling.pair_accuracy

    @property
    def name(self) -> str:
        return "All criteria met or not" if self.criterion is None else self.criterion.name


@dataclass(frozen=True)
class HardItem:
    """An item and the share of equal pairs of labels on it, averaged over its `n` units with two labels.

    `key` is None for somebody from whom it is kept: see `is_hidden`.
    """

    item_id: int
    key: str | None
    description: str
    agreement: float
    n: int

    @property
    def name(self) -> str:
        """The key somebody gave it, or its id as commands take it."""
        return name_of(self.key, id=self.item_id)


@dataclass(frozen=True)
class Week:
    """Agreement on the items whose last review was submitted in the week that begins on `monday`."""

    monday: date
    items: int
    alpha: Figure
    raw: Figure


@dataclass(frozen=True)
class AgreementBoard:
    """One queue's figures, with those of `other_files` that are looked at as one with its own, as one person
    may see them.

    `overall` pools the binary criteria in one table, and is None when there are none: options of different
    criteria are no common scale. `within` has its α and κ with chance counted within each criterion, which
    come first; None where there is one. So do `matrix` and `weeks` while their scope is all criteria.
    `criteria` are those of the queue's rubric that people answered, least α first; units on
    items' own rubrics enter the overall figures only. `matrix`, `hardest` and `weeks` are about `scope`: one
    criterion, or None for all; `raters_left_out` labelled something in it. `weeks` is empty while all was
    submitted within one. `raters` are everybody's numbers for those who may adjudicate, nobody's for others;
    `mine` are the viewer's own, None before they have done their part.
    """

    queue: ReviewQueue
    other_files: tuple[ReviewQueue, ...]
    reviews: int
    raters_total: int
    overall: CriterionAgreement | None
    within: PeopleWithin | None
    criteria: tuple[CriterionAgreement, ...]
    scope: Criterion | None
    matrix: tuple[MatrixRow, ...]
    raters_left_out: int
    hardest: tuple[HardItem, ...]
    agreed_items: int
    weeks: tuple[Week, ...]
    names_hidden: bool
    raters: tuple[RaterAgreement, ...]
    mine: RaterAgreement | None
    mine_waits: bool
    resamples: int
    too_few_below: int = TOO_FEW

    @property
    def rows(self) -> tuple[CriterionAgreement, ...]:
        """All criteria together first, then one by one."""
        return self.criteria if self.overall is None else (self.overall, *self.criteria)

    @property
    def unavailable(self) -> Unavailable | None:
        """Why there is no agreement to show, None when there is."""
        pk = self.queue.pk
        if not self.reviews and not self.queue.imported:
            step = "Agreement is counted from the first item that two people have submitted."
            return Unavailable("no_reviews", "Nobody has submitted a review yet.", step, "queue", queue_id=pk)
        if any(row.alpha.n for row in self.rows):
            return None
        why = "No criterion of an item has labels of two people: nothing to hold against each other."
        if self.queue.imported:
            return Unavailable(
                "no_second_labels", why, "Open a queue with two people per item.", page="queues"
            )
        one_each = self.queue.raters_per_item == 1
        step = "Ask for two people per item." if one_each else "Wait until a second person has submitted."
        return Unavailable("no_second_labels", why, step, "queue", queue_id=pk)

    @property
    def measured(self) -> bool:
        """Whether the time of any criterion was measured."""
        return any(row.seconds.n for row in self.criteria)

    @property
    def has_gold(self) -> bool:
        return any(row.gold is not None for row in (*self.raters, *((self.mine,) if self.mine else ())))

    @property
    def scale_low(self) -> float:
        """Where drawings must begin so that nothing is cut off: 0, or the tenth below."""
        figures = [figure for row in self.rows for figure in row.figures.values()]
        figures += [week.alpha for week in self.weeks]
        lows = [low for figure in figures for low in (figure.value, figure.low) if low is not None]
        return min(0.0, math.floor(min(lows, default=0.0) * 10) / 10)


def agreement_board(
    queue: ReviewQueue, viewer: User, *, criterion_id: int | None = None, resamples: int | None = None
) -> AgreementBoard:
    """The board of a queue, with 95 % intervals from `resamples` resamples of its items.

    Labels of a file are looked at with those of `files_together`. Raises Withheld while the viewer is still
    to review any of their items blind, and NotFound for a criterion nobody labelled in them.
    """
    together = files_together(queue)
    require_queues_visible(together, viewer)
    labels = queue_labels(*together)
    scope = None
    if criterion_id is not None:
        scope = next((one for one in labels.criteria if one.pk == criterion_id), None)
        if scope is None:
            raise NotFound("criterion in this queue")
    all_names = sees_all_raters(viewer, queue.team)
    names = rater_names(queue, labels.raters, viewer, all_names=all_names)
    draws = resamples or _resamples(labels)
    ratings, weighting = _scope_ratings(labels, scope)
    rows = rater_agreements(queue, labels, names, viewer=viewer)
    mine = next((row for row in rows if row.rater.mine), None)
    waits = mine is not None and not _has_done_their_part(queue, viewer)
    hardest, agreed = _hardest(labels, scope, queue, viewer)
    apart = labels.criteria_apart(queue.rubric_version_id)
    strata = apart if scope is None else None
    matrix = rater_rows(
        rater_matrix(most_labels(ratings), weighting=weighting, strata=strata, resamples=draws), names
    )
    return AgreementBoard(
        queue=queue,
        other_files=tuple(one for one in together if one != queue),
        reviews=len(labels.reviews),
        raters_total=len(labels.raters),
        overall=_overall(labels, draws),
        within=None if apart is None else people_within(labels.of_binary, apart, resamples=draws),
        criteria=_by_criterion(queue, labels, draws),
        scope=scope,
        matrix=matrix,
        raters_left_out=int((ratings.codes >= 0).any(axis=1).sum()) - len(matrix),
        hardest=hardest,
        agreed_items=agreed,
        weeks=_weeks(labels, scope, strata, draws),
        names_hidden=not all_names,
        raters=rows if all_names else (),
        mine=None if waits else mine,
        mine_waits=waits,
        resamples=draws,
    )


def _has_done_their_part(queue: ReviewQueue, viewer: User) -> bool:
    return queue.state == QueueState.CLOSED or not queue_progress(queue, viewer).mine_left


def _resamples(labels: QueueLabels) -> int:
    """So many that a big queue is still quick: see DRAWS_MAX."""
    items = max(1, len(np.unique(labels.item)))
    pairs = max(1, len(labels.raters) * (len(labels.raters) - 1) // 6)
    return max(LEAST_RESAMPLES, min(RESAMPLES, DRAWS_MAX // (items * pairs)))


# ── Criteria ─────────────────────────────────────────────────────────────────────────────────────


def _overall(labels: QueueLabels, resamples: int) -> CriterionAgreement | None:
    binary = [one for one in labels.criteria if one.kind == "binary"]
    if not binary:
        return None
    return replace(_criterion_agreement(labels, labels.of_binary, binary, resamples), criterion=None)


def _by_criterion(queue: ReviewQueue, labels: QueueLabels, resamples: int) -> tuple[CriterionAgreement, ...]:
    shared = [one for one in labels.criteria if one.version_id == queue.rubric_version_id]
    rows = [_criterion_agreement(labels, labels.of_criterion(one), [one], resamples) for one in shared]
    return tuple(sorted(rows, key=_least_alpha_first))


def _least_alpha_first(row: CriterionAgreement) -> tuple[bool, float, int]:
    """Undefined ones last, in the order of the rubric."""
    position = 0 if row.criterion is None else row.criterion.position
    return (row.alpha.value is None, row.alpha.value or 0.0, position)


def _criterion_agreement(
    labels: QueueLabels, ratings: Ratings, criteria: list[Criterion], resamples: int
) -> CriterionAgreement:
    rows = labels.rows_of(criteria)
    seconds = labels.seconds[rows]
    given = ratings.codes >= 0
    people = People(ratings, is_ordinal=criteria[0].scale_type == "ordinal", resamples=resamples)
    return CriterionAgreement(
        criterion=criteria[0],
        items=len({item_id(ratings.units[place]) for place in np.flatnonzero(given.any(axis=0))}),
        raters=int(given.any(axis=1).sum()),
        abstained=int((labels.said[rows] < 0).sum()),
        alpha=people.alpha,
        ceiling=people.ceiling,
        figures=people.figures("board"),
        seconds=median_figure(seconds[~np.isnan(seconds)].tolist()),
    )


def _weighting(criterion: Criterion | None) -> Weighting:
    return "quadratic" if criterion is not None and criterion.scale_type == "ordinal" else "identity"


# ── Pairs, items, weeks ──────────────────────────────────────────────────────────────────────────


def _scope_ratings(labels: QueueLabels, scope: Criterion | None) -> tuple[Ratings, Weighting]:
    """What κ can be counted from: one criterion, or all binary ones."""
    ratings = labels.of_binary if scope is None else labels.of_criterion(scope)
    return ratings, _weighting(scope)


def _hardest(
    labels: QueueLabels, scope: Criterion | None, queue: ReviewQueue, viewer: User
) -> tuple[tuple[HardItem, ...], int]:
    """Items with the least agreement, and how many items with two labels have no disagreement at all."""
    ratings = labels.of_labels if scope is None else labels.of_criterion(scope)
    shares = unit_agreement(ratings)
    paired = ~np.isnan(shares)
    items = np.array([item_id(unit) for unit in ratings.units], dtype=np.int64)[paired]
    found, place = np.unique(items, return_inverse=True)
    n = np.bincount(place, minlength=len(found))
    mean = np.bincount(place, weights=shares[paired], minlength=len(found)) / np.maximum(n, 1)
    # Of items that are equally hard, those with more units say more.
    order = np.lexsort((found, -n, mean))
    hard = [index for index in order.tolist() if mean[index] < 1][:MOST_HARD_ITEMS]
    some = Item.objects.filter(pk__in=found[hard].tolist()).annotate(unnamed=is_hidden(viewer, queue.team))
    rows = some.values_list("pk", "key", "description", "unnamed")
    known = {pk: (None if unnamed else key, description) for pk, key, description, unnamed in rows}
    return tuple(
        HardItem(int(found[index]), *known[int(found[index])], float(mean[index]), int(n[index]))
        for index in hard
    ), int((mean == 1).sum())


def _weeks(
    labels: QueueLabels, scope: Criterion | None, strata: Sequence[Hashable] | None, resamples: int
) -> tuple[Week, ...]:
    weeks = labels.weeks()
    if len(weeks) < 2:
        return ()
    ratings, _ = _scope_ratings(labels, scope)
    plain = labels.of_labels if scope is None else ratings
    found = []
    for monday, within in list(weeks.items())[-MOST_WEEKS:]:
        some, of_week = plain.of_units(within), ratings.of_units(within)
        if strata is None:
            is_ordinal = scope is not None and scope.scale_type == "ordinal"
            alpha = People(of_week, is_ordinal=is_ordinal, resamples=resamples).alpha
        else:
            own = [one for one, unit in zip(strata, ratings.units, strict=True) if within(unit)]
            alpha = alpha_within(of_week, own, resamples=resamples)
        found.append(
            Week(
                monday=monday,
                items=len(set(map(item_id, some.units))),
                alpha=alpha,
                raw=raw_agreement(some),
            )
        )
    return tuple(found)
