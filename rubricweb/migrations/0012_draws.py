"""Random draws are recorded whole, stratum by stratum, and their queues hand items out as they were drawn."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("rubricweb", "0011_idempotency_keys"),
    ]

    operations = [
        migrations.CreateModel(
            name="Draw",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("seed", models.PositiveIntegerField()),
                ("dataset_size", models.PositiveIntegerField(null=True)),
                ("drawn_at", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "ordering": ["queue_id", "pk"],
            },
        ),
        migrations.CreateModel(
            name="Stratum",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("value", models.TextField(blank=True)),
                ("size", models.PositiveIntegerField()),
                ("drawn", models.PositiveIntegerField()),
                ("items", models.JSONField()),
            ],
            options={
                "ordering": ["draw_id", "pk"],
            },
        ),
        migrations.RemoveConstraint(
            model_name="queueitem",
            name="queue_item_probability_known",
        ),
        migrations.RemoveConstraint(
            model_name="reviewqueue",
            name="queue_order_known",
        ),
        migrations.RemoveField(
            model_name="queueitem",
            name="probability",
        ),
        migrations.AlterField(
            model_name="reviewqueue",
            name="order",
            field=models.CharField(
                choices=[
                    ("dataset", "as in the dataset"),
                    ("shuffled", "shuffled for each person"),
                    ("informative", "most informative first"),
                    ("drawn", "as drawn at random"),
                ],
                default="dataset",
                max_length=20,
            ),
        ),
        migrations.AddConstraint(
            model_name="reviewqueue",
            constraint=models.CheckConstraint(
                condition=models.Q(("order__in", ["dataset", "shuffled", "informative", "drawn"])),
                name="queue_order_known",
            ),
        ),
        migrations.AddField(
            model_name="draw",
            name="queue",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="draws", to="rubricweb.reviewqueue"
            ),
        ),
        migrations.AddField(
            model_name="stratum",
            name="draw",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="strata", to="rubricweb.draw"
            ),
        ),
        migrations.AddConstraint(
            model_name="stratum",
            constraint=models.UniqueConstraint(fields=("draw", "value"), name="stratum_once_in_draw"),
        ),
        migrations.AddConstraint(
            model_name="stratum",
            constraint=models.CheckConstraint(
                condition=models.Q(("drawn__gte", 1), ("drawn__lte", models.F("size"))),
                name="stratum_drawn_within_size",
            ),
        ),
    ]
