"""What is graded, with the context a judge may see beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

Chat: TypeAlias = Sequence[Mapping[str, Any]]
"""A conversation: turns such as ``{"role": "user", "content": "…"}``, oldest first."""

Query: TypeAlias = str | Chat
"""The task the submission answers: plain text or a conversation."""


@dataclass(frozen=True, slots=True)
class Submission:
    """One text to grade.

    ``output`` is the answer itself; ``thinking`` its reasoning when that came separately; ``query`` the
    task it answers; ``reference`` an exemplar answer. None means "was not given" and leaves no trace in a
    prompt.
    """

    output: str
    thinking: str | None = None
    query: Query | None = None
    reference: str | None = None

    @classmethod
    def of(cls, to_grade: ToGrade, query: Query | None = None, reference: str | None = None) -> Submission:
        """Make a submission from whatever ``grade()`` accepts.

        A text is the output. A mapping has ``output`` and may have ``thinking``, nothing else. A Submission
        keeps its own query and reference unless others are given here. Raises ValueError for any other
        shape.
        """
        if isinstance(to_grade, cls):
            return cls(
                output=to_grade.output,
                thinking=to_grade.thinking,
                query=to_grade.query if query is None else query,
                reference=to_grade.reference if reference is None else reference,
            )
        if isinstance(to_grade, str):
            return cls(output=to_grade, query=query, reference=reference)
        if not isinstance(to_grade, Mapping):
            kind = type(to_grade).__name__
            raise ValueError(f"cannot grade a {kind}; allowed: a text, or a mapping with output and thinking")
        unknown = sorted(str(key) for key in to_grade if key not in ("output", "thinking"))
        output, thinking = to_grade.get("output"), to_grade.get("thinking")
        if unknown or not isinstance(output, str) or not isinstance(thinking, str | None):
            raise ValueError(
                f"cannot grade a mapping with the keys {sorted(map(str, to_grade))}; "
                "allowed: output (text) and optionally thinking (text)"
            )
        return cls(output=output, thinking=thinking, query=query, reference=reference)


ToGrade: TypeAlias = str | Mapping[str, str] | Submission
"""What ``grade()`` and ``judge()`` accept: a text, ``{"thinking": …, "output": …}``, or a Submission."""
