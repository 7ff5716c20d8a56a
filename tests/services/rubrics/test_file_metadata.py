"""What a rubric's file says beside what graders see stays with its versions and drafts."""

import json

import pytest

from rubricweb.errors import Invalid
from rubricweb.models import Rubric, RubricVersion
from rubricweb.selectors.rubrics import versions as selected
from rubricweb.services.rubrics import rubrics
from tests.factories import Cast

FILE = {
    "title": "Essay",
    "id": "r-1",
    "description": "For the spring term.",
    "sections": [
        {"title": "Still to write", "id": "s-0", "description": "Nothing yet.", "criteria": []},
        {
            "title": "Facts",
            "id": "s-1",
            "description": "What is true.",
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
        {
            "title": "Style",
            "criteria": [{"name": "tone", "weight": 1.0, "requirement": "Is kind.", "id": "c-3"}],
        },
    ],
}


def imported(people: Cast) -> RubricVersion:
    data = json.dumps({"rubric": FILE}).encode()
    return rubrics.import_rubric(people.team, by=people.ed, data=data, filename="essay.json")


def written(version: RubricVersion) -> object:
    return json.loads(RubricVersion.objects.get(pk=version.pk).to_engine().to_json())


def rubric_of(version: RubricVersion) -> Rubric:
    assert version.rubric is not None
    return version.rubric


def test_an_imported_rubric_is_written_as_it_came_and_so_are_its_next_version_and_its_copy(
    people: Cast,
) -> None:
    first = imported(people)
    assert written(first) == FILE
    draft = rubric_of(first).draft
    draft["criteria"][1]["requirement"] = "Says when."
    rubrics.save_draft(rubric_of(first), draft=draft, revision=0)
    second = rubrics.publish(rubric_of(first), by=people.ed)
    changed = json.loads(json.dumps(FILE))
    changed["sections"][1]["criteria"][1]["requirement"] = "Says when."
    assert (second.number, written(second)) == (2, changed)
    revision = rubric_of(second).draft_revision
    restored = rubrics.restore(first, by=people.ed, revision=revision)
    assert written(rubrics.publish(restored, by=people.ed)) == FILE
    copied = rubrics.publish(rubrics.copy(first, by=people.ed, title="Essay"), by=people.ed)
    assert written(copied) == FILE


def test_a_description_alone_makes_a_version_that_changes_nothing_for_graders(people: Cast) -> None:
    first = imported(people)
    rubric = rubric_of(first)
    state = selected.draft_state(rubric, viewer=people.ed)
    assert not state.publishable
    rubrics.save_draft(rubric, draft={**rubric.draft, "description": "For autumn."}, revision=0)
    state = selected.draft_state(rubric, viewer=people.ed)
    assert (state.publishable, bool(state.diff), state.metadata_changed) == (True, False, True)
    second = rubrics.publish(rubric, by=people.ed)
    assert second.number == 2
    pairs = zip(first.criteria.all(), second.criteria.all(), strict=True)
    assert all(before.meaning_id == after.meaning_id for before, after in pairs)
    contents = [RubricVersion.objects.get(pk=one.pk).to_engine() for one in (first, second)]
    assert contents[0].to_dict(ids=False) == contents[1].to_dict(ids=False)


def test_a_draft_typed_as_text_keeps_them_in_one_list_of_sections(people: Cast) -> None:
    for text in (json.dumps(FILE), json.dumps({"rubric": FILE})):
        draft = rubrics.read_draft(text)
        assert [entry.get("group") for entry in draft["criteria"]] == ["Facts", "Facts", "Style"]
        assert draft["sections"] == [
            {"title": "Still to write", "id": "s-0", "description": "Nothing yet."},
            {"title": "Facts", "id": "s-1", "description": "What is true."},
            {"title": "Style"},
        ]
        assert (draft["id"], draft["criteria"][0]["description"]) == ("r-1", "Of old.")
        rubric = rubrics.create_rubric(people.team, by=people.ed, title="Essay", draft=draft)
        assert selected.draft_as_file(rubric) == FILE


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("title: T\nid: [1]\ncriteria: []", "line 2: id"),
        (
            "title: T\nsections:\n- title: A\n  description: 7.5\n  criteria: []",
            "line 4: sections[0].description",
        ),
        ("title: T\ndescription: {a: b}\ncriteria: []", "line 2: description"),
    ],
)
def test_what_is_no_text_in_a_typed_draft_is_refused_with_its_line(text: str, place: str) -> None:
    with pytest.raises(Invalid) as refusal:
        rubrics.read_draft(text)
    assert place in [fault.place for fault in refusal.value.faults]
