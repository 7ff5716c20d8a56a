"""Docs stay complete and true: registries have headings, links lead somewhere, nothing foreign slips in."""

import re
from pathlib import Path

import pytest

from rubricweb.engine.agreement import METRICS
from rubricweb.engine.autograders import AUTOGRADERS
from rubricweb.engine.checks import BUILT_IN
from rubricweb.engine.formats import FORMATS
from rubricweb.engine.lint import RULES
from tests.tools import renew_data_model

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


@pytest.mark.parametrize(
    ("document", "names"),
    [
        ("scoring.md", AUTOGRADERS),
        ("formats.md", FORMATS),
        ("lint.md", RULES),
        ("checks.md", BUILT_IN),
        ("agreement.md", METRICS),
    ],
    ids=["autograders", "formats", "lint rules", "checks", "metrics"],
)
def test_every_registered_name_has_a_heading(document: str, names: dict[str, object]) -> None:
    headings = re.findall(r"^### `(.+)`$", (ROOT / "docs" / document).read_text(), re.MULTILINE)
    assert set(names) <= set(headings)


@pytest.mark.parametrize("document", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_between_pages_lead_somewhere(document: Path) -> None:
    for target, heading in re.findall(r"\]\(([^)#\s]*)(?:#([^)]*))?\)", document.read_text()):
        if not target.startswith(("http://", "https://", "mailto:")):
            page = document.parent / target if target else document
            assert page.exists(), f"{document.name} links to {target}"
            assert not heading or heading in anchors(page), f"{document.name} links to {target}#{heading}"


def anchors(page: Path) -> set[str]:
    """What GitHub calls the headings of a page: small letters, hyphens for spaces, no other punctuation."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_no_file_names_this_machine_or_a_package_index() -> None:
    pattern = re.compile(r"pyp[i]\.org|python[h]osted|registry\.npm[j]s")
    files = [*PAGES, *ROOT.glob("*.txt"), *ROOT.glob("*.toml"), ROOT / "Makefile", ROOT / "Dockerfile"]
    assert [file.name for file in files if file.exists() and pattern.search(file.read_text())] == []


def test_the_list_of_the_tables_is_that_of_the_models() -> None:
    assert renew_data_model.PAGE.read_text() == renew_data_model.renewed()


def test_every_page_of_the_docs_is_in_their_index() -> None:
    index = ROOT / "docs" / "README.md"
    linked = set(re.findall(r"\]\(([^)/]+\.md)\)", index.read_text()))
    assert {page.name for page in index.parent.glob("*.md")} - {index.name} == linked
