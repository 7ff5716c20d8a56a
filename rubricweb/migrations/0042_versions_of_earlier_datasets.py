"""Datasets of before are in their first version, with all their items."""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

FILL = (
    "INSERT INTO rubricweb_datasetchange (dataset_id, version, kind, items, note, created_by_id, created_at) "
    "SELECT d.id, 1, 'append', (SELECT COUNT(*) FROM rubricweb_item i WHERE i.dataset_id = d.id), '', "
    "d.created_by_id, d.created_at FROM rubricweb_dataset d "
    "WHERE NOT EXISTS (SELECT 1 FROM rubricweb_datasetchange c WHERE c.dataset_id = d.id) ORDER BY d.id"
)


def fill(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    with editor.connection.cursor() as cursor:
        cursor.execute(FILL)


class Migration(migrations.Migration):
    dependencies = [("rubricweb", "0041_versions_of_datasets")]

    operations = [migrations.RunPython(fill, migrations.RunPython.noop)]
