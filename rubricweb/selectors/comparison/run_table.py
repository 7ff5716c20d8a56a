"""Several runs beside each other: one row each, in the order of the system versions they judged."""

from collections.abc import Sequence
from dataclasses import dataclass

from rubricweb.engine.agreement import Figure
from rubricweb.engine.agreement.intervals import simultaneous
from rubricweb.engine.agreement.scores.pairing import Unit
from rubricweb.engine.agreement.scores.scores import compare_runs
from rubricweb.errors import Invalid
from rubricweb.models import Case, Criterion, JudgeVersion, Run, RunSummary, User
from rubricweb.models.datasets import SEALS
from rubricweb.selectors.blinding import hidden_of, hidden_runs, shown
from rubricweb.selectors.comparison.comparison import overview
from rubricweb.selectors.judges import shown_judge, version_told, withheld_judges
from rubricweb.selectors.labels.comparable import queues_to_compare
from rubricweb.selectors.runs.criterion_counts import (
    CriterionCounts,
    criterion_counts,
    on_judged_items,
    summarised_counts,
)
from rubricweb.selectors.runs.diff.items import item_changes
from rubricweb.selectors.shared.cases import has_repeated_cases
from rubricweb.selectors.shared.score_ends import score_ends
from rubricweb.selectors.withheld_runs import is_withheld_run

FEWEST, MOST = 2, 12
WITHHELD = "Hidden until you finish your reviews."


@dataclass(frozen=True)
class CriterionShare:
    """How often one criterion passed in one run: MET, of a penalty UNMET; None where nothing was settled."""

    criterion_id: int
    value: float | None
    n: int


@dataclass(frozen=True)
class RunInTable:
    """One run; `judge` is what lists call its judge. `summary` is None until it has ended and while it is
    `withheld` from the viewer.

    `shares` are in the order of the table's criteria, empty where the run was judged by another rubric
    version. `kappa` is that of its judge with people, `no_kappa` says why there is none. `difference` is its
    mean score less that of the first run over the `n` items, or cases, that both scored, with an interval
    that holds for all rows at once; `no_difference` says why there is none, "" for the first run.
    """

    run: Run
    judge: str
    judge_version: JudgeVersion | None
    withheld: bool
    summary: RunSummary | None
    cost_usd: float | None
    shares: tuple[CriterionShare, ...]
    kappa: Figure | None
    no_kappa: str
    difference: Figure | None
    paired_by: Unit | None
    no_difference: str

    @property
    def score(self) -> Figure | None:
        """The mean over the run's own items, fully judged ones, or over their cases."""
        one = self.summary
        if one is None or one.score_mean is None:
            return None
        return Figure(one.score_mean, one.score_low, one.score_high, one.cases)

    @property
    def passes(self) -> float | None:
        """The share of items that pass by the rubric's rule; None without a rule."""
        return None if self.summary is None or self.summary.below_bar is None else 1 - self.summary.below_bar


@dataclass(frozen=True)
class RunTable:
    """The runs, and the criteria of the first one's rubric version, which their shares are of."""

    rows: tuple[RunInTable, ...]
    criteria: tuple[Criterion, ...]

    @property
    def first(self) -> Run:
        return self.rows[0].run

    @property
    def items(self) -> frozenset[int]:
        """How many items the runs have; one number where they have equally many."""
        return frozenset(row.summary.items for row in self.rows if row.summary is not None)


def run_table(runs: Sequence[Run], *, viewer: User) -> RunTable:
    """The runs by system, version and age; the first is what the others are held against.

    What they say over all items is withheld, with the differences, while the viewer is still to review one
    of them blind. Raises Invalid for fewer than two runs or more than twelve.
    """
    if not FEWEST <= len(runs) <= MOST:
        raise Invalid(f"Compare {FEWEST} to {MOST} runs, not {len(runs)}.")
    ordered = sorted(runs, key=_place)
    first, team = ordered[0], ordered[0].team
    hidden, judges = hidden_runs(viewer, team), withheld_judges(team, viewer)
    criteria = tuple(Criterion.objects.filter(version_id=first.rubric_version_id).order_by("position"))
    confidence = simultaneous(len(ordered) - 1)
    rows = []
    for run in ordered:
        withheld = run in hidden
        summary = None if withheld else getattr(run, "summary", None)
        kappa, no_kappa = (None, WITHHELD) if withheld else _kappa(run, viewer)
        why = _why_apart(run, first)
        if run is not first and not why and (withheld or first in hidden):
            why = WITHHELD
        difference, unit = (None, None)
        if run is not first and not why:
            difference, unit, why = _difference(run, first, viewer, confidence)
        rows.append(
            RunInTable(
                run=run,
                judge=shown_judge(run, judges),
                judge_version=version_told(run, judges),
                withheld=withheld,
                summary=summary,
                cost_usd=None if summary is None or is_withheld_run(run, viewer) else summary.cost_usd,
                shares=() if withheld or _other_rubric(run, first) else _shares(run, criteria, viewer),
                kappa=kappa,
                no_kappa=no_kappa,
                difference=difference,
                paired_by=unit,
                no_difference=why,
            )
        )
    return RunTable(tuple(rows), criteria)


def _place(run: Run) -> tuple[str, int, object, int]:
    version = run.system_version
    named = ("", 0) if version is None else (version.system.name, version.position)
    return (*named, run.created_at, run.pk)


def _other_rubric(run: Run, first: Run) -> bool:
    return run.rubric_version_id is None or run.rubric_version_id != first.rubric_version_id


def _why_apart(run: Run, first: Run) -> str:
    """Why the scores of the two may not be subtracted; "" where they may."""
    if run.dataset_id != first.dataset_id:
        return f"Another dataset: {run.dataset}."
    if run.rubric_version_id != first.rubric_version_id:
        return f"Another rubric: {run.rubric_version or 'each item’s own'}."
    if run.normalize != first.normalize:
        return "Another scale: one of the two has raw scores."
    return ""


def _difference(
    run: Run, first: Run, viewer: User, confidence: float
) -> tuple[Figure | None, Unit | None, str]:
    """The difference, what it is paired by, and "" or why there is none."""
    try:
        changes = item_changes(run, first, hidden_of(viewer, run.team, run.dataset_id))
    except Invalid as error:
        return None, None, str(error)
    scores = compare_runs(
        changes.baseline.scores, changes.run.scores, limits=score_ends(run, first), confidence=confidence
    )
    if not scores.n:
        return None, None, f"No {changes.by} has a score in both."
    return scores.difference, changes.by, ""


def _shares(run: Run, criteria: Sequence[Criterion], viewer: User) -> tuple[CriterionShare, ...]:
    by_case = has_repeated_cases(run)
    counts = None if by_case else summarised_counts(run, criteria)
    if counts is None:
        seen = on_judged_items(run).filter(shown(viewer, run.team, run.dataset_id))
        counts = criterion_counts(criteria, seen, by_case=by_case)
    return tuple(_share(one) for one in counts)


def _share(counts: CriterionCounts) -> CriterionShare:
    settled = counts.helped + counts.hurt
    return CriterionShare(counts.criterion.pk, counts.helped / settled if settled else None, settled)


def _kappa(run: Run, viewer: User) -> tuple[Figure | None, str]:
    """κ of the run's judge with people, or why it is not shown."""
    if Case.objects.filter(dataset=run.dataset_id, half=SEALS[1]).exists():
        return None, "On Compare: each look at the test split is counted there."
    queues = queues_to_compare(run)
    if not queues:
        return None, "No labels by people."
    comparison = overview(run, queues, viewer=viewer)
    kappa = comparison.leading.kappa
    if kappa.value is None:
        return None, comparison.unavailable.why if comparison.unavailable else kappa.reason
    return kappa, ""
