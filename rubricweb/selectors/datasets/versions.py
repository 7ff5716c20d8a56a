"""Versions of datasets, and what stands behind items that are to be retired, restored or corrected."""

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any

from django.db.models import Count, Manager, Sum

from rubricweb.engine.formats.dataset_values import MAX_ID
from rubricweb.engine.number_format import counted
from rubricweb.errors import NotFound
from rubricweb.models import (
    NOT_RETIRED,
    UNENDED,
    Adjudication,
    Case,
    Comment,
    Dataset,
    DatasetChange,
    Item,
    Judgement,
    QueueItem,
    QueueState,
    Review,
    ReviewState,
    RunItem,
    User,
)
from rubricweb.selectors.blinding import hidden_datasets, hidden_of
from rubricweb.selectors.datasets.items import CURRENT, Version
from rubricweb.selectors.shared.left_out import LeftOutItems, left_out

TEST = "test"
AT_ONCE = 5000
ANSWER = ("case_id", "wording", "system_version_id", "attempt")
"""What no two current items have the same of; nor of their key."""


@dataclass(frozen=True)
class Behind:
    """What people and judges did with some items.

    `open_reviews` are those that people are still asked for in `queues` that are not closed, `begun_reviews`
    drafts among them. `runs` judged them or are about to, `unended_runs` of these have not ended. `held_out`
    of the items have a copy in a test half. `adjudications` are without those of items that are hidden from
    the viewer: what was decided at all is what somebody differed on.
    """

    labels: int
    adjudications: int
    open_reviews: int
    begun_reviews: int
    queues: int
    runs: int
    unended_runs: int
    held_out: int


def changes(dataset: Dataset, *, viewer: User, most: int | None = None) -> list[DatasetChange]:
    """How each version came to be, the newest first.

    Without notes while some answer of the dataset is hidden: a file's name tells whose answers it brought.
    """
    found = list(dataset.changes.select_related("created_by").order_by("-version")[:most])
    if dataset.pk in hidden_datasets(viewer, dataset.team):
        for change in found:
            change.note = ""
    return found


def retired_left_out(dataset: Dataset, version: Version) -> tuple[LeftOutItems, ...]:
    """What a list of the items the dataset has now leaves out; nothing for one of retired or former items."""
    return left_out(retired=retired_count(dataset) if version in (CURRENT, dataset.version) else 0)


def retired_count(dataset: Dataset) -> int:
    """How many items are retired."""
    return dataset.items.exclude(retired_in=NOT_RETIRED).count() if dataset.version > 1 else 0


def behind(dataset: Dataset, item_ids: Sequence[int], viewer: User | None) -> Behind:
    """What stands behind items of the dataset: counts, which tell no verdict. They may tell who answered,
    since runs and queues can be over one version's answers. None is nobody who reviews.
    """
    hidden = set() if viewer is None else hidden_of(viewer, dataset.team, dataset.pk)
    sums: Counter[str] = Counter()
    queues: set[int] = set()
    runs: dict[int, str] = {}
    for ids in _parts(item_ids):
        labels = Judgement.objects.in_reviews(item__in=ids)
        asked = QueueItem.objects.filter(item__in=ids).exclude(queue__state=QueueState.CLOSED).order_by()
        drafts = Review.objects.filter(item__in=ids, state=ReviewState.DRAFT, holds_place=True)
        drafts = drafts.exclude(queue__state=QueueState.CLOSED)
        begun = drafts.count()
        room = asked.aggregate(room=Sum("room"))["room"] or 0
        copies = Item.objects.filter(dataset__split_of=dataset, dataset__sealed_as=TEST)
        keys = Item.objects.filter(pk__in=ids).values("key")
        sums.update(
            labels=labels.count(),
            adjudications=Adjudication.objects.filter(item__in=set(ids) - hidden).count(),
            open_reviews=room + begun,
            begun_reviews=begun,
            held_out=copies.filter(key__in=keys).aggregate(n=Count("key", distinct=True))["n"],
        )
        queues |= set(asked.filter(withdrawn=False).values_list("queue_id", flat=True).distinct())
        rows = RunItem.every.filter(item__in=ids).order_by().values_list("run_id", "run__state")
        runs |= dict(rows.distinct())
    counts = {field.name: sums[field.name] for field in fields(Behind)}
    unended = sum(state in UNENDED for state in runs.values())
    return Behind(**counts | {"queues": len(queues), "runs": len(runs), "unended_runs": unended})


def said_of(item_ids: Sequence[int]) -> list[str]:
    """What people and judges did with some items, such as "2 reviews": drafts, comments and results of
    deleted runs too. None where the items can go without a trace. Four queries for each few thousand items.
    """
    made: tuple[tuple[Manager[Any], str, str], ...] = (
        (Review.objects, "review", "reviews"),
        (RunItem.every, "result of a run", "results of runs"),
        (Adjudication.objects, "adjudication", "adjudications"),
        (Comment.objects, "comment", "comments"),
    )
    counts = [
        (sum(rows.filter(item__in=ids).count() for ids in _parts(item_ids)), one, several)
        for rows, one, several in made
    ]
    return [counted(*count) for count in counts if count[0]]


def items_of_cases(dataset: Dataset, case_ids: Sequence[int], *, retired: bool = False) -> list[int]:
    """The ids of the current answers to these cases of the dataset, or of the retired ones, in order.

    Of several retired ones with the same key, or with the same answer's place, the newest.
    """
    found: dict[int, int] = {}
    places: set[tuple[object, ...]] = set()
    for ids in _parts(list(dict.fromkeys(case_ids))):
        if Case.objects.filter(dataset=dataset, pk__in=ids).count() < len(ids):
            raise NotFound(f"case in {dataset}")
        rows = Item.objects.filter(case__in=ids)
        rows = rows.exclude(retired_in=NOT_RETIRED) if retired else rows.current()
        for pk, position, key, *answer in rows.order_by("-pk").values_list("pk", "position", "key", *ANSWER):
            if places.isdisjoint({(key,), tuple(answer)}):
                places |= {(key,), tuple(answer)}
                found[pk] = position
    return sorted(found, key=lambda pk: (found[pk], pk))


def taken_places(dataset: Dataset, item_ids: Sequence[int]) -> list[str]:
    """The retired items, as id:7, whose place another one has: its key, or its answer to the case.

    The other one is current, or one of these as well. By number: their keys may be withheld.
    """
    current = Item.objects.current().filter(dataset=dataset).order_by()
    wanted: list[tuple[Any, ...]] = []
    places: Counter[tuple[Any, ...]] = Counter()
    for ids in _parts(item_ids):
        rows = list(Item.objects.filter(pk__in=ids).order_by().values_list("position", "pk", "key", *ANSWER))
        wanted += rows
        of_keys = current.filter(key__in={key for _, _, key, *_ in rows})
        of_cases = current.filter(case__in={case_id for _, _, _, case_id, *_ in rows})
        places.update([*of_keys.values_list("key"), *of_cases.values_list(*ANSWER)])
    for _, _, key, *answer in wanted:
        places.update([(key,), tuple(answer)])
    taken = [pk for _, pk, key, *answer in sorted(wanted) if max(places[key,], places[tuple(answer)]) > 1]
    return [f"id:{pk}" for pk in taken]


def file_keys(dataset: Dataset) -> dict[int, str]:
    """Item id → what files call it, for retired items whose key another item of the dataset has."""
    retired = Item.objects.filter(dataset=dataset).exclude(retired_in=NOT_RETIRED).order_by()
    same = Item.objects.filter(dataset=dataset, key__in=retired.values("key")).order_by()
    several = same.values("key").annotate(n=Count("pk")).filter(n__gt=1).values("key")
    rows = retired.filter(key__in=several).values_list("pk", "key", "retired_in")
    return {pk: _disambiguated(key, f"until version {retired_in - 1}") for pk, key, retired_in in rows}


def case_of_item(item: Item) -> str:
    """Its case as files call it: answers to earlier words, and retired ones, answer cases of their own.

    "" where the case is the item's own, asks the words it answers, and no system is named: it has its key,
    and files need not say so.
    """
    past = []
    if item.wording != item.case.wording:
        past.append(f"wording {item.wording}")
    if item.retired_in != NOT_RETIRED:
        past.append(f"until version {item.retired_in - 1}")
    if past:
        return _disambiguated(item.case.key, ", ".join(past))
    return "" if item.case.key == item.key and not str(item.system_version) else item.case.key


def _disambiguated(key: str, past: str) -> str:
    """`r1 (until version 2)`, the key shortened where it would be longer than an id in files may be."""
    if len(key) + len(past) + 3 > MAX_ID:
        digest = hashlib.sha256(key.encode()).hexdigest()[:16]
        key = f"{key[: MAX_ID - len(past) - 20]}~{digest}"
    return f"{key} ({past})"


def lost_cases(item_ids: Sequence[int]) -> int:
    """How many cases would be left without a current answer if these items were retired."""
    chosen: Counter[int] = Counter()
    for ids in _parts(item_ids):
        chosen.update(Item.objects.current().filter(pk__in=ids).values_list("case_id", flat=True))
    lost = 0
    for ids in _parts(list(chosen)):
        answers = Item.objects.current().filter(case__in=ids).order_by().values("case_id")
        counts = answers.annotate(n=Count("pk")).values_list("case_id", "n")
        lost += sum(chosen[case_id] == n for case_id, n in counts)
    return lost


def found_cases(item_ids: Sequence[int]) -> int:
    """How many cases without a current answer would have one if these items were restored."""
    chosen: set[int] = set()
    for ids in _parts(item_ids):
        chosen |= set(Item.objects.filter(pk__in=ids).values_list("case_id", flat=True))
    for ids in _parts(sorted(chosen)):
        chosen -= set(Item.objects.current().filter(case__in=ids).values_list("case_id", flat=True))
    return len(chosen)


def _parts(ids: Sequence[int]) -> Iterator[Sequence[int]]:
    for begin in range(0, len(ids), AT_ONCE):
        yield ids[begin : begin + AT_ONCE]
