"""What all web processes count in."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("rubricweb", "0019_lost_calls"),
    ]

    operations = [
        migrations.CreateModel(
            name="CacheEntry",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=250, unique=True)),
                ("value", models.JSONField()),
                ("expires_at", models.DateTimeField()),
            ],
            options={
                "verbose_name_plural": "cache entries",
                "indexes": [models.Index(fields=["expires_at"], name="cache_entry_expiry")],
            },
        ),
    ]
