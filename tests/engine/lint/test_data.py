"""What lint says once there are labels."""

import pytest

from rubricweb.engine.agreement import Figure
from rubricweb.engine.lint import CriterionEvidence, lint_data
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


def bias(value, half):
    return Figure(value, value - half, value + half, 20, df=19)


def test_a_judge_leans_when_its_bias_is_off_zero_at_one_percent():
    # t of 19 degrees at 1 % is 2.861, at 5 % 2.093: a bias of 2.861 / 2.093 = 1.367 halves of its interval.
    assert rules(judge_bias=bias(0.4, 0.4 / 1.37)) == ["judge_bias"]
    assert rules(judge_bias=bias(-0.4, 0.4 / 1.37)) == ["judge_bias"]
    assert rules(judge_bias=bias(0.4, 0.4 / 1.36)) == []
    assert rules(judge_bias=Figure(0.4, None, None, 1)) == rules(judge_bias=None) == []


def test_which_side_a_judge_leans_to_is_said_with_its_bias():
    evidence = CriterionEvidence(criterion=0, items=20, labels={}, judge_bias=bias(-0.4, 0.2))
    (finding,) = lint_data(RUBRIC, [evidence])
    # 2.093 · 0.4/0.2 = 4.19 with 19 degrees of freedom: p = 0.0005.
    assert finding.message == (
        "The judge is stricter than people over 20 items: bias −0.40 [−0.60, −0.20] (p = 0.0005)."
    )


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
