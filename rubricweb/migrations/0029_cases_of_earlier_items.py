"""Items of before each have a case of their own, answered by the version of the system without a name."""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

# No row is read in here: there may be a million items.
FILL = (
    "INSERT INTO rubricweb_system (team_id, name, created_at) "
    "SELECT DISTINCT d.team_id, '', CURRENT_TIMESTAMP FROM rubricweb_dataset d",
    "INSERT INTO rubricweb_systemversion (system_id, label, position, created_at) "
    "SELECT id, '', 0, CURRENT_TIMESTAMP FROM rubricweb_system",
    "INSERT INTO rubricweb_case (dataset_id, key, position, wording) "
    "SELECT dataset_id, key, position, 1 FROM rubricweb_item ORDER BY id",
    "UPDATE rubricweb_item SET case_id = (SELECT c.id FROM rubricweb_case c "
    "WHERE c.dataset_id = rubricweb_item.dataset_id AND c.position = rubricweb_item.position), "
    "system_version_id = (SELECT v.id FROM rubricweb_systemversion v "
    "JOIN rubricweb_system s ON s.id = v.system_id JOIN rubricweb_dataset d ON d.team_id = s.team_id "
    "WHERE d.id = rubricweb_item.dataset_id)",
)


def fill(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    with editor.connection.cursor() as cursor:
        for statement in FILL:
            cursor.execute(statement)


class Migration(migrations.Migration):
    dependencies = [("rubricweb", "0028_cases_and_systems")]

    operations = [migrations.RunPython(fill, migrations.RunPython.noop)]
