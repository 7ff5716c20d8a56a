"""What is graded, by us and by others: the same texts, the same criteria, as many requests in flight.

Nothing but Python's own library is imported, so that the environment of another library can read it.
"""

from typing import Any

ITEMS, CRITERIA, IN_FLIGHT = 200, 10, 64
CALLS = ITEMS * CRITERIA
LATENCY_SECONDS = 0.05


def requirements() -> list[dict[str, Any]]:
    """The criteria of the rubric, as rubrics are written."""
    return [{"weight": 1.0, "requirement": f"Says thing number {n}."} for n in range(CRITERIA)]


def submission(number: int) -> str:
    return f"Text {number}. " * 100


def limit_seconds(calls: int) -> float:
    """Nobody is faster at a judge that takes LATENCY_SECONDS, with IN_FLIGHT at once: 1.56 for 2,000."""
    return calls / IN_FLIGHT * LATENCY_SECONDS
