"""Rubrics: what is accepted, what is refused, and how the refusal reads."""

import json
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from rubricweb.engine.errors import MAX_FAULTS, InvalidRubric
from rubricweb.engine.rubric import (
    MAX_CRITERIA,
    MAX_NAME,
    MAX_REQUIREMENT,
    Criterion,
    LengthPenalty,
    Option,
    PassRule,
    Rubric,
)


def refusal(data) -> str:
    with pytest.raises(InvalidRubric) as refused:
        Rubric.from_dict(data)
    return str(refused.value)


def criterion(**fields):
    return {"requirement": "Names Paris", **fields}


def test_a_list_of_criteria_is_a_rubric():
    rubric = Rubric.from_dict([{"weight": 10, "requirement": " Names Paris "}, {"requirement": "Is short"}])
    assert rubric.names == ("C1", "C2")
    assert rubric.weights == (10.0, 1.0)
    assert rubric.criteria[0].requirement == "Names Paris"


def test_an_object_carries_title_and_guidelines():
    rubric = Rubric.from_dict({"title": "Geo", "guidelines": "Be strict.", "criteria": [criterion()]})
    assert (rubric.title, rubric.guidelines) == ("Geo", "Be strict.")


def test_default_names_step_aside_for_names_that_are_taken():
    rubric = Rubric([Criterion(requirement="a"), Criterion(requirement="b", name="c1")])
    assert rubric.names == ("C2", "c1")


def test_the_published_alias_is_a_list_of_the_criteria():
    rubric = Rubric([Criterion(requirement="a")])
    assert rubric.rubric == list(rubric.criteria)


def test_a_weight_of_zero_is_a_tracked_metric_and_minus_zero_is_zero():
    assert str(Rubric.from_dict([criterion(weight=-0.0)]).weights[0]) == "0.0"


def test_rubrics_and_criteria_are_frozen():
    rubric = Rubric([Criterion(requirement="a")])
    with pytest.raises(ValidationError):
        rubric.title = "other"
    with pytest.raises(ValidationError):
        rubric.criteria[0].weight = 2.0


@pytest.mark.parametrize(
    ("data", "place", "found", "allowed"),
    [
        ([criterion(weight=float("nan"))], "criteria[0].weight", "NaN", "a finite number"),
        ([criterion(weight=float("inf"))], "criteria[0].weight", "Infinity", "a finite number"),
        ([criterion(weight=float("-inf"))], "criteria[0].weight", "-Infinity", "a finite number"),
        ([criterion(weight=10**400)], "criteria[0].weight", "an enormous whole number", "a finite number"),
        ([criterion(weight=2e6)], "criteria[0].weight", "2000000.0", "1,000,000"),
        ([criterion(weight=True)], "criteria[0].weight", "true", "a finite number"),
        ([criterion(weight="5")], "criteria[0].weight", 'the text "5"', "a finite number"),
        ([criterion(weight=None)], "criteria[0].weight", "nothing (null)", "a finite number"),
        ([criterion(weight=[1])], "criteria[0].weight", "a list", "a finite number"),
        ([{"weight": 1}], "criteria[0].requirement", "nothing", "text"),
        ([criterion(requirement=" \n")], "criteria[0].requirement", "an empty text", "text"),
        ([criterion(requirement=5)], "criteria[0].requirement", "5", "text (in quotes)"),
        ([criterion(requirement="a\0b")], "criteria[0].requirement", "a NUL character", "text"),
        ([criterion(requirement="\ud800")], "criteria[0].requirement", "surrogate", "text"),
        ([criterion(requirement="x" * (MAX_REQUIREMENT + 1))], "criteria[0].requirement", "10,001", "10,000"),
        ([criterion(name="x" * (MAX_NAME + 1))], "criteria[0].name", "121 characters", "at most 120"),
        ([criterion(name="a\nb")], "criteria[0].name", "a line break", "one line"),
        ([criterion(tags="level")], "criteria[0].tags", "the text", "a list of texts"),
        ([criterion(tags=[""])], "criteria[0].tags", "an empty text", "text"),
        ([criterion(requirment="x")], "criteria[0].requirment", "an unknown key", "did you mean requirement"),
        ([criterion(kind="choise")], "criteria[0].kind", 'the text "choise"', "did you mean choice"),
        ([criterion(kind="choice")], "criteria[0].options", "no options", "at least two options"),
        ([criterion(options=[])], "criteria[0].options", "no options", "at least two options"),
        ([criterion(scale_type="ordinal")], "criteria[0].options", "no options", "at least two options"),
        (["Names Paris"], "criteria[0]", "the text", "an object with weight and requirement"),
        ([], "criteria", "an empty list", "at least one criterion"),
        ([criterion()] * (MAX_CRITERIA + 1), "criteria", "1,001 criteria", "at most 1,000"),
        ("Names Paris", "criteria", "the text", "a list of criteria, or an object with criteria"),
        ({}, "criteria", "nothing", "a list of criteria"),
        ({"criteria": {"a": 1}}, "criteria", "an object", "a list of criteria"),
        ({"criteria": [criterion()], "sections": 1}, "sections", "1", "a list of sections"),
        ({"criteria": [criterion()], "titel": "x"}, "titel", "an unknown key", "did you mean title"),
        ({"criteria": [criterion()], "title": 0}, "title", "0", "text"),
        ({"criteria": [criterion()], "guidelines": ["x"]}, "guidelines", "a list", "text"),
    ],
)
def test_what_is_wrong_is_refused_with_place_found_and_allowed(data, place, found, allowed):
    with pytest.raises(InvalidRubric) as refused:
        Rubric.from_dict(data)
    (fault,) = refused.value.faults
    assert fault.place == place
    assert found in fault.found
    assert allowed in fault.allowed
    assert str(fault) == f"{place}: found {fault.found}; allowed: {fault.allowed}"


def test_names_are_unique_after_strip_and_casefold():
    text = refusal([criterion(name="Straße"), criterion(name=" STRASSE ")])
    assert text.startswith("criteria[1].name: found the name 'STRASSE' again (as criteria[0])")
    beside = refusal([criterion(name="tone", weight="x"), criterion(name=" Tone ")])
    assert "criteria[0].weight: found" in beside
    assert "criteria[1].name: found the name 'Tone' again (as criteria[0])" in beside


def test_all_faults_are_told_at_once():
    text = refusal(
        [criterion(weight="1"), {"weight": float("nan")}, criterion(name="a"), criterion(name="A")]
    )
    assert [line.split(": found")[0] for line in text.splitlines()] == [
        "criteria[0].weight",
        "criteria[1].weight",
        "criteria[1].requirement",
        "criteria[3].name",
    ]


def test_faults_beyond_the_limit_are_counted_not_listed():
    with pytest.raises(InvalidRubric) as refused:
        Rubric.from_dict([criterion(weight="x")] * (MAX_FAULTS + 7))
    assert (len(refused.value.faults), refused.value.more) == (MAX_FAULTS, 7)
    assert str(refused.value).endswith("and 7 more")


def test_a_refusal_survives_the_way_to_another_process():
    with pytest.raises(InvalidRubric) as refused:
        Rubric.from_dict([criterion(weight="x")])
    assert str(pickle.loads(pickle.dumps(refused.value))) == str(refused.value)


def test_construction_refuses_what_the_loaders_refuse():
    with pytest.raises(ValueError, match="finite number"):
        Criterion(weight=float("nan"), requirement="x")
    with pytest.raises(InvalidRubric, match="at least one criterion"):
        Rubric([])
    with pytest.raises(InvalidRubric, match="again"):
        Rubric([Criterion(requirement="a", name="n"), Criterion(requirement="b", name="N")])
    with pytest.raises(InvalidRubric, match="title: found a line break"):
        Rubric([Criterion(requirement="a")], title="a\nb")


@pytest.mark.parametrize("literal", ["NaN", "Infinity", "-Infinity"])
def test_json_literals_that_are_no_numbers_are_refused_where_they_stand(literal):
    with pytest.raises(InvalidRubric, match=rf"criteria\[0\].weight: found {literal}"):
        Rubric.from_json(f'[{{"weight": {literal}, "requirement": "x"}}]')


def test_json_syntax_errors_name_line_and_column():
    with pytest.raises(InvalidRubric, match="line 3, column 18: found"):
        Rubric.from_json('[\n  {"weight": 1,\n   "requirement" "x"}\n]')


def test_json_keys_given_twice_are_refused_not_overwritten():
    with pytest.raises(InvalidRubric, match='the key "weight" twice'):
        Rubric.from_json('[{"weight": 1, "requirement": "x", "weight": 9}]')


@pytest.mark.parametrize("source", ["[" * 100_000, '[{"weight": ' + "9" * 5000 + "}]"])
def test_json_meant_to_exhaust_the_reader_is_refused(source):
    with pytest.raises(InvalidRubric):
        Rubric.from_json(source)


@pytest.mark.parametrize("data", [b"\xff\xfe[\x00", b'[{"requirement": "\xe9"}]', "[{\0}]"])
def test_bytes_that_are_not_utf8_text_are_refused_with_their_line(data):
    with pytest.raises(InvalidRubric, match=r"^line 1: found"):
        Rubric.from_json(data)


def test_a_byte_order_mark_is_accepted():
    assert Rubric.from_json(b'\xef\xbb\xbf[{"requirement": "x"}]').names == ("C1",)
    assert Rubric.from_yaml(b"\xef\xbb\xbf- requirement: x\n").names == ("C1",)


@pytest.mark.parametrize("value", [".nan", ".NaN", ".inf", "-.Inf"])
def test_yaml_weights_that_are_no_numbers_are_refused(value):
    with pytest.raises(InvalidRubric, match=r"criteria\[0\].weight: found (NaN|-?Infinity)"):
        Rubric.from_yaml(f"- {{weight: {value}, requirement: x}}")


def test_files_are_read_by_their_ending(tmp_path):
    rubric = Rubric([Criterion(requirement="Names Paris", weight=3)])
    for name, text in (
        ("r.json", rubric.to_json()),
        ("r.yaml", rubric.to_yaml()),
        ("r.YML", rubric.to_yaml()),
    ):
        path = tmp_path / name
        path.write_text(text, "utf-8")
        assert Rubric.from_file(path) == rubric
    (tmp_path / "r.txt").write_text("x")
    with pytest.raises(InvalidRubric, match="a name ending in"):
        Rubric.from_file(tmp_path / "r.txt")
    with pytest.raises(FileNotFoundError):
        Rubric.from_file(tmp_path / "absent.json")


texts = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=40
).filter(str.strip)
lines = texts.filter(lambda text: not set(text.strip()) & set("\n\r\t\x0b\x0c\x85\u2028\u2029"))
weights = st.floats(-1e6, 1e6) | st.integers(-1000, 1000)
shares = st.floats(0, 1)
everything = {
    "requirement": texts,
    "weight": weights,
    "name": st.none() | lines,
    "group": st.none() | lines,
    "guidance": st.none() | texts,
    "tags": st.lists(lines, max_size=3).map(tuple),
    "met_example": st.none() | texts,
    "unmet_example": st.none() | texts,
}
options = st.lists(
    st.builds(Option, label=lines, value=shares, na=st.booleans()),
    min_size=2,
    max_size=6,
    unique_by=lambda option: option.label.casefold(),
).filter(lambda several: sum(not option.na for option in several) >= 2)
criteria = (
    st.builds(Criterion, **everything, aggregation=st.none() | st.sampled_from(["majority", "any"]))
    | st.builds(
        Criterion,
        **everything,
        options=options.map(tuple),
        scale_type=st.none() | st.sampled_from(["ordinal", "nominal"]),
        aggregation=st.none() | st.just("mode"),
    )
    | st.builds(
        Criterion,
        **(everything | {"requirement": st.none() | texts}),
        check=st.just("contains_keywords"),
        params=st.builds(lambda words: {"keywords": words}, st.lists(lines, min_size=1, max_size=3)),
    )
)
pass_rules = st.builds(PassRule, min_score=st.none() | shares, min_criterion=shares) | st.builds(
    PassRule, min_score=shares
)
length_penalties = st.builds(
    LengthPenalty,
    free_budget=st.integers(0, 100),
    max_cap=st.integers(101, 10_000),
    penalty_at_cap=shares,
    exponent=st.floats(0.1, 5),
    counts=st.sampled_from(["ALL", "OUTPUT_ONLY", "THINKING_ONLY"]),
)
rubrics = st.builds(
    Rubric,
    st.lists(criteria, min_size=1, max_size=5, unique_by=lambda c: c.name.casefold() if c.name else object()),
    title=lines | st.just(""),
    guidelines=texts | st.just(""),
    pass_rule=st.none() | pass_rules,
    length_penalty=st.none() | length_penalties,
)


@given(rubrics)
def test_every_rubric_comes_back_from_every_form_it_is_written_in(rubric):
    assert Rubric.from_dict(rubric.to_dict()) == rubric
    assert Rubric.from_json(rubric.to_json()) == rubric
    assert Rubric.from_yaml(rubric.to_yaml()) == rubric


@given(rubrics)
def test_json_written_here_is_json_for_everyone(rubric):
    assert json.loads(rubric.to_json()) == rubric.to_dict()
