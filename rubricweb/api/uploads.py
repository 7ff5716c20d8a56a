"""Files that come with a request."""

from django.conf import settings
from ninja import UploadedFile

from rubricweb.engine.errors import Fault
from rubricweb.errors import Invalid, TooLarge


def read(file: UploadedFile) -> tuple[bytes, str]:
    """The file's bytes and name. Raises TooLarge above the operator's limit, Invalid for a name with NUL."""
    name = file.name or "upload"
    if "\x00" in name:
        raise Invalid(
            "The file's name holds a NUL character.", [Fault("file", "a NUL character", "a file name")]
        )
    if file.size is None or file.size > settings.UPLOAD_MAX_BYTES:
        limit = settings.UPLOAD_MAX_BYTES // (1024 * 1024)
        raise TooLarge(f"{name} is larger than {limit} MB, the most this server takes.")
    return file.read(), name
