"""Splits: exact, seeded, and with every label spread alike."""

import subprocess
import sys
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rubricweb.engine import Criterion, Rubric
from rubricweb.engine.datasets import DataItem, LabelBalance, RubricDataset, describe_split

RUBRIC = Rubric(
    [Criterion(name="a", weight=1, requirement="A"), Criterion(name="b", weight=1, requirement="B")]
)


def labelled(*rows, rubric=RUBRIC):
    return RubricDataset("p", rubric, [DataItem(f"text {i}", "d", list(row)) for i, row in enumerate(rows)])


def test_every_label_is_spread_alike():
    # Four items of each pair of labels: with 8 of 16, the 8 of each label of each criterion halve to 4 and 4.
    rows = [(a, b) for a in ("MET", "UNMET") for b in ("MET", "UNMET") for _ in range(4)]
    for seed in range(5):
        report = describe_split(*labelled(*rows).split_train_test(8, seed=seed))
        assert report.labels == tuple(
            LabelBalance(name, label, 4, 4) for name in ("a", "b") for label in ("MET", "UNMET")
        )
        assert report.largest_difference == 0.0
        assert not report.overlap


def test_a_rare_label_goes_to_both_sides():
    rows = [("MET", "MET")] * 18 + [("UNMET", "MET")] * 2
    for seed in range(10):
        report = describe_split(*labelled(*rows).split_train_test(10, seed=seed))
        assert LabelBalance("a", "UNMET", 1, 1) in report.labels


def test_a_label_of_one_item_and_gaps_hinder_nothing():
    rows = [("CANNOT_ASSESS", None), *[("MET", None)] * 4, *[("UNMET", None)] * 4]
    report = describe_split(*labelled(*rows).split_train_test(4, seed=1))
    counts = {(row.criterion, row.label): (row.train, row.test) for row in report.labels}
    assert abs(counts["a", "MET"][0] - counts["a", "UNMET"][0]) <= 1
    assert {criterion for criterion, _ in counts} == {"a"}


def test_the_largest_difference_is_between_shares():
    train, test = labelled(("MET", None), ("UNMET", None)), labelled(("MET", None), ("MET", None))
    # MET: 1 of 2 against 2 of 2.
    assert describe_split(train, test).largest_difference == 0.5
    assert describe_split(train, labelled((None, None))).largest_difference is None


def test_rubrics_of_items_are_balanced_where_they_share_criteria():
    shared = Criterion(name="a", weight=1, requirement="A")
    items = [
        DataItem(
            f"t{i}",
            "d",
            ["MET" if i % 2 else "UNMET", "MET"],
            Rubric([shared, Criterion(name=f"own {i}", weight=1, requirement=f"Own {i}")]),
        )
        for i in range(8)
    ]
    train, test = RubricDataset("p", None, items).split_train_test(4, seed=3)
    assert [sum(item.ground_truth[0] == "MET" for item in half) for half in (train, test)] == [2, 2]


@pytest.mark.parametrize("n_train", [-1, 5, True, 1.0, None])
def test_a_size_that_cannot_be_is_refused(n_train):
    with pytest.raises(ValueError, match="from 0 to 4"):
        labelled(*[("MET", "MET")] * 4).split_train_test(n_train)


def test_stratifying_needs_ground_truth_everywhere():
    data = labelled(("MET", "MET"), ("MET", "MET"))
    data.add_item("unlabelled", "d")
    with pytest.raises(ValueError, match=r"items\[2\]"):
        data.split_train_test(1)
    train, test = data.split_train_test(1, stratify=False, seed=0)
    assert (len(train), len(test)) == (1, 2)


@given(
    st.lists(
        st.tuples(st.sampled_from(["MET", "UNMET", "CANNOT_ASSESS", None]), st.sampled_from(["MET", None]))
    ),
    st.data(),
    st.booleans(),
    st.integers(0, 10),
)
@settings(max_examples=60)
def test_a_split_is_exact_complete_and_repeatable(rows, data, stratify, seed):
    whole = labelled(*rows)
    n_train = data.draw(st.integers(0, len(rows)))
    train, test = whole.split_train_test(n_train, stratify=stratify, seed=seed)
    assert len(train) == n_train
    assert sorted([*train.item_ids, *test.item_ids]) == sorted(whole.item_ids)
    assert not set(train.item_ids) & set(test.item_ids)
    assert (train.prompt, train.rubric, train.name) == (whole.prompt, whole.rubric, whole.name)
    again = whole.split_train_test(n_train, stratify=stratify, seed=seed)
    assert [half.item_ids for half in again] == [train.item_ids, test.item_ids]


@given(st.lists(st.sampled_from(["MET", "UNMET"]), min_size=2, max_size=40), st.integers(0, 5))
@settings(max_examples=60)
def test_one_criterion_is_spread_to_within_one_item(labels, seed):
    whole = labelled(*[(label, None) for label in labels])
    n_train = len(labels) // 2
    train, _ = whole.split_train_test(n_train, seed=seed)
    for label in ("MET", "UNMET"):
        expected = labels.count(label) * n_train / len(labels)
        assert abs(sum(item.ground_truth[0] == label for item in train) - expected) <= 1


def test_a_seed_means_the_same_split_in_every_process():
    program = (
        "from tests.engine.datasets.test_dataset_splits import labelled\n"
        "rows = [(['MET', 'UNMET'][i % 2], ['MET', 'UNMET'][i // 3 % 2]) for i in range(20)]\n"
        "print([item.submission for item in labelled(*rows).split_train_test(7, seed=11)[0]])"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", program],
            capture_output=True,
            text=True,
            check=True,
            env={"PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    }
    assert len(said) == 1
    assert said != {""}


def test_many_criteria_at_once_are_spread_to_within_one_item_each():
    draw = Random(5)
    criteria = [Criterion(name=f"c{i}", weight=1, requirement=f"Criterion {i}") for i in range(14)]
    rows = [[draw.choice(["MET", "MET", "UNMET"]) for _ in criteria] for _ in range(200)]
    report = describe_split(*labelled(*rows, rubric=Rubric(criteria)).split_train_test(60, seed=2))
    for row in report.labels:
        assert abs(row.train - (row.train + row.test) * 60 / 200) <= 1, row
