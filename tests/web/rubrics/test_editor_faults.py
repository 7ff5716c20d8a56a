"""What is wrong in the editor: every field names the sentence about it, which a screen reader then reads."""

import re

import pytest
from django.urls import reverse

from rubricweb.services.rubrics import rubrics
from tests.web.rubrics.test_rubric_editor import as_posted, shown

FAULTY = [
    {"weight": "heavy", "requirement": "A", "aggregation": "no_such_rule"},
    {"weight": 1, "requirement": "A", "scale_type": "ordinal", "options": [{"label": "a", "value": "half"}]},
    {"weight": 1, "requirement": "A", "scale_type": "ordinal", "options": []},
    {"weight": 1, "check": "contains_keywords", "params": {"mode": "some", "match": "?", "keywords": []}},
    {"weight": 1, "check": "length_between", "params": {"min": "few", "max": "many"}},
    {"weight": 1, "check": "json_schema", "params": {"schema": "no object"}},
]


def described(page: str) -> list[tuple[str, bool]]:
    """Each control that is said to be invalid, with whether what it refers to is on the page, once."""
    found = []
    for tag in re.findall(r"<(?:input|select|textarea)\b[^>]*aria-invalid=[^>]*>", page):
        id, about = (re.findall(rf'\b{name}="([^"]*)"', tag) for name in ("id", "aria-describedby"))
        ids = [one for one in " ".join(about).split() if one.endswith(("_error", "-faults"))]
        found.append((id[0], bool(ids) and all(page.count(f'id="{one}"') == 1 for one in ids)))
    return found


def test_every_faulty_field_refers_to_what_is_said_of_it(people, sign_in):
    draft = {"criteria": FAULTY, "pass_rule": {"min_score": "much"}, "length_penalty": {"exponent": "x"}}
    rubric = rubrics.create_rubric(people.team, by=people.ed, title="Faulty", draft=draft)
    address = reverse("rubric_edit", args=[people.team.slug, rubric.pk])
    page = sign_in(people.ed).post(address, as_posted(shown(rubric.draft), publish="1")).content.decode()
    fields = dict(described(page))
    assert all(fields.values())
    assert {name.removeprefix("id_").removeprefix("criteria-") for name in fields} == {
        "pass_rule-min_score",
        "length_penalty-exponent",
        "0-weight",
        "0-aggregation",
        "1-options-0-label",
        "1-options-0-value",
        "3-params-mode",
        "3-params-match",
        "3-params-keywords",
        "4-params-min",
        "4-params-max",
        "5-params-schema",
    }
    # Options that are missing have no field: their group says so.
    assert re.search(r'id="criteria-2-options"[^>]*\s+aria-describedby="criteria-2-options_error"', page)
    assert page.count('id="criteria-2-options_error"') == 1


@pytest.mark.parametrize("typed", ["criteria: [", "title: T\nunknown: 1"])
def test_a_source_that_is_refused_refers_to_its_faults(people, sign_in, typed):
    rubric = rubrics.create_rubric(people.team, by=people.ed, title="T", draft={"criteria": []})
    address = reverse("rubric_source", args=[people.team.slug, rubric.pk])
    ed = sign_in(people.ed)
    assert described(ed.get(address).content.decode()) == []
    page = ed.post(address, {"source": typed, "revision": rubric.draft_revision}).content.decode()
    assert described(page) == [("source", True)]
