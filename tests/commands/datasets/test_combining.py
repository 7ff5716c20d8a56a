"""`rubricweb datasets combine`: a plan first, then one dataset."""

import json

from rubricweb.api.datasets.combination_schemas import Combination, CombinationPlan
from rubricweb.models import Dataset
from tests import factories
from tests.commands.shapes import misfits
from tests.factories import Cast


def test_a_plan_stores_nothing_and_the_command_combines(people: Cast, at_terminal) -> None:
    for version in ("v1", "v2"):
        items = [{"id": key, "prompt": f"{key}?", "submission": f"{version} {key}"} for key in "abc"]
        factories.dataset(people.team, people.ed, name=f"replies {version}", items=items)
    ed = at_terminal(people.ed)
    both = ("datasets", "combine", "replies v1", "replies v2", "--name", "all")
    said = ed(*both, "--plan").err
    assert "replies v1: 3 items as replies@v1" in said
    assert "6 items of 3 cases in all." in said
    assert "3 cases in 2 datasets." in said
    printed = ed(*both, "--plan", "--json").out
    assert misfits(CombinationPlan, printed) == []
    assert Dataset.objects.count() == 2
    same = ed(*both, "--versions", "v1,v1")
    assert same.code == 1
    assert "a second answer of replies@v1 to case 'a'" in same.err
    wrong = ed(*both, "--versions", "v1")
    assert (wrong.code, "one for each dataset" in wrong.err) == (1, True)
    printed = ed(*both, "--system", "assistant", "--versions", "v1,bot@2", "--json").out
    assert misfits(Combination, printed) == []
    assert json.loads(printed)["items_copied"] == 6
    combined = Dataset.objects.get(name="all")
    assert list(combined.items.order_by("position").values_list("key", flat=True)) == [
        *("a@assistant@v1", "b@assistant@v1", "c@assistant@v1"),
        *("a@bot@2", "b@bot@2", "c@bot@2"),
    ]
