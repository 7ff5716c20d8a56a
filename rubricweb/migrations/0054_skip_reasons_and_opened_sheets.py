from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("rubricweb", "0053_forms_of_batches"),
    ]

    operations = [
        migrations.AddField(
            model_name="review",
            name="skip_reason",
            field=models.TextField(blank=True),
        ),
        migrations.AddField(
            model_name="review",
            name="opened",
            field=models.BooleanField(default=False),
        ),
    ]
