"""The system versions whose answers a dataset holds, and those a review queue is about."""

from collections.abc import Collection, Iterable, Sequence

from django.db.models import Count, Exists, OuterRef, QuerySet

from rubricweb.engine.errors import nearest
from rubricweb.errors import Invalid, Withheld
from rubricweb.models import (
    Dataset,
    Item,
    QueueItem,
    QueueSystemVersion,
    ReviewQueue,
    System,
    SystemVersion,
    Team,
    User,
    unarchived,
)
from rubricweb.selectors.blinding import hidden_items, hidden_of


def counted_versions(dataset: Dataset) -> list[SystemVersion]:
    """The versions with answers in the dataset, each with its `item_count`; that of no named system first.

    By system, and in the order in which the versions came. Two queries.
    """
    current = Item.objects.current().filter(dataset=dataset).order_by()
    answers = dict(current.values_list("system_version").annotate(n=Count("pk")))
    versions = SystemVersion.objects.filter(pk__in=answers).select_related("system")
    found = list(versions.order_by("system__name", "position"))
    for version in found:
        version.item_count = answers[version.pk]  # type: ignore[attr-defined]  # for its readers
    return found


def systems(team: Team, *, archived: bool = False) -> list[System]:
    """The team's named systems, by name, or those archived, each with its `listed` versions in their order,
    and those with the `item_count` of their answers. Three queries.
    """
    answers = dict(
        Item.objects.filter(system_version__system__team=team, dataset__team=team)
        .order_by()
        .values_list("system_version")
        .annotate(n=Count("pk"))
    )
    rows = System.objects.filter(unarchived(archived=archived), team=team)
    found = list(rows.exclude(name="").order_by("name"))
    listed: dict[int, list[SystemVersion]] = {system.pk: [] for system in found}
    for version in SystemVersion.objects.filter(system__in=found).order_by("position"):
        version.item_count = answers.get(version.pk, 0)  # type: ignore[attr-defined]  # for its readers
        listed[version.system_id].append(version)
    for system in found:
        system.listed = listed[system.pk]  # type: ignore[attr-defined]  # for its readers
    return found


def items_name_systems(dataset: Dataset) -> bool:
    """Whether some answer of the dataset is of a named system."""
    return Item.objects.filter(dataset=dataset).exclude(system_version__system__name="").exists()


def blinded_answers(dataset: Dataset, viewer: User | None) -> set[int]:
    """The ids of the answers of which this person must not learn which version gave them; None is nobody who
    reviews. Of a dataset of one version there are none: its page names it. One query for somebody who rates
    in no open blind queue.
    """
    hidden = set() if viewer is None else hidden_of(viewer, dataset.team, dataset.pk)
    versions = Item.objects.filter(dataset=dataset).order_by().values("system_version").distinct()
    return hidden if hidden and versions.count() > 1 else set()


def require_unblinded(dataset: Dataset, item_ids: Iterable[int], viewer: User | None) -> None:
    """Refuses items chosen by their ids for what would tell whose answers they are, or are not."""
    if not blinded_answers(dataset, viewer).isdisjoint(item_ids):
        raise Withheld(
            "You are still to review some of these items, or another answer to their case, blind, so whose "
            "answers they are is not told. Submit your reviews, or ask somebody who is not a rater."
        )


def require_first_answers(dataset: Dataset, names: Collection[str]) -> None:
    """Refuses answers to cases there are of versions, by name, that have answered some already: which cases
    those are tells who gave an answer to a case that not all have answered. For who must not learn that.
    """
    again = sorted({str(version) for version in counted_versions(dataset)}.intersection(names))
    if again:
        raise Withheld(
            f"{again[0] or 'A version without a name'} has answered some cases of {dataset}, and which ones "
            "would tell who gave the answers you are still to review blind. Submit your reviews, or ask "
            "somebody who is not a rater."
        )


def tells_version(dataset: Dataset, version_ids: Collection[int]) -> bool:
    """Whether to be among the answers of these versions tells who answered: others are left out. No versions
    stand for all.
    """
    others = Item.objects.current().filter(dataset=dataset).exclude(system_version__in=version_ids)
    return bool(version_ids) and others.exists()


def versions_of_items(items: QuerySet[Item]) -> QuerySet[SystemVersion]:
    """The versions that gave these answers, uncounted: some of a dataset, or those of several datasets."""
    answered = items.filter(system_version=OuterRef("pk")).order_by()
    versions = SystemVersion.objects.filter(Exists(answered)).select_related("system")
    return versions.order_by("system__name", "position")


def versions_called(dataset: Dataset, names: Sequence[str]) -> list[SystemVersion]:
    """The versions called assistant@v4 and so on, in that order; "" is that of no named system.

    Raises Invalid for one that has no answers in the dataset, naming those that have.
    """
    if not names:
        return []
    known = {str(version): version for version in counted_versions(dataset)}
    for place, name in enumerate(names):
        if name not in known:
            allowed = (
                ", ".join(one or '"" (no system named)' for one in known) or "none: the dataset is empty"
            )
            raise Invalid.at(
                f"systems[{place}]", repr(name), f"a version with answers in {dataset}: {allowed}"
            )
    return [known[name] for name in dict.fromkeys(names)]


def answers_called(dataset: Dataset, name: str) -> str:
    """A system (assistant), or one version of it (assistant@v4), as lists of items are narrowed to it; ""
    for all of them. Raises Invalid for one without answers in the dataset, retired ones counted.
    """
    if not name:
        return ""
    known = [str(one) for one in versions_of_items(Item.objects.filter(dataset=dataset)) if one.system.name]
    systems = {one.partition("@")[0] for one in known}
    if name not in known and name not in systems:
        allowed = nearest(name, known) if known else "none: no item of the dataset names a system"
        raise Invalid.at("system", repr(name[:200]), allowed)
    return name


def of_system(rows: QuerySet[Item], name: str) -> QuerySet[Item]:
    """Those that this system, or this one version, answered, as `answers_called` reads it."""
    if not name:
        return rows
    system, at, label = name.partition("@")
    rows = rows.filter(system_version__system__name=system)
    return rows.filter(system_version__label=label) if at else rows


def queue_systems(queues: Sequence[ReviewQueue], *, viewer: User, team: Team) -> dict[int, list[str] | None]:
    """Queue id → the names of the system versions it is about; empty where it is about whichever answered.

    None while the viewer is still to review one of its items blind: the names would tell who answered. One
    query, three where a queue names versions.
    """
    found: dict[int, list[str] | None] = {queue.pk: [] for queue in queues}
    rows = QueueSystemVersion.objects.filter(queue__in=queues).select_related("system_version__system")
    for row in rows.order_by("system_version__system__name", "system_version__position"):
        names = found[row.queue_id]
        assert names is not None
        names.append(str(row.system_version))
    limited = [queue_id for queue_id, names in found.items() if names]
    if limited:
        hidden = Exists(hidden_items(viewer, team, item=OuterRef("item")))
        waiting = QueueItem.objects.filter(hidden, queue__in=limited).order_by()
        found |= dict.fromkeys(waiting.values_list("queue_id", flat=True).distinct())
    return found
