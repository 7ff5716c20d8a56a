"""What a lint rule is, what it finds, and what it looks at."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from rubricweb.engine.agreement.intervals import Figure
from rubricweb.engine.lint.draft import DraftCriterion

Severity: TypeAlias = Literal["warning", "hint"]
"""``warning``: labels or scores will probably come out wrong. ``hint``: often fine, worth a look."""

Span: TypeAlias = tuple[int, int]
"""Start and end (exclusive) of characters in a requirement, so that ``requirement[start:end]`` is marked."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing a rule found.

    ``criterion`` is the 0-based index it is about, None for the rubric as a whole; ``others`` are the further
    criteria it involves, in order. ``span`` marks the words in that criterion's requirement, None when no
    words are to blame.
    """

    rule: str
    severity: Severity
    criterion: int | None
    message: str
    suggestion: str
    others: tuple[int, ...] = ()
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class CriterionEvidence:
    """What labels have shown about one criterion so far.

    - ``criterion``: its 0-based index in the rubric.
    - ``items``: items on which it has at least one label.
    - ``labels``: how often each label was given, abstentions (CANNOT_ASSESS, or an option that abstains)
      included; by people and judges together or by people alone, as the caller counts.
    - ``alpha``: Krippendorff's α among people, None when undefined; ``alpha_units`` the units it rests on.
    - ``judge_bias``: how far the judge moves the score beside people, by ``effect_bias`` from the means of
      each item's raters; None where no judge is known.
    """

    criterion: int
    items: int
    labels: Mapping[str, int]
    alpha: float | None = None
    alpha_units: int = 0
    judge_bias: Figure | None = None


@dataclass(frozen=True, slots=True)
class RuleExample:
    """What a rule is shown to explain itself: criteria as in a rubric file, and labels for a data rule."""

    criteria: tuple[Mapping[str, Any], ...]
    evidence: tuple[CriterionEvidence, ...] = ()


@dataclass(frozen=True, slots=True)
class LintInput:
    """Everything a rule may look at: the criteria in order, and what labels have shown."""

    criteria: tuple[DraftCriterion, ...]
    evidence: tuple[CriterionEvidence, ...] = ()


@dataclass(frozen=True, slots=True)
class Hit:
    """What a rule's own code gives back; the rule adds its name and severity."""

    message: str
    suggestion: str
    criterion: int | None = None
    others: tuple[int, ...] = ()
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: a stable ``name``, a title, why it matters, and an example of each side.

    ``reads`` says what it needs: ``text`` rules look at the rubric alone, ``data`` rules at labels too.
    ``find`` gives the hits in the order of the criteria; it never raises for a draft that can be read.
    """

    name: str
    title: str
    explanation: str
    severity: Severity
    find: Callable[[LintInput], Iterable[Hit]]
    triggers: RuleExample
    passes: RuleExample
    reads: Literal["text", "data"] = "text"

    def findings(self, sight: LintInput) -> list[Finding]:
        """What this rule has to say about what it is shown."""
        return [
            Finding(
                rule=self.name,
                severity=self.severity,
                criterion=hit.criterion,
                message=hit.message,
                suggestion=hit.suggestion,
                others=hit.others,
                span=hit.span,
            )
            for hit in self.find(sight)
        ]


def criteria(*entries: str | Mapping[str, Any]) -> RuleExample:
    """An example made of criteria; a bare text is the requirement of a criterion of weight 1."""
    return RuleExample(
        tuple({"requirement": entry} if isinstance(entry, str) else entry for entry in entries)
    )
