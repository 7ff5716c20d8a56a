"""One thing has one name wherever people read it: words that were another name for it do not come back."""

import argparse
import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rubricweb.management.console import parser

ROOT = Path(__file__).resolve().parents[2]

# What no page, form, operation, command or document says, and what it says instead.
OLD_NAMES = {
    r"\b[Jj]ournal\b": "audit log",
    r"\b[Rr]ationales?\b": "reason",
    r"\bNotices?\b|\bnotices\b": "notification",
    r"\b[Hh]alves\b|\b(test|dev|the other|sealed) half\b|--half\b|[`\"?&]half[`\"=]|^half$": "split",
}

# Who may say an old name: a whole line that holds one of these.
ALLOWED = (
    "services/shared/journal.py",
    "explanation, rationale, feedback",  # headers of other people's files
    "| Notice |",  # the table
)

# What a page must not say, and what it says instead.
OTHER_NAMES = {
    r"\bC/A\b": "Cannot assess",
    r"\bAbst\.|\b[Aa]bst(ain|ention)": "Cannot assess",
    r"\bRaters\b|\b[Rr]ater’s\b": "reviewers",
    r"Hidden until you submit": "Hidden until you finish your reviews",
    r"numbered by its place|[Cc]ount for nothing|Every difference is\b|own price wins": "fewer words",
    r"\b[Hh]elped\b|\b[Hh]urt\b": "points earned, points lost; pass, fail",
    r"Which cases\b": "Split",
    r"Whose answers:": "System versions",
    r"Units compared": "Labels compared",
    r"[Ee]xpected mean score|What people would say\b": "Estimated human score",
    r"[Ww]hat the figures rest on": "Items used",
    r"Adds to Δ": "Effect on score",
    r"Labels under other words": "Existing labels",
    r"Columns of the lists": "List columns",
    r"Like the system": "System",
    r"Excluded and special cases": "Left out",
    r"Score over time": "Score by version, or run by run",
}

# Markup, comments and tags of templates are no words of a page.
UNSEEN = re.compile(r"{#.*?#}|{%.*?%}|{{.*?}}|<[^>]*>", re.DOTALL)


def test_pages_call_a_thing_by_one_name() -> None:
    said = [
        f"{file.relative_to(ROOT)} says {found[0]!r}: say {instead}"
        for file in (ROOT / "templates").rglob("*.html")
        if file.parent.name != "patterns"
        for words in [UNSEEN.sub(" ", file.read_text())]
        for name, instead in OTHER_NAMES.items()
        if (found := re.search(name, words))
    ]
    assert said == []


def _of_forms() -> Iterator[tuple[str, str]]:
    """Labels and help texts of forms, and what is written to the person."""
    for file in (ROOT / "rubricweb" / "web").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.keyword) and node.arg in {"label", "help_text", "placeholder"}:
                for part in ast.walk(node.value):
                    if isinstance(part, ast.Constant) and isinstance(part.value, str):
                        yield f"{file.relative_to(ROOT)}:{part.lineno}", part.value


def _of_commands(command: argparse.ArgumentParser | None = None) -> Iterator[tuple[str, str]]:
    """Names and helps of every command and option."""
    command = command or parser()
    yield command.prog, f"{command.prog} {command.description or ''} {command.epilog or ''}"
    for action in command._actions:
        yield command.prog, " ".join([*action.option_strings, str(action.metavar or ""), action.help or ""])
        if isinstance(action, argparse._SubParsersAction):
            for choice in action._choices_actions:
                yield command.prog, f"{choice.dest} {choice.help or ''}"
            for below in action.choices.values():
                yield from _of_commands(below)


def _of_the_api() -> Iterator[tuple[str, str]]:
    """Paths, operations, shapes, fields and their descriptions; "_" parts words as a blank does."""

    def words(node: Any, path: str) -> Iterator[tuple[str, str]]:
        for key, value in node.items() if isinstance(node, dict) else enumerate(node):
            yield path, str(key)
            if isinstance(value, dict | list):
                yield from words(value, f"{path}/{key}")
            else:
                yield f"{path}/{key}", str(value)

    description = json.loads((ROOT / "tests" / "data" / "openapi.json").read_text())
    for path, text in words(description, ""):
        yield path, re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text).replace("_", " ")


def _of_documents() -> Iterator[tuple[str, str]]:
    """Lines of the docs; decisions tell what was, and tables have names of their own."""
    for file in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]:
        if file.parent.name != "decisions" and file.name != "data-model.md":
            for number, line in enumerate(file.read_text().splitlines(), 1):
                yield f"{file.relative_to(ROOT)}:{number}", line


def _of_pages() -> Iterator[tuple[str, str]]:
    """Words of templates."""
    for file in (ROOT / "templates").rglob("*.html"):
        yield str(file.relative_to(ROOT)), UNSEEN.sub(" ", file.read_text())


def test_no_old_name_stands_on_a_page_in_the_api_at_the_terminal_or_in_the_docs() -> None:
    texts = [*_of_pages(), *_of_forms(), *_of_the_api(), *_of_commands(), *_of_documents()]
    assert len(texts) > 10_000
    old = {
        f"{place} says {match[0]!r}: say {instead}"
        for place, text in texts
        if not any(allowed in text for allowed in ALLOWED)
        for name, instead in OLD_NAMES.items()
        if (match := re.search(name, text))
    }
    assert sorted(old) == []
