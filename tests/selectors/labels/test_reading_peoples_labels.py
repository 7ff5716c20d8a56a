"""Pages that read people's labels read those, whatever the judges of other runs have said meanwhile."""

import ast
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse

from rubricweb.models import Dataset, Item, Judgement, Review, ReviewQueue, Run
from rubricweb.selectors.adjudication import inbox
from rubricweb.selectors.exports import exports
from rubricweb.selectors.exports.label_lineage import counted_labels
from rubricweb.selectors.labels import ground_truth, label_evidence, provenance
from rubricweb.selectors.labels.people import PersonLabel, people_labels
from rubricweb.selectors.labels.queue_labels import queue_labels
from rubricweb.services.rubrics.label_decisions import NewLabelDecision, decide
from tests import factories
from tests.factories import Cast
from tests.judging import InProcessJudge, grade
from tests.selectors.labels import query_plans
from tests.worlds.versions import changed, said

ROOT = Path(__file__).resolve().parents[3] / "rubricweb"
UNRELATED = 40_000


@dataclass(frozen=True)
class Labelled:
    dataset: Dataset
    queue: ReviewQueue
    run: Run
    stranger: Judgement
    """One verdict of a run over another dataset, to be stored again and again."""


@pytest.fixture
def labelled(people: Cast) -> Labelled:
    """Thirty items with three criteria, labelled by two people and graded by a judge: 180 labels."""
    version = factories.version(people.team, people.ed)
    items = [{"id": f"i{number}", "submission": f"Text {number}"} for number in range(30)]
    dataset = factories.dataset(people.team, people.ed, items=items)
    lines = [
        f"i{number},{criterion['name']},{rater},{'MET' if number % 3 or rater == 'ann' else 'UNMET'}"
        for number in range(30)
        for criterion in factories.CRITERIA
        for rater in ("ann", "ben")
    ]
    queue = factories.import_labels(
        dataset,
        version,
        by=people.ed,
        data="\n".join(["item_id,criterion,rater,verdict", *lines]).encode(),
        filename="labels.csv",
    )
    judge = InProcessJudge(lambda requirement, response: "MET")
    run = grade(factories.run(people.team, people.ed, dataset=dataset, rubric_version=version), judge)
    other = factories.dataset(people.team, people.ed, name="other", items=items[:1])
    strange = grade(factories.run(people.team, people.ed, dataset=other, rubric_version=version), judge)
    return Labelled(dataset, queue, run, strange.judgements.order_by("pk")[0])


def count_rows() -> None:
    """As autovacuum does in the background."""
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")


def judge_elsewhere(stranger: Judgement) -> None:
    """Forty thousand verdicts on as many items of the other dataset."""
    item = Item.objects.get(pk=stranger.item_id)
    query_plans.copy_often(
        item, UNRELATED, key="'k' || n", content_hash="'h' || n", position="n", attempt="n + 1"
    )
    query_plans.copy_often(
        stranger, UNRELATED, item_id=f"(SELECT MAX(id) FROM {Item._meta.db_table}) - {UNRELATED} + n"
    )
    count_rows()


def readings(people: Cast, labelled: Labelled, browser: Client) -> dict[str, Callable[[], Any]]:
    """What reads people's labels, by name."""
    queues, run = [labelled.queue], labelled.run
    compared = {"run": run.pk, "queue": labelled.queue.pk}

    def page(name: str, **asked: Any) -> Callable[[], object]:
        def look() -> None:
            assert browser.get(reverse(name, args=[people.team.slug]), asked).status_code == 200

        return look

    return {
        "labels": lambda: ground_truth.labels(queues),
        "final labels": lambda: ground_truth.labels(queues, final=True),
        "board": lambda: queue_labels(labelled.queue),
        "provenance": lambda: provenance.provenances(queues),
        "inbox": lambda: inbox.inbox(inbox.scope(people.team, viewer=people.rae)),
        "evidence": lambda: label_evidence.label_evidence(run.rubric_version, people.team, viewer=people.ed),
        "verdict export": lambda: list(
            exports.verdict_rows(labelled.dataset, queues, run, counted_labels(queues, run))
        ),
        "inbox page": page("adjudication"),
        "compare page": page("compare", **compared),
        "dashboard": page("dashboard", dataset=labelled.dataset.pk),
    }


def test_reading_peoples_labels_does_not_read_what_other_runs_judged(
    people: Cast, labelled: Labelled, sign_in: Callable[..., Client]
) -> None:
    asked = readings(people, labelled, sign_in(people.rae))
    if connection.vendor == "sqlite":
        judge_elsewhere(labelled.stranger)
        by_review = f"SEARCH {query_plans.TABLE} USING INDEX judgement_once_per_review"
        for name, work in asked.items():
            plan = query_plans.scans(work)
            assert plan, name
            assert [step for step in plan if step.startswith("SCAN")] == [], name
        assert any(step.startswith(by_review) for step in query_plans.scans(asked["labels"]))
        return
    count_rows()
    before = {name: query_plans.rows_read(work) for name, work in asked.items()}
    judge_elsewhere(labelled.stranger)
    after = {name: query_plans.rows_read(work) for name, work in asked.items()}
    # 180 labels and 90 verdicts of the run, read several times; another plan may read some of them once more.
    assert {name: n for name, n in after.items() if n > before[name] + 1_000} == {}


def test_labels_are_found_by_their_reviews_through_three_versions(people: Cast, labelled: Labelled) -> None:
    """No plan scans judgements, and no more of them are read than there are labels."""
    rubric, version = labelled.queue.rubric_version.rubric, labelled.queue.rubric_version  # type: ignore[union-attr]  # has one
    assert rubric is not None
    assert version is not None
    for position, text in enumerate(("Says that Paris is it.", "Is short.")):
        version = changed(rubric, said(requirement=text), position=position)
        uid = version.criteria.get(position=position).uid
        decide(version, uid, NewLabelDecision("carry"), by=people.ed)
    run = factories.run(people.team, people.ed, dataset=labelled.dataset, rubric_version=version)
    judge_elsewhere(labelled.stranger)

    def read() -> list[PersonLabel]:
        return people_labels([labelled.queue], runs=[run])

    own = set(version.criteria.values_list("pk", flat=True))
    # Thirty items, three criteria, two raters: all count for the third version.
    assert len([one for one in read() if one.criterion_id in own]) == 180
    if connection.vendor == "sqlite":
        plan = query_plans.scans(read)
        assert [step.split(" (")[0] for step in plan] == [
            f"SEARCH {query_plans.TABLE} USING INDEX judgement_once_per_review"
        ]
        return
    assert query_plans.rows_read(read) == 180
    assert query_plans.ways(read) == {("Index Scan", "judgement_once_per_review")}


def test_only_one_function_joins_judgements_to_their_reviews() -> None:
    """`review__queue=…` anywhere else would leave out that the review is there, and read every judgement."""
    found = []
    for path in sorted(ROOT.rglob("*.py")):
        # A review that was sent back has a row of its own, which is of a review and of no judgement.
        elsewhere = (ROOT / "models" / "judgements.py", ROOT / "selectors/reviews/leads/returns.py")
        if "migrations" in path.parts or path in elsewhere:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            name = (node.arg or "") if isinstance(node, ast.keyword) else ""
            if "review__" in name or name.startswith("judgements__"):
                found.append(f"{path.relative_to(ROOT)}:{node.value.lineno}: {name}")
    assert found == []


READS_LABELS_AS_GIVEN = {
    "models/judgements.py": "says how",
    "selectors/labels/people.py": "the reader",
    # One queue asks by one version, and its raters' own labels are shown as they gave them.
    "selectors/labels/queue_labels.py": "what people of one queue said first",
    "selectors/reviews/calibration.py": "a rater's labels of gold items in one queue",
    "selectors/reviews/comments.py": "who spoke",
    "selectors/reviews/leads/gold_pauses.py": "a rater's labels of gold items in one queue",
    "selectors/reviews/reveals.py": "what the others of one queue said",
    "selectors/reviews/revision_rates.py": "what raters of revealing queues changed",
    "services/reviews/extra_raters.py": "whether the raters of one queue item agree",
    # Each label, whichever version it was given to.
    "selectors/comparison/item.py": "every answer about one item, sorted by how it is read",
    "selectors/exports/exports.py": "the export of verdicts",
    "selectors/datasets/versions.py": "how many labels items have that are to be retired or corrected",
    "selectors/datasets/imports.py": "who labelled a dataset in files",
    "services/datasets/files.py": "whether a file is stored already",
    "services/imported_runs.py": "labels of a rater who turns out to be a machine",
    "services/read_labels/new_labels.py": "which labels of a file were imported before",
    "services/copies.py": "copies into the halves of a split, and into a combined dataset",
    "services/combinations/plans.py": "how many labels come along",
    "services/combinations/stamps.py": "whether somebody changed a label meanwhile",
    "selectors/probes.py": "raters who labelled a unit twice, and which queues asked a criterion",
    "selectors/rubrics/label_changes.py": "how many labels stand on the words of one meaning",
    "selectors/deletions.py": "how many labels go with what is deleted",
    # Reviews and revisions, not labels.
    "selectors/labels/label_evidence.py": "which queues asked what a version asks",
    "selectors/adjudication/differing_units.py": "who found the rubric unclear",
    "selectors/rubrics/todo.py": "who found the rubric unclear",
}


def test_one_function_reads_what_people_said_across_versions() -> None:
    """Whoever reads labels past `people_labels` would lose those of other versions: each says why it may."""
    found = {
        str(path.relative_to(ROOT))
        for path in ROOT.rglob("*.py")
        if "migrations" not in path.parts and "in_reviews(" in path.read_text()
    }
    assert found == set(READS_LABELS_AS_GIVEN)


def label_elsewhere(people: Cast) -> None:
    """Forty thousand labels of people in another queue, by another rubric version."""
    version = factories.version(people.team, people.ed)
    other = factories.dataset(
        people.team, people.ed, name="labelled elsewhere", items=[{"id": "a", "submission": "x"}]
    )
    queue = factories.import_labels(
        other,
        version,
        by=people.ed,
        data=b"item_id,criterion,rater,verdict\na,concise,zoe,MET",
        filename="more.csv",
    )
    label = Judgement.objects.in_reviews(queue=queue).get()
    assert label.review is not None
    last = f"(SELECT MAX(id) FROM {{}}) - {UNRELATED} + n"
    query_plans.copy_often(
        label.item, UNRELATED, key="'k' || n", content_hash="'o' || n", position="n", attempt="n + 1"
    )
    query_plans.copy_often(label.review, UNRELATED, item_id=last.format(Item._meta.db_table))
    query_plans.copy_often(
        label,
        UNRELATED,
        item_id=last.format(Item._meta.db_table),
        review_id=last.format(Review._meta.db_table),
    )
    count_rows()


def judge_often(verdict: Judgement) -> None:
    """Ten thousand more verdicts of judges on the same unit."""
    query_plans.copy_often(verdict, 10_000, judge="'judge ' || n")
    count_rows()


def test_labels_of_one_item_and_of_one_version_are_found_by_item_and_criterion(
    people: Cast, labelled: Labelled
) -> None:
    """Neither all labels given elsewhere are walked through nor all that judges said of the item."""
    version, verdict = labelled.run.rubric_version, labelled.run.judgements.order_by("pk")[0]
    assert version is not None
    asked: dict[str, Callable[[], object]] = {
        "item": lambda: provenance.item_provenance(verdict.item, viewer=people.ed),
        "version": lambda: label_evidence.label_evidence(version, people.team, viewer=people.ed),
    }
    label_elsewhere(people)
    judge_elsewhere(labelled.stranger)
    judge_often(verdict)
    if connection.vendor == "sqlite":
        for name, work in asked.items():
            assert [step for step in query_plans.scans(work) if step.startswith("SCAN")] == [], name
        return
    # Not the 10,000 verdicts on the item and the 40,000 labels elsewhere: its own 6 labels, or, where the
    # planner comes by the reviews, the 180 of its queue.
    assert query_plans.entries_read(asked["item"]) <= 180
    found_by = query_plans.indexes(asked["version"])
    assert "judgement_label_of_criterion" in found_by
    assert "rubricweb_judgement_criterion_id_a1e6d5c7" not in found_by
