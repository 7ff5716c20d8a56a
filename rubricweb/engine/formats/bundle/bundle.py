"""The bundle: a dataset with everything that was said about it, lossless, verifiable without us.

A zip archive of ``dataset.json`` (what the items share), ``items.jsonl``, ``rubrics.json``,
``judgements.jsonl``, ``adjudications.jsonl``, ``notes.jsonl``, ``agreement.json`` and last ``manifest.json``,
which holds the SHA-256 and size of every other file. The same content is the same archive, byte for byte.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from rubricweb.engine.errors import Fault, FaultList, InvalidFile, InvalidText, join_place, nearest, shown
from rubricweb.engine.formats.bundle.archives import LIMITS, ArchiveLimits, read_zip, zip_stream
from rubricweb.engine.formats.bundle.records import (
    BundledAdjudication,
    BundledJudgement,
    BundledNote,
    read_rows,
)
from rubricweb.engine.formats.dataset_values import DatasetFile, ItemRecord
from rubricweb.engine.formats.datasets.item_reader import ItemReader
from rubricweb.engine.formats.datasets.sources import read_header
from rubricweb.engine.formats.datasets.writers import header_fields, item_fields
from rubricweb.engine.formats.field_values import storable
from rubricweb.engine.formats.records import jsonl_records
from rubricweb.engine.parsers.json_text import parse_json
from rubricweb.engine.parsers.plain_text import decode
from rubricweb.engine.rubric import Rubric, check_rubric

FORMAT = "rubricweb-bundle"
VERSION = 5
_WITHOUT_NOTES = (1, 2)
_READ = (*_WITHOUT_NOTES, 3, 4, VERSION)
"""Version 1 did not say by what labels count, 1 and 2 held no notes, none before 4 the causes of decisions,
none before 5 the versions of judges; they are read as before."""

NOTES = "notes.jsonl"
CONTENTS = (
    "dataset.json",
    "items.jsonl",
    "rubrics.json",
    "judgements.jsonl",
    "adjudications.jsonl",
    NOTES,
    "agreement.json",
)
"""The files of a bundle beside its manifest, in the order they are written."""

MANIFEST = "manifest.json"


@dataclass(frozen=True, slots=True)
class BundledRows:
    """What was said, to be written: rows may be made while they are taken, each kind once and in order."""

    judgements: Iterable[BundledJudgement] = ()
    adjudications: Iterable[BundledAdjudication] = ()
    notes: Iterable[BundledNote] = ()


NOTHING_SAID = BundledRows()


@dataclass(frozen=True, slots=True)
class Bundle:
    """What a bundle holds.

    ``rubrics`` are those beside the dataset's own, such as earlier versions; ``judgements`` every rater's
    answers, ``notes`` what people wrote on whole items. ``agreement`` is the table handed in, as plain data;
    ``versions`` says what wrote the bundle, by name, and the numbers of its rubrics, by their place
    (``rubrics.json[0]``). The decisions by which labels of earlier versions count are the dataset's.
    ``withheld`` are the ids of items whose labels and verdicts were left out, because whoever got the bundle
    was still to review them blind.
    """

    dataset: DatasetFile
    rubrics: tuple[Rubric, ...] = ()
    judgements: tuple[BundledJudgement, ...] = ()
    adjudications: tuple[BundledAdjudication, ...] = ()
    agreement: Any = None
    versions: Mapping[str, str] = field(default_factory=dict)
    withheld: tuple[str, ...] = ()
    notes: tuple[BundledNote, ...] = ()


def write_bundle(
    dataset: DatasetFile,
    *,
    items: Iterable[ItemRecord] | None = None,
    rubrics: Iterable[Rubric] = (),
    said: BundledRows = NOTHING_SAID,
    agreement: Any = None,
    versions: Mapping[str, str] | None = None,
    withheld: Sequence[str] = (),
) -> Iterator[bytes]:
    """The bundle in pieces of an archive, made while they are taken; every argument is read once, in order.

    ``items`` stand in for those of ``dataset``, for a dataset too large to hold. Raises ValueError for an
    agreement table that JSON cannot hold.
    """
    sums: dict[str, dict[str, Any]] = {}
    contents: tuple[Iterable[bytes], ...] = (
        _whole(header_fields(dataset)),
        _lines(item_fields(item) for item in (dataset.items if items is None else items)),
        _whole_list(rubric.to_nested_dict() for rubric in rubrics),
        *(_lines(map(_said, rows)) for rows in (said.judgements, said.adjudications, said.notes)),
        _whole(agreement),
    )
    files = [(name, _summed(name, pieces, sums)) for name, pieces in zip(CONTENTS, contents, strict=True)]
    return zip_stream([*files, (MANIFEST, _manifest(sums, versions or {}, withheld))])


def read_bundle(data: bytes, *, limits: ArchiveLimits = LIMITS) -> Bundle:
    """Read a bundle back, exactly as it was written.

    Raises InvalidFile with every fault and its place (``judgements.jsonl line 3: verdict``): an unsafe
    archive, files that are missing, unknown or differ from the manifest, faulty content.
    """
    files = read_zip(data, limits)
    faults = FaultList()
    manifest = _checked_manifest(files, faults)
    faults.raise_as(InvalidFile)
    dataset = _dataset(files, faults)
    rubrics = []
    for i, entry in enumerate(_parsed_list(files, "rubrics.json", faults)):
        rubric = check_rubric(entry, faults, f"rubrics.json[{i}]")
        if rubric is not None:
            rubrics.append(rubric)
    judgements = read_rows(BundledJudgement, _text(files, "judgements.jsonl"), "judgements.jsonl", faults)
    adjudications = read_rows(
        BundledAdjudication, _text(files, "adjudications.jsonl"), "adjudications.jsonl", faults
    )
    notes = read_rows(BundledNote, _text(files, NOTES) if NOTES in files else "", NOTES, faults)
    agreement = storable(_parsed(files, "agreement.json", faults), "agreement.json", faults)
    faults.raise_as(InvalidFile)
    assert dataset is not None
    return Bundle(
        dataset,
        tuple(rubrics),
        judgements,
        adjudications,
        agreement,
        manifest["versions"],
        tuple(manifest["withheld"]),
        notes,
    )


def verify_bundle(data: bytes, *, limits: ArchiveLimits = LIMITS) -> tuple[Fault, ...]:
    """What is wrong with a bundle: nothing when it is whole and no file differs from the manifest."""
    try:
        read_bundle(data, limits=limits)
    except InvalidFile as refusal:
        return refusal.faults
    return ()


def _said(row: BundledJudgement | BundledAdjudication | BundledNote) -> dict[str, Any]:
    defaults = {one.name: one.default for one in fields(row)}
    said = {name: value for name, value in asdict(row).items() if value != defaults[name]}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in said.items()}


def _whole(value: Any) -> Iterator[bytes]:
    yield (_json(value) + "\n").encode()


def _lines(rows: Iterable[Any]) -> Iterator[bytes]:
    return ((_json(row) + "\n").encode() for row in rows)


def _whole_list(values: Iterable[Any]) -> Iterator[bytes]:
    yield b"["
    separator = "\n"
    for value in values:
        yield (separator + _json(value)).encode()
        separator = ",\n"
    yield b"\n]\n"


def _summed(name: str, pieces: Iterable[bytes], sums: dict[str, dict[str, Any]]) -> Iterator[bytes]:
    digest, size = hashlib.sha256(), 0
    for piece in pieces:
        digest.update(piece)
        size += len(piece)
        yield piece
    sums[name] = {"sha256": digest.hexdigest(), "bytes": size}


def _manifest(
    sums: Mapping[str, Any], versions: Mapping[str, str], withheld: Sequence[str]
) -> Iterator[bytes]:
    # A generator: the sums are complete once the files before it have been written.
    whole = {"format": FORMAT, "version": VERSION, "versions": dict(versions), "files": dict(sums)}
    if withheld:
        whole["withheld"] = list(withheld)
    yield (json.dumps(whole, ensure_ascii=False, indent=2, allow_nan=False) + "\n").encode()


def _checked_manifest(files: Mapping[str, bytes], faults: FaultList) -> dict[str, Any]:
    known = (*CONTENTS, MANIFEST)
    manifest = _parsed(files, MANIFEST, faults) if MANIFEST in files else {}
    has_notes = not isinstance(manifest, dict) or manifest.get("version") not in _WITHOUT_NOTES
    for name in known:
        if name not in files and (has_notes or name != NOTES):
            faults.add(name, "nothing", "this file in every bundle")
    for name in files:
        if name not in known:
            faults.add(name, "an unknown file", nearest(name, known))
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        faults.add(join_place(MANIFEST, "format"), "another format", FORMAT)
        return {"versions": {}, "withheld": []}
    if manifest.get("version") not in _READ:
        faults.add(
            join_place(MANIFEST, "version"), shown(manifest.get("version")), " or ".join(map(str, _READ))
        )
    sums = manifest.get("files")
    for name in CONTENTS:
        given = sums.get(name) if isinstance(sums, dict) else None
        given = given if isinstance(given, dict) else {}
        if name in files and given.get("sha256") != hashlib.sha256(files[name]).hexdigest():
            faults.add(name, "content that differs from the manifest", "the content as it was written")
    versions = manifest.get("versions")
    if not isinstance(versions, dict) or not all(isinstance(value, str) for value in versions.values()):
        faults.add(join_place(MANIFEST, "versions"), shown(versions), "an object of texts")
        versions = {}
    withheld = manifest.get("withheld", [])
    if not isinstance(withheld, list) or not all(isinstance(one, str) for one in withheld):
        faults.add(join_place(MANIFEST, "withheld"), shown(withheld), "a list of item ids")
        withheld = []
    return {"versions": versions, "withheld": withheld}


def _dataset(files: Mapping[str, bytes], faults: FaultList) -> DatasetFile | None:
    whole = _parsed(files, "dataset.json", faults)
    if not isinstance(whole, dict):
        faults.add("dataset.json", shown(whole), "an object")
        return None
    inside = FaultList()
    header = read_header(whole, inside)
    _take_over(inside, "dataset.json", faults)
    inside = FaultList()
    reader = ItemReader(header, {}, cells=False, row_by_row=True, faults=inside)
    records = jsonl_records(_text(files, "items.jsonl"), inside)
    items = tuple(item for record in records if (item := reader.read(record)) is not None)
    _take_over(inside, "items.jsonl", faults)
    shared = (header.name, header.prompt, header.rubric, header.reference)
    return DatasetFile(*shared, items, label_decisions=header.label_decisions)


def _parsed(files: Mapping[str, bytes], name: str, faults: FaultList) -> Any:
    try:
        return parse_json(_text(files, name))
    except InvalidText as error:
        inside = FaultList()
        inside.extend(error)
        _take_over(inside, name, faults)
        return None


def _parsed_list(files: Mapping[str, bytes], name: str, faults: FaultList) -> list[Any]:
    value = _parsed(files, name, faults)
    if value is None:
        return []
    if not isinstance(value, list):
        faults.add(name, shown(value), "a list")
        return []
    return value


def _text(files: Mapping[str, bytes], name: str) -> str:
    try:
        return decode(files[name])
    except InvalidText as error:
        raise InvalidFile([Fault(f"{name} {error.faults[0].place}", *_said_of(error))]) from None


def _said_of(error: InvalidText) -> tuple[str, str]:
    return error.faults[0].found, error.faults[0].allowed


def _take_over(inside: FaultList, name: str, faults: FaultList) -> None:
    for fault in inside:
        faults.add(f"{name} {fault.place}".strip(), fault.found, fault.allowed)
    faults.total += inside.total - len(list(inside))


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
