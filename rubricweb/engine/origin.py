"""Who gave a label: a person or a machine, here or in a file, or a file's own ground truth."""

from __future__ import annotations

from enum import StrEnum


class Origin(StrEnum):
    """Where a label comes from. Verdicts of a run that was graded here have none: their judge is known."""

    PERSON_HERE = "person_here"
    PERSON_IMPORTED = "person_imported"
    MACHINE_IMPORTED = "machine_imported"
    SETTLED_BY_FILE = "settled_by_file"


def origin_of(rater_kind: str, *, imported: bool) -> Origin:
    """The origin of a label by what its rater is (human, machine, settled) and whether it came in a file."""
    if rater_kind == "machine":
        return Origin.MACHINE_IMPORTED
    if rater_kind == "settled":
        return Origin.SETTLED_BY_FILE
    return Origin.PERSON_IMPORTED if imported else Origin.PERSON_HERE


def origin_words(origin: str | None) -> str:
    """The origin as pages and the terminal say it; "" for none and for a person here, which needs no word."""
    return _WORDS.get(Origin(origin), "") if origin else ""


_WORDS = {
    Origin.PERSON_IMPORTED: "a person, imported",
    Origin.MACHINE_IMPORTED: "a machine, imported",
    Origin.SETTLED_BY_FILE: "settled by a file",
}
