"""What people found wanting in a rubric: its to-do list, from the causes of decisions and from the reveal."""

from collections import Counter, defaultdict
from dataclasses import dataclass

from django.db.models import Exists, OuterRef

from rubricweb.models import (
    Adjudication,
    Cause,
    Criterion,
    Revision,
    RevisionChoice,
    Rubric,
    RubricVersion,
    User,
    in_reviews,
)
from rubricweb.selectors.blinding import hidden_items


@dataclass(frozen=True)
class CriterionWork:
    """One criterion with how often each cause was given, over all versions that ask the same (`Meaning`).

    `unclear_said` of the unclear ones were not decided so but said by raters after the reveal. `done`: the
    newest version no longer has it as it was.
    """

    criterion: Criterion
    criterion_ids: tuple[int, ...]
    counts: tuple[tuple[Cause, int], ...]
    unclear_said: int
    done: bool

    @property
    def total(self) -> int:
        return sum(count for _, count in self.counts)

    @property
    def unclear(self) -> int:
        return dict(self.counts)[Cause.RUBRIC_UNCLEAR]


def rubric_todo(rubric: Rubric, *, viewer: User) -> list[CriterionWork]:
    """Criteria with at least one cause, those to do before those done, the most unclear first.

    A unit decided as unclear counts once, whoever else said so of it. Items the viewer is still to review
    blind are left out.
    """
    newest = RubricVersion.objects.filter(rubric=rubric).order_by("-number").first()
    if newest is None:
        return []
    alike: dict[int | None, list[Criterion]] = defaultdict(list)
    for criterion in Criterion.objects.filter(version__rubric=rubric).order_by(
        "-version__number", "position"
    ):
        alike[criterion.meaning_id].append(criterion)
    given, said = _causes(rubric, viewer)
    rows = []
    for criteria in alike.values():
        ids = tuple(criterion.pk for criterion in criteria)
        found = sum((given[pk] for pk in ids), Counter[str]())
        extra = sum(said[pk] for pk in ids)
        found[Cause.RUBRIC_UNCLEAR] += extra
        if found.total():
            done = criteria[0].version_id != newest.pk
            counts = tuple((cause, found[cause]) for cause in Cause)
            rows.append(CriterionWork(criteria[0], ids, counts, extra, done))
    return sorted(rows, key=lambda row: (row.done, -row.unclear, -row.total, row.criterion.position))


def _causes(rubric: Rubric, viewer: User) -> tuple[dict[int, Counter[str]], dict[int, int]]:
    """Criterion id → cause → decisions; and criterion id → units only raters found unclear."""
    hidden = hidden_items(viewer, rubric.team)
    given: dict[int, Counter[str]] = defaultdict(Counter)
    decided = (
        Adjudication.objects.filter(item__dataset__team=rubric.team, criterion__version__rubric=rubric)
        .exclude(cause="")
        .exclude(item__in=hidden)
    )
    for criterion_id, cause in decided.values_list("criterion_id", "cause"):
        given[criterion_id][cause] += 1
    as_unclear = Adjudication.objects.filter(
        item=OuterRef("judgement__item"),
        criterion=OuterRef("judgement__criterion"),
        cause=Cause.RUBRIC_UNCLEAR,
    )
    units = (
        Revision.objects.filter(
            in_reviews("judgement__", queue__team=rubric.team),
            choice=RevisionChoice.UNCLEAR,
            judgement__criterion__version__rubric=rubric,
        )
        .exclude(judgement__item__in=hidden)
        .exclude(Exists(as_unclear))
        .order_by()
        .values_list("judgement__criterion_id", "judgement__item_id")
        .distinct()
    )
    said: dict[int, int] = defaultdict(int)
    for criterion_id, _ in units:
        said[criterion_id] += 1
    return given, said
