"""Pictures in prompts, which no judge is shown: said at an import and in a plan, and not sent."""

import base64
import json
from pathlib import Path

from rubricweb.judges.offline.script import Request, Say, Script
from rubricweb.judges.offline.server import running_server
from tests.installation import Installation

PICTURE = base64.b64encode(b"\x89PNG" * 30_000).decode()
SAID = "Judges are not shown the pictures, sounds and files in the prompts of 1 item: a placeholder such as"


def files(tmp_path: Path, name: str) -> tuple[Path, Path]:
    """A rubric, and two items of which one has a picture in its prompt."""
    url = {"url": f"data:image/png;base64,{PICTURE}"}
    parts = [{"type": "text", "text": "Which animal?"}, {"type": "image_url", "image_url": url}]
    items = [
        {"id": "seen", "prompt": [{"role": "user", "content": parts}], "submission": "A dog."},
        {"id": "told", "prompt": "Which animal barks?", "submission": "A dog."},
    ]
    rubric, dataset = tmp_path / f"{name}.yaml", tmp_path / f"{name}.jsonl"
    rubric.write_text(f"title: {name}\ncriteria:\n  - {{name: dog, weight: 1, requirement: Names a dog.}}\n")
    dataset.write_text("\n".join(map(json.dumps, items)))
    return rubric, dataset


def test_an_import_and_a_plan_say_what_judges_are_not_shown(
    installation: Installation, tmp_path: Path
) -> None:
    rubric, dataset = files(tmp_path, "pictures")
    imported = installation.run("import-dataset", dataset)
    assert imported.returncode == 0, imported.stderr
    assert SAID in " ".join(imported.stderr.split())
    for more in ("--plan", "--no-store"):
        said = installation.run("grade", rubric, dataset, more)
        assert said.returncode == 0, said.stderr
        assert SAID in " ".join(said.stderr.split())


def test_no_base64_is_sent_and_a_placeholder_stands_for_it(
    installation: Installation, tmp_path: Path
) -> None:
    rubric, dataset = files(tmp_path, "sent")
    asked: list[str] = []

    def answer(request: Request) -> Say:
        asked.append(json.dumps(request.body))
        return Say('{"explanation": "So.", "criterion_status": "MET"}')

    with running_server(Script(answer)) as url:
        for store in ([], ["--no-store"]):
            ended = installation.run(
                *("grade", rubric, dataset, "--base-url", url, "--model", "m", "--no-cap", *store)
            )
            assert ended.returncode == 0, ended.stderr
    assert len(asked) == 4
    assert not any(PICTURE[:60] in body for body in asked)
    # 120,000 bytes.
    assert sum("[image: image/png, 120 kB, not shown to the judge]" in body for body in asked) == 2
