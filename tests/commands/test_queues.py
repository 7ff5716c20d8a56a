"""`rubricweb queues` as somebody at a terminal sees it."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.installation import Installation

pytestmark = pytest.mark.timeout(300)

RUBRIC = (
    "title: Capitals\ncriteria:\n  - {name: capital, weight: 10, requirement: Names Paris as the capital.}\n"
)
ITEMS = [
    {"id": f"item-{number}", "submission": f"Paris, {number}.", "metadata": {"hard": number % 2 == 1}}
    for number in range(4)
]


@pytest.fixture(scope="module")
def furnished(installation: Installation, tmp_path_factory: pytest.TempPathFactory) -> Installation:
    folder: Path = tmp_path_factory.mktemp("queues")
    (folder / "rubric.yaml").write_text(RUBRIC)
    (folder / "answers.jsonl").write_text("\n".join(map(json.dumps, ITEMS)))
    said(installation, "import-rubric", folder / "rubric.yaml")
    said(installation, "import-dataset", folder / "answers.jsonl")
    return installation


def said(installation: Installation, *arguments: Any) -> str:
    ended = installation.run(*arguments)
    assert ended.returncode == 0, ended.stderr
    return str(ended.stdout)


def test_a_queue_is_opened_changed_and_closed(furnished: Installation) -> None:
    version = furnished.number("SELECT id FROM rubricweb_rubricversion")
    wanted = ("queues", "new", "Hard ones", "--dataset", "answers", "--rubric", f"id:{version}", "--everyone")
    assert "2 items, 2 reviews." in said(furnished, *wanted, "--metadata", "hard=true", "--plan")
    assert "is open with 2 items" in said(furnished, *wanted, "--metadata", "hard=true")
    [row] = map(json.loads, said(furnished, "queues", "list", "--json").splitlines())
    assert (row["name"], row["items"], row["wanted"], row["everyone"]) == ("Hard ones", 2, 2, True)
    queue = row["id"]
    shown = said(furnished, "queues", "show", "Hard ones")
    assert "Items whose metadata has hard=true." in shown
    assert "alice" in shown
    assert "2 items added" in said(furnished, "queues", "extend", queue)
    again = furnished.run("queues", "extend", queue)
    assert (again.returncode, "nothing was added" in again.stderr) == (1, True)
    assert f"Queue {queue} is paused." in said(furnished, "queues", "pause", queue)
    assert f"Queue {queue} is open." in said(furnished, "queues", "resume", queue)
    left = furnished.run("queues", "reassign", queue, "--remove", "alice")
    assert (left.returncode, "0 would be left" in left.stderr) == (1, True)
    assert "is closed" in said(furnished, "queues", "close", queue)
    assert said(furnished, "queues", "list", "--state", "open", "--json") == ""
    assert "is open" in said(furnished, "queues", "reopen", queue)
