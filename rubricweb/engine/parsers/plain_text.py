"""Bytes to text, refusing what no database column and no judge could take."""

from __future__ import annotations

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


def unstorable(text: str) -> str | None:
    """Name what in ``text`` a database refuses (NUL, half a surrogate pair), or None."""
    if "\0" in text:
        return "a NUL character"
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return "half of a surrogate pair (a broken \\ud800-style escape)"
    return None


def _utf8(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        found = f"the byte 0x{data[error.start]:02x}, which is not UTF-8"
        if data.startswith((b"\xff\xfe", b"\xfe\xff")):
            found = "UTF-16 text"
        raise InvalidText([Fault(f"line {line}", found, "UTF-8 text")]) from None
