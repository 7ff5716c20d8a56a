"""The page on panels is complete, and its example runs."""

import re
from pathlib import Path

from rubricweb.engine.autograders.examples.blocks import MAX_CHARACTERS, MAX_TOTAL_CHARACTERS
from rubricweb.engine.autograders.panels.cascade import CONDITIONS
from rubricweb.engine.panels.vote_rules import DEFAULT_RULES, VOTE_RULES

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "panels.md").read_text()


def test_every_rule_and_its_default_is_in_the_table():
    rows = re.findall(r"^\| (binary|ordinal|nominal) \| (\**)`(\w+)`\** \|", PAGE, re.MULTILINE)
    assert [(scale, rule) for scale, _, rule in rows] == [
        (scale, rule) for scale, rules in VOTE_RULES.items() for rule in rules
    ]
    assert {scale: rule for scale, bold, rule in rows if bold} == DEFAULT_RULES


def test_every_condition_of_a_cascade_is_in_the_table():
    assert re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE) == list(CONDITIONS)


def test_the_limits_of_examples_are_those_of_the_code():
    assert f"keeps {MAX_CHARACTERS:,} characters, all together {MAX_TOTAL_CHARACTERS:,}" in PAGE


def test_the_example_runs():
    (program,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    exec(compile(program, "docs/panels.md", "exec"), {})
