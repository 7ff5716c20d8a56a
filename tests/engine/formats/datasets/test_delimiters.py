"""CSV files whose headers hold several marks that part cells."""

import pytest

from rubricweb.engine.formats.datasets.files import read_in_batches
from tests.engine.formats.datasets.test_dataset_files import faults, read


@pytest.mark.parametrize(
    ("data", "submission", "metadata"),
    [
        # Rows have as many cells as the header under one mark only.
        ("submission,notes (tone; style; facts)\nYes,ok\n", "Yes", {"notes (tone; style; facts)": "ok"}),
        ("submission,notes\tall\nYes,ok\n", "Yes", {"notes\tall": "ok"}),
        ("submission\ta,b,c\nYes; sir,ok\tok\n", "Yes; sir,ok", {"a,b,c": "ok"}),
        ('submission;a,b,c\n"Yes,\nsir";ok\n', "Yes,\nsir", {"a,b,c": "ok"}),
        # A row with faults, or one that fits by chance, decides nothing against the others.
        ("submission,a;b;c\nx;y;z,n\nYes,ok\n", "Yes", {"a;b;c": "ok"}),
        # Where every row fits under several: a tab, then the mark that has no blank behind it.
        ("submission\tx,y,z\n1,2,3\tok\n", "1,2,3", {"x,y,z": "ok"}),
        (
            "submission,notes (tone; style; facts)\nx; y; z,ok\n",
            "x; y; z",
            {"notes (tone; style; facts)": "ok"},
        ),
        ("submission;mean, all\nYes, sir;ok\n", "Yes, sir", {"mean, all": "ok"}),
        ("submission,a;b\nx;y,ok\n", "x;y", {"a;b": "ok"}),
    ],
)
def test_of_several_marks_in_a_header_rows_tell_the_delimiter(tmp_path, data, submission, metadata):
    path = tmp_path / "x.csv"
    path.write_bytes(data.encode())
    (streamed,) = read_in_batches(path, filename="x.csv")
    for file in (read(data, "x.csv"), streamed):
        assert (file.items[-1].submission, file.items[-1].metadata) == (submission, metadata)


def test_a_row_with_too_many_cells_is_refused_under_the_delimiter_of_the_others():
    data = "submission,notes (tone; style; facts)\nYes,ok\nNo,not,ok\nSo,ok\n"
    assert faults(data, "x.csv") == [("line 3", "3 cells")]
