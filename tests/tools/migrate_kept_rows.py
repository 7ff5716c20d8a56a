"""`python -m tests.tools.migrate_kept_rows FILE`: rows of an earlier commit, in the database of DATABASE_URL.

They are stored as they were then and migrated to now; prints what Compare says of them and what became of the
rubrics as JSON.
"""

import json
import sys
from pathlib import Path
from typing import Any

from tests.tools.keep_rows import figures


def load(kept: dict[str, Any]) -> None:
    """Makes the tables as that commit has them, and stores the rows.

    They are made of the models of then, all at once: what the migrations up to then do one by one would take
    as long as those that follow, which are what is to be proved.
    """
    from django.db import connection, transaction
    from django.db.migrations.executor import MigrationExecutor
    from django.db.migrations.loader import MigrationLoader

    loader = MigrationLoader(connection, replace_migrations=False)  # all at once would make tables of later
    then = ("rubricweb", kept["migration"])
    executor = MigrationExecutor(connection)
    executor.migrate(executor.loader.graph.leaf_nodes("auth"))  # what its first migration needs
    models = {
        model.__name__: model
        for model in loader.project_state(then)
        .apps.get_app_config("rubricweb")
        .get_models(include_auto_created=True)
    }
    with connection.schema_editor() as editor:
        for model in models.values():
            if not model._meta.auto_created:  # a table between two is made with the first
                editor.create_model(model)
    for app, name in loader.graph.forwards_plan(then):
        if app == "rubricweb":
            executor.recorder.record_applied(app, name)
    with transaction.atomic():
        for name, table in kept["rows"].items():
            fields: dict[str, Any] = {field.attname: field for field in models[name]._meta.concrete_fields}
            for field in fields.values():
                if hasattr(field, "auto_now_add"):
                    field.auto_now = field.auto_now_add = False  # times are those of then
            rows = [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]
            models[name]._default_manager.bulk_create(
                models[name](**{column: fields[column].to_python(value) for column, value in row.items()})
                for row in rows
            )


def told() -> dict[str, Any]:
    from rubricweb.models import Criterion, LabelDecision

    rows = Criterion.objects.filter(version__rubric__title="A").order_by("version__number", "position")
    return {
        "figures": figures(),
        "decisions": LabelDecision.objects.count(),
        "criteria": [
            [row.version.number, row.name, row.uid, row.meaning_id] for row in rows.select_related("version")
        ],
    }


def main(file: str) -> None:
    import django
    from django.core.management import call_command

    django.setup()
    kept = json.loads(Path(file).read_text())
    load(kept)
    call_command("migrate", verbosity=0)
    sys.stdout.write(json.dumps(told()) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
