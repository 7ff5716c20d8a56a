"""`rubricweb queues` over the answers of some system versions."""

import json
from typing import Any

from tests.factories import Cast
from tests.worlds.systems import versions


def test_a_queue_over_some_versions_is_planned_opened_and_shown(at_terminal: Any, people: Cast) -> None:
    world = versions(people)
    ed = at_terminal(people.ed)
    version = f"id:{world.rubric_version.pk}"
    wanted = ("queues", "new", "Both", "--dataset", "questions", "--rubric", version, "--rater", "ann")
    both = ("--system", "assistant@v3", "--system", "assistant@v4")
    assert ed(*wanted, *both, "--plan").out.startswith("10 items, 10 reviews")
    assert "is open with 10 items" in ed(*wanted, *both).out
    assert "assistant@v3, assistant@v4" in " ".join(ed("queues", "show", "Both").out.split())
    assert json.loads(ed("queues", "show", "Both", "--json").out)["systems"] == [
        "assistant@v3",
        "assistant@v4",
    ]
    ann = at_terminal(people.ann)
    for arguments in (("queues", "show", "Both"), ("queues", "list")):
        shown = " ".join(ann(*arguments).out.split())
        assert "assistant@v" not in shown
        assert "not told" in shown
    assert json.loads(ann("queues", "list", "--json").out)["systems"] is None
    wrong = ed(*wanted, "--system", "assistant@v9")
    assert (wrong.code, "assistant@v9" in wrong.err) == (1, True)
