"""Commands that start at once: each a process of its own, forked from one that has imported everything.

A command spends two seconds importing before it does anything; a test run starts hundreds. `Warm` starts one
process in an installation's environment that imports what commands import and touches nothing else; it forks
for every command, which then parses its arguments, opens its database, prints and exits as any other.
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
from contextlib import ExitStack
from tempfile import TemporaryFile
from typing import IO, NoReturn

MOST_BYTES = 1 << 20


class Warm:
    """One warm process; `run` answers as `subprocess.run` does. Close it when done."""

    def __init__(self, folder: str, env: Mapping[str, str]) -> None:
        self._ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.warm_start", str(theirs.fileno())],
                cwd=folder,
                env=dict(env),
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )

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
        self._ours.close()
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode()


def serve(line: socket.socket) -> None:
    """Forks for every command that comes down the line, and answers with its exit code."""
    import django

    from rubricweb import management
    from rubricweb.management import console

    console.name_settings()
    django.setup()
    from django.db.migrations.loader import MigrationLoader

    for module in pkgutil.walk_packages(management.__path__, "rubricweb.management."):
        importlib.import_module(module.name)
    importlib.import_module("rubricweb.judges.client.openai")
    MigrationLoader(None)  # imports every migration, as each command does that looks whether any is missing
    gc.freeze()  # a child's garbage collector would touch, and so copy, every page of what is imported
    while True:
        asked, files, _, _ = socket.recv_fds(line, MOST_BYTES, 2)
        if not asked:
            return
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
