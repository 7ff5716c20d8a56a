"""Everything of a team that goes by some words: rows of every kind by their names, items by what they say.

Whoever reviews blind finds an item by its words alone and no case of it, as in the lists: decision 0040.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import F, Q, QuerySet
from django.db.models.functions import Substr

from rubricweb.engine.formats.content_ids import given_key
from rubricweb.errors import Invalid
from rubricweb.models import (
    Case,
    Dataset,
    Item,
    Judge,
    Membership,
    ReviewQueue,
    Rubric,
    Run,
    System,
    Team,
    User,
    unarchived,
)
from rubricweb.selectors.blinding import is_hidden
from rubricweb.selectors.datasets.titles import READ, PromptWords, item_titles
from rubricweb.selectors.shared.pages import SEARCH_CHARACTERS

LOOKED_INTO = 20
"""Of how many datasets, the newest ones, items and cases are looked for by their words."""
FIRST_ITEMS = 500
"""Among how many items of each of these, the first ones: so much is read of texts, however many there are."""
WORDS_MAX = 8
"""Words beyond these are not looked for."""
PER_KIND = 6
MORE = 4
"""So many times as many keys are read as are shown: some are hidden, some were made from the content."""


@dataclass(frozen=True)
class Match:
    """A row that was found: what it is, its id, what it is called, and where it belongs ("" for nowhere).

    `when` is the time it was made, or last changed; None of what is found by other orders.
    """

    kind: str
    id: int
    name: str
    detail: str
    when: datetime | None = None


def search(
    team: Team, text: str, *, viewer: User, kinds: Sequence[str] = (), size: int = PER_KIND
) -> list[Match]:
    """What goes by all words of the text, of these kinds or of all: at most `size` of each, the newest first,
    but those that begin with the text before all others.

    A number is an id as well: of a run, a queue or an item, or an item's number in its dataset. Keys are
    found as a whole in all of the newest `LOOKED_INTO` datasets, else as words are, among the first
    `FIRST_ITEMS` items of each. About twenty queries. Raises Invalid for an unknown kind or too long a text.
    """
    text = text.strip()
    if len(text) > SEARCH_CHARACTERS:
        raise Invalid.about("q", f"Search for at most {SEARCH_CHARACTERS} characters, not {len(text)}.")
    unknown = [kind for kind in kinds if kind not in KINDS]
    if unknown:
        raise Invalid.at("kind", repr(unknown[0][:40]), ", ".join(KINDS))
    words = text.split()[:WORDS_MAX]
    if not words:
        return []
    asked = _Asked(team, viewer, text, tuple(words), size)
    found = []
    for kind in kinds or KINDS:
        hits = KINDS[kind](asked)
        found += sorted(hits, key=lambda hit: not hit.name.lower().startswith(text.lower()))
    return found


def recent(team: Team, *, size: int = 8) -> list[Match]:
    """What was made or changed last in the team: runs, queues, datasets and rubrics. Four queries."""
    rows = [
        *(_run_hit(run) for run in _newest(_runs(team), "created_at", size)),
        *(_queue_hit(queue) for queue in _newest(_queues(team), "created_at", size)),
        *(_dataset_hit(one) for one in _newest(_datasets(team), "created_at", size)),
        *(_rubric_hit(one) for one in _newest(_rubrics(team), "updated_at", size)),
    ]
    return sorted(rows, key=lambda hit: hit.when.timestamp() if hit.when else 0.0, reverse=True)[:size]


@dataclass(frozen=True)
class _Asked:
    team: Team
    viewer: User
    text: str
    words: tuple[str, ...]
    size: int

    @property
    def number(self) -> int | None:
        """The id that the text is, as `12` or `#12`; None where it is no number of a row."""
        digits = self.text.removeprefix("#")
        return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 19 else None

    def named(self, *fields: str) -> Q:
        """The condition on rows that each word stands in one of these fields."""
        condition = Q()
        for word in self.words:
            somewhere = Q()
            for field in fields:
                somewhere |= Q((f"{field}__icontains", word))
            condition &= somewhere
        return condition

    @property
    def datasets(self) -> list[int]:
        rows = Dataset.objects.filter(unarchived(), team=self.team).order_by("-created_at", "-pk")
        return list(rows.values_list("pk", flat=True)[:LOOKED_INTO])


def _newest(rows: QuerySet[Any], field: str, size: int) -> QuerySet[Any]:
    return rows.order_by(f"-{field}", "-pk")[:size]


# ── Rows with names ──────────────────────────────────────────────────────────────────────────────


def _rubrics(team: Team) -> QuerySet[Rubric]:
    return Rubric.objects.filter(unarchived(), team=team).only("pk", "title", "updated_at")


def _rubric_hit(rubric: Rubric) -> Match:
    return Match("rubric", rubric.pk, str(rubric), "", rubric.updated_at)


def _find_rubrics(asked: _Asked) -> list[Match]:
    rows = _rubrics(asked.team).filter(asked.named("title"))
    return [_rubric_hit(row) for row in _newest(rows, "updated_at", asked.size)]


def _datasets(team: Team) -> QuerySet[Dataset]:
    return Dataset.objects.filter(unarchived(), team=team).only("pk", "name", "description", "created_at")


def _dataset_hit(dataset: Dataset) -> Match:
    return Match("dataset", dataset.pk, str(dataset), dataset.description, dataset.created_at)


def _find_datasets(asked: _Asked) -> list[Match]:
    rows = _datasets(asked.team).filter(asked.named("name", "description"))
    return [_dataset_hit(row) for row in _newest(rows, "created_at", asked.size)]


def _runs(team: Team) -> QuerySet[Run]:
    rows = Run.objects.filter(unarchived(), team=team).select_related("dataset")
    return rows.only("pk", "name", "created_at", "dataset__name")


def _run_hit(run: Run) -> Match:
    return Match("run", run.pk, str(run), str(run.dataset), run.created_at)


def _find_runs(asked: _Asked) -> list[Match]:
    words = [word for word in asked.words if word.lower() != "run"]
    called = Q(name="", pk=int(words[0])) if len(words) == 1 and _is_id(words[0]) else Q(pk=None)
    rows = _runs(asked.team).filter(asked.named("name", "dataset__name") | called | Q(pk=asked.number))
    return [_run_hit(row) for row in _newest(rows, "created_at", asked.size)]


def _is_id(word: str) -> bool:
    return word.isascii() and word.isdigit() and len(word) < 19


def _queues(team: Team) -> QuerySet[ReviewQueue]:
    rows = ReviewQueue.objects.filter(unarchived(), team=team, imported=False).select_related("dataset")
    return rows.only("pk", "name", "created_at", "dataset__name")


def _queue_hit(queue: ReviewQueue) -> Match:
    return Match("queue", queue.pk, queue.name, str(queue.dataset), queue.created_at)


def _find_queues(asked: _Asked) -> list[Match]:
    rows = _queues(asked.team).filter(asked.named("name", "dataset__name") | Q(pk=asked.number))
    return [_queue_hit(row) for row in _newest(rows, "created_at", asked.size)]


def _find_judges(asked: _Asked) -> list[Match]:
    rows = Judge.objects.filter(unarchived(), asked.named("name", "slug"), team=asked.team)
    found = rows.only("pk", "name", "slug", "created_at").order_by("-pk")[: asked.size]
    return [Match("judge", row.pk, row.name, row.slug, row.created_at) for row in found]


def _find_systems(asked: _Asked) -> list[Match]:
    rows = System.objects.filter(unarchived(), asked.named("name"), team=asked.team).exclude(name="")
    found = rows.order_by("-pk")[: asked.size]
    return [Match("system", row.pk, row.name, "", row.created_at) for row in found]


def _find_people(asked: _Asked) -> list[Match]:
    rows = Membership.objects.filter(asked.named("user__name", "user__username"), team=asked.team)
    rows = rows.select_related("user").order_by("user__username")
    return [Match("person", row.user_id, str(row.user), row.get_role_display()) for row in rows[: asked.size]]


# ── What datasets hold ───────────────────────────────────────────────────────────────────────────


def _find_cases(asked: _Asked) -> list[Match]:
    """By the key somebody gave them; none of which some answer is hidden."""
    keys = _by_key(Case.objects.filter(dataset__in=asked.datasets), asked)
    hidden = Item.objects.filter(is_hidden(asked.viewer, asked.team), case__in=keys).order_by()
    untold = set(hidden.values_list("case_id", flat=True)) if keys else set()
    rows = Case.objects.filter(pk__in=[pk for pk in keys if pk not in untold][: asked.size])
    return [Match("case", row.pk, row.key, str(row.dataset)) for row in rows.select_related("dataset")]


def _find_items(asked: _Asked) -> list[Match]:
    """By id, by number, by key, and by the first words of prompt and submission."""
    datasets = asked.datasets
    rows = Item.objects.current().filter(dataset__in=datasets).order_by("-dataset_id", "position")
    said = rows.filter(position__lt=FIRST_ITEMS).annotate(
        asked=Substr(PromptWords(F("prompt")), 1, READ), begins=Substr("submission", 1, READ)
    )
    ids = list(said.filter(asked.named("asked", "begins")).values_list("pk", flat=True)[: asked.size])
    ids += _called(asked, datasets)
    if asked.number is not None:
        of_team = Item.objects.current().filter(dataset__team=asked.team, pk=asked.number)
        ids = [*of_team.values_list("pk", flat=True), *ids]
        numbered = rows.filter(position=asked.number - 1) if 0 < asked.number < 2**31 else rows.none()
        ids += numbered.values_list("pk", flat=True)[: asked.size]
    ids = list(dict.fromkeys(ids))[: asked.size]
    titles = item_titles(ids, viewer=asked.viewer, team=asked.team)
    places = dict(Item.objects.filter(pk__in=ids).order_by().values_list("pk", "dataset__name"))
    return [Match("item", pk, str(titles[pk]), places[pk]) for pk in ids if pk in titles]


def _called(asked: _Asked, datasets: list[int]) -> list[int]:
    """Items by the keys somebody gave them, without those whose key is withheld."""
    keys = _by_key(Item.objects.current().filter(dataset__in=datasets), asked)
    untold = Item.objects.filter(is_hidden(asked.viewer, asked.team), pk__in=keys).order_by()
    hidden = set(untold.values_list("pk", flat=True)) if keys else set()
    return [pk for pk in keys if pk not in hidden][: asked.size]


def _by_key(rows: QuerySet[Any], asked: _Asked) -> list[int]:
    """The ids of those whose key is the text, then of those in whose key all words stand.

    Two queries: as one condition no database finds either by an index.
    """
    first = rows.filter(asked.named("key"), position__lt=FIRST_ITEMS).order_by("-dataset_id", "position")
    found: dict[int, str] = {}
    for some in (rows.filter(key=asked.text).order_by("-dataset_id"), first):
        found |= dict(some.values_list("pk", "key")[: MORE * asked.size])
    return [pk for pk, key in found.items() if given_key(key)]


KINDS: dict[str, Callable[[_Asked], list[Match]]] = {
    "rubric": _find_rubrics,
    "dataset": _find_datasets,
    "run": _find_runs,
    "queue": _find_queues,
    "judge": _find_judges,
    "system": _find_systems,
    "case": _find_cases,
    "item": _find_items,
    "person": _find_people,
}
"""What is searched for, in the order in which it is listed."""
