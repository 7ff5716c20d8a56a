"""Another program's server on this machine: an environment of its own, a free port, an end."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
import venv
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from benchmarks.machine import ROOT

ENVIRONMENTS = ROOT / ".venv-endpoints"
START_SECONDS = 180.0
NOTHING: Mapping[str, str] = {}


def environment(
    name: str,
    requirements: Sequence[str],
    folder: Path = ENVIRONMENTS,
    build_env: Mapping[str, str] = NOTHING,
) -> Path:
    """The Python of an environment that holds exactly these pinned requirements and what they need.

    Made where it is missing or holds others; `build_env` is what pip finds in its environment then. Raises
    CalledProcessError when pip cannot install them.
    """
    place = folder / name
    python = place / "bin" / "python"
    wanted, installed = "\n".join(requirements), place / ".installed"
    if python.exists() and installed.exists() and installed.read_text() == wanted:
        return python
    print(f"Installing {', '.join(requirements)} into {place}", flush=True)
    shutil.rmtree(place, ignore_errors=True)
    venv.create(place, with_pip=True, symlinks=True)
    install = [str(python), "-m", "pip", "install", "--quiet", *requirements]
    subprocess.run(install, env={**os.environ, **build_env}, check=True)
    installed.write_text(wanted)
    return python


@contextmanager
def serving(
    argv: Sequence[str | Path], port: int, log: Path, *, ready: str, env: Mapping[str, str] = NOTHING
) -> Iterator[None]:
    """Runs a server on loopback until the block ends; begins when `ready`, a path, answers 200.

    Raises RuntimeError with the end of its log when it ends or stays silent.
    """
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the server is ended too
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    with log.open("wb") as said:
        process = subprocess.Popen(
            [str(part) for part in argv],
            env={**inherited, **env},
            stdout=said,
            stderr=said,
            cwd=log.parent,
        )
    try:
        deadline = time.monotonic() + START_SECONDS
        while not _answers(f"http://127.0.0.1:{port}{ready}"):
            if process.poll() is not None or time.monotonic() > deadline:
                end = log.read_text(errors="replace")[-4000:]
                raise RuntimeError(f"the server did not come up:\n{end}")
            time.sleep(0.3)
        yield
    finally:
        process.terminate()
        try:
            process.wait(timeout=15)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=2) as answer:
            return bool(answer.status == 200)
    except urllib.error.HTTPError:
        return False
    except OSError:
        return False


if sys.platform == "win32":
    raise SystemExit("these scripts know POSIX systems only")
