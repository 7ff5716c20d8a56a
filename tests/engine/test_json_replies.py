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
