"""The label that stands for a unit when several people labelled it."""

from collections import Counter
from collections.abc import Collection, Iterable
from typing import TypeVar

LabelT = TypeVar("LabelT", bound=str)

RULES = ("single", "unanimous", "majority", "adjudicated", "settled")
"""By which a label can stand; `single` is the word of the only person who labelled the unit, `settled` that
of a file of ground truth where no person labelled it."""


def vote_rule(labels: Collection[str], *, settled: bool = False) -> str:
    """By which rule the labels of a unit settle it, or would: two people who say the same are unanimous.

    `settled` are labels of nobody but files of ground truth.
    Worked value: MET → single; MET, MET → unanimous; MET, MET, UNMET → majority.
    """
    if settled:
        return "settled"
    if len(labels) == 1:
        return "single"
    return "unanimous" if len(set(labels)) == 1 else "majority"


def majority(labels: Iterable[LabelT]) -> LabelT | None:
    """The most frequent label (a verdict, an option's own label); None when there is none or a shared lead.

    A tie is left open for an adjudicator rather than broken by a rule nobody sees.
    Worked value: MET, MET, UNMET → MET; MET, UNMET → None.
    """
    counts = Counter(labels).most_common(2)
    if not counts or (len(counts) == 2 and counts[0][1] == counts[1][1]):
        return None
    return counts[0][0]
