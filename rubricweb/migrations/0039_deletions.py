"""Deletions, and tallies that outlive their run: what a team spent stays spent."""

import django.db.models.deletion
from django.apps.registry import Apps
from django.conf import settings
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

FILL = (
    "UPDATE rubricweb_runtally SET team_id = "
    "(SELECT r.team_id FROM rubricweb_run r WHERE r.id = rubricweb_runtally.run_id)"
)


def fill(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    with editor.connection.cursor() as cursor:
        cursor.execute(FILL)
        if editor.connection.vendor == "postgresql":
            # No table is altered while checks of its rows are still to come.
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
            cursor.execute("SET CONSTRAINTS ALL DEFERRED")


class Migration(migrations.Migration):
    dependencies = [
        ("rubricweb", "0036_columns_of_datasets"),
    ]

    operations = [
        migrations.CreateModel(
            name="Deletion",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("kind", models.CharField(max_length=20)),
                ("row_id", models.BigIntegerField()),
                ("name", models.CharField(max_length=200)),
                ("planned", models.JSONField(default=dict)),
                ("rows_planned", models.PositiveBigIntegerField(default=0)),
                ("rows_removed", models.PositiveBigIntegerField(default=0)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("waiting", "Waiting"),
                            ("running", "Removing"),
                            ("done", "Done"),
                            ("failed", "Failed"),
                        ],
                        default="waiting",
                        max_length=10,
                    ),
                ),
                ("message", models.TextField(blank=True)),
                ("worker", models.CharField(blank=True, max_length=100)),
                ("beat_at", models.DateTimeField(null=True)),
                ("deleted_at", models.DateTimeField(auto_now_add=True)),
                ("ended_at", models.DateTimeField(null=True)),
            ],
            options={
                "ordering": ["-id"],
            },
        ),
        migrations.AddField(
            model_name="runtally",
            name="team",
            field=models.ForeignKey(
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to="rubricweb.team",
            ),
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
        migrations.AlterField(
            model_name="runtally",
            name="team",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to="rubricweb.team",
            ),
        ),
        migrations.AddField(
            model_name="team",
            name="deleted_at",
            field=models.DateTimeField(null=True),
        ),
        migrations.AlterField(
            model_name="runtally",
            name="run",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="tallies",
                to="rubricweb.run",
            ),
        ),
        migrations.AddIndex(
            model_name="judgecall",
            index=models.Index(
                condition=models.Q(("cached_from__isnull", False)),
                fields=["cached_from"],
                name="call_cached_from",
            ),
        ),
        migrations.AddIndex(
            model_name="runtally",
            index=models.Index(fields=["team", "month"], name="run_tally_of_team"),
        ),
        migrations.AddField(
            model_name="deletion",
            name="bin",
            field=models.ForeignKey(
                null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to="rubricweb.team"
            ),
        ),
        migrations.AddField(
            model_name="deletion",
            name="deleted_by",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="deletion",
            name="team",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="deletions", to="rubricweb.team"
            ),
        ),
        migrations.AddIndex(
            model_name="deletion",
            index=models.Index(fields=["team", "-id"], name="deletion_of_team"),
        ),
        migrations.AddIndex(
            model_name="deletion",
            index=models.Index(
                condition=models.Q(("state__in", ["waiting", "running"])),
                fields=["id"],
                name="deletion_under_way",
            ),
        ),
        migrations.AddConstraint(
            model_name="deletion",
            constraint=models.CheckConstraint(
                condition=models.Q(("state__in", ["waiting", "running", "done", "failed"])),
                name="deletion_state_known",
            ),
        ),
    ]
