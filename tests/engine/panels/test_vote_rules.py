"""Vote rules: every rule by hand, ties by the sign of the weight, abstentions, failures, repeats."""

from itertools import combinations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rubricweb.engine.answer import Answer
from rubricweb.engine.panels.vote_rules import DEFAULT_RULES, VOTE_RULES
from rubricweb.engine.panels.voting import (
    flip_share,
    labels_of,
    rule_for,
    scale_of,
    tally,
)
from rubricweb.engine.report import GradingError, Vote
from rubricweb.engine.rubric import Criterion
from rubricweb.engine.rubric import criterion as criteria
from rubricweb.engine.verdict import Verdict

MET, UNMET, CANNOT = Verdict
SCALE = {"Poor": 0.0, "Okay": 0.5, "Good": 1.0}


def binary(weight=1.0, **fields):
    return Criterion(name="C1", weight=weight, requirement="Names Paris", **fields)


def choice(weight=1.0, options=SCALE, scale_type="ordinal", **fields):
    listed = [{"label": label, "value": value} for label, value in options.items()]
    listed.append({"label": "N/A", "na": True})
    return Criterion(
        name="C1", weight=weight, requirement="How clear", options=listed, scale_type=scale_type, **fields
    )


def answer(label, **fields):
    if isinstance(label, Verdict):
        return Answer(label, "because", **fields)
    return Answer(None, "because", option=label, **fields)


def failure(kind="timeout"):
    return GradingError(criterion="C1", kind=kind, message=f"{kind} it was")


def votes(*labels, weights=None):
    """One vote per judge A, B, C …; a GradingError is a failed vote."""
    made = []
    for i, label in enumerate(labels):
        outcome = {"error": label} if isinstance(label, GradingError) else {"answer": answer(label)}
        made.append(Vote(judge=chr(65 + i), weight=weights[i] if weights else 1.0, **outcome))
    return made


def final(result):
    assert result.error is None
    return result.answer.option if result.answer.verdict is None else result.answer.verdict


@pytest.mark.parametrize(
    ("rule", "labels", "weights", "positive", "negative"),
    [
        ("majority", (MET, MET, UNMET), None, MET, MET),
        ("majority", (MET, UNMET, UNMET), None, UNMET, UNMET),
        ("majority", (MET, UNMET), None, UNMET, MET),  # 1 : 1
        ("majority", (MET, UNMET), (9, 1), UNMET, MET),  # weights do not count here
        ("weighted", (MET, UNMET, UNMET), (3, 1, 1), MET, MET),  # 3 : 2
        ("weighted", (MET, UNMET, UNMET), (2, 1, 1), UNMET, MET),  # 2 : 2
        ("weighted", (MET, UNMET, UNMET), (0.3, 0.1, 0.2), UNMET, MET),  # 0.3 : 0.3, though 0.1 + 0.2 > 0.3
        ("weighted", (MET, UNMET), (0, 0), UNMET, MET),  # weighing nothing, they weigh the same
        ("weighted", (MET,), (0,), MET, MET),
        ("unanimous", (MET, MET, MET), None, MET, MET),
        ("unanimous", (UNMET, UNMET), None, UNMET, UNMET),
        ("unanimous", (MET, MET, UNMET), None, UNMET, MET),
        ("unanimous", (MET, UNMET, UNMET), None, UNMET, MET),
        ("any", (UNMET, UNMET, MET), None, MET, MET),
        ("any", (UNMET, UNMET), None, UNMET, UNMET),
    ],
)
def test_binary_rules_give_what_was_worked_out_by_hand(rule, labels, weights, positive, negative):
    cast = votes(*labels, weights=weights)
    assert final(tally(binary(5), cast, rule)) is positive
    assert final(tally(binary(-5), cast, rule)) is negative
    # A weight of 0 moves no score, so that either side would do: it follows the positive one.
    assert final(tally(binary(0), cast, rule)) is positive


@pytest.mark.parametrize(
    ("rule", "labels", "weights", "positive", "negative"),
    [
        ("mean", ("Poor", "Poor", "Good"), None, "Okay", "Okay"),  # 1/3: 0.333 from 0, 0.167 from 0.5
        ("mean", ("Poor", "Good"), None, "Okay", "Okay"),  # 0.5, an option nobody chose
        ("mean", ("Poor", "Okay"), None, "Poor", "Okay"),  # 0.25: as far from 0 as from 0.5
        ("mean", ("Good", "Okay"), None, "Okay", "Good"),  # 0.75
        ("median", ("Poor", "Good", "Good"), None, "Good", "Good"),
        ("median", ("Poor", "Okay", "Good"), None, "Okay", "Okay"),
        ("median", ("Poor", "Poor", "Okay", "Good"), None, "Poor", "Okay"),  # (0 + 0.5) / 2 = 0.25
        ("median", ("Poor", "Good"), None, "Okay", "Okay"),  # (0 + 1) / 2
        ("weighted_mean", ("Poor", "Good"), (1, 4), "Good", "Good"),  # 0.8
        ("weighted_mean", ("Poor", "Good"), (3, 1), "Poor", "Okay"),  # 0.25
        ("weighted_mean", ("Poor", "Good"), (9, 1), "Poor", "Poor"),  # 0.1
        ("weighted_mean", ("Poor", "Good"), (0, 0), "Okay", "Okay"),
        ("mode", ("Poor", "Good", "Good"), None, "Good", "Good"),
        ("mode", ("Poor", "Okay", "Good"), None, "Poor", "Good"),  # 1 : 1 : 1
        ("mode", ("Okay", "Okay", "Good", "Good", "Poor"), None, "Okay", "Good"),  # 2 : 2 : 1
        ("min", ("Okay", "Good"), None, "Okay", "Okay"),
        ("max", ("Okay", "Poor"), None, "Okay", "Okay"),
    ],
)
def test_ordinal_rules_give_what_was_worked_out_by_hand(rule, labels, weights, positive, negative):
    cast = votes(*labels, weights=weights)
    assert final(tally(choice(2), cast, rule)) == positive
    assert final(tally(choice(-2), cast, rule)) == negative


COLOURS = {"Red": 1.0, "Blue": 0.2, "Grey": 0.2}


@pytest.mark.parametrize(
    ("rule", "labels", "weights", "positive", "negative"),
    [
        ("mode", ("Red", "Red", "Blue"), None, "Red", "Red"),
        ("mode", ("Red", "Blue"), None, "Blue", "Red"),
        ("mode", ("Grey", "Blue"), None, "Blue", "Blue"),  # worth the same: the first in the rubric
        ("weighted_mode", ("Red", "Blue", "Blue"), (3, 1, 1), "Red", "Red"),
        ("weighted_mode", ("Red", "Blue", "Grey"), (2, 2, 1), "Blue", "Red"),
        ("weighted_mode", ("Grey", "Blue", "Grey"), (1, 2, 1), "Grey", "Grey"),  # 2 : 2, two votes before one
        ("unanimous", ("Grey", "Grey"), None, "Grey", "Grey"),
        ("unanimous", ("Red", "Red", "Grey"), None, "Grey", "Red"),
    ],
)
def test_nominal_rules_give_what_was_worked_out_by_hand(rule, labels, weights, positive, negative):
    cast = votes(*labels, weights=weights)
    assert final(tally(choice(2, COLOURS, "nominal"), cast, rule)) == positive
    assert final(tally(choice(-2, COLOURS, "nominal"), cast, rule)) == negative


def test_a_tie_in_distance_is_a_tie_though_binary_fractions_miss_it():
    # The mean of 0.1 and 0.3 is 0.2: as far from one as from the other. In floats 0.3 − 0.2 < 0.2 − 0.1.
    options = {"a": 0.1, "b": 0.3}
    cast = votes("a", "b")
    assert final(tally(choice(1, options), cast, "mean")) == "a"
    assert final(tally(choice(-1, options), cast, "mean")) == "b"


def test_abstaining_votes_are_set_aside_and_failed_votes_kept_apart():
    result = tally(binary(5), votes(MET, MET, UNMET, CANNOT, failure()), "majority")
    assert final(result) is MET
    assert result.agreement == pytest.approx(2 / 3)  # of MET, MET, UNMET
    chosen = tally(choice(), votes("Good", "N/A", "N/A", "n/a ", failure()), "mean")
    assert final(chosen) == "Good"
    assert chosen.agreement == 1.0


def test_votes_that_all_abstain_are_an_abstention_not_an_error():
    result = tally(binary(), votes(CANNOT, CANNOT, failure()))
    assert (final(result), result.agreement) == (CANNOT, 1.0)
    assert final(tally(choice(), votes("N/A", "N/A"))) == "N/A"
    assert final(tally(choice(), votes(CANNOT))) is CANNOT


def test_votes_that_all_failed_are_the_error_most_of_them_share():
    result = tally(binary(), votes(failure("timeout"), failure("refused"), failure("refused")))
    assert (result.answer, result.agreement, result.flips) == (None, None, None)
    assert result.error.kind == "refused"
    assert result.error.message == "all 3 votes failed; B: refused it was"
    assert result.error.criterion == "C1"
    # One of each: the first in the alphabet, whoever it came from.
    assert tally(binary(), votes(failure("timeout"), failure("refused"))).error.kind == "refused"


def test_one_failed_vote_keeps_its_own_message():
    assert tally(binary(), votes(failure())).error == failure()


def test_nobody_voting_is_an_error():
    assert tally(binary(), []).error.kind == "missing_criterion"


@pytest.mark.parametrize(
    ("quorum", "enough"),
    [(0.0, True), (0.5, True), (0.6, True), (0.61, False), (1.0, False)],  # 3 of 5 came: a share of 0.6
)
def test_below_the_quorum_there_is_no_verdict(quorum, enough):
    result = tally(binary(), votes(MET, MET, CANNOT, failure(), failure()), quorum=quorum)
    assert (result.answer is not None) is enough
    if not enough:
        assert result.error.kind == "no_quorum"
        assert result.error.message.startswith("3 of 5 votes came")


def test_the_default_quorum_is_one_vote():
    assert final(tally(binary(), votes(MET, failure(), failure(), failure()))) is MET


def test_agreement_counts_votes_whatever_they_weigh():
    result = tally(binary(), votes(MET, UNMET, UNMET, weights=(5, 1, 1)), "weighted")
    assert (final(result), result.agreement) == (MET, pytest.approx(1 / 3))
    assert tally(choice(), votes("Poor", "Good"), "mean").agreement == 0.0  # Okay: nobody said so


def repeats(judge, *labels):
    return [Vote(judge=judge, repeat=i, answer=answer(label)) for i, label in enumerate(labels)]


def test_flips_are_the_share_of_differing_pairs_of_one_judges_repeats():
    first = repeats("A", MET, MET, UNMET)  # pairs MM, MU, MU: 2 of 3 differ
    assert tally(binary(), first).flips == pytest.approx(2 / 3)
    assert flip_share(binary(), first + repeats("B", UNMET, UNMET)) == 0.5  # 2 of 4
    assert flip_share(binary(), repeats("A", MET, CANNOT)) == 1.0
    assert flip_share(choice(), repeats("A", "Good", " good")) == 0.0


def test_different_judges_do_not_flip_and_failures_are_no_answers():
    assert flip_share(binary(), votes(MET, UNMET)) is None
    failed = Vote(judge="A", repeat=1, error=failure())
    assert tally(binary(), [*repeats("A", MET), failed]).flips is None


def test_the_reason_says_how_the_votes_fell_and_quotes_one_that_agrees():
    result = tally(binary(), votes(UNMET, MET, MET))
    assert result.answer.reason == "2 of 3 votes say MET (majority). B: because"
    assert tally(binary(), votes(MET)).answer == answer(MET)
    assert tally(choice(), votes("Poor", "Good")).answer.reason == "0 of 2 votes say Okay (mean)."


def test_the_verdict_has_the_rubrics_own_spelling_of_an_option():
    assert tally(choice(), votes(" good")).answer == answer("Good")
    assert tally(choice(), votes("n/a")).answer == answer("N/A")


def test_confidence_is_the_mean_of_the_agreeing_votes_when_all_of_them_state_one():
    def cast(*pairs):
        return [Vote(judge=f"J{i}", answer=answer(v, confidence=c)) for i, (v, c) in enumerate(pairs)]

    stated = tally(binary(), cast((MET, 0.5), (MET, 1.0), (UNMET, 0.125)))
    assert stated.answer.confidence == 0.75  # (0.5 + 1.0) / 2
    assert tally(binary(), cast((MET, 0.5), (MET, None))).answer.confidence is None


def test_the_criterions_rule_stands_above_the_panels_and_that_above_the_default():
    panel = {"binary": "any", "ordinal": "max"}
    assert rule_for(binary(aggregation="unanimous"), panel) == "unanimous"
    assert rule_for(binary(), panel) == "any"
    assert rule_for(choice(scale_type="nominal"), panel) == "mode"
    assert [rule_for(binary()), rule_for(choice())] == ["majority", "mean"]
    assert final(tally(binary(aggregation="any"), votes(MET, UNMET, UNMET))) is MET


def test_a_rule_for_another_scale_is_refused_with_those_that_fit():
    with pytest.raises(ValueError, match=r"'median'; allowed for a binary criterion: majority, weighted"):
        tally(binary(), votes(MET), "median")
    with pytest.raises(ValueError, match=r"'mean'; allowed for unordered options: mode"):
        rule_for(choice(scale_type="nominal"), {"nominal": "mean"})


@pytest.mark.parametrize("label", ["Good", "MET"])
def test_an_option_is_no_vote_on_a_binary_criterion(label):
    with pytest.raises(ValueError, match="allowed: MET, UNMET or CANNOT_ASSESS"):
        tally(binary(), votes(label))


def test_a_verdict_or_an_unknown_label_is_no_vote_on_a_choice():
    with pytest.raises(ValueError, match="allowed: one of its options"):
        tally(choice(), votes(MET))
    with pytest.raises(ValueError, match="Poor, Okay, Good"):
        tally(choice(), votes("Great"))


def test_two_votes_of_one_judge_and_repeat_and_odd_quorums_are_refused():
    with pytest.raises(ValueError, match="judge 'A', repeat 0"):
        tally(binary(), [*votes(MET), *votes(MET)])
    with pytest.raises(ValueError, match="quorum is 2"):
        tally(binary(), votes(MET), quorum=2)


def test_nobody_votes_on_a_check():
    check = Criterion.model_construct(name="C1", kind="check", weight=1.0, requirement="r", aggregation=None)
    with pytest.raises(ValueError, match="is a check"):
        scale_of(check)


def test_rubrics_may_name_exactly_the_rules_that_exist():
    assert {scale: tuple(rules) for scale, rules in VOTE_RULES.items()} == criteria.AGGREGATIONS
    assert all(DEFAULT_RULES[scale] in VOTE_RULES[scale] for scale in VOTE_RULES)


RULES = [(scale, rule) for scale, rules in VOTE_RULES.items() for rule in rules]


def example_of(scale, weight=1.0):
    return binary(weight) if scale == "binary" else choice(weight, COLOURS | SCALE, scale)


@pytest.mark.parametrize(("scale", "rule"), RULES)
@pytest.mark.parametrize("weight", [3.0, -3.0, 0.0])
def test_unanimous_votes_give_their_verdict_under_every_rule(scale, rule, weight):
    criterion = example_of(scale, weight)
    for label in labels_of(criterion):
        said = Verdict(label) if scale == "binary" else label
        for count in (1, 2, 3):
            result = tally(criterion, votes(*[said] * count, weights=[0.5, 2, 0][:count]), rule)
            assert (final(result), result.agreement) == (said, 1.0)


@settings(max_examples=60)
@given(data=st.data())
def test_the_order_of_the_votes_changes_nothing_and_the_verdict_is_always_an_answer(data):
    scale, rule = data.draw(st.sampled_from(RULES))
    criterion = example_of(scale, data.draw(st.sampled_from([1.0, -1.0, 0.0])))
    scored = labels_of(criterion)
    said = [Verdict(label) for label in scored] if scale == "binary" else list(scored)
    allowed = [*said, CANNOT if scale == "binary" else "N/A"]
    labels = data.draw(
        st.lists(st.sampled_from([*allowed, failure(), failure("refused")]), min_size=1, max_size=6)
    )
    weights = data.draw(
        st.lists(st.sampled_from([0.1, 0.2, 0.3, 1.0, 0.0]), min_size=len(labels), max_size=len(labels))
    )
    cast = votes(*labels, weights=weights)
    result = tally(criterion, cast, rule)
    assert tally(criterion, data.draw(st.permutations(cast)), rule) == result
    if result.error is None:
        assert final(result) in allowed
        assert 0.0 <= result.agreement <= 1.0
    else:
        assert all(vote.answer is None for vote in cast)


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_binary_rules_equal_counting_on_every_possible_panel(count):
    for labels in product([MET, UNMET], repeat=count):
        met = labels.count(MET)
        expected = {
            "majority": (MET if met > count / 2 else UNMET, MET if met >= count / 2 else UNMET),
            "unanimous": (MET if met == count else UNMET, MET if met else UNMET),
            "any": (MET if met else UNMET,) * 2,
        }
        for rule, (positive, negative) in expected.items():
            assert final(tally(binary(1), votes(*labels), rule)) is positive
            assert final(tally(binary(-1), votes(*labels), rule)) is negative


def test_flips_equal_a_count_of_pairs_on_every_possible_series():
    for labels in product([MET, UNMET, CANNOT], repeat=4):
        differing = sum(a is not b for a, b in combinations(labels, 2))
        assert flip_share(binary(), repeats("A", *labels)) == pytest.approx(differing / 6)
