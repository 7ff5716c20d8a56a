"""What items are called on pages: their number and the first words of what they hold."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import Case, F, Func, Q, QuerySet, TextField, When
from django.db.models.functions import Substr

from rubricweb.engine.parsers.plain_text import first_words
from rubricweb.models import Item, Team, User
from rubricweb.selectors.blinding import is_hidden

READ = 400
"""So many characters are read of a text to find its first words."""
COMPARED_ITEMS = 20
"""Items are called by their prompts where the words a title shows of these tell most cases among the first 20
items of their dataset apart; else by their submissions."""


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
    asked = Substr(PromptWords(F("prompt")), 1, READ)
    says_nothing = Q(asked__isnull=True) | Q(dataset__in=_asked_alike(some, asked))
    answer = When(says_nothing, then=Substr("submission", 1, READ))
    words = Case(answer, default=F("asked"), output_field=TextField())
    rows = some.annotate(asked=asked, words=words, hidden=is_hidden(viewer, team))
    found = rows.values_list("pk", "position", "words", "key", "hidden")
    return {
        pk: ItemTitle(position + 1, first_words(text or ""), "" if hidden else key)
        for pk, position, text, key, hidden in found
    }


def _asked_alike(some: QuerySet[Item], asked: Substr) -> list[int]:
    """The datasets of these items whose prompts, of which `asked` is the beginning, tell few cases apart. One
    query.
    """
    # Told once for each dataset: asked anew for each item, the first 20 are most of the work of a page.
    first = Item.objects.filter(dataset__in=some.values("dataset"), position__lt=COMPARED_ITEMS).order_by()
    # All answers to a case are asked the same.
    cases: dict[int, dict[int, str]] = defaultdict(dict)
    for dataset_id, case_id, text in first.annotate(asked=asked).values_list("dataset", "case", "asked"):
        if text is not None:
            cases[dataset_id][case_id] = first_words(text)
    several = {dataset_id: len(set(words.values())) for dataset_id, words in cases.items()}
    return [pk for pk, count in several.items() if count == 1 or 2 * count <= len(cases[pk])]


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
