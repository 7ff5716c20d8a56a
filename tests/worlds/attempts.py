"""One version that answered case a four times, b and c once each: figures by case and by answer differ.

A score is (3·fact + tone) / 4, warm is worth 1. Of case a three answers are right and warm (1), one is wrong
and curt (0): 3/4. The answer to b is wrong and warm: 1/4. That to c is right and curt: 3/4. So the mean is
(3/4 + 1/4 + 3/4) / 3 = 7/12 by case, and (3 + 1/4 + 3/4) / 6 = 2/3 by answer.
"""

from typing import Any

from rubricweb.models import Dataset, ReviewQueue, RubricVersion, Run
from rubricweb.selectors.reviews.queue_sources import Source
from rubricweb.services.rubrics import rubrics
from tests import factories
from tests.factories import Cast
from tests.judging import LabelJudge, grade
from tests.worlds.sampled import label, opened

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


def labelled_by_two(people: Cast, **options: Any) -> tuple[Run, ReviewQueue]:
    """The run with labels of two people: ann says what the words say, rae that all is wrong and curt.

    Every score of rae's is 0. People's scores are ½ of a's three right and warm answers (1 and 0) and 0 of
    its wrong and curt one, 1/8 of the answer to b, 3/8 of that to c. Half the score passes: by ann alone
    three answers to a and that to c, each by half of its raters. Of case a (½ + ½ + 0 + ½)/4 = 3/8 pass, of b
    none, of c ½: 7/24 in all, and 17/24 do not. Were their mean scores asked, three of a's answers would pass
    in full and c's would not.
    """
    version = rubric_version(people)
    run = factories.run(people.team, people.ed, dataset=dataset(people), rubric_version=version, **options)
    grade(run, judge())
    queue = opened(people, run, Source(), raters=[people.ann, people.rae], raters_per_item=2)
    label(queue, people.ann, 6, lambda item, name: verdict_on("sounds" * (name == "tone"), item.submission))
    label(queue, people.rae, 6, lambda item, name: "curt" if name == "tone" else "UNMET")
    return run, queue


def stricter_run(people: Cast, run: Run) -> Run:
    """By a judge to whom nothing is right: warm answers score 1/4, curt ones 0, and none passes.

    Of the cases a, b and c ¼, 1 and 0 did not pass before and all do not now: differences ¾, 0 and 1, 7/12 on
    average. Σe² = 13/24, with a pair of +1 and −1 more 61/24; t of 3 degrees 3.1824; half is
    3.1824·√(3/4 · 61/24)/3 = 1.4646, so that the interval is from −0.8813 to 1, where it is cut.
    """
    after = factories.run(
        people.team, people.ed, dataset=run.dataset, rubric_version=run.rubric_version, name="Stricter"
    )
    return grade(
        after,
        LabelJudge(lambda _, asked, said: verdict_on(asked, said) if "sounds" in asked else "UNMET"),
    )
