"""The rubrics of the published prompt-eval-rubric 0.1: named functions of an output and its context."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from rubricweb.engine.checks.criteria import as_number, isolated
from rubricweb.engine.checks.published.evaluators import as_result
from rubricweb.engine.checks.published.rubrics import refuse_unusable
from rubricweb.engine.errors import shown
from rubricweb.engine.report import GradingError
from rubricweb.engine.scoring import FAILED, Outcome, score_verdicts


@dataclass(frozen=True, slots=True)
class Score:
    """What one rubric said of one output: ``value`` from 0 to 1, 0.0 with an ``error`` when it crashed."""

    name: str
    value: float
    reason: str | None = None
    error: GradingError | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """What the rubrics of a set said of one output.

    ``overall``: the weighted mean from 0 to 1, a crashed rubric counting 0 with its weight kept.
    ``coverage``: the share (0 to 1) of all weight whose rubric did not crash.
    """

    scores: list[Score]
    overall: float
    coverage: float

    @property
    def errors(self) -> tuple[GradingError, ...]:
        """What crashed, each by its rubric's name."""
        return tuple(score.error for score in self.scores if score.error is not None)

    def by_name(self) -> dict[str, Score]:
        """Every score by its rubric's name."""
        return {score.name: score for score in self.scores}


class Rubric:
    """One named function: ``score(output, context)`` gives a number from 0 to 1, or (number, reason).

    True is 1; numbers beyond 0 and 1 are clipped. Raises ValueError for an empty name, TypeError for what
    cannot be called or is a coroutine function.

    >>> Rubric("short", lambda output, context=None: (len(output) < 9, "counted")).evaluate("Yes.")
    Score(name='short', value=1.0, reason='counted', error=None)
    """

    def __init__(self, name: str, score: Callable[..., Any]) -> None:
        if not name:
            raise ValueError("name is empty; allowed: a name for the rubric")
        refuse_unusable(score, f"score of {name}")
        self.name = name
        self._score = score

    def evaluate(self, output: Any, context: Any = None) -> Score:
        """What it says of one output. A crash, NaN or a text instead of a number is an error, worth 0.0."""
        answer = isolated(lambda: as_result(self._score(output, context), ""), name=self.name, weight=1.0)
        if isinstance(answer, GradingError):
            return Score(self.name, 0.0, f"error: {answer.message}", answer)
        assert answer.value is not None
        return Score(self.name, answer.value, answer.reason or None)


class RubricSet:
    """Rubrics, each with weight 1, or ``(rubric, weight)`` with a weight from 0.

    Raises ValueError for an empty set, two rubrics of one name and a weight that is negative or not finite,
    TypeError for anything else among them.
    """

    def __init__(self, rubrics: Iterable[Rubric | tuple[Rubric, float]]) -> None:
        entries = [_entry(one, f"rubrics[{i}]") for i, one in enumerate(rubrics)]
        if not entries:
            raise ValueError("rubrics is empty; allowed: at least one rubric")
        self.rubrics: Sequence[Rubric] = [rubric for rubric, _ in entries]
        self.weights: Sequence[float] = [weight for _, weight in entries]
        names = [rubric.name for rubric in self.rubrics]
        for i, name in enumerate(names):
            if name in names[:i]:
                raise ValueError(f"rubrics[{i}] is named {name!r} again; allowed: every name once")

    def evaluate(self, output: Any, context: Any = None) -> Report:
        """Score one output. With weights 0.3 for 1.0 and 0.7 for 0.5: 0.65."""
        scores = [rubric.evaluate(output, context) for rubric in self.rubrics]
        outcomes: list[Outcome] = [FAILED if score.error else score.value for score in scores]
        total = score_verdicts(self.weights, outcomes, on_error="zero")
        return Report(scores, total.score or 0.0, total.coverage)


def _entry(entry: Any, place: str) -> tuple[Rubric, float]:
    if isinstance(entry, Rubric):
        return entry, 1.0
    if not (isinstance(entry, tuple) and len(entry) == 2 and isinstance(entry[0], Rubric)):
        raise TypeError(f"{place} is {shown(entry)}; allowed: a Rubric, or (Rubric, weight)")
    weight = None if isinstance(entry[1], bool) else as_number(entry[1])
    if weight is None or weight < 0:
        raise ValueError(f"{place}[1] is {shown(entry[1])}; allowed: a finite weight from 0")
    return entry[0], weight
