"""What people ask of the pages of the comparison room."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal
from urllib.parse import urlencode

from django.http import QueryDict

from rubricweb.errors import Invalid
from rubricweb.models import ReviewQueue, Run
from rubricweb.web.http import whole_number
from rubricweb.web.shared.choices import queue_ids

NAMES = ("run", "queue", "by", "criterion", "format", "refresh")
LEADS = ("agreement", "bias")


@dataclass(frozen=True)
class ComparisonQuery:
    """The query string of a comparison page: ids of rows, what its table is by, and which row is open."""

    run_id: int | None = None
    queue_ids: tuple[int, ...] = ()
    by: Literal["agreement", "bias"] | None = None
    criterion_id: int | None = None
    as_file: bool = False

    def of(self, run: Run | None, queues: Sequence[ReviewQueue]) -> "ComparisonQuery":
        """The same with what the page chose where nothing was asked."""
        return replace(self, run_id=run.pk if run else None, queue_ids=tuple(queue.pk for queue in queues))

    def query(self, **changes: Any) -> str:
        """These as a query string, with some changed: `query(run=3)` → "run=3&queue=2"."""
        values: dict[str, Any] = {"run": self.run_id, "queue": self.queue_ids} | changes
        return urlencode({name: value for name, value in values.items() if value}, doseq=True)

    @property
    def table(self) -> str:
        """The same table with no row open."""
        return self.query(by=self.by)

    @property
    def agreement(self) -> str:
        return self.query(by="agreement")

    @property
    def bias(self) -> str:
        return self.query(by="bias")

    @property
    def pair(self) -> str:
        """The run and the queues: what every link of the room carries."""
        return self.query()


def read_asked(query: QueryDict) -> ComparisonQuery:
    """Raises Invalid for a parameter the room does not know and for a value outside its closed list."""
    unknown = sorted(set(query) - set(NAMES))
    if unknown:
        raise Invalid(f"{unknown[0][:40]!r} cannot be asked for. Allowed: {', '.join(NAMES)}.")
    by = query.get("by") or None
    if by is not None and by not in LEADS:
        raise Invalid.at("by", repr(by)[:40], ", ".join(LEADS))
    return ComparisonQuery(
        run_id=whole_number(query.get("run"), "The run"),
        queue_ids=queue_ids(query),
        by=by,  # type: ignore[arg-type]  # checked right above
        criterion_id=whole_number(query.get("criterion"), "The criterion"),
        as_file=_is_file(query.get("format", "")),
    )


def _is_file(format: str) -> bool:
    if format not in ("", "csv"):
        raise Invalid.at("format", repr(format)[:40], "csv, or nothing for the page")
    return format == "csv"
