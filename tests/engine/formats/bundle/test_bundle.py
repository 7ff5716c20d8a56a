"""The bundle: read back as it was written, and nothing in it is trusted."""

import hashlib
import io
import json
import stat
import zipfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rubricweb.engine.errors import InvalidFile
from rubricweb.engine.formats.bundle.archives import ArchiveLimits, read_zip
from rubricweb.engine.formats.bundle.bundle import (
    CONTENTS,
    Bundle,
    BundledRows,
    read_bundle,
    verify_bundle,
    write_bundle,
)
from rubricweb.engine.formats.bundle.records import BundledAdjudication, BundledJudgement
from rubricweb.engine.formats.dataset_values import DatasetFile, ItemRecord
from rubricweb.engine.verdict import Verdict
from tests.engine.formats.strategies import (
    ADJUDICATIONS,
    JUDGEMENTS,
    NOTES,
    OTHER,
    PLAIN,
    RUBRIC,
    dataset_files,
)

DATASET = DatasetFile("capitals", "Capital?", RUBRIC, None, (ItemRecord("a", "Paris."),))
JUDGED = BundledJudgement("a", "binary", "ann", "human", Verdict.MET, reason="It is.")


def written(**parts):
    return b"".join(write_bundle(DATASET, **({"said": BundledRows([JUDGED])} | parts)))


def zipped(files, **entry):
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as target:
        for name, content in files.items():
            info = zipfile.ZipInfo(name)
            info.compress_type = zipfile.ZIP_DEFLATED
            for field, value in entry.items():
                setattr(info, field, value)
            target.writestr(info, content)
    return archive.getvalue()


def unzipped(data):
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name) for name in archive.namelist()}


def places(data):
    return [fault.place for fault in verify_bundle(data)]


@given(
    dataset_files(),
    st.lists(JUDGEMENTS, max_size=3),
    st.lists(ADJUDICATIONS, max_size=2),
    st.lists(NOTES, max_size=2),
    PLAIN,
    st.dictionaries(st.sampled_from(["rubricweb", "python"]), st.just("1.0")),
)
@settings(max_examples=40)
def test_a_bundle_is_read_back_as_it_was_written(
    dataset, judgements, adjudications, notes, agreement, versions
):
    said = BundledRows(judgements, adjudications, notes)
    data = b"".join(write_bundle(dataset, rubrics=[OTHER], said=said, agreement=agreement, versions=versions))
    assert read_bundle(data) == Bundle(
        dataset,
        (OTHER,),
        tuple(judgements),
        tuple(adjudications),
        agreement,
        versions,
        notes=tuple(notes),
    )
    assert verify_bundle(data) == ()


def test_the_same_content_is_the_same_archive():
    assert written() == written()
    with zipfile.ZipFile(io.BytesIO(written())) as archive:
        assert {entry.date_time for entry in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def test_anyone_can_check_the_sums_of_the_manifest():
    files = unzipped(written(versions={"rubricweb": "1"}))
    manifest = json.loads(files.pop("manifest.json"))
    assert (manifest["format"], manifest["version"]) == ("rubricweb-bundle", 5)
    assert manifest["versions"] == {"rubricweb": "1"}
    assert manifest["files"] == {
        name: {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
        for name, content in files.items()
    }
    assert tuple(files) == CONTENTS


def test_a_bundle_is_written_while_its_rows_are_read():
    taken = []

    def items():
        for number in range(2_000):
            taken.append(number)
            yield ItemRecord(str(number), f"{hashlib.sha256(str(number).encode()).hexdigest()}" * 3)

    pieces = write_bundle(DATASET, items=items())
    size = 0
    while size < 20_000:
        size += len(next(pieces))
    assert 0 < len(taken) < 2_000
    rest = b"".join(pieces)
    assert len(taken) == 2_000
    assert rest


@pytest.mark.parametrize("name", CONTENTS)
def test_a_changed_or_missing_file_is_named(name):
    files = unzipped(written())
    assert places(zipped(files | {name: files[name] + b" "})) == [name]
    assert places(zipped({other: content for other, content in files.items() if other != name})) == [name]


def test_what_does_not_belong_is_refused():
    files = unzipped(written())
    assert places(zipped(files | {"run.py": b"print()"})) == ["run.py"]
    assert places(zipped({name: files[name] for name in CONTENTS})) == [
        "manifest.json",
        "manifest.json.format",
    ]
    assert places(b"no archive") == [""]
    assert places(written()[:-30]) == [""]


def resummed(**changed):
    """A bundle whose manifest fits its changed files: what is inside must then be refused for itself."""
    files = unzipped(written()) | changed
    manifest = json.loads(files["manifest.json"])
    for name in CONTENTS:
        manifest["files"][name]["sha256"] = hashlib.sha256(files[name]).hexdigest()
    files["manifest.json"] = json.dumps(manifest).encode()
    return zipped(files)


@pytest.mark.parametrize(
    ("name", "content", "place"),
    [
        ("judgements.jsonl", b'{"item_id": "a", "criterion": "c"}\n', "judgements.jsonl line 1: rater"),
        (
            "judgements.jsonl",
            b'{"item_id": "a", "criterion": "c", "rater": "r", "verdict": "yes"}',
            "judgements.jsonl line 1: verdict",
        ),
        (
            "judgements.jsonl",
            b'\n{"item_id": "a", "criterion": "c", "rater": "r", "verdict": "MET", "value": 1}',
            "judgements.jsonl line 2",
        ),
        (
            "adjudications.jsonl",
            b'{"item_id": "a", "criterion": "c", "value": NaN}',
            "adjudications.jsonl line 1: value",
        ),
        (
            "adjudications.jsonl",
            b'{"item_id": "a", "criterion": "c", "oops": 1}',
            "adjudications.jsonl line 1: oops",
        ),
        (
            "judgements.jsonl",
            b'{"item_id": "a", "criterion": "c", "rater": "r", "evidence": [{"text": "Paris"}]}',
            "judgements.jsonl line 1: evidence[0]",
        ),
        ("notes.jsonl", b'{"item_id": "a", "note": "Odd."}', "notes.jsonl line 1: rater"),
        ("rubrics.json", b'[{"criteria": [{"requirement": ""}]}]', "rubrics.json[0].criteria[0].requirement"),
        ("rubrics.json", b"5", "rubrics.json"),
        ("dataset.json", b"[]", "dataset.json"),
        ("dataset.json", b'{"promt": 1}', "dataset.json promt"),
        ("items.jsonl", b'{"id": "a"}\n', "items.jsonl line 1: submission"),
        ("items.jsonl", b"\xff", "items.jsonl line 1"),
        ("agreement.json", b"{", "agreement.json line 1, column 2"),
        ("agreement.json", b"[NaN]", "agreement.json[0]"),
    ],
)
def test_faulty_content_is_refused_with_file_and_line(name, content, place):
    assert places(resummed(**{name: content})) == [place]


@pytest.mark.parametrize(
    "name", ["/etc/passwd", "../items.jsonl", "a/../../b", "..\\b", "C:\\b", "c:b", "\\b", "folder/"]
)
def test_names_that_lead_elsewhere_are_refused(name):
    with pytest.raises(InvalidFile) as refused:
        read_zip(zipped({name: b""}))
    assert len(refused.value.faults) == 1


def test_links_repeated_and_encrypted_entries_are_refused():
    link = zipped({"items.jsonl": b"/etc/passwd"}, external_attr=(stat.S_IFLNK | 0o777) << 16)
    with pytest.raises(InvalidFile, match="link"):
        read_zip(link)
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as target:
        target.writestr("a", b"1")
        with pytest.warns(UserWarning, match="Duplicate"):
            target.writestr("a", b"2")
    with pytest.raises(InvalidFile, match="twice"):
        read_zip(archive.getvalue())
    encrypted = bytearray(zipped({"a": b"x"}))
    central = encrypted.index(b"PK\x01\x02")
    encrypted[central + 8] |= 1
    with pytest.raises(InvalidFile, match="encrypted"):
        read_zip(bytes(encrypted))


def test_bombs_are_refused_before_they_are_unpacked():
    bomb = zipped({"items.jsonl": b"0" * 5_000_000})
    assert len(bomb) < 10_000
    with pytest.raises(InvalidFile, match="300 times"):
        read_zip(bomb)
    with pytest.raises(InvalidFile, match="3 entries"):
        read_zip(zipped({"a": b"", "b": b"", "c": b""}), ArchiveLimits(max_entries=2))
    with pytest.raises(InvalidFile, match="11 bytes"):
        read_zip(zipped({"a": b"x" * 11}), ArchiveLimits(max_entry_bytes=10))
    with pytest.raises(InvalidFile, match="unpacked"):
        read_zip(zipped({"a": b"x" * 8, "b": b"x" * 8}), ArchiveLimits(max_total_bytes=10))


def test_an_archive_that_lies_about_its_sizes_is_still_capped():
    honest = zipped({"a": b"x" * 4_000})
    lying = bytearray(honest)
    central = lying.index(b"PK\x01\x02")
    lying[central + 24 : central + 28] = (5).to_bytes(4, "little")
    with pytest.raises(InvalidFile):
        read_zip(bytes(lying))


def test_an_adjudication_keeps_its_answer():
    settled = BundledAdjudication("a", "choice", "ed", option="Very | so", reason="Agreed.")
    assert read_bundle(written(said=BundledRows([], [settled]))).adjudications == (settled,)


@pytest.mark.parametrize(("version", "wanting"), [(2, []), (3, ["notes.jsonl"]), (4, ["notes.jsonl"])])
def test_archives_of_before_notes_are_read_without_them(version, wanting):
    files = unzipped(written())
    manifest = json.loads(files["manifest.json"]) | {"version": version}
    del files["notes.jsonl"], manifest["files"]["notes.jsonl"]
    archive = zipped(files | {"manifest.json": json.dumps(manifest).encode()})
    assert places(archive) == wanting
    if not wanting:
        assert (read_bundle(archive).judgements, read_bundle(archive).notes) == ((JUDGED,), ())
