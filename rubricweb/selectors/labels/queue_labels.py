"""Everything people said first in queues, as columns of numbers that agreement can be counted from."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cached_property

import numpy as np
from django.utils import timezone
from numpy.typing import NDArray

from rubricweb.engine.agreement import Ratings
from rubricweb.engine.agreement.ratings import GAP, VERDICT_VALUES, cluster_codes
from rubricweb.engine.scoring.effect import credit
from rubricweb.models import Criterion, Item, Judgement, Rater, RaterKind, Review, ReviewQueue, ReviewState
from rubricweb.selectors.labels.by_kind import option_levels
from rubricweb.selectors.labels.ground_truth import reviewed_items
from rubricweb.selectors.shared.cases import repeated_cases

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class QueueLabels:
    """The submitted initial labels of queues, one row each: (n,) arrays of the same length.

    `item` holds item ids; `criterion` and `rater` are indexes into `criteria` and `raters`; `said` is the
    place of the label among the criterion's options, `GAP` for an abstention; `seconds` is NaN where nothing
    was measured. `week` is the Monday of the week in which the item's last review was submitted, as an
    ordinal day. `cases` are the `repeated_cases` among the items: those are resampled together.
    """

    criteria: tuple[Criterion, ...]
    raters: tuple[Rater, ...]
    reviews: tuple[int, ...]
    item: Ints
    criterion: Ints
    rater: Ints
    said: Ints
    seconds: Floats
    week: Ints
    cases: Mapping[int, int]

    def rows_of(self, criteria: Collection[Criterion]) -> NDArray[np.bool_]:
        """(n,): which rows are about one of these criteria."""
        places = [place for place, one in enumerate(self.criteria) if one in criteria]
        return np.isin(self.criterion, places)

    def of_criterion(self, criterion: Criterion) -> Ratings:
        """The ratings of one criterion over its full list of options."""
        levels, values = scale_of(criterion)
        return self._ratings(self.rows_of([criterion]), self.said, levels, values)

    @cached_property
    def of_binary(self) -> Ratings:
        """The ratings of all binary criteria together, by effect: MET says that the answer helped the score.

        Options of others are no common scale.
        """
        rows = self.rows_of([one for one in self.criteria if one.kind == "binary"])
        penalties = self.rows_of([one for one in self.criteria if one.weight < 0]) & (self.said != GAP)
        said = np.where(penalties, 1 - self.said, self.said)
        return self._ratings(rows, said, tuple(VERDICT_VALUES), tuple(VERDICT_VALUES.values()))

    def criteria_apart(self, version_id: int | None) -> list[int] | None:
        """Within which criterion the chance of each unit of `of_binary` is counted.

        Criteria of another version than the queue's are single items' own, with too few units for a chance of
        their own: they count as one. None where that leaves one criterion.
        """
        own = [place if one.version_id == version_id else -1 for place, one in enumerate(self.criteria)]
        apart = [own[criterion_place(unit)] for unit in self.of_binary.units]
        return apart if len(set(apart)) > 1 else None

    @cached_property
    def of_labels(self) -> Ratings:
        """All criteria together by the bare labels: good for whether labels are equal, for nothing else."""
        longest = max((len(scale_of(one)[0]) for one in self.criteria), default=0)
        everything = np.ones(len(self.item), dtype=np.bool_)
        return self._ratings(everything, self.said, tuple(map(str, range(longest))), None)

    def of_credit(self) -> Ratings:
        """All criteria together by the credit each label gives: its value, or 1 − value where the weight is
        negative, so that more is always kinder.
        """
        credits = [[credit(value, one.weight) for value in scale_of(one)[1]] for one in self.criteria]
        values = sorted({value for row in credits for value in row})
        width = max((len(row) for row in credits), default=0) + 1
        # One more place at the end of each row, so that a gap's code of −1 stays a gap.
        recode = np.full((len(credits), width), GAP, dtype=np.int64)
        for place, row in enumerate(credits):
            recode[place, : len(row)] = [values.index(value) for value in row]
        everything = np.ones(len(self.item), dtype=np.bool_)
        codes = recode[self.criterion, self.said] if credits else self.said
        return self._ratings(everything, codes, tuple(map(str, values)), tuple(values))

    def _ratings(
        self,
        rows: NDArray[np.bool_],
        said: Ints,
        levels: tuple[str, ...],
        values: tuple[float, ...] | None,
    ) -> Ratings:
        """Ratings of some rows; units are (item id, index of the criterion), in that order."""
        names = self.item[rows] * len(self.criteria) + self.criterion[rows]
        found, unit = np.unique(names, return_inverse=True)
        codes = np.full((len(self.raters), len(found)), GAP, dtype=np.int64)
        codes[self.rater[rows], unit] = said[rows]
        items, criteria = np.divmod(found, max(1, len(self.criteria)))
        units: tuple[Hashable, ...] = tuple(zip(items.tolist(), criteria.tolist(), strict=True))
        together = [self.cases.get(item, item) for item in items.tolist()]
        return Ratings(
            raters=self.raters,
            units=units,
            labels=levels,
            codes=codes,
            clusters=cluster_codes(together),
            levels=levels,
            values=values,
        )

    def weeks(self) -> dict[date, Callable[[Hashable], bool]]:
        """Monday → whether a unit belongs to that week, oldest first."""
        items, first = np.unique(self.item, return_index=True)
        of_item = dict(zip(items.tolist(), self.week[first].tolist(), strict=True))

        def within(week: int) -> Callable[[Hashable], bool]:
            return lambda unit: of_item[item_id(unit)] == week

        return {date.fromordinal(week): within(week) for week in sorted(set(of_item.values()))}


def item_id(unit: Hashable) -> int:
    """The item of a unit of these ratings."""
    assert isinstance(unit, tuple)
    return int(unit[0])


def criterion_place(unit: Hashable) -> int:
    """Which of the criteria a unit of these ratings is about."""
    assert isinstance(unit, tuple)
    return int(unit[1])


def scale_of(criterion: Criterion) -> tuple[tuple[str, ...], tuple[float, ...]]:
    """The labels of a criterion that do not abstain, in order, and what each counts."""
    if criterion.kind != "choice":
        return tuple(VERDICT_VALUES), tuple(VERDICT_VALUES.values())
    values = [float(option["value"]) for option in criterion.options if not option.get("na")]
    return tuple(option_levels(criterion)), tuple(values)


def files_together(queue: ReviewQueue) -> list[ReviewQueue]:
    """The queues whose labels are looked at as one: those of files that share people with this one's, or with
    one of theirs, by the same rubric version, oldest first. Of a file that grew each holds only what was new.

    A queue whose labels were given here is alone. Two queries.
    """
    if not queue.imported:
        return [queue]
    files = ReviewQueue.objects.filter(
        imported=True, dataset=queue.dataset_id, rubric_version=queue.rubric_version_id
    )
    links = ReviewQueue.raters.through.objects.filter(
        reviewqueue__in=files, rater__kind=RaterKind.HUMAN
    ).values_list("reviewqueue_id", "rater_id")
    raters: dict[int, set[int]] = {queue.pk: set()}
    for queue_id, rater_id in links:
        raters.setdefault(queue_id, set()).add(rater_id)
    found, people = {queue.pk}, raters[queue.pk]
    while more := {pk for pk, theirs in raters.items() if pk not in found and theirs & people}:
        found |= more
        people = people.union(*(raters[pk] for pk in more))
    return list(files.filter(pk__in=found).select_related("dataset", "team").order_by("pk"))


def queue_labels(*queues: ReviewQueue) -> QueueLabels:
    """What people said first in queues over one dataset, before they saw the others. Five queries.

    A verdict that was changed after the reveal counts here as it was (its Judgement); the final one is for
    ground truth. Of one rater's labels on a unit in several queues the newest counts. Drafts, skipped reviews
    and what a file settled are left out.
    """
    reviews = list(
        Review.objects.filter(queue__in=queues, state=ReviewState.SUBMITTED, rater__kind=RaterKind.HUMAN)
        .order_by("pk")
        .values_list("pk", "item_id", "rater_id", "submitted_at")
    )
    rows = list(
        Judgement.objects.in_reviews(queue__in=queues, rater__kind=RaterKind.HUMAN)
        .filter(verdict__isnull=False)
        .order_by("pk")
        .values_list("review_id", "criterion_id", "verdict", "seconds")
    )
    # A review that was submitted between the two queries is left out of both.
    known = {pk: place for place, (pk, _, _, _) in enumerate(reviews)}
    rows = [row for row in rows if row[0] in known]
    if len(queues) > 1:
        rows = list({(*reviews[known[row[0]]][1:3], row[1]): row for row in rows}.values())
    criteria = Criterion.objects.filter(pk__in={row[1] for row in rows}).order_by("version_id", "position")
    criteria_found = tuple(criteria)
    raters = tuple(Rater.objects.filter(pk__in={row[2] for row in reviews}).order_by("pk"))
    last: dict[int, int] = {}
    zone = timezone.get_current_timezone()
    for _, item, _, submitted_at in reviews:
        assert submitted_at is not None  # the table insists
        day = submitted_at.astimezone(zone).date()
        monday = (day - timedelta(days=day.weekday())).toordinal()
        last[item] = max(last.get(item, monday), monday)
    place_of_rater = {rater.pk: place for place, rater in enumerate(raters)}
    review = _whole(known[row[0]] for row in rows)
    items = _whole(row[1] for row in reviews)
    of_criterion = {one.pk: place for place, one in enumerate(criteria_found)}
    index = _codes(criteria_found)
    return QueueLabels(
        criteria=criteria_found,
        raters=raters,
        reviews=tuple(place_of_rater[rater] for _, rater in {row[1:3]: None for row in reviews}),
        item=items[review],
        criterion=_whole(of_criterion[row[1]] for row in rows),
        rater=_whole(place_of_rater[row[2]] for row in reviews)[review],
        said=_whole(index.get((row[1], str(row[2])), GAP) for row in rows),
        seconds=np.array([np.nan if row[3] is None else row[3] for row in rows], dtype=np.float64),
        week=_whole(last[row[1]] for row in reviews)[review],
        cases=repeated_cases(Item.objects.filter(pk__in=reviewed_items(queues))),
    )


def _whole(numbers: Iterable[int]) -> Ints:
    return np.fromiter(numbers, dtype=np.int64)


def _codes(criteria: tuple[Criterion, ...]) -> dict[tuple[int, str], int]:
    """(criterion id, label) → its place among the options; abstentions have none."""
    return {(one.pk, label): place for one in criteria for place, label in enumerate(scale_of(one)[0])}
