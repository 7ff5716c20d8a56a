"""What PGOPTIONS says to PostgreSQL arrives beside what the settings say."""

import os
import subprocess
import sys

import pytest

from tests.installation import DATABASE_URL, ROOT

SHOW = """
import django
django.setup()
from django.db import connection
with connection.cursor() as cursor:
    for name in ("jit", "synchronous_commit"):
        cursor.execute(f"SHOW {name}")
        print(*cursor.fetchone())
"""


@pytest.mark.skipif(not DATABASE_URL, reason="POSTGRESQL: SQLite takes no such options")
def test_options_of_the_environment_are_added_to_our_own() -> None:
    env = {**os.environ, "DJANGO_SETTINGS_MODULE": "tests.settings", "PGOPTIONS": "-c synchronous_commit=off"}
    shown = subprocess.run(
        [sys.executable, "-c", SHOW], cwd=ROOT, env=env, capture_output=True, text=True, check=True
    )
    assert shown.stdout.split() == ["off", "off"]
