"""Which criteria lint takes for one another."""

import pytest

from rubricweb.engine.lint import lint_draft
from rubricweb.engine.lint.alike import MOST_PAIRS, similarity


def pairs(rule, *criteria):
    found = lint_draft([{"requirement": entry} if isinstance(entry, str) else entry for entry in criteria])
    return [(finding.criterion, finding.others) for finding in found if finding.rule == rule]


def test_similarity_is_the_shared_part_of_all_words():
    # {name, capital, citi} and {name, capital, river}: 2 of 4
    assert similarity(frozenset({"name", "capital", "citi"}), frozenset({"name", "capital", "river"})) == 0.5
    assert similarity(frozenset(), frozenset()) == 0.0


def test_all_copies_of_a_requirement_are_named_in_one_finding():
    assert pairs("duplicate_requirements", "Names it.", "Dates it.", "names  it", "Names it!") == [
        (0, (2, 3))
    ]


def test_a_copy_is_not_reported_as_nearly_the_same_too():
    text = "Recommends seeing a doctor quickly if the fever lasts."
    assert pairs("near_duplicates", text, text) == []


def test_sentences_that_differ_in_a_number_are_two_requirements():
    one = "Recommends seeing a doctor when fever lasts 3 days or longer."
    assert pairs("near_duplicates", one, one.replace("3", "5")) == []


def test_having_and_lacking_one_thing_is_found_only_across_signs():
    has = {"requirement": "Mentions the risk of bleeding after surgery.", "weight": 5}
    lacks = {"requirement": "Does not mention the risk of bleeding after surgery.", "weight": -5}
    assert pairs("mirrored_criteria", has, lacks) == [(0, (1,))]
    assert pairs("mirrored_criteria", has, lacks | {"weight": 5}) == []
    assert pairs("mirrored_criteria", has, has | {"weight": -5}) == []


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ("clear_ending", "Clear ending", True),
        ("coherence", "coherance", True),
        ("tone_l", "tone_1", True),
        ("step_1", "step_2", False),
        ("C1", "C11", False),
        ("tone", "tune", False),
        ("accuracy", "brevity", False),
    ],
)
def test_names_are_alike_when_a_tired_eye_would_mix_them_up(one, other, alike):
    found = pairs(
        "names_look_alike",
        {"name": one, "requirement": "Names it."},
        {"name": other, "requirement": "Dates it."},
    )
    assert found == ([(0, (1,))] if alike else [])


def test_a_phrase_that_a_check_looks_for_is_not_also_asked_of_the_judge():
    check = {"check": "contains_keywords", "params": {"keywords": ["bleeding", "a"]}}
    assert pairs("check_repeats_criterion", "Mentions bleeding.", check) == [(0, (1,))]
    assert pairs("check_repeats_criterion", "Mentions a fall.", check) == []


def test_a_rubric_of_long_requirements_that_are_all_alike_has_a_bounded_number_of_findings() -> None:
    words = " ".join(f"word{chr(97 + n % 26)}{chr(97 + n // 26)}" for n in range(300))
    entries = [
        {"requirement": f"{words} lands{chr(97 + n % 26)} rivers{chr(97 + n // 26)}.", "weight": 1}
        for n in range(60)
    ]
    # 60 × 59 / 2 = 1,770 pairs are alike.
    found = [one for one in lint_draft(entries) if one.rule == "near_duplicates"]
    assert 0 < len(found) <= MOST_PAIRS
