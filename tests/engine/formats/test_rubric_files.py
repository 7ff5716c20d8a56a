"""Rubric files: read by name or content, written to be read again."""

import pytest

from rubricweb.engine.errors import InvalidRubric
from rubricweb.engine.formats.rubric_files import read_rubric, write_rubric
from rubricweb.engine.rubric import Criterion, Rubric

RUBRIC = Rubric(
    [Criterion(requirement="Names Paris", weight=10, guidance="Also as\nParigi.", tags=("geo",))],
    title="Capital",
)


@pytest.mark.parametrize("format", ["json", "yaml"])
@pytest.mark.parametrize("named", [True, False])
def test_what_is_written_is_read_back(format, named):
    text = write_rubric(RUBRIC, format)
    filename = f"rubric.{format}" if named else ""
    assert read_rubric(text, filename=filename) == RUBRIC
    assert read_rubric(b"\xef\xbb\xbf" + text.encode(), filename=filename) == RUBRIC


def test_yaml_is_written_for_people():
    assert write_rubric(RUBRIC, "yaml") == (
        "title: Capital\n"
        "criteria:\n"
        "- name: C1\n"
        "  weight: 10.0\n"
        "  requirement: Names Paris\n"
        "  guidance: |-\n"
        "    Also as\n"
        "    Parigi.\n"
        "  tags:\n"
        "  - geo\n"
    )


def test_the_name_decides_before_the_content():
    with pytest.raises(InvalidRubric, match="valid JSON"):
        read_rubric("- requirement: x", filename="rubric.JSON")
    assert read_rubric('[{"requirement": "x"}]', filename="rubric.yaml").names == ("C1",)


def test_an_unknown_format_is_refused():
    with pytest.raises(ValueError, match="allowed: json, yaml"):
        write_rubric(RUBRIC, "toml")
