"""Lists of items narrowed by what was said of them: by people's labels, and by a run's scores and errors.

An item that is hidden from the reader is on none of these lists, whatever was said of it: its place in one,
or its absence, would tell.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite

from django.db.models import Count, Exists, IntegerField, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from rubricweb.errors import Invalid
from rubricweb.models import (
    Item,
    Rater,
    RaterKind,
    Review,
    ReviewState,
    Run,
    RunItem,
    Team,
)

LABELS = {
    "none": "not labelled",
    "some": "labelled",
    "1": "by one person",
    "2": "by two people",
    "3": "by three or more",
}
ERRORS = {"yes": "with errors", "no": "without errors"}
FIELDS = ("labels", "by", "score_from", "score_to", "errors", "run")
"""The names these filters have in addresses, in the API and in views that were saved."""


@dataclass(frozen=True)
class Judged:
    """What was said of the items of a list. `labels` is one of LABELS, by how many people have labelled them;
    `by` is a rater who has, by id. Scores, from 0 to 1 unless raw, and `errors`, one of ERRORS, are those of
    `run`, without one of the newest run that graded the item. "" and None ask for nothing.
    """

    labels: str = ""
    by: int | None = None
    score_from: float | None = None
    score_to: float | None = None
    errors: str = ""
    run: int | None = None

    @property
    def is_asked(self) -> bool:
        return self != Judged()

    @property
    def as_query(self) -> list[tuple[str, str]]:
        """(name, value) of what is asked, as addresses say it."""
        values = [(name, getattr(self, name)) for name in FIELDS]
        return [
            (name, f"{value:g}" if isinstance(value, float) else str(value))
            for name, value in values
            if value not in ("", None)
        ]


ANYTHING = Judged()


def read_judged(team: Team, said: Mapping[str, str]) -> Judged:
    """As addresses and commands say it; empty texts ask for nothing. Raises Invalid naming what is wrong."""
    texts = {name: str(said.get(name) or "").replace("\0", "").strip() for name in FIELDS}
    for name, allowed in (("labels", LABELS), ("errors", ERRORS)):
        if texts[name] and texts[name] not in allowed:
            raise Invalid.at(name, repr(texts[name][:40]), ", ".join(allowed))
    by, run = (_id(name, texts[name]) for name in ("by", "run"))
    if by is not None and not Rater.objects.filter(team=team, pk=by).exists():
        raise Invalid.at("by", str(by), "the id of somebody who labels in the team")
    if run is not None and not Run.objects.filter(team=team, pk=run).exists():
        raise Invalid.at("run", str(run), "the number of a run of the team")
    low, high = (_score(name, texts[name]) for name in ("score_from", "score_to"))
    return Judged(texts["labels"], by, low, high, texts["errors"], run)


def _id(name: str, text: str) -> int | None:
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise Invalid.at(name, repr(text[:40]), "a whole number")
    return int(text)


def _score(name: str, text: str) -> float | None:
    if not text:
        return None
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    if not isfinite(number):
        raise Invalid.at(name, repr(text[:40]), "a number")
    return number


def judged_as(rows: QuerySet[Item], judged: Judged) -> QuerySet[Item]:
    """The items of which that was said. Of hidden ones it asks nothing: leave these out."""
    labelled = labels_of_people()
    if judged.by is not None:
        named = Q(rater=judged.by) | Q(rater__same_as=judged.by)
        rows = rows.filter(Exists(labelled.filter(named, item=OuterRef("pk"))))
    if judged.labels in ("none", "some"):
        there = Exists(labelled.filter(item=OuterRef("pk")))
        rows = rows.filter(there if judged.labels == "some" else ~there)
    elif judged.labels:
        people = Coalesce("rater__same_as", "rater")
        counted = labelled.filter(item=OuterRef("pk")).order_by().values("item")
        number = Subquery(counted.annotate(n=Count(people, distinct=True)).values("n"))
        rows = rows.annotate(people=Coalesce(number, 0, output_field=IntegerField()))
        rows = rows.filter(people__gte=3) if judged.labels == "3" else rows.filter(people=int(judged.labels))
    if judged.run is not None:
        rows = rows.filter(Exists(RunItem.objects.filter(run=judged.run, item=OuterRef("pk"))))
    if judged.score_from is not None or judged.score_to is not None or judged.errors:
        rows = _scored(rows, judged)
    return rows


def labels_of_people() -> QuerySet[Review]:
    """Reviews in which people labelled: drafts and what a file settled are no labels of theirs."""
    return Review.objects.filter(state=ReviewState.SUBMITTED, rater__kind=RaterKind.HUMAN)


def _scored(rows: QuerySet[Item], judged: Judged) -> QuerySet[Item]:
    newest = gradings().filter(item=OuterRef("pk"))
    if judged.run is not None:
        newest = newest.filter(run=judged.run)
    newest = newest.order_by("-run_id")
    rows = rows.annotate(found_errors=Subquery(newest.values("errors")[:1]))
    if judged.errors:
        rows = rows.filter(found_errors__gt=0) if judged.errors == "yes" else rows.filter(found_errors=0)
    if judged.score_from is None and judged.score_to is None:
        return rows
    # A score beside a failed verdict is no score: see FULLY_JUDGED.
    rows = rows.annotate(found_score=Subquery(newest.values("score")[:1])).filter(found_errors=0)
    if judged.score_from is not None:
        rows = rows.filter(found_score__gte=judged.score_from)
    if judged.score_to is not None:
        rows = rows.filter(found_score__lte=judged.score_to)
    return rows


def gradings() -> QuerySet[RunItem]:
    """What runs found of items they have graded."""
    return RunItem.objects.filter(graded_at__isnull=False, run__team__deleted_at=None)
