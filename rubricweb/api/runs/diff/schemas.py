"""Shapes of a run held against its baseline."""

# Long because the shapes of one difference are read together.

from typing import Annotated, Any, Literal, get_args

from ninja import Schema
from pydantic import BaseModel, Field

from rubricweb.api.paging import ListQuery
from rubricweb.api.rubrics.schemas import Criterion
from rubricweb.api.runs.schemas import JudgeError
from rubricweb.api.schemas import Figure, Id, JudgeVersionName, OneOf, Share
from rubricweb.api.shapes import Shape
from rubricweb.engine.agreement.scores.paired_tests import Wilcoxon as ShownWilcoxon
from rubricweb.engine.agreement.scores.pairing import Unit
from rubricweb.models import RunState
from rubricweb.selectors.runs.diff.changes import ChangeTest, WithinNoise
from rubricweb.selectors.runs.diff.items import ITEM_CHANGES
from rubricweb.selectors.runs.diff.noise import Source
from rubricweb.selectors.runs.diff.settings import Setting as ShownSetting
from rubricweb.selectors.runs.diff.without_pair import CasesWithoutPair as ShownCasesWithoutPair
from rubricweb.selectors.runs.diff.without_pair import NamedCases as ShownNamedCases

Contribution = Annotated[
    Figure | None,
    Field(description="Its part of the difference of mean scores; null when a run scored items as a whole."),
]


PairedByName = Annotated[
    str,
    OneOf(get_args(Unit)),
    Field(description="What is counted: items that both judged, else cases that both have answers to."),
]


class RunSide(Schema):
    """One of the two runs over the items you may see. `mean` is over the items or cases that both scored,
    `lowest` the lowest score among them, `below_bar` the share of them that does not pass by the pass rule of
    the run's rubric, null unless both runs have one.
    """

    id: int
    name: str
    is_try: Annotated[
        bool,
        Field(
            description="Whether the run is over fewer than half of the items there were when it was started."
        ),
    ]
    system: Annotated[str, Field(description="The system version that answered, where cases are paired.")]
    judge_version: JudgeVersionName
    state: Annotated[str, OneOf(RunState.values)]
    items: int
    graded: int
    scored: Annotated[int, Field(description="Items with a score and no error.")]
    errored: Annotated[int, Field(description="Items with an error: in no difference until retried.")]
    coverage: Share
    errors: int
    mean: Figure
    lowest: float | None
    below_bar: Share


class Setting(Shape[ShownSetting]):
    """Something the runs were started with and differ in."""


class Wilcoxon(Shape[ShownWilcoxon]):
    """Signed-rank test of the scores: `n` differ, `zeros` do not; ranks `above` are in favour of the run."""


class NamedCases(Shape[ShownNamedCases]):
    """So many rows of the list of changes, and the first twenty of their cases by key; items have no keys."""

    names: Annotated[tuple[str, ...], Field(exclude=True)] = ()  # those are for people


class CasesWithoutPair(Shape[ShownCasesWithoutPair]):
    """Why items or cases are in no difference: one run alone has them, each has them in other words, or one
    of the two has no score (`unscored`). Together they are `item_counts.unpaired`."""


class ItemCounts(Schema):
    """Items or cases by what happened to their score; `unpaired` have none on a side, and no difference."""

    regression: int
    fix: int
    unchanged: int
    unpaired: int


class Noise(Schema):
    """The chance that two votes on one question differ: `repeats` of a judge, or `members` of a panel."""

    flip_rate: Figure
    source: Annotated[str, OneOf(get_args(Source))]


class CriterionChange(Schema):
    """One criterion where both runs gave an answer with a value (`n` items or cases).

    `difference` is of the mean values, of a binary criterion the MET rates. `to_met` and `to_unmet` are null
    for other kinds. `p_unadjusted` is McNemar's p or that of the paired t test, or of sign flips where all
    differences are the same, as `test` says; `p` is the same after Holm over all criteria, and the intervals
    hold for all criteria at once. `within_noise` holds the share of `changed` answers against `noise`.
    """

    criterion: Criterion
    baseline_criterion_id: int
    baseline_name: str
    baseline_weight: float
    n: int
    run_mean: float | None
    baseline_mean: float | None
    difference: Figure
    changed: Figure
    to_met: int | None
    to_unmet: int | None
    better: Annotated[
        int | None, Field(description="Flips that raise the score: of a negative weight those to UNMET.")
    ]
    worse: int | None
    test: Annotated[str, OneOf(get_args(ChangeTest))] | None
    p_unadjusted: float | None
    p: float | None
    contribution: Contribution
    noise: Noise | None
    within_noise: Annotated[str, OneOf(get_args(WithinNoise))]
    abstained: int
    run_errors: int
    baseline_errors: int
    missing: int

    @staticmethod
    def resolve_baseline_criterion_id(row: Any) -> int:
        return int(row.before.pk)

    @staticmethod
    def resolve_baseline_name(row: Any) -> str:
        return str(row.before.name)

    @staticmethod
    def resolve_baseline_weight(row: Any) -> float:
        return float(row.before.weight)

    @staticmethod
    def resolve_p_unadjusted(row: Any) -> float | None:
        return float(row.p_alone) if row.p_alone is not None else None


class CriterionOfOne(Schema):
    """A criterion only one of the runs was asked, as far as their rubrics say."""

    criterion: Criterion
    contribution: Contribution


class RunDiff(Schema):
    """A run against its baseline; every difference is the run's less the baseline's, over `n` items or cases.

    Several answers of a run to one case are averaged; `run` and `baseline` count answers.
    The contributions and `rest` add up to the difference of mean scores; `rest` is what the limits 0 and 1,
    length penalties and items' own rubrics do.
    """

    run: RunSide
    baseline: RunSide
    settings: list[Setting]
    scale: Annotated[Literal["score", "raw score"], Field(description="Raw when only one run normalised.")]
    paired_by: PairedByName
    n: int
    difference: Figure
    below_bar_difference: Annotated[
        Figure | None,
        Field(
            description="Of the shares below the bar, over the `n` items or cases on which both pass rules "
            "have a word; null unless both runs have a pass rule."
        ),
    ]
    unseen_failures: Annotated[
        float | None,
        Field(
            description="Up to this share of new outright failures would not have been seen: 3/n, at most 1."
        ),
    ]
    direction: Annotated[
        Literal["up", "down", "open"] | None,
        Field(description="Where the interval of the difference leaves 0; open when it does not."),
    ]
    cohen_d: Figure
    wilcoxon: Wilcoxon
    item_counts: ItemCounts
    criteria: list[CriterionChange]
    only_run: list[CriterionOfOne]
    only_baseline: list[CriterionOfOne]
    rest: float | None
    without_pair: CasesWithoutPair
    on_own_rubrics: int
    hidden_items: Annotated[int, Field(description="Left out: you are still to review them blind.")]

    @staticmethod
    def resolve_run(diff: Any) -> RunSide:
        below_bar = diff.below_bar.other.value if diff.below_bar else None
        return _side(diff.sides[0], diff.scores.mean_other, diff.scores.lowest_other, below_bar)

    @staticmethod
    def resolve_baseline(diff: Any) -> RunSide:
        below_bar = diff.below_bar.one.value if diff.below_bar else None
        return _side(diff.sides[1], diff.scores.mean_one, diff.scores.lowest_one, below_bar)

    @staticmethod
    def resolve_n(diff: Any) -> int:
        return int(diff.scores.n)

    @staticmethod
    def resolve_difference(diff: Any) -> Any:
        return diff.scores.difference

    @staticmethod
    def resolve_below_bar_difference(diff: Any) -> Any:
        return diff.below_bar and diff.below_bar.difference

    @staticmethod
    def resolve_direction(diff: Any) -> str | None:
        return diff.direction or None

    @staticmethod
    def resolve_cohen_d(diff: Any) -> Any:
        return diff.scores.cohen_d

    @staticmethod
    def resolve_wilcoxon(diff: Any) -> Any:
        return diff.scores.wilcoxon

    @staticmethod
    def resolve_item_counts(diff: Any) -> Any:
        return diff.counts


def _side(side: Any, mean: Any, lowest: float | None, below_bar: float | None) -> RunSide:
    return RunSide(
        id=side.run.pk,
        name=str(side.run),
        is_try=side.size.is_try,
        system=side.system,
        judge_version=side.judge_version,
        state=side.run.state,
        items=side.items,
        graded=side.graded,
        scored=side.scored,
        errored=side.errored,
        coverage=side.coverage,
        errors=side.errors,
        mean=Figure.from_orm(mean),
        lowest=lowest,
        below_bar=below_bar,
    )


class VersionsQuery(BaseModel):
    version: Annotated[str, Field(max_length=201, examples=["assistant@v4"])]
    baseline: Annotated[str, Field(max_length=201, examples=["assistant@v3"])]
    dataset: Annotated[Id | None, Field(description="Only runs over this dataset.")] = None
    judge: Annotated[str, Field(max_length=200, description="Only runs of this judge, by name or id.")] = ""


class ItemChangeQuery(ListQuery):
    change: Annotated[str, OneOf(ITEM_CHANGES)] | None = None


class ItemOfRun(Schema):
    """What a run has on an item; on a case means over its answers, and the sum of their errors."""

    score: float | None
    coverage: Share
    errors: int


class ItemChange(Schema):
    """One item, or case, in both runs; a side is null where that run does not have it.

    `answers_changed` counts criteria that both answered, but not alike. Of a case `key` and `item_id` are
    those of one answer, and `run_items` and `baseline_items` have them all.
    """

    item_id: int
    key: str
    case_key: str
    run_items: list[int]
    baseline_items: list[int]
    change: Annotated[str, OneOf(ITEM_CHANGES)]
    difference: float | None
    run: ItemOfRun | None
    baseline: ItemOfRun | None
    answers_changed: int

    @staticmethod
    def resolve_item_id(row: Any) -> int:
        return int(row.change.item_id)

    @staticmethod
    def resolve_key(row: Any) -> str:
        return str(row.item.key)

    @staticmethod
    def resolve_case_key(row: Any) -> str:
        return str(row.item.case.key)

    @staticmethod
    def resolve_run_items(row: Any) -> list[int]:
        return list(row.change.run_items)

    @staticmethod
    def resolve_baseline_items(row: Any) -> list[int]:
        return list(row.change.baseline_items)

    @staticmethod
    def resolve_change(row: Any) -> str:
        return str(row.change.change)

    @staticmethod
    def resolve_difference(row: Any) -> Any:
        return row.change.difference

    @staticmethod
    def resolve_run(row: Any) -> Any:
        return row.change.run

    @staticmethod
    def resolve_baseline(row: Any) -> Any:
        return row.change.baseline


class RunDiffWithItems(RunDiff):
    """Two operations in one: what `rubricweb compare RUN --with BASELINE --json` prints."""

    items: list[ItemChange]


class AnswerOfRun(Schema):
    """What a run answered: a label or a check's `value`, or the error that took their place."""

    verdict: str | None
    value: float | None
    reason: str
    error: JudgeError | None

    @staticmethod
    def resolve_error(row: Any) -> JudgeError | None:
        return JudgeError(kind=row.error_kind, message=row.error_message) if row.error_kind else None


class BothAnswers(Schema):
    """One criterion of an item in both runs; `only_in` says which run alone was asked it.

    `difference` is of the values: MET after UNMET is 1, whatever the sign of the weight.
    """

    criterion: Criterion
    only_in: Literal["run", "baseline"] | None
    answers_differ: bool
    difference: float | None
    run: AnswerOfRun | None
    baseline: AnswerOfRun | None

    @staticmethod
    def resolve_criterion(row: Any) -> Any:
        return row.shown

    @staticmethod
    def resolve_only_in(row: Any) -> str | None:
        return "run" if row.before is None else "baseline" if row.criterion is None else None


class JudgedAnswer(Schema):
    """The answer of a system that a run judged."""

    item_id: int
    key: str
    system: str
    attempt: int
    submission: str

    @staticmethod
    def resolve_key(row: Any) -> str:
        return str(row.item.key)

    @staticmethod
    def resolve_system(row: Any) -> str:
        return str(row.item.system_version)

    @staticmethod
    def resolve_attempt(row: Any) -> int:
        return int(row.item.attempt)

    @staticmethod
    def resolve_submission(row: Any) -> str:
        return str(row.item.submission)


class ItemInBoth(ItemChange):
    """One item, or two answers to one case, side by side: the scores and every verdict with its reason.

    The scores are those of the whole case; the verdicts are on `run_answer` and `baseline_answer`.
    """

    paired_by: PairedByName
    run_answer: JudgedAnswer | None
    baseline_answer: JudgedAnswer | None
    criteria: list[BothAnswers]

    @staticmethod
    def resolve_run_answer(row: Any) -> Any:
        return row.run_row

    @staticmethod
    def resolve_baseline_answer(row: Any) -> Any:
        return row.baseline_row
