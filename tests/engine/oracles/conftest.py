"""The published libraries, asked once for everything; ``make oracles`` installs them."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.engine.oracles.cases import DATASET, grader_cases, label_cases, length_cases
from tests.engine.oracles.vote_cases import vote_cases
from tests.waiting import PATIENCE_SECONDS

PROGRAM = Path(__file__).resolve().parent / "published_libraries.py"


@pytest.fixture(scope="session")
def published() -> dict[str, list[Any]]:
    """What the libraries say about every case; ``RUBRICWEB_ORACLES`` names the interpreter that has them."""
    interpreter = os.environ.get("RUBRICWEB_ORACLES")
    if not interpreter:
        pytest.skip("NO ORACLES: `make oracles` installs the published libraries and runs this")
    asked = {
        "by_autorubric": label_cases(),
        "by_rubric": grader_cases(),
        "by_length": length_cases(),
        "by_votes": vote_cases(),
        "datasets": [{"file": DATASET.to_json()}],
    }
    done = subprocess.run(
        [interpreter, str(PROGRAM)],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
    )
    assert done.returncode == 0, done.stderr
    answers: dict[str, list[Any]] = json.loads(done.stdout)
    return answers
