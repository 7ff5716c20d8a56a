"""Where a settled label comes from, as files carry it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

PROVENANCE_KEY = "ground_truth_provenance"
"""Where an item of a file carries it: a list with one entry per label of its ``ground_truth``."""

PROVENANCE_COLUMNS = ("rule", "decided_by", "decided_at", "labels")


@dataclass(frozen=True, slots=True)
class LabelProvenance:
    """Where a settled label comes from: ``rule`` is one of `ground_truth.RULES`.

    ``decided_by`` is the user name of who decided it, None where nobody had to; ``decided_at`` an ISO 8601
    time; ``labels`` what raters had said then, as {rater, is_judge, verdict}.
    """

    rule: str
    decided_by: str | None = None
    decided_at: str | None = None
    labels: tuple[dict[str, Any], ...] = ()


def provenance_fields(row: Sequence[LabelProvenance | None]) -> list[dict[str, Any] | None]:
    """The provenance of an item's labels as plain data, None where a label has none."""
    return [
        None
        if origin is None
        else {name: getattr(origin, name) for name in PROVENANCE_COLUMNS} | {"labels": list(origin.labels)}
        for origin in row
    ]
