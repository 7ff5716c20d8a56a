"""Bytes to text, refusing what no database column and no judge could take; and the first words of a text."""

from __future__ import annotations

import codecs
import re
import unicodedata
from pathlib import Path

from rubricweb.engine.errors import Fault, InvalidText


def decode(data: bytes | str, *, max_bytes: int | None = None) -> str:
    """Decode UTF-8 (a byte order mark is accepted and dropped).

    Raises InvalidText with the place for other encodings, for NUL characters, and for more than
    ``max_bytes``.
    """
    if isinstance(data, str):
        size = len(data)  # a lower bound of the bytes: enough to refuse what is far too large
        text = data
    else:
        size = len(data)
        text = "" if max_bytes is not None and size > max_bytes else _utf8(data)
    if max_bytes is not None and size > max_bytes:
        raise InvalidText([Fault("", f"{size:,} bytes", f"at most {max_bytes:,} bytes")])
    text = text.removeprefix("\ufeff")
    nul = text.find("\0")
    if nul >= 0:
        line = text.count("\n", 0, nul) + 1
        raise InvalidText([Fault(f"line {line}", "a NUL character", "text without NUL characters")])
    return text


BLOCK_BYTES = 1024 * 1024


def check_text_file(path: Path, *, max_bytes: int) -> None:
    """Raises InvalidText for what `decode` refuses, with its place; reads a megabyte at a time."""
    size = path.stat().st_size
    if size > max_bytes:
        raise InvalidText([Fault("", f"{size:,} bytes", f"at most {max_bytes:,} bytes")])
    decoder, line = codecs.getincrementaldecoder("utf-8")(), 1
    with path.open("rb") as file:
        while True:
            block = file.read(BLOCK_BYTES)
            try:
                text = decoder.decode(block, final=not block)
            except UnicodeDecodeError as error:
                raise _not_utf8(error, line) from None
            if (nul := text.find("\0")) >= 0:
                line += text.count("\n", 0, nul)
                raise InvalidText([Fault(f"line {line}", "a NUL character", "text without NUL characters")])
            if not block:
                return
            line += text.count("\n")


def unstorable(text: str) -> str | None:
    """Name what in ``text`` a database refuses (NUL, half a surrogate pair), or None."""
    if "\0" in text:
        return "a NUL character"
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return "half of a surrogate pair (a broken \\ud800-style escape)"
    return None


def composed(text: str) -> str:
    """The text in Unicode's form NFC: an umlaut may also be written as two characters, as on a Mac."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def folded(text: str) -> str:
    """A name as it is compared with others: composed, without blanks at its ends, whatever its case."""
    return composed(text).strip().casefold()


TITLE_CHARACTERS = 60


def first_words(text: str, limit: int = TITLE_CHARACTERS) -> str:
    """The beginning of a text on one line, cut after a word within ``limit`` characters and marked with "…".

    ``first_words("# Why is\nthe sky blue?", 12)`` is "Why is the…": marks that begin a line of Markdown are
    left out. "" for a text of white space.
    """
    line = " ".join(re.sub(r"^[\s#>*_`-]+", "", text[: 8 * limit]).split()) or " ".join(text[:limit].split())
    if len(line) <= limit:
        return line
    cut = line[: limit + 1].rfind(" ")
    # Scripts without spaces, and words longer than that, are cut where they are.
    return line[: cut if cut > limit // 2 else limit].rstrip(" .,;:–-") + "…"


def _utf8(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _not_utf8(error, 1) from None


def _not_utf8(error: UnicodeDecodeError, first_line: int) -> InvalidText:
    """The refusal of bytes that begin in line ``first_line``."""
    data = error.object
    line = first_line + data.count(b"\n", 0, error.start)
    found = f"the byte 0x{data[error.start]:02x}, which is not UTF-8"
    if first_line == 1 and data.startswith((b"\xff\xfe", b"\xfe\xff")):
        found = "UTF-16 text"
    return InvalidText([Fault(f"line {line}", found, "UTF-8 text")])
