import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    """Lists under names: nobody had kept one, before."""

    dependencies = [
        ("rubricweb", "0076_queues_answered_in_a_table"),
    ]

    operations = [
        migrations.CreateModel(
            name="SavedView",
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
                        choices=[("items", "Items"), ("runs", "Runs"), ("inbox", "Disagreements")],
                        max_length=10,
                    ),
                ),
                ("name", models.CharField(max_length=100)),
                ("query", models.CharField(blank=True, max_length=2000)),
                ("shared", models.BooleanField(default=False)),
                ("pinned", models.BooleanField(default=False)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "dataset",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="saved_views",
                        to="rubricweb.dataset",
                    ),
                ),
                (
                    "owner",
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
                        related_name="saved_views",
                        to="rubricweb.team",
                    ),
                ),
            ],
            options={
                "ordering": ["name", "id"],
                "constraints": [
                    models.UniqueConstraint(fields=("team", "owner", "name"), name="saved_view_name_once"),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("dataset__isnull", False), ("kind", "items")),
                            models.Q(("dataset__isnull", True), ("kind__in", ["runs", "inbox"])),
                            _connector="OR",
                        ),
                        name="saved_view_of_a_list",
                    ),
                ],
            },
        ),
    ]
