"""What several reports come to: mean score, share that passes, mean of every group."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rubricweb.engine.agreement.intervals import Figure, wilson
from rubricweb.engine.agreement.scores.means import mean_figure
from rubricweb.engine.report import EvaluationReport
from rubricweb.engine.scoring import FAILED_ITEM_POLICIES, FailedItems


@dataclass(frozen=True, slots=True)
class ReportSummary:
    """Figures over several submissions graded by one rubric.

    `fully_judged` of the `items` have no error. `score` is the mean score, `passed` the share that passes the
    rubric's rule among those it has a word on, both None without any. `groups` has the mean of every group of
    criteria, None holding the ungrouped; it is empty where no report has groups. Each figure's `n` counts the
    submissions it rests on.
    """

    items: int
    fully_judged: int
    score: Figure
    passed: Figure
    groups: dict[str | None, Figure]


def summarise_reports(
    reports: Iterable[EvaluationReport], *, failed_items: FailedItems = "exclude"
) -> ReportSummary:
    """Sum up reports, without those that have errors: what could be judged of a submission may be all it is
    good at, and it would lift the mean.

    `failed_items="include"` counts them with the score that the error policy of their grader gave them. A
    report without a score (everything abstained) is in no mean. Raises ValueError for an unknown policy.

    Worked: scores 1.0 with an error, 0.8 and 0.5: the mean is 0.65 over 2 of 3, or 0.767 when included.
    """
    if failed_items not in FAILED_ITEM_POLICIES:
        allowed = ", ".join(FAILED_ITEM_POLICIES)
        raise ValueError(f"unknown policy for failed items {failed_items!r}; allowed: {allowed}")
    everything = list(reports)
    judged = [report for report in everything if not report.errors]
    counted = judged if failed_items == "exclude" else everything
    ruled = [report.passed for report in counted if report.passed is not None]
    bounds = wilson(sum(ruled), len(ruled))
    groups: dict[str | None, list[float]] = {}
    for report in counted:
        for name, part in (report.groups or {}).items():
            groups.setdefault(name, []).extend([] if part.score is None else [part.score])
    return ReportSummary(
        items=len(everything),
        fully_judged=len(judged),
        score=mean_figure([report.score for report in counted if report.score is not None]),
        passed=Figure(sum(ruled) / len(ruled), *bounds, len(ruled))
        if bounds
        else Figure(None, None, None, 0),
        groups={name: mean_figure(scores) for name, scores in groups.items()},
    )
