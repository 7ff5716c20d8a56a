"""Rubrics and their versions, as lists and pages show them."""

import json
import math
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, OuterRef, Prefetch, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from rubricweb import engine
from rubricweb.engine.autograders import PerCriterionGrader
from rubricweb.engine.autograders.base import Prompt
from rubricweb.engine.errors import Fault, FaultList
from rubricweb.engine.parsers.yaml_text import dump_yaml
from rubricweb.engine.rubric import check_rubric
from rubricweb.engine.rubric.diff import RubricDiff, rubric_diff
from rubricweb.engine.rubric.identity import with_ids
from rubricweb.engine.rubric.sections import nested
from rubricweb.engine.scoring.points import score_points
from rubricweb.errors import NotFound
from rubricweb.models import (
    Criterion,
    Dataset,
    Item,
    ReviewQueue,
    Rubric,
    RubricVersion,
    Run,
    Team,
    User,
    unarchived,
)
from rubricweb.selectors.rubrics.earlier_criteria import earlier_criteria
from rubricweb.selectors.rubrics.label_changes import LabelChanges, changes_in_draft
from rubricweb.selectors.shared.pages import Page, keyset_page

NO_ITEM = engine.Submission(
    output="(The submission stands here. Import a dataset to see a real one.)",
    query="(The prompt stands here.)",
)


def rubrics(
    team: Team, *, search: str = "", archived: bool = False, cursor: str | None = None, size: int = 50
) -> Page[Rubric]:
    """The team's rubrics, newest edit first; or those archived.

    Each has `newest_number`, `newest_id` and `criterion_count` of its newest version (None before v1) and
    `run_count`.
    """
    newest = RubricVersion.objects.filter(rubric=OuterRef("pk")).order_by("-number")
    counted = newest.annotate(criterion_total=Count("criteria"))
    rows = (
        Rubric.objects.filter(unarchived(archived=archived), team=team)
        .defer("draft")
        .annotate(
            newest_number=Subquery(newest.values("number")[:1]),
            newest_id=Subquery(newest.values("pk")[:1]),
            criterion_count=Subquery(counted.values("criterion_total")[:1]),
            run_count=Count("versions__runs", distinct=True),
        )
    )
    if search:
        rows = rows.filter(title__icontains=search)
    return keyset_page(rows, order=("-updated_at", "-pk"), cursor=cursor, size=size)


def versions(rubric: Rubric) -> QuerySet[RubricVersion]:
    """Every published version, newest first, with `criterion_count`, `run_count` and `queue_count`."""
    return (
        rubric.versions.select_related("published_by")
        .annotate(
            criterion_count=_count(Criterion.objects.all(), "version"),
            run_count=_count(Run.objects.all(), "rubric_version"),
            queue_count=_count(ReviewQueue.objects.all(), "rubric_version"),
        )
        .order_by("-number")
    )


def _count(rows: QuerySet[Any], version: str) -> Coalesce:
    """How many rows have the version in that field: joined to one another, they would multiply."""
    own = rows.filter(**{version: OuterRef("pk")}).order_by().values(version)
    return Coalesce(Subquery(own.annotate(n=Count("pk")).values("n")), 0)


def version_numbers(rubric: Rubric) -> QuerySet[RubricVersion]:
    """Every published version, newest first, with its number alone."""
    return rubric.versions.only("number").order_by("-number")


def version_with_criteria(version_id: int) -> RubricVersion:
    return _with_criteria().get(pk=version_id)


def numbered_version(rubric: Rubric, number: int) -> RubricVersion:
    """Version `number` of a rubric with its criteria. Raises NotFound."""
    version = _with_criteria().filter(rubric=rubric, number=number).first() if number < 2**31 else None
    if version is None:
        raise NotFound("rubric version")
    return version


def _with_criteria() -> QuerySet[RubricVersion]:
    return RubricVersion.objects.select_related("rubric", "published_by").prefetch_related(
        Prefetch("criteria", Criterion.objects.order_by("position"))
    )


def published_versions(team: Team) -> QuerySet[RubricVersion]:
    """What a run or a queue can be started with: newest version of the most recently edited rubric first."""
    return (
        RubricVersion.objects.filter(unarchived("rubric__"), rubric__team=team)
        .select_related("rubric")
        .order_by("-rubric__updated_at", "-rubric_id", "-number")
    )


def missing_for_judging(team: Team) -> str:
    """What must be there before a run or a queue can start and is not: "dataset", then "rubric"; else "".

    A rubric is a published version, or one that an item brings along.
    """
    datasets = Dataset.objects.filter(unarchived(), team=team)
    if not datasets.exists():
        return "dataset"
    own = Item.objects.current().filter(dataset__in=datasets, rubric_version__isnull=False)
    return "" if published_versions(team).exists() or own.exists() else "rubric"


# ── The draft ────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class DraftState:
    """How a draft stands: what keeps it from being published, and what publishing would change.

    `content` is None while there are faults, `diff` also before the first version, and so are the `labels`
    that were given to other words.
    """

    content: engine.Rubric | None
    faults: tuple[Fault, ...]
    newest: RubricVersion | None
    diff: RubricDiff | None
    next_number: int
    labels: LabelChanges | None

    @property
    def publishable(self) -> bool:
        """Whether publishing would make a new version."""
        return self.content is not None and (self.diff is None or bool(self.diff) or self.metadata_changed)

    @property
    def metadata_changed(self) -> bool:
        """Whether ids, descriptions or sections of the file differ from the newest version's."""
        newest, content = self.newest, self.content
        return newest is not None and content is not None and newest.metadata != content.metadata


def draft_state(rubric: Rubric, *, viewer: User) -> DraftState:
    """The saved draft beside the newest version."""
    content, faults = checked_draft(rubric.draft)
    newest = _with_criteria().filter(rubric=rubric).order_by("-number").first()
    diff, labels = None, None
    if newest is not None and content is not None:
        before = newest.to_engine()
        content = with_ids(content, earlier_criteria(rubric, [one.id for one in content.criteria]))
        diff = rubric_diff(before, content)
        labels = changes_in_draft(rubric, content, viewer=viewer)
    number = (newest.number or 0) + 1 if newest is not None else 1
    return DraftState(content, faults, newest, diff, number, labels)


def checked_draft(draft: Any) -> tuple[engine.Rubric | None, tuple[Fault, ...]]:
    """The draft as the engine's rubric, or None and every fault."""
    faults = FaultList()
    content = check_rubric(draft, faults)
    return content, tuple(faults)


def draft_as_file(rubric: Rubric) -> dict[str, Any]:
    """The saved draft as plain data, complete or not, with its criteria inside its sections."""
    head = ("title", "id", "description", "guidelines")
    shown = {key: rubric.draft[key] for key in head if rubric.draft.get(key)}
    shown["criteria"] = rubric.draft.get("criteria") or []
    rest = ("sections", "pass_rule", "length_penalty")
    return nested(shown | {key: rubric.draft[key] for key in rest if rubric.draft.get(key)})


def draft_source(rubric: Rubric, format: str) -> str:
    """The saved draft as "yaml" or "json" text, complete or not."""
    shown = draft_as_file(rubric)
    if format == "json":
        return json.dumps(shown, ensure_ascii=False, indent=2) + "\n"
    return dump_yaml(shown)


# ── One version ──────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class WeightedCriterion:
    """A criterion with the points of the score (of 100) that its answers move; negative for an error."""

    criterion: Criterion
    points: float | None


@dataclass(frozen=True)
class CriterionGroup:
    """Criteria of one group in rubric order; the name is empty for those without a group.

    `gain` and `loss` are the points of the score that its wanted criteria give and its errors take (≤ 0).
    """

    name: str
    gain: float
    loss: float
    criteria: tuple[WeightedCriterion, ...]


def grouped(version: RubricVersion) -> list[CriterionGroup]:
    """A version's criteria by group, groups in order of first appearance. Reads `version.criteria`."""
    criteria = list(version.criteria.all())
    points = score_points(
        [criterion.weight for criterion in criteria], [criterion.to_engine().span for criterion in criteria]
    )
    groups: dict[str, list[WeightedCriterion]] = {}
    for criterion, moved in zip(criteria, points, strict=True):
        groups.setdefault(criterion.group, []).append(WeightedCriterion(criterion, moved))
    return [_group(name, members) for name, members in groups.items()]


def weighted_criteria(content: engine.Rubric) -> list[tuple[engine.Criterion, float | None]]:
    """The criteria of a rubric that need not be published, each with its points of the score."""
    points = score_points(list(content.weights), [criterion.span for criterion in content.criteria])
    return list(zip(content.criteria, points, strict=True))


def _group(name: str, members: list[WeightedCriterion]) -> CriterionGroup:
    points = [each.points or 0.0 for each in members]
    gain, loss = (math.fsum(each for each in points if sign * each > 0) for sign in (1, -1))
    return CriterionGroup(name, gain, loss, tuple(members))


def changes_before(version: RubricVersion) -> RubricDiff | None:
    """What this version changed against the one before it; None for the first."""
    older = _with_criteria().filter(rubric=version.rubric_id, number__lt=version.number)
    previous = older.order_by("-number").first()
    return None if previous is None else rubric_diff(previous.to_engine(), version.to_engine())


def runs_with(rubric: Rubric, *, version: RubricVersion | None = None, size: int = 10) -> QuerySet[Run]:
    """The newest runs graded with this rubric, or with one version of it."""
    chosen = Q(rubric_version__rubric=rubric) if version is None else Q(rubric_version=version)
    runs = Run.objects.filter(chosen).select_related("dataset", "rubric_version")
    return runs.order_by("-created_at", "-pk")[:size]


def queues_with(
    rubric: Rubric, *, version: RubricVersion | None = None, size: int = 10
) -> QuerySet[ReviewQueue]:
    """The newest review queues labelled with this rubric, or with one version of it."""
    chosen = Q(rubric_version__rubric=rubric) if version is None else Q(rubric_version=version)
    queues = ReviewQueue.objects.filter(chosen).select_related("dataset", "rubric_version")
    return queues.order_by("-created_at", "-pk")[:size]


# ── What a judge would be asked ──────────────────────────────────────────────────────────────────


def sample_item(rubric: Rubric) -> Item | None:
    """A real item to show the rubric on: of its newest run's dataset, else of the team's newest dataset."""
    run = Run.objects.filter(rubric_version__rubric=rubric).order_by("-created_at", "-pk").first()
    if run is not None:
        dataset: Dataset | None = run.dataset
    else:
        dataset = (
            Dataset.objects.filter(unarchived(), team=rubric.team_id).order_by("-created_at", "-pk").first()
        )
    return (
        None
        if dataset is None
        else dataset.items.current().select_related("dataset").order_by("position").first()
    )


def judge_prompt(content: engine.Rubric, index: int, item: Item | None) -> Prompt:
    """What a judge is asked about one criterion (0-based) of an item; a placeholder stands in for None."""
    submission = NO_ITEM if item is None else item.to_engine()
    [prompt] = PerCriterionGrader().prompts(submission, content, only=[index])
    return prompt
