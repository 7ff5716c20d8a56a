from django.db import migrations, models


class Migration(migrations.Migration):
    """The lowest score and the share below the bar stand beside a mean. Summaries of before have neither,
    and the narrower intervals of then: workers sum them up anew, a few at a time.
    """

    dependencies = [
        ("rubricweb", "0065_cases_in_several_words_count_once"),
    ]

    operations = [
        migrations.AddField("runsummary", "score_lowest", models.FloatField(null=True)),
        migrations.AddField("runsummary", "below_bar", models.FloatField(null=True)),
    ]
