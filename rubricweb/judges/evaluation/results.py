"""What an evaluation gives back: a result per item, failed ones apart, and figures over the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from rubricweb.engine.agreement.scores.report_means import ReportSummary, summarise_reports
from rubricweb.engine.datasets import DataItem
from rubricweb.engine.report import EvaluationReport
from rubricweb.engine.scoring import FailedItems
from rubricweb.judges.usage import Usage


@dataclass(frozen=True, slots=True)
class ItemResult:
    """One item's result.

    ``error`` says why the item failed: what grading it raised, or the questions of its report that failed.
    None for an item that was judged in full. ``report`` is what there is all the same, without a score where
    grading raised. ``resumed``: it was taken over from the experiment's earlier run, as it was then.
    """

    item_idx: int
    item: DataItem
    report: EvaluationReport
    duration_seconds: float
    error: str | None = None
    usage: Usage = field(default_factory=Usage)
    resumed: bool = False


@dataclass(frozen=True, slots=True)
class EvalTimingStats:
    """Seconds: of the whole evaluation, and of the items graded in it; None where none was."""

    total_duration_seconds: float
    mean_item_duration_seconds: float | None
    min_item_duration_seconds: float | None
    max_item_duration_seconds: float | None
    p50_item_duration_seconds: float | None
    p95_item_duration_seconds: float | None
    items_per_second: float | None

    @classmethod
    def from_durations(cls, durations: Sequence[float], total_duration: float) -> EvalTimingStats:
        """p50 and p95 are the smallest duration that so many per cent do not exceed: 2 of 1, 2, 3, 4."""
        ordered = sorted(durations)
        count = len(ordered)
        if not count:
            return cls(total_duration, None, None, None, None, None, None)
        p50, p95 = (ordered[-(-count * share // 100) - 1] for share in (50, 95))
        rate = count / total_duration if total_duration > 0 else None
        return cls(total_duration, sum(ordered) / count, ordered[0], ordered[-1], p50, p95, rate)


@dataclass(frozen=True, slots=True)
class EvalResult:
    """The result of one evaluation; items in the dataset's order.

    ``successful_items`` were judged in full, ``failed_items`` were not; with ``fail_fast`` some may be
    neither. ``errors`` are (index, why) of the failed. ``total_token_usage`` and ``total_completion_cost``
    (US dollars) count every item that ended, failed and taken-over ones too; the cost is None when a call's
    price is not known. ``experiment_dir`` holds the files to resume from, None when nothing was kept.
    """

    item_results: list[ItemResult]
    total_items: int
    total_token_usage: Usage
    timing_stats: EvalTimingStats
    started_at: datetime
    completed_at: datetime
    experiment_name: str | None = None
    experiment_dir: Path | None = None

    if not TYPE_CHECKING:  # which would take it for a class with every attribute there is

        def __getattr__(self, name: str) -> NoReturn:
            there = {
                "compute_metrics": "rubricweb.engine.agreement compares labels",
                "from_experiment": "run evaluate again: everything is taken over",
            }.get(name)
            raise AttributeError(f"EvalResult has no {name}" + (f"; {there}" if there else ""))

    @property
    def successful_items(self) -> int:
        return len(self.filter_successful())

    @property
    def failed_items(self) -> int:
        return len(self.filter_failed())

    @property
    def total_completion_cost(self) -> float | None:
        return self.total_token_usage.known_cost_usd

    @property
    def errors(self) -> list[tuple[int, str]]:
        return [(one.item_idx, one.error) for one in self.item_results if one.error is not None]

    def filter_successful(self) -> list[ItemResult]:
        """The items that were judged in full."""
        return [one for one in self.item_results if one.error is None]

    def filter_failed(self) -> list[ItemResult]:
        """The items that were not."""
        return [one for one in self.item_results if one.error is not None]

    def get_reports(self) -> list[EvaluationReport]:
        """The reports of the items judged in full."""
        return [one.report for one in self.filter_successful()]

    def get_scores(self) -> list[float]:
        """The scores of the items judged in full, without those where everything abstained."""
        return [report.score for report in self.get_reports() if report.score is not None]

    def summary(self, *, failed_items: FailedItems = "exclude") -> ReportSummary:
        """Mean score, share that passes and group means with intervals, by ``summarise_reports``.

        Several answers to one case of the dataset count as one.
        """
        return summarise_reports(
            [one.report for one in self.item_results],
            failed_items=failed_items,
            # An item without a case answers the case that is called as it is.
            cases=[one.item.case_id or one.item.id for one in self.item_results],
        )
