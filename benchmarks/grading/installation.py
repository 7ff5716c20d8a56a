"""A scratch installation of rubricweb that grades: tables, a judge, a team with a rubric and datasets."""

import json
import os
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.grading.workload import CRITERIA, IN_FLIGHT, requirements, submission
from benchmarks.machine import (
    ROOT,
    JudgeServer,
    cpu_of_programs,
    empty_queue,
    scratch_database,
    scratch_folder,
    used_by,
    wait_for,
)

if TYPE_CHECKING:
    from rubricweb.models import Dataset, RubricVersion, Run

STALL_SECONDS = 60.0
MODEL = "bench"


@dataclass(frozen=True)
class Measured:
    """One run from start to finished, and what the workers used meanwhile."""

    wall_seconds: float
    cpu_seconds: float
    database_cpu_seconds: float
    judge_cpu_seconds: float
    calls: int
    # Of the wall: before the judge's first request, and after its last began; and the most it had at once.
    before_seconds: float
    after_seconds: float
    most_in_flight: int

    @property
    def cpu_ms_per_call(self) -> float:
        return self.cpu_seconds / self.calls * 1000

    @property
    def per_second(self) -> float:
        return self.calls / self.wall_seconds

    @property
    def per_core(self) -> float:
        """Calls per second of a core that the workers used."""
        return self.calls / self.cpu_seconds


class Bench:
    """A team with rubrics and datasets on the scratch installation, and the judge everybody asks."""

    def __init__(self, judge: JudgeServer, folder: Path, outside: Mapping[str, str]) -> None:
        from rubricweb import tasks  # noqa: F401  the first import of Celery is not part of a run
        from rubricweb.services.rubrics import rubrics
        from rubricweb.services.teams import teams

        self.judge = judge
        self.behaviour: dict[str, Any] = {}
        self.folder = folder
        self.outside = outside  # the environment that programs find which have an installation of their own
        self.owner = teams.create_person(f"bench-{uuid.uuid4().hex[:12]}")
        self.team = teams.create_team(f"Bench {uuid.uuid4().hex[:12]}", owner=self.owner)
        self.rubric = rubrics.create_rubric(
            self.team, by=self.owner, title="Bench", draft={"criteria": requirements()}
        )
        self.version = rubrics.publish(self.rubric, by=self.owner)

    def behave(self, **settings: Any) -> None:
        """How the judge behaves in what is graded from now on; it counts anew for each."""
        self.behaviour = settings
        self.judge.behave(**settings)

    def dataset(self, items: int, words: int | None = None) -> "Dataset":
        """Items nobody has graded before: their texts hold a word of their own, and so many of all of it."""
        from rubricweb.services.datasets import datasets
        from rubricweb.services.datasets.previews import AS_IT_IS

        word = uuid.uuid4().hex[:8]
        lines = (
            json.dumps({"id": str(n), "submission": " ".join([word, *submission(n).split()[:words]])})
            for n in range(items)
        )
        data = "\n".join(lines).encode()
        return datasets.import_dataset_file(
            self.team,
            by=self.owner,
            data=data,
            filename=f"bench-{items}-{word}.jsonl",
            choices=AS_IT_IS,
        ).dataset

    def start(self, dataset: "Dataset", version: "RubricVersion | None" = None, model: str = MODEL) -> "Run":
        from rubricweb import tasks
        from rubricweb.services.endpoints import endpoints
        from rubricweb.services.runs import lifecycle
        from rubricweb.services.runs.starting import RunOptions

        return lifecycle.start_run(
            self.team,
            by=self.owner,
            dataset=dataset,
            rubric_version=version or self.version,
            options=RunOptions(
                judge_id="environment",
                judge=endpoints.choose_judge(self.team, "environment", model=model),
            ),
            enqueue=tasks.notify,
            no_cap=True,  # the judge has no price
        )

    def finish(self, run: "Run") -> "Run":
        """Waits until the run has ended, and insists that it finished.

        Gives up when the judge was not asked anything for STALL_SECONDS.
        """
        asked = -1

        def ended() -> bool:
            run.refresh_from_db(fields=["state", "finished_at", "stop_reason"])
            return run.state not in ("running", "paused")

        while True:
            try:
                wait_for(ended, f"run {run.pk}", STALL_SECONDS, every=0.05)
                break
            except TimeoutError:
                if (now := self.judge.count()["requests"]) == asked:
                    logs = sorted(self.folder.glob("worker-*.log"), key=lambda log: log.stat().st_mtime)
                    raise RuntimeError(
                        f"run {run.pk} stands still:\n{logs[-1].read_text()[-4000:]}"
                    ) from None
                asked = now
        assert run.state == "finished", f"run {run.pk} is {run.state}: {run.stop_reason}"
        return run

    def graded(self, dataset: "Dataset", process_id: int, model: str = MODEL) -> Measured:
        """Grades the dataset; wall from before it is started to when it was marked finished."""
        from django.utils import timezone

        from rubricweb.models import Judgement, RunItem

        self.judge.behave(**self.behaviour)
        before, database = used_by(process_id), cpu_of_programs("postgres")
        began, began_monotonic = timezone.now(), time.monotonic()
        run = self.finish(self.start(dataset, model=model))
        assert run.finished_at is not None
        wall = (run.finished_at - began).total_seconds()
        after = used_by(process_id)
        database_cpu = cpu_of_programs("postgres") - database
        judge = self.judge.count()
        stored = Judgement.objects.filter(run=run, verdict="MET").count()
        calls = RunItem.objects.filter(run=run).count() * CRITERIA
        assert stored == calls, f"{stored} of {calls} verdicts stored"
        first_after = judge["first_at"] - began_monotonic
        return Measured(
            wall_seconds=wall,
            cpu_seconds=after.cpu_seconds - before.cpu_seconds,
            database_cpu_seconds=database_cpu,
            judge_cpu_seconds=judge["cpu_seconds"],
            calls=calls,
            before_seconds=first_after,
            after_seconds=wall - first_after - judge["seconds"],
            most_in_flight=judge["max_in_flight"],
        )


@contextmanager
def installation(core: int | None) -> Iterator[Bench]:
    """The environment of this process and of those it starts, Django set up, tables made.

    With DATABASE_URL set, on a new database of that server and CELERY_BROKER_URL's broker, else on SQLite and
    the embedded one. The judge server stays on `core`. All of it is gone afterwards.
    """
    outside = dict(os.environ)
    with scratch_folder() as folder, scratch_database(os.environ.get("DATABASE_URL", "")) as database:
        broker = os.environ.get("CELERY_BROKER_URL", "") if database else ""
        for name, value in (("DATABASE_URL", database), ("CELERY_BROKER_URL", broker)):
            os.environ.pop(name, None)
            if value:
                os.environ[name] = value
        judge = JudgeServer(folder, core)
        try:
            os.environ.update(
                SECRET_KEY="benchmarks-only-" + "x" * 40,
                RUBRICWEB_VAR_DIR=str(folder),
                RUBRICWEB_LOCAL="1",
                JUDGE_CONCURRENCY=str(IN_FLIGHT),
                OPENAI_API_KEY="bench",
                OPENAI_BASE_URL=judge.base_url,
                OPENAI_MODEL=MODEL,
                LOG_LEVEL=os.environ.get("LOG_LEVEL", "WARNING"),
                UPLOAD_MAX_BYTES=str(1 << 30),
                DJANGO_SETTINGS_MODULE="rubricweb.settings",
                PYTHONPATH=str(ROOT),
            )
            empty_queue(broker)
            import django

            django.setup()
            from django.core.management import call_command

            call_command("migrate", verbosity=0, interactive=False)
            yield Bench(judge, folder, outside)
            from django.db import connections

            connections.close_all()
        finally:
            judge.stop()
