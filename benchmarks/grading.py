"""What a run costs beyond the judge's own time: `python -m benchmarks.grading`.

Starts a judge of its own that answers after 50 ms, plans a run of 200 items × 10 criteria, grades it in this
process with 64 calls in flight, storing every verdict, and prints wall and CPU time against the limit
(2,000 calls / 64 in flight × 50 ms). On SQLite in a scratch folder, or on the database DATABASE_URL names.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

ITEMS, CRITERIA, LATENCY_SECONDS, IN_FLIGHT = 200, 10, 0.05, 64
CALLS = ITEMS * CRITERIA


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="rubricweb-bench-") as folder:
        os.environ.update(
            SECRET_KEY="benchmarks-only-" + "x" * 40,
            RUBRICWEB_VAR_DIR=folder,
            JUDGE_CONCURRENCY=str(IN_FLIGHT),
            GRADING_CHUNK_ITEMS=str(ITEMS),
            DJANGO_SETTINGS_MODULE="rubricweb.settings",
        )
        port_file = Path(folder, "port")
        judge = subprocess.Popen(
            [
                *(sys.executable, "-m", "rubricweb.judges.offline"),
                *("--port", "0", "--scripted", "--port-file", str(port_file)),
            ]
        )
        try:
            while not port_file.exists() or not port_file.read_text().strip():
                time.sleep(0.05)
            measure(f"http://127.0.0.1:{port_file.read_text().strip()}")
        finally:
            judge.terminate()
            judge.wait()


def measure(judge: str) -> None:
    import django

    django.setup()
    from django.core.management import call_command
    from django.utils import timezone

    from rubricweb.models import Judgement, Run
    from rubricweb.services import grading

    answer = json.dumps({"explanation": "as the script says", "criterion_status": "MET"})
    script = {"actions": [{"kind": "say", "text": answer, "delay_seconds": LATENCY_SECONDS}]}
    request = urllib.request.Request(f"{judge}/script", json.dumps(script).encode(), method="PUT")
    urllib.request.urlopen(request, timeout=10).close()
    call_command("migrate", verbosity=0, interactive=False)
    run: Run = planned(f"{judge}/v1")

    wall, cpu = time.perf_counter(), time.process_time()
    while grading.grade_chunk(run.pk, now=timezone.now):
        pass
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu

    stored = Judgement.objects.filter(run=run, verdict="MET").count()
    assert stored == CALLS, f"{stored} of {CALLS} verdicts stored"
    limit = CALLS / IN_FLIGHT * LATENCY_SECONDS
    print(f"{CALLS:,} calls stored, {IN_FLIGHT} in flight, {LATENCY_SECONDS * 1000:.0f} ms each, one process")
    print(f"wall {wall:.2f} s = {wall / limit:.2f} × the limit of {limit:.2f} s")
    print(f"CPU  {cpu / CALLS * 1000:.2f} ms per call, storing included")


def planned(base_url: str) -> "Run":  # noqa: F821  models load after django.setup()
    import uuid

    from rubricweb.judges.base import JudgeConfig
    from rubricweb.services import datasets, rubrics, runs, teams

    unique = uuid.uuid4().hex[:12]
    owner = teams.create_person(f"bench-{unique}")
    team = teams.create_team(f"Bench {unique}", owner=owner)
    criteria = [{"weight": 1, "requirement": f"Says thing number {n}."} for n in range(CRITERIA)]
    rubric = rubrics.create_rubric(team, by=owner, title="Bench", draft={"criteria": criteria})
    lines = [json.dumps({"id": str(n), "submission": f"Text {n}. " * 100}) for n in range(ITEMS)]
    dataset = datasets.import_dataset(team, by=owner, data="\n".join(lines).encode(), filename="bench.jsonl")
    judge = JudgeConfig(
        name="bench", base_url=base_url, model="bench", concurrency=IN_FLIGHT, allow_private_hosts=True
    )
    version = rubrics.publish(rubric, by=owner)
    return runs.start_run(
        team,
        by=owner,
        dataset=dataset,
        rubric_version=version,
        judge_id="bench",
        judge=judge,
        enqueue=lambda run_id: None,
    )


if __name__ == "__main__":
    main()
