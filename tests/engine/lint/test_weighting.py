"""What lint says about weights and their signs."""

import pytest

from rubricweb.engine.lint import lint_draft


def rules(*criteria):
    return {finding.rule for finding in lint_draft(list(criteria))}


def sign_rules(requirement, weight):
    found = rules({"requirement": requirement, "weight": weight})
    return found & {"weight_sign_mismatch", "negation_with_negative_weight"}


@pytest.mark.parametrize(
    "requirement",
    [
        "Contains a factual error.",
        "The response includes misleading medical advice.",
        "Is rude to the reader.",
        "Fails to name the city.",
        "Hallucinates sources.",
        "Incorrectly describes the rule.",
    ],
)
def test_an_error_belongs_under_a_negative_weight(requirement):
    assert sign_rules(requirement, 5) == {"weight_sign_mismatch"}
    assert sign_rules(requirement, -5) == set()
    assert sign_rules(requirement, 0) == set()


@pytest.mark.parametrize(
    "requirement",
    [
        "Contains no factual errors.",
        "Does not insult the reader.",
        "Is free of typos.",
        "Avoids filler.",
        "Should not be longer than a page.",
    ],
)
def test_the_absence_of_an_error_belongs_under_a_positive_weight(requirement):
    assert sign_rules(requirement, -5) == {"weight_sign_mismatch"}
    assert sign_rules(requirement, 5) == set()


@pytest.mark.parametrize("requirement", ["Does not mention the price.", "The answer doesn't cite a source."])
def test_a_negation_under_a_negative_weight_is_a_double_negative(requirement):
    assert sign_rules(requirement, -5) == {"negation_with_negative_weight"}
    assert sign_rules(requirement, 5) == set()


@pytest.mark.parametrize(
    "requirement", ["Avoids answering the question.", "Identifies the error in the code."]
)
def test_words_of_error_that_are_not_the_claim_are_left_alone(requirement):
    assert sign_rules(requirement, 5) == set()
    assert sign_rules(requirement, -5) == set()


def test_one_criterion_dominates_only_beyond_half_and_among_three():
    def weighted(*weights):
        return [{"requirement": f"Names river {i}.", "weight": weight} for i, weight in enumerate(weights)]

    # 6 of 11 is more than half; 5 of 10 is not; −5 takes all of 3 + 2, −4 does not; two criteria are too few.
    assert "dominant_criterion" in rules(*weighted(6, 3, 2))
    assert "dominant_criterion" not in rules(*weighted(5, 3, 2))
    assert "dominant_criterion" in rules(*weighted(-5, 3, 2))
    assert "dominant_criterion" not in rules(*weighted(-4, 3, 2, 1))
    assert "dominant_criterion" not in rules(*weighted(6, 3))
    assert "dominant_criterion" not in rules(*weighted(6, 3, 0))


def test_weights_that_cannot_be_read_are_not_taken_for_zero():
    assert "zero_weight_everywhere" not in rules({"requirement": "Names it.", "weight": "ten"})
    assert "zero_weight_everywhere" not in rules(
        {"requirement": "Names it.", "weight": 0}, {"requirement": "Dates it.", "weight": None}
    )
