"""Which tests are run where: by `make test`, by a leg of `.ci/run`, at night.

`pytest --leg=sqlite` and `pytest --leg=postgres` together run everything but what waits for the night, on one
database, or on both where they differ. `--leg=quick` is `make test`: each test once, without what
`--leg=rest`, `make test-long`, runs with all that is marked long. `--leg=whole`, as no leg, is everything
that is not marked long. The reasons are in CONTRIBUTING.md, "Where a test runs".
"""

from pathlib import PurePath

SQLITE, POSTGRES = "sqlite", "postgres"
LEGS = (SQLITE, POSTGRES)
QUICK, REST, WHOLE = "quick", "rest", "whole"
NIGHT: tuple[str, ...] = ()
"""No leg of a landing: `.ci/run whole` runs it each night."""

PLACES: dict[str, tuple[str, ...]] = {
    ".": (SQLITE,),
    "api/test_access.py": (POSTGRES,),
    "api/test_idempotency.py": (POSTGRES,),
    "api/test_paging.py": (POSTGRES,),
    "api/test_refusals.py": (POSTGRES,),
    "commands/test_hostile_names.py": (POSTGRES,),
    "engine": (POSTGRES,),
    "judges": (POSTGRES,),
    "models": LEGS,
    "processes": (POSTGRES,),
    "processes/kills": LEGS,
    "processes/kills/test_chaos.py": (POSTGRES,),
    "processes/kills/test_kill.py": (SQLITE,),
    "processes/kills/test_killed_databases.py": (POSTGRES,),
    "processes/kills/test_killed_combinations.py": (POSTGRES,),
    "processes/kills/test_killed_deletions.py": (POSTGRES,),
    "processes/kills/test_killed_imports.py": (POSTGRES,),
    "processes/kills/test_killed_workers.py": (SQLITE,),
    "processes/kills/test_lost_calls.py": (POSTGRES,),
    "processes/kills/test_rabbitmq.py": NIGHT,
    "processes/serving": (SQLITE,),
    "processes/workers": (POSTGRES,),
    "processes/workers/test_budgets.py": LEGS,
    "processes/workers/test_file_broker.py": (SQLITE,),
    "selectors": (POSTGRES,),
    "selectors/labels/test_reading_peoples_labels.py": LEGS,
    "selectors/reviews/test_shown_items.py": LEGS,
    "services": (POSTGRES,),
    "services/grading": LEGS,
    "services/grading/answers": (POSTGRES,),
    "services/grading/batches": (POSTGRES,),
    "services/grading/test_hostile_endpoints.py": (POSTGRES,),
    "services/reviews/test_decisions_at_once.py": LEGS,
    "services/runs/test_lost_calls.py": LEGS,
    "services/shared": LEGS,
    "web/test_hostile_requests.py": (POSTGRES,),
}
"""Folders and files of tests/ with the legs that run them; of those around a test the innermost decides."""


NOT_QUICK = (
    "api/test_blinding.py",
    "api/rubrics/test_probe_blinding.py",
    "commands/test_blinding.py",
    "processes/kills",
    "web/rubrics/test_probe_blinding.py",
    "web/test_blinding.py",
)
"""Folders and files that `make test` leaves to `make test-long` and to CI: a third of the time of all."""


def is_quick(test_file: PurePath) -> bool:
    """Whether `make test` runs a test file, by its path below tests/."""
    return not any(str(place) in NOT_QUICK for place in (test_file, *test_file.parents))


def legs_of(test_file: PurePath) -> tuple[str, ...]:
    """The legs that run a test file, by its path below tests/."""
    return next(PLACES[str(place)] for place in (test_file, *test_file.parents) if str(place) in PLACES)
