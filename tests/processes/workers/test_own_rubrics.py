"""Hundreds of items that each bring their own rubric: imported, graded through Celery, nothing left over."""

from collections.abc import Callable

import pytest

from tests.installation import Installation
from tests.processes.conftest import Serve, wait_for
from tests.processes.figures.test_ttcw import DATA, Browserless, api, prepared, secret

pytestmark = [
    pytest.mark.processes,
    pytest.mark.skipif(
        not DATA, reason="RUBRICWEB_REAL_DATA is not set: point it at the folder of prepared/"
    ),
]


def test_a_run_over_items_with_their_own_rubrics_judges_every_criterion_once(
    serve: Callable[..., Serve], installation: Installation
) -> None:
    server = serve("--owner", "olga")
    imported = installation.run("import-dataset", prepared("healthbench_items.jsonl"), "--duplicates", "keep")
    assert imported.returncode == 0, imported.stderr
    assert installation.number("SELECT count(*) FROM rubricweb_item") == 318
    # Items that bring the very same rubric share its frozen rows.
    asked = "FROM rubricweb_item i JOIN rubricweb_criterion c ON c.version_id = i.rubric_version_id"
    assert installation.number(f"SELECT count(*) {asked}") == 2837
    browser = Browserless(server)
    token = secret(browser.send("/t/my-team/settings/tokens/", name="ci", may_write="write", days="1"))
    run = api(server, token, "runs", judge="offline", dataset_id=1)
    wait_for(lambda: api(server, token, f"runs/{run['id']}")["state"] != "running", server)

    ended = api(server, token, f"runs/{run['id']}")
    assert ended["state"] == "finished"
    verdicts = "SELECT count(*) FROM rubricweb_judgement WHERE verdict IS NOT NULL"
    assert installation.number(verdicts) == 2837
    assert installation.number("SELECT count(*) FROM rubricweb_runitem WHERE graded_at IS NULL") == 0
    assert "318" in browser.read(f"/t/my-team/runs/{run['id']}/")
