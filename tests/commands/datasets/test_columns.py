"""`rubricweb datasets columns` and `items --where`."""

import json

from rubricweb.api.datasets.schemas import ColumnInList
from tests import factories
from tests.commands.shapes import misfits
from tests.factories import Cast


def test_columns_are_declared_and_narrow_the_items(people: Cast, at_terminal) -> None:
    rows = [
        {"id": key, "submission": "So.", "language": tongue} for key, tongue in (("a", "de"), ("b", "en"))
    ]
    factories.dataset(people.team, people.ed, name="told", items=rows)
    ed, bob = at_terminal(people.ed), at_terminal(people.bob)
    assert "declares no columns" in bob("datasets", "columns", "told").err
    assert bob("datasets", "columns", "told", "language").code == 1
    printed = ed("datasets", "columns", "told", "language", "--json").out
    assert json.loads(printed) == {"name": "language", "values": ["de", "en"]}
    assert misfits(ColumnInList, printed) == []
    found = bob("datasets", "items", "told", "--where", "language=de", "--json").out.splitlines()
    assert [json.loads(line)["key"] for line in found] == ["a"]
    refused = bob("datasets", "items", "told", "--where", "colour=red")
    assert (refused.code, "one of language" in refused.err) == (1, True)
    assert "declares no columns" in ed("datasets", "columns", "told", "--none").err
