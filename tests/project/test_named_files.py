"""Files and modules that docstrings and the comments of templates and scripts name are there."""

import re
from collections.abc import Iterator
from pathlib import Path

from rubricweb.engine.checks import ENTRY_POINTS

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "rubricweb"
TREES = [ROOT / name for name in ("rubricweb", "templates", "static", "tests", "docs", "benchmarks")]
FLOORS = {package.parent.name for package in PACKAGE.glob("*/__init__.py")}

FILE = r"[\w/-]+\.(?:py|html|css|js|md)"
DOCSTRING = re.compile(r'"""(.*?)"""', re.DOTALL)
COMMENTS = {
    "templates/**/*.html": re.compile(r"\{#(.*?)#\}"),
    "static/js/**/*.js": re.compile(r"/\*(.*?)\*/|(?<!:)//([^\n]*)", re.DOTALL),
}


def docstrings() -> Iterator[tuple[Path, str]]:
    for tree in ("rubricweb", "tests", "benchmarks"):
        for file in (ROOT / tree).rglob("*.py"):
            if file.parent.name != "migrations":  # which speak of the code of their day
                yield file, "\n".join(DOCSTRING.findall(file.read_text()))


def comments() -> Iterator[tuple[Path, str]]:
    for pattern, comment in COMMENTS.items():
        for file in ROOT.glob(pattern):
            yield file, "\n".join(found.group() for found in comment.finditer(file.read_text()))


def test_files_named_in_docstrings_templates_and_scripts_are_there() -> None:
    """A name is the end of a path; docstrings have it in backticks."""
    named = [(file, name) for file, text in docstrings() for name in re.findall(rf"`({FILE})`", text)]
    for file, text in comments():
        named += [(file, name) for name in re.findall(rf"(?<![\w./:-]){FILE}\b", text)]
    assert len(named) > 40
    ends = {f"/{path.relative_to(ROOT)}" for tree in TREES for path in tree.rglob("*.*")}
    missing = [(file, name) for file, name in named if not any(end.endswith(f"/{name}") for end in ends)]
    assert [f"{file.relative_to(ROOT)}: {name}" for file, name in missing] == []


def test_modules_named_in_docstrings_are_there_with_what_is_named_of_them() -> None:
    """By their path from the package or one of its floors on: `judges.pool.RequestQueue`."""
    begins = "|".join(sorted(FLOORS | {"rubricweb", "tests"}))
    path = re.compile(rf"`((?:{begins})(?:\.\w+)+)`")
    named = [(file, name) for file, text in docstrings() for name in path.findall(text)]
    assert len(named) > 30
    missing = [(file, name) for file, name in named if name != ENTRY_POINTS and not is_there(name)]
    assert [f"{file.relative_to(ROOT)}: {name}" for file, name in missing] == []


def is_there(name: str) -> bool:
    """Whether folders and a module lead there; the word after it stands in it, or in what the folder is."""
    first, *path = name.split(".")
    folder = PACKAGE / first if first in FLOORS else ROOT / first
    while path and (folder / path[0]).is_dir():
        folder /= path.pop(0)
    if not path:
        return True
    module = folder / f"{path[0]}.py"
    if module.exists():
        del path[0]
    else:
        module = folder / "__init__.py"
    return not path or re.search(rf"\b{path[0]}\b", module.read_text()) is not None
