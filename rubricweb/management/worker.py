"""`python -m rubricweb.management.worker`: the embedded form's Celery worker with its beat.

The pool's processes and the beat are put on a leash, so that a killed worker leaves nothing behind.
"""

import argparse
import importlib
import os
import signal
from typing import Any

import django
from celery.signals import beat_embedded_init, worker_process_init

from rubricweb.management import leash


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m rubricweb.management.worker", description=__doc__)
    parser.add_argument("--concurrency", type=int, default=2, help="processes that grade (default 2)")
    concurrency = parser.parse_args().concurrency
    django.setup()
    importlib.import_module("rubricweb.judges.openai")  # once here rather than in every process of the pool
    from rubricweb.celery import app

    worker = os.getpid()

    def follow_worker(**_: Any) -> None:
        leash.follow(worker, signal.SIGKILL)

    def beat_alone(**_: Any) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)  # the worker's own handler would be deaf in here
        follow_worker()

    worker_process_init.connect(follow_worker, weak=False)
    beat_embedded_init.connect(beat_alone, weak=False)
    app.conf.worker_enable_remote_control = False  # one machine: signals do, and the broker stays quiet
    app.worker_main(
        [
            "worker",
            "--beat",
            "--pool=prefork",
            f"--concurrency={concurrency}",
            "--without-mingle",
            "--without-gossip",
            "--without-heartbeat",
            "--loglevel=INFO",
        ]
    )


if __name__ == "__main__":
    main()
