"""`rubricweb datasets retire`, `restore` and `versions`."""

import json

from rubricweb.api.datasets.version_schemas import ChangePlan
from tests import factories
from tests.commands.shapes import misfits
from tests.factories import Cast


def test_items_are_retired_and_restored_by_key_and_by_case(people: Cast, at_terminal, tmp_path) -> None:
    dataset = factories.dataset(people.team, people.ed, name="told")
    ed, bob = at_terminal(people.ed), at_terminal(people.bob)
    named = tmp_path / "items.txt"
    named.write_text("bad\n")
    planned = ed("datasets", "retire", "told", "--items-from", named, "--plan")
    assert "Would retire 1 item: version 2 of the dataset." in planned.err
    assert "1 case left without an answer" in planned.err
    assert dataset.items.current().count() == 3
    assert "Retired 1 item" in ed("datasets", "retire", "told", "--items-from", named, "--note", "old").err
    gone = ed("datasets", "retire", "told", "--item", "bad")
    assert (gone.code, "There is no item 'bad'" in gone.err) == (1, True)
    listed = bob("datasets", "items", "told", "--version", "retired", "--json").out.splitlines()
    assert [json.loads(line)["key"] for line in listed] == ["bad"]
    left = "Left out: 1 item: it is retired; --version retired lists them."
    assert left in bob("datasets", "items", "told").err
    assert "Left out" not in bob("datasets", "items", "told", "--version", "retired").err
    restored = ed("datasets", "restore", "told", "--case", "bad", "--json").out
    assert json.loads(restored)["version"] == 3
    assert misfits(ChangePlan, restored) == []
    history = bob("datasets", "versions", "told").out
    assert [word in history for word in ("restored", "retired", "old", "added")] == [True] * 4
    nothing = ed("datasets", "restore", "told")
    assert (nothing.code, "--item" in nothing.err) == (1, True)


def test_answers_and_cases_are_corrected_from_files(people: Cast, at_terminal, tmp_path) -> None:
    dataset = factories.dataset(people.team, people.ed, name="told")
    ed = at_terminal(people.ed)
    (tmp_path / "right.txt").write_text("It is Paris.")
    (tmp_path / "asked.txt").write_text("Which city is it?")
    right, asked = tmp_path / "right.txt", tmp_path / "asked.txt"
    planned = ed("datasets", "correct", "told", "--item", "bad", "--submission", right, "--plan")
    assert "Would correct 1 item: version 2 of the dataset." in planned.err
    assert dataset.items.count() == 3
    made = ed("datasets", "correct", "told", "--item", "bad", "--submission", right, "--json").out
    assert misfits(ChangePlan, made) == []
    assert dataset.items.current().get(key="bad").pk == json.loads(made)["replacement"]
    assert dataset.items.current().get(key="bad").submission == "It is Paris."
    said = ed("datasets", "correct", "told", "--case", "good", "--prompt", asked, "--note", "unclear").err
    assert "Corrected 1 case: version 3 of the dataset." in said
    assert "1 answer kept, with the words before" in said
    both = ed("datasets", "correct", "told", "--case", "good", "--item", "good")
    assert (both.code, "one item by --item, or one case" in both.err) == (1, True)


def test_a_file_that_is_no_text_is_refused_by_its_name(people: Cast, at_terminal, tmp_path) -> None:
    dataset = factories.dataset(people.team, people.ed, name="told")
    right = tmp_path / "right.txt"
    right.write_bytes("Déjà vu".encode("latin-1"))
    refused = at_terminal(people.ed)("datasets", "correct", "told", "--item", "bad", "--submission", right)
    assert (refused.code, f"{right} is no UTF-8 text." in refused.err.replace("\n", "")) == (1, True)
    assert dataset.items.count() == 3
