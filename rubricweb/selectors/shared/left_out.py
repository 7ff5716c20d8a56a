"""What a list leaves out, and why: no list is shorter than what it is of without saying so."""

from dataclasses import dataclass

from rubricweb.engine.number_format import counted

REASONS = {
    "to_review_blind": "you are still to review {them} blind",
    "not_graded": "{they_are} not graded yet",
    "failed": "a verdict on {them} failed, so {they_have} no rank until {they_are} retried",
    "no_score": "nothing could be judged, so {they_have} no score",
    "archived": "{they_are} archived",
    "retired": "{they_are} retired",
}
"""Why rows are left out → a sentence about several of them, with the pronouns to fill in."""
_ONE = {"them": "it", "they_are": "it is", "they_have": "it has"}
_SEVERAL = {"them": "them", "they_are": "they are", "they_have": "they have"}


@dataclass(frozen=True)
class LeftOutItems:
    """How many rows a list leaves out for one reason, of REASONS; `noun` is what one of them is."""

    why: str
    items: int
    noun: str = "item"

    @property
    def says(self) -> str:
        """LeftOutItems("no_score", 2).says is "2 items: nothing could be judged, so they have no score"."""
        pronouns = _ONE if self.items == 1 else _SEVERAL
        return f"{counted(self.items, self.noun)}: {REASONS[self.why].format(**pronouns)}"


def left_out(*, noun: str = "item", **items: int) -> tuple[LeftOutItems, ...]:
    """Those reasons for which there are some, in the order given."""
    return tuple(LeftOutItems(why, number, noun) for why, number in items.items() if number)
