from django.db import migrations, models
from django.db.models import F


def count_cases(apps, schema_editor):
    """Every answer was a case of its own, but in runs over several answers to a case.

    Their means were worked out by answer: they are taken away, and summed up anew by the next worker.
    """
    summaries = apps.get_model("rubricweb", "RunSummary").objects.using(schema_editor.connection.alias)
    items = apps.get_model("rubricweb", "Item").objects.using(schema_editor.connection.alias)
    answers = items.values("dataset_id", "case_id", "wording").annotate(n=models.Count("pk")).filter(n__gt=1)
    summaries.filter(run__dataset__in=answers.order_by().values("dataset_id")).delete()
    summaries.update(cases=F("scored"))


class Migration(migrations.Migration):
    dependencies = [
        ("rubricweb", "0050_archived_endpoints_systems_teams"),
    ]

    operations = [
        migrations.AddField(
            model_name="runsummary",
            name="cases",
            field=models.PositiveIntegerField(default=0),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name="runsummary",
            name="repeats_cases",
            field=models.BooleanField(default=False),
            preserve_default=False,
        ),
        migrations.RunPython(count_cases, migrations.RunPython.noop),
    ]
