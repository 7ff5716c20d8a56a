"""What every check is: parameters, a sentence that describes it, and a value for one submission."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from rubricweb.engine.errors import EngineError
from rubricweb.engine.submission import Submission

Phrase = Annotated[str, Field(min_length=1, max_length=200, pattern=r"\S")]
"""A keyword or phrase: 1 to 200 characters, not only spaces."""


class CheckParams(BaseModel):
    """Base of every check's parameters: frozen, unknown names refused, no silent conversion of types.

    Every field has a description, so that a form can be built from ``model_json_schema()``.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class NoParams(CheckParams):
    """The parameters of a check that has none."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What a check measured: ``value`` from 0 (not at all) to 1 (fully), and what it rests on.

    ``reason`` quotes what was found or names what is missing. A value outside 0 to 1 is clipped by
    ``run_check`` unless the criterion's weight is 0, a metric that is only tracked.
    """

    value: float
    reason: str


class CannotCheck(EngineError):
    """A check that has no basis for a value: an error of the criterion, never a 0.

    ``kind`` is stable: ``no_reference``, ``not_installed``, ``too_large``, ``timed_out`` or ``needs_a_run``.
    """

    def __init__(self, kind: str, message: str) -> None:
        self.kind = kind
        self.message = message
        super().__init__(kind, message)

    def __str__(self) -> str:
        return f"{self.kind}: {self.message}"


@dataclass(frozen=True, slots=True)
class Check:
    """A programmatic criterion: a function of the submission that asks no judge.

    ``name`` is what rubrics store; ``title`` a few words for lists; ``description`` a sentence about every
    use of it. ``params`` is the model its parameters are read with. ``run(submission, params)`` measures;
    it may raise anything: ``run_check`` records it. ``describe(params)`` says in one sentence, for a
    reviewer, what is asked with these parameters; None stands for the description.
    """

    name: str
    title: str
    description: str
    params: type[BaseModel]
    run: Callable[[Submission, Any], CheckResult]
    describe: Callable[[Any], str] | None = None


def reference_of(submission: Submission, given: str | None) -> str:
    """The reference to compare with: the one given in the parameters, else the submission's own.

    Raises CannotCheck (``no_reference``) when there is neither, or only white space.
    """
    reference = submission.reference if given is None else given
    if reference is None or not reference.strip():
        raise CannotCheck("no_reference", "the item has no reference; allowed: a reference, or one in params")
    return reference


def quoted(text: str, limit: int = 80) -> str:
    """The text on one line in quotation marks, shortened: what reasons quote of a submission."""
    line = " ".join(text[: limit * 4].split())
    return f"“{line if len(line) <= limit else line[: limit - 1] + '…'}”"


def listed(texts: tuple[str, ...], limit: int = 8) -> str:
    """The texts separated by commas; from the ninth on only their number is said."""
    shown = ", ".join(texts[:limit])
    return shown if len(texts) <= limit else f"{shown} and {len(texts) - limit} more"
