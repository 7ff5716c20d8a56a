"""The evaluators of the published prompt-eval-rubric, on this package's isolation and scoring."""

from __future__ import annotations

import csv
import functools
import inspect
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from rubricweb.engine.checks.base import CheckResult
from rubricweb.engine.checks.criteria import as_number, isolated
from rubricweb.engine.checks.published.rubrics import CheckRubric, RubricFn, name_of, refuse_unusable
from rubricweb.engine.errors import shown
from rubricweb.engine.formats.formulas import neutralised
from rubricweb.engine.report import GradingError
from rubricweb.engine.scoring import FAILED, Outcome, score_groups, score_verdicts


@dataclass(frozen=True, slots=True)
class RubricPart:
    """One rubric's share in a result: ``score`` from 0 to 1, 0.0 with an ``error`` when it crashed.

    ``label`` says what was found; ``weight`` is None where nothing is weighted.
    """

    name: str
    score: float
    label: str
    weight: float | None = None
    group: str | None = None
    error: GradingError | None = None


@dataclass(frozen=True, slots=True)
class RubricReport:
    """The result of a WeightedRubric for one text.

    - ``score``: 0 to 1; a crashed rubric counts 0 with its weight kept.
    - ``breakdown``: every rubric's part by its name, in order.
    - ``groups``: the score of every category as if it were alone; empty when no rubric has one.
    - ``coverage``: share (0 to 1) of the total absolute weight that was measured and did not crash.
    - ``grading_errors``: what crashed; ``errors`` the same as sentences by name.
    """

    output: str
    score: float
    breakdown: dict[str, RubricPart]
    groups: dict[str, float]
    coverage: float
    grading_errors: tuple[GradingError, ...]

    @property
    def errors(self) -> dict[str, str]:
        """What crashed, by the rubric's name: ``{"broken": "ValueError: something went wrong"}``."""
        return _sentences(self.grading_errors)

    def to_csv(self, *, header: bool = True) -> str:
        """One line of CSV, after a header line unless ``header`` is False: a run writes it text by text.

        Columns: output, score, errors, one ``group.…`` per category and one ``rubric.…`` per rubric. Cells
        that a spreadsheet would run as formulas are neutralised with a leading ``'``.
        """
        columns = {f"group.{name}": repr(score) for name, score in self.groups.items()}
        return _csv(self.output, {"score": repr(self.score)}, self.breakdown, self.errors, columns, header)


@dataclass(frozen=True, slots=True)
class AllReport:
    """The result of an AllRubric for one text: ``passed``, and the names of the rubrics that did not."""

    output: str
    passed: bool
    failed_rubrics: list[str]
    breakdown: dict[str, RubricPart]
    grading_errors: tuple[GradingError, ...]

    @property
    def errors(self) -> dict[str, str]:
        """What crashed, by the rubric's name; a crashed rubric has failed, whatever the threshold."""
        return _sentences(self.grading_errors)

    def to_csv(self, *, header: bool = True) -> str:
        """One line of CSV as ``RubricReport.to_csv``, with ``passed`` (true, false) for the score."""
        passed = {"passed": str(self.passed).lower()}
        return _csv(self.output, passed, self.breakdown, self.errors, {}, header)


class WeightedRubric:
    """Rubrics with weights: ``[(rubric, weight), …]``, or ``(rubric, weight, category)``.

    A rubric is one of the classes here or any function of the text; it gives a number, or a number with its
    reason. Two of one name are numbered: ``fn``,
    ``fn_2``. Raises ValueError or TypeError for an empty list, a weight that is not finite, something that
    cannot be called, and coroutine functions.
    """

    def __init__(
        self, rubrics: Iterable[tuple[RubricFn, float] | tuple[RubricFn, float, str | None]]
    ) -> None:
        entries = [_weighted(entry, f"rubrics[{i}]") for i, entry in enumerate(rubrics)]
        if not entries:
            raise ValueError("rubrics is empty; allowed: at least one (rubric, weight)")
        self.rubrics = [rubric for rubric, _, _ in entries]
        self.weights = [weight for _, weight, _ in entries]
        self.categories = [category for _, _, category in entries]
        self.names = _numbered(self.rubrics)

    def score(self, output: str) -> RubricReport:
        """Score one text. With weights 0.3 for a rubric that crashes and 0.7 for one that gives 1.0: 0.7."""
        parts = [
            _part(rubric, output, name, weight, category)
            for rubric, name, weight, category in zip(
                self.rubrics, self.names, self.weights, self.categories, strict=True
            )
        ]
        outcomes: list[Outcome] = [FAILED if part.error else part.score for part in parts]
        total = score_verdicts(self.weights, outcomes, on_error="zero")
        by_category = score_groups(self.categories, self.weights, outcomes, on_error="zero")
        return RubricReport(
            output=output,
            score=total.score or 0.0,
            breakdown={part.name: part for part in parts},
            groups={name: found.score or 0.0 for name, found in by_category.items() if name is not None},
            coverage=total.coverage,
            grading_errors=tuple(part.error for part in parts if part.error),
        )


class AllRubric:
    """Rubrics of which every one must reach the threshold (0 to 1)."""

    def __init__(self, rubrics: Iterable[RubricFn], threshold: float = 1.0) -> None:
        self.rubrics = list(rubrics)
        if not self.rubrics:
            raise ValueError("rubrics is empty; allowed: at least one rubric")
        if not 0.0 <= threshold <= 1.0:
            raise ValueError(f"threshold is {threshold!r}; allowed: a number from 0 to 1")
        for i, rubric in enumerate(self.rubrics):
            refuse_unusable(rubric, f"rubrics[{i}]")
        self.threshold = threshold
        self.names = _numbered(self.rubrics)

    def score(self, output: str) -> AllReport:
        """Check one text; a rubric fails below the threshold, or by crashing."""
        parts = [_part(rubric, output, name) for rubric, name in zip(self.rubrics, self.names, strict=True)]
        failed = [part.name for part in parts if part.error or part.score < self.threshold]
        return AllReport(
            output=output,
            passed=not failed,
            failed_rubrics=failed,
            breakdown={part.name: part for part in parts},
            grading_errors=tuple(part.error for part in parts if part.error),
        )


def _weighted(entry: Any, place: str) -> tuple[RubricFn, float, str | None]:
    if not isinstance(entry, tuple | list) or len(entry) not in (2, 3):
        raise ValueError(
            f"{place} is {shown(entry)}; allowed: (rubric, weight) or (rubric, weight, category)"
        )
    rubric, weight, category = entry if len(entry) == 3 else (*entry, None)
    refuse_unusable(rubric, f"{place}[0]")
    number = None if isinstance(weight, bool) else as_number(weight)
    if number is None:
        raise ValueError(f"{place}[1] is {shown(weight)}; allowed: a finite number")
    if category is not None and not isinstance(category, str):
        raise ValueError(f"{place}[2] is {shown(category)}; allowed: a category's name")
    return rubric, number, category


def _part(
    rubric: RubricFn, output: str, name: str, weight: float | None = None, group: str | None = None
) -> RubricPart:
    answer = isolated(
        functools.partial(_measure, rubric, output), name=name, weight=1.0 if weight is None else weight
    )
    if isinstance(answer, GradingError):
        return RubricPart(name, 0.0, _sentence(answer), weight, group, answer)
    assert answer.value is not None
    return RubricPart(name, answer.value, answer.reason, weight, group)


def _measure(rubric: RubricFn, output: str) -> CheckResult:
    if isinstance(rubric, CheckRubric):
        return rubric.measure(output)
    returned = rubric(output)
    return as_result(returned, f"returned {shown(returned)}")


def as_result(returned: Any, reason: str) -> CheckResult:
    """What a function gave back, a number or (number, reason), with ``reason`` where it gives none.

    Raises TypeError for an awaitable; whether the number is one is for ``isolated`` to say.
    """
    if isinstance(returned, CheckResult):
        return returned
    if isinstance(returned, tuple) and len(returned) == 2:
        value, said = returned
        return CheckResult(value, reason if said is None else str(said))
    if inspect.isawaitable(returned):
        if inspect.iscoroutine(returned):
            returned.close()
        raise TypeError("returned an awaitable; allowed: a number")
    return CheckResult(returned, reason)


def _numbered(rubrics: Sequence[RubricFn]) -> list[str]:
    names: list[str] = []
    for rubric in rubrics:
        name = base = name_of(rubric)
        number = 1
        while name in names:
            number += 1
            name = f"{base}_{number}"
        names.append(name)
    return names


def _sentence(error: GradingError) -> str:
    return error.message if error.kind == "check_crashed" else str(error)


def _sentences(errors: Iterable[GradingError]) -> dict[str, str]:
    return {error.criterion or "": _sentence(error) for error in errors}


def _csv(
    output: str,
    result: dict[str, str],
    breakdown: dict[str, RubricPart],
    errors: dict[str, str],
    columns: dict[str, str],
    header: bool,
) -> str:
    cells = {"output": output} | result
    cells["errors"] = "; ".join(f"{name}: {sentence}" for name, sentence in errors.items())
    cells |= columns | {f"rubric.{name}": repr(part.score) for name, part in breakdown.items()}
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    if header:
        writer.writerow(neutralised(name) for name in cells)
    writer.writerow(neutralised(cell) for cell in cells.values())
    return text.getvalue()
