"""Zip archives: written as a stream, read without trusting anything they say of themselves."""

from __future__ import annotations

import io
import stat
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rubricweb.engine.errors import FaultList, InvalidFile, shown

FIXED_TIME = (1980, 1, 1, 0, 0, 0)
"""The time every entry carries: the same content is the same archive, byte for byte, whenever written."""

_PIECE = 64 * 1024


@dataclass(frozen=True, slots=True)
class ArchiveLimits:
    """What an archive may hold: entries, bytes of one and of all entries unpacked, unpacked per packed byte.

    The ratio counts from one megabyte on; small files of little content compress far better.
    """

    max_entries: int = 100
    max_entry_bytes: int = 500_000_000
    max_total_bytes: int = 600_000_000
    max_ratio: float = 300.0


LIMITS = ArchiveLimits()


def zip_stream(files: Iterable[tuple[str, Iterable[bytes]]]) -> Iterator[bytes]:
    """A zip archive in pieces; every file is a name and its content in pieces, held one piece at a time."""
    sink = _Sink()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, pieces in files:
            entry = zipfile.ZipInfo(name, FIXED_TIME)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (stat.S_IFREG | 0o644) << 16
            with archive.open(entry, "w", force_zip64=True) as target:
                for piece in pieces:
                    target.write(piece)
                    yield from sink.drained()
            yield from sink.drained()
    yield from sink.drained()


def read_zip(data: bytes, limits: ArchiveLimits = LIMITS) -> dict[str, bytes]:
    """Every entry by name, nothing written anywhere.

    Raises InvalidFile, every bad entry by name: absolute names, ``..``, backslashes, links, folders,
    encrypted or repeated entries, and at once when a limit is passed, whatever sizes the archive claims.
    """
    faults = FaultList()
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = archive.infolist()
            if len(entries) > limits.max_entries:
                faults.add("", f"{len(entries):,} entries", f"at most {limits.max_entries:,}")
                faults.raise_as(InvalidFile)
            seen: set[str] = set()
            for entry in entries:
                _check_entry(entry, seen, limits, faults)
                seen.add(entry.filename)
            faults.raise_as(InvalidFile)
            return _unpacked(archive, entries, len(data), limits)
    except InvalidFile:
        raise
    except (
        zipfile.BadZipFile,
        zipfile.LargeZipFile,
        zlib.error,
        EOFError,
        OSError,
        ValueError,
        RuntimeError,
        NotImplementedError,
        OverflowError,
    ) as error:
        faults.add("", f"a broken archive ({type(error).__name__})", "a whole zip archive")
    faults.raise_as(InvalidFile)
    raise AssertionError  # raise_as has raised


class _Sink(io.RawIOBase):
    """Where a zip archive is written to: it cannot be rewound, so sizes follow behind each entry."""

    def __init__(self) -> None:
        super().__init__()
        self._pieces: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, data: object) -> int:
        piece = bytes(data)  # type: ignore[call-overload]  # any buffer, as RawIOBase allows
        self._pieces.append(piece)
        return len(piece)

    def drained(self) -> Iterator[bytes]:
        pieces, self._pieces = self._pieces, []
        if pieces:
            yield b"".join(pieces)


def _check_entry(entry: zipfile.ZipInfo, seen: set[str], limits: ArchiveLimits, faults: FaultList) -> None:
    name = entry.filename
    place = shown(name)
    kind = stat.S_IFMT(entry.external_attr >> 16)
    parts = name.replace("\\", "/").split("/")
    if not name or name.startswith(("/", "\\")) or "\\" in name or ":" in name or ".." in parts:
        faults.add(place, "a name that leads elsewhere", "plain names inside the archive")
    elif "\0" in entry.orig_filename:
        faults.add(place, "a name with a NUL character", "plain names inside the archive")
    elif entry.is_dir():
        faults.add(place, "a folder", "files")
    elif kind not in (0, stat.S_IFREG):
        faults.add(place, "a link or device", "files")
    elif entry.flag_bits & 0x1:
        faults.add(place, "an encrypted file", "files anyone can read")
    elif entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        faults.add(place, "an unusual compression", "stored or deflated files")
    elif name in seen:
        faults.add(place, "this name twice", "each name once")
    elif entry.file_size > limits.max_entry_bytes:
        faults.add(place, f"{entry.file_size:,} bytes", f"at most {limits.max_entry_bytes:,}")


def _unpacked(
    archive: zipfile.ZipFile, entries: Iterable[zipfile.ZipInfo], packed_bytes: int, limits: ArchiveLimits
) -> dict[str, bytes]:
    contents: dict[str, bytes] = {}
    total = 0
    for entry in entries:
        pieces: list[bytes] = []
        size = 0
        with archive.open(entry) as source:
            while piece := source.read(_PIECE):
                size += len(piece)
                total += len(piece)
                _refuse_bomb(entry, size, total, packed_bytes, limits)
                pieces.append(piece)
        contents[entry.filename] = b"".join(pieces)
    return contents


def _refuse_bomb(
    entry: zipfile.ZipInfo, size: int, total: int, packed_bytes: int, limits: ArchiveLimits
) -> None:
    faults = FaultList()
    ratio = size / max(1, min(entry.compress_size, packed_bytes))
    if size > limits.max_entry_bytes:
        faults.add(shown(entry.filename), f"more than {limits.max_entry_bytes:,} bytes", "fewer")
    if total > limits.max_total_bytes:
        faults.add("", f"more than {limits.max_total_bytes:,} bytes unpacked", "fewer")
    if size > 1_000_000 and ratio > limits.max_ratio:
        found = f"a file that unpacks to more than {limits.max_ratio:,.0f} times its size"
        faults.add(shown(entry.filename), found, f"at most {limits.max_ratio:,.0f} times")
    faults.raise_as(InvalidFile)
