"""What several reports come to: mean score, share that passes, mean of every group."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field

import numpy as np

from rubricweb.engine.agreement.intervals import Figure, Floats
from rubricweb.engine.agreement.ratings import cluster_codes
from rubricweb.engine.agreement.scores.low_end import low_end
from rubricweb.engine.agreement.scores.means import mean_figure
from rubricweb.engine.agreement.scores.pairing import Unit, case_means
from rubricweb.engine.report import EvaluationReport
from rubricweb.engine.scoring import FAILED_ITEM_POLICIES, FailedItems


@dataclass(frozen=True, slots=True)
class ReportSummary:
    """Figures over several submissions graded by one rubric.

    `fully_judged` of the `items` have no error. `score` is the mean score, `lowest` the lowest one, `passed`
    the share that passes the rubric's rule among those it has a word on and `below_bar` the rest of them,
    each None without any. `groups` has the mean of every group of criteria, None holding the ungrouped, and
    `group_lowest` the lowest score of each; both are empty where no report has groups. Each figure's `n`
    counts the submissions it rests on, or their cases, as `unit` says.
    """

    items: int
    fully_judged: int
    score: Figure
    passed: Figure
    groups: dict[str | None, Figure]
    unit: Unit = "item"
    lowest: float | None = None
    below_bar: float | None = None
    group_lowest: dict[str | None, float | None] = field(default_factory=dict)


def summarise_reports(
    reports: Iterable[EvaluationReport],
    *,
    failed_items: FailedItems = "exclude",
    cases: Iterable[Hashable] | None = None,
) -> ReportSummary:
    """Sum up reports, without those that have errors: what could be judged of a submission may be all it is
    good at, and it would lift the mean.

    `failed_items="include"` counts them with the score that the error policy of their grader gave them. A
    report without a score (everything abstained) is in no mean. `cases` has the case of each report, None or
    "" for one of its own: several answers to one are alike and count as one, their mean. Raises ValueError
    for an unknown policy and where `cases` are not as many as the reports.

    Worked: scores 1.0 with an error, 0.8 and 0.5: the mean is 0.65 over 2 of 3, or 0.767 when included.
    Scores 1, 1 and 0 of the cases a, a and b: 0.5 over 2 cases.
    """
    if failed_items not in FAILED_ITEM_POLICIES:
        allowed = ", ".join(FAILED_ITEM_POLICIES)
        raise ValueError(f"unknown policy for failed items {failed_items!r}; allowed: {allowed}")
    everything = list(reports)
    named = [None] * len(everything) if cases is None else list(cases)
    places = cluster_codes(
        ("own", place) if one in (None, "") else ("case", one) for place, one in enumerate(named)
    )
    if len(places) != len(everything):
        raise ValueError(f"{len(places)} cases for {len(everything)} reports; allowed: one each")
    is_counted = np.array([failed_items == "include" or not report.errors for report in everything], np.bool_)

    counted = [report for report, counts in zip(everything, is_counted, strict=True) if counts]
    of_case = places[is_counted]

    def figure(values: Floats) -> Figure:
        return mean_figure(case_means(values, of_case).tolist())

    def of_group(report: EvaluationReport, name: str | None) -> float | None:
        part = (report.groups or {}).get(name)
        return part.score if part else None

    scores, passed = (_column(getattr(one, name) for one in counted) for name in ("score", "passed"))
    names = dict.fromkeys(name for report in counted for name in report.groups or {})
    groups = {name: _column(of_group(report, name) for report in counted) for name in names}
    ends = low_end(scores, passed, of_case)
    return ReportSummary(
        items=len(everything),
        fully_judged=sum(not report.errors for report in everything),
        score=figure(scores),
        passed=figure(passed),
        groups={name: figure(column) for name, column in groups.items()},
        unit="item" if len(np.unique(places)) == len(places) else "case",
        lowest=ends.lowest,
        below_bar=ends.below_bar,
        group_lowest={name: low_end(column).lowest for name, column in groups.items()},
    )


def _column(values: Iterable[float | None]) -> Floats:
    """NaN for None."""
    return np.array([*values], dtype=np.float64)
