"""The published TTCW labels under a rubric of which one criterion of fourteen is reworded."""

import os
from pathlib import Path

import pytest

from rubricweb.models import RubricVersion, Run
from rubricweb.selectors.comparison.comparison import compare
from rubricweb.selectors.exports import exports
from rubricweb.selectors.labels.comparable import queues_to_compare
from rubricweb.selectors.rubrics.label_changes import changes_in_version
from rubricweb.services import label_files
from rubricweb.services.datasets import datasets
from rubricweb.services.rubrics import rubrics
from rubricweb.services.rubrics.label_decisions import NewLabelDecision, decide
from tests import factories
from tests.factories import Cast
from tests.judging import InProcessJudge, grade

DATA = os.environ.get("RUBRICWEB_REAL_DATA", "")
pytestmark = pytest.mark.skipif(
    not DATA, reason="RUBRICWEB_REAL_DATA is not set: point it at the folder of prepared/"
)


def prepared(name: str) -> bytes:
    return (Path(DATA) / "prepared" / name).read_bytes()


def judged(run: Run) -> int:
    """Grades the run and counts the questions that were asked."""
    judge = InProcessJudge(lambda requirement, response: "MET")
    grade(run, judge)
    return len(judge.asked)


def units(people: Cast, run: Run) -> tuple[int, int]:
    """How many units the comparison counts, and how many wait under other words."""
    found = compare(run, queues_to_compare(run), viewer=people.rae, resamples=0)
    return found.units, found.on_other_versions


def test_one_reworded_criterion_costs_its_own_labels_and_calls_alone(people: Cast) -> None:
    first = rubrics.import_rubric(
        people.team, by=people.ed, data=prepared("ttcw_rubric.json"), filename="ttcw_rubric.json"
    )
    dataset = datasets.import_dataset(
        people.team, by=people.ed, data=prepared("ttcw_items.jsonl"), filename="items.jsonl", name="TTCW"
    )
    queue = label_files.import_labels(
        dataset, first, by=people.ed, data=prepared("ttcw_labels.csv"), filename="labels.csv"
    )
    asked = {"dataset": dataset, "use_cache": True}
    before = factories.run(people.team, people.ed, rubric_version=first, **asked)
    assert judged(before) == 504
    assert units(people, before) == (504, 0)

    rubric = first.rubric
    assert rubric is not None
    rubric.refresh_from_db()
    criteria = list(rubric.draft["criteria"])
    reworded = {**criteria[3], "requirement": criteria[3]["requirement"] + " Judge the whole story."}
    draft = {**rubric.draft, "criteria": [*criteria[:3], reworded, *criteria[4:]]}
    rubrics.save_draft(rubric, draft=draft, revision=rubric.draft_revision)
    second = RubricVersion.objects.prefetch_related("criteria").get(
        pk=rubrics.publish(rubric, by=people.ed).pk
    )
    found = changes_in_version(second, viewer=people.ed)
    [change] = found.changes
    assert (change.labels, change.reviews) == (108, 108)
    assert found.regrading is not None
    assert found.regrading.calls == 36

    after = factories.run(people.team, people.ed, rubric_version=second, **asked)
    assert judged(after) == 36
    assert units(people, after) == (468, 36)
    exported = list(exports.ground_truth_items(dataset, [queue]))
    # All of them are read by the queue's own version.
    assert sum(len(one.ground_truth or ()) for one in exported) == 504

    decide(second, change.uid, NewLabelDecision("carry"), by=people.ed)
    assert units(people, after) == (504, 0)
    current = changes_in_version(second, viewer=people.ed).changes[0].decision
    assert current is not None
    decide(second, change.uid, NewLabelDecision("label_again"), by=people.ed, seen=current.pk)
    assert units(people, after) == (468, 36)
