"""RubricDataset and DataItem: what the published package's users do with them, and what was added."""

import hmac
import json
import subprocess
import sys

import pytest

from rubricweb.engine import Criterion, CriterionVerdict, DataItem, Rubric, RubricDataset
from rubricweb.engine.datasets import overlap
from rubricweb.engine.errors import InvalidFile

MET, UNMET, UNSURE = CriterionVerdict.MET, CriterionVerdict.UNMET, CriterionVerdict.CANNOT_ASSESS

RUBRIC = Rubric(
    [
        Criterion(name="accuracy", weight=10.0, requirement="Factually correct"),
        Criterion(name="clarity", weight=5.0, requirement="Clear and concise"),
        Criterion(name="errors", weight=-3.0, requirement="Contains errors"),
    ]
)
MIXED = Rubric.from_dict(
    [
        {"name": "polite", "weight": 4, "requirement": "Is polite"},
        {
            "name": "satisfied",
            "weight": 6,
            "requirement": "How satisfied?",
            "options": [
                {"label": "Not at all", "value": 0.0},
                {"label": "Very satisfied", "value": 1.0},
                {"label": "N/A", "na": True},
            ],
        },
    ]
)


KEPT = (
    "id",
    "submission",
    "description",
    "thinking",
    "ground_truth",
    "ground_truth_reasons",
    "labels",
    "label_reasons",
    "metadata",
    "group",
)


def dataset(**more):
    fields = {"prompt": "Explain photosynthesis", "rubric": RUBRIC, "name": "photosynthesis-eval"}
    return RubricDataset(**(fields | more))


def test_the_published_example_runs(tmp_path):
    data = dataset()
    data.add_item(
        submission="Plants convert sunlight.", description="Good response", ground_truth=[MET, MET, UNMET]
    )
    data.to_file(tmp_path / "dataset.json")
    loaded = RubricDataset.from_file(tmp_path / "dataset.json")
    assert loaded == data
    assert (len(loaded), loaded[0].description, [item.submission for item in loaded]) == (
        1,
        "Good response",
        ["Plants convert sunlight."],
    )
    assert loaded[0].ground_truth == [MET, MET, UNMET]
    assert loaded.criterion_names == ["accuracy", "clarity", "errors"]
    assert (loaded.num_criteria, loaded.total_positive_weight) == (3, 15.0)


def test_an_items_own_rubric_prompt_and_reference_go_first():
    own = Rubric([Criterion(weight=1.0, requirement="Correct answer for Q1")])
    item = DataItem("Answer", "Q1", rubric=own, reference_submission="R1", prompt="Q1?")
    data = dataset(items=[item, DataItem("Answer 2", "Q2")], reference_submission="R")
    assert (data.get_item_rubric(0), data.get_item_rubric(1)) == (own, RUBRIC)
    assert [data.get_item_reference_submission(i) for i in (0, 1)] == ["R1", "R"]
    assert [data.get_item_prompt(i) for i in (0, 1)] == ["Q1?", "Explain photosynthesis"]


def test_without_any_rubric_what_needs_one_says_so():
    data = RubricDataset(prompt="p", rubric=None, items=[DataItem("s", "d")])
    for ask in (
        lambda: data.get_item_rubric(0),
        lambda: data.criterion_names,
        lambda: data.num_criteria,
        lambda: data.total_positive_weight,
        lambda: data.compute_weighted_score([MET]),
        lambda: data.add_item("s", "d"),
    ):
        with pytest.raises(ValueError, match="rubric"):
            ask()


@pytest.mark.parametrize(
    ("labels", "normalised", "raw"),
    [
        ([MET, MET, UNMET], 1.0, 15.0),
        ([MET, UNMET, MET], 7 / 15, 7.0),  # (10 − 3) / 15
        (["MET", "unmet", MET], 7 / 15, 7.0),
        ([UNSURE, MET, MET], 2 / 5, 2.0),  # (5 − 3) / 5: an abstention leaves both sums
        ([UNMET, UNMET, MET], 0.0, -3.0),  # clamped
        ([UNSURE, UNSURE, UNSURE], None, None),
    ],
)
def test_labels_are_worth_what_scoring_says(labels, normalised, raw):
    assert dataset().compute_weighted_score(labels) == pytest.approx(normalised)
    assert dataset().compute_weighted_score(labels, normalize=False) == pytest.approx(raw)


def test_an_option_counts_its_value_and_na_abstains():
    data = dataset()
    assert data.compute_weighted_score([UNMET, "very satisfied "], rubric=MIXED) == 6 / 10
    assert data.compute_weighted_score([MET, "N/A"], rubric=MIXED) == 4 / 4


def test_a_rubric_of_errors_only_begins_at_one():
    errors = Rubric([Criterion(weight=-2.0, requirement="x"), Criterion(weight=-1.0, requirement="y")])
    assert dataset().compute_weighted_score([UNMET, MET], rubric=errors) == pytest.approx(1 - 1 / 3)


@pytest.mark.parametrize(
    ("labels", "rubric"),
    [([MET], RUBRIC), ([MET, MET], MIXED), ([MET, "Somewhat"], MIXED), (["yes"] * 3, RUBRIC)],
)
def test_labels_that_do_not_fit_are_refused(labels, rubric):
    with pytest.raises(ValueError):
        dataset().compute_weighted_score(labels, rubric=rubric)
    with pytest.raises(ValueError):
        dataset(rubric=rubric).add_item("s", "d", ground_truth=labels)


def test_labels_are_kept_as_the_rubric_spells_them():
    data = dataset(rubric=MIXED)
    data.add_item("s", "d", ["met", " VERY satisfied"], labels={"ann": [None, "not at all"]})
    assert data[0].ground_truth == [MET, "Very satisfied"]
    assert data[0].labels == {"ann": [None, "Not at all"]}


def test_every_fault_of_a_constructed_dataset_is_told_at_once():
    items = [
        DataItem("s", "d", [MET]),
        DataItem("t", "d", [MET, "no", MET]),
        DataItem(" ", "d"),
        DataItem("u", "d", id="u"),
        DataItem("v", "d", id="u"),
    ]
    with pytest.raises(InvalidFile) as refused:
        dataset(items=items)
    assert [fault.place for fault in refused.value.faults] == [
        "items[0].ground_truth",
        "items[1].ground_truth[1]",
        "items[2].submission",
        "items[4].id",
    ]


def test_ids_follow_from_the_content_on_every_machine():
    data = dataset()
    for _ in range(2):
        data.add_item("s", "d")
    data.add_item("s", "d", id="mine")
    program = (
        "from rubricweb.engine.datasets import DataItem; "
        "print(DataItem('s').id, DataItem('s', thinking='t').id == DataItem('s').id)"
    )
    said = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONHASHSEED": "7"},
    ).stdout.split()
    assert said == [data.item_ids[0], "False"]
    assert data.item_ids == [said[0], f"{said[0]}-2", "mine"]


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("{", ["line 1, column 2"]),
        ("[1]", ["items[0]"]),
        ('{"items": []}', ["prompt", "rubric"]),
        (
            '{"prompt": "p", "rubric": null, "items": [{"submission": "s"}, {"description": "d"}]}',
            ["items[0].description", "items[0].rubric", "items[1].submission", "items[1].rubric"],
        ),
        (
            '{"prompt": "p", "rubric": [{"requirement": "x"}],'
            ' "items": [{"submission": "s", "description": "d", "ground_truth": ["Good"]}]}',
            ["items[0].ground_truth[0]"],
        ),
    ],
)
def test_json_that_is_no_dataset_is_refused_with_places(text, places):
    with pytest.raises(ValueError) as refused:
        RubricDataset.from_json(text)
    assert sorted(fault.place for fault in refused.value.faults) == sorted(places)


def test_a_missing_file_is_not_a_faulty_one(tmp_path):
    with pytest.raises(FileNotFoundError):
        RubricDataset.from_file(tmp_path / "nowhere.json")


def test_a_rubric_can_stand_beside_the_file(tmp_path):
    path = tmp_path / "items.csv"
    path.write_text("submission,ground_truth\ns,MET|UNMET|MET\n")
    with pytest.raises(InvalidFile):
        RubricDataset.from_file(path)
    assert RubricDataset.from_file(path, rubric=RUBRIC)[0].ground_truth == [MET, UNMET, MET]


@pytest.mark.parametrize("ending", ["json", "jsonl", "csv", "yaml", "parquet"])
def test_every_format_keeps_every_label_and_text(tmp_path, ending):
    chat = [{"role": "user", "content": "=Hi"}]
    items = [
        DataItem(
            "=SUM(A1)\r\nsecond line",
            "d",
            [MET, "Very satisfied"],
            ground_truth_reasons=["-because", None],
            labels={"ann": [MET, None], "ben": [UNMET, "N/A"]},
            label_reasons={"ben": [None, "+none"]},
            thinking="'@t",
            prompt=chat,
            metadata={"topic": ["x", {"y": None}], "n": 1.5},
            group="g",
        ),
        DataItem("plain", "e", rubric=RUBRIC, reference_submission="-R", id="own"),
    ]
    data = RubricDataset("p", MIXED, items, reference_submission="r")
    path = tmp_path / f"data.{ending}"
    data.to_file(path)
    loaded = RubricDataset.from_file(path)
    for index in range(2):
        assert loaded.get_item_rubric(index) == data.get_item_rubric(index)
        assert loaded.get_item_prompt(index) == data.get_item_prompt(index)
        assert loaded.get_item_reference_submission(index) == data.get_item_reference_submission(index)
        for name in KEPT:
            assert getattr(loaded[index], name) == getattr(data[index], name), name
    if ending in ("json", "yaml", "parquet"):
        assert loaded == data


@pytest.mark.parametrize("ending", ["json", "jsonl", "csv", "yaml", "parquet"])
def test_an_empty_dataset_is_read_back_from_every_format(tmp_path, ending):
    data = RubricDataset("p", MIXED, name="none yet", reference_submission="r")
    path = tmp_path / f"data.{ending}"
    data.to_file(path)
    loaded = RubricDataset.from_file(path)
    # Lines carry what is shared; without any, the caller says what it is.
    assert loaded == (data if ending in ("json", "yaml", "parquet") else RubricDataset(None))
    assert RubricDataset.from_file(path, rubric=MIXED).rubric == MIXED
    loaded.add_item("s", rubric=RUBRIC)
    assert len(loaded) == 1


def test_an_empty_dataset_may_leave_out_its_items(tmp_path):
    path = tmp_path / "data.json"
    path.write_text('{"prompt": "p", "rubric": null}')
    for data in (
        RubricDataset.from_json(path.read_text()),
        RubricDataset.from_yaml("prompt: p\nrubric:\n"),
        RubricDataset.from_file(path),
        RubricDataset.from_json('{"prompt": "p", "rubric": null, "items": []}'),
    ):
        assert data == RubricDataset("p")
    assert RubricDataset.from_json(RubricDataset("p", RUBRIC).to_json()) == RubricDataset("p", RUBRIC)


@pytest.mark.parametrize(
    ("text", "ending", "place"),
    [
        ('{"prompt": "p", "items": null, "rubric": null}', "json", "items"),
        ('{"prompt": "p"}', "json", ""),
        ('{"title": "T", "criteria": []}', "json", ""),
        ("", "json", "line 1, column 1"),
        ("submission\na,b\n", "csv", "line 2"),
        ('{"eval": {"task": "t"}, "status": "error", "samples": []}', "json", "items"),
    ],
)
def test_what_is_no_empty_dataset_is_refused(tmp_path, text, ending, place):
    path = tmp_path / f"data.{ending}"
    path.write_text(text)
    with pytest.raises(InvalidFile) as refused:
        RubricDataset.from_file(path)
    assert [fault.place for fault in refused.value.faults] == [place]


def test_a_file_name_without_a_format_is_refused_before_writing(tmp_path):
    with pytest.raises(ValueError, match=r"\.json"):
        dataset().to_file(tmp_path / "data.txt")
    assert list(tmp_path.iterdir()) == []


def test_json_can_be_compact():
    data = dataset(items=[DataItem("s", "d")])
    assert "\n" not in data.to_json(indent=None)
    assert json.loads(data.to_json())["items"][0]["submission"] == "s"
    assert RubricDataset.from_json(data.to_json()) == data
    assert RubricDataset.from_yaml(data.to_yaml()) == data


def test_overlaps_are_found_by_id_and_by_content():
    first = dataset(items=[DataItem("same  text", "d", id="a"), DataItem("x", "d", id="b", group="g")])
    second = dataset(items=[DataItem("same text ", "d", id="c"), DataItem("y", "d", id="b", group="g")])
    found = overlap(first, second)
    assert (found.ids, found.contents, found.groups) == (("b",), (("a", "c"),), ("g",))
    other_prompt = dataset(items=[DataItem("same text", "d", id="c", prompt="Another")])
    assert not overlap(first, other_prompt)


def test_a_seal_holds_whatever_the_order_and_breaks_with_the_content():
    items = [DataItem("a", "d", [MET, MET, MET]), DataItem("b", "d", [UNMET, MET, MET])]
    seal = dataset(items=items).seal()
    assert dataset(items=items[::-1], name="other").seal() == seal
    assert dataset(items=items, prompt="Another").seal() != seal
    assert dataset(items=[items[0], DataItem("b", "d", [MET, MET, MET])]).seal() != seal
    assert len(seal) == 64
    # With a salt it is the HMAC-SHA256 of the digest.
    expected = hmac.new(b"salt", seal.encode(), "sha256").hexdigest()
    assert dataset(items=items).seal("salt") == expected != seal
