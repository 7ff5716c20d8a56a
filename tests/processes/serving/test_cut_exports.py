"""What a program gets of an export that fails when half of it is sent."""

import http.client
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.installation import Installation
from tests.processes.conftest import Serve, wait_for

pytestmark = pytest.mark.processes

RUBRIC = """\
title: Capitals
criteria:
  - {name: capital, requirement: Names Paris.}
  - {name: concise, requirement: Is short.}
"""
LABELS = "item_id,criterion,rater,verdict\na,capital,ann,MET\na,concise,ann,MET\n"


def test_the_connection_is_cut_so_that_nobody_takes_it_for_the_whole_file(
    serve: Callable[..., Serve], installation: Installation, tmp_path: Path
) -> None:
    server = serve()
    rubric, items, labels = tmp_path / "rubric.yaml", tmp_path / "answers.jsonl", tmp_path / "labels.csv"
    rubric.write_text(RUBRIC)
    items.write_text('{"id": "a", "submission": "Paris."}\n')
    labels.write_text(LABELS)
    for command in (
        ["import-dataset", items],
        ["import-labels", labels, "--dataset", "answers", "--rubric", rubric],
    ):
        done = installation.run(*command)
        assert done.returncode == 0, done.stderr
    made = installation.run("tokens", "new", "exports", "--days", "1")
    assert made.returncode == 0, made.stderr
    token = made.stdout.strip()
    dataset = installation.number("SELECT max(id) FROM rubricweb_dataset")
    queue = installation.number("SELECT max(id) FROM rubricweb_reviewqueue")

    def exported() -> str:
        address = f"{server.address}/api/v1/exports?dataset={dataset}&queue={queue}&what=verdicts&format=csv"
        request = urllib.request.Request(address, headers={"Authorization": f"Bearer {token}"})
        with urllib.request.urlopen(request) as answer:
            return str(answer.read().decode())

    header, capital, concise = exported().splitlines()
    assert (capital[:9], concise[:9]) == ("a,capital", "a,concise")
    # The second criterion is one the engine refuses from now on: the first line is on its way by then.
    installation.change("UPDATE rubricweb_criterion SET requirement = '' WHERE name = 'concise'")
    with pytest.raises(http.client.IncompleteRead) as cut:
        exported()
    # Each line of it is whole. Only the way it ended says that it is not all.
    assert cut.value.partial.decode().splitlines() == [header, capital]
    log = installation.folder / "log" / "web.log"
    wait_for(lambda: "Error handling request" in log.read_text(), server)
    assert "in verdict_rows" in log.read_text()  # with where it happened
    assert server.healthy()
