"""`rubricweb datasets import`: a file of any size, all of it or nothing."""

import json

from rubricweb.api.datasets.schemas import DatasetImport as Shown
from rubricweb.models import Dataset, DatasetImport, ImportState
from tests import factories
from tests.commands.shapes import misfits
from tests.factories import Cast

ROWS = [{"id": "a", "submission": "So."}, {"id": "b", "submission": "So."}, {"id": "c", "submission": "No."}]


def test_a_file_is_stored_once_somebody_says_what_becomes_of_duplicates(
    people: Cast, at_terminal, tmp_path
) -> None:
    file, ed = tmp_path / "answers.jsonl", at_terminal(people.ed)
    file.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    asked = ed("datasets", "import", file)
    assert asked.code == 1
    assert "b says the same as a" in asked.err
    assert "--duplicates skip" in asked.err
    assert not Dataset.objects.exists()
    assert DatasetImport.objects.get().state == ImportState.CANCELLED
    done = ed("datasets", "import", file, "--duplicates", "skip")
    assert "Stored 2 items in answers" in done.err
    assert "1 item said what an earlier item says: skipped" in done.err
    printed = ed("datasets", "import", file, "--duplicates", "keep", "--name", "all", "--json").out
    assert json.loads(printed)["rows_stored"] == 3
    assert misfits(Shown, printed) == []


def test_answers_of_a_version_and_faults_are_told(people: Cast, at_terminal, tmp_path) -> None:
    items = [{"case_id": key, "system": "a@1", "prompt": f"{key}?", "submission": "So."} for key in "xy"]
    dataset = factories.dataset(people.team, people.ed, name="asked", items=items)
    file, ed = tmp_path / "second.jsonl", at_terminal(people.ed)
    file.write_text('{"id": "x", "submission": "Yes."}')
    done = ed("datasets", "import", file, "--into", "asked", "--system", "a@2")
    assert "1 case without an answer: y" in done.err
    assert dataset.items.count() == 3
    again = ed("datasets", "import", file, "--into", "asked", "--system", "a@2")
    assert (again.code, "items[0].case_id" in again.err) == (1, True)
    assert ed("datasets", "import", tmp_path / "missing.csv").code == 1
    table = tmp_path / "table.csv"
    table.write_text("id,prompt,said\na,x?,Yes.\n")
    assert "Name it: --column submission=COLUMN" in ed("datasets", "import", table).err
    assert ed("datasets", "import", table, "--column", "submission=said").code == 0


def test_a_new_dataset_may_be_answers_of_one_version(people: Cast, at_terminal, tmp_path) -> None:
    file, ed = tmp_path / "replies.csv", at_terminal(people.ed)
    file.write_text("id,submission\nx,Yes.\n")
    assert ed("datasets", "import", file, "--system", "a@1").code == 0
    assert ed("datasets", "import", file, "--into", "replies", "--system", "a@2").code == 0
    items = Dataset.objects.get().items.values_list("key", "case__key", "system_version__label")
    assert list(items) == [("x", "x", "1"), ("x@a@2", "x", "2")]
