"""Imports of files as lists show them, and what no judge is shown of what they brought."""

from collections.abc import Iterable

from django.db.models import Q, TextField
from django.db.models.functions import Cast

from rubricweb.engine.conversations.unseen_parts import unseen_parts, unseen_words
from rubricweb.models import Dataset, DatasetImport, ImportState, Item, Team, User
from rubricweb.selectors.blinding import hidden_datasets
from rubricweb.selectors.shared.pages import Page, keyset_page

UNENDED = (ImportState.WAITING, ImportState.RUNNING, ImportState.ASKS)


def imports(team: Team, *, cursor: str | None = None, size: int = 50) -> Page[DatasetImport]:
    """The team's imports, newest first, without their faults."""
    rows = DatasetImport.objects.filter(team=team).select_related("dataset", "created_by").defer("faults")
    return keyset_page(rows, order=("-pk",), cursor=cursor, size=size)


def unended(team: Team) -> list[DatasetImport]:
    """Those that are under way or wait for an answer."""
    rows = DatasetImport.objects.filter(team=team, state__in=UNENDED).select_related("dataset")
    return list(rows.defer("faults", "found").order_by("-pk")[:20])


def without_hidden_keys(rows: Iterable[DatasetImport], *, viewer: User, team: Team) -> list[DatasetImport]:
    """The imports, without which items say the same where this person is still to review some of the dataset
    blind: keys tell who answered. Not to be saved.
    """
    found = list(rows)
    with_duplicates = [one for one in found if one.found.get("duplicates")]
    hidden = hidden_datasets(viewer, team) if with_duplicates else frozenset()
    for one in with_duplicates:
        if one.dataset_id in hidden:
            one.found = {**one.found, "duplicates": []}
    return found


def unseen_in_dataset(dataset: Dataset) -> str:
    """In how many items' prompts pictures and the like are, in a sentence; "" where none is. Two queries."""
    in_words = Cast("prompt", TextField())
    prompts = (
        Item.objects.current()
        .filter(dataset=dataset)
        .annotate(in_words=in_words)
        # A part has a type, and what stands within a text is in base64.
        .filter(Q(in_words__contains='"type"') | Q(in_words__contains=";base64,"))
        .order_by()
        .values_list("prompt", flat=True)
    )
    shared = "The dataset's prompt has them too." if unseen_parts(dataset.prompt) else ""
    own = unseen_words(sum(unseen_parts(prompt) > 0 for prompt in prompts.iterator(chunk_size=100)))
    if shared and not own:
        return unseen_words(dataset.items.count())
    return f"{own} {shared}".strip()
