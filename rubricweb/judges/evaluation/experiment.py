"""The files of an experiment: every answer and result as soon as it is there, found again by content."""

from __future__ import annotations

import fcntl
import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from rubricweb.engine.errors import EngineError

ITEMS, REPLIES = "items.jsonl", "replies.jsonl"


class ExperimentInUse(EngineError):
    """Another evaluation writes into the same folder."""


class KeyedLines:
    """A file of JSON lines, each under the key of its content; of two lines with one key the later counts.

    Lines are written whole and handed to the system at once, so that a killed process loses none that was
    written. A line that a kill cut off is passed over, and the next one begins on a line of its own.
    """

    def __init__(self, path: Path) -> None:
        self._found: dict[str, Any] = {}
        torn = False
        if path.exists():
            with path.open("rb") as file:
                for line in file:
                    torn = not line.endswith(b"\n")
                    self._read(line)
        self._file: IO[bytes] = path.open("ab", buffering=0)
        if torn:
            self._file.write(b"\n")

    def _read(self, line: bytes) -> None:
        try:
            entry = json.loads(line)
            self._found[entry["key"]] = entry["value"]
        except (ValueError, TypeError, KeyError):
            return

    def get(self, key: str) -> Any:
        """What was written under this key last; None for nothing."""
        return self._found.get(key)

    def put(self, key: str, value: Any, **beside: Any) -> None:
        """Write a line; ``beside`` is for people who read the file."""
        self._found[key] = value
        self._file.write(json.dumps({"key": key, **beside, "value": value}).encode() + b"\n")

    def values(self) -> Mapping[str, Any]:
        """Everything by its key."""
        return self._found

    def close(self) -> None:
        self._file.close()


@dataclass(frozen=True, slots=True)
class Experiment:
    """What an evaluation writes: ``items`` are results, ``replies`` a judge's answers; None is not kept."""

    items: KeyedLines | None
    replies: KeyedLines | None


@contextmanager
def opened(folder: Path | None, cache: Path | None) -> Iterator[Experiment]:
    """The files of an experiment in its folder, made where it is missing, and the replies in ``cache``.

    Without a folder only the cache is kept, if any. Raises ExperimentInUse while another process has the
    folder open.
    """
    with ExitStack() as stack:
        if folder is not None:
            stack.enter_context(_locked(folder))
        replies = cache or (folder / REPLIES if folder else None)
        files = [KeyedLines(path) if path else None for path in (folder and folder / ITEMS, replies)]
        for file in files:
            if file is not None:
                stack.callback(file.close)
        yield Experiment(*files)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ExperimentInUse(
                f"another evaluation writes into {folder}; allowed: to wait, or another experiment_name"
            ) from None
        yield
