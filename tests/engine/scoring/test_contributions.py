"""What each criterion adds to the raw score."""

import pytest

from rubricweb.engine.scoring import FAILED, contributions, score_verdicts
from rubricweb.engine.verdict import Verdict

MET, UNMET, CANNOT_ASSESS = Verdict.MET, Verdict.UNMET, Verdict.CANNOT_ASSESS
WEIGHTS = [10, 5, -3, 2, 4]
OUTCOMES = [MET, UNMET, MET, FAILED, CANNOT_ASSESS]


def test_met_adds_its_weight_and_what_has_no_value_adds_nothing() -> None:
    assert contributions(WEIGHTS, OUTCOMES) == [10, 0, -3, None, None]


@pytest.mark.parametrize("abstention", ["skip", "zero", "partial", "fail"])
@pytest.mark.parametrize("on_error", ["exclude", "zero"])
def test_contributions_add_up_to_the_raw_score_under_every_policy(abstention, on_error) -> None:
    parts = contributions(WEIGHTS, OUTCOMES, abstention=abstention, on_error=on_error)
    raw = score_verdicts(WEIGHTS, OUTCOMES, abstention=abstention, on_error=on_error).raw_score
    assert sum(part for part in parts if part is not None) == pytest.approx(raw)
