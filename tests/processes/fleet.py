"""Processes that are kept running whatever kills them, among them a PostgreSQL and a Redis of one's own."""

import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import amqp
import psycopg

from tests import waiting
from tests.installation import ROOT


class Kept:
    """One program, started again whenever it is found dead; it and all it starts are one group of its own.

    `user` is who it runs as, for programs that refuse to be root.
    """

    def __init__(
        self, name: str, argv: Sequence[str], env: Mapping[str, str], folder: Path, *, user: str | None = None
    ) -> None:
        self.name = name
        self.kills = 0
        self.log = folder / f"{name}.log"
        self._argv, self._env, self._user = argv, env, user
        self._process: subprocess.Popen[bytes] | None = None
        self.look_after()

    def look_after(self) -> None:
        """Starts it where it is not running."""
        if self._process is not None and self._process.poll() is None:
            return
        if self._process is not None:
            self._signal(signal.SIGKILL)  # what it left behind
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                self._argv,
                cwd=ROOT,
                env=dict(self._env),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                user=self._user,
            )

    def stop_moving(self) -> None:
        """Freezes it, so that what is counted now is what it has when it is killed."""
        self._signal(signal.SIGSTOP)

    def kill(self) -> None:
        """SIGKILL for it and all it started, as a machine does that loses power."""
        self._signal(signal.SIGKILL)
        if self._process is not None:
            self._process.wait()
        self.kills += 1

    def end(self) -> None:
        """At the end of a test; whatever does not go in time is killed."""
        if self._process is None:
            return
        self._signal(signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=5)
        self._signal(signal.SIGKILL)
        self._process.wait()

    def _signal(self, number: signal.Signals) -> None:
        if self._process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, number)  # the group is its own, so nobody else's


class Postgres(Kept):
    """A small cluster of its own with fsync on: what it says is stored survives a SIGKILL."""

    def __init__(self, programs: Path, folder: Path) -> None:
        user = "postgres" if os.getuid() == 0 else None
        data, port = folder / "postgres", free_port()
        data.mkdir()
        if user:
            folder.chmod(0o755)
            shutil.chown(data, user)
        options = ["--auth", "trust", "--encoding", "UTF8", "--locale", "C.UTF-8", "--username", "postgres"]
        subprocess.run(
            [str(programs / "initdb"), *options, "--no-sync", "-D", str(data)],
            check=True,
            stdout=subprocess.DEVNULL,
            user=user,
            cwd=folder,
        )
        argv = [
            str(programs / "postgres"),
            "-D",
            str(data),
            "-h",
            "127.0.0.1",
            "-p",
            str(port),
            "-k",
            str(data),
        ]
        for setting in ("shared_buffers=32MB", "max_connections=60", "fsync=on"):
            argv += ["-c", setting]
        self.url = f"postgres://postgres@127.0.0.1:{port}/postgres"
        super().__init__("postgres", argv, os.environ, folder, user=user)
        wait_until(self.answers, self)

    def answers(self) -> bool:
        with suppress(psycopg.OperationalError), psycopg.connect(self.url, connect_timeout=2):
            return True
        return False

    @contextmanager
    def hanging(self) -> Iterator[None]:
        """It and its backends, each a group of its own, stand still inside: connected to, and silent."""
        assert self._process is not None
        pid = self._process.pid
        stopped = [pid]
        os.kill(pid, signal.SIGSTOP)  # first, so that no backend comes after the list is taken
        stopped += map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())
        try:
            for one in stopped:
                os.kill(one, signal.SIGSTOP)
            yield
        finally:
            for one in stopped:
                os.kill(one, signal.SIGCONT)


class Redis(Kept):
    """A broker that forgets everything whenever it is killed."""

    def __init__(self, folder: Path) -> None:
        port = free_port()
        argv = [
            "redis-server",
            "--port",
            str(port),
            "--bind",
            "127.0.0.1",
            "--save",
            "",
            "--appendonly",
            "no",
        ]
        self.url = f"redis://127.0.0.1:{port}/0"
        super().__init__("redis", [*argv, "--dir", str(folder)], os.environ, folder)


class RabbitMQ(Kept):
    """A broker that keeps its queues, and goes on with them when it comes back."""

    PROGRAM = Path("/usr/lib/rabbitmq/bin/rabbitmq-server")

    def __init__(self, folder: Path) -> None:
        port = free_port()
        env = {
            **os.environ,
            "HOME": str(folder),  # where its cookie is
            "RABBITMQ_NODENAME": f"rubricweb-{port}@localhost",
            "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
            "RABBITMQ_NODE_PORT": str(port),
            "RABBITMQ_DIST_PORT": str(free_port()),
            "RABBITMQ_MNESIA_BASE": str(folder / "rabbitmq"),
            "RABBITMQ_LOG_BASE": str(folder),
            "RABBITMQ_PID_FILE": str(folder / "rabbitmq.pid"),
            "RABBITMQ_CONFIG_FILE": str(folder / "none"),
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(folder / "plugins"),
        }
        self._port = port
        self.url = f"amqp://guest:guest@127.0.0.1:{port}//"
        super().__init__("rabbitmq", [str(self.PROGRAM)], env, folder)
        wait_until(self.answers, self)

    def answers(self) -> bool:
        with suppress(OSError), amqp.Connection(f"127.0.0.1:{self._port}", connect_timeout=2):
            return True
        return False


def postgres_programs() -> Path | None:
    """The folder with initdb and postgres of the newest PostgreSQL here, None without one."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    if found:
        return found[-1].parent
    on_path = shutil.which("initdb")
    return Path(on_path).resolve().parent if on_path else None


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_until(happened: Callable[[], object], *kept: Kept) -> None:
    """Waits, looking after what must run meanwhile; says the end of its logs when it was in vain."""

    def look_after() -> None:
        for one in kept:
            one.look_after()

    def log() -> str:
        return "\n".join(f"── {one.name}\n{one.log.read_text(errors='replace')[-3000:]}" for one in kept)

    waiting.wait_for(happened, meanwhile=look_after, log=log)
