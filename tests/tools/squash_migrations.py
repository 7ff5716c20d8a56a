"""Writes all tables at once, for a database that has none: `python -m tests.tools.squash_migrations`.

One after the other, dozens of migrations take a first start several seconds. After some new ones this writes
`0001_squashed_….py` anew, which makes what all of them make; tests/models/test_migrations.py holds that both
ways end in the same models. Data are moved by the others: a database without tables has none.
"""

import subprocess
import sys
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[2] / "rubricweb" / "migrations"
WORDS = '''"""All tables at once, for a database that has none: what the migrations up to {last} make.

A database that has some of them goes on with the others. Both ways end in the same models, which
tests/models/test_migrations.py holds. Written by `python -m tests.tools.squash_migrations`.
"""
'''


def tables() -> list[Any]:
    """Every table with its indexes and constraints, by name."""
    from django.apps import apps
    from django.db import migrations
    from django.db.migrations.state import ProjectState

    states = sorted(ProjectState.from_apps(apps).models.items())
    return [
        migrations.CreateModel(
            table.name,
            list(table.fields.items()),
            {name: value for name, value in table.options.items() if value != []},
            table.bases,
            table.managers,
        )
        for (app, _), table in states
        if app == "rubricweb"
    ]


def main() -> None:
    import django
    from django.db.migrations import Migration
    from django.db.migrations.writer import MigrationWriter

    from rubricweb.migrations._at_once import AtOnce

    django.setup()
    replaced = sorted(one.stem for one in FOLDER.glob("0*.py") if "_squashed_" not in one.name)
    squashed = type(
        "Migration",
        (Migration,),
        {
            "replaces": [("rubricweb", one) for one in replaced],
            "initial": True,
            "dependencies": [("auth", "0012_alter_user_first_name_max_length")],
            "operations": [AtOnce(operations=tables())],
        },
    )(f"0001_squashed_{replaced[-1]}", "rubricweb")
    written = MigrationWriter(squashed, include_header=False).as_string()
    for old in FOLDER.glob("0001_squashed_*.py"):
        old.unlink()
    path = FOLDER / f"{squashed.name}.py"
    path.write_text(WORDS.format(last=replaced[-1][:4]) + "\n" + written)
    for tidy in (["check", "--fix"], ["format"]):
        subprocess.run([sys.executable, "-m", "ruff", *tidy, "--quiet", path], check=True)
    print(path)


if __name__ == "__main__":
    import os

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
    main()
