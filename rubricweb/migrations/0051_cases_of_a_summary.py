from django.db import migrations, models
from django.db.models import F


def count_cases(apps, schema_editor):
    """Every answer was a case of its own, but in runs over several answers to a case.

    Their means were worked out by answer: they are taken away, and summed up anew by the next worker.
    """
    using = schema_editor.connection.alias
    summaries = apps.get_model("rubricweb", "RunSummary").objects.using(using)
    answers = apps.get_model("rubricweb", "RunItem").objects.using(using)
    of_cases = answers.values("run_id", "item__case_id", "item__wording").order_by()
    repeated = of_cases.annotate(n=models.Count("pk")).filter(n__gt=1)
    summaries.filter(run__in=repeated.values("run_id")).delete()
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
