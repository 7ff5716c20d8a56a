"""Workers say that they live, in rows that anybody can read."""

import os
import signal
from collections.abc import Callable

import pytest

from tests.installation import Installation
from tests.processes.conftest import Serve, wait_for

pytestmark = [pytest.mark.processes]


def test_a_worker_beats_while_it_lives_and_signs_off_when_it_is_stopped(
    serve: Callable[..., Serve], installation: Installation
) -> None:
    def beats() -> dict[str, str]:
        return dict(installation.query("SELECT name, beat_at FROM rubricweb_worker"))

    serving = serve("--workers", "1")
    wait_for(lambda: len(beats()) == 1, serving)
    [(first, began)] = beats().items()
    assert installation.query("SELECT processes FROM rubricweb_worker") == [(1,)]
    wait_for(lambda: beats()[first] > began, serving)

    # Killed, it cannot sign off: its row falls silent, and whoever takes its place has another.
    worker = int(first.rpartition(":")[2])
    assert worker in serving.descendants(running="rubricweb.management.serving.worker")
    os.kill(worker, signal.SIGKILL)
    wait_for(lambda: len(beats()) == 2, serving)
    [second] = set(beats()) - {first}
    silent_since = beats()[first]
    wait_for(lambda: beats()[second] > silent_since, serving)

    # Without its supervisor it is asked to stop, and nobody kills it when that takes long on a busy machine.
    serving.process.kill()
    serving.process.wait()
    wait_for(lambda: beats() == {first: silent_since})
