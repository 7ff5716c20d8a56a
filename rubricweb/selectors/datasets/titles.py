"""What items are called on pages: their number and the first words of what they hold."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import Case as CaseOf
from django.db.models import F, Func, Q, QuerySet, TextField, When
from django.db.models.functions import Coalesce, Substr

from rubricweb.engine.formats.content_ids import given_key, name_of
from rubricweb.engine.parsers.plain_text import first_words
from rubricweb.models import Case, Dataset, Item, Team, User
from rubricweb.selectors.blinding import is_hidden

READ = 400
"""So many characters are read of a text to find its first words."""
COMPARED_ITEMS = 20
"""Items are called by their prompts where the words a title shows of these tell most cases among the first 20
items of their dataset apart; else by their submissions."""


@dataclass(frozen=True)
class ItemTitle:
    """What one person is shown as the name of an item: "12 Why is the sky blue?".

    `number` is its place in its dataset, from 1. `key` is the id somebody gave it in a file, "" where nobody
    did and for those who must not see it.
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
    words = CaseOf(answer, default=F("asked"), output_field=TextField())
    rows = some.annotate(asked=asked, words=words, hidden=is_hidden(viewer, team))
    found = rows.values_list("pk", "position", "words", "key", "hidden")
    return {
        pk: ItemTitle(position + 1, first_words(text or ""), "" if hidden else given_key(key))
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


def names_of(items: QuerySet[Item]) -> dict[int, str]:
    """What people call these items, by their ids and in their order: see `name_of`. One query."""
    rows = items.annotate(begins=Substr("submission", 1, READ)).values_list("pk", "key", "begins")
    return {pk: name_of(key, first_words(begins), id=pk) for pk, key, begins in rows}


def item_names(dataset: Dataset, keys: Iterable[str], *, viewer: User) -> dict[str, str]:
    """What people call current items of the dataset, by their keys: see `name_of`. Keys nobody gave that are
    none of its items are not there. Four queries where a key was made, else none.
    """
    keys = list(dict.fromkeys(keys))
    made = [key for key in keys if not given_key(key)]
    rows = Item.objects.current().filter(dataset=dataset, key__in=made) if made else Item.objects.none()
    items = dict(rows.order_by().values_list("key", "pk"))
    titles = item_titles(items.values(), viewer=viewer, team=dataset.team) if items else {}
    of_made = {key: str(titles[pk]) for key, pk in items.items() if pk in titles}
    return {key: key for key in keys if given_key(key)} | of_made


def named_cases(cases: Iterable[tuple[int, str]]) -> dict[int, str]:
    """What people call these cases, given with their keys, by their ids: see `name_of`. The words are those
    asked, or of an answer where none are. One query where a key was made, else none.
    """
    keys = dict(cases)
    words: dict[int, str] = {}
    if made := [pk for pk, key in keys.items() if not given_key(key)]:
        begins = Coalesce(Substr(PromptWords(F("prompt")), 1, READ), Substr("submission", 1, READ))
        rows = Item.objects.filter(case__in=made).annotate(begins=begins).order_by("wording", "-pk")
        words = {pk: first_words(text) for pk, text in rows.values_list("case", "begins")}
    return {pk: name_of(key, words.get(pk, ""), id=pk) for pk, key in keys.items()}


def case_names(dataset: Dataset, keys: Iterable[str]) -> list[str]:
    """The same by their keys, of which the dataset may lack some. Two queries where a key was made."""
    keys = list(keys)
    made = [key for key in keys if not given_key(key)]
    cases = Case.objects.filter(dataset=dataset, key__in=made).values_list("pk", "key") if made else ()
    ids = {key: pk for pk, key in cases}
    names = named_cases((pk, key) for key, pk in ids.items())
    return list(dict.fromkeys(names[ids[key]] if key in ids else name_of(key) for key in keys))


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
