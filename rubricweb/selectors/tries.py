"""Items a person may try a judge on: the next one, or one that the judge got wrong."""

from dataclasses import dataclass

from django.db.models import QuerySet

from rubricweb.errors import Conflict, Invalid
from rubricweb.models import Dataset, Item, Judge, Judgement, Run, RunState, User, of_run
from rubricweb.selectors.blinding import hidden_datasets, hidden_items, require_visible
from rubricweb.selectors.datasets.halves import TEST
from rubricweb.selectors.labels.comparable import counting_queues
from rubricweb.selectors.labels.ground_truth import ground_truth
from rubricweb.selectors.teams.lookup import key_is_shown

NEXT, WRONG, PICKED, PASTED = "next", "wrong", "item", "pasted"
WAYS_TO_CHOOSE = (NEXT, WRONG, PICKED, PASTED)


@dataclass(frozen=True)
class Mistakes:
    """The items where the latest run with a judge says otherwise than people, in the order of the dataset.

    `why_not` says why nothing of it is told, "" where it is.
    """

    items: tuple[int, ...]
    run: Run | None = None
    why_not: str = ""


def items_to_try(dataset: Dataset, viewer: User) -> QuerySet[Item]:
    """The dataset's current items in their order, without those of a test half, which stays unseen, and those
    this person is still to review blind.
    """
    items = Item.objects.current().filter(dataset=dataset)
    if dataset.sealed_as == TEST:
        return items.none()
    hidden = hidden_items(viewer, dataset.team)
    return items.exclude(case__half=TEST).exclude(pk__in=hidden).order_by("position")


def require_may_try(item: Item, viewer: User) -> None:
    """Raises Withheld for an item this person is still to review blind, Conflict for one of a test half."""
    require_visible(viewer, item)
    if item.dataset.sealed_as == TEST or item.case.half == TEST:
        raise Conflict(
            f"{item} is in the test split of {item.dataset}: a judge that was worded on it proves "
            "nothing there. Try it on an item of the dev split."
        )


def item_in(dataset: Dataset, said: str, viewer: User) -> Item:
    """The item with this id in its file, or with `#12`, `id:12` or `12` as its number here. An id that tells
    whose answer the viewer is to review blind names none. Raises Invalid.
    """
    items = (
        Item.objects.current()
        .filter(dataset=dataset)
        .select_related("dataset__team", "case", "rubric_version")
    )
    found = items.filter(key_is_shown(viewer, dataset.team), key=said).first()
    number = said.removeprefix("#").removeprefix("id:")
    if found is None and number.isascii() and number.isdigit() and len(number) < 19:
        found = items.filter(pk=int(number)).first()
    if found is None:
        raise Invalid.at("item", repr(said[:80]), f"the id of an item of {dataset}")
    return found


def chosen_item(
    dataset: Dataset,
    way: str,
    *,
    viewer: User,
    said: str = "",
    after: int | None = None,
    judge: Judge | None = None,
) -> Item:
    """The item called `said`, or the first after the item `after` of those that may be tried, or of those the
    judge got wrong; after the last one comes the first. Raises Invalid, Conflict where there is none.
    """
    if way == PICKED:
        if not said.strip():
            raise Invalid.at("item", "nothing", f"the id of an item of {dataset}")
        return item_in(dataset, said.strip(), viewer)
    items = items_to_try(dataset, viewer)
    if way == WRONG:
        if judge is None:
            raise Invalid.at("which", WRONG, "next or item: this judge has graded nothing yet")
        wrong = mistakes(judge, dataset, viewer)
        if wrong.why_not:
            raise Conflict(wrong.why_not)
        items = items.filter(pk__in=wrong.items)
    elif way != NEXT:
        raise Invalid.at("which", repr(way[:40]), ", ".join(WAYS_TO_CHOOSE))
    items = items.select_related("dataset__team", "case", "rubric_version")
    last = None if after is None else Item.objects.filter(dataset=dataset, pk=after).first()
    found = items.filter(position__gt=last.position).first() if last is not None else None
    found = found or items.first()
    if found is None:
        none = (
            "Its latest run says what people say everywhere."
            if way == WRONG
            else "There is no item to try it on."
        )
        raise Conflict(none)
    return found


def mistakes(judge: Judge, dataset: Dataset, viewer: User) -> Mistakes:
    """What the judge's latest run over the dataset got wrong, told to who may see verdicts and labels of all
    of it. About eight queries.
    """
    if dataset.pk in hidden_datasets(viewer, dataset.team):
        return Mistakes((), why_not="You are still to review items of this dataset blind.")
    if dataset.sealed_as == TEST:
        return Mistakes((), why_not="A test split stays unseen.")
    runs = Run.objects.filter(
        judge_version__judge=judge, dataset=dataset, state=RunState.FINISHED, archived_at=None
    )
    run = runs.order_by("-created_at", "-pk").select_related("dataset", "rubric_version").first()
    if run is None:
        return Mistakes((), why_not=f"{judge.name} has not graded {dataset} yet.")
    queues = counting_queues(dataset)
    truths = ground_truth(queues, runs=[run]) if queues else {}
    if not truths:
        return Mistakes((), run, why_not=f"Nobody has labelled {dataset} yet.")
    said = Judgement.objects.filter(of_run(run), item__in={item for item, _ in truths}, verdict__isnull=False)
    wrong = {
        item_id
        for item_id, criterion_id, verdict in said.values_list("item_id", "criterion_id", "verdict")
        for truth in [truths.get((item_id, criterion_id))]
        if truth is not None and truth.verdict is not None and str(truth.verdict) != verdict
    }
    in_order = items_to_try(dataset, viewer).filter(pk__in=wrong).values_list("pk", flat=True)
    return Mistakes(tuple(in_order), run)
