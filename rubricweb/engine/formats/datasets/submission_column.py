"""The column, or the key, that holds the submissions: told once where it is not there, else row by row."""

from __future__ import annotations

from collections.abc import Mapping

from rubricweb.engine.errors import EnoughFaults, FaultList, join_place, shortened
from rubricweb.engine.formats.dataset_values import ALIASES, COLUMNS_NAMED
from rubricweb.engine.formats.records import PlacedRecord

SUBMISSION_NAMES = f"as {' or '.join(ALIASES['submission'])}"

ROWS_WAITED = 10_000
"""After so many rows without a submission nobody waits for one that has it."""


class SubmissionColumn:
    """Looks at one row after the other; faults go to ``faults``.

    ``noun`` is what the file has, columns or keys. Where it is "", each row is looked at alone.
    """

    def __init__(self, faults: FaultList, *, noun: str) -> None:
        self._faults = faults
        self._noun = noun
        self._columns: dict[str, None] = {}
        # Rows without a submission, for as long as none has one; None from then on.
        self._waiting: list[str] | None = [] if noun else None

    def is_there(self, record: PlacedRecord, mapping: Mapping[str, str]) -> bool:
        """Whether the row is to be read on: it has a submission, or another one had.

        Raises EnoughFaults after so many rows that the column is not there at all.
        """
        if self._waiting is None:
            return True
        self._columns |= dict.fromkeys(record.data)
        if record.data.get(mapping.get("submission", "")) is None:
            self._waiting.append(record.place)
            if len(self._waiting) >= ROWS_WAITED:
                self.check_whole()
                raise EnoughFaults
            return False
        for place in self._waiting:
            here = join_place(place, "submission")
            self._faults.add(here, "nothing", f"the text to grade, {SUBMISSION_NAMES}")
        self._waiting = None
        return True

    def check_whole(self) -> None:
        """One fault for a file in which no row has a submission."""
        if self._waiting:
            names = ", ".join(shortened(name) for name in list(self._columns)[:COLUMNS_NAMED])
            more = len(self._columns) - COLUMNS_NAMED
            found = f"the {self._noun}s {names or '(none)'}{f' and {more:,} more' if more > 0 else ''}"
            allowed = f"a {self._noun} with the text to grade, {SUBMISSION_NAMES}"
            self._faults.add("submission", found, allowed)
