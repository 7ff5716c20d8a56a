"""Which tests a leg of `.ci/run` runs: at a landing on one database, or on both where they differ.

`pytest --leg=sqlite` and `pytest --leg=postgres` together run everything but what waits for the night;
without it everything runs. The reasons are in CONTRIBUTING.md, "Where a test runs".
"""

from pathlib import PurePath

SQLITE, POSTGRES = "sqlite", "postgres"
LEGS = (SQLITE, POSTGRES)
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


def legs_of(test_file: PurePath) -> tuple[str, ...]:
    """The legs that run a test file, by its path below tests/."""
    return next(PLACES[str(place)] for place in (test_file, *test_file.parents) if str(place) in PLACES)
