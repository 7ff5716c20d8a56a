"""Random rubrics with labels, the same on every machine, and the differences a page names.

They are made by the first test that asks for them: every test process imports every test module.
"""

from __future__ import annotations

import os
import re
from fractions import Fraction
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from rubricweb.engine import Criterion, Rubric, RubricDataset

Case = dict[str, Any]

CASES = int(os.environ.get("RUBRICWEB_ORACLE_CASES", "2000"))
"""How many of each kind; the first ones are the same however many are asked for."""

_PAGE = "0009-differences-from-the-published-libraries.md"
_TEXT = (Path(__file__).resolve().parents[3] / "docs" / "decisions" / _PAGE).read_text()
DIFFERENCES = re.findall(r"^- \*\*(.+?)\*\*", _TEXT, re.MULTILINE)
"""The differences by the name they have on their page."""

MET, UNMET, CANNOT_ASSESS = "MET", "UNMET", "CANNOT_ASSESS"
ABSTENTIONS = ("skip", "zero", "partial", "fail")
PROFILES = ("mixed", "mixed", "mixed", "positive", "negative", "errors and metrics", "metrics")


@cache
def label_cases(count: int = CASES, seed: int = 1) -> list[Case]:
    """Cases of binary and choice criteria with abstentions, for every policy, normalised and not."""
    rng = Random(seed)
    cases = []
    for number in range(count):
        profile = rng.choice(PROFILES)
        kinds = [rng.random() < 0.35 for _ in range(rng.randint(1, 6))]
        criteria = [_criterion(rng, i, profile, choice) for i, choice in enumerate(kinds)]
        hesitant = rng.random() < 0.6
        cases.append(
            {
                "criteria": criteria,
                "labels": [_label(rng, criterion, hesitant) for criterion in criteria],
                "normalize": rng.random() < 0.7,
                "abstention": ABSTENTIONS[number % len(ABSTENTIONS)],
            }
        )
    return cases


@cache
def grader_cases(count: int = CASES, seed: int = 2) -> list[Case]:
    """Cases of binary criteria with plain verdicts, a holistic number, and gaps in a one-shot reply."""
    rng = Random(seed)
    cases = []
    for _ in range(count):
        profile = rng.choice(PROFILES)
        criteria = [_criterion(rng, i, profile, False) for i in range(rng.randint(1, 5))]
        gaps = [i for i in range(1, len(criteria)) if rng.random() < 0.15]
        cases.append(
            {
                "criteria": criteria,
                "labels": [rng.choice((MET, UNMET)) for _ in criteria],
                "normalize": rng.random() < 0.7,
                "llm_score": rng.choice((0.0, 100.0, 85.0, round(rng.uniform(0, 100), 2), 130.0, -20.0)),
                "unanswered": gaps,
            }
        )
    return cases


@cache
def length_cases(count: int = 500, seed: int = 3) -> list[Case]:
    """Lengths around the limits of random rules."""
    rng = Random(seed)
    cases = []
    for _ in range(count):
        free = rng.randint(0, 60)
        rule = {
            "free_budget": free,
            "max_cap": free + rng.randint(1, 60),
            "penalty_at_cap": round(rng.uniform(0, 2), 3),
            "exponent": round(rng.uniform(0.2, 4), 3),
            "penalty_type": rng.choice(("ALL", "OUTPUT_ONLY", "THINKING_ONLY")),
        }
        words = {"thinking_words": rng.randint(0, 120), "output_words": rng.randint(0, 120)}
        cases.append({"rule": rule} | words)
    return cases


def by_hand(case: Case) -> Fraction | None:
    """The score by our page on scoring, in exact fractions and without a line of the engine."""
    weights = [Fraction(criterion["weight"]) for criterion in case["criteria"]]
    values = [_value(case, i) for i in range(len(weights))]
    valued = [(weight, value) for weight, value in zip(weights, values, strict=True) if value is not None]
    if not valued:
        return None
    raw = sum(weight * value for weight, value in valued)
    if not case["normalize"]:
        return Fraction(raw)
    if any(weight > 0 for weight in weights):
        positive = sum(weight for weight, _ in valued if weight > 0)
        return None if positive == 0 else _clamped(raw / positive)
    if any(weight < 0 for weight in weights):
        negative = sum(-weight for weight, _ in valued if weight < 0)
        return None if negative == 0 else _clamped(1 + raw / negative)
    return Fraction(0)


def abstains(case: Case, i: int) -> bool:
    """Whether the label of the criterion is an abstention."""
    options = case["criteria"][i].get("options", ())
    label = case["labels"][i]
    return label == CANNOT_ASSESS or any(option["label"] == label and option["na"] for option in options)


def _value(case: Case, i: int) -> Fraction | None:
    criterion, label = case["criteria"][i], case["labels"][i]
    if abstains(case, i):
        wanted = criterion["weight"] > 0
        scored = [option["value"] for option in criterion.get("options", ()) if not option["na"]] or [0, 1]
        return {
            "skip": None,
            "zero": Fraction(0),
            "partial": Fraction(1, 2) if wanted else Fraction(0),
            "fail": Fraction(min(scored) if wanted else max(scored)),
        }[case["abstention"]]
    values = {option["label"]: option["value"] for option in criterion.get("options", ())}
    return Fraction(values[label]) if values else Fraction(label == MET)


def _clamped(number: Fraction) -> Fraction:
    return min(Fraction(1), max(Fraction(0), number))


def _criterion(rng: Random, i: int, profile: str, choice: bool) -> Case:
    criterion: Case = {"weight": _weight(rng, profile), "requirement": f"Requirement {i}"}
    if not choice:
        return criterion
    steps = rng.randint(2, 5)
    whole_range = rng.random() < 0.5
    values = [k / (steps - 1) if whole_range else round(rng.random(), 3) for k in range(steps)]
    options = [{"label": f"Option {k}", "value": value, "na": False} for k, value in enumerate(values)]
    if rng.random() < 0.6:
        options.append({"label": "Not applicable", "value": 0.0, "na": True})
    return criterion | {"options": options}


def _weight(rng: Random, profile: str) -> float:
    size = rng.choice((1.0, 5.0, 10.0, round(rng.uniform(0.01, 20), 3)))
    return {
        "mixed": rng.choice((size, size, -size, 0.0)),
        "positive": size,
        "negative": -size,
        "errors and metrics": rng.choice((-size, 0.0)),
        "metrics": 0.0,
    }[profile]


def _label(rng: Random, criterion: Case, hesitant: bool) -> str:
    if "options" not in criterion:
        return rng.choice((MET, UNMET, CANNOT_ASSESS) if hesitant else (MET, UNMET))
    labels: list[str] = [option["label"] for option in criterion["options"] if hesitant or not option["na"]]
    return rng.choice([*labels, labels[-1]])


DATASET = RubricDataset(
    prompt="Explain photosynthesis",
    name="photosynthesis-eval",
    reference_submission="Light becomes sugar.",
    rubric=Rubric.from_dict(
        [
            {"name": "accuracy", "weight": 10.0, "requirement": "Factually correct"},
            {
                "name": "clarity",
                "weight": -5.0,
                "requirement": "How muddled is it?",
                "options": [
                    {"label": "Clear", "value": 0.0},
                    {"label": "Muddled", "value": 1.0},
                    {"label": "No text", "value": 0.0, "na": True},
                ],
            },
        ]
    ),
)
DATASET.add_item("Plants eat light.", "Short", ["MET", "Muddled"])
DATASET.add_item("Ümläute, „Zitate“ und 光合成", "", ["CANNOT_ASSESS", "Clear"], reference_submission="Own")
DATASET.add_item("Answer", "Q3", ["UNMET"], rubric=Rubric([Criterion(weight=-2, requirement="Is wrong")]))
