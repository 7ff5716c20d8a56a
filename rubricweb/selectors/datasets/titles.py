"""What items are called on pages: their number and the first words of what they hold."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import Case, F, Func, Q, QuerySet, TextField, When
from django.db.models.functions import Substr

from rubricweb.engine.parsers.plain_text import first_words
from rubricweb.models import Item, Team, User
from rubricweb.selectors.blinding import key_is_hidden

READ = 400
"""So many characters are read of a text to find its first words."""
COMPARED_ITEMS, COMPARED = 20, 60
"""An item is called by its prompt where one of the first 20 items of its dataset has a prompt whose first 60
characters are others: what they all begin with tells no item from the next."""


@dataclass(frozen=True)
class ItemTitle:
    """What one person is shown as the name of an item: "12 Why is the sky blue?".

    `number` is its place in its dataset, from 1. `key` is the id in its file, "" for whoever must not see it.
    """

    number: int
    words: str
    key: str

    def __str__(self) -> str:
        return f"{self.number} {self.words}".rstrip()


def item_titles(item_ids: Iterable[int], *, viewer: User, team: Team) -> dict[int, ItemTitle]:
    """The titles of these items of the team by their ids. Three queries; of texts the beginnings are read."""
    some: QuerySet[Item] = Item.objects.filter(pk__in=set(item_ids), dataset__team=team).order_by()
    begins = Substr(PromptWords(F("prompt")), 1, COMPARED)
    words = Case(
        When(_says_nothing(some, begins), then=Substr("submission", 1, READ)),
        default=Substr(PromptWords(F("prompt")), 1, READ),
        output_field=TextField(),
    )
    rows = some.annotate(begins=begins, words=words, hidden=key_is_hidden(viewer, team))
    found = rows.values_list("pk", "position", "words", "key", "hidden")
    return {
        pk: ItemTitle(position + 1, first_words(text or ""), "" if hidden else key)
        for pk, position, text, key, hidden in found
    }


def _says_nothing(some: QuerySet[Item], begins: Substr) -> Q:
    """The condition on these items, annotated with `begins`, that their prompt tells them from no other one:
    there is none, or none with words, or those of its dataset begin with the same. One query.
    """
    # Told once for each dataset: asked anew for each item, the first 20 are most of the work of a page.
    first = Item.objects.filter(dataset__in=some.values("dataset"), position__lt=COMPARED_ITEMS).order_by()
    beginnings: dict[int, set[str | None]] = defaultdict(set)
    for dataset_id, beginning in first.annotate(begins=begins).values_list("dataset_id", "begins"):
        beginnings[dataset_id].add(beginning)
    condition = Q(begins__isnull=True)
    for dataset_id, several in beginnings.items():
        if len(several) == 1:
            condition |= Q(dataset=dataset_id, begins__in=several - {None})
    return condition


def item_title(item: Item, *, viewer: User, team: Team) -> ItemTitle:
    """The title of one item."""
    return item_titles([item.pk], viewer=viewer, team=team)[item.pk]


class PromptWords(Func):
    """What a prompt says: a text itself, of a conversation the first turn of a user, else its first turn.

    Null for a prompt that is neither.
    """

    output_field = TextField()

    def as_postgresql(self, compiler: Any, connection: Any, **extra: Any) -> tuple[str, Any]:
        return self.as_sql(compiler, connection, template=_POSTGRESQL, **extra)

    def as_sqlite(self, compiler: Any, connection: Any, **extra: Any) -> tuple[str, Any]:
        return self.as_sql(compiler, connection, template=_SQLITE, **extra)


# A turn's content is a text, or parts of which one is.
_POSTGRESQL = """(CASE jsonb_typeof(%(expressions)s) WHEN 'string' THEN %(expressions)s #>> '{}'
    ELSE coalesce(
    jsonb_path_query_first(%(expressions)s, '$[*] ? (@.role == "user").content[*] ? (@.type() == "string")'),
    jsonb_path_query_first(%(expressions)s, '$[*] ? (@.role == "user").content[*].text'),
    jsonb_path_query_first(%(expressions)s, '$[*].content[*] ? (@.type() == "string")')) #>> '{}' END)"""
# Only objects are looked into: a bare text in the list would be read as JSON of its own.
_SQLITE = """(CASE json_type(%(expressions)s) WHEN 'text' THEN json_extract(%(expressions)s, '$')
    WHEN 'array' THEN (
        SELECT CASE WHEN type = 'object' THEN
            coalesce(json_extract(value, '$.content[0].text'), json_extract(value, '$.content')) END
        FROM json_each(%(expressions)s)
        ORDER BY CASE WHEN type = 'object' THEN json_extract(value, '$.role') = 'user' ELSE 0 END DESC, key
        LIMIT 1) END)"""
