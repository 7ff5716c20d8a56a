"""What is asked, which stays when the system under test changes, and the versions of systems that answer."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("rubricweb", "0027_queues_of_label_decisions")]

    operations = [
        migrations.CreateModel(
            name="System",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(blank=True, max_length=100)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "team",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="systems",
                        to="rubricweb.team",
                    ),
                ),
            ],
            options={"ordering": ["team_id", "name"]},
        ),
        migrations.CreateModel(
            name="SystemVersion",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("label", models.CharField(blank=True, max_length=100)),
                ("position", models.PositiveIntegerField()),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "system",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="versions",
                        to="rubricweb.system",
                    ),
                ),
            ],
            options={"ordering": ["system_id", "position"]},
        ),
        migrations.CreateModel(
            name="Case",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("key", models.CharField(max_length=200)),
                ("position", models.PositiveIntegerField()),
                ("wording", models.PositiveIntegerField(default=1)),
                (
                    "dataset",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="cases",
                        to="rubricweb.dataset",
                    ),
                ),
            ],
            options={"ordering": ["dataset_id", "position"]},
        ),
        migrations.AddConstraint(
            "system", models.UniqueConstraint(fields=("team", "name"), name="system_name_unique_in_team")
        ),
        migrations.AddConstraint(
            "system",
            models.CheckConstraint(
                condition=~models.Q(name__contains="@") & ~models.Q(name__contains="/"),
                name="system_name_without_separators",
            ),
        ),
        migrations.AddConstraint(
            "systemversion",
            models.UniqueConstraint(fields=("system", "label"), name="system_version_label_unique"),
        ),
        migrations.AddConstraint(
            "systemversion",
            models.UniqueConstraint(fields=("system", "position"), name="system_version_position_unique"),
        ),
        migrations.AddConstraint(
            "case", models.UniqueConstraint(fields=("dataset", "key"), name="case_key_unique_in_dataset")
        ),
        migrations.AddConstraint(
            "case",
            models.UniqueConstraint(fields=("dataset", "position"), name="case_position_unique_in_dataset"),
        ),
        migrations.AddField("item", "attempt", models.PositiveIntegerField(default=1)),
        migrations.AddField("item", "wording", models.PositiveIntegerField(default=1)),
        migrations.AddField(
            "item",
            "case",
            models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="items",
                to="rubricweb.case",
            ),
        ),
        migrations.AddField(
            "item",
            "system_version",
            models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="items",
                to="rubricweb.systemversion",
            ),
        ),
    ]
