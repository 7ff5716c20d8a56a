"""Calls that were cut off: what is at risk while they are asked, and what was lost."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("rubricweb", "0018_group_means"),
    ]

    operations = [
        migrations.AddField(
            model_name="runsummary",
            name="lost_at_most_usd",
            field=models.FloatField(default=0.0),
        ),
        migrations.AddField(
            model_name="runtally",
            name="at_risk_calls",
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="runtally",
            name="at_risk_unpriced",
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="runtally",
            name="at_risk_usd",
            field=models.FloatField(default=0.0),
        ),
        migrations.AddField(
            model_name="runtally",
            name="lost_at_most_usd",
            field=models.FloatField(default=0.0),
        ),
        migrations.AddField(
            model_name="runtally",
            name="lost_calls",
            field=models.PositiveBigIntegerField(default=0),
        ),
    ]
