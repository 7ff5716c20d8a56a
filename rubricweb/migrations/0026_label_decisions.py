"""What becomes of labels under other words, and options that labels are carried to."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("rubricweb", "0025_queues_of_some_criteria"),
    ]

    operations = [
        migrations.AddField(
            model_name="meaning",
            name="option_map",
            field=models.JSONField(null=True),
        ),
        migrations.AddField(
            model_name="meaning",
            name="source",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="flows_into",
                to="rubricweb.meaning",
            ),
        ),
        migrations.CreateModel(
            name="LabelDecision",
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
                        choices=[("carry", "carry"), ("label_again", "label again"), ("probe", "probe")],
                        max_length=20,
                    ),
                ),
                ("options", models.JSONField(null=True)),
                ("reason", models.TextField(blank=True)),
                ("evidence", models.JSONField(default=dict)),
                ("decided_at", models.DateTimeField(auto_now_add=True)),
                ("superseded_at", models.DateTimeField(null=True)),
                (
                    "criterion",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="label_decisions",
                        to="rubricweb.criterion",
                    ),
                ),
                (
                    "decided_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "previous",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="rubricweb.criterion",
                    ),
                ),
                (
                    "version",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="label_decisions",
                        to="rubricweb.rubricversion",
                    ),
                ),
            ],
            options={
                "ordering": ["-decided_at", "-pk"],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("criterion__isnull", False), ("superseded_at__isnull", True)),
                        fields=("criterion",),
                        name="label_decision_current",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("criterion__isnull", True), ("superseded_at__isnull", True)),
                        fields=("version",),
                        name="label_decision_of_guidelines",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("kind__in", ["carry", "label_again", "probe"])),
                        name="label_decision_kind_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("options__isnull", True),
                            models.Q(("criterion__isnull", False), ("kind", "carry")),
                            _connector="OR",
                        ),
                        name="label_decision_options_are_carried",
                    ),
                ],
            },
        ),
    ]
