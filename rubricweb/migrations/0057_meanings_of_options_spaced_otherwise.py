"""Options whose labels differ in spaces alone were one question until now, and each version reads its own only.

The first spelling keeps the meaning; every other gets its own, and what was carried on from it follows. Whether
its labels count for the other is asked where labels wait for a decision.
"""

from collections import defaultdict
from typing import Any

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def tell_apart(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    alias = editor.connection.alias
    criteria: Any = apps.get_model("rubricweb", "Criterion").objects.using(alias)
    meanings: Any = apps.get_model("rubricweb", "Meaning").objects.using(alias)
    spelled: dict[int, dict[tuple[str, ...], list[int]]] = defaultdict(dict)
    rows = criteria.filter(kind="choice", meaning__isnull=False).order_by("version__number", "pk")
    for pk, meaning, options in rows.values_list("pk", "meaning", "options").iterator(chunk_size=2000):
        labels = tuple(option["label"] for option in options)
        spelled[meaning].setdefault(labels, []).append(pk)
    for meaning, spellings in spelled.items():
        for labels in list(spellings)[1:]:
            shared = meanings.get(pk=meaning)
            own = meanings.create(rubric_id=shared.rubric_id, uid=shared.uid)
            criteria.filter(pk__in=spellings[labels]).update(meaning=own)
            for carried in meanings.filter(source=meaning):
                if set(labels) <= set(carried.option_map or {}):
                    carried.source = own
                    carried.save(update_fields=["source"])


class Migration(migrations.Migration):
    dependencies = [("rubricweb", "0056_journal_verbs")]

    operations = [migrations.RunPython(tell_apart, migrations.RunPython.noop)]
