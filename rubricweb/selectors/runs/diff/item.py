"""One item, or two answers to a case, as two runs graded them: verdicts and reasons by criterion."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean

from django.db.models import QuerySet

from rubricweb.engine.agreement.scores.pairing import Unit
from rubricweb.engine.rubric.words import Segment, word_diff
from rubricweb.engine.scoring.outcomes import value_of
from rubricweb.engine.submission import Submission
from rubricweb.errors import Withheld
from rubricweb.models import Criterion, Item, Judgement, Run, RunItem, User
from rubricweb.selectors.blinding import hidden_items, require_visible
from rubricweb.selectors.labels.stored_answers import outcome
from rubricweb.selectors.runs.diff.criteria import matched, name_before
from rubricweb.selectors.runs.diff.diff import require_comparable
from rubricweb.selectors.runs.diff.items import ItemChange, score_scale
from rubricweb.selectors.runs.diff.pairing import ItemGrade, unit_of


@dataclass(frozen=True)
class BothAnswers:
    """One criterion with what each run answered; `before` is the baseline's row of it.

    `criterion` is None when only the baseline was asked, `before` when only the run was. An answer is None
    where a run has none at all.
    """

    criterion: Criterion | None
    before: Criterion | None
    run: Judgement | None
    baseline: Judgement | None

    @property
    def shown(self) -> Criterion:
        """The criterion as the newer side has it."""
        found = self.criterion or self.before
        assert found is not None
        return found

    @property
    def name_before(self) -> str:
        """The baseline's name for it where it is another one, see `criteria.name_before`."""
        return name_before(self.criterion, self.before) if self.criterion and self.before else ""

    @property
    def answers_differ(self) -> bool:
        """Both answered, and not alike; an error is no answer."""
        if self.run is None or self.baseline is None or self.run.error_kind or self.baseline.error_kind:
            return False
        return (self.run.verdict, self.run.value) != (self.baseline.verdict, self.baseline.value)

    @property
    def difference(self) -> float | None:
        """The value of the run's answer less that of the baseline's; None unless both have one.

        MET after UNMET is 1, whatever the sign of the weight.
        """
        if self.criterion is None or self.before is None:
            return None
        value = value_of(outcome(self.criterion, self.run))
        before = value_of(outcome(self.before, self.baseline))
        return None if value is None or before is None else value - before

    @property
    def effect(self) -> str:
        """ "better" or "worse" by the value and the sign of the weight, "" where neither can be said."""
        if not self.difference or self.criterion is None or self.criterion.weight == 0:
            return ""
        return "better" if (self.difference > 0) == (self.criterion.weight > 0) else "worse"


@dataclass(frozen=True)
class ItemInBoth:
    """An item in both runs, or an answer of each to one case; a row is None where a run has none.

    `change` is that of the whole case where they are paired by case: the mean over `run_rows` and
    `baseline_rows`, the attempts, of which `run_row` and `baseline_row` are the two that are shown.
    """

    paired_by: Unit
    item: Item
    submission: Submission
    change: ItemChange
    run_row: RunItem | None
    baseline_row: RunItem | None
    run_rows: tuple[RunItem, ...]
    baseline_rows: tuple[RunItem, ...]
    criteria: tuple[BothAnswers, ...]

    @property
    def differing(self) -> int:
        return sum(row.answers_differ for row in self.criteria)

    @cached_property
    def words(self) -> tuple[Segment, ...]:
        """The baseline's answer as it became the run's, word by word; empty unless both are there."""
        if self.run_row is None or self.baseline_row is None:
            return ()
        return word_diff(self.baseline_row.item.submission, self.run_row.item.submission)

    @property
    def words_before(self) -> tuple[Segment, ...]:
        """The baseline's answer, with what is not in the run's marked."""
        return tuple(word for word in self.words if word.kind != "new")

    @property
    def words_after(self) -> tuple[Segment, ...]:
        """The run's answer, with what is not in the baseline's marked."""
        return tuple(word for word in self.words if word.kind != "gone")


def item_in_both(
    run: Run, baseline: Run, item: Item, *, viewer: User, beside: int | None = None
) -> ItemInBoth | None:
    """What both runs said of the item, or of its case where cases are paired; None when neither has it.

    Of several attempts at a case the item's own is shown, on the other side the item `beside`, else the
    attempt with the same number, else the first. Criteria in the run's order, those of the baseline alone
    last. Raises Withheld while the viewer is still to review one of these answers blind, and Invalid as
    `require_comparable`.
    """
    require_comparable(run, baseline)
    require_visible(viewer, item)
    sides = (run.pk, baseline.pk)
    found = list(_rows(sides).filter(item=item))
    if not found:
        return None
    by, of_unit = unit_of(item, run, baseline)
    if by == "case":
        found = list(_rows(sides).filter(of_unit))
        _require_case_visible(viewer, item, found)
    run_rows, baseline_rows = (tuple(row for row in found if row.run_id == pk) for pk in sides)
    here = _shown(run_rows, item, beside)
    there = _shown(baseline_rows, item, beside)
    scale = score_scale(run, baseline)
    return ItemInBoth(
        paired_by=by,
        item=item,
        submission=item.to_engine(),
        change=ItemChange(
            item.pk,
            _graded(run_rows, scale),
            _graded(baseline_rows, scale),
            tuple(row.item_id for row in run_rows),
            tuple(row.item_id for row in baseline_rows),
        ),
        run_row=here,
        baseline_row=there,
        run_rows=run_rows,
        baseline_rows=baseline_rows,
        criteria=_criteria(run, baseline, here, there),
    )


def _rows(runs: tuple[int, int]) -> QuerySet[RunItem]:
    rows = RunItem.objects.filter(run__in=runs).select_related("item__system_version__system")
    return rows.order_by("item__attempt", "item_id")


def _require_case_visible(viewer: User, item: Item, rows: Sequence[RunItem]) -> None:
    others = [row.item_id for row in rows if row.item_id != item.pk]
    if hidden_items(viewer, item.dataset.team).filter(pk__in=others).exists():
        raise Withheld(
            "You are a rater of an answer to this case, or of the same words, in an open blind queue. "
            "Verdicts of judges and other people appear once you have submitted yours."
        )


def _shown(rows: tuple[RunItem, ...], item: Item, beside: int | None) -> RunItem | None:
    """The attempt to show: the item itself, that beside it, one to its words, the one with its number."""
    by_wish = sorted(
        rows,
        key=lambda row: (
            row.item_id != item.pk,
            row.item_id != beside,
            row.item.wording != item.wording,
            row.item.attempt != item.attempt,
        ),
    )
    return by_wish[0] if by_wish else None


def _graded(rows: tuple[RunItem, ...], scale: str) -> ItemGrade | None:
    """All attempts of a side as one; None without any."""
    if not rows:
        return None
    scores = [row.score if scale == "score" else row.raw_score for row in rows if row.fully_judged]
    return ItemGrade(
        rows[0].rubric_version_id,
        _mean(scores),
        _mean([row.coverage for row in rows]),
        sum(row.errors for row in rows),
        all(row.graded_at is not None for row in rows),
        len(rows),
    )


def _mean(values: Sequence[float | None]) -> float | None:
    there = [value for value in values if value is not None]
    return fmean(there) if there else None


def _criteria(
    run: Run, baseline: Run, here: RunItem | None, there: RunItem | None
) -> tuple[BothAnswers, ...]:
    criteria = list(
        Criterion.objects.filter(
            version__in={row.rubric_version_id for row in (here, there) if row is not None}
        ).order_by("position")
    )
    partners = matched(_of(here, criteria), _of(there, criteria))
    shown = {(row.run_id, row.item_id) for row in (here, there) if row is not None}
    judgements = {
        (one.run_id, one.criterion_id): one
        for one in Judgement.objects.filter(
            run__in=(run.pk, baseline.pk), item__in={item_id for _, item_id in shown}, repeat=0
        )
        if (one.run_id, one.item_id) in shown
    }
    before_of = {criterion.pk: before for criterion, before in partners.pairs}
    mine = [
        BothAnswers(
            criterion,
            before := before_of.get(criterion.pk),
            judgements.get((run.pk, criterion.pk)),
            judgements.get((baseline.pk, before.pk)) if before else None,
        )
        for criterion in partners.of_run
    ]
    theirs = [
        BothAnswers(None, before, None, judgements.get((baseline.pk, before.pk)))
        for before in partners.only_baseline
    ]
    return (*mine, *theirs)


def _of(row: RunItem | None, criteria: Sequence[Criterion]) -> list[Criterion]:
    return [criterion for criterion in criteria if row and criterion.version_id == row.rubric_version_id]
