from django.db import migrations


def forget_raw_means(apps, schema_editor):
    """The intervals of raw means took the highest score seen for the highest there is.

    Their summaries are taken away, and summed up anew by the next worker. Running it again is fine.
    """
    summaries = apps.get_model("rubricweb", "RunSummary").objects.using(schema_editor.connection.alias)
    summaries.filter(run__normalize=False).delete()


class Migration(migrations.Migration):
    dependencies = [
        ("rubricweb", "0058_replaced_decisions"),
    ]

    operations = [
        migrations.RunPython(forget_raw_means, migrations.RunPython.noop),
    ]
