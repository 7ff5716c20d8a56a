"""Before datasets are combined: what would come of it, and why it is refused."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import F, Max, Q, QuerySet, Window

from rubricweb.engine.errors import Fault
from rubricweb.engine.number_format import counted
from rubricweb.errors import Conflict, Invalid
from rubricweb.models import (
    NOT_RETIRED,
    Adjudication,
    Blind,
    Case,
    Comment,
    Dataset,
    Item,
    Judgement,
    QueueState,
    Review,
    ReviewQueue,
    ReviewState,
    Revision,
    Run,
    Team,
    User,
    in_reviews,
)
from rubricweb.selectors.blinding import require_nothing_hidden
from rubricweb.selectors.datasets.systems import versions_of_items
from rubricweb.services.combinations.matching import MATCHES, AskedPart, Matching
from rubricweb.services.datasets import systems
from rubricweb.services.datasets.datasets import require_free_name, require_unsealed
from rubricweb.services.shared.archiving import NAME_MAX, require_idle

FEWEST, MOST = 2, 20

_LABELLED = ("review__queue__rubric_version", "item", "review__rater")
"""What the copy of a review is about."""


@dataclass(frozen=True)
class CombinationRequest:
    """Which datasets become one called `name`, each as which system version.

    `as_attempts` makes further answers of a version to a case its next attempts; else they are refused.
    `match` is "cases" (by case id, else by what is asked) or "ids" (by the ids of items).
    """

    name: str
    parts: tuple[AskedPart, ...]
    as_attempts: bool = False
    match: str = "cases"
    archive_originals: bool = False


@dataclass(frozen=True)
class PartPlan:
    """One dataset: how many items become answers of which versions, and how many cases no other has."""

    dataset: Dataset
    systems: tuple[str, ...]
    items: int
    retired: int
    cases_alone: int


@dataclass(frozen=True)
class CombinationPlan:
    """What a combination comes to. `shared` says how many cases are in how many datasets.

    `by_id` items are matched by a case id, the others by what is asked. With `conflicts` nothing is combined:
    the first of `conflict_count`. Ids in `other_words` are in several datasets with other words. `stays` says
    in sentences what does not come along.
    """

    name: str
    parts: tuple[PartPlan, ...]
    items: int
    cases: int
    by_id: int
    shared: tuple[tuple[int, int], ...]
    conflicts: tuple[Fault, ...]
    conflict_count: int
    other_words: tuple[str, ...]
    reviews: int
    labels: int
    revisions: int
    adjudications: int
    imported_runs: int
    stays: tuple[str, ...]


def check(team: Team, asked: CombinationRequest, *, viewer: User | None) -> CombinationRequest:
    """The request with names as they are stored. Raises what can be told before items are read.

    Invalid for names and choices that are none; Conflict for a name that is taken, a sealed half, an empty
    dataset, an open blind queue, and an original that is to be archived and in use; Withheld for a viewer who
    is still to review some of the items blind.
    """
    name = asked.name.strip()
    if not name or len(name) > NAME_MAX:
        raise Invalid.at("name", f"{len(name)} characters", f"a name of 1 to {NAME_MAX}")
    if not FEWEST <= len(asked.parts) <= MOST:
        raise Invalid.at("datasets", counted(len(asked.parts), "dataset"), f"{FEWEST} to {MOST}")
    if asked.match not in MATCHES:
        raise Invalid.at("match", repr(asked.match[:40]), ", ".join(MATCHES))
    parts: list[AskedPart] = []
    for place, part in enumerate(asked.parts):
        if part.dataset.pk in {one.dataset.pk for one in parts}:
            raise Invalid.at(f"datasets[{place}]", f"{part.dataset} again", "each dataset once")
        try:
            system = systems.read_system_name(part.system) if part.system.strip() else ""
        except Invalid as error:
            faults = [Fault(f"datasets[{place}].system", one.found, one.allowed) for one in error.faults]
            raise Invalid("; ".join(map(str, faults)), faults) from error
        parts.append(AskedPart(part.dataset, system))
    require_free_name(team, name)
    for part in parts:
        _require_fit(part.dataset, archived=asked.archive_originals)
        if viewer is not None:
            require_nothing_hidden(viewer, team, part.dataset.pk)
    return CombinationRequest(name, tuple(parts), asked.as_attempts, asked.match, asked.archive_originals)


def require_open(dataset: Dataset) -> None:
    """Refuses what a copy would lay open: halves under a seal, and labels that raters of an open blind queue
    are not to read.
    """
    require_unsealed(dataset)
    if Case.objects.filter(dataset=dataset).exclude(half="").exists():
        raise Conflict(
            f"The cases of {dataset} are divided in dev and test, under a seal that a copy would not have. "
            "Leave it out; divide the combined dataset."
        )
    unclosed = ReviewQueue.objects.filter(dataset=dataset).exclude(state=QueueState.CLOSED)
    blind = unclosed.exclude(blind=Blind.NONE).first()
    if blind is not None:
        raise Conflict(
            f"The blind queue {blind} over {dataset} is open: its raters could read labels in the combined "
            "dataset. Close it first."
        )


def _require_fit(dataset: Dataset, *, archived: bool) -> None:
    require_open(dataset)
    if not Item.objects.current().filter(dataset=dataset).exists():
        raise Conflict(f"{dataset} has no items: leave it out.")
    if archived:
        require_idle(dataset)


def plan(team: Team, asked: CombinationRequest, *, viewer: User | None) -> CombinationPlan:
    """What `combinations.start` would make; nothing is stored. Raises as `check`; conflicts are told."""
    asked = check(team, asked, viewer=viewer)
    matched = Matching(asked.parts, asked.as_attempts, asked.match)
    datasets = [part.dataset for part in asked.parts]
    labels = _last_labels(datasets)
    # As copies are stored: what a rater said here is one review, what they said in files another.
    reviews = labels.values(*_LABELLED, "review__imported").distinct()
    decided = Adjudication.objects.undeleted().filter(
        item__dataset__in=datasets, item__retired_in=NOT_RETIRED
    )
    return CombinationPlan(
        name=asked.name,
        parts=tuple(_part_plan(part, place, matched) for place, part in enumerate(asked.parts)),
        items=len(matched.placed),
        cases=len(matched.cases),
        by_id=matched.by_id,
        shared=tuple(matched.shared),
        conflicts=tuple(matched.conflicts),
        conflict_count=matched.conflict_count,
        other_words=tuple(matched.other_words),
        reviews=reviews.count(),
        labels=labels.count(),
        revisions=Revision.objects.filter(judgement__in=labels.values("pk")).count(),
        adjudications=decided.count(),
        imported_runs=Run.objects.filter(dataset__in=datasets, rater__isnull=False).count(),
        stays=tuple(_stays(datasets)),
    )


def _labels(datasets: Sequence[Dataset]) -> QuerySet[Judgement]:
    said = in_reviews(queue__dataset__in=datasets) & Q(item__retired_in=NOT_RETIRED, verdict__isnull=False)
    return Judgement.objects.filter(said)


def _last_labels(datasets: Sequence[Dataset]) -> QuerySet[Judgement]:
    """Of each rater on each criterion of an item, by each version of a rubric, the label that is copied."""
    last = Window(Max("pk"), partition_by=[*_LABELLED, "criterion"])
    return _labels(datasets).annotate(last=last).filter(pk=F("last"))


def _part_plan(part: AskedPart, place: int, matched: Matching) -> PartPlan:
    items = Item.objects.filter(dataset=part.dataset)
    own = (str(version) for version in versions_of_items(items.current()))
    return PartPlan(
        dataset=part.dataset,
        systems=(part.system,) if part.system else tuple(own),
        items=items.current().count(),
        retired=items.exclude(retired_in=NOT_RETIRED).count(),
        cases_alone=matched.alone(place),
    )


def _stays(datasets: Sequence[Dataset]) -> list[str]:
    """What stays with the originals alone, in sentences; what there is none of is not named."""
    drafts: QuerySet[Review] = Review.objects.filter(queue__dataset__in=datasets)
    counts = (
        (Item.objects.filter(dataset__in=datasets).exclude(retired_in=NOT_RETIRED).count(), "retired item"),
        (drafts.exclude(state=ReviewState.SUBMITTED).count(), "review that is not submitted"),
        (
            ReviewQueue.objects.filter(dataset__in=datasets).exclude(state=QueueState.CLOSED).count(),
            "queue that is not closed",
        ),
        (Comment.objects.filter(item__dataset__in=datasets).count(), "comment"),
        (
            _labels(datasets).count() - _last_labels(datasets).count(),
            "earlier label where a rater gave several",
        ),
    )
    several = {"review that is not submitted": "reviews that are not submitted"}
    several["queue that is not closed"] = "queues that are not closed"
    several["earlier label where a rater gave several"] = "earlier labels where a rater gave several"
    found = [f"{n:,} {what if n == 1 else several.get(what, what + 's')}" for n, what in counts if n]
    rubrics = {dataset.rubric_version_id for dataset in datasets}
    if len(rubrics) > 1:
        found.append("the rubrics of the files, which differ: the combined dataset has none of its own")
    return found
