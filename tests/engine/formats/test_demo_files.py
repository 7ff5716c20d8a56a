"""The demo files: what a stranger sees first must load, and must hang together."""

from collections import Counter
from importlib.resources import files
from itertools import combinations

import pytest

from rubricweb.engine.formats.datasets.files import DatasetFile, read_dataset
from rubricweb.engine.formats.label_files import LabelRecord
from rubricweb.engine.formats.labels.exact import read_labels
from rubricweb.engine.formats.rubric_files import read_rubric
from rubricweb.engine.rubric import Rubric
from rubricweb.engine.verdict import Verdict

DEMO = files("rubricweb.demo")


def rubric_file(name: str) -> Rubric:
    return read_rubric((DEMO / name).read_bytes(), filename=name)


def dataset_file(name: str) -> DatasetFile:
    return read_dataset((DEMO / name).read_bytes(), filename=name)


@pytest.fixture(scope="module")
def support_rubric() -> Rubric:
    return rubric_file("rubric_support_reply.yaml")


@pytest.fixture(scope="module")
def support_replies() -> DatasetFile:
    return dataset_file("support_replies.jsonl")


@pytest.fixture(scope="module")
def labels() -> tuple[LabelRecord, ...]:
    return read_labels((DEMO / "support_labels.csv").read_bytes(), filename="support_labels.csv")


def test_support_rubric_has_groups_and_errors_to_avoid(support_rubric: Rubric) -> None:
    assert len(support_rubric.criteria) == 9
    assert {c.group for c in support_rubric.criteria} == {"Accuracy", "Tone", "Resolution"}
    assert [c.weight for c in support_rubric.criteria if c.weight < 0] == [-10, -8, -6]
    assert sum(c.weight for c in support_rubric.criteria if c.weight > 0) == 10 + 4 + 3 + 6 + 8 + 5


def test_release_note_rubric_shows_every_kind_and_one_error_to_avoid() -> None:
    rubric = rubric_file("rubric_release_note.yaml")
    assert Counter(c.kind for c in rubric.criteria) == {"binary": 4, "choice": 1, "check": 1}
    assert sum(c.weight < 0 for c in rubric.criteria) == 1


def test_support_replies_are_eight_questions_with_four_replies_each(support_replies: DatasetFile) -> None:
    items = support_replies.items
    assert len({item.id for item in items}) == 8 * 4
    assert set(Counter(item.case_id for item in items).values()) == {4}
    assert Counter(item.system for item in items) == {
        "assistant@v1": 8,
        "assistant@v2": 8,
        "assistant@v3": 8,
        "assistant@v4": 8,
    }
    assert all(item.reference and item.description and item.metadata["topic"] for item in items)


def test_two_support_questions_are_conversations(support_replies: DatasetFile) -> None:
    chats = {item.id.rsplit("-", 1)[0] for item in support_replies.items if isinstance(item.prompt, list)}
    assert chats == {"app-pairing", "care-plan"}


def test_no_two_submissions_are_the_same(support_replies: DatasetFile) -> None:
    notes = dataset_file("release_notes.jsonl").items
    assert len(notes) == 10
    assert len({item.submission for item in (*support_replies.items, *notes)}) == 32 + 10


def test_three_raters_label_every_criterion_of_twenty_items(
    labels: tuple[LabelRecord, ...], support_rubric: Rubric, support_replies: DatasetFile
) -> None:
    assert {label.rater for label in labels} == {"ann", "noor", "teo"}
    assert {label.criterion for label in labels} == {c.name for c in support_rubric.criteria}
    labelled_items = {label.item_id for label in labels}
    assert len(labelled_items) == 20
    assert labelled_items <= {item.id for item in support_replies.items}
    cells = {(label.item_id, label.criterion, label.rater) for label in labels}
    assert len(cells) == len(labels) == 20 * 9 * 3


def test_raters_mostly_agree_and_never_fully(labels: tuple[LabelRecord, ...]) -> None:
    verdicts = {(label.rater, label.item_id, label.criterion): label.verdict for label in labels}
    cells = {(item_id, criterion) for _, item_id, criterion in verdicts}
    for one, other in combinations(("ann", "noor", "teo"), 2):
        same = sum(verdicts[one, *cell] == verdicts[other, *cell] for cell in cells)
        assert 0.8 < same / len(cells) < 0.95, f"{one} and {other} agree on {same} of {len(cells)}"


def test_some_labels_abstain_and_each_abstention_says_why(labels: tuple[LabelRecord, ...]) -> None:
    abstentions = [label for label in labels if label.verdict is Verdict.CANNOT_ASSESS]
    assert 0 < len(abstentions) < 10
    assert all(label.reason for label in abstentions)


def test_about_a_third_of_the_labels_give_a_reason(labels: tuple[LabelRecord, ...]) -> None:
    assert 0.3 < sum(bool(label.reason) for label in labels) / len(labels) < 0.4
