"""What the editor's script sends while somebody types, and what it hears, at the HTTP interface."""

import pytest
from django.urls import reverse

from rubricweb.services.rubrics import rubrics

DRAFT = {"criteria": [{"name": "city", "weight": 1.0, "requirement": "Names it."}]}


@pytest.fixture
def rubric(people):
    return rubrics.create_rubric(people.team, by=people.ed, title="Kept", draft=DRAFT)


@pytest.fixture
def save(people, rubric, sign_in):
    """Sends what is typed in the form, or in the source, as the script does."""
    client = sign_in(people.ed)

    def send(page="rubric_edit", query="", **typed):
        form = {
            "title": "Kept",
            "revision": "0",
            "criteria-0-kind": "binary",
            "criteria-0-weight": "1",
            "criteria-0-requirement": "Names the city.",
        }
        fields = {"revision": "0", **typed} if page == "rubric_source" else form | typed
        address = reverse(page, args=[people.team.slug, rubric.pk])
        return client.post(address + query, fields, headers={"Accept": "application/json"})

    return send


def theirs(rubric):
    rubrics.save_draft(rubric, draft={"title": "Theirs", "criteria": []}, revision=rubric.draft_revision)


def test_a_draft_with_faults_is_stored_and_its_revision_answered(save, rubric):
    answer = save(**{"title": " Named ", "criteria-0-weight": "heavy"})
    assert (answer.status_code, answer.json()) == (200, {"revision": 1, "title": "Named"})
    rubric.refresh_from_db()
    assert rubric.draft["criteria"] == [{"weight": "heavy", "requirement": "Names the city."}]


def test_a_save_that_is_sent_again_is_stored_once_and_no_conflict(save, rubric):
    first, again = save(), save()
    assert first.json() == again.json() == {"revision": 1, "title": "Kept"}


def test_somebody_elses_draft_is_kept_and_the_choice_is_offered(save, rubric):
    theirs(rubric)
    answer = save()
    notice = answer.json()["notice"]
    assert answer.status_code == 409
    assert "somebody else changed this draft" in notice
    assert 'form="rubric-form" name="overwrite"\n          value="1"' in notice
    rubric.refresh_from_db()
    assert rubric.title == "Theirs"


@pytest.mark.parametrize(
    ("typed", "status", "said"),
    [
        ({"title": " "}, 400, "A rubric needs a title."),
        ({f"criteria-{row}-weight": "1" for row in range(1_001)}, 400, "at most 1000 criteria, not 1001"),
        ({"page_of_person": "0"}, 409, "Somebody else signed in"),
    ],
)
def test_what_is_refused_says_why_and_changes_nothing(save, rubric, typed, status, said):
    answer = save(**typed)
    assert answer.status_code == status
    assert said in answer.json()["message"]
    assert "notice" not in answer.json()
    rubric.refresh_from_db()
    assert rubric.draft_revision == 0


def test_a_source_is_stored_as_soon_as_it_can_be_read(save, rubric):
    refused = save("rubric_source", source="criteria: [")
    assert (refused.status_code, refused.json()) == (400, refused.json())
    assert refused.json()["message"] == "The text cannot be read."
    assert [mark["severity"] for mark in refused.json()["marks"]] == ["error"]
    stored = save("rubric_source", source="criteria:\r\n- weight: heavy\r\n")
    marks = stored.json().pop("marks")
    assert {key: stored.json()[key] for key in ("revision", "title")} == {"revision": 1, "title": "Kept"}
    assert (2, "error") in [(mark["line"], mark["severity"]) for mark in marks]
    rubric.refresh_from_db()
    assert rubric.draft["criteria"] == [{"weight": "heavy"}]
    theirs(rubric)
    notice = save("rubric_source", "?format=json", source='{"title": "Mine"}').json()["notice"]
    assert f'/rubrics/{rubric.pk}/source/?format=json" target="_blank"' in notice
    assert 'form="source-form"' in notice
