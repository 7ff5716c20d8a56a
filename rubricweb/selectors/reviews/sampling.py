"""What labelled items stand for: all items, by the random draws of their queues, or only themselves."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from rubricweb.engine.number_format import counted
from rubricweb.models import Draw, Order, QueueCriterion, Review, ReviewQueue, ReviewState
from rubricweb.selectors.labels.meanings import counting_criteria
from rubricweb.selectors.reviews.queue_sources import ALL, SAMPLE

UNFINISHED_MOST = 0.1
"""The share of unfinished items up to which the beginning of a draw counts as done; they are non-response."""
REASONS_SHOWN = 3
_SAME_CHANCE = 1e-9


@dataclass(frozen=True)
class Sampled:
    """Labels that may speak for `items`: with which probability each came to be `asked` about, above 0 to 1.

    Who was asked need not have answered. `is_census`: people were asked about every item; `is_whole`: they
    were about everything that was drawn, not only about the beginning of it.
    """

    items: tuple[int, ...]
    probability: Mapping[int, float]
    asked: frozenset[int]
    is_census: bool
    is_whole: bool = True


@dataclass(frozen=True)
class NotSampled:
    """Why labels speak for their own items alone; `begun` is a sample that only has to go on."""

    why: str
    begun: ReviewQueue | None = None


DESCRIBED = {
    "every_item": "people were asked about every item",
    "random_draw": "a random draw, whole or the completed beginning of it, stands for all items",
    "labelled_items": "the labelled items stand for nothing but themselves",
}


@dataclass(frozen=True)
class DescribedItems:
    """Which items figures of labels describe: `code` is one of DESCRIBED, `sentence` says it to people."""

    code: str
    sentence: str


def described(
    sample: Sampled | NotSampled, labelled: Collection[int], population: str, *, weighted: bool = False
) -> DescribedItems | None:
    """What figures of these `labelled` items describe; None without any.

    In figures like κ each label counts once, so that they stand for the `population` (in words) only where
    every item had the same chance and nothing was labelled besides the draw. `weighted` ones count 1/π and
    leave out what was not drawn.
    """
    if not labelled:
        return None
    n = len(labelled)
    alone = f"These figures describe {counted(n, 'labelled item')} alone"
    if isinstance(sample, NotSampled):
        which = "is" if n == 1 else "are"
        return DescribedItems("labelled_items", f"{alone}, which {which} no random sample: {sample.why}.")
    besides = len(set(labelled) - sample.asked)
    answered = n - besides
    if sample.is_census:
        every = f"people were asked about every one and labelled {answered:,}"
        return DescribedItems("every_item", f"These figures describe {population}: {every}.")
    if besides and not weighted:
        are = "is" if besides == 1 else "are"
        return DescribedItems(
            "labelled_items", f"{alone}: {besides:,} of them {are} no part of the random draw."
        )
    chances = [sample.probability[pk] for pk in sample.items]
    if not weighted and max(chances) - min(chances) > _SAME_CHANCE:
        why = "they were drawn with unequal chances, and here each label counts once"
        return DescribedItems("labelled_items", f"{alone}: {why}.")
    part = "the whole random draw" if sample.is_whole else "the completed beginning of a random draw"
    rest = f"they rest on {answered:,} labelled of {len(sample.asked):,} items, {part}"
    if weighted:
        rest += ", each weighed by its chance"
    return DescribedItems("random_draw", f"These figures describe {population}; {rest}.")


class Samples:
    """Which of these items of their dataset the labels of some queues may speak for, criterion by criterion.

    Labels are read by `version`, None where every item brings its own rubric. Five queries, however often it
    is asked, one less where every queue asks about the whole version, and one more for each step of carried
    options.
    """

    def __init__(self, queues: Sequence[ReviewQueue], items: Sequence[int], *, version: int | None) -> None:
        self._queues = queues
        self._items = items
        self._version = version
        self._drawn: dict[tuple[int, ...], Sampled | NotSampled] = {}

    def of(self, criteria: Iterable[int]) -> Sampled | NotSampled:
        """What labels to all of these criteria of the version, by id, say of the items. Criteria of rubrics
        that items brought may be among them: every queue asks about those.

        Of a draw handed out as it was drawn its beginning is a random sample: π = done / items of the
        stratum. A draw in any other order is one once all of it is done, and items chosen otherwise are none.
        An item that could come by several draws has π = 1 − Π(1 − π of each). Where every item is done,
        however it was chosen, π = 1. Done is what somebody submitted or skipped.

        A queue that asks about other criteria, or asked in other words, draws nothing for these. Where each
        of the criteria is done on every item, in whichever queue, π = 1 too; where it is on everything
        that is done of such a queue's draw, that draw counts.

        Worked: strata of 6 and 2 items with 3 and 1 done have π = ½ each; a second draw of 2 of all 8 makes
        it 1 − ½ · ¾ = 0.625.
        """
        wanted = frozenset(criteria).intersection(self._counting) if self._limits else frozenset()
        asking = [one for one in self._queues if wanted <= self._limits.get(one.pk, wanted)]
        in_full = self._done_in_full(asking, wanted)
        if self._items and in_full.issuperset(self._items):
            chances = dict.fromkeys(self._items, 1.0)
            return Sampled(tuple(self._items), chances, frozenset(self._items), is_census=True)
        # Criteria that the same queues ask about share one look at their draws.
        key = tuple(one.pk for one in asking)
        others = [one for one in self._queues if one not in asking]
        if key not in self._drawn:
            self._drawn[key] = _drawn(asking, self._items, self._done, self._draws, others)
        found = self._drawn[key]
        return found if isinstance(found, Sampled) else self._completed(others, in_full) or found

    @cached_property
    def _limits(self) -> dict[int, frozenset[int]]:
        """Queue id → the criteria of the version for which its labels count; nothing for a queue that asks
        about all of them, or about items by their own rubrics alone.
        """
        if self._version is None:
            return {}
        chosen: dict[int, set[int]] = defaultdict(set)
        rows = QueueCriterion.objects.filter(queue__in=self._queues)
        for queue_id, criterion_id in rows.values_list("queue_id", "criterion_id"):
            chosen[queue_id].add(criterion_id)
        whole = {None, self._version}
        limited = [one for one in self._queues if one.pk in chosen or one.rubric_version_id not in whole]
        return {
            queue.pk: frozenset(
                pk
                for pk, by_version in self._counting.items()
                if queue.rubric_version_id in by_version
                and (queue.pk not in chosen or by_version[queue.rubric_version_id] in chosen[queue.pk])
            )
            for queue in limited
        }

    @cached_property
    def _counting(self) -> dict[int, dict[int, int]]:
        return {} if self._version is None else counting_criteria(self._version)

    def _completed(self, others: Iterable[ReviewQueue], in_full: Collection[int]) -> Sampled | None:
        """The largest draw of these queues on which others asked what is missing: all that is done of it is
        done `in_full`. Only a part of that is no sample, for the others may be about picked items.
        """
        found = []
        for queue in others:
            own, full = (
                _drawn([queue], self._items, {queue.pk: done}, self._draws, ())
                for done in (self._done[queue.pk], in_full)
            )
            if isinstance(own, Sampled) and isinstance(full, Sampled) and own.asked == full.asked:
                found.append(full)
        return max(found, key=lambda one: len(one.asked), default=None)

    @cached_property
    def _done(self) -> dict[int, set[int]]:
        return _done(self._queues)

    @cached_property
    def _draws(self) -> Mapping[int, Sequence[Draw]]:
        return _draws(self._queues)

    def _done_in_full(self, asking: Sequence[ReviewQueue], wanted: frozenset[int]) -> set[int]:
        """The items of which every wanted criterion is done."""
        everything = set().union(*(self._done[one.pk] for one in asking))
        parts: dict[int, set[int]] = defaultdict(set)
        for queue_id, criteria in self._limits.items():
            if part := criteria & wanted:
                for pk in self._done[queue_id]:
                    parts[pk] |= part
        return everything.union(pk for pk, criteria in parts.items() if wanted <= criteria)


def _drawn(
    queues: Sequence[ReviewQueue],
    items: Sequence[int],
    done: Mapping[int, Collection[int]],
    draws: Mapping[int, Sequence[Draw]],
    others: Sequence[ReviewQueue],
) -> Sampled | NotSampled:
    """What the draws of these queues say; `others` ask about too few criteria, or in other words."""
    visible = set(items)
    missed: dict[int, float] = {}
    asked: set[int] = set()
    is_whole = True
    for queue in queues:
        for draw in draws[queue.pk]:
            drawn_of, reached_of = 0, 0
            for stratum in draw.strata.all():
                among = [pk for pk in stratum.items if pk in visible]
                drawn = [pk for pk in stratum.items[: stratum.drawn] if pk in visible]
                reached = drawn[: _reached(queue, drawn, done[queue.pk])]
                for pk in among:
                    missed[pk] = missed.get(pk, 1.0) * (1 - len(reached) / len(among))
                asked.update(reached)
                drawn_of, reached_of = drawn_of + len(drawn), reached_of + len(reached)
            is_whole = is_whole and reached_of in (0, drawn_of)
    if not asked:
        return NotSampled(_reasons(queues, done, draws, others), _begun(queues, draws))
    if 1.0 in missed.values():
        begun = _begun(queues, draws)
        return NotSampled(f"not every stratum of the random sample “{begun}” has labels yet", begun)
    population = tuple(pk for pk in items if pk in missed)
    chances = {pk: 1 - missed[pk] for pk in population}
    return Sampled(population, chances, frozenset(asked), is_census=False, is_whole=is_whole)


def _done(queues: Sequence[ReviewQueue]) -> dict[int, set[int]]:
    """Queue id → items somebody submitted, or skipped while nobody is at them."""
    states: dict[int, dict[int, set[str]]] = defaultdict(lambda: defaultdict(set))
    rows = Review.objects.filter(queue__in=queues).order_by()
    for queue_id, item_id, state in rows.values_list("queue_id", "item_id", "state"):
        states[queue_id][item_id].add(state)
    return {
        queue.pk: {
            item_id
            for item_id, seen in states[queue.pk].items()
            if ReviewState.SUBMITTED in seen or ReviewState.DRAFT not in seen
        }
        for queue in queues
    }


def _draws(queues: Sequence[ReviewQueue]) -> dict[int, list[Draw]]:
    found = defaultdict(list)
    for draw in Draw.objects.filter(queue__in=queues).order_by("pk").prefetch_related("strata"):
        found[draw.queue_id].append(draw)
    return found


def _reached(queue: ReviewQueue, drawn: Sequence[int], done: Collection[int]) -> int:
    """How many of the drawn, in the order of the draw, make up a random sample."""
    if queue.order != Order.DRAWN:
        return len(drawn) if all(pk in done for pk in drawn) else 0
    reached = unfinished = 0
    for place, pk in enumerate(drawn, start=1):
        if pk not in done:
            unfinished += 1
        elif unfinished <= UNFINISHED_MOST * place:
            reached = place
    return reached


def _begun(queues: Sequence[ReviewQueue], draws: Mapping[int, Sequence[Draw]]) -> ReviewQueue | None:
    return next((queue for queue in queues if draws[queue.pk] and not queue.imported), None)


# ── In words ─────────────────────────────────────────────────────────────────────────────────────


def _reasons(
    queues: Sequence[ReviewQueue],
    done: Mapping[int, Collection[int]],
    draws: Mapping[int, Sequence[Draw]],
    others: Sequence[ReviewQueue],
) -> str:
    """Why none of the queues is a random sample. Nothing in it tells how items were picked."""
    reasons = [_reason(queue, len(done[queue.pk]), bool(draws[queue.pk])) for queue in queues]
    reasons += [f"“{queue}” does not ask about all of these criteria in the same words" for queue in others]
    more = len(reasons) - REASONS_SHOWN
    return "; ".join(reasons[:REASONS_SHOWN]) + (f"; and {more} more queues" if more > 0 else "")


def _reason(queue: ReviewQueue, done: int, is_drawn: bool) -> str:
    if queue.imported:
        return f"the labels of “{queue}” came in a file"
    if is_drawn and queue.order == Order.DRAWN:
        return f"the random sample “{queue}” has no labels yet"
    if is_drawn:
        return (
            f"the random sample “{queue}” is not handed out as it was drawn but {queue.get_order_display()}, "
            f"and not all of it is done"
        )
    kind = queue.source.get("kind", ALL)
    if kind == SAMPLE:
        return f"how the sample “{queue}” was drawn is not recorded"
    if kind == ALL:
        return f"“{queue}” is handed out {queue.get_order_display()}, and {done:,} items are done"
    return f"the items of “{queue}” were not drawn at random"
