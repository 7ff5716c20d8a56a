"""What is asked of a submission: weighted criteria in a rubric."""

from rubricweb.engine.rubric.rubric import (
    KINDS,
    MAX_CRITERIA,
    MAX_NAME,
    MAX_REQUIREMENT,
    MAX_SOURCE_BYTES,
    MAX_TITLE,
    MAX_WEIGHT,
    Criterion,
    LengthPenalty,
    Option,
    PassRule,
    Rubric,
    Section,
    check_rubric,
    grade_by_default_with,
)

__all__ = [
    "KINDS",
    "MAX_CRITERIA",
    "MAX_NAME",
    "MAX_REQUIREMENT",
    "MAX_SOURCE_BYTES",
    "MAX_TITLE",
    "MAX_WEIGHT",
    "Criterion",
    "LengthPenalty",
    "Option",
    "PassRule",
    "Rubric",
    "Section",
    "check_rubric",
    "grade_by_default_with",
]
