import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    """Who saved a draft, and what that replaced: of earlier saves nobody knows."""

    dependencies = [
        ("rubricweb", "0073_judge_tries"),
    ]

    operations = [
        migrations.CreateModel(
            name="DraftSave",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("revision", models.PositiveIntegerField()),
                ("before", models.JSONField()),
                ("saved_at", models.DateTimeField(auto_now_add=True)),
                (
                    "rubric",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="draft_saves",
                        to="rubricweb.rubric",
                    ),
                ),
                (
                    "saved_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("rubric", "revision"), name="draft_save_once_a_revision")
                ],
            },
        ),
    ]
