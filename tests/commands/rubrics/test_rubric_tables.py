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


def test_the_page_shows_what_columns_were_read_as_before_anything_is_made(people: Cast, sign_in) -> None:
    ed, url = sign_in(people.ed), reverse("rubric_import", args=[people.team.slug])
    grid = "Rubric Name,Criterion,Total,Good,Points,Poor,Points\nEssay,Claim,6,Clear,4,None,0\n"
    sent = ed.post(url, {"file": SimpleUploadedFile("essay.csv", grid.encode()), "title": "Essays"})
    page = ed.get(sent.url)
    table = page.context["table"]
    assert list(zip(table.columns, table.read_as, table.rows[0], strict=True)) == [
        ("Rubric Name", "title", "Essay"),
        ("Criterion", "name", "Claim"),
        ("Total", "not read", "6"),
        ("Good", "rating", "Clear"),
        ("Points", "points", "4"),
        ("Poor", "rating", "None"),
        ("Points", "points", "0"),
    ]
    shown = page.content.decode()
    for text in ("read as name", "read as not read", "Nothing is made yet", SAID.split("; ")[1]):
        assert text in shown
    assert not Rubric.objects.exists()
    ed.post(sent.url, {"title": page.context["form"]["title"].value()})
    assert Rubric.objects.get().title == "Essays"
    # The file is kept for one import alone, and only for whom it was sent by.
    assert (ed.get(sent.url).status_code, ed.post(sent.url, {"title": "Again"}).status_code) == (404, 404)


def test_a_kept_table_is_there_for_nobody_else(people: Cast, sign_in) -> None:
    url = reverse("rubric_import", args=[people.team.slug])
    sent = sign_in(people.ed).post(url, {"file": SimpleUploadedFile("essay.csv", GRID.encode()), "title": ""})
    assert sign_in(people.alice).get(sent.url).status_code == 404
    items = sent.url.replace(url, reverse("dataset_import", args=[people.team.slug]))
    assert sign_in(people.ed).get(items).status_code == 404
    assert not Rubric.objects.exists()


def test_a_faulty_table_and_a_file_that_is_none_are_answered_at_once(people: Cast, sign_in) -> None:
    ed, url = sign_in(people.ed), reverse("rubric_import", args=[people.team.slug])
    refused = ed.post(url, {"file": SimpleUploadedFile("a.csv", b"colour\nred\n"), "title": ""})
    assert (refused.status_code, "a.csv, read as a table, has one" in refused.content.decode()) == (422, True)
    ed.post(url, {"file": SimpleUploadedFile("a.yaml", b"- requirement: Is kind.\n"), "title": ""})
    assert Rubric.objects.get().title == "a"
