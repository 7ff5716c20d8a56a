"""Uploaded files kept between the steps of a form: under a random id, for a day."""

import secrets
import time
from pathlib import Path

from django.conf import settings

from rubricweb.errors import NotFound

KEPT_SECONDS = 24 * 60 * 60


def keep(data: bytes) -> str:
    """Stores the bytes for a later step and gives the id they are found under."""
    folder = _folder()
    forget_old(now=time.time())
    upload_id = secrets.token_hex(16)
    path = folder / upload_id
    path.touch(mode=0o600)
    path.write_bytes(data)
    return upload_id


def kept(upload_id: str) -> bytes:
    """The bytes again. Raises NotFound when a day has passed.

    The id must come from where `keep` put it (a session), never from a request.
    """
    try:
        return (_folder() / upload_id).read_bytes()
    except FileNotFoundError:
        raise NotFound("upload any more; choose the file again") from None


def drop(upload_id: str) -> None:
    (_folder() / upload_id).unlink(missing_ok=True)


def forget_old(*, now: float) -> None:
    """Removes what nobody came back for. `now` in seconds since 1970."""
    for path in _folder().iterdir():
        try:
            if path.is_file() and path.stat().st_mtime < now - KEPT_SECONDS:
                path.unlink(missing_ok=True)
        except FileNotFoundError:
            continue  # another process was faster


def _folder() -> Path:
    folder = Path(settings.MEDIA_ROOT)
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return folder
