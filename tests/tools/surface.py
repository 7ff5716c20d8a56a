"""What others rely on, as text: `python -m tests.tools.surface BEFORE AFTER` compares it at two commits.

For changes of structure, which must change none of it: the API's description, every `--help`, the prompts of
every autograder with the keys their answers are kept under, and a dataset with labels in every format. The
exit code is 0 when all is the same, else 1.
"""

import argparse
import asyncio
import difflib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
RUBRIC: list[dict[str, Any]] = [
    {"name": "city", "weight": 3, "requirement": "Names Paris"},
    {"name": "rude", "weight": -2, "requirement": "Is rude"},
    {
        "name": "clear",
        "weight": 1,
        "requirement": "How clear?",
        "options": [
            {"label": "Not", "value": 0},
            {"label": "Very", "value": 1},
            {"label": "N/A", "na": True},
        ],
    },
    {"name": "short", "weight": 1, "check": "length_between", "params": {"unit": "words", "max": 9}},
]
ITEMS = [
    {"id": f"item-{i}", "submission": text, "prompt": "Capital of France?", "ground_truth": truth}
    for i, (text, truth) in enumerate(
        [("Paris.", ["MET", "UNMET", "Very", None]), ("Lyon, fool.", ["UNMET", "MET", "N/A", None])]
    )
]


def surface() -> Iterator[tuple[str, str]]:
    """(name, text) of everything this checkout shows to others."""
    from rubricweb.api.root import api
    from rubricweb.management.console import parser

    yield "openapi.json", json.dumps(api.get_openapi_schema(), indent=1, sort_keys=True)
    yield from _helps("rubricweb", parser())
    yield from asyncio.run(_prompts())
    yield from _files()


def _helps(name: str, command: argparse.ArgumentParser) -> Iterator[tuple[str, str]]:
    yield f"help of {name}", command.format_help()
    for action in command._actions:
        if isinstance(action, argparse._SubParsersAction):
            for below, one in action.choices.items():
                yield from _helps(f"{name} {below}", one)


async def _prompts() -> list[tuple[str, str]]:
    from rubricweb.engine import Rubric, Submission
    from rubricweb.engine.autograders import AUTOGRADERS
    from rubricweb.judges.base import JudgeConfig
    from rubricweb.judges.content import content_key

    rubric, config = (
        Rubric.from_dict(RUBRIC),
        JudgeConfig(name="j", base_url="http://127.0.0.1/v1", model="m"),
    )
    submission = Submission(output="Paris.", query="Capital of France?")
    told = []
    for name, autograder in sorted(AUTOGRADERS.items()):
        prompts = autograder().prompts(submission, rubric)
        for prompt in prompts:
            key = content_key(config, prompt, 0)
            told.append((f"prompt of {name}", f"{prompt.system}\n{prompt.user}\n{key}\n"))
    return told


def _files() -> Iterator[tuple[str, str]]:
    from rubricweb.engine import RubricDataset

    rubric = {"title": "Capitals", "criteria": RUBRIC}
    data = {"name": "Capitals", "rubric": rubric, "items": ITEMS}
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "dataset.json")
        source.write_text(json.dumps(data))
        dataset = RubricDataset.from_file(source)
        for suffix in ("json", "jsonl", "csv", "yaml"):
            target = Path(folder, f"written.{suffix}")
            dataset.to_file(target)
            yield target.name, target.read_text("utf-8")


def of_commit(commit: str) -> dict[str, str]:
    """The surface of a commit, told by this very file in a checkout of it."""
    with tempfile.TemporaryDirectory() as folder:
        checkout = Path(folder, "checkout")
        subprocess.run(
            ["git", "-C", str(ROOT), "worktree", "add", "-q", "--detach", str(checkout), commit], check=True
        )
        try:
            told = subprocess.run(
                [sys.executable, str(Path(__file__).resolve()), "--tell"],
                cwd=checkout,
                env=os.environ | {"PYTHONPATH": str(checkout), "DJANGO_SETTINGS_MODULE": "tests.settings"},
                capture_output=True,
                text=True,
                check=False,
            )
            if told.returncode:
                raise SystemExit(f"{commit}: {told.stderr}")
            texts: dict[str, str] = json.loads(told.stdout)
            return texts
        finally:
            subprocess.run(
                ["git", "-C", str(ROOT), "worktree", "remove", "--force", str(checkout)], check=True
            )


def _git(*arguments: str) -> None:
    subprocess.run(["git", "-C", str(ROOT), *arguments], check=True)


def main() -> int:
    if sys.argv[1:] == ["--tell"]:
        import django

        django.setup()
        texts: dict[str, str] = {}
        for name, text in surface():
            texts[name] = texts.get(name, "") + text
        print(json.dumps(texts))
        return 0
    before, after = (of_commit(commit) for commit in sys.argv[1:3])
    changed = [name for name in sorted(before | after) if before.get(name) != after.get(name)]
    for name in changed:
        lines = (before.get(name, "").splitlines(), after.get(name, "").splitlines())
        print(*difflib.unified_diff(*lines, f"before: {name}", f"after: {name}", n=1, lineterm=""), sep="\n")
    print(f"{len(changed)} of {len(before | after)} texts differ")
    return int(bool(changed))


if __name__ == "__main__":
    sys.exit(main())
