"""The embedded broker under load: a reader never sees half a message, and each message goes to one reader."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.installation import ROOT

pytestmark = pytest.mark.processes

WRITER = """
import sys
from kombu import Connection
from rubricweb import file_broker
file_broker.install()
folder, who, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
options = {name: folder for name in ("data_folder_in", "data_folder_out")}
options |= {"processed_folder": folder + "/taken", "control_folder": folder + "/control"}
with Connection("filesystem://localhost/", transport_options=options) as connection:
    queue = connection.SimpleQueue("wake-ups")
    for number in range(count):
        queue.put({"from": who, "number": number})
"""
READER = """
import pathlib, sys
from kombu import Connection
from rubricweb import file_broker
file_broker.install()
folder = sys.argv[1]
options = {name: folder for name in ("data_folder_in", "data_folder_out")}
options |= {"processed_folder": folder + "/taken", "control_folder": folder + "/control"}
options["polling_interval"] = 0.001
with Connection("filesystem://localhost/", transport_options=options) as connection:
    queue = connection.SimpleQueue("wake-ups")
    while True:
        everything_is_written = pathlib.Path(folder, "written").exists()
        try:
            message = queue.get(timeout=0.1)
        except queue.Empty:
            if everything_is_written:
                break
            continue
        message.ack()
        print(message.payload["from"], message.payload["number"])
"""


def test_every_bell_arrives_once_while_several_write_and_read(tmp_path: Path) -> None:
    for folder in ("taken", "control"):
        (tmp_path / folder).mkdir()

    def start(code: str, *arguments: str) -> "subprocess.Popen[str]":
        argv = [sys.executable, "-c", code, str(tmp_path), *arguments]
        return subprocess.Popen(argv, cwd=ROOT, stdout=subprocess.PIPE, text=True)

    assert start(WRITER, "first", "1").wait() == 0  # writes the routes before several would
    readers = [start(READER) for _ in range(2)]
    writers = [start(WRITER, name, "400") for name in ("a", "b")]
    assert [writer.wait() for writer in writers] == [0, 0]
    (tmp_path / "written").touch()
    arrived: list[str] = []
    for reader in readers:
        said, _ = reader.communicate()
        assert reader.returncode == 0
        arrived += said.splitlines()
    expected = [f"{name} {number}" for name in ("a", "b") for number in range(400)] + ["first 0"]
    assert sorted(arrived) == sorted(expected)
