"""Every script and every promise of the published dataset page, with only the imports changed."""

import json

import pytest

from rubricweb.engine import Criterion, CriterionVerdict, DataItem, Rubric, RubricDataset

MET, UNMET, CANNOT_ASSESS = CriterionVerdict.MET, CriterionVerdict.UNMET, CriterionVerdict.CANNOT_ASSESS


@pytest.fixture
def rubric() -> Rubric:
    return Rubric(
        [
            Criterion(name="accuracy", weight=10.0, requirement="Factually correct"),
            Criterion(name="clarity", weight=5.0, requirement="Clear and concise"),
        ]
    )


MIXED = Rubric.from_dict(
    [
        {"weight": 2.0, "requirement": "Stays polite"},
        {
            "weight": 4.0,
            "requirement": "How satisfied is the user?",
            "options": [
                {"label": "Not satisfied", "value": 0.0},
                {"label": "Very satisfied", "value": 1.0},
                {"label": "Satisfied", "value": 0.5},
            ],
        },
        {
            "weight": -2.0,
            "requirement": "Are the claims reasonable?",
            "scale_type": "nominal",
            "options": [
                {"label": "Yes - reasonable", "value": 0.0},
                {"label": "No", "value": 1.0},
                {"label": "No claims made", "value": 0.0, "na": True},
            ],
        },
    ]
)


def test_quick_example(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    # Create a rubric
    rubric = Rubric(
        [
            Criterion(name="accuracy", weight=10.0, requirement="Factually correct"),
            Criterion(name="clarity", weight=5.0, requirement="Clear and concise"),
        ]
    )

    # Create a dataset
    dataset = RubricDataset(
        name="photosynthesis-eval",
        prompt="Explain photosynthesis",
        rubric=rubric,
    )

    # Add items with ground truth
    dataset.add_item(
        submission="Photosynthesis is the process by which plants convert sunlight...",
        description="Good response",
        ground_truth=[CriterionVerdict.MET, CriterionVerdict.MET],
    )

    # Serialize
    dataset.to_file("dataset.json")

    # Load
    loaded = RubricDataset.from_file("dataset.json")

    assert loaded == dataset
    assert (loaded.name, loaded.prompt, loaded.rubric) == (dataset.name, dataset.prompt, rubric)
    assert loaded.items[0].ground_truth == [MET, MET]


def test_per_item_rubrics():
    item = DataItem(
        submission="Answer to question 1...",
        description="Q1",
        rubric=Rubric(
            [
                Criterion(weight=1.0, requirement="Correct answer for Q1"),
            ]
        ),
    )

    dataset = RubricDataset(
        prompt="Answer the question",
        rubric=None,  # No global rubric
        items=[item],
    )

    # Get effective rubric for an item
    rubric = dataset.get_item_rubric(0)  # Returns item's rubric
    assert rubric is item.rubric
    assert RubricDataset.from_json(dataset.to_json()) == dataset


def test_reference_submissions(rubric):
    # Global reference for all items
    dataset = RubricDataset(
        prompt="Explain photosynthesis",
        rubric=rubric,
        reference_submission="Detailed explanation of photosynthesis...",
    )

    # Per-item reference (overrides global)
    dataset.add_item(
        submission="Student answer...",
        description="Q1",
        reference_submission="Custom reference for this item",
    )

    # Get effective reference
    ref = dataset.get_item_reference_submission(0)
    assert ref == "Custom reference for this item"
    dataset.add_item(submission="Another answer...", description="Q2")
    assert dataset.get_item_reference_submission(1) == "Detailed explanation of photosynthesis..."
    assert RubricDataset("p", rubric, [DataItem("s", "d")]).get_item_reference_submission(0) is None


def test_train_test_split(rubric, capsys):
    dataset = RubricDataset(prompt="p", rubric=rubric)
    for number in range(160):
        accuracy, clarity = (MET if number % 4 else UNMET), (MET if number % 2 else CANNOT_ASSESS)
        dataset.add_item(f"Answer {number}", "", [accuracy, clarity])

    train_data, test_data = dataset.split_train_test(
        n_train=100,
        stratify=True,  # Balance by ground truth verdicts
        seed=42,
    )
    train, test = dataset.split_train_test(n_train=100, stratify=True, seed=42)
    print(f"Train: {len(train)}, Test: {len(test)}")

    assert capsys.readouterr().out == "Train: 100, Test: 60\n"
    assert (train, test) == (train_data, test_data)
    # 40 of 160 are inaccurate and 80 cannot be assessed for clarity: 25 and 50 of 100
    assert sum(item.ground_truth[0] is UNMET for item in train) == 25
    assert sum(item.ground_truth[1] is CANNOT_ASSESS for item in train) == 50
    assert sorted([*train.item_ids, *test.item_ids]) == sorted(dataset.item_ids)
    assert (train.prompt, train.rubric, test.rubric) == ("p", rubric, rubric)


@pytest.mark.parametrize("n_train", [-1, 3])
def test_a_split_of_impossible_size_is_refused(rubric, n_train):
    dataset = RubricDataset("p", rubric, [DataItem("a", "d"), DataItem("b", "d")])
    with pytest.raises(ValueError, match=f"{n_train}; allowed: a whole number from 0 to 2"):
        dataset.split_train_test(n_train, stratify=False)


def test_a_stratified_split_needs_ground_truth(rubric):
    dataset = RubricDataset("p", rubric, [DataItem("a", "d", [MET, MET]), DataItem("b", "d")])
    with pytest.raises(ValueError, match=r"items\[1\] has no ground truth"):
        dataset.split_train_test(1, stratify=True)
    assert [len(part) for part in dataset.split_train_test(1, stratify=False)] == [1, 1]


def test_items_of_the_page():
    # Binary criteria only
    item = DataItem(
        submission="The Industrial Revolution began in Britain around 1760...",
        description="Excellent essay covering all criteria",
        ground_truth=[CriterionVerdict.MET, CriterionVerdict.MET, CriterionVerdict.UNMET],
    )
    assert item.ground_truth == [MET, MET, UNMET]
    assert (item.rubric, item.reference_submission) == (None, None)

    # Mixed binary and multi-choice
    item = DataItem(
        submission="The assistant responded helpfully...",
        description="Good dialogue",
        ground_truth=[CriterionVerdict.MET, "Very satisfied", "Yes - reasonable"],
    )
    dataset = RubricDataset("p", MIXED, [item])
    assert dataset.items[0].ground_truth == [MET, "Very satisfied", "Yes - reasonable"]
    assert RubricDataset.from_json(dataset.to_json()) == dataset


def test_properties_of_the_global_rubric(rubric):
    dataset = RubricDataset(prompt="p", rubric=rubric)
    assert dataset.criterion_names == ["accuracy", "clarity"]
    assert dataset.num_criteria == 2
    assert dataset.total_positive_weight == 15.0
    assert RubricDataset("p", MIXED).total_positive_weight == 6.0
    without = RubricDataset(prompt="p")
    for name in ("criterion_names", "num_criteria", "total_positive_weight"):
        with pytest.raises(ValueError, match="rubric"):
            getattr(without, name)


def test_weighted_scores(rubric):
    dataset = RubricDataset(prompt="p", rubric=rubric)
    assert dataset.compute_weighted_score([MET, UNMET]) == pytest.approx(10 / 15)
    assert dataset.compute_weighted_score(["MET", "CANNOT_ASSESS"]) == 1.0  # 10 / 10
    assert dataset.compute_weighted_score([MET, UNMET], normalize=False) == 10.0
    # 2 · 1 + 4 · 0.5 − 2 · 1 = 2 of 6; without claims (2 + 2) of 6
    assert dataset.compute_weighted_score([MET, "Satisfied", "No"], rubric=MIXED) == pytest.approx(2 / 6)
    scored = dataset.compute_weighted_score([MET, "Satisfied", "No claims made"], rubric=MIXED)
    assert scored == pytest.approx(4 / 6)
    assert dataset.compute_weighted_score([MET, "satisfied", "no"], False, MIXED) == 2.0
    for labels in ([MET, "Delighted", "No"], [MET, MET, "No"], ["Satisfied", "Satisfied", "No"]):
        with pytest.raises(ValueError):
            dataset.compute_weighted_score(labels, rubric=MIXED)
    with pytest.raises(ValueError, match="rubric"):
        RubricDataset(prompt="p").compute_weighted_score([MET])


def test_what_cannot_be_added_is_refused(rubric):
    dataset = RubricDataset(prompt="p", rubric=rubric)
    with pytest.raises(ValueError, match="2"):
        dataset.add_item("s", "d", ground_truth=[MET])
    with pytest.raises(ValueError, match="rubric"):
        RubricDataset(prompt="p").add_item("s", "d")
    assert len(dataset) == 0


def test_the_json_of_a_dataset(rubric):
    dataset = RubricDataset(prompt="p", rubric=rubric, name="n", reference_submission="r")
    dataset.add_item("s", "d", [MET, CANNOT_ASSESS])
    dataset.add_item("t", "e", rubric=MIXED, reference_submission="own")
    data = json.loads(dataset.to_json())
    assert [data[key] for key in ("name", "prompt", "reference_submission")] == ["n", "p", "r"]
    assert Rubric.from_dict(data["rubric"]) == rubric
    first, second = data["items"]
    assert [first[key] for key in ("submission", "description")] == ["s", "d"]
    assert first["ground_truth"] == ["MET", "CANNOT_ASSESS"]
    assert second.get("ground_truth") is None
    assert (Rubric.from_dict(second["rubric"]), second["reference_submission"]) == (MIXED, "own")
    assert "\n" not in dataset.to_json(indent=None)


CRITERIA = [{"weight": 1.0, "requirement": "a"}]
ITEM = {"submission": "s", "description": "d"}


@pytest.mark.parametrize(
    ("data", "place"),
    [
        ("{", "line 1"),
        ('"text"', "a dataset object with items"),
        ({"rubric": CRITERIA, "items": [ITEM]}, "prompt"),
        ({"prompt": "p", "items": [ITEM]}, "rubric"),
        ({"prompt": "p", "rubric": CRITERIA, "items": [7]}, "items[0]"),
        ({"prompt": "p", "rubric": CRITERIA, "items": [{"description": "d"}]}, "submission"),
        ({"prompt": "p", "rubric": CRITERIA, "items": [{"submission": "s"}]}, "items[0].description"),
        ({"prompt": "p", "rubric": None, "items": [ITEM]}, "items[0]"),
        (
            {"prompt": "p", "rubric": CRITERIA, "items": [ITEM | {"ground_truth": ["YES"]}]},
            "items[0].ground_truth[0]",
        ),
        (
            {
                "prompt": "p",
                "rubric": MIXED.to_dict(),
                "items": [ITEM | {"ground_truth": ["MET", "x", "No"]}],
            },
            "items[0].ground_truth[1]",
        ),
        (
            {"prompt": "p", "rubric": MIXED.to_dict(), "items": [ITEM | {"ground_truth": ["MET", 1, "No"]}]},
            "items[0].ground_truth[1]",
        ),
        (
            {"prompt": "p", "rubric": CRITERIA, "items": [ITEM | {"ground_truth": ["MET", "MET"]}]},
            "items[0].ground_truth",
        ),
    ],
)
def test_json_that_is_no_dataset_is_refused_with_the_place(data, place):
    with pytest.raises(ValueError) as refused:
        RubricDataset.from_json(data if isinstance(data, str) else json.dumps(data))
    assert place in str(refused.value)


def test_the_lists_of_the_published_form_are_read():
    published = {
        "name": "n",
        "prompt": "p",
        "rubric": [{"name": "a", "weight": 2.0, "requirement": "x"}],
        "items": [
            {"submission": "s", "description": "d", "ground_truth": ["UNMET"]},
            {
                "submission": "t",
                "description": "e",
                "ground_truth": None,
                "rubric": [{"name": None, "weight": 3.0, "requirement": "z"}],
            },
        ],
    }
    dataset = RubricDataset.from_json(json.dumps(published))
    assert dataset.items[0].ground_truth == [UNMET]
    assert dataset.get_item_rubric(1).weights == (3.0,)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError):
        RubricDataset.from_file(tmp_path / "absent.json")
