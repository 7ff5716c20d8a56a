"""What lint says once there are labels."""

import pytest

from rubricweb.engine.lint import CriterionEvidence, lint_data
from rubricweb.engine.lint.data import sign_test
from rubricweb.engine.rubric import Rubric

RUBRIC = Rubric.from_dict([{"requirement": "Names the city."}, {"requirement": "Names the river."}])


def rules(**fields):
    evidence = {"criterion": 1, "items": 20, "labels": {"MET": 10, "UNMET": 10}} | fields
    found = lint_data(RUBRIC, [CriterionEvidence(**evidence)])
    assert {finding.criterion for finding in found} <= {1}
    return [finding.rule for finding in found]


def test_labels_that_vary_and_agree_give_no_finding():
    assert rules() == []


def test_one_verdict_over_ten_items_never_varies_and_over_nine_may_yet():
    assert rules(items=10, labels={"MET": 10}) == ["never_varies"]
    assert rules(items=9, labels={"MET": 9}) == []
    assert rules(items=10, labels={"MET": 9, "UNMET": 1}) == []
    assert rules(items=10, labels={"MET": 10, "UNMET": 0}) == ["never_varies"]


def test_abstentions_are_neither_a_second_verdict_nor_the_one_that_never_varies():
    assert rules(labels={"MET": 19, "CANNOT_ASSESS": 1}) == ["never_varies"]
    assert rules(labels={"CANNOT_ASSESS": 20}) == ["often_cannot_assess"]


def test_a_fifth_of_abstentions_is_often():
    # 4 of 20 is a fifth, 3 of 20 is less.
    assert rules(labels={"MET": 8, "UNMET": 8, "CANNOT_ASSESS": 4}) == ["often_cannot_assess"]
    assert rules(labels={"MET": 8, "UNMET": 9, "CANNOT_ASSESS": 3}) == []


def test_alpha_counts_when_it_is_defined_and_rests_on_ten_units():
    assert rules(alpha=0.39, alpha_units=10) == ["low_agreement"]
    assert rules(alpha=0.4, alpha_units=10) == []
    assert rules(alpha=-0.2, alpha_units=9) == []
    assert rules(alpha=None, alpha_units=50) == []


def test_an_alpha_that_rounds_to_nothing_carries_no_sign():
    evidence = CriterionEvidence(criterion=0, items=20, labels={}, alpha=-0.001, alpha_units=20)
    (finding,) = lint_data(RUBRIC, [evidence])
    assert "α = 0.00 over 20 items" in finding.message


def test_a_judge_leans_when_its_differences_nearly_all_go_one_way():
    assert rules(judge_higher=8) == ["judge_bias"]
    assert rules(judge_lower=8) == ["judge_bias"]
    assert rules(judge_higher=9, judge_lower=1) == []


@pytest.mark.parametrize(
    ("higher", "lower", "p"),
    [
        (0, 0, None),
        (8, 0, 2 / 256),
        (1, 9, 2 * (1 + 10) / 1024),
        # 2 · (1 + 4 + 6) / 16 is above 1.
        (2, 2, 1.0),
    ],
)
def test_the_sign_test_is_twice_the_smaller_binomial_tail(higher, lower, p):
    assert sign_test(higher, lower) == p


def test_the_sign_test_stands_thousands_of_differences():
    p = sign_test(1500, 1500)
    assert p == 1.0
    assert sign_test(3000, 0) == 0.0


@pytest.mark.parametrize(
    ("indexes", "message"),
    [
        ([2], r"evidence\[0\]\.criterion: found 2; allowed: 0 to 1"),
        ([0, -1], r"evidence\[1\]\.criterion: found -1"),
        ([1, 1], r"evidence\[1\]\.criterion: found 1 again"),
    ],
)
def test_evidence_about_no_criterion_or_twice_is_refused_by_place(indexes, message):
    evidence = [CriterionEvidence(criterion=index, items=0, labels={}) for index in indexes]
    with pytest.raises(ValueError, match=message):
        lint_data(RUBRIC, evidence)
