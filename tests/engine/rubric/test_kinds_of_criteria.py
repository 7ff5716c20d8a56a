"""Choices, checks, sections and rules: how they are written, and how what is wrong is refused."""

import json
import pickle
from pathlib import Path

import pytest
from pydantic import ValidationError

from rubricweb.engine import Criterion, InvalidRubric, LengthPenalty, Option, PassRule, Rubric
from rubricweb.engine.checks import describe_check
from rubricweb.engine.lint.draft import read_draft
from rubricweb.engine.panels.voting import VOTE_RULES
from rubricweb.engine.rubric.criterion import AGGREGATIONS
from rubricweb.engine.rubric.frozen_params import FrozenParams

LOW_HIGH = [{"label": "Low", "value": 0.0}, {"label": "High", "value": 1.0}]


def choice(**fields):
    return {"requirement": "How clear?", "options": LOW_HIGH, **fields}


def faults(data):
    with pytest.raises(InvalidRubric) as refused:
        Rubric.from_dict(data)
    return [(fault.place, fault.found) for fault in refused.value.faults]


def test_the_kind_follows_from_the_fields():
    rubric = Rubric.from_dict(
        [
            {"requirement": "Names Paris"},
            choice(),
            {"check": "length_between", "params": {"max": 100}},
        ]
    )
    assert [criterion.kind for criterion in rubric.criteria] == ["binary", "choice", "check"]
    binary, chosen, checked = rubric.criteria
    assert (binary.is_binary, chosen.is_multi_choice, checked.is_check) == (True, True, True)
    assert (binary.scale_type, chosen.scale_type) == (None, "ordinal")
    assert checked.requirement == describe_check("length_between", {"max": 100})


def test_an_option_is_found_by_its_label_after_strip_and_casefold():
    (criterion,) = Rubric.from_dict([choice()]).criteria
    assert criterion.find_option_by_label(" high ") == 1
    with pytest.raises(ValueError, match="unknown option 'Middle'; allowed: Low, High"):
        criterion.find_option_by_label("Middle")


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (
            [choice(options=[{"label": "a", "value": 1.01}, {"label": "b", "value": 0}])],
            ("criteria[0].options[0].value", "1.01"),
        ),
        (
            [choice(options=[{"label": "a", "value": float("nan")}, {"label": "b"}])],
            ("criteria[0].options[0].value", "NaN"),
        ),
        (
            [choice(options=[{"label": "a", "value": True}, {"label": "b"}])],
            ("criteria[0].options[0].value", "true"),
        ),
        ([choice(options=[{"label": "a"}])], ("criteria[0].options", "1 scored option")),
        (
            [choice(options=[{"label": "a"}, {"label": "n", "na": True}])],
            ("criteria[0].options", "1 scored option"),
        ),
        (
            [choice(options=[{"label": "Straße"}, {"label": " STRASSE "}])],
            ("criteria[0].options[1].label", "the label 'STRASSE' again (as options[0])"),
        ),
        (
            [choice(options=[{"label": "a"}, {"label": "b", "valu": 1}])],
            ("criteria[0].options[1].valu", "an unknown key"),
        ),
        (
            [choice(options=[{"label": "a"}, {"label": ""}, {"label": "c"}])],
            ("criteria[0].options[1].label", "an empty text"),
        ),
        (
            [choice(options=[{"label": "a"}, {"label": "b\nc"}])],
            ("criteria[0].options[1].label", "a line break"),
        ),
        ([choice(options=[*LOW_HIGH, {"value": 1}])], ("criteria[0].options[2].label", "nothing")),
        ([choice(options=["a", *LOW_HIGH])], ("criteria[0].options[0]", 'the text "a"')),
        ([choice(options="a")], ("criteria[0].options", 'the text "a"')),
        (
            [choice(options=[{"label": str(i)} for i in range(101)])],
            ("criteria[0].options", "101 options"),
        ),
        ([choice(scale_type="interval")], ("criteria[0].scale_type", 'the text "interval"')),
        ([choice(kind="binary")], ("criteria[0].options", "options in a binary criterion")),
        ([choice(aggregation="unanimous")], ("criteria[0].aggregation", 'the text "unanimous"')),
        (
            [{"requirement": "x", "aggregation": "mean"}],
            ("criteria[0].aggregation", 'the text "mean"'),
        ),
        (
            [{"requirement": "x", "params": {"max": 1}}],
            ("criteria[0].params", "params in a binary criterion"),
        ),
        ([{"kind": "check", "requirement": "x"}], ("criteria[0].check", "nothing")),
        ([{"check": "lenght_between"}], ("criteria[0].check", 'the text "lenght_between"')),
        (
            [{"check": "length_between", "params": {"maximum": 5, "max": 9}}],
            ("criteria[0].params.maximum", "an unknown parameter"),
        ),
        ([{"check": "think_format", "params": [1]}], ("criteria[0].params", "a list")),
        (
            [{"check": "think_format", "aggregation": "mode"}],
            ("criteria[0].aggregation", 'the text "mode"'),
        ),
    ],
)
def test_what_contradicts_itself_is_refused_where_it_stands(data, expected):
    assert faults(data) == [expected]


def test_all_faults_of_a_choice_are_told_at_once():
    options = [{"label": "a", "value": 2}, {"label": "A", "colour": "red"}, {"label": "n", "na": True}]
    assert faults([{"requirement": "x"}, choice(weight="1", options=options, aggregation="any")]) == [
        ("criteria[1].weight", 'the text "1"'),
        ("criteria[1].options[0].value", "2"),
        ("criteria[1].options[1].colour", "an unknown key"),
        ("criteria[1].options[1].label", "the label 'A' again (as options[0])"),
        ("criteria[1].aggregation", 'the text "any"'),
    ]


def test_construction_refuses_what_the_loaders_refuse():
    with pytest.raises(ValidationError, match="1 scored option"):
        Criterion(requirement="x", options=(Option(label="a"),))
    with pytest.raises(ValidationError, match="a number from 0 to 1"):
        Option(label="a", value=-0.1)
    with pytest.raises(ValidationError, match="did you mean"):
        Criterion(check="length_betwen")
    with pytest.raises(ValidationError, match="min_score, min_criterion or both"):
        PassRule()
    with pytest.raises(ValidationError, match="a max_cap above the free_budget"):
        LengthPenalty(free_budget=10, max_cap=10)


def test_a_panel_knows_every_rule_a_criterion_may_name():
    assert {scale: set(rules) for scale, rules in AGGREGATIONS.items()} == {
        scale: set(rules) for scale, rules in VOTE_RULES.items()
    }


def test_sections_become_groups_and_criteria_outside_come_first():
    rubric = Rubric.from_dict(
        {
            "sections": [
                {
                    "title": "Facts",
                    "criteria": [{"requirement": "a"}, {"requirement": "b", "group": "Facts"}],
                },
                {"name": "Style", "criteria": [choice(name="clarity")]},
            ],
            "criteria": [{"requirement": "c"}],
        }
    )
    assert [criterion.group for criterion in rubric.criteria] == [None, "Facts", "Facts", "Style"]
    assert Rubric.from_dict(rubric.to_dict()) == rubric


def test_faults_inside_sections_are_placed_inside_them():
    sections = [
        {
            "title": "Facts",
            "criteria": [{"requirement": "", "name": "n"}, {"requirement": "a", "group": "Else"}],
        },
        {
            "title": "Style",
            "criteria": [{"requirement": "b", "name": name} for name in "mM"],
        },
        {"criteria": []},
        {"title": "x", "criterias": []},
        {"title": " ", "criteria": []},
    ]
    assert faults({"sections": sections}) == [
        ("sections[0].criteria[1].group", 'the text "Else"'),
        ("sections[3].criterias", "an unknown key"),
        ("sections[3].criteria", "nothing (null)"),
        ("sections[4].title", "an empty text"),
    ]
    assert faults({"sections": sections[1:2]}) == [
        ("sections[0].criteria[1].name", "the name 'M' again (as sections[0].criteria[0])")
    ]


SECTIONS = [
    {"requirement": "a"},
    {"title": "Facts", "criteria": [{"requirement": "b"}, {"requirement": "c"}]},
    {"criteria": [{"requirement": "d"}]},
]


@pytest.mark.parametrize(
    "data",
    [
        SECTIONS,
        {"criteria": SECTIONS},
        {"rubric": SECTIONS},
        {"rubric": {"criteria": SECTIONS}},
        {"rubric": {"criteria": SECTIONS[:1], "sections": SECTIONS[1:]}},
    ],
)
def test_sections_may_stand_in_a_list_and_a_rubric_under_its_own_name(data):
    rubric = Rubric.from_dict(data)
    assert [(each.requirement, each.group) for each in rubric.criteria] == [
        ("a", None),
        ("b", "Facts"),
        ("c", "Facts"),
        ("d", None),
    ]
    assert Rubric.from_dict(rubric.to_dict()) == rubric
    assert [draft.requirement for draft in read_draft(data)] == ["a", "b", "c", "d"]


def test_what_a_rubric_says_stands_beside_the_wrapped_one_or_in_it():
    rubric = Rubric.from_dict(
        {"guidelines": "Be kind.", "rubric": {"title": "T", "criteria": [{"requirement": "a"}]}}
    )
    assert (rubric.title, rubric.guidelines) == ("T", "Be kind.")


@pytest.mark.parametrize(
    ("data", "place", "found"),
    [
        ([{"title": "A", "criteria": [{"requirement": ""}]}], "criteria[0].criteria[0].requirement", "empty"),
        ([{"titel": "A", "criteria": [{"requirement": "a"}]}], "criteria[0].titel", "an unknown key"),
        ([{"title": "A", "criteria": 1}], "criteria[0].criteria", "1"),
        ({"rubric": [{"requirement": ""}]}, "rubric[0].requirement", "empty"),
        ({"rubric": {"criteria": [{"requirement": ""}]}}, "rubric.criteria[0].requirement", "empty"),
        ({"rubric": []}, "rubric", "an empty list"),
        ({"rubric": None}, "rubric", "nothing (null)"),
        ({"rubric": {}}, "rubric.criteria", "nothing"),
        ({"rubric": [{"requirement": "a"}], "author": "x"}, "author", "an unknown key"),
        ({"rubric": {"criteria": [{"requirement": "a"}], "author": "x"}}, "rubric.author", "an unknown key"),
        ({"rubric": [{"requirement": "a"}], "criteria": []}, "criteria", "criteria beside rubric"),
        (
            {"rubric": {"title": "T", "criteria": [{"requirement": "a"}]}, "title": "U"},
            "rubric.title",
            "title beside rubric and in it",
        ),
    ],
)
def test_faults_of_wrapped_and_listed_sections_have_their_place(data, place, found):
    ((got_place, got_found),) = faults(data)
    assert (got_place, found in got_found) == (place, True)


def test_a_rubric_is_unwrapped_once():
    assert [place for place, _ in faults({"rubric": {"rubric": [{"requirement": "a"}]}})] == [
        "rubric.rubric",
        "rubric.criteria",
    ]


def test_rules_of_a_rubric_are_read_and_written():
    rubric = Rubric.from_dict(
        {
            "criteria": [{"requirement": "x"}],
            "pass_rule": {"min_score": 0.8},
            "length_penalty": {"free_budget": 100, "max_cap": 200, "penalty_type": "OUTPUT_ONLY"},
        }
    )
    assert rubric.pass_rule == PassRule(min_score=0.8)
    assert rubric.length_penalty == LengthPenalty(free_budget=100, max_cap=200, counts="OUTPUT_ONLY")
    assert Rubric.from_json(rubric.to_json()) == rubric


@pytest.mark.parametrize(
    ("rules", "place", "found"),
    [
        ({"pass_rule": {}}, "pass_rule", "nothing"),
        ({"pass_rule": 0.8}, "pass_rule", "0.8"),
        ({"pass_rule": {"min_score": 1.5}}, "pass_rule.min_score", "1.5"),
        ({"pass_rule": {"minimum": 0.5, "min_score": 1}}, "pass_rule.minimum", "an unknown key"),
        ({"length_penalty": {"free_budget": -1}}, "length_penalty.free_budget", "-1"),
        ({"length_penalty": {"max_cap": 10}}, "length_penalty", "max_cap 10 with free_budget 6,000"),
        ({"length_penalty": {"counts": "NONE"}}, "length_penalty.counts", 'the text "NONE"'),
        ({"length_penalty": {"exponent": float("inf")}}, "length_penalty.exponent", "Infinity"),
    ],
)
def test_rules_that_make_no_sense_are_refused(rules, place, found):
    assert faults({"criteria": [{"requirement": "x"}], **rules}) == [(place, found)]


def test_a_check_keeps_every_default_it_was_read_with():
    (criterion,) = Rubric.from_dict([{"check": "contains_keywords", "params": {"keywords": ["a"]}}]).criteria
    assert criterion.params["mode"] == "all"
    assert criterion.requirement == describe_check("contains_keywords", {"keywords": ["a"]})


def test_params_cannot_be_changed_and_hold_only_what_can_be_stored():
    given = {"keywords": ["a"]}
    params = FrozenParams(given)
    given["keywords"].append("b")
    params["keywords"].append("c")
    assert dict(params) == {"keywords": ["a"]}
    assert hash(params) == hash(FrozenParams({"keywords": ["a"]}))
    assert faults([{"check": "contains_keywords", "params": {"keywords": ["a\0"]}}]) == [
        ("criteria[0].params", "a NUL character (keywords)")
    ]


def test_params_nested_too_deeply_are_refused_once():
    nested = []
    for _ in range(600):
        nested = [nested]
    too_deep = ("criteria[0].params", "values nested too deeply")
    assert faults([{"check": "json_schema", "params": {"schema": nested}}]) == [too_deep]
    misplaced = ("criteria[0].params", "params in a binary criterion")
    assert faults([{"requirement": "x", "params": {"schema": nested}}]) == [too_deep, misplaced]


def test_every_kind_survives_the_way_to_another_process():
    rubric = Rubric.from_dict([choice(), {"check": "length_between", "params": {"min": 1}}])
    assert pickle.loads(pickle.dumps(rubric)) == rubric
    assert len({*rubric.criteria, *rubric.criteria}) == 2


def test_a_dataset_of_the_published_format_brings_its_choices():
    data = json.loads(
        Path(__file__).with_name("data").joinpath("multichoice_dataset.json").read_text("utf-8")
    )
    rubric = Rubric.from_dict(data["rubric"])
    assert [criterion.kind for criterion in rubric.criteria] == ["choice", "binary", "binary", "choice"]
    assert [criterion.scale_type for criterion in rubric.criteria] == ["nominal", None, None, "ordinal"]
    assert rubric.criteria[0].aggregation == "weighted_mode"
    assert [option.na for option in rubric.criteria[3].options] == [False, False, True]


def test_the_rubric_on_the_page_about_scores_is_one():
    page = Path(__file__).parents[3].joinpath("docs", "scoring.md").read_text("utf-8")
    rubric = Rubric.from_yaml(page.split("```yaml\n")[1].split("```")[0])
    assert [criterion.kind for criterion in rubric.criteria] == ["binary", "binary", "choice", "check"]
    assert [criterion.group for criterion in rubric.criteria] == ["Accuracy", "Accuracy", "Style", "Style"]
    assert rubric.pass_rule == PassRule(min_score=0.7, min_criterion=0.5)
