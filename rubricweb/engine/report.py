"""What grading gives back: a score, and per criterion the verdict behind it."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from rubricweb.engine.rubric import Criterion
from rubricweb.engine.verdict import Verdict


class GradingError(BaseModel):
    """One failed question: the criterion's name (None if holistic), a stable kind, a message."""

    model_config = ConfigDict(frozen=True)

    criterion: str | None
    kind: str
    message: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.message}"


class CriterionReport(Criterion):
    """A criterion with its result.

    ``verdict`` is None exactly when the judge's call failed; ``error`` then says why. A failure
    is never an UNMET: what it is worth is decided by the error policy of ``engine/scoring.py``.
    """

    verdict: Verdict | None
    reason: str = ""
    error: GradingError | None = None


class EvaluationReport(BaseModel):
    """The result of grading one submission.

    - ``score``: 0 to 1, or the raw weighted sum with ``normalize=False``; None when nothing could be scored.
    - ``raw_score``: the weighted sum, on the same scale for every grader.
    - ``llm_raw_score``: what the judge said: 0 to 100 for a holistic grader, else the weighted sum.
    - ``report``: one entry per criterion in rubric order, None for a holistic grader.
    - ``coverage``: share (0 to 1) of the total absolute weight really judged; None when a custom grader did
      not say.
    - ``errors``: the failed questions. Show coverage and errors wherever the score is shown.
    - ``explanation``: a holistic judge's reasoning.
    """

    model_config = ConfigDict(frozen=True)

    score: float | None
    raw_score: float | None = None
    llm_raw_score: float | None = None
    report: list[CriterionReport] | None = None
    coverage: float | None = None
    errors: tuple[GradingError, ...] = ()
    explanation: str | None = None
