"""`python -m rubricweb.management.serving.worker`: the Celery worker of the embedded form."""

import argparse
import gc

import django


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m rubricweb.management.serving.worker", description=__doc__
    )
    parser.add_argument("--concurrency", type=int, default=2, help="processes that grade (default 2)")
    concurrency = parser.parse_args().concurrency
    gc.disable()  # importing makes what stays: a tenth of its time would go into walks that find nothing
    django.setup()
    # Once here, rather than in every process of the pool.
    import rubricweb.judges.client.openai  # noqa: F401  # it is there for the processes forked from this one
    from rubricweb.celery import app

    gc.freeze()  # nor is it walked later, or its memory copied into every process of the pool
    gc.enable()
    app.conf.worker_enable_remote_control = False  # one machine: signals do, and the broker stays quiet
    app.worker_main(
        [
            "worker",
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
