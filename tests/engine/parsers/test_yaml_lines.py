"""Faults get the line they stand on."""

from rubricweb.engine.parsers.yaml_lines import lines_of

SOURCE = """title: Capitals
criteria:
- name: city
  weight: heavy
  requirement: Names the city.
- requirement: ""
  tags:
  - geography
  - 7
"""


def test_a_place_is_found_on_its_line():
    places = ["title", "criteria", "criteria[0].weight", "criteria[1].requirement", "criteria[1].tags[1]"]
    assert lines_of(SOURCE, places) == dict(zip(places, [1, 2, 4, 6, 9], strict=True))


def test_a_missing_key_is_placed_at_what_should_hold_it():
    assert lines_of(SOURCE, ["criteria[1].weight", "criteria[5]", ""]) == {
        "criteria[1].weight": 6,
        "criteria[5]": 2,
        "": 1,
    }


def test_a_bare_list_and_json_are_read_too():
    assert lines_of("- requirement: A\n- weight: x\n", ["criteria[1].weight"]) == {"criteria[1].weight": 2}
    assert lines_of('{\n"criteria": [\n{"weight": "x"}]}', ["criteria[0].weight"]) == {
        "criteria[0].weight": 3
    }


def test_a_text_that_is_not_yaml_has_no_lines():
    assert lines_of("criteria: [", ["criteria"]) == {}
