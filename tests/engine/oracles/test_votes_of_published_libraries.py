"""What our panels settle on beside what autorubric's settle on; run by ``make oracles``."""

from __future__ import annotations

from rubricweb.engine import Verdict
from rubricweb.engine.answer import Answer
from rubricweb.engine.panels.voting import tally
from rubricweb.engine.report import Vote
from rubricweb.engine.rubric import Criterion, Option
from rubricweb.engine.scoring.outcomes import outcome_of, value_of
from tests.engine.oracles.cases import DIFFERENCES
from tests.engine.oracles.vote_cases import RULES, Case, vote_cases

UNANIMITY = "Without unanimity a panel settles on the side that costs."


def test_panels_settle_on_what_autorubrics_panels_settle_on_but_for_unanimity(published) -> None:
    differing = {"binary": 0, "nominal": 0}
    for case, theirs in zip(vote_cases(), published["by_votes"], strict=True):
        mine = settled(case)
        if mine == theirs:
            continue
        assert is_not_unanimous(case), f"ours {mine}, theirs {theirs}: {case}"
        assert mine == costliest(case), case
        differing[case["scale"]] += 1
    assert all(differing.values()), differing


def test_every_rule_was_tried() -> None:
    tried = {(case["scale"], case["rule"]) for case in vote_cases()}
    assert tried == {(scale, rule) for scale, rules in RULES.items() for rule in rules}


def test_the_difference_is_named_in_the_decision() -> None:
    assert UNANIMITY in DIFFERENCES


def settled(case: Case) -> float | None:
    """What the engine settles on, None when the panel abstains."""
    criterion = Criterion(
        requirement="Requirement",
        weight=case["weight"],
        options=tuple(Option(**option) for option in case["options"]),
        scale_type=None if case["scale"] == "binary" else case["scale"],
    )
    votes = [
        Vote(judge=f"judge {i}", weight=weight, answer=answer(case, label))
        for i, (label, weight) in enumerate(case["votes"])
    ]
    return value_of(outcome_of(criterion, tally(criterion, votes, case["rule"]).answer))


def answer(case: Case, label: str) -> Answer:
    return Answer(Verdict(label), "") if case["scale"] == "binary" else Answer(None, "", option=label)


def values_said(case: Case) -> set[float]:
    """The values of the votes that do not abstain."""
    known = {option["label"]: option["value"] for option in case["options"] if not option["na"]}
    known = known or {"MET": 1.0, "UNMET": 0.0}
    return {known[label] for label, _ in case["votes"] if label in known}


def is_not_unanimous(case: Case) -> bool:
    return case["rule"] == "unanimous" and len(values_said(case)) > 1


def costliest(case: Case) -> float:
    """The value that was said and makes the lowest score: the highest one of an error."""
    return max(values_said(case)) if case["weight"] < 0 else min(values_said(case))
