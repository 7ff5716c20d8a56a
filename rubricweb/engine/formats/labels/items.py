"""Which item of a dataset a row of labels is about: by its id, or by the case it answers and who answered."""

from __future__ import annotations

from rubricweb.engine.formats.datasets.cases import AnsweredCase
from rubricweb.engine.formats.datasets.known_keys import KnownItems, whole_number

NAMED = 5
"""So many answers to a case a refusal names."""


def answer_of(items: KnownItems | None, case: str, system: str, attempt: str) -> str | tuple[str, str]:
    """The id of the one answer to a case by a system at an attempt, "" for whichever there is; else what was
    found and what would be right.

    Where the items are not known it is the id an answer has that was given none.
    """
    number = whole_number(attempt)
    if attempt and number is None:
        return f"the attempt {attempt!r}", "a whole number from 1"
    if items is None:
        return AnsweredCase(case, system, number or 1).item_id
    answers = items.answers(case, system, number)
    if len(answers) == 1:
        return answers[0].item_id
    said = f"{case!r}{f' of {system!r}' if system else ''}{f', attempt {number}' if number else ''}"
    if answers:
        names = ", ".join(f"{one.system or 'no system'}, attempt {one.attempt}" for one in answers[:NAMED])
        more = " …" if len(answers) > NAMED else ""
        return (
            f"{said}, which has {len(answers)} answers ({names}{more})",
            "columns that tell them apart (system=COLUMN, attempt=COLUMN)",
        )
    if items.is_case(case):
        return f"{said}, which has no such answer", "a system, and an attempt, that answered the case"
    return said, "the id of a case in the dataset"


def no_item(items: KnownItems, text: str) -> tuple[str, str]:
    """What is said of a text that is no item's id."""
    if not items.is_case(text):
        return repr(text[:200]), "the id of an item in the dataset"
    return (
        f"{text[:200]!r}, which is the id of a case",
        "the id of an item in the dataset; or say case_id=COLUMN and system=COLUMN",
    )
