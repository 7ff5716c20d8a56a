"""`rubricweb queues` as somebody at a terminal sees it."""

import json
from pathlib import Path
from typing import Any

import pytest

from rubricweb.selectors.reviews.queue_sources import Source
from tests import factories
from tests.factories import Cast
from tests.installation import Installation

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


def test_a_queue_is_opened_changed_and_closed(furnished: Installation, tmp_path: Path) -> None:
    version = furnished.number("SELECT id FROM rubricweb_rubricversion")
    wanted = ("queues", "new", "Hard ones", "--dataset", "answers", "--rubric", f"id:{version}", "--everyone")
    assert "2 items, 2 reviews, 2 answers." in said(furnished, *wanted, "--metadata", "hard=true", "--plan")
    assert "is open with 2 items" in said(furnished, *wanted, "--metadata", "hard=true")
    [row] = map(json.loads, said(furnished, "queues", "list", "--json").splitlines())
    assert (row["name"], row["everyone"]) == ("Hard ones", True)
    assert (row["progress"]["items"], row["progress"]["wanted"]) == (2, 2)
    queue = row["id"]
    shown = said(furnished, "queues", "show", "Hard ones")
    assert "Items whose metadata has hard=true." in shown
    assert "alice" in shown
    assert "2 items added" in said(furnished, "queues", "extend", queue)
    again = furnished.run("queues", "extend", queue)
    assert (again.returncode, "nothing was added" in again.stderr) == (1, True)
    words = tmp_path / "words.md"
    words.write_text("Read **all** of it.")
    edited = ("queues", "edit", queue, "--name", "Odd ones", "--instructions", words, "--hold", 5, "--json")
    row = json.loads(said(furnished, *edited))
    assert (row["name"], row["instructions"], row["hold_minutes"]) == ("Odd ones", "Read **all** of it.", 5)
    renamed = json.loads(said(furnished, "queues", "show", "Odd ones", "--json"))
    assert (renamed["id"], renamed["instructions"]) == (queue, "Read **all** of it.")
    nothing = furnished.run("queues", "edit", queue)
    assert (nothing.returncode, "Nothing to change" in nothing.stderr) == (1, True)
    assert f"Queue {queue} is paused." in said(furnished, "queues", "pause", queue)
    assert f"Queue {queue} is open." in said(furnished, "queues", "resume", queue)
    left = furnished.run("queues", "reassign", queue, "--remove", "alice")
    assert (left.returncode, "0 would be left" in left.stderr) == (1, True)
    assert "is closed" in said(furnished, "queues", "close", queue)
    assert said(furnished, "queues", "list", "--state", "open", "--json") == ""
    assert "is open" in said(furnished, "queues", "reopen", queue)


def test_gold_items_and_the_round_are_set_at_the_terminal(furnished: Installation, tmp_path: Path) -> None:
    version = furnished.number("SELECT id FROM rubricweb_rubricversion")
    rubric = ("--rubric", f"id:{version}")
    settled = tmp_path / "settled.csv"
    lines = [f"item-{number},capital,ground truth,MET" for number in range(3)]
    settled.write_text("\n".join(["item_id,criterion,rater,verdict", *lines]))
    said(furnished, "import-labels", settled, "--dataset", "answers", *rubric)
    said(furnished, "queues", "new", "Measured", "--dataset", "answers", *rubric, "--everyone")

    def gold(action: str, *more: Any) -> Any:
        return json.loads(said(furnished, "gold", action, "Measured", *more, "--json"))

    # Three of four labels are known; alice, who rates, can only have items drawn and is told none of them.
    assert (gold("show")["gold"], gold("show")["more"]) == (0, 3)
    refused = furnished.run("gold", "mark", "Measured", "--item", "item-0")
    assert (refused.returncode, "draw some at random" in refused.stderr) == (1, True)
    marked = gold("mark", "--at-random", 2)
    assert (marked["gold"], marked["more"], marked["items"]) == (2, 1, [])
    rules = gold("rules", "--first", 2, "--pass-mark", 0.5)
    assert (rules["calibration_items"], rules["pass_mark"], rules["extra_rater_below"]) == (2, 0.5, None)
    rules = gold("rules", "--extra-rater-below", 0.4)
    assert (rules["calibration_items"], rules["pass_mark"], rules["extra_rater_below"]) == (2, 0.5, 0.4)
    assert gold("rules", "--pass-mark", "none")["pass_mark"] is None
    [alice] = gold("show")["raters"]
    assert (alice["name"], alice["stage"], alice["withheld"]) == ("alice", "open", True)
    assert (alice["calibration"], alice["accuracy"]["total"]) == (None, 0)
    assert "withheld while you review blind" in said(furnished, "gold", "show", "Measured")
    own = furnished.run("gold", "let-on", "Measured", "alice")
    assert (own.returncode, "Somebody else decides" in own.stderr) == (1, True)
    rules = gold("rules", "--gold-floor", 0.8, "--gold-window", 5)
    assert (rules["gold_floor"], rules["gold_window"], rules["raters"][0]["pause"]) == (0.8, 5, None)
    unpaused = furnished.run("gold", "end-pause", "Measured", "alice")
    assert (unpaused.returncode, "Somebody else decides" in unpaused.stderr) == (1, True)
    unknown = furnished.run("gold", "try-again", "Measured", "nobody")
    assert (unknown.returncode, "Known: alice" in unknown.stderr) == (1, True)


def test_a_queue_about_some_criteria(furnished: Installation, tmp_path: Path) -> None:
    rubric = tmp_path / "three.yaml"
    names = ("tone", "length", "place")
    rubric.write_text(
        "title: Three\ncriteria:\n"
        + "".join(f"  - {{name: {name}, weight: 1, requirement: Has {name}.}}\n" for name in names)
    )
    said(furnished, "import-rubric", rubric)
    version = furnished.number("SELECT id FROM rubricweb_rubricversion WHERE title = 'Three'")
    place = furnished.number("SELECT id FROM rubricweb_criterion WHERE name = 'place'")
    wanted = (
        "queues",
        "new",
        "Two of three",
        "--dataset",
        "answers",
        "--rubric",
        f"id:{version}",
        "--everyone",
    )
    some = ("--criterion", f"id:{place}", "--criterion", "tone")
    assert "4 items, 4 reviews, 8 answers." in said(furnished, *wanted, *some, "--plan")
    said(furnished, *wanted, *some)
    assert "tone, place" in said(furnished, "queues", "show", "Two of three")
    row = json.loads(said(furnished, "queues", "show", "Two of three", "--json"))
    assert [one["name"] for one in row["criteria"]] == ["tone", "place"]
    rows = [json.loads(line) for line in said(furnished, "queues", "list", "--json").splitlines()]
    [listed] = [row for row in rows if row["name"] == "Two of three"]
    assert listed["criteria"] == row["criteria"]
    refused = furnished.run(*wanted, "--criterion", "tone", "--criterion", "speed", "--plan")
    assert (refused.returncode, "criteria[1]" in refused.stderr) == (1, True), refused.stderr


def test_items_are_named_in_a_file_one_a_line(furnished: Installation, tmp_path: Path) -> None:
    names = tmp_path / "names.txt"
    item = furnished.number("SELECT id FROM rubricweb_item WHERE key = 'item-3'")
    names.write_text(f"item-1\n\nid:{item}\n")
    version = furnished.number("SELECT min(id) FROM rubricweb_rubricversion")
    wanted = ("queues", "new", "Named", "--dataset", "answers", "--rubric", f"id:{version}", "--everyone")
    planned = said(furnished, *wanted, "--items-from", names, "--item", "item-0", "--plan")
    assert "3 items, 3 reviews" in planned
    assert "is open with 2 items" in said(furnished, *wanted, "--items-from", names)
    names.write_text("item-1\nitem-9\n")
    unknown = furnished.run("queues", "extend", "Named", "--items-from", names)
    assert (unknown.returncode, "There is no item 'item-9' in answers" in unknown.stderr) == (1, True)
    names.write_text("\n")
    nothing = furnished.run("queues", "extend", "Named", "--items-from", names)
    assert (nothing.returncode, "names no item" in nothing.stderr) == (2, True)
    lacking = furnished.run("queues", "extend", "Named", "--items-from", tmp_path / "lacking.txt")
    assert (lacking.returncode, "cannot be read: no such file" in lacking.stderr) == (2, True)


def test_instructions_that_are_no_text_are_refused(people: Cast, at_terminal, tmp_path: Path) -> None:
    version, dataset = factories.version(people.team, people.ed), factories.dataset(people.team, people.ed)
    queue = factories.queue(
        people.team, people.ed, dataset=dataset, rubric_version=version, raters=[people.ann]
    )
    words = tmp_path / "words.md"
    words.write_bytes("Größe".encode("latin-1"))
    refused = at_terminal(people.ed)("queues", "edit", queue.pk, "--instructions", words)
    assert refused.code == 1
    assert "words.md is no UTF-8 text" in " ".join(refused.err.split())


def test_more_people_per_item_bring_no_items_in(people: Cast, at_terminal) -> None:
    queue = factories.queue(
        people.team,
        people.ed,
        dataset=factories.dataset(people.team, people.ed),
        rubric_version=factories.version(people.team, people.ed),
        raters=[people.ann, people.rae],
        source=Source("filter", search="Belgium"),
    )
    ed = at_terminal(people.ed)
    told = ed("queues", "extend", queue.name, "--raters-per-item", "2").out
    assert f"0 items added to queue {queue.pk}, 2 people have each item." in told
    queue.refresh_from_db()
    assert (queue.queue_items.count(), queue.source["kind"]) == (1, "filter")
    both = ed("queues", "extend", queue.name, "--raters-per-item", "2", "--search", "not say").out
    assert "1 items added" in both
    assert "1 items added" in ed("queues", "extend", queue.name).out


def test_named_items_alone_are_graded(furnished: Installation, tmp_path: Path) -> None:
    version = furnished.number("SELECT min(id) FROM rubricweb_rubricversion")
    said(furnished, "grade", f"id:{version}", "id:1", "--item", "item-1", "--item", "item-2")
    assert furnished.number("SELECT count(*) FROM rubricweb_runitem") == 2
    both = furnished.run("grade", f"id:{version}", "id:1", "--item", "item-1", "--sample", 1)
    assert (both.returncode, "give one of them" in both.stderr) == (1, True)
