from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("rubricweb", "0057_meanings_of_options_spaced_otherwise"),
    ]

    operations = [
        migrations.AddField(
            model_name="adjudication",
            name="replaced",
            field=models.JSONField(default=list),
        ),
    ]
