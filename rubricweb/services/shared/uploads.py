"""Uploaded files kept between the steps of a form and for background work: under a random id, for a day.

They are in the database, a part at a time: every web process and every worker reaches them there, on whatever
machine, and none has to hold a file in memory.
"""

import secrets
import zlib
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from django.utils import timezone

from rubricweb.errors import NotFound
from rubricweb.models import DatasetImport, KeptFile, KeptFilePart

KEPT = timedelta(days=1)
PART_BYTES = 1024 * 1024


def keep(data: bytes | Iterable[bytes], about: dict[str, Any] | None = None) -> str:
    """Stores the bytes, or their parts as they come, for a later step; the id they are found under.

    `about` is plain data that is kept beside them.
    """
    now = timezone.now()
    forget_old(now=now)
    file = KeptFile.objects.create(token=secrets.token_hex(16), about=about or {}, created_at=now)
    for number, part in enumerate(_parts(data)):
        KeptFilePart.objects.create(file=file, number=number, data=zlib.compress(part, 1))
        file.size += len(part)
    file.save(update_fields=["size"])
    return file.token


def _parts(data: bytes | Iterable[bytes]) -> Iterator[bytes]:
    """The same bytes, a megabyte at a time."""
    held = b""
    for piece in [data] if isinstance(data, bytes) else data:
        for begin in range(0, len(piece), PART_BYTES):
            held += piece[begin : begin + PART_BYTES]
            if len(held) >= PART_BYTES:
                yield held[:PART_BYTES]
                held = held[PART_BYTES:]
    if held:
        yield held


def kept(upload_id: str) -> bytes:
    """The bytes again. Raises NotFound when a day has passed.

    The id must come from where `keep` put it (a session), never from a request.
    """
    return b"".join(_stored_parts(kept_file(upload_id)))


def kept_file(upload_id: str) -> KeptFile:
    """The row of a file that was kept. Raises NotFound when a day has passed."""
    file = KeptFile.objects.filter(token=upload_id).first()
    if file is None:
        raise NotFound("upload any more; choose the file again")
    return file


def write_to(path: Path, file: KeptFile) -> None:
    """Puts the bytes in a file of this machine, one part in memory at a time."""
    with path.open("wb") as there:
        for part in _stored_parts(file):
            there.write(part)


def _stored_parts(file: KeptFile) -> Iterator[bytes]:
    number = 0
    parts = KeptFilePart.objects.filter(file=file)
    # One query each: SQLite and PostgreSQL alike would else hand over all parts at once.
    while (data := parts.filter(number=number).values_list("data", flat=True).first()) is not None:
        yield zlib.decompress(data)
        number += 1


def drop(upload_id: str) -> None:
    KeptFile.objects.filter(token=upload_id).delete()


def drop_unused(upload_id: str) -> None:
    """Drops a file that no import under way reads."""
    KeptFile.objects.filter(token=upload_id).exclude(pk__in=_needed()).delete()


def _needed() -> Any:
    return DatasetImport.objects.filter(file__isnull=False, ended_at=None).values("file")


def forget_old(*, now: datetime) -> None:
    """Removes what nobody came back for, save files of imports that have not ended."""
    KeptFile.objects.filter(created_at__lt=now - KEPT).exclude(pk__in=_needed()).delete()
