"""How long a large file takes to come in, and what that takes: `python -m benchmarks.imports`.

A CSV of 100,000 items and 100 MB becomes a dataset; then a fifth version's answers are added to a dataset
of 20,000 cases that four versions answered. Each is imported by a process of its own, as a worker does,
while this one asks for /health. Then the list of the large dataset is narrowed by two declared columns. On a
scratch SQLite database, or a new one of the server in DATABASE_URL; both are gone afterwards. Prints
seconds, the memory of the two processes that import, and how long /health and the lists took; says whether
import and lists keep what is promised: under a minute, under 100 ms.
"""

import argparse
import csv
import random
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.machine import scratch_django

if TYPE_CHECKING:
    from rubricweb.models import Dataset, Team, User

PROMISED_SECONDS = 60.0
PROMISED_MS = 100.0
PAUSE_SECONDS = 0.05


def main() -> int:
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    asked.add_argument("--items", type=int, default=100_000)
    asked.add_argument("--cases", type=int, default=20_000)
    asked.add_argument("--work", type=int, help=argparse.SUPPRESS)  # the import a child process is to do
    options = asked.parse_args()
    if options.work is not None:
        return work(options.work)
    with scratch_django() as folder:
        taken = measure(folder, options)
    return 0 if taken < PROMISED_SECONDS else 1


def measure(folder: Path, options: argparse.Namespace) -> float:
    """Seconds of the first import; prints what both took."""
    from rubricweb.services.teams import teams

    owner = teams.create_person("olga")
    team = teams.create_team("Big", owner=owner, slug="big")
    rows = texts(options.items, words=145)
    path = written(folder / "items.csv", ("id", "prompt", "submission", "language", "product"), rows)
    taken = imported(team, owner, path, name="large")
    from rubricweb.models import Dataset

    narrowed = lists(Dataset.objects.get(name="large"), owner)

    header = ("case_id", "prompt", "submission")
    for version in range(1, 5):
        path = written(
            folder / "version.csv", header, ((key, *more[:2]) for key, *more in texts(options.cases))
        )
        into = Dataset.objects.filter(name="versions").first()
        if into is None:
            first = ((key, f"assistant@{version}", *more[:2]) for key, *more in texts(options.cases))
            path = written(folder / "first.csv", ("case_id", "system", *header[1:]), first)
            imported(team, owner, path, name="versions", quiet=True)
        else:
            imported(team, owner, path, into=into, system=f"assistant@{version}", quiet=True)
    into = Dataset.objects.get(name="versions")
    imported(team, owner, path, into=into, system="assistant@5")
    verdict = "holds" if narrowed < PROMISED_MS else "misses"
    sys.stdout.write(f"promised: narrowed lists in under {PROMISED_MS:.0f} ms: {verdict}\n")
    verdict = "holds" if taken < PROMISED_SECONDS else "misses"
    sys.stdout.write(f"promised: a dataset in under {PROMISED_SECONDS:.0f} s: {verdict}\n")
    return taken


def lists(dataset: "Dataset", viewer: "User") -> float:
    """p95 in milliseconds of pages narrowed by two columns, rare and frequent values, in three orders."""
    from django.db import connection

    from rubricweb.selectors.datasets.items import items
    from rubricweb.services.datasets.columns import declare

    began = time.perf_counter()
    declare(dataset, ["language", "product"], by=viewer)
    declared = time.perf_counter() - began
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    taken = []
    for order in ("position", "-position", "key"):
        for language in ("de", "en", "fr", "it"):
            for product in ("p1", "p7", "p99"):
                cursor_at = None
                for _ in range(3):
                    where = [("language", language), ("product", product)]
                    began = time.perf_counter()
                    page = items(dataset, viewer=viewer, order=order, where=where, cursor=cursor_at)
                    taken.append((time.perf_counter() - began) * 1_000)
                    cursor_at = page.next_cursor
    p95 = statistics.quantiles(taken, n=20)[-1]
    sys.stdout.write(
        f"two columns declared in {declared:.1f} s; lists narrowed by both: median "
        f"{statistics.median(taken):.0f} ms, p95 {p95:.0f} ms, longest {max(taken):.0f} ms of {len(taken)}\n"
    )
    return p95


def texts(count: int, words: int = 145) -> "list[tuple[str, ...]]":
    """Id, prompt, submission, language and product of so many items of a kilobyte, always the same."""
    chance = random.Random(1)
    known = [
        "".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=chance.randint(3, 9))) for _ in range(5000)
    ]
    return [
        (
            f"i{number}",
            " ".join(chance.choices(known, k=words // 4)),
            " ".join(chance.choices(known, k=words - words // 4)),
            chance.choice(("de", "en", "fr")),
            f"p{chance.randrange(20)}",
        )
        for number in range(count)
    ]


def written(path: Path, header: "tuple[str, ...]", rows: "object") -> Path:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)  # type: ignore[arg-type]  # rows of texts
    return path


def imported(
    team: "Team",
    by: "User",
    path: Path,
    *,
    name: str = "",
    into: "Dataset | None" = None,
    system: str = "",
    quiet: bool = False,
) -> float:
    """Seconds until the file is stored, by a process of its own; /health is asked for meanwhile."""
    from django.test import Client

    from rubricweb.services.datasets import imports
    from rubricweb.services.shared import uploads

    began = time.perf_counter()
    with path.open("rb") as file:
        upload_id = uploads.keep(iter(lambda: file.read(65_536), b""))
    kept = time.perf_counter() - began
    asked = imports.ImportRequest(
        filename=path.name, name=name, dataset=into, system=system, duplicates="keep"
    )
    found = imports.start(team, asked, by=by, upload_id=upload_id, enqueue=None)
    client, health = Client(), []
    began = time.perf_counter()
    with subprocess.Popen(
        [sys.executable, "-m", "benchmarks.imports", "--work", str(found.pk)],
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        while process.poll() is None:
            asked_at = time.perf_counter()
            assert client.get("/health").status_code == 200
            health.append((time.perf_counter() - asked_at) * 1_000)
            time.sleep(PAUSE_SECONDS)
        assert process.stdout is not None
        memory = process.stdout.read().strip()
    taken = time.perf_counter() - began
    found.refresh_from_db()
    assert found.state == "done", (found.state, found.message)
    if not quiet:
        p95 = statistics.quantiles(health, n=20)[-1]
        sys.stdout.write(
            f"{path.name}, {path.stat().st_size / 1e6:.0f} MB, {found.rows_stored:,} items: "
            f"kept in {kept:.1f} s, imported in {taken:.1f} s; {memory}; "
            f"/health meanwhile p95 {p95:.0f} ms of {len(health)}\n"
        )
    return taken


def work(pk: int) -> int:
    """What a worker does with the import; prints the memory it took."""
    import django

    django.setup()
    from django.utils import timezone

    from rubricweb.services.datasets import imports
    from rubricweb.services.grading.workers.registry import worker_name

    imports.work(pk, worker=worker_name(), now=timezone.now)
    # The highest resident set of this process since it began; a child's counts from its parent's on.
    own = next(
        int(line.split()[1]) / 1024
        for line in Path("/proc/self/status").read_text().splitlines()
        if line.startswith("VmHWM:")
    )
    readers = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    sys.stdout.write(f"worker {own:.0f} MB, its reader {readers:.0f} MB\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
