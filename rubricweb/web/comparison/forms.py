"""What people ask of the pages of the comparison room."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from django.http import QueryDict

from rubricweb.errors import Invalid
from rubricweb.models import ReviewQueue, Run
from rubricweb.web.http import whole_number
from rubricweb.web.shared.queue_ids import queue_ids

NAMES = ("run", "queue")


@dataclass(frozen=True)
class ComparisonQuery:
    """The query string of a comparison page: ids of rows."""

    run_id: int | None = None
    queue_ids: tuple[int, ...] = ()

    def of(self, run: Run | None, queues: Sequence[ReviewQueue]) -> "ComparisonQuery":
        """The same with what the page chose where nothing was asked."""
        return replace(self, run_id=run.pk if run else None, queue_ids=tuple(queue.pk for queue in queues))

    def query(self, **changes: Any) -> str:
        """These as a query string, with some changed: `query(run=3)` → "run=3&queue=2"."""
        values: dict[str, Any] = {"run": self.run_id, "queue": self.queue_ids} | changes
        return urlencode({name: value for name, value in values.items() if value}, doseq=True)

    @property
    def pair(self) -> str:
        """The run and the queues: what every link of the room carries."""
        return self.query()


def read_asked(query: QueryDict) -> ComparisonQuery:
    """Raises Invalid for a parameter the room does not know and for a value outside its closed list."""
    unknown = sorted(set(query) - set(NAMES))
    if unknown:
        raise Invalid(f"{unknown[0][:40]!r} cannot be asked for. Allowed: {', '.join(NAMES)}.")
    return ComparisonQuery(run_id=whole_number(query.get("run"), "The run"), queue_ids=queue_ids(query))
