"""Commands that start at once: each a process of its own, forked from one that has imported everything.

A command spends two seconds importing before it does anything; a test run starts hundreds. A test process has
one `_Base`, which imports what knows no settings. `Warm` is a process forked from it in an installation's
environment, which imports the rest and touches nothing else; it forks for every command, which then parses
its arguments, opens its database, prints and exits as any other.
"""

import atexit
import gc
import importlib
import json
import os
import pkgutil
import signal
import socket
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, NoReturn

from rubricweb import engine, judges

MOST_BYTES = 1 << 20
ROOT = Path(__file__).resolve().parent.parent


class _Base:
    """The process that knows no installation yet; `fork` gives the number of one that does."""

    def __init__(self) -> None:
        self._ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.warm_start", str(theirs.fileno())],
                cwd=ROOT,
                # As the settings say, which come only after numpy here.
                env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )
        atexit.register(self._close)

    def fork(self, folder: str, env: Mapping[str, str], line: socket.socket) -> int:
        told = json.dumps({"folder": folder, "env": dict(env)}).encode()
        socket.send_fds(self._ours, [told], [line.fileno()])
        return int(self._ours.recv(MOST_BYTES))

    def _close(self) -> None:
        self._ours.close()  # at which it ends
        self._process.wait()


_base = cache(_Base)


class Warm:
    """One warm process; `run` answers as `subprocess.run` does. Close it when done."""

    def __init__(self, folder: str, env: Mapping[str, str]) -> None:
        self._ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = _base().fork(folder, env, theirs)

    def run(self, arguments: Sequence[str], *, timeout: float) -> "subprocess.CompletedProcess[str]":
        """One command to its end. Raises `subprocess.TimeoutExpired` after so many seconds."""
        with ExitStack() as files:
            out, err = (files.enter_context(TemporaryFile()) for _ in range(2))
            socket.send_fds(self._ours, [json.dumps(list(arguments)).encode()], [out.fileno(), err.fileno()])
            self._ours.settimeout(timeout)
            try:
                answer = self._ours.recv(MOST_BYTES)
            except TimeoutError:
                self.close()
                raise subprocess.TimeoutExpired(list(arguments), timeout, _text(out), _text(err)) from None
            if not answer:
                raise RuntimeError("the warm process is gone; it printed why")
            return subprocess.CompletedProcess(list(arguments), int(answer), _text(out), _text(err))

    def close(self) -> None:
        """Ends the warm process, and a command that is under way."""
        with suppress(ProcessLookupError):
            os.killpg(self._process, signal.SIGKILL)
        self._ours.settimeout(None)
        with suppress(ConnectionError):
            while self._ours.recv(MOST_BYTES):  # nothing comes once nobody is left at the other end
                pass
        self._ours.close()


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode()


def serve(line: socket.socket) -> None:
    """Forks for every installation that comes down the line, and answers with the number of the process."""
    for package in (engine, judges):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not module.name.endswith("__main__"):
                importlib.import_module(module.name)
    for name in ("celery.app", "cryptography.fernet", "django.core.management", "django.db.models", "kombu"):
        importlib.import_module(name)
    gc.freeze()  # a child's garbage collector would touch, and so copy, every page of what is imported
    while True:
        asked, files, _, _ = socket.recv_fds(line, MOST_BYTES, 1)
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:  # those that were closed since
                pass
        if not asked:
            return
        child = os.fork()
        if not child:
            line.close()
            _end(partial(serve_commands, socket.socket(fileno=files[0]), **json.loads(asked)))
        os.setpgid(child, child)  # a group of its own, which is ended as a whole
        os.close(files[0])
        line.send(str(child).encode())


def serve_commands(line: socket.socket, folder: str, env: Mapping[str, str]) -> int:
    """Forks for every command that comes down the line, and answers with its exit code."""
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(env)
    import django

    from rubricweb import management
    from rubricweb.management import console

    console.name_settings()
    django.setup()
    from django.db.migrations.loader import MigrationLoader

    for module in pkgutil.walk_packages(management.__path__, "rubricweb.management."):
        importlib.import_module(module.name)
    importlib.import_module("rubricweb.judges.client.openai")
    console.parser()
    MigrationLoader(None)  # imports every migration, as each command does that looks whether any is missing
    gc.freeze()  # a child's garbage collector would touch, and so copy, every page of what is imported
    while True:
        asked, files, _, _ = socket.recv_fds(line, MOST_BYTES, 2)
        if not asked:
            return 0
        child = os.fork()
        if not child:
            line.close()
            for file, number in zip(files, (1, 2), strict=True):
                os.dup2(file, number)
                os.close(file)
            sys.argv = ["rubricweb", *json.loads(asked)]
            _end(console.main)
        for file in files:
            os.close(file)
        _, status = os.waitpid(child, 0)
        line.send(str(os.waitstatus_to_exitcode(status)).encode())


def _end(main: Callable[[], int]) -> NoReturn:
    """Ends the process with the exit code of `main`, without unloading every module."""
    try:
        code = main()
    except SystemExit as ended:  # argparse's own way to refuse
        code = int(ended.code or 0)
    except BaseException:
        traceback.print_exc()
        code = 1
    threading._shutdown()  # type: ignore[attr-defined]  # waits for threads, as the interpreter does at its end
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))
