"""Criteria without fields on the page: what is kept of them comes back as it was."""

import html
import json
import re
from typing import Any

import pytest
from django.urls import reverse

from rubricweb.models import Rubric
from rubricweb.services.rubrics import rubrics
from rubricweb.web.rubrics.forms import MOST_FIELDS, RubricForm
from tests.factories import Cast
from tests.web.rubrics.test_rubric_editor import EVERYTHING

CRITERIA = [
    {**entry, "id": f"uid-{number}"}
    for number, entry in enumerate(
        [*EVERYTHING["criteria"], {"weight": "half", "requirement": "Says <b>&amp; 'it's'</b>."}] * 5  # type: ignore[misc]  # a list
    )
]


@pytest.fixture
def rubric(people: Cast) -> Rubric:
    draft: dict[str, Any] = {**EVERYTHING, "criteria": CRITERIA}
    return rubrics.create_rubric(people.team, by=people.ed, title="Everything", draft=draft)


def kept(page: str) -> dict[str, str]:
    found = re.findall(r"name=\"(criteria-\d+-kept)\" value='([^']*)'", page)
    return {name: html.unescape(value) for name, value in found}


def test_rows_of_a_long_rubric_are_kept_as_one_text_each_that_saves_as_it_was(
    people: Cast, sign_in: Any, rubric: Rubric
) -> None:
    url = reverse("rubric_edit", args=[people.team.slug, rubric.pk])
    page = sign_in(people.ed).get(url).content.decode()
    assert len(kept(page)) == len(CRITERIA) > MOST_FIELDS
    form = RubricForm.from_draft(rubric.draft, 0)
    orders = {f"criteria-{number}-order": str(number + 1) for number in range(len(CRITERIA))}
    posted = kept(page) | orders | {"title": "Everything", "revision": "0", "guidelines": "Be fair."}
    assert sign_in(people.ed).post(url, posted | form.head_fields()).status_code == 302
    rubric.refresh_from_db()
    assert rubric.draft["criteria"] == CRITERIA


def test_a_row_that_is_opened_has_its_fields_and_what_is_no_criterion_is_refused(
    people: Cast, sign_in: Any, rubric: Rubric
) -> None:
    ed, url = sign_in(people.ed), reverse("rubric_rows", args=[people.team.slug, rubric.pk])
    entry = json.dumps(CRITERIA[1])
    page = ed.post(url, {"criteria-7-kept": entry, "criteria-7-order": "3"}).content.decode()
    assert 'data-fields-of="criterion-7"' in page
    assert 'name="criteria-7-options-0-label"' in page
    for text in ("{", "[]", '{"colour": "red"}', '{"section": 3}'):
        assert ed.post(url, {"criteria-7-kept": text}).status_code in (400, 422)
    assert sign_in(people.bob).post(url, {}).status_code == 403
    assert sign_in(people.charlie).post(url, {}).status_code == 404


def test_without_scripts_a_folded_row_is_opened_by_its_button(
    people: Cast, sign_in: Any, rubric: Rubric
) -> None:
    url = reverse("rubric_edit", args=[people.team.slug, rubric.pk])
    ed = sign_in(people.ed)
    page = ed.post(url, kept(ed.get(url).content.decode()) | {"title": "E", "open": "6"}).content.decode()
    assert 'name="criteria-6-requirement"' in page
    assert 'name="criteria-7-requirement"' not in page
