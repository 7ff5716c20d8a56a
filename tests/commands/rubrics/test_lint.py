"""`rubricweb lint` as somebody at a terminal, or a build, sees it."""

import json
from pathlib import Path

import pytest

from rubricweb.api.rubrics.schemas import Finding
from rubricweb.judges.offline.script import Say, Script
from rubricweb.judges.offline.server import running_server
from tests.commands.shapes import misfits
from tests.installation import Installation

ERROR_REWARDED = "- {name: wrong, weight: 5, requirement: Contains a factual error.}\n"
SOUND = "- {name: capital, weight: 5, requirement: Names Paris as the capital.}\n"


@pytest.fixture
def rubric(tmp_path: Path) -> Path:
    path = tmp_path / "rubric.yaml"
    path.write_text(ERROR_REWARDED)
    return path


def test_findings_name_criterion_and_rule_and_fail_a_build_only_when_asked(
    installation: Installation, rubric: Path
) -> None:
    shown = installation.run("lint", rubric)
    assert shown.returncode == 0, shown.stderr
    assert "weight_sign_mismatch" in shown.stdout
    assert "wrong" in shown.stdout
    assert installation.run("lint", rubric, "--fail-on", "warning").returncode == 100
    rubric.write_text(SOUND)
    sound = installation.run("lint", rubric, "--fail-on", "hint")
    assert (sound.returncode, sound.stdout) == (0, "Nothing found in 1 criterion.\n")


def test_a_stored_rubric_is_linted_by_its_number(installation: Installation, rubric: Path) -> None:
    imported = installation.run("import-rubric", rubric, "--title", "Errors")
    assert imported.returncode == 0, imported.stderr
    [[number]] = installation.query("SELECT max(id) FROM rubricweb_rubricversion")
    found = json.loads(installation.run("lint", f"id:{number}", "--json").stdout)
    [finding] = found["findings"]
    assert finding["rule"] == "weight_sign_mismatch"
    assert misfits(Finding, json.dumps(finding)) == []


def test_a_judge_reviews_the_rubric_against_the_rubric_about_rubrics(
    installation: Installation, rubric: Path
) -> None:
    said = '{"explanation": "As far as it goes.", "criterion_status": "MET"}'
    with running_server(Script(Say(said))) as url:
        reviewed = installation.run("lint", rubric, "--review", "--json", OPENAI_BASE_URL=url)
    assert reviewed.returncode == 0, reviewed.stderr
    review = json.loads(reviewed.stdout)["review"]
    assert {criterion["verdict"] for criterion in review["report"]} == {"MET"}
    assert (review["coverage"], review["errors"]) == (1.0, [])


def test_a_review_without_a_judge_says_what_to_set(installation: Installation, rubric: Path) -> None:
    refused = installation.run("lint", rubric, "--review")
    assert refused.returncode == 1
    assert "OPENAI_API_KEY" in refused.stderr


def test_a_file_that_is_no_rubric_is_refused_with_its_faults(
    installation: Installation, tmp_path: Path
) -> None:
    broken = tmp_path / "broken.yaml"
    broken.write_text("- {weight: .nan, requirement: Names Paris.}\n")
    refused = installation.run("lint", broken)
    assert refused.returncode == 1
    assert "criteria[0].weight" in refused.stderr
