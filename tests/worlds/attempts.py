"""One version that answered case a four times, b and c once each: figures by case and by answer differ.

A score is (3·fact + tone) / 4, warm is worth 1. Of case a three answers are right and warm (1), one is wrong
and curt (0): 3/4. The answer to b is wrong and warm: 1/4. That to c is right and curt: 3/4. So the mean is
(3/4 + 1/4 + 3/4) / 3 = 7/12 by case, and (3 + 1/4 + 3/4) / 6 = 2/3 by answer.
"""

from typing import Any

from rubricweb.models import Dataset, RubricVersion, Run
from rubricweb.services.rubrics import rubrics
from tests import factories
from tests.factories import Cast
from tests.judging import LabelJudge, grade

FACT = {"name": "fact", "weight": 3.0, "requirement": "Has the fact.", "group": "Facts"}
TONE: dict[str, Any] = {
    "name": "tone",
    "weight": 1.0,
    "requirement": "How the answer sounds.",
    "kind": "choice",
    "scale_type": "nominal",
    "options": [{"label": "curt", "value": 0.0}, {"label": "warm", "value": 1.0}],
}
WORDS = {
    "a": ["right warm", "right warm, again", "wrong curt", "right warm, once more"],
    "b": ["wrong warm"],
    "c": ["right curt"],
}
ITEMS = [
    {
        "case_id": case,
        "system": "assistant@v9",
        "attempt": attempt,
        "prompt": f"Question {case}",
        "submission": f"{words} {case}",
    }
    for case, answers in WORDS.items()
    for attempt, words in enumerate(answers, 1)
]


def rubric_version(people: Cast) -> RubricVersion:
    draft = {"title": "Attempts", "criteria": [FACT, TONE], "pass_rule": {"min_score": 0.5}}
    made = rubrics.create_rubric(people.team, by=people.ed, title="Attempts", draft=draft)
    return rubrics.publish(made, by=people.ed)


def dataset(people: Cast) -> Dataset:
    return factories.dataset(people.team, people.ed, name="attempts", items=ITEMS)


def verdict_on(requirement: str, submission: str) -> str:
    right, tone = submission.replace(",", "").split()[:2]
    return tone if "sounds" in requirement else {"right": "MET", "wrong": "UNMET"}[right]


def judge() -> LabelJudge:
    return LabelJudge(lambda _, requirement, submission: verdict_on(requirement, submission))


def attempts_run(people: Cast) -> Run:
    """A graded run over the six answers."""
    run = factories.run(
        people.team,
        people.ed,
        dataset=dataset(people),
        rubric_version=rubric_version(people),
        name="Attempts",
    )
    return grade(run, judge())
