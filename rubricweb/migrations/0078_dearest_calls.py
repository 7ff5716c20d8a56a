from django.db import migrations, models


class Migration(migrations.Migration):
    """The tally of a run says what the dearest of its calls cost."""

    dependencies = [("rubricweb", "0082_cases_in_several_words_count_once")]

    operations = [
        migrations.AddField("runtally", "dearest_usd", models.FloatField(default=0.0)),
    ]
