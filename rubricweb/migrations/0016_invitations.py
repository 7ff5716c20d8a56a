"""Invitations into a team."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("rubricweb", "0015_figures_of_fully_judged_items"),
    ]

    operations = [
        migrations.CreateModel(
            name="Invitation",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("email", models.EmailField(blank=True, max_length=254)),
                ("username", models.CharField(blank=True, max_length=150)),
                ("name", models.CharField(blank=True, max_length=120)),
                (
                    "role",
                    models.PositiveSmallIntegerField(
                        choices=[
                            (10, "viewer"),
                            (20, "annotator"),
                            (30, "reviewer"),
                            (40, "editor"),
                            (50, "owner"),
                        ]
                    ),
                ),
                ("digest", models.CharField(max_length=64)),
                ("mailed", models.BooleanField(default=False)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("expires_at", models.DateTimeField()),
                ("accepted_at", models.DateTimeField(null=True)),
                ("withdrawn_at", models.DateTimeField(null=True)),
                (
                    "invited_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "team",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="invitations",
                        to="rubricweb.team",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("digest",), name="invitation_digest_unique"),
                    models.CheckConstraint(
                        condition=models.Q(("role__in", [10, 20, 30, 40, 50])), name="invitation_role_known"
                    ),
                ],
            },
        ),
    ]
