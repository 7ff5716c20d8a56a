"""The order in which a choice criterion's options are shown."""

from __future__ import annotations

import hashlib
import json

from rubricweb.engine.rubric.criterion import Criterion
from rubricweb.engine.submission import Submission


def option_order(criterion: Criterion, submission: Submission, seed: int | None) -> tuple[int, ...]:
    """The 0-based options in the order to show them; without a seed, the rubric's.

    Judges favour positions, so that a seed gives every submission an order of its own: an ordinal scale is
    shown forwards or backwards, never mixed up; nominal options in any order; not-applicable ones come last.
    The order follows from seed, criterion name and submission alone (sha256), so that it is the same on every
    machine and at every attempt.
    """
    if seed is None:
        return tuple(range(len(criterion.options)))
    scored = [i for i, option in enumerate(criterion.options) if not option.na]
    last = [i for i, option in enumerate(criterion.options) if option.na]
    key = f"{seed}\n{criterion.name}\n{_submission_hash(submission)}"
    if criterion.scale_type == "nominal":
        scored.sort(key=lambda i: _digest(f"{key}\n{i}"))
    elif _digest(key)[0] % 2:
        scored.reverse()
    return (*scored, *last)


def _submission_hash(submission: Submission) -> str:
    content = [submission.output, submission.thinking, submission.query]
    return _digest(json.dumps(content, sort_keys=True, default=str)).hex()


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def usual_seed(dataset_id: int, rubric_id: int | None) -> int:
    """The same for all versions of a rubric: what did not change is asked in the same words, and so known. Of
    items that bring their own rubrics it is that of their dataset.
    """
    subject = f"dataset {dataset_id}" if rubric_id is None else f"rubric {rubric_id}"
    return int.from_bytes(hashlib.sha256(subject.encode()).digest()[:4])
