"""A queue of labels small enough to work every figure of its agreement board out by hand.

Four items, one criterion, three raters:

    a   x MET    y MET    z MET
    b   x MET    y MET    z UNMET
    c   x UNMET  y UNMET  z UNMET
    d   x UNMET  y MET    z UNMET

α: six METs and six UNMETs; b and d have 4 unlike ordered pairs of 6 each, over 3 − 1: observed 2 + 2 = 4,
expected (144 − 72) / 11 = 6.5455, α = 1 − 4 / 6.5455 = 0.3889.
κ: x and y agree on 3 of 4, by chance on 1/2: 0.5; x and z the same; y and z agree on 2 of 4, by chance on
3/4·1/4 + 1/4·3/4 = 0.375: 0.125 / 0.625 = 0.2. Their mean 0.4.
Equal pairs: 1, 1/3, 1, 1/3: 0.6667. One against the others: in b and d the two of a kind meet a tie (1/2
each) and the third nobody: 1/3; so 0.6667 too.
Leniency: x (1 − 1) + (1 − 1/2) + (0 − 0) + (0 − 1/2) = 0; y 0 + 1/2 + 0 + 1 = 1.5, over 4 units 0.375; z the
opposite.
"""

from rubricweb.models import ReviewQueue
from tests import factories
from tests.factories import Cast

SAID = {"a": "MET MET MET", "b": "MET MET UNMET", "c": "UNMET UNMET UNMET", "d": "UNMET MET UNMET"}
ITEMS = [{"id": key, "submission": f"Text {key}."} for key in SAID]
CRITERIA = [{"name": "only", "weight": 10, "requirement": "Says it."}]
RATERS = ("xavier", "yann", "zoe")


def labels_csv() -> str:
    lines = ["item_id,criterion,rater,verdict,reason"]
    for key, said in SAID.items():
        lines += [f"{key},only,{name},{label}," for name, label in zip(RATERS, said.split(), strict=True)]
    return "\n".join(lines)


def imported(people: Cast) -> ReviewQueue:
    """The labels above as they come from a file: the raters are nobody's user."""
    version = factories.version(people.team, people.ed, criteria=CRITERIA)
    dataset = factories.dataset(people.team, people.ed, items=ITEMS)
    return factories.import_labels(
        dataset,
        version,
        by=people.ed,
        data=labels_csv().encode(),
        filename="labels.csv",
        queue_name="Three of us",
    )
