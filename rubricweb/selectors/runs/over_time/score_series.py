"""Scores over time: finished runs that may be joined by a line, and those that may not."""

import json
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime

from django.db.models import QuerySet

from rubricweb.models import JudgeSnapshot, PanelSnapshot, Run, RunState, Team, asked_judges
from rubricweb.selectors.judges import version_told
from rubricweb.selectors.runs.graders import examples_words, panel_words
from rubricweb.selectors.runs.judge_settings import judge_settings, setting_words, told_otherwise
from rubricweb.selectors.runs.over_time.shared_cases import SharedCases, shared_cases
from rubricweb.selectors.runs.over_time.tries import RunSize, sizes_of
from rubricweb.selectors.shared.judge_use import with_judge

POINTS = 200

Key = tuple[object, ...]


@dataclass(frozen=True)
class Point:
    """One finished run: its mean score with a 95 % interval, None when nothing was scored.

    The mean is over the `cases` that the `scored` of the `fully_judged` items answer; those with an error are
    in it once retried. `lowest` is the lowest score, `below_bar` the share that the rubric's pass rule turns
    down, None without a rule.
    While it is `withheld` from the viewer, who is to review some of its items blind, every figure is None.
    A run over fewer than half of the `dataset_items` there were is a `is_try`; of a run over dev or test they
    are those of that half. `system` is the version whose answers it judged, as assistant@v4, or "", and
    `version_place` its place among those of its system; `judge_version` the one that graded it, as
    support-judge@v3, or "" where nobody named it and while it is not told.
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
    lowest: float | None = None
    below_bar: float | None = None
    judge_version: str = ""
    version_place: int = 0

    @property
    def is_try(self) -> bool:
        return RunSize(self.items, self.dataset_items).is_try

    @property
    def tells(self) -> bool:
        """Whether something was scored, as far as is known here: not where every call failed."""
        return self.scored is None or self.scored > 0


@dataclass(frozen=True)
class Series:
    """Runs over one dataset, or the answers of one system in it, that were graded alike.

    Alike is by the same rubric version, autograder, judge or panel, asked in the same way, and examples, over
    the same half of the dataset, and scored by the same rules: `scored_as` says what of these is not usual,
    "" where all is. `asked` has the settings of the judge, or of each member of the panel, in words.

    `points` may be joined; `tries` were over few items and may not. They are oldest first; those of a
    `system` in the order of its versions. Where there are several versions, `shared` has their means over
    the cases all of them answered, and only those may be joined. `place` counts the series
    of the team from 1 by their first run, whatever became of it, and from 1 the ways in which the judge of a
    series was asked: it never changes. `rubric_id` is None
    when every item brings its own rubric. `panel` says who votes and how that is settled, part by part; it is
    empty for a single judge.
    """

    place: tuple[int, int]
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
    asked: Mapping[str, str] = field(kw_only=True)
    examples: str = field(kw_only=True)
    scored_as: str = field(default="", kw_only=True)
    shared: SharedCases | None = field(default=None, kw_only=True)

    @property
    def number(self) -> str:
        """As addresses have it: 3, and 3.2 for the second way in which the judge of series 3 was asked."""
        series, way = self.place
        return str(series) if way == 1 else f"{series}.{way}"

    @property
    def judge_versions(self) -> tuple[str, ...]:
        """The versions of its judge that graded it, of those a person made: several where they ask alike."""
        versions = (point.judge_version for point in (*self.points, *self.tries))
        return tuple(dict.fromkeys(filter(None, versions)))

    @property
    def newest(self) -> Point | None:
        """The newest point that tells something."""
        return max((point for point in self.points if point.tells), key=_in_time, default=None)

    @property
    def was_graded_in_order(self) -> bool:
        """Whether the order of its versions is that in which they were graded; so for runs of one version."""
        return list(self.points) == sorted(self.points, key=_in_time)


def finished_runs(runs: QuerySet[Run]) -> list[Run]:
    """The newest POINTS finished runs of these that have a summary, newest first."""
    return list(
        with_judge(runs.filter(state=RunState.FINISHED, summary__isnull=False))
        .select_related("summary", "dataset", "rubric_version", "team", "system_version__system")
        .order_by("-created_at", "-pk")[:POINTS]
    )


def series_of(
    team: Team, finished: Sequence[Run], withheld: Container[Run], judges: frozenset[int]
) -> tuple[Series, ...]:
    """The series of `finished` runs (newest first), by place.

    Figures of the runs `withheld` are kept from the viewer, and versions of these `judges`. At most six
    queries, and one more for each system of several versions.
    """
    places = _places(team) if finished else {}
    sizes = sizes_of({run: run.summary.items for run in finished})
    grouped: dict[Key, list[Run]] = {}
    for run in reversed(finished):
        grouped.setdefault(_key(run), []).append(run)
    found = [
        _one_series(places[key], of_one_kind, sizes, withheld, judges) for key, of_one_kind in grouped.items()
    ]
    return tuple(sorted(found, key=lambda one: one.place))


def newest_series(series: Iterable[Series]) -> Series | None:
    """The series of the newest run that is no try and tells something."""
    newest = [(_in_time(one.newest), one) for one in series if one.newest is not None]
    return max(newest, key=lambda pair: pair[0], default=(None, None))[1]


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
        run.judge,
        run.autograder,
        run.panel,
        run.few_shot.digest if run.few_shot else None,
        run.judge_version.words_digest if run.judge_version else "",
        run.half,
        run.normalize,
        run.abstention,
        run.on_error,
    )


def _key_of(
    dataset_id: int,
    system_id: int | None,
    version_id: int | None,
    judge: JudgeSnapshot,
    autograder: str,
    panel: PanelSnapshot | None,
    examples: str | None,
    words: str | None,
    *scored: object,
) -> Key:
    """What must be the same for two runs to be joined; without a rubric version items bring their own.

    The last of it is how the judges were asked.
    """
    settled = panel and (panel.rule, panel.quorum, panel.repeats, panel.cascade and asdict(panel.cascade))
    members = [(one.name, one.weight, one.stage) for one in panel.members] if panel else []
    graded = json.dumps([settled, members, examples], sort_keys=True)
    ways = [(one.model, *judge_settings(one).values()) for one in asked_judges(judge, panel)]
    asked = (*ways, words or "")
    return dataset_id, system_id, version_id, judge.name, judge.model, autograder, graded, *scored, asked


def _places(team: Team) -> dict[Key, tuple[int, int]]:
    """Key → its place among the team's, in the order in which runs of it were first started.

    The ways in which a judge was asked are counted within the number it has: so links to a series stay what
    they were before these were told apart.
    """
    rows = (
        Run.objects.filter(team=team)
        .order_by("pk")
        .values_list(
            "dataset_id",
            "system_version__system_id",
            "rubric_version_id",
            "judge",
            "autograder",
            "panel",
            "few_shot__digest",
            "judge_version__words_digest",
            "half",
            "normalize",
            "abstention",
            "on_error",
        )
    )
    numbers: dict[Key, int] = {}
    ways: Counter[int] = Counter()
    places: dict[Key, tuple[int, int]] = {}
    for key in (_key_of(*row) for row in rows):
        if key not in places:
            number = numbers.setdefault(key[:-1], len(numbers) + 1)
            ways[number] += 1
            places[key] = number, ways[number]
    return places


def _asked(run: Run) -> dict[str, str]:
    """How its judge was asked, or each member of its panel: {"temperature": "1"}, {"Strict: seed": "7"}."""
    asked = {f"{one.name}: ": one.judge for one in run.panel.members} if run.panel else {"": run.judge}
    return {
        f"{member}{title[0].lower()}{title[1:]}": setting_words(value)
        for member, judge in asked.items()
        for title, value in judge_settings(judge).items()
    }


def asked_words(run: Run, before: Run) -> list[str]:
    """How its judges were asked other than those of the same names were in the run before."""
    if run.judge.name != before.judge.name:
        return []
    told = ["other instructions"] if told_otherwise(run, before) else []
    return other_words(_asked(run), _asked(before)) + told


def other_words(asked: Mapping[str, str], before: Mapping[str, str]) -> list[str]:
    """The settings in both that are others: ["temperature 1"]."""
    return [f"{title} {words}" for title, words in asked.items() if before.get(title, words) != words]


def _one_series(
    place: tuple[int, int],
    runs: Sequence[Run],
    sizes: Mapping[int, RunSize],
    withheld: Container[Run],
    judges: frozenset[int],
) -> Series:
    first = runs[0]
    version = first.rubric_version
    # Builds are in their own order, whichever of them was graded first.
    if first.system_version is not None:
        runs = sorted(runs, key=_place_of_version)
    points = [_point(run, sizes[run.pk], withheld, judges) for run in runs]
    return Series(
        place=place,
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
        asked=_asked(first),
        examples=examples_words(first.few_shot),
        scored_as=how_scored(first),
        shared=_shared([run for run, point in zip(runs, points, strict=True) if not point.is_try], withheld),
    )


def how_scored(run: Run) -> str:
    """What is not usual about which items were scored and how: "dev split, raw scores"."""
    words = [
        (f"{run.half} split", bool(run.half)),
        ("raw scores", not run.normalize),
        (f"cannot assess: {run.abstention}", run.abstention != "skip"),
        (f"errors {run.on_error}", run.on_error != "exclude"),
    ]
    return ", ".join(word for word, is_so in words if is_so)


def _place_of_version(run: Run) -> tuple[int, datetime, int]:
    return run.system_version.position if run.system_version else 0, run.created_at, run.pk


def _shared(runs: Sequence[Run], withheld: Container[Run]) -> SharedCases | None:
    """What several versions have in common; None for one. Of versions withheld from the viewer nothing."""
    shown = [run for run in runs if run not in withheld]
    return shared_cases(shown) if len({run.system_version_id for run in shown}) > 1 else None


def _point(run: Run, size: RunSize, withheld: Container[Run], judges: frozenset[int]) -> Point:
    hidden, version = run in withheld, version_told(run, judges)
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
        items=size.items,
        dataset_items=size.dataset_items,
        scored=shown.scored if shown else None,
        cases=shown.cases if shown else None,
        fully_judged=shown.fully_judged if shown else None,
        coverage=shown.coverage if shown else None,
        errors=shown.errors if shown else None,
        withheld=hidden,
        lowest=shown.score_lowest if shown else None,
        below_bar=shown.below_bar if shown else None,
        judge_version=str(version) if version is not None and version.is_named else "",
        version_place=run.system_version.position if run.system_version else 0,
    )
