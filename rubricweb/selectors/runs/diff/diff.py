"""A run against an earlier one over the same dataset, its baseline: what changed, and whether by chance."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from django.db.models import Q, QuerySet

from rubricweb.engine.agreement import Figure, RunComparison
from rubricweb.engine.agreement.intervals import simultaneous
from rubricweb.engine.agreement.scores.low_end import BelowBar, compare_below_bar
from rubricweb.engine.agreement.scores.means import mean_columns
from rubricweb.engine.agreement.scores.pairing import Unit, unit_means
from rubricweb.engine.agreement.scores.scores import compare_runs
from rubricweb.engine.scoring import Abstention, OnError
from rubricweb.engine.scoring.parts import score_part_columns
from rubricweb.errors import Invalid
from rubricweb.models import Criterion, JudgeVersion, Run, RunState, User, unarchived
from rubricweb.selectors.judges import version_told, withheld_judges
from rubricweb.selectors.runs.diff.answers import Answers, LabelNumbers, LabelValues, answers_of, worth_of
from rubricweb.selectors.runs.diff.changes import CriterionChange, criterion_changes
from rubricweb.selectors.runs.diff.criteria import MatchedCriteria
from rubricweb.selectors.runs.diff.items import (
    ItemChanges,
    change_counts,
    hidden_from,
    item_changes,
    score_scale,
)
from rubricweb.selectors.runs.diff.noise import noise
from rubricweb.selectors.runs.diff.pairing import ItemGrades, SideItems
from rubricweb.selectors.runs.diff.settings import Setting, settings_that_differ
from rubricweb.selectors.runs.diff.without_pair import CasesWithoutPair, cases_without_pair
from rubricweb.selectors.runs.graders import PER_ITEM
from rubricweb.selectors.runs.over_time.tries import RunSize, run_sizes
from rubricweb.selectors.shared.columns import Bools, Floats, Ints
from rubricweb.selectors.shared.judge_use import with_judge
from rubricweb.selectors.shared.score_ends import score_ends
from rubricweb.selectors.withheld_runs import is_withheld_run, stop_reason


@dataclass(frozen=True)
class Side:
    """One of the two runs over the items the viewer may see; `coverage` is the mean of graded items.

    `scored` items have a score and no error; `errored` ones have an error. `system` is the version whose
    answers they are, where cases are paired. `size` is that of the whole run, for anybody. `judge_version`
    graded it, None without one and while it is not told.
    """

    run: Run
    size: RunSize
    system: str
    items: int
    graded: int
    scored: int
    errored: int
    coverage: float | None
    errors: int
    judge_version: JudgeVersion | None


@dataclass(frozen=True)
class OnlyIn:
    """A criterion that only one run was asked, with its part of the difference of mean scores."""

    criterion: Criterion
    contribution: Figure | None


@dataclass(frozen=True)
class RunDiff:
    """A run held against its baseline, by item or by case: every difference is the run's less the baseline's.

    Where they are paired by case, `n` and counts are of cases; a side counts answers, and several of a case
    are averaged. `without_pair` says why those that are in no difference are in none.

    `scores` covers items that both scored (its `one` is the baseline, its `other` the run), on `scale`:
    "score", or "raw score" when only one run normalised. `below_bar` has the shares of these that do not
    pass, each by the pass rule of its own run's rubric, None unless both have one. `counts` are items by
    ITEM_CHANGES. The parts of `criteria`, `only_run` and `only_baseline` and `rest` add up to the difference
    of mean scores; `rest` is what the limits 0 and 1, length penalties and items' own rubrics do, None when a
    run has no score by criterion. `on_own_rubrics` counts items either run graded by a rubric of their own.
    `withheld` are the ids of those of the two whose calls are withheld from the viewer.
    """

    run: Run
    baseline: Run
    settings: tuple[Setting, ...]
    scale: str
    paired_by: Unit
    scores: RunComparison
    below_bar: BelowBar | None
    sides: tuple[Side, Side]
    counts: Mapping[str, int]
    criteria: tuple[CriterionChange, ...]
    only_run: tuple[OnlyIn, ...]
    only_baseline: tuple[OnlyIn, ...]
    rest: float | None
    without_pair: CasesWithoutPair
    on_own_rubrics: int
    hidden_items: int
    withheld: frozenset[int]

    @property
    def items(self) -> int:
        """Items, or cases, of either run that the viewer may see."""
        return sum(self.counts.values())

    @property
    def unpaired(self) -> int:
        """Items or cases without a score on one side or both: counted here, in no difference."""
        return self.counts["unpaired"]

    @property
    def unseen_failures(self) -> float | None:
        return self.scores.unseen_failures

    @property
    def direction(self) -> str:
        """ "up" or "down" when the interval of the difference leaves 0 out, "open" when not, "" unknown."""
        low, high = self.scores.difference.low, self.scores.difference.high
        if low is None or high is None:
            return ""
        return "up" if low > 0 else "down" if high < 0 else "open"

    @property
    def axis_end(self) -> float:
        """Where the axis of differences ends, with 0 in its middle: beyond every interval, at least 0.1."""
        figures = [row.contribution for row in self.criteria]
        figures += [one.contribution for one in (*self.only_run, *self.only_baseline)]
        ends = [
            abs(end)
            for figure in (self.scores.difference, *figures)
            if figure is not None
            for end in (figure.value, figure.low, figure.high)
            if end is not None
        ]
        return max(0.1, math.ceil(max(ends, default=0.0) * 10) / 10)

    @property
    def axis_start(self) -> float:
        """As far below 0 as the axis reaches above it."""
        return -self.axis_end

    @property
    def same_rubric(self) -> bool:
        return self.run.rubric_version_id == self.baseline.rubric_version_id

    @property
    def holistic(self) -> tuple[Run, ...]:
        """Those of the two that gave items one overall score, with no answers by criterion."""
        return tuple(one for one in (self.run, self.baseline) if one.autograder == PER_ITEM)

    @property
    def tries(self) -> tuple[Side, ...]:
        """Those of the sides that tell of a small share of the items there were."""
        return tuple(side for side in self.sides if side.size.is_try)

    @property
    def under_way(self) -> tuple[Run, ...]:
        return tuple(one for one in (self.run, self.baseline) if one.state == RunState.RUNNING)

    @property
    def broken_off(self) -> tuple[tuple[Run, str], ...]:
        """Those that ended before everything was graded, each with the reason as far as it may be told."""
        ended_early = (RunState.CANCELLED, RunState.FAILED)
        return tuple(
            (one, stop_reason(one, withheld=one.pk in self.withheld))
            for one in (self.run, self.baseline)
            if one.state in ended_early
        )


def baselines(run: Run, chosen: Run | None = None) -> QuerySet[Run]:
    """The other runs over the same dataset, newest first: what the run can be held against. None that is
    archived, or over an archived system's answers, but the one that is `chosen`.
    """
    offered = unarchived("", "system_version__system__") | Q(pk=chosen.pk if chosen else None)
    return (
        with_judge(Run.objects.filter(offered, team=run.team_id, dataset=run.dataset_id))
        .exclude(pk=run.pk)
        .select_related("dataset", "rubric_version", "created_by", "system_version__system")
        .order_by("-created_at", "-pk")
    )


def baseline_for(run: Run) -> Run | None:
    """The newest ended run before this one, of the last twenty rather one that is no try; else any other."""
    others = baselines(run)
    ended = list(others.exclude(state=RunState.RUNNING).filter(pk__lt=run.pk)[:20])
    sizes = run_sizes(ended)
    return min(ended, key=lambda one: sizes[one.pk].is_try, default=None) or others.first()


def require_comparable(run: Run, baseline: Run) -> None:
    """Raises Invalid for a run against itself and for runs over different datasets."""
    if run.pk == baseline.pk:
        raise Invalid(f"{run} cannot be held against itself; choose another run over {run.dataset}.")
    if run.dataset_id != baseline.dataset_id:
        raise Invalid(
            f"{run} is over {run.dataset}, {baseline} over {baseline.dataset}: "
            f"only runs over the same dataset can be compared."
        )


def run_diff(
    run: Run,
    baseline: Run,
    *,
    viewer: User,
    changes: ItemChanges | None = None,
) -> RunDiff:
    """The run against its baseline, without the items the viewer is still to review blind.

    Intervals are 95 %, over items; those of criteria hold for all criteria at once. `changes` are the
    `item_changes` of the two, for callers that have them already. At most eighteen queries, however many
    items, two more of raw scores and a few for raters. Raises Invalid, see `require_comparable`.
    """
    require_comparable(run, baseline)
    hidden = hidden_from(run, viewer)
    changes = item_changes(run, baseline, hidden) if changes is None else changes
    partners = MatchedCriteria.of(run, baseline)
    worth = worth_of(partners.everything)
    numbers, paired = LabelNumbers(), changes.paired
    now, before = (
        _Answered(one, side, answers_of(one, worth, side.item_ids, numbers))
        for one, side in ((run, paired.run), (baseline, paired.baseline))
    )
    confidence = simultaneous(len(partners.pairs))
    scores = compare_runs(changes.baseline.scores, changes.run.scores, limits=score_ends(run, baseline))
    # Votes are of single answers: several to a case change more often than any one of them.
    repeats = paired.run.repeats_units or paired.baseline.repeats_units
    parts = _contributions(now, before, partners, worth, changes)
    criteria = criterion_changes(
        partners,
        now.by_unit(partners.of_run, len(paired)),
        before.by_unit(partners.of_baseline, len(paired)),
        contributions=parts,
        noise={} if repeats else noise(run, baseline, partners, worth, hidden, confidence),
        confidence=confidence,
    )
    sizes = run_sizes([run, baseline])
    judges = withheld_judges(run.team, viewer)
    return RunDiff(
        run=run,
        baseline=baseline,
        settings=settings_that_differ(run, baseline, partners, viewer),
        scale=score_scale(run, baseline),
        scores=scores,
        below_bar=compare_below_bar(changes.baseline.passed, changes.run.passed),
        paired_by=changes.by,
        sides=(
            _side(run, sizes[run.pk], paired.systems[0], paired.run.grades, judges),
            _side(baseline, sizes[baseline.pk], paired.systems[1], paired.baseline.grades, judges),
        ),
        counts=change_counts(changes),
        criteria=criteria,
        only_run=tuple(OnlyIn(one, parts.get(one.pk)) for one in partners.only_run),
        only_baseline=tuple(OnlyIn(one, parts.get(one.pk)) for one in partners.only_baseline),
        rest=_rest(scores.difference, parts),
        without_pair=cases_without_pair(changes),
        on_own_rubrics=int((_own_rubric(run, changes.run) | _own_rubric(baseline, changes.baseline)).sum()),
        hidden_items=paired.hidden,
        withheld=frozenset(one.pk for one in (run, baseline) if is_withheld_run(one, viewer)),
    )


def _side(run: Run, size: RunSize, system: str, grades: ItemGrades, judges: frozenset[int]) -> Side:
    coverages = grades.coverages[~np.isnan(grades.coverages)]
    return Side(
        run=run,
        size=size,
        system=system,
        items=int(grades.there.sum()),
        graded=int(grades.graded.sum()),
        scored=int((~np.isnan(grades.scores)).sum()),
        errored=int((grades.graded & (grades.errors > 0)).sum()),
        coverage=float(coverages.mean()) if len(coverages) else None,
        errors=int(grades.errors.sum()),
        judge_version=version_told(run, judges),
    )


# ── What moved the mean ──────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class _Answered:
    """A run with its items and what was said in it about each."""

    run: Run
    side: SideItems
    answers: Answers

    def by_unit(self, criteria: Iterable[Criterion], units: int) -> Answers:
        """What was said about each item or case of the pairing."""
        return {one.pk: self.side.answers_by_unit(self.answers[one.pk], units) for one in criteria}


def _contributions(
    now: _Answered,
    before: _Answered,
    partners: MatchedCriteria,
    worth: Mapping[int, LabelValues],
    changes: ItemChanges,
) -> dict[int, Figure]:
    """Criterion id (the run's, where both have it) → its part of the difference of mean scores.

    All intervals hold at once, those of criteria that only one run was asked among them. Empty when a run
    scored items as a whole, and when nothing has a score in both.
    """
    units = np.sort(changes.units[~np.isnan(changes.differences)])
    if PER_ITEM in (now.run.autograder, before.run.autograder) or not len(units):
        return {}
    normalize = now.run.normalize and before.run.normalize
    mine, theirs, run_ids = partners.of_run, partners.of_baseline, partners.run_ids()
    ids = [criterion.pk for criterion in (*mine, *partners.only_baseline)]
    rows, limits = np.zeros((len(units), len(ids))), np.zeros((len(ids), 2))
    for sign, one, criteria in ((1, now, mine), (-1, before, theirs)):
        # The items that make up the scores; of a case each counts for its share.
        places = np.flatnonzero(np.isin(one.side.units, units) & ~np.isnan(one.side.grades.scores))
        of_unit = np.searchsorted(units, one.side.units[places])
        parts = _parts(one.run, criteria, worth, one.answers, places, normalize)
        parts[_own_rubric(one.run, one.side.grades.take(places))] = 0.0
        weights = [criterion.weight for criterion in criteria]
        everything_met = np.ones((1, len(criteria)))
        [most] = score_part_columns(weights, everything_met, everything_met == 0, normalize=normalize)
        for criterion, part, end in zip(criteria, parts.T, np.nan_to_num(most), strict=True):
            pk = criterion.pk if one is now else run_ids.get(criterion.pk, criterion.pk)
            rows[:, ids.index(pk)] += sign * unit_means(part, of_unit, len(units))
            limits[ids.index(pk)] += min(0.0, sign * end), max(0.0, sign * end)
    found = mean_columns(rows, [(low, high) for low, high in limits], confidence=simultaneous(len(ids)))
    return dict(zip(ids, found, strict=True))


def _parts(
    run: Run,
    criteria: Sequence[Criterion],
    worth: Mapping[int, LabelValues],
    answers: Answers,
    places: Ints,
    normalize: bool,
) -> Floats:
    """(items × criteria): what each criterion adds to the run's score of the items at these places."""
    said = [answers[criterion.pk].take(places) for criterion in criteria]
    shape = len(places), len(criteria)
    parts = score_part_columns(
        [criterion.weight for criterion in criteria],
        np.array([one.values for one in said]).reshape(shape[::-1]).T,
        np.array([~one.there | one.failed for one in said], dtype=np.bool_).reshape(shape[::-1]).T,
        worst=[worth[criterion.pk].criterion.worst_value for criterion in criteria],
        normalize=normalize,
        abstention=cast(Abstention, run.abstention),
        on_error=cast(OnError, run.on_error),
    )
    return np.nan_to_num(parts, nan=0.0)


def _rest(difference: Figure, parts: Mapping[int, Figure]) -> float | None:
    """What the parts leave of the difference; None without parts."""
    if difference.value is None or not parts:
        return None
    return difference.value - sum(part.value or 0.0 for part in parts.values())


def _own_rubric(run: Run, grades: ItemGrades) -> Bools:
    """Where the run graded an item by another rubric than its own."""
    own = -1 if run.rubric_version_id is None else run.rubric_version_id
    others: Bools = grades.rubric_versions != own
    return grades.there & others
