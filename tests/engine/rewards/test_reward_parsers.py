"""The published parsers: what they read, and what they write."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rubricweb.engine.rewards as vf

CODE = vf.XMLParser(fields=["reasoning", ("code", "answer")])


def test_the_base_parser_reads_the_last_thing_the_assistant_said():
    completion = [
        {"role": "assistant", "content": "first"},
        {"role": "tool", "content": "output"},
        {"role": "assistant", "content": "last"},
        {"role": "user", "content": "thanks"},
    ]
    assert vf.Parser().parse_answer(completion) == "last"
    assert vf.Parser(str.upper).parse_answer("plain") == "PLAIN"
    assert vf.Parser().parse_answer([]) is None


def test_fields_and_all_their_alternatives_are_attributes():
    parsed = CODE.parse("<reasoning>\n why \n</reasoning> and <answer>4</answer>")
    assert (parsed.reasoning, parsed.code, parsed.answer) == ("why", None, "4")


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("<answer>1</answer><answer>2</answer>", "1", "2"),
        ("the <answer> tag: <answer>4</answer>", "4", "4"),
        ("</answer><answer>4</answer>", "4", "4"),
        ("<answer>4</answer> </answer>", "4", "4"),
        ("<answer></answer>", "", ""),
        ("<answer>4", None, None),
        ("<ANSWER>4</ANSWER>", None, None),
    ],
)
def test_the_first_or_the_last_field_is_read(text, first, last):
    assert CODE.parse(text).answer == first
    assert CODE.parse(text, last=True).answer == last


def test_white_space_can_be_kept():
    assert CODE.parse("<answer>\n4 </answer>", strip=False).answer == "\n4 "


def test_the_answer_comes_from_the_latest_message_that_has_one():
    completion = [
        {"role": "assistant", "content": "<answer>1</answer><answer>2</answer>"},
        {"role": "user", "content": "<answer>3</answer>"},
        {"role": "assistant", "content": "done"},
    ]
    assert CODE.parse_answer(completion) == "2"
    assert CODE.parse_answer("nothing") is None
    assert vf.XMLParser(["result"], "result", int).parse_answer("<result>7</result>") == 7


def test_fields_are_written_under_their_first_name():
    written = CODE.format(reasoning="why", answer=4)
    assert written == "<reasoning>\nwhy\n</reasoning>\n<code>\n4\n</code>"
    assert CODE.get_fields() == ["reasoning", "code"]


def test_the_format_to_ask_for_lists_the_alternatives():
    assert CODE.get_format_str() == (
        "<reasoning>\n...\n</reasoning>\n<[ code | answer ]>\n...\n</[ code | answer ]>"
    )


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"reasoning": "x"}, "no value for the field code; allowed names: code, answer"),
        ({"reasoning": "x", "code": "y", "foo": 1}, "unknown field foo; allowed: reasoning, code, answer"),
        ({"reasoning": "</code>", "code": "y"}, "the value of reasoning holds the tag </code>"),
    ],
)
def test_what_cannot_be_written_is_refused(values, message):
    with pytest.raises(ValueError, match=message):
        CODE.format(**values)


@given(st.text(), st.text())
def test_what_was_written_is_read_back(reasoning, code):
    values = {"reasoning": reasoning.strip(), "code": code.strip()}
    try:
        written = CODE.format(**values)
    except ValueError:
        return  # holds a tag of the parser's: refused, as tested above
    parsed = CODE.parse(written)
    assert {"reasoning": parsed.reasoning, "code": parsed.code} == values


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ([], "no fields"),
        ([()], r"fields\[0\] is empty"),
        (["a b"], r"fields\[0\] is 'a b'; allowed: a tag name"),
        (["a", ("b", "a")], r"fields\[1\] names the tag a again"),
        ("answer", "fields is the text 'answer'; allowed: a list of tag names"),
        ([7], r"fields\[0\] is 7"),
    ],
)
def test_fields_that_are_no_tags_are_refused(fields, message):
    with pytest.raises(ValueError, match=message):
        vf.XMLParser(fields)


@pytest.mark.parametrize(
    ("text", "always", "maybe"),
    [
        ("<think>2+2</think> 4", "4", "4"),
        ("2+2</think>4", "4", "4"),  # a chat template wrote the opening tag
        ("<think>a</think>b</think> c", "c", "c"),
        (" 4 ", "", "4"),
        ("<think>2+2 is", "", ""),  # cut off before the answer
        ("", "", ""),
    ],
)
def test_thinking_is_left_out(text, always, maybe):
    assert vf.ThinkParser().parse(text) == always
    assert vf.MaybeThinkParser().parse(text) == maybe


def test_what_is_left_after_thinking_goes_through_the_extraction():
    assert vf.ThinkParser(int).parse("<think>x</think> 4") == 4
    assert vf.MaybeThinkParser(int).parse_answer([{"role": "assistant", "content": "4"}]) == 4
