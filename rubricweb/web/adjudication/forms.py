"""What people ask of the inbox of adjudication, and the decision they send."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.http import QueryDict

from rubricweb.errors import Invalid
from rubricweb.models import Cause
from rubricweb.selectors.adjudication.inbox import KINDS
from rubricweb.selectors.adjudication.units import UnitToDecide
from rubricweb.web.comparison.forms import Decision
from rubricweb.web.http import whole_number

NAMES = ("queue", "kind", "criterion", "cause", "decided", "names", "last", "cursor")
CRITERIA_MAX = 100


@dataclass(frozen=True)
class Asked:
    """The query string of the inbox and of its units: from closed lists, or ids of rows.

    `last` is the unit decided just before, as (item id, criterion id), so that it can be undone.
    """

    queue_id: int | None = None
    kind: str = ""
    criterion_ids: tuple[int, ...] = ()
    cause: str = ""
    decided: bool = False
    names: bool = False
    last: tuple[int, int] | None = None
    cursor: str = ""

    def query(self, **changes: Any) -> str:
        """These filters as a query string, with some changed; where one is in the list only when given."""
        values: dict[str, Any] = {
            "queue": self.queue_id,
            "kind": self.kind,
            "criterion": self.criterion_ids,
            "cause": self.cause,
            "decided": "1" if self.decided else "",
        } | changes
        return urlencode({name: value for name, value in values.items() if value}, doseq=True)

    @property
    def here(self) -> str:
        return self.query()

    @property
    def kept(self) -> list[tuple[str, object]]:
        """(name, value) of hidden fields for the form that asks for queue, criterion and decided itself."""
        return [(name, value) for name, value in (("kind", self.kind), ("cause", self.cause)) if value]

    @property
    def is_narrowed(self) -> bool:
        return bool(self.queue_id or self.kind or self.criterion_ids or self.cause or self.decided)


def read_asked(query: QueryDict) -> Asked:
    """Raises Invalid for a parameter the inbox does not know, and for a value outside its closed list."""
    unknown = sorted(set(query) - set(NAMES))
    if unknown:
        raise Invalid(f"{unknown[0][:40]!r} cannot be filtered by. Allowed: {', '.join(NAMES)}.")
    criteria = [whole_number(text, "The criterion") for text in query.getlist("criterion")]
    if len(criteria) > CRITERIA_MAX:
        raise Invalid(f"Ask for at most {CRITERIA_MAX} criteria at once, not {len(criteria)}.")
    return Asked(
        queue_id=whole_number(query.get("queue"), "The queue"),
        kind=_one_of(query, "kind", KINDS),
        criterion_ids=tuple(dict.fromkeys(one for one in criteria if one is not None)),
        cause=_one_of(query, "cause", Cause.values),
        decided=_one_of(query, "decided", ["1"]) == "1",
        names=_one_of(query, "names", ["1"]) == "1",
        last=_read_last(query.get("last", "")),
        cursor=query.get("cursor", ""),
    )


def _one_of(query: QueryDict, name: str, allowed: Sequence[str]) -> str:
    value = query.get(name, "")
    if value and value not in allowed:
        raise Invalid(f"{name} cannot be {value[:40]!r}. Allowed: {', '.join(allowed)}.")
    return value


def _read_last(text: str) -> tuple[int, int] | None:
    """12-34 is criterion 34 of item 12."""
    if not text:
        return None
    item, _, criterion = text.partition("-")
    numbers = whole_number(item, "The item"), whole_number(criterion, "The criterion")
    return (numbers[0], numbers[1]) if numbers[0] is not None and numbers[1] is not None else None


def decision_for(unit: UnitToDecide) -> Decision:
    """The form of one unit, filled with the decision there already is."""
    stands = unit.decision
    if stands is None:
        return Decision(criterion=unit.criterion)
    initial = {"verdict": stands.verdict, "cause": stands.cause, "reason": stands.reason}
    return Decision(initial=initial, criterion=unit.criterion)
