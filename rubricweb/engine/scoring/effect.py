"""What an answer does to the score: the one sign convention of words, colours, bias and sorting.

The **credit** of an answer is its value where the weight is positive and one less its value where it is
negative: 1 is the best for the score, 0 the worst, whichever word stands for it. MET on a criterion with
weight 5 is credit 1, MET on a penalty with weight −5 is credit 0. With weight 0 nothing moves the score.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from rubricweb.engine.verdict import Verdict

Effect: TypeAlias = Literal["helped", "hurt", "neither"]
"""Whether an answer gives the most its criterion can, or takes the most; neither in between."""


def credit(value: float, weight: float) -> float:
    """0 to 1: how well the answer serves the score. Value 1 (MET) is 1 at weight 4 and 0 at weight −4.

    A criterion of weight 0 is read like a positive one.
    """
    return 1 - value if weight < 0 else value


def points_lost(value: float | None, weight: float) -> float:
    """Weight times the credit that is missing; 0 without a value. Of many answers `value` is their mean.

    Weight 6 of which 81 % pass: 6 · 0.19 = 1.14. Weight −10 with the error in 7 %: 0.7.
    """
    return 0.0 if value is None else abs(weight) * (1 - credit(value, weight))


def effect_of(value: float | None, weight: float) -> Effect | None:
    """Whether the answer helped or hurt the score; None for an abstention or a failure, which have no value.

    Worked values: MET at +5 helped, UNMET at +5 hurt, MET at −5 hurt, UNMET at −5 helped, an option worth 0.5
    neither, anything at weight 0 neither.
    """
    if value is None:
        return None
    if weight == 0:
        return "neither"
    found = credit(value, weight)
    return "helped" if found >= 1 else "hurt" if found <= 0 else "neither"


def verdict_effect(verdict: str, weight: float) -> Effect | None:
    """`effect_of` a verdict: ``MET`` at −5 hurt; any other label, None."""
    return effect_of({"MET": 1.0, "UNMET": 0.0}.get(str(verdict)), weight)


def verdict_words(verdict: str, weight: float = 0.0) -> str:
    """A verdict for people: "Met", "Unmet", "Cannot assess"; of a penalty "Error present", "Error absent".

    What is stored, exported and sent stays MET and UNMET. Raises ValueError for any other word.
    """
    said = Verdict(verdict)
    if weight < 0 and said is not Verdict.CANNOT_ASSESS:
        return "Error present" if said is Verdict.MET else "Error absent"
    return said.value.capitalize().replace("_", " ")


def by_effect(verdict: str, weight: float) -> str:
    """A verdict as what it does to the score: of a penalty MET and UNMET change places, others stay.

    For tables that pool criteria of both signs: MET then says that the answer helped. UNMET at −5 is MET.
    """
    return {"MET": "UNMET", "UNMET": "MET"}.get(str(verdict), str(verdict)) if weight < 0 else str(verdict)
