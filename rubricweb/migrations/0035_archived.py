from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("rubricweb", "0034_runs_over_system_versions"),
    ]

    operations = [
        migrations.AddField(
            model_name="dataset",
            name="archived_at",
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name="reviewqueue",
            name="archived_at",
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name="rubric",
            name="archived_at",
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name="run",
            name="archived_at",
            field=models.DateTimeField(null=True),
        ),
    ]
