"""Which items a queue is made of: all, a filter, those a run's judge is unsure of, a sample, chosen ones."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random, SystemRandom
from typing import Any

from django.db.models import QuerySet

from rubricweb.errors import Invalid, NotFound, Withheld
from rubricweb.models import Criterion, Dataset, Item, Judgement, Run, SystemVersion, User
from rubricweb.selectors.blinding import hidden_of, require_nothing_hidden
from rubricweb.selectors.datasets.halves import in_half
from rubricweb.selectors.datasets.items import matching, metadata_text
from rubricweb.selectors.datasets.systems import items_name_systems, require_unblinded, tells_version
from rubricweb.selectors.datasets.titles import names_of
from rubricweb.selectors.reviews import informative

KINDS = {
    "all": "all items, including future ones",
    "filter": "items that match",
    "run": "items a run’s judge is unsure of or differs on",
    "sample": "a random sample",
    "items": "chosen items",
}
ALL = "all"
"""The kind that is a whole dataset, items added later included."""
SAMPLE = "sample"
"""The kind that is drawn at random."""
AT_ONCE = 5000
NAMED_MAX = 5
SEEDS = 2**31
UNKNOWN = "–"
"""The stratum of items without a value."""


def new_seed() -> int:
    """A seed nobody can foresee."""
    return SystemRandom().randrange(SEEDS)


@dataclass(frozen=True)
class Source:
    """How items are chosen. `search` and `metadata` ("key=value") narrow a filter, a run and a sample.

    A run's items are those with one of the `reasons` (see `informative.REASONS`). A sample draws `size`
    items with `seed`, evenly over the values of a metadata key or over the run's verdicts on a criterion
    where one is named: then each stratum has a probability of its own. It is drawn from `item_ids`
    where some are named.
    """

    kind: str = ALL
    search: str = ""
    metadata: str = ""
    item_ids: tuple[int, ...] = ()
    run: Run | None = None
    reasons: tuple[str, ...] = ()
    size: int = 0
    strata_metadata: str = ""
    strata_criterion: str = ""
    seed: int = 0


@dataclass(frozen=True)
class DrawnStratum:
    """One stratum of a draw: the ids drawn from it, in that order, and those that were not."""

    value: str
    drawn: tuple[int, ...]
    rest: tuple[int, ...]


@dataclass(frozen=True)
class RandomDraw:
    """A random draw: `order` holds all drawn ids at random, and within each stratum in the order drawn."""

    seed: int
    dataset_size: int
    order: tuple[int, ...]
    strata: tuple[DrawnStratum, ...]


@dataclass(frozen=True)
class SelectedItems:
    """Item ids in the order of the dataset, how they were drawn if they were, and how in words' stead."""

    item_ids: tuple[int, ...]
    source: dict[str, Any]
    drawing: RandomDraw | None = None


def chosen(
    dataset: Dataset,
    source: Source,
    *,
    viewer: User,
    criteria: Sequence[Criterion] = (),
    systems: Sequence[SystemVersion] = (),
    half: str = "",
) -> SelectedItems:
    """The items a source names. With `criteria` a run's reasons count for these alone; with `systems` only
    answers of these versions are chosen from, with `half` only those to its cases.

    Raises Invalid where it names none, names an answer of another version or half, or cannot be understood,
    NotFound for an item of another dataset, Withheld where the choice would tell the viewer verdicts they may
    not see, or who answered.
    """
    if source.kind not in KINDS:
        raise Invalid.at("source", repr(source.kind), ", ".join(KINDS))
    if source.kind in ("run", SAMPLE) and source.run is not None and source.run.dataset_id != dataset.pk:
        raise Invalid.about("source_run", f"{source.run} is over {source.run.dataset}, not over {dataset}.")
    items: QuerySet[Item] = Item.objects.current().filter(dataset=dataset)
    if source.search or source.metadata or source.strata_metadata:
        _require_systems_shown(dataset, viewer)
    if systems:
        items = items.filter(system_version__in=systems)
    items = in_half(items, dataset, half)
    if source.kind == "items":
        _require_answers_of(systems, dataset, source.item_ids, viewer)
        _require_in_half(half, dataset, source.item_ids)
        found = _named(items, dataset, source.item_ids)
    elif source.kind == "run":
        found = _doubtful(items, dataset, source, viewer, criteria)
    elif source.kind == SAMPLE:
        found = _sample(items, dataset, source, viewer)
    elif source.kind == "filter":
        if not source.search and not source.metadata:
            raise Invalid.about("search", "Say what the items match: a text, or key=value of their metadata.")
        found = SelectedItems(_ids(_narrowed(items, source)), {"kind": "filter"} | _narrowing(source))
    else:
        of_some: dict[str, Any] = {"of_systems": len(systems)} if systems else {}
        of_some |= {"half": half} if half else {}
        found = SelectedItems(_ids(items), {"kind": ALL} | of_some)
    if not found.item_ids:
        raise Invalid.about("source", f"No item of {dataset} is chosen that way.")
    if tells_version(dataset, [version.pk for version in systems]):
        require_unblinded(dataset, found.item_ids, viewer)
    return found


def _ids(items: QuerySet[Item]) -> tuple[int, ...]:
    return tuple(items.order_by("position").values_list("pk", flat=True))


def _narrowed(items: QuerySet[Item], source: Source) -> QuerySet[Item]:
    """Those that match text and metadata; a list of the metadata matches by each element."""
    return matching(items, search=source.search, metadata=source.metadata)


def _narrowing(source: Source) -> dict[str, str]:
    said = {"search": source.search, "metadata": source.metadata}
    return {name: value for name, value in said.items() if value}


def _require_answers_of(
    systems: Sequence[SystemVersion], dataset: Dataset, item_ids: Sequence[int], viewer: User
) -> None:
    """Refuses, by name, answers of other versions."""
    if not systems:
        return
    # A refusal, or none, would tell who answered.
    require_unblinded(dataset, item_ids, viewer)
    allowed = {version.pk for version in systems}
    rows = Item.objects.filter(dataset=dataset).select_related("system_version__system").order_by("position")
    others = [
        item
        for begin in range(0, len(item_ids), AT_ONCE)
        for item in rows.filter(pk__in=item_ids[begin : begin + AT_ONCE]).only("system_version")
        if item.system_version_id not in allowed
    ]
    if others:
        names = ", ".join(map(str, systems))
        raise Invalid.about("item_ids", f"Only answers of {names} belong here; {_first(others)}.")


def _require_in_half(half: str, dataset: Dataset, item_ids: Sequence[int]) -> None:
    """Refuses answers to cases that are not in this half, by their numbers; "" is all cases."""
    among = set(item_ids) if half else set()
    rows = Item.objects.filter(dataset=dataset).exclude(case__half=half).order_by("position")
    others = [place + 1 for pk, place in rows.values_list("pk", "position") if pk in among] if among else []
    if others:
        numbers = ", ".join(map(str, others[:NAMED_MAX])) + (" and more" if len(others) > NAMED_MAX else "")
        raise Invalid.about(
            "item_ids", f"Only answers to {half} cases belong here; of the dataset's items not {numbers}."
        )


def _require_systems_shown(dataset: Dataset, viewer: User) -> None:
    """Refuses to choose by keys and metadata what would tell whose answer somebody is to review blind."""
    if not items_name_systems(dataset):
        return
    hidden = len(hidden_of(viewer, dataset.team, dataset.pk))
    if hidden:
        raise Withheld(
            f"You are still to review {hidden} items of this dataset blind, so items cannot be chosen by "
            "their keys and metadata, which may tell who answered. Submit your reviews, or ask somebody who "
            "is not a rater."
        )


def _first(items: Sequence[Item]) -> str:
    """The first few of these and whose answers they are, in words."""
    first = items[:NAMED_MAX]
    names = names_of(Item.objects.filter(pk__in=[item.pk for item in first]))
    told = [f"{names[item.pk]} is of {str(item.system_version) or 'no named system'}" for item in first]
    more = len(items) - len(told)
    return ", ".join(told) + (f", and {more:,} more are not theirs" if more else "")


def _named(items: QuerySet[Item], dataset: Dataset, item_ids: Sequence[int]) -> SelectedItems:
    found: dict[int, int] = {}
    wanted = list(dict.fromkeys(item_ids))
    for begin in range(0, len(wanted), AT_ONCE):
        rows = items.filter(pk__in=wanted[begin : begin + AT_ONCE])
        found |= dict(rows.values_list("pk", "position"))
    if len(found) < len(wanted):
        raise NotFound(f"item in {dataset}")
    return SelectedItems(tuple(sorted(found, key=found.__getitem__)), {"kind": "items"})


def _doubtful(
    items: QuerySet[Item], dataset: Dataset, source: Source, viewer: User, criteria: Sequence[Criterion]
) -> SelectedItems:
    wanted = source.reasons or tuple(informative.REASONS)
    unknown = [reason for reason in wanted if reason not in informative.REASONS]
    if unknown:
        raise Invalid.at("reasons", repr(unknown[0]), ", ".join(informative.REASONS))
    if source.run is None:
        raise Invalid.about("source_run", "Choose the run whose judge is to be looked at.")
    require_nothing_hidden(viewer, dataset.team, dataset.pk)
    reasons = informative.reasons(dataset, source.run, wanted, criteria=criteria)
    ids = tuple(pk for pk in _ids(_narrowed(items, source)) if pk in reasons)
    counts = {one.reason: one.items for one in informative.reason_counts(reasons, ids)}
    return SelectedItems(ids, {"kind": "run", "run": source.run.pk, "reasons": counts} | _narrowing(source))


# ── Random samples ───────────────────────────────────────────────────────────────────────────────


def _sample(items: QuerySet[Item], dataset: Dataset, source: Source, viewer: User) -> SelectedItems:
    if not 0 <= source.seed < SEEDS:
        raise Invalid.about("seed", f"A seed is a whole number from 0 to {SEEDS - 1}, not {source.seed}.")
    population = _ids(_narrowed(items, source))
    if source.item_ids:
        among = set(source.item_ids)
        population = tuple(pk for pk in population if pk in among)
    strata = _strata(dataset, source, population, viewer)
    if not len(strata) <= source.size <= len(population):
        least = f"{len(strata)}, one for each stratum," if len(strata) > 1 else "1"
        raise Invalid.about(
            "size", f"A sample has from {least} to {len(population)} items, not {source.size}."
        )
    shares = allocated({name: len(ids) for name, ids in strata.items()}, source.size)
    drawing = _drawing(source.seed, Item.objects.current().filter(dataset=dataset).count(), strata, shares)
    said: dict[str, Any] = {"kind": SAMPLE, "size": source.size, "of": len(population), "seed": source.seed}
    if source.strata_metadata:
        said["strata_metadata"] = source.strata_metadata
    if source.strata_criterion and source.run is not None:
        said |= {"strata_criterion": source.strata_criterion, "run": source.run.pk}
    if len(strata) > 1:
        said["strata"] = [
            {"value": name, "drawn": shares[name], "of": len(strata[name])} for name in sorted(strata)
        ]
    drawn = set(drawing.order)
    return SelectedItems(tuple(pk for pk in population if pk in drawn), said | _narrowing(source), drawing)


def _drawing(
    seed: int, dataset_size: int, strata: dict[str, list[int]], shares: dict[str, int]
) -> RandomDraw:
    """So many of each stratum, all of them in one order at random.

    Strata by turns would tell who reviews a sample by verdicts what the judge said.
    """
    chance = Random(seed)  # noqa: S311  a sample that can be drawn again, no secret
    stratum_of = {pk: name for name in sorted(strata) for pk in chance.sample(strata[name], shares[name])}
    order = list(stratum_of)
    chance.shuffle(order)
    return RandomDraw(
        seed=seed,
        dataset_size=dataset_size,
        order=tuple(order),
        strata=tuple(
            DrawnStratum(
                value=name,
                drawn=tuple(pk for pk in order if stratum_of[pk] == name),
                rest=tuple(pk for pk in strata[name] if pk not in stratum_of),
            )
            for name in sorted(strata)
        ),
    )


def allocated(sizes: dict[str, int], wanted: int) -> dict[str, int]:
    """How many of `wanted` each stratum gives: equally many, but no more than it has.

    Strata of 2, 10 and 10 give 2, 3 and 4 of 9: what the small one lacks, the larger ones give.
    """
    left, shares = wanted, {}
    ordered = sorted(sizes, key=lambda name: (sizes[name], name))
    for place, name in enumerate(ordered):
        shares[name] = min(sizes[name], left // (len(ordered) - place))
        left -= shares[name]
    return shares


def _strata(
    dataset: Dataset, source: Source, population: Sequence[int], viewer: User
) -> dict[str, list[int]]:
    """Value → its items of the population; a single stratum where none is asked for."""
    if source.strata_metadata and source.strata_criterion:
        raise Invalid.about(
            "strata_criterion", "Strata are by metadata or by a criterion's verdicts, not by both."
        )
    if source.strata_metadata:
        items = (
            Item.objects.current()
            .filter(dataset=dataset)
            .annotate(text=metadata_text(source.strata_metadata))
        )
        values = dict(items.values_list("pk", "text"))
    elif source.strata_criterion:
        values = _verdicts(dataset, source, viewer)
    else:
        return {"": list(population)}
    strata: dict[str, list[int]] = defaultdict(list)
    for pk in population:
        value = values.get(pk)
        strata[UNKNOWN if value is None else str(value)].append(pk)
    return dict(strata)


def _verdicts(dataset: Dataset, source: Source, viewer: User) -> dict[int, Any]:
    if source.run is None:
        raise Invalid.about("source_run", "Choose the run whose verdicts make the strata.")
    require_nothing_hidden(viewer, dataset.team, dataset.pk)
    rows = Judgement.objects.filter(
        run=source.run, repeat=0, criterion__name=source.strata_criterion, verdict__isnull=False
    )
    values = dict(rows.values_list("item_id", "verdict"))
    if not values:
        raise Invalid.about(
            "strata_criterion", f"{source.run} has no verdicts on {source.strata_criterion!r}."
        )
    return values


# ── What a queue says of where its items come from ───────────────────────────────────────────────


def in_words(source: dict[str, Any], *, verdicts: bool = True) -> list[str]:
    """Sentences about how items were chosen, one for the first choice and one for each that was added.

    `verdicts` False leaves out what would tell what a run's judge said.
    """
    return [_sentence(one, verdicts=verdicts) for one in [source, *source.get("added", [])]]


def _sentence(source: dict[str, Any], *, verdicts: bool) -> str:
    kind = source.get("kind", ALL)
    if not verdicts and (kind == "run" or "strata_criterion" in source):
        return "Items chosen by what is known of them, which is not said while they are to be reviewed."
    narrowed = _narrowed_words(source)
    if kind == ALL:
        which = "answers of the chosen system versions" if "of_systems" in source else "items of the dataset"
        cases = f" to {source['half']} cases" if "half" in source else ""
        return f"All {which}{cases}, including future ones."
    if kind == "filter":
        return f"Items{narrowed}."
    if kind == "run":
        counts = source.get("reasons", {})
        words = [
            f"{informative.REASONS[name]} ({counts[name]:,})"
            for name in informative.REASONS
            if name in counts
        ]
        return f"Items{narrowed} of run {source.get('run')} where {'; '.join(words)}."
    if kind == SAMPLE:
        return _sample_words(source, narrowed)
    return "Items chosen one by one."


def _narrowed_words(source: dict[str, Any]) -> str:
    parts = []
    if source.get("search"):
        parts.append(f" with “{source['search']}”")
    if source.get("metadata"):
        parts.append(f" whose metadata has {source['metadata']}")
    return " and".join(parts)


def _sample_words(source: dict[str, Any], narrowed: str) -> str:
    size, total = source.get("size", 0), source.get("of", 0)
    words = f"A random sample of {size:,} of {total:,} items{narrowed}"
    if "strata" not in source:
        return f"{words}, each with probability {size / total:.4g}." if total else f"{words}."
    by = source.get("strata_metadata") or f"the verdict on {source.get('strata_criterion')}"
    drawn = ", ".join(f"{one['drawn']:,} of {one['of']:,} with {one['value']}" for one in source["strata"])
    return f"{words}, evenly by {by}: {drawn}."
