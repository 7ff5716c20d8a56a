"""A database from before criteria had ids migrates; what people said counts as it did, or for more.

Made by code of then: `python -m tests.tools.keep_rows 2e35fdf tests/data/rows_before_uids.json`.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.machine import scratch_database

# Migrated once, by one process.
pytestmark = [pytest.mark.xdist_group("migrated")]

ROOT = Path(__file__).resolve().parents[2]
KEPT = ROOT / "tests" / "data" / "rows_before_uids.json"
BEFORE = json.loads(KEPT.read_text())["figures"]


@pytest.fixture(scope="module")
def after(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the app says of these rows now, in a database of its own that was migrated from then."""
    folder = tmp_path_factory.mktemp("kept")
    with scratch_database(os.environ.get("DATABASE_URL", "")) as database:
        env = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "tests.settings",
            "DATABASE_URL": database or f"sqlite:///{folder}/kept.sqlite3",
        }
        command = [sys.executable, "-m", "tests.tools.migrate_kept_rows", str(KEPT)]
        done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])  # type: ignore[no-any-return]  # an object


# Where run and queue are of different versions: how many units of which criterion count that did not before.
# A v2 rewords capital, renames and moves concise; A v3 has the first words of capital again, other options of
# tone and no concise. Of A v2 two people labelled: ties are no units.
GAINED: dict[str, dict[str, int]] = {
    "A v1 | A v2": {"concise": 3, "wrong": 2, "tone": 6},
    "A v2 | A v1": {"short": 6, "wrong": 6, "tone": 6},
    "A v3 | A v1": {"capital": 6, "wrong": 6},
    "A v3 | A v2": {"wrong": 2},
}
# An adjudicator decided on "short" of A v2, which asks what "concise" of A v1 does: that counts for both.
DECIDED = "A v1 | A v1"
# Here people are tied on some units. The bias, the third figure of four numbers, is of their means and has
# those units too.
WITH_TIES = {"A v2 | A v2", "B v1 | B v1"}


def test_figures_of_a_run_and_labels_of_one_version_are_what_they_were(after: dict[str, Any]) -> None:
    assert BEFORE.keys() == after["figures"].keys()
    changed = {pair for pair, found in BEFORE.items() if found != after["figures"][pair]}
    assert changed == {*GAINED, DECIDED, *WITH_TIES}
    for pair in WITH_TIES:
        was, is_now = BEFORE[pair], after["figures"][pair]
        assert was | {"figures": []} == is_now | {"figures": []}
        assert (was["figures"][:8], was["figures"][12:]) == (is_now["figures"][:8], is_now["figures"][12:])
        assert is_now["figures"][11] > was["figures"][11]
    was, is_now = BEFORE[DECIDED], after["figures"][DECIDED]
    assert (was["adjudicated"], is_now["adjudicated"]) == (1, 2)
    assert (was["units"], was["elsewhere"], was["criteria"]) == (
        is_now["units"],
        is_now["elsewhere"],
        is_now["criteria"],
    )


@pytest.mark.parametrize("pair", GAINED)
def test_labels_of_other_versions_are_gained_where_the_words_are_the_same(
    after: dict[str, Any], pair: str
) -> None:
    assert BEFORE[pair]["units"] == 0
    assert after["figures"][pair]["criteria"] == GAINED[pair]
    assert after["figures"][pair]["units"] == sum(GAINED[pair].values())


def test_no_rewording_is_carried_by_itself(after: dict[str, Any]) -> None:
    assert after["decisions"] == 0
    rows = {(number, name): (uid, meaning) for number, name, uid, meaning in after["criteria"]}
    uids = {place: uid for place, (uid, _) in rows.items()}
    meanings = {place: meaning for place, (_, meaning) in rows.items()}
    # One criterion, known by its name, in other words; the first words came back in the third version.
    assert uids[1, "capital"] == uids[2, "capital"] == uids[3, "capital"]
    assert meanings[1, "capital"] == meanings[3, "capital"] != meanings[2, "capital"]
    # Renamed and moved: known by its words.
    assert rows[1, "concise"] == rows[2, "short"]
    # Other options.
    assert uids[2, "tone"] == uids[3, "tone"]
    assert meanings[1, "tone"] == meanings[2, "tone"] != meanings[3, "tone"]
