"""At the terminal an item without a key of its own is named by its number and its words."""

import re

from tests import factories
from tests.factories import Cast

ITEMS = [{"submission": "Rome is the capital."}, {"id": "given", "submission": "Oslo is."}]


def test_items_and_cases_are_listed_without_made_keys(people: Cast, at_terminal) -> None:
    dataset = factories.dataset(people.team, people.ed, name="mixed", items=ITEMS)
    bob = at_terminal(people.bob)
    listed = bob("datasets", "items", "mixed").out
    made, given = dataset.items.order_by("position")
    assert "Rome is the capital." in listed
    assert f"id:{made.pk}" in listed
    assert "given" in listed
    shown = bob("datasets", "case", "mixed", f"id:{made.case_id}")
    assert shown.code == 0, shown.err
    assert not re.search("auto-[0-9a-f]{16}", listed + shown.out + shown.err)
    assert "Case given" in bob("datasets", "case", "mixed", f"id:{given.case_id}").err
