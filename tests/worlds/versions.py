"""A rubric of four criteria, its next versions, and people who label by any of them."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from rubricweb.models import Dataset, ReviewQueue, Rubric, RubricVersion, Run
from rubricweb.selectors.labels.ground_truth import labels
from rubricweb.services.rubrics import rubrics
from tests import factories
from tests.factories import Cast
from tests.judging import InProcessJudge, grade

TONE: dict[str, Any] = {
    "name": "tone",
    "weight": 4,
    "requirement": "How friendly is it?",
    "options": [
        {"label": "rude", "value": 0},
        {"label": "plain", "value": 0.5},
        {"label": "warm", "value": 1},
    ],
}
CRITERIA = [*factories.CRITERIA, TONE]
NAMES = frozenset(str(criterion["name"]) for criterion in CRITERIA)

Change = Callable[[dict[str, Any]], dict[str, Any]]


def changed(rubric: Rubric, change: Change, *, position: int = 0, **head: Any) -> RubricVersion:
    """The next version: one criterion of the draft changed, and what else is said of the whole rubric."""
    rubric.refresh_from_db()
    criteria = list(rubric.draft["criteria"])
    criteria[position] = change(dict(criteria[position]))
    draft = {**rubric.draft, **head, "criteria": criteria}
    rubrics.save_draft(rubric, draft=draft, revision=rubric.draft_revision)
    return rubrics.publish(rubric, by=None)


def same(criterion: dict[str, Any]) -> dict[str, Any]:
    return criterion


def said(**fields: Any) -> Change:
    return lambda criterion: {**criterion, **fields}


def label(
    people: Cast, dataset: Dataset, version: RubricVersion, name: str, verdicts: Mapping[str, str] = {}
) -> ReviewQueue:
    """Everything labelled by ann and ben under a version: MET and plain, or what `verdicts` say."""
    lines = [
        {"item_id": item, "criterion": one.name, "rater": rater, "verdict": verdicts.get(one.name, default)}
        for item in ("good", "bad", "empty-ish")
        for one in version.criteria.all()
        for default in ["plain" if one.kind == "choice" else "MET"]
        for rater in ("ann", "ben")
    ]
    data = "\n".join(map(json.dumps, lines)).encode()
    return factories.import_labels(
        dataset, version, by=people.ed, data=data, filename="labels.jsonl", queue_name=name
    )


def graded(people: Cast, dataset: Dataset, version: RubricVersion) -> Run:
    run = factories.run(people.team, people.ed, dataset=dataset, rubric_version=version)
    return grade(run, InProcessJudge(lambda requirement, response: "MET"))


def counting(queue: ReviewQueue, version: RubricVersion) -> set[str]:
    """The names, in this version, of the criteria for which the queue's labels count."""
    own = dict(version.criteria.values_list("pk", "name"))
    return {
        own[criterion_id] for _, criterion_id in labels([queue], version=version.pk) if criterion_id in own
    }
