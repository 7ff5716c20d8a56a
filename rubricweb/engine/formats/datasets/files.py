"""Datasets read from files: our own JSON, JSONL, CSV, YAML and Parquet, and what other programs write."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from rubricweb.engine.errors import EnoughFaults, Fault, FaultList, InvalidFile, nearest
from rubricweb.engine.formats.dataset_values import (
    ALIASES,
    MACHINES_KEY,
    MAX_ID,
    ColumnsRead,
    DatasetFile,
    ItemRecord,
    Preview,
    Prompt,
    RefusedFile,
)
from rubricweb.engine.formats.datasets.cases import UNNAMED
from rubricweb.engine.formats.datasets.columns import preview_columns, suggested_columns
from rubricweb.engine.formats.datasets.item_reader import ItemReader
from rubricweb.engine.formats.datasets.own_ids import own_id_candidates, own_id_column
from rubricweb.engine.formats.datasets.sources import READ_AS, OpenedFile, open_source, taken_for
from rubricweb.engine.formats.records import MAX_FILE_BYTES
from rubricweb.engine.parsers.plain_text import composed
from rubricweb.engine.rubric import Rubric

__all__ = [
    "ALIASES",
    "MAX_ID",
    "DatasetFile",
    "ItemRecord",
    "Preview",
    "Prompt",
    "preview",
    "read_dataset",
    "read_import",
    "read_in_batches",
]


ENOUGH_FAULTS = 10_000
"""A file is not read further than to so many faults: they are counted up to there."""

BATCH_ITEMS = 500

ROWS_LOOKED_AT = 10_000
"""So many rows a preview looks at for a column of ids."""

FAULTS_SHOWN = 20
"""So many faults among the first rows a preview has."""


def read_dataset(
    data: bytes,
    *,
    filename: str,
    columns: Mapping[str, str] | None = None,
    rubric: Rubric | None = None,
    needs: Iterable[str] = (),
    item_needs: Iterable[str] = (),
    may_be_empty: bool = False,
    version: str = UNNAMED,
) -> DatasetFile:
    """Read a whole dataset file, in the format its name says, or its content when the name does not.

    What another program wrote is recognised by its shape and translated; ``recognised`` then names it.
    ``columns`` says field by field (the keys of ALIASES) which column to read it from, an empty text that
    it is not in the file; fields it leaves out are found by their usual names. ``rubric`` is the dataset's
    where the file brings none, and goes before what a translation made up; ``needs`` are keys a dataset
    object must have, ``item_needs`` fields every item must have beside its submission (``rubric``: its own
    or the dataset's). Items without an id get one derived from their content, the same on every import. A
    submission that comes again under another rubric of its own may repeat its id: such items are numbered
    ``id#2``, ``id#3``. ``may_be_empty`` reads a file of ours that holds no items, as an empty dataset is
    written, and a dataset object with ``rubric`` that does not mention any.

    ``version``, as ``read_system`` gives it, answered all items; one that names another is a fault. An item
    that names no version then answers the case of its case id, else the one called as it is; without an id
    the case of its words.

    Raises InvalidFile with all faults at once, each placed by line or ``items[i]``: what is no text, no
    items, no submission, repeated ids, rubrics with faults, ground truth of the wrong length or with unknown
    labels.
    """
    faults = FaultList(enough=ENOUGH_FAULTS)
    with _refusing(data, filename, faults):
        explicit = _checked_columns(columns, faults)
        source = open_source(data, filename, MAX_FILE_BYTES, faults, needs, may_be_empty=may_be_empty)
        source, reader = _reader(source, explicit, rubric, item_needs, faults, version)
        return _read(source, reader, faults, may_be_empty=may_be_empty)


def read_import(
    data: bytes,
    *,
    filename: str,
    columns: Mapping[str, str] | None = None,
    rubric: Rubric | None = None,
    version: str = UNNAMED,
    in_part: bool = True,
) -> DatasetFile:
    """``read_dataset`` of a file that somebody brings in.

    Where it has neither ids nor case ids, a column of the user's own ids is taken for them: see
    `own_id_column`. ``in_part`` reads what it can of another program's file, and says what is ``left_out``:
    single records and answers without a counterpart here. A line that is no JSON, a rubric with faults and a
    file without a single item left are refused all the same, and so is every fault of our own formats.
    """
    faults = FaultList(enough=ENOUGH_FAULTS)
    with _refusing(data, filename, faults):
        explicit = _checked_columns(columns, faults)
        source = open_source(data, filename, MAX_FILE_BYTES, faults)
        source, own_id = _with_own_id(source, explicit)
        explicit |= {"id": own_id} if own_id else {}
        source, reader = _reader(source, explicit, rubric, (), faults, version)
        return _read(source, reader, faults, leave_out=in_part, own_id=bool(own_id))


def read_in_batches(
    path: Path,
    *,
    filename: str,
    columns: Mapping[str, str] | None = None,
    rubric: Rubric | None = None,
    in_part: bool = False,
    version: str = UNNAMED,
    max_bytes: int = MAX_FILE_BYTES,
) -> Iterator[DatasetFile | RefusedFile]:
    """``read_import`` of a file that need not fit into memory.

    Every batch is a file of some of the items; the last one, which may have none, says what was left out. A
    file with faults ends with a RefusedFile of up to ENOUGH_FAULTS of them, whatever came before. CSV and
    JSONL are read as the batches are asked for.
    """
    faults = FaultList(enough=ENOUGH_FAULTS, keep=ENOUGH_FAULTS)
    try:
        explicit = _checked_columns(columns, faults)
        source = open_source(path, filename, max_bytes, faults)
        again = partial(open_source, path, filename, max_bytes, FaultList())
        source, own_id = _with_own_id(source, explicit, again)
        explicit |= {"id": own_id} if own_id else {}
        source, reader = _reader(source, explicit, rubric, (), faults, version)
        any_item = False
        items: list[ItemRecord] = []
        for record in source.records:
            if (item := reader.read(record)) is not None:
                items.append(item)
            if len(items) == BATCH_ITEMS:
                yield _file(source, items)
                items, any_item = [], True
        any_item = any_item or bool(items)
        reader.check_whole(empty=not any_item)
        partly = in_part and source.recognised and any_item
        if faults and (not partly or source.broken or source.header.rubric_is_faulty):
            more = faults.total - len(tuple(faults))
            yield RefusedFile(tuple(_named(faults, source)), more, _read_as(source))
            return
        kept = tuple(faults)
        more = faults.total - len(kept)
        read = reader.columns_read(own_id=bool(own_id)) if not source.recognised else ColumnsRead()
        yield dataclasses.replace(_file(source, items), left_out=kept, more_left_out=more, columns=read)
    except EnoughFaults:
        yield RefusedFile(tuple(faults), 0, taken_for(path, filename))
    except InvalidFile as error:
        read_as = taken_for(path, filename)
        yield RefusedFile(tuple(faults) or error.faults, 0 if faults else error.more, read_as)


@contextmanager
def _refusing(data: bytes | Path, filename: str, faults: FaultList) -> Iterator[None]:
    """What is refused inside names the format the file was taken for."""
    try:
        try:
            yield
        except EnoughFaults:
            faults.raise_as(InvalidFile)
            raise
    except InvalidFile as error:
        error.read_as = error.read_as or taken_for(data, filename)
        raise


def _read_as(source: OpenedFile) -> str:
    return source.recognised or READ_AS[source.format]


def _reader(
    source: OpenedFile,
    explicit: Mapping[str, str],
    rubric: Rubric | None,
    item_needs: Iterable[str],
    faults: FaultList,
    version: str,
) -> tuple[OpenedFile, ItemReader]:
    """The source with the rubric in force, and who reads its items."""
    header = source.header
    brings_none = header.rubric is None and not header.rubric_is_faulty
    if rubric is not None and (brings_none or source.recognised):
        header = dataclasses.replace(header, rubric=rubric, rubric_is_faulty=False)
    reader = ItemReader(
        header,
        explicit,
        cells=source.cells,
        row_by_row=bool(source.recognised),
        faults=faults,
        needs=item_needs,
        version=version,
    )
    return dataclasses.replace(source, header=header), reader


def _with_own_id(
    source: OpenedFile, explicit: Mapping[str, str], again: Callable[[], OpenedFile] | None = None
) -> tuple[OpenedFile, str]:
    """The source with all its records still to be read, and the column of the user's own ids in it, or "".

    All records are looked at: those of the file opened ``again``, else they are kept in memory.
    """
    first = list(itertools.islice(source.records, 1))
    has_names = first and not source.recognised
    candidates = own_id_candidates(first[0].data, explicit) if has_names else []
    if again is None and candidates:
        first += source.records
    whole = dataclasses.replace(source, records=itertools.chain(first, source.records))
    if not candidates:
        return whole, ""
    return whole, own_id_column(first if again is None else again().records, candidates)


def _file(source: OpenedFile, items: Iterable[ItemRecord]) -> DatasetFile:
    header = source.header
    shared = (header.name, header.prompt, header.rubric, header.reference)
    return DatasetFile(*shared, tuple(items), source.recognised, header.label_decisions)


def _read(
    source: OpenedFile,
    reader: ItemReader,
    faults: FaultList,
    *,
    may_be_empty: bool = False,
    leave_out: bool = False,
    own_id: bool = False,
) -> DatasetFile:
    items = tuple(item for record in source.records if (item := reader.read(record)) is not None)
    reader.check_whole(empty=not items and (bool(source.recognised) or not may_be_empty))
    is_broken = source.broken or source.header.rubric_is_faulty
    if not (leave_out and source.recognised and items) or is_broken:
        _raise(faults, source)
    kept, more = tuple(faults), faults.total - len(tuple(faults))
    read = reader.columns_read(own_id=own_id) if not source.recognised else ColumnsRead()
    return dataclasses.replace(_file(source, items), left_out=kept, more_left_out=more, columns=read)


def preview(data: bytes | Path, filename: str, rows: int = 5, *, max_bytes: int = MAX_FILE_BYTES) -> Preview:
    """Show the first ``rows`` records as they are written, with a guess which column is which field.

    Records of a recognised format are shown as translated. Raises InvalidFile when not even one can be read;
    faults further down are left to ``read_dataset``.
    """
    faults = FaultList()
    with _refusing(data, filename, faults):
        source = open_source(data, filename, max_bytes, faults)
        looked_at = list(itertools.islice(source.records, rows))
        first = tuple(record.data for record in looked_at)
        if not first:
            _raise(faults, source)
    own = own_id_candidates(first[0], {}) if first and not source.recognised else []
    beginning = itertools.chain(looked_at, itertools.islice(source.records, ROWS_LOOKED_AT if own else 0))
    own_id = own_id_column(beginning, own)
    columns = tuple(dict.fromkeys(str(key) for record in first for key in record))
    named = [record.get(MACHINES_KEY) for record in first]
    machines = dict.fromkeys(str(rater) for given in named if isinstance(given, list) for rater in given)
    mapping = preview_columns(columns, first)
    suggestions = suggested_columns(columns, mapping)
    mapping |= {"id": own_id} if own_id else {}
    return Preview(
        source.format,
        columns,
        first,
        mapping,
        source.recognised,
        tuple(machines),
        suggestions,
        () if source.recognised else tuple(faults)[:FAULTS_SHOWN],
        bool(own_id),
    )


def _raise(faults: FaultList, source: OpenedFile) -> None:
    """Refuse with what was collected; faults of a translation say of what, for the file is not ours."""
    if faults:
        kept = _named(faults, source)
        refused = InvalidFile(kept, faults.total - len(kept))
        refused.read_as = _read_as(source)
        raise refused


def _named(faults: FaultList, source: OpenedFile) -> list[Fault]:
    if not source.recognised:
        return list(faults)
    return [Fault(one.place, f"{one.found} ({source.recognised})", one.allowed) for one in faults]


def _checked_columns(columns: Mapping[str, str] | None, faults: FaultList) -> dict[str, str]:
    for name in columns or {}:
        if name not in ALIASES:
            faults.add(f"columns.{name}", "an unknown field", nearest(name, ALIASES))
    # Names of columns are composed where files are read.
    return {name: composed(column) for name, column in (columns or {}).items()}
