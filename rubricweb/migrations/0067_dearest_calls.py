from django.db import migrations, models


class Migration(migrations.Migration):
    """The tally of a run says what the dearest of its calls cost."""

    dependencies = [("rubricweb", "0066_low_end_of_scores")]

    operations = [
        migrations.AddField("runtally", "dearest_usd", models.FloatField(default=0.0)),
    ]
