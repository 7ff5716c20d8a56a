"""Every rule does what its own examples say."""

import pytest

from rubricweb.engine.lint import RULES, Rule
from rubricweb.engine.lint.base import Finding, LintInput, RuleExample
from rubricweb.engine.lint.draft import read_draft


def findings(rule: Rule, example: RuleExample) -> list[Finding]:
    return rule.findings(LintInput(read_draft(list(example.criteria)), example.evidence))


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_every_rule_finds_its_own_example_once(rule):
    found = findings(rule, rule.triggers)
    assert [finding.rule for finding in found] == [rule.name]
    assert found[0].severity == rule.severity
    assert found[0].message.strip()
    assert found[0].suggestion.strip()


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_every_rule_is_quiet_about_its_own_counterexample(rule):
    assert findings(rule, rule.passes) == []


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_every_rule_is_quiet_about_nothing(rule):
    assert findings(rule, RuleExample(())) == []
