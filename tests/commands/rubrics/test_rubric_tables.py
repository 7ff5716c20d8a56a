"""Rubrics as tables at the terminal, and on the page."""

from pathlib import Path

from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from rubricweb.models import Rubric
from tests.factories import Cast

GRID = "Criterion,Good (4),Poor (0)\nClaim,Clear,None\n"
SAID = "Columns: name ← Criterion; ratings: Good, Poor"


def test_a_grid_is_looked_at_and_then_stored(people: Cast, at_terminal, tmp_path: Path) -> None:
    ed, file = at_terminal(people.ed), tmp_path / "essay.csv"
    file.write_text(GRID)
    planned = ed("import-rubric", file, "--plan")
    assert (planned.code, "label: Good" in planned.out) == (0, True)
    assert f"{SAID}. Nothing was stored." in planned.err
    assert not Rubric.objects.exists()
    assert SAID in ed("import-rubric", file).err
    assert Rubric.objects.get().title == "essay"


def test_a_refusal_names_what_the_file_was_read_as(people: Cast, at_terminal, tmp_path: Path) -> None:
    ed = at_terminal(people.ed)
    for name, text, taken in (
        ("a.csv", "colour\nred\n", "a table"),
        ("b.yaml", "colour: red\n", "YAML"),
        ("c.rubric", '{"colour": "red"}', "JSON"),
    ):
        file = tmp_path / name
        file.write_text(text)
        assert f"{name}, read as {taken}, has " in ed("import-rubric", file).err


def test_the_page_takes_a_grid(people: Cast, sign_in) -> None:
    page = sign_in(people.ed).post(
        reverse("rubric_import", args=[people.team.slug]),
        {"file": SimpleUploadedFile("essay.csv", GRID.encode()), "title": "Essay"},
        follow=True,
    )
    assert SAID in page.content.decode()
