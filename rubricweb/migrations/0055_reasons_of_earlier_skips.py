from django.db import migrations
from django.db.models import F


def move_reasons(apps, schema_editor):
    """Until now the reason for skipping took the place of the note."""
    reviews = apps.get_model("rubricweb", "Review").objects.using(schema_editor.connection.alias)
    reviews.filter(state="skipped", skip_reason="").update(skip_reason=F("note"), note="")


class Migration(migrations.Migration):
    dependencies = [
        ("rubricweb", "0054_skip_reasons_and_opened_sheets"),
    ]

    operations = [
        migrations.RunPython(move_reasons, migrations.RunPython.noop),
    ]
