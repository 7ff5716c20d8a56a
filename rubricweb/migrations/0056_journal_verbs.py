from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("rubricweb", "0055_reasons_of_earlier_skips"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="journalentry",
            index=models.Index(fields=["team", "verb", "-id"], name="journal_of_verb"),
        ),
    ]
