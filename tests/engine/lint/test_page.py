"""The page about lint says what the rules say."""

import re
from pathlib import Path

import pytest

from rubricweb.engine.lint import RULES

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "lint.md").read_text("utf-8")
SECTIONS = dict(re.findall(r"^### `(\w+)`\n(.*?)(?=^##|\Z)", PAGE, re.MULTILINE | re.DOTALL))


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_every_rule_is_explained_on_the_page_in_its_own_words(rule):
    section = " ".join(SECTIONS[rule.name].split())
    assert section.startswith(f"**{rule.title}** ({rule.severity}). {rule.explanation}")


def test_the_page_explains_no_rule_that_is_gone():
    assert set(SECTIONS) == set(RULES)


@pytest.mark.parametrize("block", re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL))
def test_the_examples_of_the_page_run(block, capsys):
    exec(compile(block, "docs/lint.md", "exec"), {})  # the examples assert what they promise
