"""Several reports summed up: failed ones are left out unless asked for."""

import pytest

from rubricweb.engine import EvaluationReport
from rubricweb.engine.agreement import summarise_reports
from rubricweb.engine.report import GradingError
from rubricweb.engine.scoring import Score

ERROR = GradingError(criterion="C1", kind="bad_request", message="HTTP 400")


def report(score: float | None, *, failed: bool = False, passed: bool | None = None, **groups: float | None):
    return EvaluationReport(
        score=score,
        errors=(ERROR,) if failed else (),
        passed=passed,
        groups={name: Score(value, None, 1.0) for name, value in groups.items()} or None,
    )


def test_a_report_with_errors_is_in_no_figure() -> None:
    found = summarise_reports(
        [
            report(1.0, failed=True, passed=True, facts=1.0),
            report(0.8, passed=True, facts=0.9),
            report(0.5, passed=False, facts=None),
        ]
    )
    # (0.8 + 0.5)/2; one of two passes; the group has a value in one of the two.
    assert (found.score.value, found.score.n) == (pytest.approx(0.65), 2)
    assert (found.passed.value, found.passed.n) == (0.5, 2)
    assert (found.groups["facts"].value, found.groups["facts"].n) == (0.9, 1)
    assert (found.lowest, found.below_bar, found.group_lowest) == (0.5, 0.5, {"facts": 0.9})
    assert (found.items, found.fully_judged) == (3, 2)


def test_a_policy_by_name_counts_them() -> None:
    reports = [report(1.0, failed=True), report(0.8), report(0.5)]
    # (1 + 0.8 + 0.5)/3 = 0.7667
    assert summarise_reports(reports, failed_items="include").score.value == pytest.approx(2.3 / 3)
    with pytest.raises(ValueError, match="'yes'; allowed: exclude, include"):
        summarise_reports(reports, failed_items="yes")  # type: ignore[arg-type]  # refused is what it must be


def test_of_nothing_there_is_nothing_to_say() -> None:
    found = summarise_reports([report(None)])
    assert (found.score.value, found.score.n, found.passed.value, found.groups) == (None, 0, None, {})
    assert (found.score.reason, found.passed.reason) == ("nothing to measure",) * 2
    assert (found.lowest, found.below_bar, found.group_lowest) == (None, None, {})


def test_three_perfect_reports_do_not_show_that_all_are() -> None:
    found = summarise_reports([report(1.0, passed=True, facts=0.5) for _ in range(3)])
    # Wilson of 3 in 3: 3 / (3 + 1.96²) = 0.4385. Three times ½, a 0 and a 1: SE √(0.5/4/5) =
    # 0.1581, t of 4 degrees 2.7764, half 0.4390.
    for figure in (found.score, found.passed):
        assert (figure.low, figure.high) == (pytest.approx(0.4385, abs=1e-4), 1.0)
    facts = found.groups["facts"]
    assert (facts.low, facts.high) == pytest.approx((0.0610, 0.9390), abs=1e-4)


def test_several_answers_to_a_case_count_as_one() -> None:
    # Case a: (1 + 1 + 0) / 3, two of three pass; case b: 0, and it does not. What has an error is in neither.
    reports = [
        report(1.0, passed=True, facts=1.0),
        report(1.0, passed=True, facts=None),
        report(0.0, passed=False, facts=0.5),
        report(0.0, passed=False, facts=0.25),
        report(1.0, failed=True, passed=True, facts=1.0),
    ]
    found = summarise_reports(reports, cases=["a", "a", "a", "b", "b"])
    assert (found.unit, found.score.value, found.score.n) == ("case", pytest.approx(1 / 3), 2)
    assert (found.passed.value, found.passed.n) == (pytest.approx(1 / 3), 2)
    assert (found.groups["facts"].value, found.groups["facts"].n) == (pytest.approx(0.5), 2)
    assert summarise_reports(reports, cases=["", None, "", "c", ""]) == summarise_reports(reports)
    with pytest.raises(ValueError, match="2 cases for 5 reports"):
        summarise_reports(reports, cases=["a", "b"])
