"""Every script of the published prompt-eval-rubric, with only the imports changed."""

import ast
import re
from pathlib import Path

import pytest


def test_keywords_and_length():
    from rubricweb.engine.checks import ContainsKeywords, LengthBetween, WeightedRubric

    rubrics = WeightedRubric(
        [
            (ContainsKeywords(["summary", "key points"]), 0.4),
            (LengthBetween(min_chars=50, max_chars=500), 0.6),
        ]
    )
    response = "Here is a summary of the meeting. Key points: ..."
    result = rubrics.score(response)
    # Both keywords are there; the text is 49 characters long, one too few: 0.4 · 1 + 0.6 · 0.
    assert len(response) == 49
    assert result.score == pytest.approx(0.4)
    assert 0.0 <= result.score <= 1.0
    assert {name: part.score for name, part in result.breakdown.items()} == {
        "ContainsKeywords": 1.0,
        "LengthBetween": 0.0,
    }
    assert result.breakdown["LengthBetween"].label == "49 characters; at least 50 asked for"


def test_all_five_names_can_be_imported_and_used():
    from rubricweb.engine.checks import (
        ContainsKeywords,  # checks for required words/phrases
        JsonSchema,  # validate output against a JSON schema dict
        LengthBetween,  # score by whether length is in range
        MatchesRegex,  # pattern match, score 1.0 if matched
        NoForbiddenPhrases,  # score 0.0 if any forbidden phrase is present
    )

    assert ContainsKeywords(["a"])("an apple") == 1.0
    assert MatchesRegex(r"\d{4}")("in 2024") == 1.0
    assert MatchesRegex(r"\d{4}")("in 24") == 0.0
    assert JsonSchema({"type": "integer"})("3") == 1.0
    assert LengthBetween(max_chars=3)("four") == 0.0
    assert NoForbiddenPhrases(["as an AI"])("As an AI, I cannot.") == 0.0


def test_a_schema_that_drifts():
    from rubricweb.engine.checks import JsonSchema, WeightedRubric

    schema = {
        "type": "object",
        "required": ["status", "items"],
        "properties": {
            "status": {"type": "string"},
            "items": {"type": "array"},
        },
    }
    rubric = WeightedRubric([(JsonSchema(schema), 1.0)])
    response = '{"status": "ok", "items": [1, 2, 3]}'
    result = rubric.score(response)
    assert result.score == 1.0
    bad_response = '{"status": "ok"}'  # missing items
    result2 = rubric.score(bad_response)
    assert result2.score == 0.0
    assert result2.breakdown["JsonSchema"].label == '"items" is a required property'


def test_a_custom_function_beside_a_built_in_rubric():
    from rubricweb.engine.checks import LengthBetween, WeightedRubric

    def my_rubric(output: str) -> float:
        # return 1.0 if the output mentions a date, 0.0 otherwise
        import re

        return 1.0 if re.search(r"\d{4}-\d{2}-\d{2}", output) else 0.0

    rubrics = WeightedRubric(
        [
            (my_rubric, 0.5),
            (LengthBetween(min_chars=20), 0.5),
        ]
    )
    assert rubrics.score("It happened on 2024-05-17.").score == 1.0
    assert rubrics.score("It happened some day ago.").score == 0.5
    assert rubrics.score("2024-05-17").score == 0.5
    assert rubrics.score("no").score == 0.0


def test_every_rubric_must_pass():
    from rubricweb.engine.checks import AllRubric, ContainsKeywords, NoForbiddenPhrases

    strict = AllRubric(
        rubrics=[ContainsKeywords(["confirmed"]), NoForbiddenPhrases(["error", "failed"])],
        threshold=0.8,
    )
    result = strict.score("Order confirmed. Thank you.")
    assert result.passed is True
    assert result.failed_rubrics == []
    result2 = strict.score("Request failed due to an error.")
    assert result2.passed is False
    assert result2.failed_rubrics == ["ContainsKeywords", "NoForbiddenPhrases"]


def test_a_broken_rubric_costs_no_other():
    from rubricweb.engine.checks import WeightedRubric

    def broken_rubric(output: str) -> float:
        raise ValueError("something went wrong in my custom scoring logic")

    def good_rubric(output: str) -> float:
        return 1.0 if "summary" in output else 0.0

    rubrics = WeightedRubric(
        [
            (broken_rubric, 0.3),
            (good_rubric, 0.7),
        ]
    )
    result = rubrics.score("here is your summary")
    assert result.score == 0.7  # (0.3 · 0 + 0.7 · 1) / (0.3 + 0.7)
    assert result.errors == {"broken_rubric": "ValueError: something went wrong in my custom scoring logic"}
    assert result.breakdown["broken_rubric"].score == 0.0
    assert result.breakdown["good_rubric"].score == 1.0


def test_a_numeric_function_becomes_pass_or_fail():
    from rubricweb.engine.checks import threshold_rubric

    def my_fn(output: str) -> float:
        return len(output) / 10

    rubric = threshold_rubric(my_fn, min_score=0.7)
    assert [rubric("x" * length) for length in (6, 7, 8)] == [0.0, 1.0, 1.0]


def test_the_script_on_the_page_prints_what_its_comments_say(capsys):
    page = (Path(__file__).resolve().parents[3] / "docs" / "checks.md").read_text()
    script = re.search(r"^```python\n(from rubricweb[^`]*AllRubric.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert script is not None
    exec(script.group(1), {})
    lines = capsys.readouterr().out.splitlines()
    assert float(lines[0]) == pytest.approx(0.8)
    groups = ast.literal_eval(lines[1])
    assert groups == {"content": pytest.approx(0.4 / 0.6), "format": 1.0}
    assert lines[2:4] == ["0.0", "{}"]
    assert lines[-1] == "['len']"
