"""Whose tables are migrated, by whom and when: as commands, `serve` and `manage migrate` say it."""

from collections.abc import Callable

import pytest

from tests.installation import Installation
from tests.processes.conftest import Serve

pytestmark = pytest.mark.processes

NEWER = "0999_of_a_newer_release"
LAST = "SELECT name FROM django_migrations WHERE app = 'rubricweb' ORDER BY name DESC LIMIT 1"


@pytest.mark.parametrize("command", [["datasets", "list"], ["serve"], ["manage", "migrate"]], ids=" ".join)
def test_a_database_of_a_newer_release_is_refused(installation: Installation, command: list[str]) -> None:
    installation.change(
        "INSERT INTO django_migrations (app, name, applied) "
        f"VALUES ('rubricweb', '{NEWER}', '2026-03-02 09:00:00+00')"
    )
    refused = installation.run(*command)
    assert refused.returncode == 1
    assert f"this one does not know {NEWER}. Install the newer release" in refused.stderr
    assert "Traceback" not in refused.stderr


def test_nothing_is_migrated_below_a_serve_of_an_older_release(
    serve: Callable[..., Serve], installation: Installation
) -> None:
    serve()
    [(last,)] = installation.query(LAST)
    installation.change(f"DELETE FROM django_migrations WHERE app = 'rubricweb' AND name = '{last}'")
    refused = installation.run("datasets", "list")
    assert refused.returncode == 1
    assert "The database is older than this release, and `rubricweb serve` runs on it." in refused.stderr
    assert installation.query(LAST) != [(last,)]
