"""`rubricweb serve`: the whole app on one machine, in one command, gone at Ctrl+C."""

import argparse
import os
import shlex
import shutil
import socket
import sys
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path

import django
from django.conf import settings

from rubricweb.errors import Conflict
from rubricweb.management.serving import static_files
from rubricweb.management.serving.supervisor import Child, GaveUp, Supervisor
from rubricweb.management.terminal import serve_lock
from rubricweb.management.terminal.remarks import remark as say

FIRST_PORT = 8000
PORTS_TO_TRY = 50
WORKER_CLASS = "rubricweb.management.serving.web_worker.WebWorker"
EVERYWHERE = ("0.0.0.0", "::")  # noqa: S104  only compared with


def run(options: argparse.Namespace) -> int:
    supervisor = Supervisor(say)
    supervisor.catch_signals()
    with serve_lock.only_one() as lock:
        try:
            address = _start(supervisor, options)
            lock.write(f"{address}\n")
            lock.flush()
            supervisor.watch()
        except KeyboardInterrupt:
            say("Stopping")
        except GaveUp as error:
            say(str(error))
            return 1
        finally:
            supervisor.stop()
    return 0


def _start(supervisor: Supervisor, options: argparse.Namespace) -> str:
    """Starts the children and tells the address once it answers.

    Importing Django takes each process a second or two, so web starts before this process sets Django up:
    as soon as the static files, which it lists when it starts, are in place.
    """
    port = _free_port(options.host, options.port)
    host = _bracketed("127.0.0.1" if options.host in EVERYWHERE else options.host)
    address = f"http://{host}:{port}"
    env = {**os.environ, "PYTHONUNBUFFERED": "1"}
    env.setdefault("SITE_URL", address)
    # Whatever names a proxy gives: our own question whether it answers, and the link, go to this one.
    env["ALLOWED_HOSTS"] = ",".join(dict.fromkeys([*settings.ALLOWED_HOSTS, host]))
    if _needs_offline_judge(options):
        _start_judge(supervisor, env)
    web = _start_web(supervisor, env, options.host, port) if static_files.are_fresh() else None

    django.setup()
    # They have tables, so only after the set-up.
    from rubricweb.management.terminal import prepare
    from rubricweb.selectors.teams import lookup

    prepare.migrate(say)
    if web is None:
        say("Preparing the static files")
        static_files.collect()
        web = _start_web(supervisor, env, options.host, port)
    prepare.empty_broker()
    if options.demo:
        prepare.load_demo(say)
    prepare.somebody(say, options.owner)
    prepare.ring_for_interrupted_runs()
    supervisor.wait_until(web, lambda: _answers(address, web), timeout_seconds=60)
    _start_worker(supervisor, env, options.workers or settings.WORKER_PROCESSES)
    say(f"rubricweb is at {address}")
    if owner := lookup.first_of_all_owners():
        say(f"Sign in as {owner}: {prepare.sign_in_link(owner, env['SITE_URL'].rstrip('/'))}")
        folder = ["--data", str(options.data)] if options.data else []
        another = shlex.join([_typed(), "sign-in-link", owner.username, *folder])
        say(f"(once, within 30 minutes; another: {another})")
    if options.host in EVERYWHERE and "ALLOWED_HOSTS" not in os.environ:
        say("Other machines are refused until ALLOWED_HOSTS names the host they ask for.")
    say(f"Logs are in {settings.VAR_DIR / 'log'}. Ctrl+C stops everything.")
    return address


def _typed() -> str:
    """What to type for this program: `rubricweb` where the shell finds it, else its path."""
    if shutil.which("rubricweb"):
        return "rubricweb"
    beside, here = Path(sys.executable).with_name("rubricweb"), Path.cwd()
    return str(beside.relative_to(here) if beside.is_relative_to(here) else beside)


# ── Children ─────────────────────────────────────────────────────────────────────────────────────


def _needs_offline_judge(options: argparse.Namespace) -> bool:
    """Without a key it is the only judge; with one it still grades the demo, so that trying it is free."""
    return not settings.OFFLINE_JUDGE_URL and (not settings.OPENAI_API_KEY or options.demo)


def _start_judge(supervisor: Supervisor, env: dict[str, str]) -> None:
    """The offline judge, its address in the environment of everybody who is started later."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    argv = [sys.executable, "-m", "rubricweb.judges.offline", "--port", str(port)]
    supervisor.start("judge", argv, env=env, log=settings.VAR_DIR / "log" / "judge.log")
    env["OFFLINE_JUDGE_URL"] = settings.OFFLINE_JUDGE_URL = f"http://127.0.0.1:{port}/v1"


def _start_web(supervisor: Supervisor, env: Mapping[str, str], host: str, port: int) -> Child:
    argv = [
        *(sys.executable, "-m", "gunicorn", "rubricweb.wsgi", "--bind", f"{_bracketed(host)}:{port}"),
        *("--worker-class", WORKER_CLASS, "--workers", "2", "--threads", "8", "--timeout", "60"),
        *("--graceful-timeout", "3", "--preload", "--no-control-socket"),
    ]
    return supervisor.start("web", argv, env=env, log=settings.VAR_DIR / "log" / "web.log")


def _start_worker(supervisor: Supervisor, env: Mapping[str, str], processes: int) -> Child:
    argv = [sys.executable, "-m", "rubricweb.management.serving.worker", "--concurrency", str(processes)]
    return supervisor.start("worker", argv, env=env, log=settings.VAR_DIR / "log" / "worker.log")


def _answers(address: str, web: Child) -> bool:
    if web.process is None or web.process.poll() is not None:
        return False
    try:
        with urllib.request.urlopen(f"{address}/health", timeout=2) as answer:  # noqa: S310  our own address
            return bool(answer.status == 200)
    except urllib.error.HTTPError as error:
        raise GaveUp(f"The app answers {error.code} at {address}/health.\n{web.tail()}") from error
    except OSError:
        return False


# ── Ports ────────────────────────────────────────────────────────────────────────────────────────


def _free_port(host: str, wanted: int | None) -> int:
    """The port asked for, or the first free one from 8000 on. Raises Conflict."""
    if wanted is not None:
        if not _is_free(host, wanted):
            raise Conflict(f"Port {wanted} of {host} is taken; choose another with --port.")
        return wanted
    for port in range(FIRST_PORT, FIRST_PORT + PORTS_TO_TRY):
        if _is_free(host, port):
            if port != FIRST_PORT:
                say(f"Port {FIRST_PORT} is taken; using {port}")
            return port
    last = FIRST_PORT + PORTS_TO_TRY - 1
    raise Conflict(f"No free port from {FIRST_PORT} to {last}; choose one with --port.")


def _is_free(host: str, port: int) -> bool:
    if not 1 <= port <= 65535:
        raise Conflict(f"{port} is not a port; allowed are 1 to 65535.")
    try:
        [(family, kind, _, _, address), *_] = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        with socket.socket(family, kind) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except socket.gaierror as error:
        raise Conflict(f"{host!r} is not an address of this machine.") from error
    except PermissionError as error:
        raise Conflict(f"Port {port} needs more rights; choose one above 1023.") from error
    except OSError:
        return False
    return True


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
