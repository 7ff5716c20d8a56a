"""The names of items on a page, looked up once for all of them."""

from collections.abc import Iterable

from rubricweb.models import Item
from rubricweb.selectors.datasets.titles import ItemTitle, item_titles
from rubricweb.web.http import TeamRequest


def titles(request: TeamRequest, item_ids: Iterable[int]) -> dict[str, dict[int, ItemTitle]]:
    """What a template's `item_title` and `item_words` need to name these items, as a part of its context."""
    ids = set(item_ids)
    return {"titles": item_titles(ids, viewer=request.user, team=request.team) if ids else {}}


def item_name(request: TeamRequest, item: Item) -> str:
    """The same of one item in a sentence."""
    return str(item_titles([item.pk], viewer=request.user, team=request.team)[item.pk])
