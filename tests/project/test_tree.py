"""The tree of folders: no room is crowded, and what README and the tour of the house name is there."""

import re
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "rubricweb"
MOST_MODULES = 12
PLAN = (ROOT / "README.md").read_text().partition("## The floor plan")[2].split("```")[1]


@pytest.mark.parametrize("tree", ["rubricweb", "tests", "benchmarks"])
def test_no_folder_has_more_than_twelve_modules(tree: str) -> None:
    modules = Counter(
        str(file.parent.relative_to(ROOT))
        for file in (ROOT / tree).rglob("*.py")
        if file.name != "__init__.py" and file.parent.name != "migrations"  # Django wants one flat folder
    )
    assert modules
    assert {folder: count for folder, count in modules.items() if count > MOST_MODULES} == {}


def test_no_folder_of_templates_styles_or_scripts_has_more_than_twelve_files() -> None:
    files = Counter(
        str(file.parent.relative_to(ROOT))
        for pattern in ("templates/**/*.html", "static/css/**/*.css", "static/js/**/*.*s")
        for file in ROOT.glob(pattern)
        if "allauth" not in file.parts  # named by django-allauth
    )
    assert files
    assert {folder: count for folder, count in files.items() if count > MOST_MODULES} == {}


def test_lines_of_templates_are_shorter_than_160_characters() -> None:
    lines = [
        f"{file.relative_to(ROOT)}:{number}"
        for file in (ROOT / "templates").rglob("*.html")
        for number, line in enumerate(file.read_text().splitlines(), 1)
        if len(line) >= 160
    ]
    assert lines == []


def test_the_floor_plan_shows_every_floor_and_nothing_that_is_not_there() -> None:
    inside: set[str] = set()
    beside: set[str] = set()
    for line in PLAN.splitlines():
        names = re.findall(r"(?<![/\w])[a-z_]+(?:/|\.py)", line)
        (inside if line.startswith("  ") else beside).update(names)
    assert beside == {"rubricweb/", "templates/", "static/", "tests/", "docs/", "benchmarks/"}
    assert [name for name in beside if not (ROOT / name).is_dir()] == []
    assert [name for name in inside if not (PACKAGE / name).exists()] == []
    floors = {f"{package.parent.name}/" for package in PACKAGE.glob("*/__init__.py")}
    assert floors - inside == {"demo/", "migrations/", "templatetags/"}


def test_pages_api_and_commands_have_every_room_of_the_floor_plan() -> None:
    rooms = re.findall(r"[a-z]+", PLAN.partition("in all three:")[2].partition("\ntemplates/")[0])
    assert len(rooms) == 9
    floors = ("web", "api", "management")
    places = [PACKAGE / floor / room for floor in floors for room in rooms]
    assert [str(place.relative_to(ROOT)) for place in places if not (place / "__init__.py").exists()] == []


def test_the_tour_of_the_house_names_only_what_is_there() -> None:
    tour = (ROOT / "docs" / "architecture.md").read_text()
    named = set(re.findall(r"`((?:[a-z_]+/)+(?:[a-z_]+\.py)?)`", tour))
    assert len(named) > 40
    # A name is the end of a path: `evaluation/` in the table of the judges' rooms is judges/evaluation/.
    trees = [ROOT / name for name in ("rubricweb", "templates", "static", "tests")]
    found = [path for tree in trees for path in (tree, *tree.rglob("*"))]
    ends = [f"/{path.relative_to(ROOT)}{'/' if path.is_dir() else ''}" for path in found]
    assert [name for name in sorted(named) if not any(end.endswith(f"/{name}") for end in ends)] == []


def test_the_stories_name_functions_that_are_there_in_ten_steps_each() -> None:
    _, *stories = re.split(r"^## ", (ROOT / "docs" / "stories.md").read_text(), flags=re.MULTILINE)
    assert [len(re.findall(r"^\d+\. ", story, re.MULTILINE)) for story in stories] == [10] * 5
    named = re.findall(r"`([a-z_/]+\.py):(\w+)`", "".join(stories))
    assert len(named) > 30
    missing = [
        f"{file}:{name}"
        for file, name in named
        if not re.search(rf"^\s*(?:class|def|async def) {name}\b", (PACKAGE / file).read_text(), re.MULTILINE)
    ]
    assert missing == []


def test_contributing_names_only_what_is_there() -> None:
    named = set(re.findall(r"`((?:[a-z_]+/)+(?:[a-z_]+\.py)?)`", (ROOT / "CONTRIBUTING.md").read_text()))
    assert len(named) > 15
    assert [name for name in named if not (ROOT / name).exists() and not (PACKAGE / name).exists()] == []
