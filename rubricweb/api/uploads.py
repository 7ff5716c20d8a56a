"""Files that come with a request."""

from collections.abc import Iterator

from django.conf import settings
from ninja import UploadedFile

from rubricweb.engine.errors import Fault
from rubricweb.errors import Invalid, TooLarge


def pieces(file: UploadedFile) -> tuple[Iterator[bytes], str]:
    """The file a piece at a time, and its name, for files that are not held in memory; raises as `read`."""
    name = _checked_name(file)
    _check_size(file, name, settings.IMPORT_MAX_BYTES)
    return file.chunks(), name


def read(file: UploadedFile) -> tuple[bytes, str]:
    """The file's bytes and name. Raises TooLarge above the operator's limit, Invalid for a name with NUL."""
    name = _checked_name(file)
    _check_size(file, name, settings.UPLOAD_MAX_BYTES)
    return file.read(), name


def _checked_name(file: UploadedFile) -> str:
    name = file.name or "upload"
    if "\x00" in name:
        raise Invalid(
            "The file's name holds a NUL character.", [Fault("file", "a NUL character", "a file name")]
        )
    return name


def _check_size(file: UploadedFile, name: str, most: int) -> None:
    if file.size is None or file.size > most:
        limit = most // (1024 * 1024)
        raise TooLarge(f"{name} is larger than {limit} MB, the most this server takes.")
