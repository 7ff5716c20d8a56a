import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    """Links that show figures to people outside: there were none, before."""

    dependencies = [
        ("rubricweb", "0077_saved_views"),
    ]

    operations = [
        migrations.CreateModel(
            name="SharedLink",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("dashboard", "Dashboard"),
                            ("comparison", "Judge against people"),
                            ("run-diff", "Run against run"),
                        ],
                        max_length=12,
                    ),
                ),
                ("title", models.CharField(max_length=120)),
                ("digest", models.CharField(max_length=64)),
                ("page", models.JSONField()),
                ("address", models.CharField(max_length=500)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("expires_at", models.DateTimeField()),
                ("revoked_at", models.DateTimeField(null=True)),
                ("opened", models.PositiveIntegerField(default=0)),
                ("opened_at", models.DateTimeField(null=True)),
                (
                    "created_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("queues", models.ManyToManyField(related_name="+", to="rubricweb.reviewqueue")),
                ("runs", models.ManyToManyField(related_name="+", to="rubricweb.run")),
                (
                    "team",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="shared_links",
                        to="rubricweb.team",
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
                "constraints": [
                    models.UniqueConstraint(fields=("digest",), name="shared_link_digest_unique"),
                    models.CheckConstraint(
                        condition=models.Q(("kind__in", ["dashboard", "comparison", "run-diff"])),
                        name="shared_link_kind_known",
                    ),
                ],
            },
        ),
    ]
