"""Queues of chosen items with places in them, revisions, comments, notices, calibration."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("rubricweb", "0005_tallies_of_earlier_runs"),
    ]

    operations = [
        migrations.CreateModel(
            name="Calibration",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("right", models.PositiveIntegerField(default=0)),
                ("total", models.PositiveIntegerField(default=0)),
                ("passed", models.BooleanField(default=False)),
                ("decided_at", models.DateTimeField(auto_now=True)),
            ],
        ),
        migrations.CreateModel(
            name="Comment",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("text", models.TextField()),
                ("resolved", models.BooleanField(default=False)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("edited_at", models.DateTimeField(null=True)),
                ("removed_at", models.DateTimeField(null=True)),
            ],
            options={
                "ordering": ["created_at", "id"],
            },
        ),
        migrations.CreateModel(
            name="Notice",
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
                            ("mention", "mentioned you"),
                            ("reply", "answered where you had written"),
                            ("queue", "asks you to review"),
                        ],
                        max_length=20,
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("read_at", models.DateTimeField(null=True)),
                ("emailed_at", models.DateTimeField(null=True)),
            ],
            options={
                "ordering": ["-created_at", "-id"],
            },
        ),
        migrations.CreateModel(
            name="QueueItem",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("position", models.PositiveIntegerField()),
                ("priority", models.FloatField(default=0.0)),
                ("shuffle", models.PositiveIntegerField(default=0)),
                ("wanted", models.PositiveSmallIntegerField()),
                ("room", models.PositiveSmallIntegerField()),
                ("probability", models.FloatField(null=True)),
                ("gold", models.BooleanField(default=False)),
                ("extra", models.BooleanField(default=False)),
            ],
            options={
                "ordering": ["queue_id", "position"],
            },
        ),
        migrations.CreateModel(
            name="Revision",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "choice",
                    models.CharField(
                        choices=[("keep", "keep"), ("change", "change"), ("unclear", "rubric unclear")],
                        max_length=10,
                    ),
                ),
                ("verdict", models.CharField(max_length=200)),
                ("reason", models.TextField(blank=True)),
                ("judge_verdict", models.CharField(blank=True, max_length=200)),
                ("revised_at", models.DateTimeField(auto_now=True)),
            ],
        ),
        migrations.RemoveConstraint(
            model_name="adjudication",
            name="adjudication_cause_known",
        ),
        migrations.RemoveConstraint(
            model_name="reviewqueue",
            name="queue_state_known",
        ),
        migrations.AddField(
            model_name="adjudication",
            name="labels",
            field=models.JSONField(default=list),
        ),
        migrations.AddField(
            model_name="adjudication",
            name="queue",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to="rubricweb.reviewqueue",
            ),
        ),
        migrations.AddField(
            model_name="judgement",
            name="evidence",
            field=models.JSONField(null=True),
        ),
        migrations.AddField(
            model_name="judgement",
            name="seconds",
            field=models.FloatField(null=True),
        ),
        migrations.AddField(
            model_name="review",
            name="held_until",
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name="review",
            name="holds_place",
            field=models.BooleanField(default=True),
        ),
        migrations.AddField(
            model_name="review",
            name="seconds",
            field=models.FloatField(null=True),
        ),
        migrations.AddField(
            model_name="reviewqueue",
            name="calibration_items",
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="reviewqueue",
            name="everyone",
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name="reviewqueue",
            name="extra_rater_below",
            field=models.FloatField(null=True),
        ),
        migrations.AddField(
            model_name="reviewqueue",
            name="hold_minutes",
            field=models.PositiveIntegerField(default=30),
        ),
        migrations.AddField(
            model_name="reviewqueue",
            name="order",
            field=models.CharField(
                choices=[
                    ("dataset", "as in the dataset"),
                    ("shuffled", "shuffled for each person"),
                    ("informative", "most informative first"),
                ],
                default="dataset",
                max_length=20,
            ),
        ),
        migrations.AddField(
            model_name="reviewqueue",
            name="pass_mark",
            field=models.FloatField(null=True),
        ),
        migrations.AddField(
            model_name="reviewqueue",
            name="rationale",
            field=models.CharField(
                choices=[("never", "none"), ("unmet", "those that are not met"), ("always", "all")],
                default="never",
                max_length=10,
            ),
        ),
        migrations.AddField(
            model_name="reviewqueue",
            name="source",
            field=models.JSONField(default=dict),
        ),
        migrations.AlterField(
            model_name="adjudication",
            name="cause",
            field=models.CharField(
                blank=True,
                choices=[
                    ("judge_wrong", "judge wrong"),
                    ("human_wrong", "human wrong"),
                    ("rubric_unclear", "rubric unclear"),
                    ("item_broken", "item broken"),
                ],
                max_length=20,
            ),
        ),
        migrations.RenameField(model_name="reviewqueue", old_name="blind", new_name="was_blind"),
        migrations.AddField(
            model_name="reviewqueue",
            name="blind",
            field=models.CharField(
                choices=[
                    ("both", "to the judge and to each other"),
                    ("judge", "to the judge"),
                    ("peers", "to each other"),
                    ("none", "no"),
                ],
                default="both",
                max_length=10,
            ),
        ),
        migrations.AlterField(
            model_name="reviewqueue",
            name="state",
            field=models.CharField(
                choices=[("open", "Open"), ("paused", "Paused"), ("closed", "Closed")],
                default="open",
                max_length=20,
            ),
        ),
        migrations.AddIndex(
            model_name="review",
            index=models.Index(
                condition=models.Q(("holds_place", True), ("state", "draft")),
                fields=["held_until"],
                name="review_held_until",
            ),
        ),
        migrations.AddIndex(
            model_name="review",
            index=models.Index(fields=["queue", "rater", "state"], name="review_queue_rater_state"),
        ),
        migrations.AddConstraint(
            model_name="adjudication",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("cause__in", ["", "judge_wrong", "human_wrong", "rubric_unclear", "item_broken"])
                ),
                name="adjudication_cause_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="reviewqueue",
            constraint=models.CheckConstraint(
                condition=models.Q(("state__in", ["open", "paused", "closed"])), name="queue_state_known"
            ),
        ),
        migrations.AddConstraint(
            model_name="reviewqueue",
            constraint=models.CheckConstraint(
                condition=models.Q(("blind__in", ["both", "judge", "peers", "none"])),
                name="queue_blind_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="reviewqueue",
            constraint=models.CheckConstraint(
                condition=models.Q(("order__in", ["dataset", "shuffled", "informative"])),
                name="queue_order_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="reviewqueue",
            constraint=models.CheckConstraint(
                condition=models.Q(("rationale__in", ["never", "unmet", "always"])),
                name="queue_rationale_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="reviewqueue",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("extra_rater_below__isnull", True),
                    models.Q(("extra_rater_below__gt", 0.0), ("extra_rater_below__lte", 1.0)),
                    _connector="OR",
                ),
                name="queue_extra_rater_below_a_share",
            ),
        ),
        migrations.AddConstraint(
            model_name="reviewqueue",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("pass_mark__isnull", True),
                    models.Q(("pass_mark__gt", 0.0), ("pass_mark__lte", 1.0)),
                    _connector="OR",
                ),
                name="queue_pass_mark_is_a_share",
            ),
        ),
        migrations.AddField(
            model_name="calibration",
            name="passed_by",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="calibration",
            name="queue",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="calibrations",
                to="rubricweb.reviewqueue",
            ),
        ),
        migrations.AddField(
            model_name="calibration",
            name="rater",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="calibrations", to="rubricweb.rater"
            ),
        ),
        migrations.AddField(
            model_name="comment",
            name="author",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="comments",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="comment",
            name="criterion",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="comments",
                to="rubricweb.criterion",
            ),
        ),
        migrations.AddField(
            model_name="comment",
            name="item",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="comments", to="rubricweb.item"
            ),
        ),
        migrations.AddField(
            model_name="comment",
            name="judgement",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="comments",
                to="rubricweb.judgement",
            ),
        ),
        migrations.AddField(
            model_name="notice",
            name="comment",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="notices",
                to="rubricweb.comment",
            ),
        ),
        migrations.AddField(
            model_name="notice",
            name="queue",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="notices",
                to="rubricweb.reviewqueue",
            ),
        ),
        migrations.AddField(
            model_name="notice",
            name="team",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="notices", to="rubricweb.team"
            ),
        ),
        migrations.AddField(
            model_name="notice",
            name="user",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="notices",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="queueitem",
            name="item",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="queue_items", to="rubricweb.item"
            ),
        ),
        migrations.AddField(
            model_name="queueitem",
            name="queue",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="queue_items",
                to="rubricweb.reviewqueue",
            ),
        ),
        migrations.AddField(
            model_name="revision",
            name="judgement",
            field=models.OneToOneField(
                on_delete=django.db.models.deletion.CASCADE, related_name="revision", to="rubricweb.judgement"
            ),
        ),
        migrations.AddField(
            model_name="revision",
            name="run",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="revisions",
                to="rubricweb.run",
            ),
        ),
        migrations.AddConstraint(
            model_name="calibration",
            constraint=models.UniqueConstraint(fields=("queue", "rater"), name="calibration_once"),
        ),
        migrations.AddConstraint(
            model_name="calibration",
            constraint=models.CheckConstraint(
                condition=models.Q(("right__lte", models.F("total"))), name="calibration_right_within_total"
            ),
        ),
        migrations.AddIndex(
            model_name="comment",
            index=models.Index(fields=["item", "created_at"], name="comment_item"),
        ),
        migrations.AddIndex(
            model_name="notice",
            index=models.Index(
                condition=models.Q(("read_at", None)), fields=["user", "team"], name="notice_unread"
            ),
        ),
        migrations.AddConstraint(
            model_name="notice",
            constraint=models.CheckConstraint(
                condition=models.Q(("kind__in", ["mention", "reply", "queue"])), name="notice_kind_known"
            ),
        ),
        migrations.AddConstraint(
            model_name="notice",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("comment__isnull", False), ("queue__isnull", True)),
                    models.Q(("comment__isnull", True), ("queue__isnull", False)),
                    _connector="OR",
                ),
                name="notice_about_one_thing",
            ),
        ),
        migrations.AddConstraint(
            model_name="notice",
            constraint=models.UniqueConstraint(
                condition=models.Q(("comment__isnull", False)),
                fields=("user", "comment"),
                name="notice_once_a_comment",
            ),
        ),
        migrations.AddConstraint(
            model_name="notice",
            constraint=models.UniqueConstraint(
                condition=models.Q(("queue__isnull", False)),
                fields=("user", "queue"),
                name="notice_once_a_queue",
            ),
        ),
        migrations.AddIndex(
            model_name="queueitem",
            index=models.Index(
                condition=models.Q(("room__gt", 0)), fields=["queue", "position"], name="queue_item_next"
            ),
        ),
        migrations.AddIndex(
            model_name="queueitem",
            index=models.Index(
                condition=models.Q(("room__gt", 0)), fields=["queue", "shuffle"], name="queue_item_shuffled"
            ),
        ),
        migrations.AddIndex(
            model_name="queueitem",
            index=models.Index(
                condition=models.Q(("room__gt", 0)),
                fields=["queue", "-priority", "position"],
                name="queue_item_informative",
            ),
        ),
        migrations.AddConstraint(
            model_name="queueitem",
            constraint=models.UniqueConstraint(fields=("queue", "item"), name="queue_item_once"),
        ),
        migrations.AddConstraint(
            model_name="queueitem",
            constraint=models.UniqueConstraint(fields=("queue", "position"), name="queue_item_position_once"),
        ),
        migrations.AddConstraint(
            model_name="queueitem",
            constraint=models.CheckConstraint(
                condition=models.Q(("room__gte", 0), ("room__lte", models.F("wanted"))),
                name="queue_item_room",
            ),
        ),
        migrations.AddConstraint(
            model_name="queueitem",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("probability__isnull", True),
                    models.Q(("probability__gt", 0.0), ("probability__lte", 1.0)),
                    _connector="OR",
                ),
                name="queue_item_probability_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="revision",
            constraint=models.CheckConstraint(
                condition=models.Q(("choice__in", ["keep", "change", "unclear"])), name="revision_choice"
            ),
        ),
        migrations.AddConstraint(
            model_name="revision",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("choice", "change"), _negated=True),
                    models.Q(("reason", ""), _negated=True),
                    _connector="OR",
                ),
                name="revision_gives_a_reason",
            ),
        ),
    ]
