from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("rubricweb", "0052_raters_who_reach_the_mark"),
    ]

    operations = [
        migrations.AddField(
            model_name="batchjob",
            name="form",
            field=models.JSONField(null=True),
        ),
    ]
