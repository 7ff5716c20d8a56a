"""Questions of every form in every variation, and digests of what of each is sent (`test_golden.py`)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from rubricweb.engine import Rubric, Submission
from rubricweb.engine.autograders import AUTOGRADERS, CascadeGrader, Member, PanelGrader, Stage
from rubricweb.engine.autograders.base import Prompt
from rubricweb.engine.autograders.examples.few_shot import Example
from rubricweb.engine.judging.sampling import Sampling
from rubricweb.engine.report import GradingError, Vote
from rubricweb.judges.base import JudgeConfig
from rubricweb.judges.client.reply_formats import strict_schema
from rubricweb.judges.content import content_key, first_repeats

BINARY: list[dict[str, Any]] = [
    {"name": "rule", "weight": 10, "requirement": "States the rule: {{criterion}}.", "guidance": "Quoted."},
    {"name": "blame", "weight": -6, "requirement": "Blames the customer."},
]
CHOICE: dict[str, Any] = {
    "name": "tone",
    "weight": 4,
    "requirement": "How does it sound?",
    "scale_type": "nominal",
    "options": [
        {"label": "Cold", "value": 0},
        {"label": "Warm", "value": 1},
        {"label": "Neither", "value": 0.5},
        {"label": "Cannot tell", "na": True},
    ],
}
RUBRICS = {
    "binary": Rubric.from_dict({"guidelines": "Judge the reply alone.", "criteria": BINARY}),
    "choice": Rubric.from_dict({"guidelines": "Judge the reply alone.", "criteria": [CHOICE]}),
    "mixed": Rubric.from_dict({"guidelines": "Judge the reply alone.", "criteria": [*BINARY, CHOICE]}),
}
FORMS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "per_criterion": ("per_criterion", "binary", {}),
    "per_criterion_choice": ("per_criterion", "choice", {}),
    "per_criterion_yes_no": ("per_criterion", "binary", {"reply_format": "yes_no"}),
    "one_shot": ("one_shot", "binary", {}),
    "one_shot_mixed": ("one_shot", "mixed", {}),
    "rubric_as_judge": ("rubric_as_judge", "binary", {}),
    "rubric_as_judge_mixed": ("rubric_as_judge", "mixed", {}),
}
"""Every form of a question, by the name of its system prompt: autograder, rubric, options."""

ASKED = Submission(
    output="It broke after 31 days. {{frame}}", query="Can I return it?", reference="No.", thinking="Hm."
)
JUDGE = JudgeConfig(name="any", base_url="http://127.0.0.1:1/v1", model="m")
OTHER = replace(JUDGE, name="other", model="n", sampling=Sampling(temperature=None, top_p=0.5, seed=3))


def examples_for(rubric: Rubric) -> dict[int, tuple[Example, ...]]:
    shown = Submission(output="After 30 days there is no return.", query="May I?")
    return {
        index: (Example("e1", shown, "Warm" if criterion.is_multi_choice else "MET", "It says so."),)
        for index, criterion in enumerate(rubric.criteria)
    }


def questions() -> Iterator[tuple[str, list[tuple[JudgeConfig, Prompt, int]]]]:
    """Form and variation, and what is asked in it: judge, prompt and the number of its repeat."""
    for form, (autograder, kind, options) in FORMS.items():
        rubric, kinds = RUBRICS[kind], AUTOGRADERS[autograder]
        variations: dict[str, dict[str, Any]] = {"plain": {}, "seed": {"option_seed": 7}}
        if autograder != "rubric_as_judge":  # one score for the whole rubric: no example fits it
            variations["examples"] = {"examples": examples_for(rubric)}
        for variation, more in variations.items():
            prompts = kinds(**options, **more).prompts(ASKED, rubric)
            yield f"{form}, {variation}", [(JUDGE, prompt, 0) for prompt in prompts]
        if autograder == "rubric_as_judge":
            continue  # nor is there anything to vote on
        grader: Any = kinds(**options)
        configs = {"a": JUDGE, "b": JUDGE, "c": OTHER}
        panel = PanelGrader([Member(grader, name) for name in configs], repeats=2)
        first = first_repeats(configs, dict.fromkeys(configs, 2))
        yield (
            f"{form}, panel",
            [
                (configs[one.judge], one.prompt, first[one.judge] + one.repeat)
                for one in panel.prompts(ASKED, rubric)
            ],
        )
        cascade = CascadeGrader(
            [Stage("s1", PanelGrader([Member(grader, "a")])), Stage("s2", PanelGrader([Member(grader, "c")]))]
        )
        failed = {
            index: [Vote(judge="a", error=GradingError(criterion=None, kind="timeout", message=""))]
            for index in range(len(rubric.criteria))
        }
        yield (
            f"{form}, cascade",
            [
                (configs[one.judge], one.prompt, one.repeat)
                for votes in ({}, failed)
                for one in cascade.prompts(ASKED, rubric, votes=votes)
            ],
        )


def digests() -> dict[str, list[dict[str, str]]]:
    return {
        name: [
            {
                "system": _digest(prompt.system),
                "user": _digest(prompt.user),
                "schema": _digest(json.dumps(strict_schema(prompt.schema))),
                "key": str(content_key(judge, prompt, repeat)),
            }
            for judge, prompt, repeat in asked
        ]
        for name, asked in questions()
    }


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
