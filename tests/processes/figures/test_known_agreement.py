"""Real labels of several raters, imported as reviews: page, API and command line show the known α."""

import csv
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.installation import Installation
from tests.processes.conftest import Serve
from tests.processes.figures.test_ttcw import Browserless, api, plain, prepared, secret

DATA = os.environ.get("RUBRICWEB_REAL_DATA", "")
pytestmark = [
    pytest.mark.processes,
    pytest.mark.skipif(
        not DATA, reason="RUBRICWEB_REAL_DATA is not set: point it at the folder of prepared/ and llm_rubric/"
    ),
]

QUESTIONS = {"Q0": 0.044, "Q3": 0.315, "Q7": 0.118}
"""Known ordinal α of people on synthetic conversations, answers 1 to 4, 0 being not applicable."""


def import_files(installation: Installation, rubric: Path, items: Path, labels: Path) -> None:
    for command in (
        ("import-rubric", rubric),
        ("import-dataset", items, "--duplicates", "keep"),
        ("import-labels", labels, "--dataset", "1", "--rubric", "id:1"),
    ):
        done = installation.run(*command)
        assert done.returncode == 0, done.stderr


def shown(server: Serve) -> tuple[str, dict]:
    """The board of queue 1 on its page and through the API."""
    browser = Browserless(server)
    token = secret(browser.send("/t/my-team/settings/tokens/", name="ci", may_write="read", days="1"))
    return plain(browser.read("/t/my-team/review/1/agreement/")), api(server, token, "queues/1/agreement")


def test_eleven_experts_on_stories(serve: Callable[..., Serve], installation: Installation) -> None:
    server = serve("--owner", "olga")
    import_files(
        installation, prepared("ttcw_rubric.json"), prepared("ttcw_items.jsonl"), prepared("ttcw_labels.csv")
    )
    page, found = shown(server)
    # 504 units, α (nominal) 0.1416, from independent tools.
    assert "Krippendorff α 0.14" in page  # its interval allows no more digits
    assert round(found["overall"]["alpha"]["value"], 4) == 0.1416
    assert (found["overall"]["alpha"]["n"], found["raters_total"], found["reviews"]) == (504, 11, 108)
    assert len(found["criteria"]) == 14
    printed = installation.run("agreement", "1")
    assert printed.returncode == 0, printed.stderr
    assert "0.14" in printed.stdout
    as_json = json.loads(installation.run("agreement", "1", "--json").stdout)
    assert as_json["overall"]["alpha"] == found["overall"]["alpha"]


def test_three_raters_of_conversations(
    serve: Callable[..., Serve], installation: Installation, tmp_path: Path
) -> None:
    path = Path(DATA) / "llm_rubric" / "human_judges_synth_all_FIXED_ANON.tsv"
    with path.open(newline="") as file:
        # An annotator's last answer on a conversation stands.
        said = {
            (question, row["text_id"], row["annotator_id"]): str(int(float(row[question] or 0)))
            for row in csv.DictReader(file, delimiter="\t")
            for question in QUESTIONS
        }
    options = [{"label": str(level), "value": (level - 1) / 3} for level in range(1, 5)]
    options.append({"label": "0", "value": 0, "na": True})
    criteria = [
        {"name": name, "weight": 1, "requirement": f"Question {name}", "options": options}
        for name in QUESTIONS
    ]
    rubric, items, labels = tmp_path / "questions.json", tmp_path / "talks.jsonl", tmp_path / "people.csv"
    rubric.write_text(json.dumps({"title": "Questions", "criteria": criteria}))
    talks = dict.fromkeys(talk for _, talk, _ in said)
    items.write_text("\n".join(json.dumps({"id": talk, "submission": f"Talk {talk}"}) for talk in talks))
    with labels.open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["item_id", "criterion", "rater", "verdict"])
        table.writerows((talk, name, f"person {who}", label) for (name, talk, who), label in said.items())
    server = serve("--owner", "olga")
    import_files(installation, rubric, items, labels)
    page, found = shown(server)
    by_name = {row["criterion"]["name"]: row["alpha"]["value"] for row in found["criteria"]}
    assert by_name == {name: pytest.approx(known, abs=5e-4) for name, known in QUESTIONS.items()}
    assert found["overall"] is None
    as_json = json.loads(installation.run("agreement", "1", "--json").stdout)
    assert {row["criterion"]["name"]: row["alpha"]["value"] for row in as_json["criteria"]} == by_name
    printed = installation.run("agreement", "1").stdout
    for value in by_name.values():
        assert f"{value:.2f}" in page
        assert f"{value:.2f}" in printed
