"""The verdict that stands for a unit when several people labelled it."""

from collections import Counter
from collections.abc import Iterable

from rubricweb.engine.verdict import Verdict


def majority(verdicts: Iterable[Verdict]) -> Verdict | None:
    """The most frequent verdict; None when there is none or when the lead is shared.

    A tie is left open for an adjudicator rather than broken by a rule nobody sees.
    Worked value: MET, MET, UNMET → MET; MET, UNMET → None.
    """
    counts = Counter(verdicts).most_common(2)
    if not counts or (len(counts) == 2 and counts[0][1] == counts[1][1]):
        return None
    return counts[0][0]
