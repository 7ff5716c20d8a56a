"""Scores over time: finished runs that may be joined by a line, and those that may not."""

import json
from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime

from django.db.models import Count, OuterRef, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce

from rubricweb.models import Dataset, Item, PanelSnapshot, Run, RunState, Team
from rubricweb.selectors.runs.graders import examples_words, panel_words
from rubricweb.selectors.runs.over_time.shared_cases import SharedCases, shared_cases

POINTS = 200
WHOLE_SHARE = 0.5
"""A run over a smaller share of the items its dataset had then is a try: it stands in no series."""

Key = tuple[object, ...]


@dataclass(frozen=True)
class Point:
    """One finished run: its mean score with a 95 % interval, None when nothing was scored.

    The mean is over the `cases` that the `scored` of the `fully_judged` items answer; those with an error are
    in it once retried.
    While it is `withheld` from the viewer, who is to review some of its items blind, every figure is None.
    A run over fewer than half of the `dataset_items` there were is a `is_try`; of a run over dev or test they
    are those of that half. `system` is the version whose answers it judged, as assistant@v4, or "".
    """

    run_id: int
    name: str
    dataset: str
    system: str
    at: datetime
    mean: float | None
    low: float | None
    high: float | None
    items: int
    dataset_items: int
    scored: int | None
    cases: int | None
    fully_judged: int | None
    coverage: float | None
    errors: int | None
    withheld: bool

    @property
    def is_try(self) -> bool:
        return self.items < WHOLE_SHARE * self.dataset_items


@dataclass(frozen=True)
class Series:
    """Runs over one dataset, or the answers of one system in it, that were graded alike.

    Alike is by the same rubric version, autograder, judge or panel, and examples, over the same half of the
    dataset, and scored by the same rules: `scored_as` says what of these is not usual, "" where all is.

    `points` may be joined; `tries` were over few items and may not. They are oldest first; those of a
    `system` in the order of its versions. Where there are several versions, `shared` has their means over
    the cases all of them answered, and only those may be joined. `number` counts the series
    of the team from 1 by their first run, whatever became of it: it never changes, and neither does the
    colour that follows from it. `rubric_id` is None when every item brings its own rubric. `panel` says who
    votes and how that is settled, part by part; it is empty for a single judge.
    """

    number: int
    dataset: str
    system: str
    rubric_id: int | None
    rubric: str
    judge: str
    autograder: str
    points: tuple[Point, ...]
    tries: tuple[Point, ...]
    model: str = field(kw_only=True)
    panel: tuple[str, ...] = field(kw_only=True)
    examples: str = field(kw_only=True)
    scored_as: str = field(default="", kw_only=True)
    shared: SharedCases | None = field(default=None, kw_only=True)

    @property
    def newest(self) -> Point | None:
        return max(self.points, key=_in_time, default=None)

    @property
    def was_graded_in_order(self) -> bool:
        """Whether the order of its versions is that in which they were graded; so for runs of one version."""
        return list(self.points) == sorted(self.points, key=_in_time)


def finished_runs(runs: QuerySet[Run]) -> list[Run]:
    """The newest POINTS finished runs of these that have a summary, newest first."""
    return list(
        runs.filter(state=RunState.FINISHED, summary__isnull=False)
        .select_related("summary", "dataset", "rubric_version", "team", "system_version__system")
        .order_by("-created_at", "-pk")[:POINTS]
    )


def series_of(team: Team, finished: Sequence[Run], withheld: Container[Run]) -> tuple[Series, ...]:
    """The series of `finished` runs (newest first), by number.

    At most six queries, and one more for each system of several versions.
    """
    numbers = _numbers(team) if finished else {}
    sizes = _items_there_were(finished)
    grouped: dict[Key, list[Run]] = {}
    for run in reversed(finished):
        grouped.setdefault(_key(run), []).append(run)
    found = [_one_series(numbers[key], of_one_kind, sizes, withheld) for key, of_one_kind in grouped.items()]
    return tuple(sorted(found, key=lambda one: one.number))


def newest_series(series: Iterable[Series]) -> Series | None:
    """The series of the newest run that is no try."""
    with_points = [one for one in series if one.newest is not None]
    return max(with_points, key=lambda one: max(map(_in_time, one.points)), default=None)


def in_time(series: Iterable[Series]) -> list[tuple[Series, Point]]:
    """Every point and every try with its series, newest first."""
    pairs = [(one, point) for one in series for point in (*one.points, *one.tries)]
    return sorted(pairs, key=lambda pair: _in_time(pair[1]), reverse=True)


def _in_time(point: Point) -> tuple[datetime, int]:
    return point.at, point.run_id


def judged_as(run: Run) -> Key:
    """Over which dataset and how it was graded: the same for runs over two system versions to be compared."""
    dataset_id, _, *others = _key(run)
    return dataset_id, *others


def _key(run: Run) -> Key:
    return _key_of(
        run.dataset_id,
        run.system_version.system_id if run.system_version else None,
        run.rubric_version_id,
        run.judge.name,
        run.judge.model,
        run.autograder,
        run.panel,
        run.few_shot.digest if run.few_shot else None,
        run.half,
        run.normalize,
        run.abstention,
        run.on_error,
    )


def _key_of(
    dataset_id: int,
    system_id: int | None,
    version_id: int | None,
    judge: str,
    model: str,
    autograder: str,
    panel: PanelSnapshot | None,
    examples: str | None,
    *scored: object,
) -> Key:
    """What must be the same for two runs to be joined; without a rubric version items bring their own."""
    settled = panel and (panel.rule, panel.quorum, panel.repeats, panel.cascade and asdict(panel.cascade))
    members = [(one.name, one.weight, one.stage) for one in panel.members] if panel else []
    asked = json.dumps([settled, members, examples], sort_keys=True)
    return dataset_id, system_id, version_id, judge, model, autograder, asked, *scored


def _numbers(team: Team) -> dict[Key, int]:
    """Key → its place among the team's, from 1, in the order in which runs of it were first started."""
    rows = (
        Run.objects.filter(team=team)
        .order_by("pk")
        .values_list(
            "dataset_id",
            "system_version__system_id",
            "rubric_version_id",
            "judge__name",
            "judge__model",
            "autograder",
            "panel",
            "few_shot__digest",
            "half",
            "normalize",
            "abstention",
            "on_error",
        )
    )
    numbers: dict[Key, int] = {}
    for row in rows:
        numbers.setdefault(_key_of(*row), len(numbers) + 1)
    return numbers


def _items_there_were(runs: Sequence[Run]) -> dict[int, int]:
    """Run id → how many items there were for it when it was started, whatever came in later."""
    last = Item.objects.filter(dataset=OuterRef("pk")).order_by("-position").values("position")[:1]
    datasets = Dataset.objects.filter(pk__in={run.dataset_id for run in runs})
    now = dict(datasets.annotate(items_now=Coalesce(Subquery(last), -1) + 1).values_list("pk", "items_now"))
    found = {run.pk: now[run.dataset_id] for run in runs}
    # Of a system version its answers are the whole, of a half its cases. They are counted: others stand
    # between them. Of a whole dataset that is done only where a run may turn out to be a try.
    to_count: dict[tuple[bool, bool], list[int]] = defaultdict(list)
    for run in runs:
        part = run.system_version_id is not None, bool(run.half)
        if any(part) or run.summary.items < WHOLE_SHARE * found[run.pk]:
            to_count[part].append(run.pk)
    for (of_version, of_half), run_ids in to_count.items():
        where = {"system_version": OuterRef("system_version")} if of_version else {}
        where |= {"case__half": OuterRef("half")} if of_half else {}
        there = Item.objects.filter(
            dataset=OuterRef("dataset"),
            created_at__lte=OuterRef("created_at"),
            retired_in__gt=OuterRef("dataset_version"),
            **where,
        )
        counted = there.order_by().values("dataset").annotate(n=Count("pk")).values("n")
        found |= dict(
            Run.objects.filter(pk__in=run_ids)
            .annotate(items_then=Coalesce(Subquery(counted), Value(0)))
            .values_list("pk", "items_then")
        )
    return found


def _one_series(
    number: int, runs: Sequence[Run], sizes: Mapping[int, int], withheld: Container[Run]
) -> Series:
    first = runs[0]
    version = first.rubric_version
    # Builds are in their own order, whichever of them was graded first.
    if first.system_version is not None:
        runs = sorted(runs, key=_place_of_version)
    points = [_point(run, sizes[run.pk], withheld) for run in runs]
    return Series(
        number=number,
        dataset=first.dataset.name,
        system=first.system_version.system.name if first.system_version else "",
        rubric_id=version.rubric_id if version else None,
        rubric=str(version) if version else f"own rubrics of {first.dataset}",
        judge=first.judge.name,
        autograder=first.autograder,
        points=tuple(point for point in points if not point.is_try),
        tries=tuple(point for point in points if point.is_try),
        model=first.judge.model,
        panel=panel_words(first.panel) if first.panel else (),
        examples=examples_words(first.few_shot),
        scored_as=how_scored(first),
        shared=_shared([run for run, point in zip(runs, points, strict=True) if not point.is_try], withheld),
    )


def how_scored(run: Run) -> str:
    """What is not usual about which items were scored and how: "dev half, raw scores"."""
    words = [
        (f"{run.half} half", bool(run.half)),
        ("raw scores", not run.normalize),
        (f"abstentions {run.abstention}", run.abstention != "skip"),
        (f"errors {run.on_error}", run.on_error != "exclude"),
    ]
    return ", ".join(word for word, is_so in words if is_so)


def _place_of_version(run: Run) -> tuple[int, datetime, int]:
    return run.system_version.position if run.system_version else 0, run.created_at, run.pk


def _shared(runs: Sequence[Run], withheld: Container[Run]) -> SharedCases | None:
    """What several versions have in common; None for one. Of versions withheld from the viewer nothing."""
    shown = [run for run in runs if run not in withheld]
    return shared_cases(shown) if len({run.system_version_id for run in shown}) > 1 else None


def _point(run: Run, dataset_items: int, withheld: Container[Run]) -> Point:
    hidden = run in withheld
    shown = None if hidden else run.summary
    return Point(
        run_id=run.pk,
        name=str(run),
        dataset=run.dataset.name,
        system=run.system,
        at=run.created_at,
        mean=shown.score_mean if shown else None,
        low=shown.score_low if shown else None,
        high=shown.score_high if shown else None,
        items=run.summary.items,
        dataset_items=dataset_items,
        scored=shown.scored if shown else None,
        cases=shown.cases if shown else None,
        fully_judged=shown.fully_judged if shown else None,
        coverage=shown.coverage if shown else None,
        errors=shown.errors if shown else None,
        withheld=hidden,
    )
