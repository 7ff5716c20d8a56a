"""`rubricweb agreement QUEUE`: the board in the terminal."""

import json
import re
from pathlib import Path

import pytest

from tests.installation import Installation
from tests.worlds.agreeing import ITEMS, labels_csv

RUBRIC = "title: One\ncriteria:\n  - {name: only, weight: 10, requirement: Says it.}\n"


def test_the_board_is_printed_as_tables_and_as_json(installation: Installation, tmp_path: Path) -> None:
    rubric, items, labels = tmp_path / "r.yaml", tmp_path / "agreeing.jsonl", tmp_path / "three-of-us.csv"
    rubric.write_text(RUBRIC)
    items.write_text("\n".join(json.dumps(item) for item in ITEMS))
    labels.write_text(labels_csv())
    for command in (
        ("import-rubric", rubric),
        ("import-dataset", items),
        ("import-labels", labels, "--dataset", "agreeing", "--rubric", rubric),
    ):
        done = installation.run(*command)
        assert done.returncode == 0, done.stderr
    ended = installation.run("agreement", "three-of-us", "--json")
    assert ended.returncode == 0, ended.stderr
    found = json.loads(ended.stdout)
    assert found["overall"]["alpha"]["value"] == pytest.approx(0.3889, abs=5e-5)
    assert found["overall"]["kappa"]["value"] == pytest.approx(0.4)
    assert [(row["rater"]["name"], row["leniency"]["value"]) for row in found["raters"]] == [
        ("yann", 0.375),
        ("xavier", 0.0),
        ("zoe", -0.375),
    ]
    printed = installation.run("agreement", "three-of-us", "--criterion", "only")
    assert printed.returncode == 0, printed.stderr
    assert "12 reviews by 3 raters" in printed.stdout
    assert "0.39" in printed.stdout
    assert "4 (too few)" in printed.stdout
    assert "Pairs of raters on only:" in printed.stdout
    assert re.search(r"raw \d\.\d\d \[\d\.\d\d, \d\.\d\d\]", printed.stdout)
    assert "Hardest items: b 0.33 (n 1), d 0.33 (n 1); 2 with no disagreement." in printed.stdout
    assert "yann: leniency +0.38" in printed.stdout


def test_what_is_not_there_is_refused_with_what_is(installation: Installation, tmp_path: Path) -> None:
    refused = installation.run("agreement", "nothing-like-it")
    assert refused.returncode == 1
    assert "There is no review queue 'nothing-like-it'" in refused.stderr
    refused = installation.run("agreement", "three-of-us", "--criterion", "another")
    assert refused.returncode == 1
    assert "There is no criterion 'another'. Known: only." in refused.stderr
