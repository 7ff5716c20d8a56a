"""Summaries of runs count the items without an error."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("rubricweb", "0013_draws_of_earlier_queues")]
    operations = [
        migrations.AddField(
            model_name="runsummary",
            name="fully_judged",
            field=models.PositiveIntegerField(default=0),
        ),
    ]
