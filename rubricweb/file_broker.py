"""The embedded broker: wake-ups are small files in a folder, each whole before anybody can see it.

Kombu's own filesystem transport opens a message under its final name and then writes it, so a worker that
looks in between reads half a message and dies. Here a message is renamed into place.
"""

import os
import time
import uuid
from pathlib import Path
from queue import Empty
from typing import Any

from kombu.transport import TRANSPORT_ALIASES, filesystem
from kombu.utils.json import dumps, loads

LOOK_UP_SECONDS = 0.2


class Channel(filesystem.Channel):
    """Messages are taken by a rename as well, so that one goes to one worker."""

    def _put(self, queue: str, payload: dict[str, Any], **kwargs: Any) -> None:  # type: ignore[override]  # two names in kombu
        folder = Path(self.data_folder_out)
        name = f"{time.time_ns()}_{uuid.uuid4()}.{queue}.msg"
        partial = folder / f".{name}.part"
        partial.write_text(dumps(payload))
        os.replace(partial, folder / name)

    def _get(self, queue: str, timeout: float | None = None) -> dict[str, Any]:
        for name in sorted(os.listdir(self.data_folder_in)):
            if name.partition(".")[2] != f"{queue}.msg":
                continue
            taken = Path(self.processed_folder, name)
            try:
                os.rename(os.path.join(self.data_folder_in, name), taken)
            except FileNotFoundError:  # another worker was quicker
                continue
            payload: dict[str, Any] = loads(taken.read_text())
            taken.unlink()
            return payload
        raise Empty


class Transport(filesystem.Transport):
    Channel = Channel

    def drain_events(self, connection: Any, timeout: float | None = None) -> None:  # type: ignore[override]  # as kombu's own
        """Looks up often, so that a worker told to stop does so at once."""
        super().drain_events(connection, timeout=min(timeout or LOOK_UP_SECONDS, LOOK_UP_SECONDS))


def install() -> None:
    """Makes `filesystem://` mean this transport in this process."""
    TRANSPORT_ALIASES["filesystem"] = "rubricweb.file_broker:Transport"
