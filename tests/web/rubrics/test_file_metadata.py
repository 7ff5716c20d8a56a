"""The editor keeps what a rubric's file says and its form does not show."""

import json

import pytest
from django.urls import reverse

from rubricweb.services.rubrics import rubrics
from tests.services.rubrics.test_file_metadata import FILE
from tests.web.rubrics.test_rubric_editor import as_posted


@pytest.fixture
def ed(people, sign_in):
    return sign_in(people.ed)


@pytest.fixture
def rubric(people):
    data = json.dumps(FILE).encode()
    return rubrics.import_rubric(people.team, by=people.ed, data=data, filename="essay.json").rubric


@pytest.fixture
def url(people, rubric):
    return lambda name, *args: reverse(name, args=[people.team.slug, rubric.pk, *args])


def source(ed, url):
    page = ed.get(url("rubric_source") + "?format=json")
    return json.loads(page.context["source"])


def sections(ed, url):
    return [(one.get("title"), one.get("id"), len(one["criteria"])) for one in source(ed, url)["sections"]]


def test_saving_other_fields_keeps_everything(ed, rubric, url):
    form = ed.get(url("rubric_edit")).context["form"]
    ed.post(url("rubric_edit"), as_posted(form) | {"guidelines": "Be fair."})
    assert source(ed, url) == {**FILE, "guidelines": "Be fair."}
    posted = as_posted(ed.get(url("rubric_edit")).context["form"])
    answer = ed.post(url("rubric_edit"), posted | {"guidelines": ""}, headers={"Accept": "application/json"})
    assert answer.status_code == 200
    assert source(ed, url) == FILE


def test_a_button_without_javascript_keeps_them_as_well(ed, rubric, url):
    form = ed.get(url("rubric_edit")).context["form"]
    posted = as_posted(form, add="1")
    again = ed.post(url("rubric_edit"), posted).context["form"]
    again.remove_row(str(again.rows[-1].index))
    ed.post(url("rubric_edit"), as_posted(again))
    assert source(ed, url) == FILE


def test_a_section_is_renamed_with_its_criteria(ed, url):
    posted = as_posted(ed.get(url("rubric_edit")).context["form"])
    ed.post(url("rubric_edit"), posted | {"criteria-0-group": "Truth", "criteria-1-group": "Truth"})
    assert sections(ed, url) == [("Still to write", "s-0", 0), ("Truth", "s-1", 2), ("Style", None, 1)]


def test_a_section_stays_while_one_of_its_criteria_has_its_name(ed, url):
    posted = as_posted(ed.get(url("rubric_edit")).context["form"])
    ed.post(url("rubric_edit"), posted | {"criteria-1-group": "Truth"})
    # The criterion of another group stands by itself between the two sections.
    assert sections(ed, url) == [
        ("Still to write", "s-0", 0),
        ("Facts", "s-1", 1),
        (None, None, 1),
        ("Style", None, 1),
    ]


def test_a_section_goes_with_its_last_criterion_and_one_that_came_empty_stays(ed, url):
    posted = as_posted(ed.get(url("rubric_edit")).context["form"])
    left = {key: value for key, value in posted.items() if key[:11] not in ("criteria-0-", "criteria-1-")}
    ed.post(url("rubric_edit"), left)
    assert sections(ed, url) == [("Still to write", "s-0", 0), ("Style", None, 1)]
    # Undone in the same form, the criteria bring their section back.
    revision = str(ed.get(url("rubric_edit")).context["form"].revision)
    ed.post(url("rubric_edit"), posted | {"revision": revision})
    assert source(ed, url) == FILE


def test_a_section_whose_criteria_move_to_another_one_goes(ed, url):
    posted = as_posted(ed.get(url("rubric_edit")).context["form"])
    ed.post(url("rubric_edit"), posted | {"criteria-2-group": "Facts"})
    assert sections(ed, url) == [("Still to write", "s-0", 0), ("Facts", "s-1", 3)]


@pytest.mark.parametrize("text", ["{", "[]", '{"id": 3}', '{"criteria": []}', '{"id": "a\\u0000b"}'])
def test_a_field_that_was_tampered_with_is_refused(ed, rubric, url, text):
    posted = as_posted(ed.get(url("rubric_edit")).context["form"])
    answer = ed.post(url("rubric_edit"), posted | {"metadata": text})
    assert (answer.status_code, "What the form keeps" in answer.content.decode()) == (400, True)
    assert source(ed, url) == FILE


def test_text_that_is_too_long_is_named_in_the_editor(ed, url):
    posted = as_posted(ed.get(url("rubric_edit")).context["form"], publish="1")
    page = ed.post(url("rubric_edit"), posted | {"criteria-0-description": "x" * 50_001})
    problems = [(problem.label, problem.message) for problem in page.context["form"].problems]
    assert problems == [("Criterion 1, description", "Found 50,001 characters. Allowed: at most 50,000.")]


@pytest.mark.parametrize("format", ["yaml", "json"])
def test_the_tabs_show_them_and_take_them_back(ed, rubric, url, format):
    text = ed.get(url("rubric_source") + f"?format={format}").context["source"]
    changed = text.replace("What is true.", "What was true.")
    ed.post(url("rubric_source") + f"?format={format}", {"source": changed, "revision": "0"})
    assert source(ed, url)["sections"][1]["description"] == "What was true."
    rubric.refresh_from_db()
    assert rubric.draft["sections"][0] == {
        "title": "Still to write",
        "id": "s-0",
        "description": "Nothing yet.",
    }


def test_the_pages_tell_that_only_the_file_changed(ed, rubric, url):
    shown = ed.get(url("rubric_version", 1)).content.decode()
    for text in ("For the spring term.", "Nothing yet.", "What is true.", "Of old."):
        assert text in shown
    draft = {**rubric.draft, "description": "For autumn."}
    rubrics.save_draft(rubric, draft=draft, revision=rubric.draft_revision)
    for name in ("rubric", "rubric_publish"):
        assert "No grader sees them" in ed.get(url(name)).content.decode()
    ed.post(url("rubric_publish"), {"note": "", "revision": str(rubric.draft_revision)})
    assert "For autumn." in ed.get(url("rubric_version", 2)).content.decode()


def test_a_rubric_without_them_shows_nothing_of_the_kind(ed, people):
    plain = rubrics.create_rubric(people.team, by=people.ed, title="Plain", draft={"criteria": []})
    page = ed.get(reverse("rubric_edit", args=[people.team.slug, plain.pk])).content.decode()
    assert 'name="metadata"' not in page
