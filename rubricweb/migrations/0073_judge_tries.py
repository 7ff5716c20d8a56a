import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    """Who tried which judge on which item, and what it answered: nobody had, before."""

    dependencies = [
        ("rubricweb", "0072_metadata_of_rubric_versions"),
    ]

    operations = [
        migrations.CreateModel(
            name="JudgeTry",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("digest", models.CharField(max_length=64)),
                ("beside_digest", models.CharField(blank=True, max_length=64)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "item",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="rubricweb.item",
                    ),
                ),
                (
                    "judge",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="tries",
                        to="rubricweb.judge",
                    ),
                ),
                (
                    "team",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="rubricweb.team"
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
            },
        ),
        migrations.CreateModel(
            name="TriedCall",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("content_key", models.UUIDField()),
                ("model", models.CharField(blank=True, max_length=200)),
                ("rung", models.CharField(blank=True, max_length=30)),
                ("fallback", models.BooleanField(default=False)),
                ("request", models.BinaryField(null=True)),
                ("reply", models.TextField()),
                ("reasoning", models.TextField(blank=True)),
                ("confidences", models.JSONField(default=list)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "of",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="calls",
                        to="rubricweb.judgetry",
                    ),
                ),
                (
                    "team",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="rubricweb.team"
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
            },
        ),
        migrations.AddIndex(
            model_name="judgetry",
            index=models.Index(
                condition=models.Q(("item__isnull", False), ("judge__isnull", False)),
                fields=["judge", "item"],
                name="judge_try_of_item",
            ),
        ),
        migrations.AddIndex(
            model_name="judgetry",
            index=models.Index(fields=["team", "created_at"], name="judge_try_of_team"),
        ),
        migrations.AddIndex(
            model_name="triedcall",
            index=models.Index(fields=["content_key"], name="tried_call_by_content"),
        ),
        migrations.AddIndex(
            model_name="triedcall",
            index=models.Index(fields=["team", "created_at"], name="tried_call_of_team"),
        ),
    ]
