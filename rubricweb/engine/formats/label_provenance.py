"""Where a settled label comes from, as files carry it, and the decisions by which earlier labels count."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

PROVENANCE_KEY = "ground_truth_provenance"
"""Where an item of a file carries it: a list with one entry per label of its ``ground_truth``."""

PROVENANCE_COLUMNS = ("rule", "decided_by", "decided_at", "labels")
LINEAGE_COLUMNS = ("rubric_versions", "counts_by")
"""What else it says; these stand last in a table."""

DECISIONS_KEY = "label_decisions"
"""Where the head of a file says which decisions its labels count by."""

SAME_WORDS = "same words"
"""By what a label counts that was given to the same question; else by a decision, as in ``carry 12``."""

NOT_COUNTED = "not counted"


@dataclass(frozen=True, slots=True)
class LabelProvenance:
    """Where a settled label comes from: ``rule`` is one of `ground_truth.RULES`.

    ``decided_by`` is the user name of who decided it, None where nobody had to; ``decided_at`` an ISO 8601
    time; ``labels`` what raters had said then, as {rater, is_judge, verdict}, with rubric_version, counts_by
    and origin, one of `origin.Origin`, where that is known. ``rubric_versions`` are the numbers of the
    versions it was given to, none for an item's own rubric, and ``counts_by`` says by what it counts for the
    version it stands in.
    """

    rule: str
    decided_by: str | None = None
    decided_at: str | None = None
    labels: tuple[dict[str, Any], ...] = ()
    rubric_versions: tuple[int, ...] = ()
    counts_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class UsedDecision:
    """A decision by which labels given to earlier words count, as it was when a file was written.

    ``criterion`` and its ``uid`` are None where the guidelines above all criteria changed. ``to_version`` is
    the number of the version that changed the words. ``options`` says what each earlier label counts as, None
    for one that does not; None as a whole where labels are carried as they are.
    """

    id: int
    kind: str
    to_version: int
    rubric: str = ""
    criterion: str | None = None
    uid: str | None = None
    options: Mapping[str, str | None] | None = None
    reason: str = ""
    decided_by: str | None = None
    decided_at: str | None = None


def provenance_fields(row: Sequence[LabelProvenance | None]) -> list[dict[str, Any] | None]:
    """The provenance of an item's labels as plain data, None where a label has none.

    What files of earlier releases do not say is left out.
    """
    return [None if origin is None else _fields(origin) for origin in row]


def _fields(origin: LabelProvenance) -> dict[str, Any]:
    said = {name: getattr(origin, name) for name in PROVENANCE_COLUMNS} | {"labels": list(origin.labels)}
    return said | {name: list(getattr(origin, name)) for name in LINEAGE_COLUMNS if getattr(origin, name)}


def decision_fields(decisions: Sequence[UsedDecision]) -> dict[str, Any]:
    """The decisions as the head of a file says them; nothing where no label was carried."""
    return {DECISIONS_KEY: [asdict(one) for one in decisions]} if decisions else {}
