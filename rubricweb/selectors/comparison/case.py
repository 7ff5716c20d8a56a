"""Every answer to a case, with what judges and people said of it."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rubricweb.engine.submission import Submission
from rubricweb.errors import Withheld
from rubricweb.models import NOT_RETIRED, Case, Criterion, Item, Judgement, JudgeVersion, RunItem, Team, User
from rubricweb.selectors.blinding import is_hidden
from rubricweb.selectors.datasets.items import name_systems
from rubricweb.selectors.judges import version_told, withheld_judges
from rubricweb.selectors.labels.provenance import Provenance, items_provenance
from rubricweb.selectors.runs.over_time.score_series import judged_as
from rubricweb.selectors.shared.pages import Page, keyset_page

PAGE_SIZE = 12


@dataclass(frozen=True)
class CaseAnswer:
    """One answer with the newest `grading` of it, None until a run has graded it, and the `judge_version`
    that did, None without one and while it is not told.

    `verdicts` are the judge's in rubric order, `labels` what stands by people: criteria nobody answered are
    in neither.
    """

    item: Item
    submission: Submission
    grading: RunItem | None
    judge_version: JudgeVersion | None
    verdicts: tuple[Judgement, ...]
    labels: tuple[tuple[Criterion, Provenance], ...]

    @property
    def criteria(self) -> list[tuple[Criterion, Judgement | None, Provenance | None]]:
        """Every criterion somebody answered: what the judge said, and what people did."""
        verdicts = {one.criterion_id: one for one in self.verdicts}
        stands = {criterion.pk: label for criterion, label in self.labels}
        rows = [one.criterion for one in self.verdicts]
        rows += [criterion for criterion, _ in self.labels if criterion.pk not in verdicts]
        return [(one, verdicts.get(one.pk), stands.get(one.pk)) for one in rows]

    @property
    def is_current(self) -> bool:
        return self.item.retired_in == NOT_RETIRED


@dataclass(frozen=True)
class CaseAnswers:
    """Answers to a case, a page of them; `graded_alike` says that one judge graded those by one rubric.

    `hidden` others are left out of all pages: the viewer is still to review them blind.
    """

    answers: tuple[CaseAnswer, ...]
    next_cursor: str | None
    graded_alike: bool
    hidden: int


def case_answers(
    case: Case, *, viewer: User, cursor: str | None = None, size: int = PAGE_SIZE
) -> CaseAnswers:
    """The answers by the order of their system versions, then attempts; retired ones are among them.

    Those hidden from the viewer are left out and counted; raises Withheld where all are. The number of
    queries does not depend on that of answers.
    """
    team = case.dataset.team
    answers = Item.objects.filter(case=case)
    hidden = list(answers.filter(is_hidden(viewer, team)).values_list("pk", flat=True))
    answers = answers.exclude(pk__in=hidden)
    if hidden and not answers.exists():
        raise Withheld(
            "You are a rater of an answer to this case, or of the same words, in an open blind queue. Who "
            "answered, and what was said of it, appears once you have submitted your reviews."
        )
    page: Page[Item] = keyset_page(
        answers.select_related("dataset__team", "case", "system_version__system"),
        order=("system_version__system_id", "system_version__position", "attempt", "pk"),
        cursor=cursor,
        size=size,
    )
    name_systems(page.rows, viewer=viewer, team=team)
    gradings = _newest_gradings(page.rows)
    versions = _judge_versions(gradings, viewer, team)
    verdicts = _verdicts(list(gradings.values()))
    labels = items_provenance(page.rows)
    found = tuple(
        CaseAnswer(
            item,
            item.to_engine(),
            gradings.get(item.pk),
            versions.get(item.pk),
            tuple(verdicts[item.pk]),
            tuple(labels.get(item.pk, ())),
        )
        for item in page.rows
    )
    alike = len({judged_as(row.run) for row in gradings.values()}) <= 1
    return CaseAnswers(found, page.next_cursor, alike, len(hidden))


def _newest_gradings(items: Sequence[Item]) -> dict[int, RunItem]:
    """Item id → its row in the newest run that has graded it."""
    rows = RunItem.every.filter(item__in=items, graded_at__isnull=False, run__team__deleted_at=None)
    rows = rows.select_related("run__system_version", "run__rubric_version", "run__judge_version__judge")
    return {row.item_id: row for row in rows.defer("run__judge_version__definition").order_by("run_id")}


def _judge_versions(
    gradings: Mapping[int, RunItem], viewer: User, team: Team
) -> dict[int, JudgeVersion | None]:
    """Item id → the version of a judge that graded it, as far as this person may know it."""
    withheld = withheld_judges(team, viewer) if gradings else frozenset()
    return {item_id: version_told(row.run, withheld) for item_id, row in gradings.items()}


def _verdicts(gradings: Sequence[RunItem]) -> dict[int, list[Judgement]]:
    """Item id → what the judge of its grading said, in rubric order."""
    of_run = {row.item_id: row.run_id for row in gradings}
    found: dict[int, list[Judgement]] = defaultdict(list)
    rows = Judgement.objects.filter(run__in=set(of_run.values()), item__in=of_run, repeat=0)
    for row in rows.select_related("criterion").order_by("criterion__position"):
        if row.run_id == of_run[row.item_id]:
            found[row.item_id].append(row)
    return found
