"""The answers people and judges give: three verdicts, or an option's label."""

from __future__ import annotations

from enum import StrEnum
from typing import TypeAlias


class Verdict(StrEnum):
    """What a person or a judge says about one binary criterion of one submission.

    MET means *the thing is present*, for a negative criterion too: there the error has been made.
    CANNOT_ASSESS abstains: the submission gives no basis to decide. A failed call is no verdict at all.
    """

    MET = "MET"
    UNMET = "UNMET"
    CANNOT_ASSESS = "CANNOT_ASSESS"

    @classmethod
    def parse(cls, text: str) -> Verdict:
        """Read a label after strip and casefold: ``Verdict.parse(" met ") is Verdict.MET``.

        Raises ValueError, naming what is allowed, for anything else: yes, true, 1 and pass are other people's
        codes, and guessing what they mean is how labels get inverted.
        """
        label = text.strip().casefold()
        for verdict in cls:
            if verdict.value.casefold() == label:
                return verdict
        raise ValueError(f"unknown verdict {text!r}; allowed: {ALLOWED_VERDICTS}")


CriterionVerdict = Verdict
"""The name the published packages use for the same three labels."""

Label: TypeAlias = Verdict | str
"""What a person or a judge answers: a Verdict to a binary criterion, an option's label to a choice."""

ALLOWED_VERDICTS = ", ".join(Verdict)
"""The labels as a sentence for refusals: ``MET, UNMET, CANNOT_ASSESS``."""
