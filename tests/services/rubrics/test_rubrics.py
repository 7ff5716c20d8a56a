"""Drafts keep what was typed; versions never change."""

import pytest

from rubricweb.errors import Conflict, Invalid
from rubricweb.models import RubricVersion
from rubricweb.services.rubrics import rubrics
from tests import factories
from tests.factories import CRITERIA, Cast


def test_a_draft_keeps_what_is_not_valid_yet(people: Cast) -> None:
    rubric = rubrics.create_rubric(people.team, by=people.ed, title="Half done")
    draft = {"title": "Half done", "criteria": [{"name": "", "weight": "ten", "requirement": ""}]}
    rubrics.save_draft(rubric, draft=draft, revision=0)
    rubric.refresh_from_db()
    assert rubric.draft["criteria"] == draft["criteria"]
    assert rubric.draft_revision == 1


def test_two_editors_cannot_overwrite_each_other_unseen(people: Cast) -> None:
    rubric = rubrics.create_rubric(people.team, by=people.ed, title="Shared")
    rubrics.save_draft(rubric, draft={"title": "First"}, revision=0)
    with pytest.raises(Conflict, match="Somebody else saved"):
        rubrics.save_draft(rubric, draft={"title": "Second"}, revision=0)
    rubric.refresh_from_db()
    assert rubric.title == "First"


def test_a_save_whose_answer_was_lost_may_be_sent_again(people: Cast) -> None:
    rubric = rubrics.create_rubric(people.team, by=people.ed, title="Sent")
    draft = {"title": "Sent", "criteria": [{"weight": 1, "requirement": "Is short."}]}
    for _ in range(2):
        rubrics.save_draft(rubric, draft=draft, revision=0, may_repeat=True)
        assert (rubric.draft_revision, rubric.draft["criteria"]) == (1, draft["criteria"])
    with pytest.raises(Conflict):
        rubrics.save_draft(rubric, draft=draft, revision=0)
    with pytest.raises(Conflict):
        rubrics.save_draft(rubric, draft={**draft, "title": "Other"}, revision=0, may_repeat=True)


def test_publishing_freezes_a_numbered_version(people: Cast) -> None:
    version = factories.version(people.team, people.ed)
    rubric = version.rubric
    assert rubric is not None
    changed = [dict(CRITERIA[0], weight=7.0), *CRITERIA[1:]]
    rubrics.save_draft(rubric, draft={"title": "Capitals", "criteria": changed}, revision=0)
    second = rubrics.publish(rubric, by=people.ed, note="Paris counts less")
    assert [version.number, second.number] == [1, 2]
    assert [criterion.weight for criterion in version.criteria.all()] == [10.0, 5.0, -15.0]
    assert [criterion.weight for criterion in second.criteria.all()] == [7.0, 5.0, -15.0]


def test_publishing_without_a_change_gives_the_same_version(people: Cast) -> None:
    version = factories.version(people.team, people.ed)
    assert version.rubric is not None
    assert rubrics.publish(version.rubric, by=people.ed) == version


def test_publishing_names_every_fault(people: Cast) -> None:
    criteria = [
        {"name": "a", "weight": "ten", "requirement": "Says a."},
        {"name": "b", "weight": 1, "requirement": ""},
        {"name": "c", "weight": 1, "requirement": "Says c."},
        {"name": "C ", "weight": 1, "requirement": "Says c again."},
    ]
    rubric = rubrics.create_rubric(people.team, by=people.ed, title="Bad", draft={"criteria": criteria})
    with pytest.raises(Invalid) as refusal:
        rubrics.publish(rubric, by=people.ed)
    places = {fault.place for fault in refusal.value.faults}
    assert {"criteria[0].weight", "criteria[1].requirement", "criteria[3].name"} <= places
    assert not RubricVersion.objects.exists()


def test_a_version_comes_back_from_the_tables_as_it_was_written(people: Cast) -> None:
    data = b"""
title: Round trip
guidelines: Judge only the last turn.
criteria:
  - name: one
    weight: 2.5
    requirement: Names the place.
    group: Facts
    guidance: A country is not a place.
    tags: [geo]
    met_example: In Paris.
    unmet_example: Over there.
  - weight: -1
    requirement: Swears.
"""
    version = rubrics.import_rubric(people.team, by=people.ed, data=data, filename="round.yaml")
    assert version.to_engine().to_dict(ids=False) == rubrics.read(data, filename="round.yaml").to_dict()
    assert str(version) == "Round trip v1"


def test_a_broken_file_is_refused_with_its_places_and_leaves_nothing(people: Cast) -> None:
    data = b'[{"weight": NaN, "requirement": "x"}, {"wieght": 1, "requirement": "y"}]'
    with pytest.raises(Invalid) as refusal:
        rubrics.import_rubric(people.team, by=people.ed, data=data, filename="bad.json")
    assert len(refusal.value.faults) >= 2
    assert not people.team.rubrics.exists()
