"""`rubricweb import-dataset` and its siblings say what the columns of a file were read as."""

from pathlib import Path

from rubricweb.models import Dataset
from tests.factories import Cast

FIRST = "ticketId,instruction,answer,topic\nA-1,Add 1 and 1,2,sums\nA-2,Add 2 and 2,4,sums\n"
MORE = FIRST.replace("A-1", "A-3").replace("A-2", "A-4").replace(",2,", ",two,").replace(",4,", ",four,")
SAID = "Columns: id ← ticketId (unique values), submission ← answer, prompt ← instruction; metadata: topic\n"


def keys(name: str) -> list[str]:
    return list(Dataset.objects.get(name=name).items.values_list("key", flat=True))


def test_every_import_says_in_one_line_what_columns_were_read_as(
    people: Cast, at_terminal, tmp_path: Path
) -> None:
    ed, first, more = at_terminal(people.ed), tmp_path / "first.csv", tmp_path / "more.csv"
    first.write_text(FIRST)
    more.write_text(MORE)
    assert SAID in ed("import-dataset", first).err
    assert SAID not in ed("import-dataset", first).err  # it is there already
    assert SAID in ed("add-items", more, "--dataset", "first").err
    assert SAID in ed("datasets", "import", first, "--name", "behind").err
    assert keys("first") == ["A-1", "A-2", "A-3", "A-4"]
    assert ed("import-dataset", first, "--name", "made", "--column", "id=").code == 0
    assert all(key.startswith("auto-") for key in keys("made"))


def test_a_file_without_a_submission_names_its_keys_and_the_way_out(
    people: Cast, at_terminal, tmp_path: Path
) -> None:
    ed, file = at_terminal(people.ed), tmp_path / "rows.jsonl"
    file.write_text('{"uid": 1, "model_reply": "hi"}\n' * 30)
    refused = ed("import-dataset", file)
    assert (refused.code, len(refused.err.splitlines())) == (1, 3)
    assert "found the keys uid, model_reply" in refused.err
    assert refused.err.endswith("Name it: --column submission=KEY\n")


def test_a_file_of_another_program_is_named(people: Cast, at_terminal, tmp_path: Path) -> None:
    file = tmp_path / "rollouts.jsonl"
    file.write_text(
        '{"prompt": [{"role": "user", "content": "2+2?"}], "reward": 1.0, '
        '"completion": [{"role": "assistant", "content": "4"}]}\n'
    )
    assert "Read as verifiers rollouts." in at_terminal(people.ed)("import-dataset", file).err
