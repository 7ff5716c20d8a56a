"""Where a judge's JSON is found, and what is never taken for it."""

import pytest

from rubricweb.engine.errors import UnreadableReply
from rubricweb.engine.parsers.json_reply import read_json_reply


def test_half_a_surrogate_pair_becomes_a_question_mark_in_values_and_keys():
    assert read_json_reply('{"a": "half \\ud83d", "\\uDC00": [1e3, "\\u00e9"]}') == {
        "a": "half ?",
        "?": [1000.0, "é"],
    }


def test_a_whole_pair_and_a_written_backslash_stay_what_they_are():
    assert read_json_reply('{"a": "\\ud83d\\ude00", "b": "\\\\ud83d"}') == {"a": "\U0001f600", "b": "\\ud83d"}


@pytest.mark.parametrize("depth", [2_000, 50_000])
def test_what_is_nested_too_deeply_is_said_to_be(depth):
    nested = '{"a":' * depth + '"\\ud83d"' + "}" * depth
    with pytest.raises(UnreadableReply, match="nested too deeply"):
        read_json_reply(f"Sure: {nested} There.")


MET = '{"explanation": "It says so.", "criterion_status": "MET"}'


@pytest.mark.parametrize(
    "reply",
    [
        f"The submission itself says {MET}, which is no evidence. Verdict: UNMET",
        f"My verdict is UNMET. The submission tries to talk me into {MET}",
        f"```json\n{MET}\n```\nOn second thought the criterion is not met.",
        f"{MET}\nSo I cannot assess it.",
        f"{MET} That would be the answer the author wants; it is **unmet**.",
    ],
)
def test_an_object_that_prose_contradicts_is_no_answer(reply):
    with pytest.raises(UnreadableReply, match=r"the prose says .*, its JSON object MET"):
        read_json_reply(reply)


@pytest.mark.parametrize(
    "reply",
    [
        MET,
        f"Sure: ```json\n{MET}\n```",
        f"I have to choose MET or UNMET. The criterion is MET:\n{MET}",
        f"Allowed are MET, UNMET, CANNOT_ASSESS.\n{MET}\nHence MET.",
        f"The author met a friend, and was not met at the station.\n{MET}",
        f"<think>UNMET? No.</think>{MET}",
    ],
)
def test_prose_that_says_the_same_or_nothing_is_no_obstacle(reply):
    assert read_json_reply(reply)["criterion_status"] == "MET"


def test_whom_somebody_met_is_no_verdict():
    unmet = MET.replace("MET", "UNMET")
    assert read_json_reply(f"{unmet}\nThe author met a friend.")["criterion_status"] == "UNMET"
    with pytest.raises(UnreadableReply, match="the prose says MET, its JSON object UNMET"):
        read_json_reply(f"{unmet}\nIn the end the criterion is met.")


@pytest.mark.parametrize("filler", [" ", ",", "'", "not ", "MET, ", "score ", "is "])
def test_long_prose_is_read_in_time_that_grows_with_its_length(filler):
    """A pattern that went back over itself would take hours for these."""
    prose = f"MET{filler * 100_000}score{filler * 100_000}"
    assert read_json_reply(f"{MET}\n{prose}".replace("not ", "knot "))["criterion_status"] == "MET"


def test_options_and_scores_are_held_against_prose_too():
    option, score = '{"explanation": "x", "option": "Warm"}', '{"explanation": "x", "overall_score": 85}'
    with pytest.raises(UnreadableReply, match="the prose says Cold, its JSON object warm"):
        read_json_reply(f"It quotes {option}. My option: Cold.")
    with pytest.raises(UnreadableReply, match="the prose says 20, its JSON object 85"):
        read_json_reply(f"It quotes {score}. The overall score is 20/100.")
    # 17 of 20 is 85 of 100.
    assert read_json_reply(f"Score: 17/20\n{score}")["overall_score"] == 85
    assert read_json_reply(f"The best option is Warm.\n{option}")["option"] == "Warm"


@pytest.mark.parametrize("digits", [310, 4_300])
def test_a_score_that_no_float_holds_is_unreadable(digits):
    with pytest.raises(UnreadableReply, match="hundreds of digits"):
        read_json_reply(f'{{"explanation": "x", "overall_score": {"1" * digits}}}')


def test_of_several_criteria_only_a_verdict_that_none_has_contradicts():
    entries = '{"criteria_evaluations": [{"criterion_number": 1, "criterion_status": "MET"}]}'
    with pytest.raises(UnreadableReply, match="the prose says UNMET"):
        read_json_reply(f"{entries}\nCriterion 1 is UNMET.")
    both = entries[:-2] + ', {"criterion_number": 2, "criterion_status": "UNMET"}]}'
    assert len(read_json_reply(f"{both}\nCriterion 2 is UNMET.")["criteria_evaluations"]) == 2
