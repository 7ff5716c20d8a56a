"""The page about the library: its examples run, and it lists every public name once."""

import importlib
import re
from pathlib import Path

import pytest

from rubricweb.judges.offline.script import Lexical, Script
from rubricweb.judges.offline.server import running_server

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "library.md").read_text()
BLOCKS = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
SECTIONS = dict(re.findall(r"^### `(rubricweb[\w.]*)`\n(.*?)(?=^##|\Z)", PAGE, re.MULTILINE | re.DOTALL))
PACKAGES = [
    "rubricweb.engine",
    *(
        f"rubricweb.engine.{name}"
        for name in (
            "autograders",
            "checks",
            "rewards",
            "agreement",
            "scoring",
            "datasets",
            "formats",
            "lint",
        )
    ),
]


def test_every_package_has_a_table():
    assert list(SECTIONS) == PACKAGES


@pytest.mark.parametrize("package", PACKAGES)
def test_the_page_lists_every_public_name_once(package):
    rows = re.findall(r"^\| (`.+?) \|", SECTIONS[package], re.MULTILINE)
    listed = [name for row in rows for name in re.findall(r"`(\w+)`", row)]
    assert sorted(listed) == sorted(importlib.import_module(package).__all__)


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_is_there(package):
    module = importlib.import_module(package)
    assert [name for name in module.__all__ if not hasattr(module, name)] == []
    assert len(set(module.__all__)) == len(module.__all__)


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: re.sub(r"\W+", " ", block)[:40])
def test_every_example_runs(block, monkeypatch):
    with running_server(Script(Lexical())) as url:
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        exec(compile(block, "an example of docs/library.md", "exec"), {})


def test_the_default_generate_functions_are_offered_by_name():
    engine = importlib.import_module("rubricweb.engine")
    names = re.findall(r"`(default_\w+_generate_fn)`", PAGE)
    assert len(names) == 3
    assert all(callable(getattr(engine, name)) for name in names)
    with pytest.raises(AttributeError, match="default_other_generate_fn"):
        engine.default_other_generate_fn  # noqa: B018 - the access is what is tested
