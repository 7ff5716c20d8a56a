"""One item as two runs graded it: both answers with their reasons, criterion by criterion."""

from collections.abc import Sequence
from dataclasses import dataclass

from rubricweb.engine.scoring.outcomes import value_of
from rubricweb.engine.submission import Submission
from rubricweb.models import Criterion, Item, Judgement, Run, RunItem, User
from rubricweb.selectors.blinding import require_visible
from rubricweb.selectors.labels.stored_answers import outcome
from rubricweb.selectors.runs.diff.criteria import matched
from rubricweb.selectors.runs.diff.diff import require_comparable
from rubricweb.selectors.runs.diff.items import ItemChange, ItemGrade, score_scale


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
    """An item in both runs; a row is None where a run does not have the item."""

    item: Item
    submission: Submission
    change: ItemChange
    run_row: RunItem | None
    baseline_row: RunItem | None
    criteria: tuple[BothAnswers, ...]

    @property
    def differing(self) -> int:
        return sum(row.answers_differ for row in self.criteria)


def item_in_both(run: Run, baseline: Run, item: Item, *, viewer: User) -> ItemInBoth | None:
    """What both runs said of the item; None when neither has it.

    Criteria in the run's order, those of the baseline alone last. Raises Withheld while the viewer is still
    to review the item blind, and Invalid as `require_comparable`.
    """
    require_comparable(run, baseline)
    require_visible(viewer, item)
    found = RunItem.objects.filter(run__in=(run.pk, baseline.pk), item=item)
    rows = {row.run_id: row for row in found}
    if not rows:
        return None
    here, there = rows.get(run.pk), rows.get(baseline.pk)
    scale = score_scale(run, baseline)
    return ItemInBoth(
        item=item,
        submission=item.to_engine(),
        change=ItemChange(item.pk, _graded(here, scale), _graded(there, scale)),
        run_row=here,
        baseline_row=there,
        criteria=_criteria(run, baseline, item, here, there),
    )


def _graded(row: RunItem | None, scale: str) -> ItemGrade | None:
    if row is None:
        return None
    score = row.score if scale == "score" else row.raw_score
    return ItemGrade(
        row.rubric_version_id,
        score if row.fully_judged else None,
        row.coverage,
        row.errors,
        row.graded_at is not None,
    )


def _criteria(
    run: Run, baseline: Run, item: Item, here: RunItem | None, there: RunItem | None
) -> tuple[BothAnswers, ...]:
    criteria = list(
        Criterion.objects.filter(
            version__in={row.rubric_version_id for row in (here, there) if row is not None}
        ).order_by("position")
    )
    partners = matched(_of(here, criteria), _of(there, criteria))
    said = {
        (one.run_id, one.criterion_id): one
        for one in Judgement.objects.filter(run__in=(run.pk, baseline.pk), item=item, repeat=0)
    }
    before_of = {criterion.pk: before for criterion, before in partners.pairs}
    mine = [
        BothAnswers(
            criterion,
            before := before_of.get(criterion.pk),
            said.get((run.pk, criterion.pk)),
            said.get((baseline.pk, before.pk)) if before else None,
        )
        for criterion in partners.of_run
    ]
    theirs = [
        BothAnswers(None, before, None, said.get((baseline.pk, before.pk)))
        for before in partners.only_baseline
    ]
    return (*mine, *theirs)


def _of(row: RunItem | None, criteria: Sequence[Criterion]) -> list[Criterion]:
    return [criterion for criterion in criteria if row and criterion.version_id == row.rubric_version_id]
