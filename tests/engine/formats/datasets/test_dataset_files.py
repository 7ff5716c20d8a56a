"""Dataset files: every format, every alias, every refusal with its place."""

import json
import pickle

import pytest

from rubricweb.engine.errors import InvalidFile
from rubricweb.engine.formats.datasets.files import (
    ALIASES,
    preview,
    read_dataset,
    read_import,
    read_in_batches,
)
from rubricweb.engine.rubric import Rubric

RUBRIC = [{"name": "a", "weight": 2, "requirement": "x"}, {"name": "b", "weight": -1, "requirement": "y"}]


def read(data, filename="items.json", **options):
    raw = (
        data
        if isinstance(data, bytes)
        else data.encode()
        if isinstance(data, str)
        else json.dumps(data).encode()
    )
    return read_dataset(raw, filename=filename, **options)


def faults(data, filename="items.json", **options):
    with pytest.raises(InvalidFile) as refused:
        read(data, filename, **options)
    return [(fault.place, fault.found) for fault in refused.value.faults]


def places(data, filename="items.json", **options):
    return [place for place, _ in faults(data, filename, **options)]


def jsonl(*items):
    return "\n".join(json.dumps(item) for item in items) + "\n"


def test_an_autorubric_dataset_is_read_whole():
    dataset = read(
        {
            "name": "capitals",
            "prompt": "Name the capital.",
            "rubric": RUBRIC,
            "reference_submission": "Paris.",
            "items": [
                {"submission": "Paris", "description": "good", "ground_truth": ["MET", "unmet"]},
                {
                    "submission": "Lyon",
                    "description": "own rubric",
                    "prompt": "Really?",
                    "reference_submission": "No.",
                    "rubric": {"criteria": [{"requirement": "z"}]},
                    "ground_truth": [None],
                    "ground_truth_reasons": [None],
                },
            ],
        }
    )
    first, second = dataset.items
    assert (dataset.name, dataset.prompt, dataset.reference) == ("capitals", "Name the capital.", "Paris.")
    assert dataset.rubric == Rubric.from_dict(RUBRIC)
    assert (first.ground_truth, first.rubric, first.prompt) == (("MET", "UNMET"), None, None)
    assert (second.ground_truth, second.ground_truth_reasons) == ((None,), (None,))
    assert (dataset.rubric_for(first), dataset.rubric_for(second)) == (dataset.rubric, second.rubric)
    assert (dataset.prompt_for(first), dataset.prompt_for(second)) == ("Name the capital.", "Really?")
    assert (dataset.reference_for(first), dataset.reference_for(second)) == ("Paris.", "No.")


@pytest.mark.parametrize(
    ("data", "filename"),
    [
        ('[{"id": 1, "submission": "s", "topic": "t"}]', "items.json"),
        ('[{"id": "1", "submission": "s", "topic": "t"}]', "upload"),
        ('{"id": "1", "submission": "s", "topic": "t"}\n', "items.jsonl"),
        ('{"id": "1", "submission": "s", "topic": "t"}\n\n  \n', "items.ndjson"),
        ("id,submission,topic\r\n1,s,t\r\n", "items.csv"),
        ("id;submission;topic\n1;s;t\n", "items.csv"),
        ("id\tsubmission\ttopic\n1\ts\tt\n", "items.tsv"),
        ("- id: 1\n  submission: s\n  topic: t\n", "items.yaml"),
        ("items:\n- {id: 1, submission: s, topic: t}\n", "items.yml"),
    ],
)
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_every_format_gives_the_same_item(data, filename, mark):
    (item,) = read(mark + data.encode(), filename).items
    assert (item.id, item.submission, item.metadata) == ("1", "s", {"topic": "t"})


@pytest.mark.parametrize(
    ("name", "alias"),
    [(name, alias) for name in ("id", "submission", "prompt", "reference") for alias in ALIASES[name]],
)
@pytest.mark.parametrize("spelled", [str, str.upper, lambda alias: f" {alias.replace('_', ' ').title()} "])
def test_fields_are_found_under_their_usual_names(name, alias, spelled):
    item = {"submission": "s", spelled(alias): "found"} if name != "submission" else {spelled(alias): "found"}
    assert getattr(read([item]).items[0], name) == "found"


def test_a_second_alias_stays_behind_as_metadata():
    (item,) = read([{"output": "model's", "answer": "gold", "question": "q"}]).items
    assert (item.submission, item.prompt, item.metadata) == ("model's", "q", {"answer": "gold"})


def test_columns_said_explicitly_win_and_an_empty_one_is_left_alone():
    (item,) = read(
        "key,text,answer,prompt\n7,s,gold,p\n",
        "items.csv",
        columns={"id": "key", "submission": "text", "reference": "answer", "prompt": ""},
    ).items
    assert (item.id, item.submission, item.reference, item.prompt) == ("7", "s", "gold", None)
    assert item.metadata == {"prompt": "p"}


def test_columns_that_are_not_there_are_refused():
    assert faults("a,b\n1,2\n", "x.csv", columns={"submission": "b", "promt": "a", "reference": "c"}) == [
        ("columns.promt", "an unknown field"),
        ("columns.reference", "the column 'c'"),
    ]


def test_thinking_comes_in_its_own_field_or_inside_the_submission():
    first, second = read(
        [{"submission": "o", "thinking": "t"}, {"submission": {"thinking": "t", "output": "o2"}}]
    ).items
    assert (first.submission, first.thinking) == ("o", "t")
    assert (second.submission, second.thinking) == ("o2", "t")


def test_chat_prompts_stay_conversations_in_json_and_csv():
    chat = [{"role": "user", "content": "hi"}]
    assert read([{"submission": "s", "prompt": chat}]).items[0].prompt == chat
    cell = '"[{""role"": ""user"", ""content"": ""hi""}]"'
    assert read(f"prompt,submission\n{cell},s\n", "x.csv").items[0].prompt == chat
    assert read("prompt,submission\n[not json],s\n", "x.csv").items[0].prompt == "[not json]"


def test_csv_cells_hold_rubrics_metadata_and_labels():
    rubric = json.dumps(RUBRIC).replace('"', '""')
    for labels in ("MET|unmet", "MET; UNMET", '"MET,UNMET"', '"[""MET"", ""UNMET""]"'):
        data = f'submission,rubric,metadata,ground_truth\ns,"{rubric}","{{""k"": 1}}",{labels}\n'
        (item,) = read(data, "x.csv").items
        assert item.rubric == Rubric.from_dict(RUBRIC)
        assert (item.metadata, item.ground_truth) == ({"k": 1}, ("MET", "UNMET"))


def test_csv_cells_may_be_huge_and_span_lines():
    huge = "x\n" * 200_000
    (item,) = read(f'submission,n\n"{huge}",1\n', "x.csv").items
    assert item.submission == huge


def test_missing_ids_follow_from_the_content_and_nothing_else():
    same = {"submission": "s", "prompt": "p"}
    ids = [item.id for item in read([same, {**same, "topic": "t"}, {**same, "prompt": "q"}]).items]
    assert ids[1] == f"{ids[0]}-2"
    assert ids[2].split("-")[:2] != ids[0].split("-")
    assert [item.id for item in read(jsonl({"submission": "other"}, same), "x.jsonl").items][1] == ids[0]


def test_metadata_joins_extra_keys_and_the_metadata_object():
    (item,) = read(
        [{"submission": "s", "author": "a", "metadata": {"topic": ["x", {"y": None}]}, "gap": None}]
    ).items
    assert item.metadata == {"author": "a", "topic": ["x", {"y": None}]}


def test_labels_without_any_rubric_are_read_for_the_rubric_to_come():
    assert read([{"submission": "s", "ground_truth": ["MET", None]}]).items[0].ground_truth == ("MET", None)


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        ([{"id": "a"}], [("submission", "the keys id")]),
        ([{"submission": " "}], [("items[0].submission", "an empty text")]),
        ([{"output": 5}], [("items[0].output", "5")]),
        ([{"submission": ["a"]}], [("items[0].submission", "a list")]),
        ([{"submission": {"text": "a"}}], [("items[0].submission", "an object")]),
        ([{"submission": "a\0"}], [("items[0].submission", "a NUL character")]),
        (["text"], [("items[0]", 'the text "text"')]),
        ([], [("items", "no items")]),
        ([{"submission": "s", "id": True}], [("items[0].id", "true")]),
        ([{"submission": "s", "id": ""}], [("items[0].id", "an empty text")]),
        ([{"submission": "s", "id": "x" * 191}], [("items[0].id", "191 characters")]),
        (
            [{"submission": "s", "id": 1}, {"submission": "t", "id": "1 "}],
            [("items[1].id", 'the text "1" again (as items[0])')],
        ),
        ([{"submission": "s", "prompt": 5}], [("items[0].prompt", "5")]),
        ([{"submission": "s", "prompt": []}], [("items[0].prompt", "an empty list")]),
        ([{"submission": "s", "prompt": ["hi"]}], [("items[0].prompt[0]", 'the text "hi"')]),
        (
            [{"submission": "s", "prompt": [{"content": "x"}]}],
            [("items[0].prompt[0].role", "nothing (null)")],
        ),
        ([{"submission": "s", "metadata": []}], [("items[0].metadata", "an empty list")]),
        (
            [{"submission": "s", "k": 1, "metadata": {"k": 2}}],
            [("items[0].metadata", "'k' both here and in the item itself")],
        ),
        ([{"submission": "s", "score": float("nan")}], [("items[0].metadata.score", "NaN")]),
        ([{"submission": "s", "k": {"l": ["a\0"]}}], [("items[0].metadata.k.l[0]", "a NUL character")]),
        ([{"submission": "s", "ground_truth": "MET"}], [("items[0].ground_truth", 'the text "MET"')]),
        (
            [{"submission": "s", "ground_truth": ["MET", "yes", 1]}],
            [("items[0].ground_truth[1]", 'the text "yes"'), ("items[0].ground_truth[2]", "1")],
        ),
        (
            [{"submission": "s", "ground_truth": ["MET"], "ground_truth_reasons": [None, "x"]}],
            [("items[0].ground_truth_reasons", "2 reasons")],
        ),
        (
            [{"submission": "s", "ground_truth_reasons": ["x"]}],
            [("items[0].ground_truth_reasons", "reasons without ground_truth")],
        ),
        (
            [
                {
                    "submission": "s",
                    "rubric": [{"requirement": "x"}, {"requirement": "y", "weight": float("nan")}],
                }
            ],
            [("items[0].rubric[1].weight", "NaN")],
        ),
        (
            [{"submission": "s", "rubric": {"criteria": [{"requirment": "x"}]}}],
            [
                ("items[0].rubric.criteria[0].requirement", "nothing"),
                ("items[0].rubric.criteria[0].requirment", "an unknown key"),
            ],
        ),
    ],
)
def test_what_is_wrong_with_an_item_is_refused_with_its_place(items, expected):
    assert faults(items) == expected
    dataset_object = {"name": "n", "items": items}
    assert faults(dataset_object) == expected


def test_ground_truth_is_checked_against_the_rubric_in_force():
    items = [
        {"submission": "s", "ground_truth": ["MET"]},
        {"submission": "t", "ground_truth": ["MET"], "rubric": [{"requirement": "x"}]},
        {"submission": "u", "ground_truth": ["MET", "UNMET"], "rubric": [{"requirement": "x"}]},
    ]
    assert faults({"rubric": RUBRIC, "items": items}) == [
        ("items[0].ground_truth", "1 labels"),
        ("items[2].ground_truth", "2 labels"),
    ]


def test_labels_for_a_faulty_rubric_add_no_noise():
    items = [{"submission": "s", "ground_truth": ["Good", "MET", "MET"]}]
    rubric = [{"requirement": "x", "options": [], "scale_type": "ordinal"}]
    assert faults({"rubric": rubric, "items": items}) == [("rubric[0].options", "no options")]


def test_the_dataset_object_itself_is_checked():
    assert faults({"items": {}, "name": 5, "promt": "x", "rubric": []}) == [
        ("promt", "an unknown key"),
        ("rubric", "an empty list"),
        ("name", "5"),
        ("items", "an object"),
    ]
    assert faults({"items": [{"submission": "s"}], "name": "x" * 201}) == [("name", "201 characters")]
    assert faults({"rows": []}) == [("", "an object")]


def test_jsonl_faults_are_placed_by_line_and_read_on_past():
    data = (
        '{"submission": "s", "id": 1}\n\n{"submission": \n[]\n'
        '{"submission": "t", "rubric": [{"weight": "1"}]}\n{"id": 1}'
    )
    assert places(data, "x.jsonl") == [
        "line 3, column 16",
        "line 4",
        "line 5: rubric[0].weight",
        "line 5: rubric[0].requirement",
        "line 6: submission",
        "line 6: id",
    ]


def test_only_newlines_end_a_jsonl_line():
    (item,) = read('{"submission": "a\u2028b\x85c"}\n', "x.jsonl").items
    assert item.submission == "a\u2028b\x85c"


def test_csv_faults_are_placed_where_the_row_begins():
    data = 'id,submission\n1,"two\nlines"\n1,s\n3,s,extra\n\n4,\n5,"open\n'
    assert faults(data, "x.csv") == [
        ("line 4: id", 'the text "1" again (as line 2)'),
        ("line 5", "3 cells"),
        ("line 7: submission", "nothing"),
        ("line 8", "a broken row (unexpected end of data)"),
    ]


@pytest.mark.parametrize(
    ("header", "found"),
    [
        ("id,submission,ID", "the column 'ID' twice"),
        ("id,,submission", "no name for column 2"),
        ("id,submission,", "no name for column 3"),
    ],
)
def test_csv_headers_without_names_of_their_own_are_refused(header, found):
    assert faults(f"\n{header}\n1,2,3\n", "x.csv") == [("line 2", found)]


@pytest.mark.parametrize(
    "data",
    [
        "id\tanswer\tnotes, if any; all\nq1\tYes, sir\tok\n",
        'id;answer;"notes, if any, or none"\nq1;Yes, sir;ok\n',
        'id,answer,"notes; all;\tof ""them"";"\nq1,"Yes, sir",ok\n',
    ],
)
def test_the_delimiter_of_csv_is_what_parts_the_names_of_its_header(data):
    (item,) = read(data, "x.csv").items
    assert (item.id, item.submission, list(item.metadata.values())) == ("q1", "Yes, sir", ["ok"])


@pytest.mark.parametrize(
    ("cell", "place"),
    [
        ("rubric", "line 2: rubric"),
        ("metadata", "line 2: metadata"),
        ("ground_truth_reasons", "line 2: ground_truth_reasons"),
    ],
)
def test_csv_cells_that_should_be_json_say_so(cell, place):
    with pytest.raises(InvalidFile) as refused:
        read(f"submission,{cell}\ns,not json\n", "x.csv")
    assert (refused.value.faults[0].place, refused.value.faults[0].allowed) == (place, "JSON in this cell")


@pytest.mark.parametrize(
    ("data", "filename", "place", "found"),
    [
        (b'[{"submission": "s"}\n,{"submission": "\xff"}]', "x.json", "line 2", "0xff"),
        ('{"submission": "é"}'.encode("utf-16"), "x.jsonl", "line 1", "UTF-16 text"),
        (b'{"submission": "s"}\n\0', "x.jsonl", "line 2", "a NUL character"),
        (b"[", "x.json", "line 1, column 2", "the end of the text"),
        (b"[" * 100_000, "x.json", "", "nested too deeply"),
        (b"a: &a [*a]", "x.yaml", "line 1, column 8", "inside its own anchor"),
        (b"5", "x.json", "", "5"),
        (b"text", "x.txt", "", "a file named 'x.txt'"),
        (b"", "x.csv", "items", "no items"),
        (b"id,submission\n", "x.csv", "items", "no items"),
        (b'[{"submission": "s", "submission": "t"}]', "x.json", "", 'the key "submission" twice'),
    ],
)
def test_files_that_are_no_datasets_are_refused(data, filename, place, found):
    ((got_place, got_found),) = faults(data, filename)
    assert got_place == place
    assert found in got_found


def test_files_beyond_the_cap_are_refused_unread():
    with pytest.raises(InvalidFile) as refused:
        preview(b"x" * 11, "x.json", max_bytes=10)
    assert [(fault.place, fault.found) for fault in refused.value.faults] == [("", "11 bytes")]


def test_two_hundred_faults_are_told_and_the_rest_counted():
    with pytest.raises(InvalidFile) as refused:
        read([{"submission": "x"}, *[{}] * 1000])
    assert (len(refused.value.faults), refused.value.more) == (200, 800)


@pytest.mark.parametrize(
    ("data", "filename"),
    [
        ("Question,Answer,topic\nq,a,t\nq2,a2,t2\n", "x.csv"),
        (jsonl({"Question": "q", "Answer": "a", "topic": "t"}, {"Question": "q2"}), "x.jsonl"),
        (json.dumps([{"Question": "q", "Answer": "a", "topic": "t"}, {}]), "x.json"),
    ],
)
def test_a_preview_shows_rows_and_guesses_columns(data, filename):
    shown = preview(data.encode(), filename, rows=1)
    assert shown.columns == ("Question", "Answer", "topic")
    assert shown.rows == ({"Question": "q", "Answer": "a", "topic": "t"},)
    assert shown.mapping == {"prompt": "Question", "submission": "Answer"}


def test_a_preview_says_which_of_the_first_rows_cannot_be_read():
    shown = preview(b"id,submission\na,x\nb,y,z\nc,w\n", "x.csv")
    assert [row["id"] for row in shown.rows] == ["a", "c"]
    assert [fault.place for fault in shown.faults] == ["line 3"]
    assert preview(b"id,submission\na,x\n", "x.csv").faults == ()


def test_a_preview_does_not_read_on_to_faults_below():
    assert len(preview(b'{"a": 1}\n{"a": 2}\n{broken', "x.jsonl", rows=2).rows) == 2
    with pytest.raises(InvalidFile):
        preview(b"{broken", "x.jsonl")


@pytest.mark.parametrize(
    ("data", "filename", "read_as"),
    [
        (b'{"id": "a"}', "a.jsonl", "JSON Lines of items"),
        (b'{"id": "a"}\n{"id": "b"}', "a.txt", "JSON Lines of items"),
        (b"id\na\n", "a.tsv", "a table of items"),
        (b'[{"id": "a"}', "a", "JSON of items"),
        (b"name: [", "a.yaml", "YAML of items"),
        (b"\xff\xfe", "a.csv", "a table of items"),
        (b"PAR1 and no more PAR1", "a.csv", "Parquet of items"),
        (b"PK\x03\x04", "a.csv", ""),
        (b"plain", "a.txt", ""),
    ],
)
def test_a_refusal_names_the_format_the_file_was_taken_for(tmp_path, data, filename, read_as):
    for read in (read_dataset, read_import):
        with pytest.raises(InvalidFile) as refusal:
            read(data, filename=filename)
        assert refusal.value.read_as == read_as
        assert pickle.loads(pickle.dumps(refusal.value)).read_as == read_as
    path = tmp_path / "file"
    path.write_bytes(data)
    [refused] = read_in_batches(path, filename=filename)
    assert refused.read_as == read_as


def test_a_refusal_of_a_file_of_another_program_names_that_one():
    rows = [{"input": [{"role": "user", "content": "Hi"}], "ideal": 3}] * 2
    data = "\n".join(map(json.dumps, rows)).encode()
    with pytest.raises(InvalidFile) as refusal:
        read_dataset(data, filename="evals.jsonl")
    assert refusal.value.read_as not in ("", "JSON Lines of items")
