"""Answers of every kind as templates show them."""

from typing import Any

import pytest

from rubricweb.models import CascadeSnapshot, Criterion
from rubricweb.templatetags.answers import answer_chip, label_words, shown_options, steps_apart, value_chip
from rubricweb.templatetags.run_words import escalation_words, rule_words


def choice(scale_type: str = "ordinal", **options: Any) -> Criterion:
    listed = options or {"low": 0, "mid": 0.5, "high": 1, "n/a": None}
    return Criterion(
        kind="choice",
        scale_type=scale_type,
        options=[
            {"label": label, "value": value or 0, "na": value is None} for label, value in listed.items()
        ],
    )


def test_options_that_abstain_stand_last_and_the_first_of_them_answers_to_c() -> None:
    criterion = choice(**{"a": 1, "skip": None, "b": 0, "pass": None})
    assert [(one.label, one.na, one.keys) for one in shown_options(criterion)] == [
        ("a", False, ("1",)),
        ("b", False, ("2",)),
        ("skip", True, ("3", "c")),
        ("pass", True, ("4",)),
    ]


def test_the_tenth_option_has_no_digit() -> None:
    criterion = choice("nominal", **{f"option {number}": 1 for number in range(11)})
    assert [one.keys for one in shown_options(criterion)][8:] == [("9",), (), ()]


@pytest.mark.parametrize(
    ("one", "other", "words"),
    [
        ("low", "high", "2 steps apart"),
        ("high", "mid", "1 step apart"),
        ("mid", "mid", ""),
        ("low", "n/a", ""),
        ("low", None, ""),
        ("low", "CANNOT_ASSESS", ""),
    ],
)
def test_steps_are_counted_between_options_that_count(one: str, other: str | None, words: str) -> None:
    assert steps_apart(choice(), one, other) == words


def test_options_without_order_have_no_steps() -> None:
    assert steps_apart(choice("nominal"), "low", "high") == ""
    assert steps_apart(Criterion(kind="binary"), "MET", "UNMET") == ""


def test_a_chosen_option_shows_its_words_and_its_place() -> None:
    chip = answer_chip(choice(), "mid")
    assert "chip--option" in chip
    assert ">mid<" in chip
    assert ">2/3<" in chip
    assert "2/3" not in answer_chip(choice("nominal"), "mid")


def test_an_option_that_abstains_looks_like_cannot_assess() -> None:
    assert "chip--cannot" in answer_chip(choice(), "n/a")
    assert "Cannot assess" in answer_chip(choice(), "CANNOT_ASSESS")


def test_labels_of_options_are_escaped() -> None:
    assert "<script>" not in answer_chip(choice(**{"<script>": 1, "b": 0}), "<script>")


def test_a_failed_call_is_an_error_whatever_the_kind() -> None:
    for criterion in (choice(), Criterion(kind="binary")):
        assert "Error" in answer_chip(criterion, None, error="timeout")


def test_what_a_check_measured_has_two_decimals() -> None:
    assert "0.50" in value_chip(0.5)


def test_labels_in_running_text() -> None:
    assert [label_words(label) for label in ("CANNOT_ASSESS", "MET", "Very Deep", None)] == [
        "cannot assess",
        "met",
        "Very Deep",
        "–",
    ]


def test_rules_of_votes_in_words() -> None:
    assert rule_words("weighted_mode") == "weighted mode"
    assert rule_words({"ordinal": "median"}) == "ordinal median"
    assert rule_words(None).startswith("binary majority")


def test_when_a_cascade_goes_on_in_words() -> None:
    unsure = CascadeSnapshot((1, 1), ("error", "low_confidence"), 0.8)
    assert escalation_words(unsure) == "error, confidence below 0.8"
    assert "confidence" not in escalation_words(CascadeSnapshot((1, 1), None, None))
