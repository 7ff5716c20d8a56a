"""Runs: the list of them, and the access check of one item of a run."""

from dataclasses import dataclass

from django.db.models import Count, Q, QuerySet

from rubricweb.errors import Invalid
from rubricweb.models import (
    UNENDED,
    Dataset,
    Item,
    JudgeVersion,
    Rubric,
    Run,
    RunItem,
    RunState,
    RunSummary,
    Team,
    User,
    unarchived,
)
from rubricweb.selectors.blinding import hidden_runs, require_visible
from rubricweb.selectors.judges import shown_judge, version_told, withheld_judges
from rubricweb.selectors.shared.judge_use import with_judge
from rubricweb.selectors.shared.pages import keyset_page
from rubricweb.selectors.withheld_runs import hides_examples, stop_reason, withheld_runs

ARCHIVED = "archived"
STATES = (*RunState.values, ARCHIVED)
"""What the list can be narrowed to."""


@dataclass(frozen=True)
class RunRow:
    """A run as the list shows it; `graded` of `items` are counted only until it has ended.

    `summary` is None until the run has ended, and while it is `withheld`: the viewer is still to review some
    of its items blind. `stop_reason` is why it ended before everything was graded, as far as may be told;
    `hides_examples` whether the viewer must not learn which examples its judges are shown. `judge` is what
    the list calls its judge, `version` the version of it as far as it may be told.
    """

    run: Run
    summary: RunSummary | None
    withheld: bool
    stop_reason: str
    hides_examples: bool
    judge: str
    version: JudgeVersion | None
    graded: int | None
    items: int | None

    @property
    def errored(self) -> int | None:
        """How many items of a run that is finished have an error; None where that is not known or told."""
        if self.summary is None or self.run.state != RunState.FINISHED:
            return None
        return self.summary.items - self.summary.fully_judged


@dataclass(frozen=True)
class RunList:
    """One page of runs; `next_cursor` opens the following one."""

    rows: tuple[RunRow, ...]
    next_cursor: str | None

    @property
    def live(self) -> bool:
        return any(row.run.state == RunState.RUNNING for row in self.rows)


@dataclass(frozen=True)
class RunFilters:
    """What the list of runs can be narrowed to."""

    datasets: QuerySet[Dataset]
    rubrics: QuerySet[Rubric]
    states: tuple[str, ...]


def runs(
    team: Team,
    *,
    viewer: User,
    narrowed: Q | None = None,
    state: str = "",
    unended: bool = False,
    cursor: str | None = None,
    size: int = 50,
) -> RunList:
    """The team's runs, newest first, with their summaries, and how far those that have not ended are; with
    `unended` only these: running or paused. `narrowed` is what `of` gives. The state ARCHIVED is of those
    that were archived, which the others leave out.

    Three queries, and a few more for somebody who rates in an open blind queue.
    """
    rows = with_judge(Run.objects.filter(unarchived(archived=state == ARCHIVED), team=team)).select_related(
        "dataset", "rubric_version", "summary", "created_by", "system_version__system"
    )
    rows = rows.filter(narrowed or Q())
    if state and state != ARCHIVED:
        if state not in RunState.values:
            raise Invalid(f"{state!r} is not a state of a run. Allowed: {', '.join(STATES)}.")
        rows = rows.filter(state=state)
    if unended:
        rows = rows.filter(state__in=UNENDED)
    page = keyset_page(rows, order=("-created_at", "-pk"), cursor=cursor, size=size)
    counts = {
        run_id: (graded, items)
        for run_id, graded, items in RunItem.objects.filter(
            run__in=[run.pk for run in page.rows if run.state in UNENDED]
        )
        .order_by()
        .values("run_id")
        .annotate(graded=Count("graded_at"), items=Count("pk"))
        .values_list("run_id", "graded", "items")
    }
    withheld = hidden_runs(viewer, team)
    untold = set(withheld_runs(viewer, team, withheld).values_list("pk", flat=True)) if withheld else set()
    judges = withheld_judges(team, viewer, withheld.datasets)
    listed = tuple(
        RunRow(
            run,
            None if run in withheld else getattr(run, "summary", None),
            run in withheld,
            stop_reason(run, withheld=run.pk in untold),
            hides_examples(run, viewer, withheld),
            shown_judge(run, judges),
            version_told(run, judges),
            *counts.get(run.pk, (None, None)),
        )
        for run in page.rows
    )
    return RunList(listed, page.next_cursor)


def of(
    *,
    dataset_id: int | None = None,
    rubric_id: int | None = None,
    named_judge_id: int | None = None,
    judge_version_id: int | None = None,
) -> Q:
    """The condition on runs over this dataset, by a version of this rubric and of this judge, or by that very
    version of a judge; None is any.
    """
    condition = Q()
    if dataset_id is not None:
        condition &= Q(dataset_id=dataset_id)
    if rubric_id is not None:
        condition &= Q(rubric_version__rubric_id=rubric_id)
    if named_judge_id is not None:
        condition &= Q(judge_version__judge_id=named_judge_id)
    if judge_version_id is not None:
        condition &= Q(judge_version_id=judge_version_id)
    return condition


def run_filters(team: Team) -> RunFilters:
    """Datasets and rubrics by name that some run of the team used, and the states there are."""
    return RunFilters(
        datasets=Dataset.objects.filter(unarchived(), team=team, runs__isnull=False)
        .distinct()
        .order_by("name", "pk"),
        rubrics=Rubric.objects.filter(unarchived(), team=team, versions__runs__isnull=False)
        .only("pk", "title")
        .distinct()
        .order_by("title", "pk"),
        states=STATES,
    )


def run_item(run: Run, item: Item, *, viewer: User) -> RunItem | None:
    """The item's row in this run, None when it has none; Withheld while the viewer reviews it blind."""
    require_visible(viewer, item)
    return RunItem.every.select_related("rubric_version").filter(run=run, item=item).first()
