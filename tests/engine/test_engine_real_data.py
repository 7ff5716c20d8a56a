"""Public data, read where RUBRICWEB_REAL_DATA points."""

import json
import os
from collections import Counter
from pathlib import Path

import pytest

from rubricweb.engine.formats.datasets.files import preview, read_dataset
from rubricweb.engine.formats.labels.exact import read_labels
from rubricweb.engine.formats.rubric_files import read_rubric
from rubricweb.engine.parsers.yes_no import read_yes_no
from rubricweb.engine.rubric import Rubric
from rubricweb.engine.scoring import score_labels


@pytest.fixture
def prepared() -> Path:
    folder = os.environ.get("RUBRICWEB_REAL_DATA")
    if not folder:
        pytest.skip("set RUBRICWEB_REAL_DATA to the folder that holds prepared/ to test with real data")
    return Path(folder) / "prepared"


def test_the_creative_writing_rubric_has_14_criteria_in_4_groups(prepared):
    rubric = Rubric.from_file(prepared / "ttcw_rubric.json")
    assert len(rubric.criteria) == 14
    assert len({criterion.group for criterion in rubric.criteria}) == 4
    assert Rubric.from_yaml(rubric.to_yaml()) == rubric
    flat = read_rubric((prepared / "ttcw_rubric_flat.json").read_bytes())
    assert flat.names == rubric.names


def test_the_creative_writing_stories_and_labels_fit_together(prepared):
    dataset = read_dataset((prepared / "ttcw_items.jsonl").read_bytes(), filename="ttcw_items.jsonl")
    labels = read_labels((prepared / "ttcw_labels.csv").read_bytes(), filename="ttcw_labels.csv")
    names = Rubric.from_file(prepared / "ttcw_rubric.json").names
    assert (len(dataset.items), len(labels)) == (36, 1512)
    assert {label.item_id for label in labels} == {item.id for item in dataset.items}
    assert {label.criterion for label in labels} == set(names)
    assert set(Counter((label.item_id, label.criterion) for label in labels).values()) == {3}


@pytest.mark.parametrize("judge", ["gpt4", "gemini-pro"])
def test_the_answer_read_in_prose_is_the_recorded_verdict(prepared, judge):
    words = {True: "MET", False: "UNMET", None: None}
    lines = (prepared / "ttcw_recorded_judges.jsonl").read_text("utf-8").split("\n")
    replies = [reply for reply in map(json.loads, filter(None, lines)) if reply["judge"] == judge]
    agreeing = [reply for reply in replies if words[read_yes_no(reply["reply"])] == reply["verdict"]]
    assert (len(replies), len(agreeing)) == (504, 504)


def test_the_health_conversations_have_a_rubric_each(prepared):
    data = (prepared / "healthbench_items.jsonl").read_bytes()
    dataset = read_dataset(data, filename="healthbench_items.jsonl")
    assert len(dataset.items) == 318
    assert sum(len(item.rubric.criteria) for item in dataset.items) == 2837
    assert all(isinstance(item.prompt, list) and item.reference for item in dataset.items)
    # One conversation comes with up to three rubrics: 167 ids in the file, numbered apart from the second on.
    assert sum("#" not in item.id for item in dataset.items) == 167
    assert preview(data, "healthbench_items.jsonl").mapping["rubric"] == "rubric"


def test_a_multiple_choice_dataset_is_read_and_its_ground_truth_scored(prepared):
    data = (prepared.parent / "autorubric_multichoice_example.json").read_bytes()
    dataset = read_dataset(data, filename="example.json")
    kinds = [criterion.kind for criterion in dataset.rubric.criteria]
    assert kinds == ["choice", "choice", "binary", "binary", "choice"]
    scores = [score_labels(dataset.rubric_for(item), item.ground_truth) for item in dataset.items]
    # everything is as good as it can be: 10 + 4 + 10 + 6 of 30; then 0 + 0 of 14, with 22 of 38 judged
    assert [score.score for score in scores[:2]] == [1.0, 0.0]
    assert scores[1].coverage == pytest.approx(22 / 38)
