import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("rubricweb", "0001_first_tables"),
    ]

    operations = [
        migrations.CreateModel(
            name="Vote",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("judge", models.CharField(max_length=200)),
                ("repeat", models.PositiveSmallIntegerField(default=0)),
                ("stage", models.PositiveSmallIntegerField(default=0)),
                ("weight", models.FloatField(default=1.0)),
                ("verdict", models.CharField(max_length=200, null=True)),
                ("confidence", models.FloatField(null=True)),
                ("reason", models.TextField(blank=True)),
                ("error_kind", models.CharField(max_length=40, null=True)),
                ("error_message", models.TextField(blank=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "ordering": ["id"],
            },
        ),
        migrations.RemoveConstraint(
            model_name="adjudication",
            name="adjudication_verdict_known",
        ),
        migrations.RemoveConstraint(
            model_name="judgement",
            name="judgement_verdict_or_error",
        ),
        migrations.RemoveConstraint(
            model_name="judgement",
            name="judgement_verdict_known",
        ),
        migrations.AddField(
            model_name="criterion",
            name="aggregation",
            field=models.CharField(blank=True, max_length=40),
        ),
        migrations.AddField(
            model_name="criterion",
            name="check_name",
            field=models.CharField(blank=True, max_length=100),
        ),
        migrations.AddField(
            model_name="criterion",
            name="kind",
            field=models.CharField(default="binary", max_length=20),
        ),
        migrations.AddField(
            model_name="criterion",
            name="options",
            field=models.JSONField(default=list),
        ),
        migrations.AddField(
            model_name="criterion",
            name="params",
            field=models.JSONField(default=dict),
        ),
        migrations.AddField(
            model_name="criterion",
            name="scale_type",
            field=models.CharField(blank=True, max_length=20),
        ),
        migrations.AddField(
            model_name="dataset",
            name="seal",
            field=models.CharField(blank=True, max_length=64),
        ),
        migrations.AddField(
            model_name="dataset",
            name="sealed_as",
            field=models.CharField(blank=True, max_length=10),
        ),
        migrations.AddField(
            model_name="dataset",
            name="split_of",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="halves",
                to="rubricweb.dataset",
            ),
        ),
        migrations.AddField(
            model_name="dataset",
            name="split_report",
            field=models.JSONField(null=True),
        ),
        migrations.AddField(
            model_name="item",
            name="content_hash",
            field=models.CharField(blank=True, max_length=64),
        ),
        migrations.AddField(
            model_name="judgement",
            name="confidence",
            field=models.FloatField(null=True),
        ),
        migrations.AddField(
            model_name="judgement",
            name="value",
            field=models.FloatField(null=True),
        ),
        migrations.AddField(
            model_name="rubricversion",
            name="length_penalty",
            field=models.JSONField(null=True),
        ),
        migrations.AddField(
            model_name="rubricversion",
            name="pass_rule",
            field=models.JSONField(null=True),
        ),
        migrations.AddField(
            model_name="run",
            name="few_shot",
            field=models.JSONField(null=True),
        ),
        migrations.AddField(
            model_name="run",
            name="option_seed",
            field=models.PositiveBigIntegerField(null=True),
        ),
        migrations.AddField(
            model_name="run",
            name="panel",
            field=models.JSONField(null=True),
        ),
        migrations.AddField(
            model_name="runcriterionsummary",
            name="options",
            field=models.JSONField(default=dict),
        ),
        migrations.AddField(
            model_name="runcriterionsummary",
            name="values_mean",
            field=models.FloatField(null=True),
        ),
        migrations.AddField(
            model_name="runitem",
            name="length_penalty",
            field=models.FloatField(default=0.0),
        ),
        migrations.AddField(
            model_name="runitem",
            name="passed",
            field=models.BooleanField(null=True),
        ),
        migrations.AlterField(
            model_name="adjudication",
            name="verdict",
            field=models.CharField(max_length=200),
        ),
        migrations.AlterField(
            model_name="judgement",
            name="verdict",
            field=models.CharField(max_length=200, null=True),
        ),
        migrations.AddIndex(
            model_name="item",
            index=models.Index(fields=["content_hash"], name="item_content_hash"),
        ),
        migrations.AddConstraint(
            model_name="criterion",
            constraint=models.CheckConstraint(
                condition=models.Q(("kind__in", ("binary", "choice", "check"))), name="criterion_kind_known"
            ),
        ),
        migrations.AddConstraint(
            model_name="criterion",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("kind", "check"), models.Q(("check_name", ""), _negated=True)),
                    models.Q(models.Q(("kind", "check"), _negated=True), ("check_name", "")),
                    _connector="OR",
                ),
                name="criterion_check_has_a_name",
            ),
        ),
        migrations.AddConstraint(
            model_name="criterion",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("kind", "choice"), ("scale_type__in", ("ordinal", "nominal"))),
                    models.Q(models.Q(("kind", "choice"), _negated=True), ("scale_type", "")),
                    _connector="OR",
                ),
                name="criterion_choice_has_a_scale",
            ),
        ),
        migrations.AddConstraint(
            model_name="dataset",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("seal", ""), ("sealed_as", "")),
                    models.Q(("sealed_as__in", ("dev", "test")), models.Q(("seal", ""), _negated=True)),
                    _connector="OR",
                ),
                name="dataset_seal_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="judgement",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(
                        ("error_kind__isnull", True), ("value__isnull", True), ("verdict__isnull", False)
                    ),
                    models.Q(
                        ("error_kind__isnull", True), ("value__isnull", False), ("verdict__isnull", True)
                    ),
                    models.Q(
                        ("error_kind__isnull", False), ("value__isnull", True), ("verdict__isnull", True)
                    ),
                    _connector="OR",
                ),
                name="judgement_one_answer",
            ),
        ),
        migrations.AddConstraint(
            model_name="judgement",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("confidence__isnull", True),
                    models.Q(("confidence__gte", 0.0), ("confidence__lte", 1.0)),
                    _connector="OR",
                ),
                name="judgement_confidence_is_a_share",
            ),
        ),
        migrations.AddField(
            model_name="vote",
            name="call",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="votes",
                to="rubricweb.judgecall",
            ),
        ),
        migrations.AddField(
            model_name="vote",
            name="criterion",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="votes", to="rubricweb.criterion"
            ),
        ),
        migrations.AddField(
            model_name="vote",
            name="item",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="votes", to="rubricweb.item"
            ),
        ),
        migrations.AddField(
            model_name="vote",
            name="run",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="votes", to="rubricweb.run"
            ),
        ),
        migrations.AddConstraint(
            model_name="vote",
            constraint=models.UniqueConstraint(
                fields=("run", "item", "criterion", "judge", "repeat", "stage"), name="vote_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="vote",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("error_kind__isnull", True), ("verdict__isnull", False)),
                    models.Q(("error_kind__isnull", False), ("verdict__isnull", True)),
                    _connector="OR",
                ),
                name="vote_label_or_error",
            ),
        ),
        migrations.AddConstraint(
            model_name="vote",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("confidence__isnull", True),
                    models.Q(("confidence__gte", 0.0), ("confidence__lte", 1.0)),
                    _connector="OR",
                ),
                name="vote_confidence_is_a_share",
            ),
        ),
    ]
