"""What a run would take, counted before it starts."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Count, Q, QuerySet

from rubricweb import engine
from rubricweb.engine.autograders import AUTOGRADERS
from rubricweb.models import (
    NOT_RETIRED,
    Criterion,
    Dataset,
    Item,
    ReviewQueue,
    RubricVersion,
    Run,
    Team,
    unarchived,
)
from rubricweb.selectors.rubrics.versions import published_versions


@dataclass(frozen=True)
class Plan:
    """What one run over a dataset takes.

    `own` of the `items` bring a rubric of their own; `unjudged` have none at all, so the run cannot start.
    `fewest` and `most` are criteria per item, checks among them. `calls` counts the prompts that are sent in
    any case, repeats after errors not included; a cascade that escalates everything comes to
    `calls_at_most`, which is None where the number is certain.
    """

    items: int
    own: int
    unjudged: int
    fewest: int
    most: int
    calls: int
    calls_at_most: int | None = None


@dataclass(frozen=True)
class RunChoices:
    """What a run can be made of: datasets with `item_count`, newest first, and published rubric versions."""

    datasets: QuerySet[Dataset]
    versions: QuerySet[RubricVersion]


def run_choices(team: Team) -> RunChoices:
    return RunChoices(
        datasets=Dataset.objects.filter(unarchived(), team=team)
        .annotate(item_count=Count("items", filter=Q(items__retired_in=NOT_RETIRED)))
        .order_by("-created_at", "-pk"),
        versions=published_versions(team),
    )


def fitting_version(dataset: Dataset) -> RubricVersion | None:
    """The newest version of the rubric that a run or queue over the dataset last used, else of the one in its
    file; None where there was none.
    """
    runs = Run.objects.filter(dataset=dataset, rubric_version__rubric__isnull=False)
    queues = ReviewQueue.objects.filter(dataset=dataset, rubric_version__rubric__isnull=False)
    columns = ("created_at", "rubric_version__rubric_id")
    used = [rows.order_by("-created_at", "-pk").values_list(*columns).first() for rows in (runs, queues)]
    last = max((one for one in used if one is not None), default=None)
    own = dataset.rubric_version.rubric_id if dataset.rubric_version else None
    rubric_id = own if last is None else last[1]
    return RubricVersion.objects.filter(rubric=rubric_id, number__isnull=False).order_by("-number").first()


def usual_dataset(team: Team) -> Dataset | None:
    """What somebody who has picked a judge first is offered: the dataset graded last, else the newest."""
    datasets = run_choices(team).datasets
    runs = Run.objects.filter(team=team, dataset__in=datasets.values("pk")).order_by("-created_at", "-pk")
    last = runs.values_list("dataset_id", flat=True).first()
    return (datasets if last is None else datasets.filter(pk=last)).first()


def usual_version(team: Team, dataset: Dataset | None) -> RubricVersion | None:
    """What a form offers first: the `fitting_version`; where there is none the newest version of the rubric
    edited last, unless every item of the dataset brings a rubric of its own.
    """
    fitting = None if dataset is None else fitting_version(dataset)
    if fitting is not None:
        return fitting
    if dataset is not None and not dataset.items.current().filter(rubric_version=None).exists():
        return None
    return published_versions(team).first()


def plan(
    dataset: Dataset,
    rubric_version: RubricVersion | None,
    autograder: str,
    *,
    votes: Sequence[int] = (1,),
    items: QuerySet[Item] | None = None,
) -> Plan:
    """Items, criteria and calls of a run. Four items of 3 criteria: 12 calls one by one, 4 all at once.

    Checks cost no call. `votes` is how many each stage asks for per criterion: (6,) for three judges asked
    twice each, which makes 72 of the 12; (1, 2) for a cascade of one judge and then two: 12, at most 36.
    `items` are those of the dataset that are to be graded, all by default.
    """
    per_version: dict[int, int] = {}
    without_own = 0
    chosen = Item.objects.current().filter(dataset=dataset) if items is None else items
    rows = chosen.order_by().values("rubric_version_id").annotate(n=Count("pk"))
    for version_id, graded in rows.values_list("rubric_version_id", "n"):
        if version_id is None:
            without_own = graded
        else:
            per_version[version_id] = graded
    own = sum(per_version.values())
    if rubric_version is not None and without_own:
        per_version[rubric_version.pk] = per_version.get(rubric_version.pk, 0) + without_own
    counted = (
        Criterion.objects.filter(version__in=per_version)
        .order_by()
        .values("version_id")
        .annotate(n=Count("pk"), asked=Count("pk", filter=~Q(kind="check")))
        .values_list("version_id", "n", "asked")
    )
    criteria = {version_id: (n, asked) for version_id, n, asked in counted}
    asks_each = _asks_each_criterion(autograder)
    sizes = [criteria.get(version_id, (0, 0))[0] for version_id in per_version]
    prompts = 0
    for version_id, graded in per_version.items():
        asked = criteria.get(version_id, (0, 0))[1]
        prompts += graded * (asked if asks_each else min(asked, 1))
    return Plan(
        items=own + without_own,
        own=own,
        unjudged=without_own if rubric_version is None else 0,
        fewest=min(sizes, default=0),
        most=max(sizes, default=0),
        calls=prompts * votes[0],
        calls_at_most=prompts * sum(votes) if len(votes) > 1 else None,
    )


def _asks_each_criterion(autograder: str) -> bool:
    """Whether the autograder asks about every criterion apart: it is asked about a rubric of two."""
    two = engine.Rubric([engine.Criterion(requirement="One."), engine.Criterion(requirement="Two.")])
    return len(AUTOGRADERS[autograder]().prompts(engine.Submission(output="Text."), two)) == 2
