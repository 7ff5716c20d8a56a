"""Files and stored things as they are named on the command line; needs neither tables nor Django."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from rubricweb import engine
from rubricweb.engine.errors import InvalidText, named_as
from rubricweb.engine.formats.rubric_files import read_rubric, taken_for
from rubricweb.engine.number_format import counted
from rubricweb.engine.parsers.plain_text import decode
from rubricweb.errors import Invalid
from rubricweb.management.terminal.remarks import remark


def read_file(path: Path) -> bytes:
    """The bytes of a file named on the command line. Raises Invalid."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise Invalid(f"{path} cannot be read: {(error.strerror or str(error)).lower()}.") from error


def read_text_file(path: Path) -> str:
    """The text of a file named on the command line. Raises Invalid."""
    try:
        return decode(read_file(path))
    except InvalidText as error:
        raise Invalid(f"{path} is no UTF-8 text.", error.faults) from error


def require_file(path: Path) -> None:
    """Raises Invalid for a file that cannot be opened."""
    try:
        path.open("rb").close()
    except OSError as error:
        raise Invalid(f"{path} cannot be read: {(error.strerror or str(error)).lower()}.") from error


def rubric_in(path: Path) -> engine.Rubric:
    """The rubric in a file. Raises Invalid with every fault."""
    data = read_file(path)
    try:
        return read_rubric(data, filename=path.name)
    except (engine.InvalidRubric, engine.InvalidFile) as error:
        file, found = named_as(path.name, taken_for(data, path.name)), counted(len(error.faults), "fault")
        raise Invalid(f"{file}: {found}.", error.faults) from error


def stored_id(name: str) -> int | None:
    """7 for `id:7`, None for a path. Raises Invalid."""
    kind, _, number = name.partition(":")
    if kind != "id":
        return None
    if not (number.isascii() and number.isdigit() and len(number) < 19):
        raise Invalid(f"{name!r} is not a stored id; write it like id:7.")
    return int(number)


def require_writable(path: Path) -> None:
    """Raises Invalid for a file that `write_file` could not write: asked before anything is paid for."""
    if path.is_dir():
        raise Invalid(f"{path} cannot be written: it is a folder.")
    with _partial(path) as file:
        file.close()


def write_file(path: Path, chunks: Iterable[str | bytes]) -> None:
    """Writes the whole file or none of it: a half-written one would look complete. Raises Invalid."""
    with _partial(path) as file:
        file.writelines(_as_bytes(chunks))
        file.close()
        Path(file.name).replace(path)
    remark(f"Wrote {path}")


@contextmanager
def _partial(path: Path) -> Iterator[BinaryIO]:
    """A file beside `path`, which is gone afterwards. Raises Invalid where it cannot be written."""
    partial = path.with_name(f".{path.name}.part")
    try:
        with partial.open("wb") as file:
            yield file
    except OSError as error:
        raise Invalid(f"{path} cannot be written: {(error.strerror or str(error)).lower()}.") from error
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)


def _as_bytes(chunks: Iterable[str | bytes]) -> Iterator[bytes]:
    return (chunk if isinstance(chunk, bytes) else chunk.encode() for chunk in chunks)
