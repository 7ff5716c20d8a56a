"""What a list leaves out, and why: no list is shorter than what it is of without saying so."""

from dataclasses import dataclass

from rubricweb.engine.number_format import counted

REASONS = {
    "to_review_blind": "you are still to review {them} blind",
    "not_graded": "{they_are} not graded yet",
    "failed": "a verdict on {them} failed, so {they_have} no rank until {they_are} retried",
    "no_score": "nothing could be judged, so {they_have} no score",
}
"""Why items are left out → a sentence about several of them, with the pronouns to fill in."""
_ONE = {"them": "it", "they_are": "it is", "they_have": "it has"}
_SEVERAL = {"them": "them", "they_are": "they are", "they_have": "they have"}


@dataclass(frozen=True)
class LeftOutItems:
    """How many items a list leaves out for one reason, of REASONS."""

    why: str
    items: int

    @property
    def says(self) -> str:
        """LeftOutItems("no_score", 2).says is "2 items: nothing could be judged, so they have no score"."""
        pronouns = _ONE if self.items == 1 else _SEVERAL
        return f"{counted(self.items, 'item')}: {REASONS[self.why].format(**pronouns)}"


def left_out(**items: int) -> tuple[LeftOutItems, ...]:
    """Those reasons for which there are some, in the order given."""
    return tuple(LeftOutItems(why, number) for why, number in items.items() if number)
