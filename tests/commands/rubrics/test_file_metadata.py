"""A rubric's file comes in and goes out at the terminal with its ids, descriptions and sections."""

import json
from pathlib import Path

from rubricweb.engine.parsers.yaml_text import parse_yaml
from rubricweb.models import RubricVersion
from tests.factories import Cast
from tests.services.rubrics.test_file_metadata import FILE


def test_what_is_shown_is_what_was_imported(people: Cast, at_terminal, tmp_path: Path) -> None:
    ed, file = at_terminal(people.ed), tmp_path / "essay.json"
    file.write_text(json.dumps({"rubric": FILE}))
    assert parse_yaml(ed("import-rubric", file, "--plan").out) == FILE
    assert ed("import-rubric", file).code == 0
    version = f"id:{RubricVersion.objects.get().pk}"
    assert parse_yaml(ed("rubrics", "show", version).out) == FILE
    assert json.loads(ed("rubrics", "show", version, "--format", "json").out) == FILE
    assert json.loads(ed("rubrics", "show", version, "--json").out)["uid"] == "r-1"


def test_a_huge_description_is_refused_with_its_place(people: Cast, at_terminal, tmp_path: Path) -> None:
    file = tmp_path / "essay.json"
    file.write_text(json.dumps({**FILE, "description": "x" * 50_001}))
    refused = at_terminal(people.ed)("import-rubric", file)
    assert (refused.code, "description: found 50,001 characters" in refused.err) == (1, True)
