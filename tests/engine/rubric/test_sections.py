"""Ids, descriptions and empty sections of a rubric's file: kept, written back, and told to no grader."""

import json

import pytest

from rubricweb.engine import Criterion, InvalidRubric, Rubric, Section, Submission
from rubricweb.engine.autograders import PerCriterionGrader
from rubricweb.engine.formats.content_ids import content_id
from rubricweb.engine.parsers.yaml_text import parse_yaml
from rubricweb.engine.rubric.diff import rubric_diff

SECTIONS = [
    {"title": "Still to write", "id": "s-0", "description": "Nothing here yet.", "criteria": []},
    {
        "title": "Facts",
        "id": "s-1",
        "description": "What is true.\nAll of it.",
        "criteria": [
            {
                "name": "place",
                "weight": 2.0,
                "requirement": "Names it.",
                "id": "c-1",
                "description": "Of old.",
            },
            {"name": "date", "weight": 1.0, "requirement": "Dates it.", "id": "c-2"},
        ],
    },
    {"title": "Plain", "criteria": [{"name": "tone", "weight": 1.0, "requirement": "Is kind.", "id": "c-3"}]},
    {"criteria": [{"name": "own", "weight": 1.0, "requirement": "Is short.", "group": "Form", "id": "c-4"}]},
    {"title": "s-9", "id": "s-9", "criteria": []},
    {"criteria": []},
]
FILE = {"title": "Essay", "id": "r-1", "description": "For the spring term.", "sections": SECTIONS}


def faults(data: object) -> list[tuple[str, str]]:
    with pytest.raises(InvalidRubric) as refusal:
        Rubric.from_dict(data)
    return [(fault.place, fault.found) for fault in refusal.value.faults]


def test_a_file_is_written_back_as_it_came() -> None:
    rubric = Rubric.from_dict({"rubric": FILE})
    assert rubric.to_nested_dict() == FILE
    assert parse_yaml(rubric.to_yaml()) == FILE == json.loads(rubric.to_json())
    assert Rubric.from_dict(rubric.to_dict()) == rubric == Rubric.from_yaml(rubric.to_yaml())


def test_a_list_that_holds_sections_keeps_them_too() -> None:
    whole = Rubric.from_dict(SECTIONS)
    assert whole.to_nested_dict() == {"sections": SECTIONS}
    assert Rubric.from_dict({"id": "r", "rubric": SECTIONS}).metadata == {"id": "r", **whole.metadata}


def test_sections_that_say_no_more_than_groups_are_groups_as_before() -> None:
    rubric = Rubric.from_dict({"sections": [{"title": "A", "criteria": [{"requirement": "Is kind."}]}]})
    written = {"name": "C1", "weight": 1.0, "requirement": "Is kind.", "group": "A"}
    assert (rubric.sections, rubric.metadata) == ((), {})
    assert rubric.to_nested_dict() == rubric.to_dict() == {"criteria": [written]}


def test_no_grader_is_told_of_them() -> None:
    told = Rubric.from_dict(FILE)
    bare = Rubric.from_dict({"title": "Essay", "criteria": told.to_dict(ids=False)["criteria"]})
    assert told.to_dict(ids=False) == bare.to_dict()
    prompts = [PerCriterionGrader().prompts(Submission("Short."), one) for one in (told, bare)]
    assert prompts[0] == prompts[1]
    ids = [content_id("Short.", None, None, None, one) for one in (told, bare)]
    assert ids[0] == ids[1]
    assert not rubric_diff(told, bare)
    for text in ("Of old.", "What is true.", "For the spring term.", "s-1"):
        assert text not in repr(prompts)


def test_a_section_named_beside_the_criteria_is_that_of_their_group() -> None:
    criteria = [{"requirement": "Is kind.", "group": "Style"}, {"requirement": "Is true."}]
    rubric = Rubric.from_dict({"criteria": criteria, "sections": [{"title": "Style", "id": "s"}]})
    assert rubric.sections == (Section(title="Style", id="s"),)
    first, rest = rubric.to_nested_dict()["sections"]
    assert (first["id"], first["criteria"][0]["name"]) == ("s", "C1")
    assert [one["name"] for one in rest["criteria"]] == ["C2"]


def test_criteria_that_come_back_to_a_section_keep_their_place_and_their_group() -> None:
    groups = ["B", "A", "B", None]
    criteria = [
        Criterion(requirement=f"Is {i}.", name=f"n{i}", group=group) for i, group in enumerate(groups)
    ]
    rubric = Rubric(criteria, sections=[Section(title=title, id=title.lower()) for title in ("A", "B", "E")])
    written = [
        (section.get("id"), [(one["name"], one.get("group")) for one in section["criteria"]])
        for section in rubric.to_nested_dict()["sections"]
    ]
    assert written == [
        ("b", [("n0", None)]),
        ("a", [("n1", None)]),
        (None, [("n2", "B"), ("n3", None)]),
        ("e", []),
    ]
    assert [one.name for one in Rubric.from_json(rubric.to_json()).criteria] == ["n0", "n1", "n2", "n3"]


def test_a_section_with_a_description_alone_is_called_by_its_place() -> None:
    parts = [
        {"criteria": [{"requirement": "a"}]},
        {"description": "Style.", "criteria": [{"requirement": "b"}]},
    ]
    assert [one.group for one in Rubric.from_dict({"sections": parts}).criteria] == [None, "Section 2"]


def test_numbers_are_ids_of_rubrics_and_sections_too() -> None:
    data = {"id": 7, "sections": [{"id": 1, "title": "A", "criteria": [{"requirement": "a"}]}]}
    assert Rubric.from_dict(data).metadata == {"id": "7", "sections": [{"title": "A", "id": "1"}]}


def test_sections_of_one_title_are_one_section_and_may_not_contradict_each_other() -> None:
    first = {"title": "A", "id": "s", "criteria": [{"requirement": "a"}]}
    again = {"title": "A", "description": "Later.", "criteria": [{"requirement": "b"}]}
    assert Rubric.from_dict({"sections": [first, again]}).sections == (
        Section(title="A", id="s", description="Later."),
    )
    assert faults({"sections": [first, {**again, "id": "t"}]}) == [
        ("sections[1].id", "another id for the title 'A' (as sections[0])")
    ]


def test_what_is_wrong_with_them_is_said_with_its_place() -> None:
    data = {
        "id": 1.5,
        "description": "x" * 50_001,
        "sections": [
            {"id": ["s"], "title": "A", "criteria": [{"requirement": "a", "id": "c"}]},
            {"id": "a\0b", "title": "B", "description": 3, "criteria": [{"requirement": "b", "id": "c"}]},
            {"title": "C", "criteria": [{"requirement": "c", "description": "a\0b"}]},
        ],
    }
    assert sorted(faults(data)) == [
        ("description", "50,001 characters"),
        ("id", "1.5"),
        ("sections[0].id", "a list"),
        ("sections[1].criteria[0].id", "the id 'c' again (as sections[0].criteria[0])"),
        ("sections[1].description", "3"),
        ("sections[1].id", "a NUL character"),
        ("sections[2].criteria[0].description", "a NUL character"),
    ]
    many = [{"title": f"S{i}", "criteria": []} for i in range(1_001)]
    assert ("sections", "1,001 sections") in faults({"criteria": [{"requirement": "a"}], "sections": many})


def test_a_rubric_whose_sections_are_all_empty_has_no_criteria() -> None:
    assert faults({"sections": [{"id": "s", "criteria": []}]}) == [("criteria", "an empty list")]
