"""The examples of docs/api.md, pasted one after the other into a shell that talks to a real server."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from django.utils import timezone

from rubricweb.models import ReviewState
from rubricweb.services.teams import teams
from tests import factories
from tests.api.client import ApiClient
from tests.waiting import PATIENCE_SECONDS

PAGE = Path(__file__).resolve().parents[3] / "docs" / "api.md"


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)


@pytest.mark.processes
@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(not (shutil.which("curl") and shutil.which("jq")), reason="needs curl and jq")
def test_the_examples_work_as_they_stand(live_server, tmp_path: Path) -> None:
    people = factories.cast()
    membership = people.team.memberships.get(user=people.alice)
    _, secret = teams.create_token(membership, name="docs", may_write=True, days=1, now=timezone.now())
    script = "set -euo pipefail\n" + "\n".join(blocks("sh"))
    script = script.replace("http://127.0.0.1:8000", live_server.url).replace("rw_…", secret)
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    _, run = people.team.runs.all()  # the newer one was asked for twice
    [queue] = people.team.queues.filter(imported=False)
    assert run.dataset.items.count() == 2
    assert queue.reviews.get(state=ReviewState.SUBMITTED).rater.user == people.alice
    assert people.team.rubrics.get().versions.count() == 2
    [*_, line] = (tmp_path / "verdicts.jsonl").read_text().splitlines()
    assert json.loads(line)["verdict"] == "MET"
    newest = people.team.rubrics.get().versions.get(number=2)
    assert [criterion.kind for criterion in newest.criteria.all()] == ["binary", "choice", "check"]
    assert {half.sealed_as: half.items.count() for half in run.dataset.halves.all()} == {"dev": 1, "test": 1}


def test_the_example_of_a_refusal_is_what_is_answered(people, as_member) -> None:
    client: ApiClient = as_member(people.ed)
    body = {"title": "T", "criteria": [{"requirement": "R", "wieght": 1}]}
    [example] = blocks("json")
    assert client.refused(422, "POST", "/rubrics", body) == json.loads(example)
