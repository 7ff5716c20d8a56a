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


@pytest.mark.parametrize(
    "data",
    [
        "sep=;\nid;submission\na;One, two\nb;Three\n",
        '\ufeff"sep=|"\r\nid|submission\r\na|One, two\r\nb|Three\r\n',
        'SEP=\t\nid\tsubmission\na\t"One, two"\nb\tThree\n',
        'sep=,,\nid,submission\na,"One, two"\nb,Three\n',
    ],
)
def test_a_first_line_that_says_the_separator_is_no_header(tmp_path, data):
    path = tmp_path / "x.csv"
    path.write_bytes(data.encode())
    (streamed,) = read_in_batches(path, filename="x.csv")
    for file in (read(data, "x.csv"), streamed):
        assert [(item.id, item.submission) for item in file.items] == [("a", "One, two"), ("b", "Three")]


def test_lines_are_counted_with_the_one_that_says_the_separator():
    assert faults("sep=;\nid;submission\na;One;two\n", "x.csv") == [("line 3", "3 cells")]


UNQUOTED = [
    # An opening mark that a later line of marks would close.
    ('1\tShe left\tlow\n2\t"And then\thigh\n3\tNothing\tlow\n4\t"\tlow\n', ['"And then', "Nothing", '"']),
    # One that is closed inside its cell, and one that nothing closes to the end of the file.
    ('1\tShe left\tlow\n2\t"So" he said\tlow\n3\tNo\tlow\n4\t"Why\tlow\n', ['"So" he said', "No", '"Why']),
    # A word in marks at the end of a later line closes it as well.
    ('1\tShe left\tlow\n2\t"Well\tlow\n3\tNo\tlow\n4\tIt is "it"\tlow\n', ['"Well', "No", 'It is "it"']),
]


@pytest.mark.parametrize(("rows", "texts"), UNQUOTED)
def test_between_tabs_a_quotation_mark_that_opens_no_cell_is_text(tmp_path, rows, texts):
    data = f"id\tsubmission\tseverity\n{rows}"
    path = tmp_path / "x.tsv"
    path.write_text(data)
    (streamed,) = read_in_batches(path, filename="x.tsv")
    for file in (read(data, "x.tsv"), streamed):
        assert [item.submission for item in file.items] == ["She left", *texts]


@pytest.mark.parametrize(
    "data",
    [
        'id\tsubmission\tnote\n1\t"One\nand ""two"""\tok\n2\tThree\tok\n',
        'id\tnote\tsubmission\n1\tok\t"One\nand ""two"""\n2\tok\tThree\n',
    ],
)
def test_between_tabs_a_cell_of_several_lines_stays_one(data):
    assert [item.submission for item in read(data, "x.tsv").items] == ['One\nand "two"', "Three"]


def test_a_quotation_mark_nothing_closes_is_refused_by_its_line_where_it_cannot_be_text():
    assert faults('id\tsubmission\n1\ta\n2\tx\t"b\nc\n', "x.tsv")[0][0] == "line 3"
    assert faults('id,submission\n1,a\n2,"b\n3,c\n', "x.csv")[0][0] == "line 3"


def test_a_long_file_below_a_quotation_mark_is_read_row_by_row():
    rows = "".join(f"{number}\tText {number}\n" for number in range(3_000))
    read_items = read(f'id\tsubmission\nfirst\t"Open\n{rows}', "x.tsv").items
    assert (len(read_items), read_items[0].submission) == (3_001, '"Open')
