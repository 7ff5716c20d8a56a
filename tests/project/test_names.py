"""A class name means one thing in the package; decision 19 says why and what earlier names became."""

import ast
from collections import defaultdict
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "rubricweb"
# Names that stand for two classes, and why.
SHARED = {
    "Criterion": "the engine's value and its row",
    "Vote": "the engine's value and its row",
    "Rubric": "the engine's value, its row, and two that are published under this name",
    "Score": "the engine's, and one that is published under this name",
    "Invalid": "a refusal, and the error of the engine that becomes one",
}


def test_a_class_name_means_one_thing() -> None:
    """Schemas of the API are called like what they show."""
    found = defaultdict(list)
    for file in PACKAGE.rglob("*.py"):
        if {"api", "migrations"} & set(file.parts):
            continue
        for node in ast.parse(file.read_text()).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].append(str(file.relative_to(PACKAGE)))
    twice = {name: files for name, files in found.items() if len(files) > 1 and name not in SHARED}
    assert found
    assert twice == {}
    assert all(len(found[name]) > 1 for name in SHARED)
