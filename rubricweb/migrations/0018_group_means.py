"""Summaries of runs keep the mean of every group of criteria."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("rubricweb", "0017_labels_found_by_their_reviews")]
    operations = [
        migrations.AddField(model_name="runsummary", name="groups", field=models.JSONField(null=True)),
    ]
