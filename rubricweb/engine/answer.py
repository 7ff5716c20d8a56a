"""What came back about one criterion."""

from __future__ import annotations

from dataclasses import dataclass

from rubricweb.engine.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer to one criterion with the reason given for it.

    Exactly one is set: ``verdict`` (a binary criterion; CANNOT_ASSESS also where a panel abstains on
    another kind), ``option`` (a choice criterion: the option's own label) or ``value`` (a check).
    ``confidence`` runs from 0 to 1, None when nobody said. Raises ValueError for none or several answers,
    or a confidence outside 0 to 1.
    """

    verdict: Verdict | None
    reason: str
    option: str | None = None
    value: float | None = None
    confidence: float | None = None

    def __post_init__(self) -> None:
        given = [name for name in ("verdict", "option", "value") if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError(
                f"an answer with {' and '.join(given) or 'nothing'}; allowed: one of verdict, option, value"
            )
        if self.confidence is not None and not 0.0 <= self.confidence <= 1.0:
            raise ValueError(f"a confidence of {self.confidence!r}; allowed: a number from 0 to 1")
