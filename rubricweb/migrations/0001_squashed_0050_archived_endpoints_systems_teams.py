"""All tables at once, for a database that has none: what the migrations up to 0050 make.

A database that has some of them goes on with the others. Both ways end in the same models, which
tests/models/test_migrations.py holds. Written by `python -m tests.tools.squash_migrations`.
"""

import django.contrib.auth.models
import django.contrib.auth.validators
import django.db.models.deletion
import django.db.models.functions.text
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

import rubricweb.migrations._at_once


class Migration(migrations.Migration):
    replaces = [
        ("rubricweb", "0001_first_tables"),
        ("rubricweb", "0002_choices_checks_panels_and_splits"),
        ("rubricweb", "0003_content_hash_of_items"),
        ("rubricweb", "0004_frugal_and_durable_runs"),
        ("rubricweb", "0005_tallies_of_earlier_runs"),
        ("rubricweb", "0006_team_review"),
        ("rubricweb", "0007_places_of_earlier_queues"),
        ("rubricweb", "0008_places_follow_states"),
        ("rubricweb", "0009_single_keys"),
        ("rubricweb", "0010_comments"),
        ("rubricweb", "0011_idempotency_keys"),
        ("rubricweb", "0012_draws"),
        ("rubricweb", "0013_draws_of_earlier_queues"),
        ("rubricweb", "0014_fully_judged_items"),
        ("rubricweb", "0015_figures_of_fully_judged_items"),
        ("rubricweb", "0016_invitations"),
        ("rubricweb", "0017_labels_found_by_their_reviews"),
        ("rubricweb", "0018_group_means"),
        ("rubricweb", "0019_lost_calls"),
        ("rubricweb", "0020_shared_cache"),
        ("rubricweb", "0021_who_said_it"),
        ("rubricweb", "0022_machines_among_earlier_raters"),
        ("rubricweb", "0023_criterion_uids"),
        ("rubricweb", "0024_criteria_identified"),
        ("rubricweb", "0025_queues_of_some_criteria"),
        ("rubricweb", "0026_label_decisions"),
        ("rubricweb", "0027_queues_of_label_decisions"),
        ("rubricweb", "0028_cases_and_systems"),
        ("rubricweb", "0029_cases_of_earlier_items"),
        ("rubricweb", "0030_every_item_answers_a_case"),
        ("rubricweb", "0031_imported_runs"),
        ("rubricweb", "0032_machines_become_imported_runs"),
        ("rubricweb", "0033_background_imports"),
        ("rubricweb", "0034_runs_over_system_versions"),
        ("rubricweb", "0035_archived"),
        ("rubricweb", "0036_columns_of_datasets"),
        ("rubricweb", "0039_deletions"),
        ("rubricweb", "0040_queues_of_system_versions"),
        ("rubricweb", "0041_versions_of_datasets"),
        ("rubricweb", "0042_versions_of_earlier_datasets"),
        ("rubricweb", "0043_corrected_cases"),
        ("rubricweb", "0044_halves_of_cases"),
        ("rubricweb", "0045_runs_over_a_half"),
        ("rubricweb", "0046_combinations"),
        ("rubricweb", "0047_queues_over_a_half"),
        ("rubricweb", "0048_looks_at_test_halves"),
        ("rubricweb", "0049_tags_of_cases"),
        ("rubricweb", "0050_archived_endpoints_systems_teams"),
    ]

    initial = True

    dependencies = [
        ("auth", "0012_alter_user_first_name_max_length"),
    ]

    operations = [
        rubricweb.migrations._at_once.AtOnce(
            operations=[
                migrations.CreateModel(
                    name="Adjudication",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "item",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="adjudications",
                                to="rubricweb.item",
                            ),
                        ),
                        (
                            "criterion",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="adjudications",
                                to="rubricweb.criterion",
                            ),
                        ),
                        ("verdict", models.CharField(max_length=200)),
                        (
                            "cause",
                            models.CharField(
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
                        ("reason", models.TextField(blank=True)),
                        ("labels", models.JSONField(default=list)),
                        (
                            "queue",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.SET_NULL,
                                related_name="+",
                                to="rubricweb.reviewqueue",
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
                        ("decided_at", models.DateTimeField(auto_now=True)),
                    ],
                    options={
                        "constraints": [
                            models.UniqueConstraint(fields=("item", "criterion"), name="adjudication_once"),
                            models.CheckConstraint(
                                condition=models.Q(
                                    (
                                        "cause__in",
                                        ["", "judge_wrong", "human_wrong", "rubric_unclear", "item_broken"],
                                    )
                                ),
                                name="adjudication_cause_known",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="ApiToken",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "team",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="tokens",
                                to="rubricweb.team",
                            ),
                        ),
                        (
                            "user",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="tokens",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        ("name", models.CharField(max_length=80)),
                        ("digest", models.CharField(max_length=64)),
                        ("hint", models.CharField(max_length=12)),
                        ("may_write", models.BooleanField(default=False)),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                        ("expires_at", models.DateTimeField()),
                        ("last_used_at", models.DateTimeField(null=True)),
                        ("revoked_at", models.DateTimeField(null=True)),
                    ],
                    options={
                        "constraints": [
                            models.UniqueConstraint(fields=("digest",), name="token_digest_unique")
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="BatchJob",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "run",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="batches",
                                to="rubricweb.run",
                            ),
                        ),
                        ("judge", models.CharField(max_length=200)),
                        ("provider_id", models.CharField(blank=True, max_length=200)),
                        ("input_file_id", models.CharField(blank=True, max_length=200)),
                        ("state", models.CharField(blank=True, max_length=40)),
                        ("requests", models.PositiveIntegerField(default=0)),
                        ("error_message", models.TextField(blank=True)),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                        ("checked_at", models.DateTimeField(null=True)),
                        ("stored_at", models.DateTimeField(null=True)),
                    ],
                    options={
                        "ordering": ["id"],
                        "indexes": [
                            models.Index(
                                condition=models.Q(("stored_at__isnull", True)),
                                fields=["run", "id"],
                                name="batch_waiting",
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="CacheEntry",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("name", models.CharField(max_length=250, unique=True)),
                        ("value", models.JSONField()),
                        ("expires_at", models.DateTimeField()),
                    ],
                    options={
                        "verbose_name_plural": "cache entries",
                        "indexes": [models.Index(fields=["expires_at"], name="cache_entry_expiry")],
                    },
                ),
                migrations.CreateModel(
                    name="Calibration",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "queue",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="calibrations",
                                to="rubricweb.reviewqueue",
                            ),
                        ),
                        (
                            "rater",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="calibrations",
                                to="rubricweb.rater",
                            ),
                        ),
                        ("right", models.PositiveIntegerField(default=0)),
                        ("total", models.PositiveIntegerField(default=0)),
                        ("passed", models.BooleanField(default=False)),
                        (
                            "passed_by",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.SET_NULL,
                                related_name="+",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        ("decided_at", models.DateTimeField(auto_now=True)),
                    ],
                    options={
                        "constraints": [
                            models.UniqueConstraint(fields=("queue", "rater"), name="calibration_once"),
                            models.CheckConstraint(
                                condition=models.Q(("right__lte", models.F("total"))),
                                name="calibration_right_within_total",
                            ),
                        ],
                    },
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
                        (
                            "dataset",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="cases",
                                to="rubricweb.dataset",
                            ),
                        ),
                        ("key", models.CharField(max_length=200)),
                        ("position", models.PositiveIntegerField()),
                        ("wording", models.PositiveIntegerField(default=1)),
                        ("half", models.CharField(blank=True, db_default="", default="", max_length=4)),
                    ],
                    options={
                        "ordering": ["dataset_id", "position"],
                        "indexes": [models.Index(fields=["dataset", "half"], name="case_of_half")],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("dataset", "key"), name="case_key_unique_in_dataset"
                            ),
                            models.UniqueConstraint(
                                fields=("dataset", "position"), name="case_position_unique_in_dataset"
                            ),
                            models.CheckConstraint(
                                condition=models.Q(("half__in", ("", "dev", "test"))), name="case_half_known"
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="CaseSplit",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "dataset",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="case_splits",
                                to="rubricweb.dataset",
                            ),
                        ),
                        ("number", models.PositiveIntegerField()),
                        ("dataset_version", models.PositiveIntegerField()),
                        ("seed", models.BigIntegerField()),
                        ("n_dev", models.PositiveIntegerField()),
                        ("n_test", models.PositiveIntegerField()),
                        ("report", models.JSONField()),
                        (
                            "created_by",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.SET_NULL,
                                related_name="+",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                    ],
                    options={
                        "ordering": ["dataset_id", "number"],
                        "constraints": [
                            models.UniqueConstraint(fields=("dataset", "number"), name="case_split_once")
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="CaseTag",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "case",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="tags",
                                to="rubricweb.case",
                            ),
                        ),
                        ("tag", models.CharField(max_length=60)),
                    ],
                    options={
                        "ordering": ["case_id", "tag"],
                        "indexes": [models.Index(fields=["tag", "case"], name="case_of_tag")],
                        "constraints": [
                            models.UniqueConstraint(fields=("case", "tag"), name="case_tag_once"),
                            models.CheckConstraint(
                                condition=models.Q(("tag", ""), _negated=True), name="case_tag_not_empty"
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="CaseText",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "case",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="texts",
                                to="rubricweb.case",
                            ),
                        ),
                        ("number", models.PositiveIntegerField()),
                        ("prompt", models.JSONField(null=True)),
                        ("reference", models.TextField(null=True)),
                        ("description", models.TextField(blank=True)),
                        (
                            "rubric_version",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="rubricweb.rubricversion",
                            ),
                        ),
                        (
                            "created_by",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.SET_NULL,
                                related_name="+",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                    ],
                    options={
                        "ordering": ["case_id", "number"],
                        "constraints": [
                            models.UniqueConstraint(fields=("case", "number"), name="case_text_once")
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Combination",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "team",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="combinations",
                                to="rubricweb.team",
                            ),
                        ),
                        ("name", models.CharField(max_length=200)),
                        ("as_attempts", models.BooleanField(default=False)),
                        ("match", models.CharField(default="cases", max_length=10)),
                        ("archive_originals", models.BooleanField(default=False)),
                        (
                            "dataset",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.SET_NULL,
                                related_name="+",
                                to="rubricweb.dataset",
                            ),
                        ),
                        (
                            "workshop",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.SET_NULL,
                                related_name="+",
                                to="rubricweb.team",
                            ),
                        ),
                        (
                            "state",
                            models.CharField(
                                choices=[
                                    ("waiting", "Waiting"),
                                    ("running", "Copying"),
                                    ("done", "Done"),
                                    ("refused", "Refused"),
                                    ("failed", "Failed"),
                                    ("cancelled", "Cancelled"),
                                ],
                                default="waiting",
                                max_length=10,
                            ),
                        ),
                        ("items_planned", models.PositiveIntegerField(default=0)),
                        ("items_copied", models.PositiveIntegerField(default=0)),
                        ("stamp", models.JSONField(default=list)),
                        ("made", models.JSONField(default=dict)),
                        ("started", models.JSONField(default=dict)),
                        ("message", models.TextField(blank=True)),
                        ("worker", models.CharField(blank=True, max_length=100)),
                        ("beat_at", models.DateTimeField(null=True)),
                        (
                            "created_by",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.SET_NULL,
                                related_name="+",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                        ("ended_at", models.DateTimeField(null=True)),
                    ],
                    options={
                        "ordering": ["-id"],
                        "indexes": [
                            models.Index(fields=["team", "-id"], name="combination_of_team"),
                            models.Index(
                                condition=models.Q(
                                    ("state__in", ["waiting", "running"]),
                                    ("workshop__isnull", False),
                                    _connector="OR",
                                ),
                                fields=["id"],
                                name="combination_under_way",
                            ),
                        ],
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(
                                    (
                                        "state__in",
                                        ["waiting", "running", "done", "refused", "failed", "cancelled"],
                                    )
                                ),
                                name="combination_state_known",
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="CombinationPart",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "combination",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="parts",
                                to="rubricweb.combination",
                            ),
                        ),
                        (
                            "dataset",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="+",
                                to="rubricweb.dataset",
                            ),
                        ),
                        ("place", models.PositiveSmallIntegerField()),
                        ("system", models.CharField(blank=True, max_length=201)),
                    ],
                    options={
                        "ordering": ["combination_id", "place"],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("combination", "place"), name="combination_part_place_once"
                            ),
                            models.UniqueConstraint(
                                fields=("combination", "dataset"), name="combination_part_once"
                            ),
                        ],
                    },
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
                        (
                            "item",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="comments",
                                to="rubricweb.item",
                            ),
                        ),
                        (
                            "criterion",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="comments",
                                to="rubricweb.criterion",
                            ),
                        ),
                        (
                            "judgement",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.SET_NULL,
                                related_name="comments",
                                to="rubricweb.judgement",
                            ),
                        ),
                        (
                            "author",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.SET_NULL,
                                related_name="comments",
                                to=settings.AUTH_USER_MODEL,
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
                        "indexes": [models.Index(fields=["item", "created_at"], name="comment_item")],
                    },
                ),
                migrations.CreateModel(
                    name="Criterion",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "version",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="criteria",
                                to="rubricweb.rubricversion",
                            ),
                        ),
                        ("position", models.PositiveIntegerField()),
                        ("uid", models.CharField(blank=True, max_length=120)),
                        (
                            "meaning",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.SET_NULL,
                                related_name="criteria",
                                to="rubricweb.meaning",
                            ),
                        ),
                        ("name", models.CharField(max_length=200)),
                        ("requirement", models.TextField()),
                        ("weight", models.FloatField()),
                        ("group", models.CharField(blank=True, max_length=200)),
                        ("guidance", models.TextField(blank=True)),
                        ("tags", models.JSONField(default=list)),
                        ("met_example", models.TextField(blank=True)),
                        ("unmet_example", models.TextField(blank=True)),
                        ("kind", models.CharField(default="binary", max_length=20)),
                        ("options", models.JSONField(default=list)),
                        ("scale_type", models.CharField(blank=True, max_length=20)),
                        ("aggregation", models.CharField(blank=True, max_length=40)),
                        ("check_name", models.CharField(blank=True, max_length=100)),
                        ("params", models.JSONField(default=dict)),
                    ],
                    options={
                        "ordering": ["version_id", "position"],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("version", "position"), name="criterion_position_unique"
                            ),
                            models.UniqueConstraint(fields=("version", "name"), name="criterion_name_unique"),
                            models.UniqueConstraint(
                                condition=models.Q(("uid", ""), _negated=True),
                                fields=("version", "uid"),
                                name="criterion_uid_unique",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(("kind__in", ("binary", "choice", "check"))),
                                name="criterion_kind_known",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(
                                    models.Q(("kind", "check"), models.Q(("check_name", ""), _negated=True)),
                                    models.Q(models.Q(("kind", "check"), _negated=True), ("check_name", "")),
                                    _connector="OR",
                                ),
                                name="criterion_check_has_a_name",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(
                                    models.Q(("kind", "choice"), ("scale_type__in", ("ordinal", "nominal"))),
                                    models.Q(models.Q(("kind", "choice"), _negated=True), ("scale_type", "")),
                                    _connector="OR",
                                ),
                                name="criterion_choice_has_a_scale",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Dataset",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("archived_at", models.DateTimeField(null=True)),
                        (
                            "team",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="datasets",
                                to="rubricweb.team",
                            ),
                        ),
                        ("name", models.CharField(max_length=200)),
                        ("description", models.TextField(blank=True)),
                        ("prompt", models.JSONField(null=True)),
                        ("reference", models.TextField(null=True)),
                        (
                            "rubric_version",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="rubricweb.rubricversion",
                            ),
                        ),
                        ("columns", models.JSONField(default=list)),
                        ("sealed_as", models.CharField(blank=True, max_length=10)),
                        ("seal", models.CharField(blank=True, max_length=64)),
                        (
                            "split_of",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.SET_NULL,
                                related_name="halves",
                                to="rubricweb.dataset",
                            ),
                        ),
                        ("version", models.PositiveIntegerField(db_default=1, default=1)),
                        ("split_report", models.JSONField(null=True)),
                        (
                            "created_by",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.SET_NULL,
                                related_name="+",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                    ],
                    options={
                        "ordering": ["-created_at", "-id"],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("team", "name"), name="dataset_name_unique_in_team"
                            ),
                            models.CheckConstraint(
                                condition=models.Q(
                                    models.Q(("seal", ""), ("sealed_as", "")),
                                    models.Q(
                                        ("sealed_as__in", ("dev", "test")),
                                        models.Q(("seal", ""), _negated=True),
                                    ),
                                    _connector="OR",
                                ),
                                name="dataset_seal_known",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="DatasetChange",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "dataset",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="changes",
                                to="rubricweb.dataset",
                            ),
                        ),
                        ("version", models.PositiveIntegerField()),
                        (
                            "kind",
                            models.CharField(
                                choices=[
                                    ("append", "Added"),
                                    ("correct", "Corrected"),
                                    ("retire", "Retired"),
                                    ("restore", "Restored"),
                                ],
                                max_length=10,
                            ),
                        ),
                        ("items", models.PositiveIntegerField()),
                        ("note", models.CharField(blank=True, max_length=200)),
                        (
                            "created_by",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.SET_NULL,
                                related_name="+",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                    ],
                    options={
                        "ordering": ["dataset_id", "-version"],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("dataset", "version"), name="dataset_change_once"
                            ),
                            models.CheckConstraint(
                                condition=models.Q(("kind__in", ["append", "correct", "retire", "restore"])),
                                name="dataset_change_kind_known",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="DatasetImport",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "team",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="imports",
                                to="rubricweb.team",
                            ),
                        ),
                        (
                            "kind",
                            models.CharField(
                                choices=[
                                    ("dataset", "a dataset"),
                                    ("items", "items"),
                                    ("answers", "answers of a system version"),
                                ],
                                max_length=10,
                            ),
                        ),
                        (
                            "dataset",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="imports",
                                to="rubricweb.dataset",
                            ),
                        ),
                        ("name", models.CharField(blank=True, max_length=200)),
                        ("filename", models.CharField(max_length=200)),
                        (
                            "file",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.SET_NULL,
                                related_name="+",
                                to="rubricweb.keptfile",
                            ),
                        ),
                        ("columns", models.JSONField(default=dict)),
                        ("system", models.CharField(blank=True, max_length=201)),
                        ("as_attempt", models.BooleanField(default=False)),
                        ("strict", models.BooleanField(default=True)),
                        (
                            "duplicates",
                            models.CharField(
                                choices=[("ask", "Ask"), ("keep", "Keep"), ("skip", "Skip")],
                                default="ask",
                                max_length=4,
                            ),
                        ),
                        (
                            "state",
                            models.CharField(
                                choices=[
                                    ("waiting", "Waiting"),
                                    ("running", "Running"),
                                    ("asks", "Asks about duplicates"),
                                    ("done", "Done"),
                                    ("refused", "Refused"),
                                    ("failed", "Failed"),
                                    ("cancelled", "Cancelled"),
                                ],
                                default="waiting",
                                max_length=10,
                            ),
                        ),
                        ("rows_read", models.PositiveIntegerField(default=0)),
                        ("rows_stored", models.PositiveIntegerField(default=0)),
                        ("duplicate_count", models.PositiveIntegerField(default=0)),
                        ("found", models.JSONField(default=dict)),
                        ("message", models.TextField(blank=True)),
                        ("faults", models.JSONField(default=list)),
                        ("fault_count", models.PositiveIntegerField(default=0)),
                        ("worker", models.CharField(blank=True, max_length=100)),
                        ("beat_at", models.DateTimeField(null=True)),
                        (
                            "created_by",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.SET_NULL,
                                related_name="+",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                        ("ended_at", models.DateTimeField(null=True)),
                    ],
                    options={
                        "ordering": ["-id"],
                        "indexes": [
                            models.Index(fields=["team", "-id"], name="import_of_team"),
                            models.Index(
                                condition=models.Q(("state__in", ["waiting", "running"])),
                                fields=["id"],
                                name="import_under_way",
                            ),
                        ],
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("kind", "dataset"), ("dataset__isnull", False), _connector="OR"
                                ),
                                name="import_into_a_dataset",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(
                                    models.Q(("state", "done"), _negated=True),
                                    ("dataset__isnull", False),
                                    _connector="OR",
                                ),
                                name="import_done_has_dataset",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Deletion",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "team",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="deletions",
                                to="rubricweb.team",
                            ),
                        ),
                        ("kind", models.CharField(max_length=20)),
                        ("row_id", models.BigIntegerField()),
                        ("name", models.CharField(max_length=200)),
                        (
                            "bin",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.SET_NULL,
                                related_name="+",
                                to="rubricweb.team",
                            ),
                        ),
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
                        (
                            "deleted_by",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.SET_NULL,
                                related_name="+",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        ("deleted_at", models.DateTimeField(auto_now_add=True)),
                        ("ended_at", models.DateTimeField(null=True)),
                    ],
                    options={
                        "ordering": ["-id"],
                        "indexes": [
                            models.Index(fields=["team", "-id"], name="deletion_of_team"),
                            models.Index(
                                condition=models.Q(("state__in", ["waiting", "running"])),
                                fields=["id"],
                                name="deletion_under_way",
                            ),
                        ],
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(("state__in", ["waiting", "running", "done", "failed"])),
                                name="deletion_state_known",
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Draw",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "queue",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="draws",
                                to="rubricweb.reviewqueue",
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
                    name="EndpointMemory",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("key", models.CharField(max_length=64, unique=True)),
                        ("habits", models.JSONField(default=dict)),
                        ("pace", models.JSONField(default=dict)),
                        ("updated_at", models.DateTimeField(auto_now=True)),
                    ],
                ),
                migrations.CreateModel(
                    name="HalfLook",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "dataset",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="looks",
                                to="rubricweb.dataset",
                            ),
                        ),
                        ("data", models.CharField(max_length=64)),
                        ("units", models.PositiveIntegerField()),
                        ("items", models.PositiveIntegerField()),
                        ("dataset_version", models.PositiveIntegerField()),
                        ("seal", models.CharField(max_length=64)),
                        (
                            "run",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.SET_NULL,
                                related_name="+",
                                to="rubricweb.run",
                            ),
                        ),
                        (
                            "looked_by",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.SET_NULL,
                                related_name="+",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        ("at", models.DateTimeField(auto_now_add=True)),
                    ],
                    options={
                        "ordering": ["dataset_id", "-id"],
                        "constraints": [
                            models.UniqueConstraint(fields=("dataset", "data"), name="half_look_once")
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="IdempotencyKey",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "team",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="+",
                                to="rubricweb.team",
                            ),
                        ),
                        ("name", models.CharField(max_length=255)),
                        ("asked", models.CharField(blank=True, max_length=64)),
                        (
                            "run",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="+",
                                to="rubricweb.run",
                            ),
                        ),
                        ("items", models.PositiveIntegerField(default=0)),
                        ("created_at", models.DateTimeField()),
                    ],
                    options={
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("team", "name"), name="idempotency_key_once_per_team"
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="ImportBatch",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "dataset_import",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="batches",
                                to="rubricweb.datasetimport",
                            ),
                        ),
                        ("number", models.PositiveIntegerField()),
                        ("data", models.BinaryField()),
                    ],
                    options={
                        "ordering": ["dataset_import_id", "number"],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("dataset_import", "number"), name="import_batch_once"
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Invitation",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
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
                            "invited_by",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="+",
                                to=settings.AUTH_USER_MODEL,
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
                    ],
                    options={
                        "constraints": [
                            models.UniqueConstraint(fields=("digest",), name="invitation_digest_unique"),
                            models.CheckConstraint(
                                condition=models.Q(("role__in", [10, 20, 30, 40, 50])),
                                name="invitation_role_known",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Item",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "dataset",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="items",
                                to="rubricweb.dataset",
                            ),
                        ),
                        (
                            "case",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="items",
                                to="rubricweb.case",
                            ),
                        ),
                        ("wording", models.PositiveIntegerField(default=1)),
                        (
                            "system_version",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="items",
                                to="rubricweb.systemversion",
                            ),
                        ),
                        ("attempt", models.PositiveIntegerField(default=1)),
                        ("key", models.CharField(max_length=200)),
                        ("position", models.PositiveIntegerField()),
                        ("submission", models.TextField()),
                        ("thinking", models.TextField(null=True)),
                        ("prompt", models.JSONField(null=True)),
                        ("reference", models.TextField(null=True)),
                        ("description", models.TextField(blank=True)),
                        ("metadata", models.JSONField(default=dict)),
                        ("content_hash", models.CharField(blank=True, max_length=64)),
                        (
                            "rubric_version",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="items",
                                to="rubricweb.rubricversion",
                            ),
                        ),
                        ("added_in", models.PositiveIntegerField(db_default=1, default=1)),
                        (
                            "retired_in",
                            models.PositiveIntegerField(db_default=2147483647, default=2147483647),
                        ),
                        (
                            "replaces",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.SET_NULL,
                                related_name="replaced_by",
                                to="rubricweb.item",
                            ),
                        ),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                    ],
                    options={
                        "ordering": ["dataset_id", "position"],
                        "indexes": [
                            models.Index(fields=["content_hash"], name="item_content_hash"),
                            models.Index(
                                fields=["dataset", "system_version", "position"], name="item_of_system"
                            ),
                        ],
                        "constraints": [
                            models.UniqueConstraint(
                                condition=models.Q(("retired_in", 2147483647)),
                                fields=("dataset", "key"),
                                name="item_key_current",
                            ),
                            models.UniqueConstraint(
                                condition=models.Q(("retired_in", 2147483647)),
                                fields=("dataset", "position"),
                                name="item_position_current",
                            ),
                            models.UniqueConstraint(
                                condition=models.Q(("retired_in", 2147483647)),
                                fields=("case", "wording", "system_version", "attempt"),
                                name="item_answer_current",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("added_in__gte", 1), ("retired_in__gt", models.F("added_in"))
                                ),
                                name="item_retired_after_added",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="ItemAbsence",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "item",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="absences",
                                to="rubricweb.item",
                            ),
                        ),
                        ("retired_in", models.PositiveIntegerField()),
                        ("restored_in", models.PositiveIntegerField()),
                    ],
                    options={
                        "constraints": [
                            models.UniqueConstraint(fields=("item", "retired_in"), name="item_absence_once"),
                            models.CheckConstraint(
                                condition=models.Q(("restored_in__gt", models.F("retired_in"))),
                                name="item_absence_ends",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="ItemFacet",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "dataset",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="+",
                                to="rubricweb.dataset",
                            ),
                        ),
                        (
                            "item",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="facets",
                                to="rubricweb.item",
                            ),
                        ),
                        ("name", models.CharField(max_length=100)),
                        ("value", models.CharField(max_length=200)),
                        ("position", models.PositiveIntegerField()),
                    ],
                    options={
                        "indexes": [
                            models.Index(
                                fields=["dataset", "name", "value", "position", "item"],
                                name="item_facet_value",
                            )
                        ],
                        "constraints": [
                            models.UniqueConstraint(fields=("item", "name"), name="item_facet_once")
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="JournalEntry",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "team",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="journal",
                                to="rubricweb.team",
                            ),
                        ),
                        (
                            "actor",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.SET_NULL,
                                related_name="+",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        ("verb", models.CharField(max_length=60)),
                        ("target_kind", models.CharField(max_length=40)),
                        ("target_id", models.BigIntegerField(null=True)),
                        ("target_label", models.CharField(blank=True, max_length=200)),
                        ("detail", models.JSONField(default=dict)),
                        ("at", models.DateTimeField(auto_now_add=True)),
                    ],
                    options={
                        "verbose_name_plural": "journal entries",
                        "ordering": ["-id"],
                        "indexes": [models.Index(fields=["team", "-id"], name="journal_of_team")],
                    },
                ),
                migrations.CreateModel(
                    name="JudgeCall",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "run",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="calls",
                                to="rubricweb.run",
                            ),
                        ),
                        (
                            "item",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="+",
                                to="rubricweb.item",
                            ),
                        ),
                        ("model", models.CharField(blank=True, max_length=200)),
                        ("rung", models.CharField(blank=True, max_length=30)),
                        ("attempts", models.PositiveIntegerField(default=1)),
                        ("prompt_tokens", models.PositiveIntegerField(null=True)),
                        ("completion_tokens", models.PositiveIntegerField(null=True)),
                        ("cost_usd", models.FloatField(null=True)),
                        ("cached_prompt_tokens", models.PositiveIntegerField(null=True)),
                        ("latency_seconds", models.FloatField(null=True)),
                        ("content_key", models.UUIDField(null=True)),
                        (
                            "cached_from",
                            models.ForeignKey(
                                db_index=False,
                                null=True,
                                on_delete=django.db.models.deletion.SET_NULL,
                                related_name="+",
                                to="rubricweb.judgecall",
                            ),
                        ),
                        ("fallback", models.BooleanField(default=False)),
                        ("request", models.BinaryField(null=True)),
                        ("reply", models.TextField(blank=True)),
                        ("reasoning", models.TextField(blank=True)),
                        ("error_kind", models.CharField(max_length=40, null=True)),
                        ("error_message", models.TextField(blank=True)),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                    ],
                    options={
                        "ordering": ["id"],
                        "indexes": [
                            models.Index(
                                condition=models.Q(
                                    ("content_key__isnull", False), ("error_kind__isnull", True)
                                ),
                                fields=["content_key"],
                                name="call_by_content",
                            ),
                            models.Index(
                                condition=models.Q(("cached_from__isnull", False)),
                                fields=["cached_from"],
                                name="call_cached_from",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="JudgeEndpoint",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("archived_at", models.DateTimeField(null=True)),
                        (
                            "team",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="endpoints",
                                to="rubricweb.team",
                            ),
                        ),
                        ("name", models.CharField(max_length=80)),
                        ("base_url", models.URLField(max_length=500)),
                        ("model", models.CharField(max_length=200)),
                        ("sealed_key", models.TextField(blank=True)),
                        ("sealed_headers", models.TextField(blank=True)),
                        ("fallback_model", models.CharField(blank=True, max_length=200)),
                        ("temperature", models.FloatField(default=0.0, null=True)),
                        ("top_p", models.FloatField(null=True)),
                        ("max_output_tokens", models.PositiveIntegerField(null=True)),
                        ("reasoning_effort", models.CharField(blank=True, max_length=20)),
                        ("logprobs", models.BooleanField(default=False)),
                        ("batches", models.BooleanField(default=False)),
                        ("max_concurrency", models.PositiveIntegerField(null=True)),
                        ("requests_per_minute", models.PositiveIntegerField(null=True)),
                        ("tokens_per_minute", models.PositiveIntegerField(null=True)),
                        ("input_usd_per_million", models.FloatField(null=True)),
                        ("cached_input_usd_per_million", models.FloatField(null=True)),
                        ("output_usd_per_million", models.FloatField(null=True)),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                        ("removed_at", models.DateTimeField(null=True)),
                    ],
                    options={
                        "constraints": [
                            models.UniqueConstraint(
                                condition=models.Q(("removed_at__isnull", True)),
                                fields=("team", "name"),
                                name="endpoint_name_unique_in_team",
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Judgement",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "item",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="judgements",
                                to="rubricweb.item",
                            ),
                        ),
                        (
                            "criterion",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="judgements",
                                to="rubricweb.criterion",
                            ),
                        ),
                        (
                            "run",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="judgements",
                                to="rubricweb.run",
                            ),
                        ),
                        (
                            "review",
                            models.ForeignKey(
                                db_index=False,
                                null=True,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="judgements",
                                to="rubricweb.review",
                            ),
                        ),
                        ("judge", models.CharField(blank=True, max_length=200)),
                        ("repeat", models.PositiveSmallIntegerField(default=0)),
                        ("verdict", models.CharField(max_length=200, null=True)),
                        ("value", models.FloatField(null=True)),
                        ("confidence", models.FloatField(null=True)),
                        ("reason", models.TextField(blank=True)),
                        ("evidence", models.JSONField(null=True)),
                        ("seconds", models.FloatField(null=True)),
                        ("error_kind", models.CharField(max_length=40, null=True)),
                        ("error_message", models.TextField(blank=True)),
                        (
                            "call",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.SET_NULL,
                                related_name="judgements",
                                to="rubricweb.judgecall",
                            ),
                        ),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                    ],
                    options={
                        "indexes": [
                            models.Index(fields=["run", "criterion"], name="judgement_run_criterion")
                        ],
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(
                                    models.Q(("review__isnull", True), ("run__isnull", False)),
                                    models.Q(("review__isnull", False), ("run__isnull", True)),
                                    _connector="OR",
                                ),
                                name="judgement_by_run_or_review",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(
                                    models.Q(
                                        ("error_kind__isnull", True),
                                        ("value__isnull", True),
                                        ("verdict__isnull", False),
                                    ),
                                    models.Q(
                                        ("error_kind__isnull", True),
                                        ("value__isnull", False),
                                        ("verdict__isnull", True),
                                    ),
                                    models.Q(
                                        ("error_kind__isnull", False),
                                        ("value__isnull", True),
                                        ("verdict__isnull", True),
                                    ),
                                    _connector="OR",
                                ),
                                name="judgement_one_answer",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("confidence__isnull", True),
                                    models.Q(("confidence__gte", 0.0), ("confidence__lte", 1.0)),
                                    _connector="OR",
                                ),
                                name="judgement_confidence_is_a_share",
                            ),
                            models.UniqueConstraint(
                                condition=models.Q(("run__isnull", False)),
                                fields=("run", "item", "criterion", "judge", "repeat"),
                                name="judgement_once_per_run",
                            ),
                            models.UniqueConstraint(
                                condition=models.Q(("review__isnull", False)),
                                fields=("review", "criterion"),
                                name="judgement_once_per_review",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="KeptFile",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("token", models.CharField(max_length=32, unique=True)),
                        ("size", models.PositiveBigIntegerField(default=0)),
                        ("about", models.JSONField(default=dict)),
                        ("created_at", models.DateTimeField()),
                    ],
                    options={
                        "indexes": [models.Index(fields=["created_at"], name="kept_file_age")],
                    },
                ),
                migrations.CreateModel(
                    name="KeptFilePart",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "file",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="parts",
                                to="rubricweb.keptfile",
                            ),
                        ),
                        ("number", models.PositiveIntegerField()),
                        ("data", models.BinaryField()),
                    ],
                    options={
                        "ordering": ["file_id", "number"],
                        "constraints": [
                            models.UniqueConstraint(fields=("file", "number"), name="kept_file_part_once")
                        ],
                    },
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
                            "version",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="label_decisions",
                                to="rubricweb.rubricversion",
                            ),
                        ),
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
                            "previous",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="+",
                                to="rubricweb.criterion",
                            ),
                        ),
                        (
                            "kind",
                            models.CharField(
                                choices=[
                                    ("carry", "carry"),
                                    ("label_again", "label again"),
                                    ("probe", "probe"),
                                ],
                                max_length=20,
                            ),
                        ),
                        ("options", models.JSONField(null=True)),
                        ("reason", models.TextField(blank=True)),
                        ("evidence", models.JSONField(default=dict)),
                        (
                            "decided_by",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.SET_NULL,
                                related_name="+",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        ("decided_at", models.DateTimeField(auto_now_add=True)),
                        ("superseded_at", models.DateTimeField(null=True)),
                    ],
                    options={
                        "ordering": ["-decided_at", "-pk"],
                        "constraints": [
                            models.UniqueConstraint(
                                condition=models.Q(
                                    ("criterion__isnull", False), ("superseded_at__isnull", True)
                                ),
                                fields=("criterion",),
                                name="label_decision_current",
                            ),
                            models.UniqueConstraint(
                                condition=models.Q(
                                    ("criterion__isnull", True), ("superseded_at__isnull", True)
                                ),
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
                migrations.CreateModel(
                    name="Launch",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "team",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="+",
                                to="rubricweb.team",
                            ),
                        ),
                        ("budget_usd", models.FloatField(null=True)),
                        (
                            "created_by",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.SET_NULL,
                                related_name="+",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                    ],
                ),
                migrations.CreateModel(
                    name="Meaning",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "rubric",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="meanings",
                                to="rubricweb.rubric",
                            ),
                        ),
                        ("uid", models.CharField(max_length=120)),
                        (
                            "source",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.SET_NULL,
                                related_name="flows_into",
                                to="rubricweb.meaning",
                            ),
                        ),
                        ("option_map", models.JSONField(null=True)),
                    ],
                    options={
                        "ordering": ["rubric_id", "pk"],
                    },
                ),
                migrations.CreateModel(
                    name="Membership",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "team",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="memberships",
                                to="rubricweb.team",
                            ),
                        ),
                        (
                            "user",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="memberships",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
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
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                    ],
                    options={
                        "constraints": [
                            models.UniqueConstraint(fields=("team", "user"), name="membership_once_per_team"),
                            models.CheckConstraint(
                                condition=models.Q(("role__in", [10, 20, 30, 40, 50])),
                                name="membership_role_known",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="ModelPrice",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "team",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="prices",
                                to="rubricweb.team",
                            ),
                        ),
                        ("model", models.CharField(max_length=200)),
                        ("input_usd_per_million", models.FloatField()),
                        ("cached_input_usd_per_million", models.FloatField(null=True)),
                        ("output_usd_per_million", models.FloatField()),
                        ("updated_at", models.DateTimeField(auto_now=True)),
                    ],
                    options={
                        "ordering": ["model"],
                        "constraints": [
                            models.UniqueConstraint(fields=("team", "model"), name="price_once_per_model")
                        ],
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
                            "team",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="notices",
                                to="rubricweb.team",
                            ),
                        ),
                        (
                            "user",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="notices",
                                to=settings.AUTH_USER_MODEL,
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
                        (
                            "comment",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="notices",
                                to="rubricweb.comment",
                            ),
                        ),
                        (
                            "queue",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="notices",
                                to="rubricweb.reviewqueue",
                            ),
                        ),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                        ("read_at", models.DateTimeField(null=True)),
                        ("emailed_at", models.DateTimeField(null=True)),
                        ("email_tried_at", models.DateTimeField(null=True)),
                    ],
                    options={
                        "ordering": ["-created_at", "-id"],
                        "indexes": [
                            models.Index(
                                condition=models.Q(("read_at", None)),
                                fields=["user", "team"],
                                name="notice_unread",
                            )
                        ],
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(("kind__in", ["mention", "reply", "queue"])),
                                name="notice_kind_known",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(
                                    models.Q(("comment__isnull", False), ("queue__isnull", True)),
                                    models.Q(("comment__isnull", True), ("queue__isnull", False)),
                                    _connector="OR",
                                ),
                                name="notice_about_one_thing",
                            ),
                            models.UniqueConstraint(
                                condition=models.Q(("comment__isnull", False)),
                                fields=("user", "comment"),
                                name="notice_once_a_comment",
                            ),
                            models.UniqueConstraint(
                                condition=models.Q(("queue__isnull", False)),
                                fields=("user", "queue"),
                                name="notice_once_a_queue",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="QueueCriterion",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "queue",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="queue_criteria",
                                to="rubricweb.reviewqueue",
                            ),
                        ),
                        (
                            "criterion",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="queue_criteria",
                                to="rubricweb.criterion",
                            ),
                        ),
                    ],
                    options={
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("queue", "criterion"), name="queue_criterion_once"
                            )
                        ],
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
                        (
                            "queue",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="queue_items",
                                to="rubricweb.reviewqueue",
                            ),
                        ),
                        (
                            "item",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="queue_items",
                                to="rubricweb.item",
                            ),
                        ),
                        ("position", models.PositiveIntegerField()),
                        ("priority", models.FloatField(default=0.0)),
                        ("shuffle", models.PositiveIntegerField(default=0)),
                        ("wanted", models.PositiveSmallIntegerField()),
                        ("room", models.PositiveSmallIntegerField()),
                        ("gold", models.BooleanField(default=False)),
                        (
                            "rater",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.SET_NULL,
                                related_name="queue_items",
                                to="rubricweb.rater",
                            ),
                        ),
                        ("extra", models.BooleanField(default=False)),
                        ("withdrawn", models.BooleanField(db_default=False, default=False)),
                    ],
                    options={
                        "ordering": ["queue_id", "position"],
                        "indexes": [
                            models.Index(
                                condition=models.Q(("room__gt", 0)),
                                fields=["queue", "position"],
                                name="queue_item_next",
                            ),
                            models.Index(
                                condition=models.Q(("room__gt", 0)),
                                fields=["queue", "shuffle"],
                                name="queue_item_shuffled",
                            ),
                            models.Index(
                                condition=models.Q(("room__gt", 0)),
                                fields=["queue", "-priority", "position"],
                                name="queue_item_informative",
                            ),
                        ],
                        "constraints": [
                            models.UniqueConstraint(fields=("queue", "item"), name="queue_item_once"),
                            models.UniqueConstraint(
                                fields=("queue", "position"), name="queue_item_position_once"
                            ),
                            models.CheckConstraint(
                                condition=models.Q(("room__gte", 0), ("room__lte", models.F("wanted"))),
                                name="queue_item_room",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(("withdrawn", False), ("room", 0), _connector="OR"),
                                name="queue_item_withdrawn_no_room",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="QueueSystemVersion",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "queue",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="queue_system_versions",
                                to="rubricweb.reviewqueue",
                            ),
                        ),
                        (
                            "system_version",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="queue_system_versions",
                                to="rubricweb.systemversion",
                            ),
                        ),
                    ],
                    options={
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("queue", "system_version"), name="queue_system_version_once"
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Rater",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "team",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="raters",
                                to="rubricweb.team",
                            ),
                        ),
                        ("name", models.CharField(max_length=120)),
                        (
                            "kind",
                            models.CharField(
                                choices=[("human", "Human"), ("machine", "Machine"), ("settled", "Settled")],
                                default="human",
                                max_length=10,
                            ),
                        ),
                        (
                            "user",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.SET_NULL,
                                related_name="raters",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["name"],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("team", "name", "kind"), name="rater_name_unique_in_team"
                            ),
                            models.UniqueConstraint(fields=("team", "user"), name="rater_once_per_member"),
                            models.CheckConstraint(
                                condition=models.Q(("kind__in", ["human", "machine", "settled"])),
                                name="rater_kind_known",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("kind", "human"), ("user__isnull", True), _connector="OR"
                                ),
                                name="rater_member_is_human",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Review",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "queue",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="reviews",
                                to="rubricweb.reviewqueue",
                            ),
                        ),
                        (
                            "item",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="reviews",
                                to="rubricweb.item",
                            ),
                        ),
                        (
                            "rater",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="reviews",
                                to="rubricweb.rater",
                            ),
                        ),
                        (
                            "state",
                            models.CharField(
                                choices=[
                                    ("draft", "Draft"),
                                    ("submitted", "Submitted"),
                                    ("skipped", "Skipped"),
                                ],
                                default="draft",
                                max_length=20,
                            ),
                        ),
                        ("note", models.TextField(blank=True)),
                        ("flagged", models.BooleanField(default=False)),
                        ("holds_place", models.BooleanField(default=True)),
                        ("held_until", models.DateTimeField(null=True)),
                        ("seconds", models.FloatField(null=True)),
                        ("started_at", models.DateTimeField(auto_now_add=True)),
                        ("submitted_at", models.DateTimeField(null=True)),
                        ("imported", models.BooleanField(default=False)),
                    ],
                    options={
                        "ordering": ["queue_id", "item_id", "rater_id"],
                        "indexes": [
                            models.Index(
                                condition=models.Q(("holds_place", True), ("state", "draft")),
                                fields=["held_until"],
                                name="review_held_until",
                            ),
                            models.Index(fields=["queue", "rater", "state"], name="review_queue_rater_state"),
                        ],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("queue", "item", "rater"), name="review_once_per_rater"
                            ),
                            models.CheckConstraint(
                                condition=models.Q(("state__in", ["draft", "submitted", "skipped"])),
                                name="review_state_known",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(
                                    models.Q(("state", "submitted"), _negated=True),
                                    ("submitted_at__isnull", False),
                                    _connector="OR",
                                ),
                                name="review_submitted_has_a_time",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("state", "draft"),
                                    models.Q(("holds_place", True), ("state", "submitted")),
                                    models.Q(("holds_place", False), ("state", "skipped")),
                                    _connector="OR",
                                ),
                                name="review_place_follows_state",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="ReviewQueue",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("archived_at", models.DateTimeField(null=True)),
                        (
                            "team",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="queues",
                                to="rubricweb.team",
                            ),
                        ),
                        ("name", models.CharField(max_length=200)),
                        (
                            "dataset",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="queues",
                                to="rubricweb.dataset",
                            ),
                        ),
                        ("dataset_version", models.PositiveIntegerField(db_default=1, default=1)),
                        (
                            "rubric_version",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="queues",
                                to="rubricweb.rubricversion",
                            ),
                        ),
                        ("half", models.CharField(blank=True, db_default="", default="", max_length=4)),
                        (
                            "run",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.SET_NULL,
                                related_name="queues",
                                to="rubricweb.run",
                            ),
                        ),
                        ("raters_per_item", models.PositiveIntegerField(default=1)),
                        (
                            "blind",
                            models.CharField(
                                choices=[
                                    ("both", "to the judge and to each other"),
                                    ("judge", "to the judge"),
                                    ("peers", "to each other"),
                                    ("none", "no"),
                                    ("self", "to the judge, to each other and to their own earlier labels"),
                                ],
                                default="both",
                                max_length=10,
                            ),
                        ),
                        (
                            "order",
                            models.CharField(
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
                        (
                            "rationale",
                            models.CharField(
                                choices=[
                                    ("never", "none"),
                                    ("unmet", "those that are not met"),
                                    ("always", "all"),
                                ],
                                default="never",
                                max_length=10,
                            ),
                        ),
                        ("instructions", models.TextField(blank=True)),
                        ("source", models.JSONField(default=dict)),
                        (
                            "label_decision",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.SET_NULL,
                                related_name="queues",
                                to="rubricweb.labeldecision",
                            ),
                        ),
                        ("hold_minutes", models.PositiveIntegerField(default=30)),
                        ("extra_rater_below", models.FloatField(null=True)),
                        ("calibration_items", models.PositiveIntegerField(default=0)),
                        ("pass_mark", models.FloatField(null=True)),
                        ("everyone", models.BooleanField(default=False)),
                        ("imported", models.BooleanField(default=False)),
                        ("labels_digest", models.CharField(blank=True, max_length=64)),
                        (
                            "state",
                            models.CharField(
                                choices=[("open", "Open"), ("paused", "Paused"), ("closed", "Closed")],
                                default="open",
                                max_length=20,
                            ),
                        ),
                        (
                            "created_by",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.SET_NULL,
                                related_name="+",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                        (
                            "criteria",
                            models.ManyToManyField(
                                related_name="queues",
                                through="rubricweb.QueueCriterion",
                                to="rubricweb.criterion",
                            ),
                        ),
                        (
                            "system_versions",
                            models.ManyToManyField(
                                related_name="queues",
                                through="rubricweb.QueueSystemVersion",
                                to="rubricweb.systemversion",
                            ),
                        ),
                        ("raters", models.ManyToManyField(related_name="queues", to="rubricweb.rater")),
                    ],
                    options={
                        "ordering": ["-created_at", "-id"],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("team", "name"), name="queue_name_unique_in_team"
                            ),
                            models.UniqueConstraint(
                                condition=models.Q(("labels_digest", ""), _negated=True),
                                fields=("dataset", "labels_digest"),
                                name="queue_imported_once",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(("state__in", ["open", "paused", "closed"])),
                                name="queue_state_known",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(("half__in", ("", "dev", "test"))), name="queue_half_known"
                            ),
                            models.CheckConstraint(
                                condition=models.Q(("blind__in", ["both", "judge", "peers", "none", "self"])),
                                name="queue_blind_known",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("order__in", ["dataset", "shuffled", "informative", "drawn"])
                                ),
                                name="queue_order_known",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(("rationale__in", ["never", "unmet", "always"])),
                                name="queue_rationale_known",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(("raters_per_item__gte", 1)), name="queue_needs_a_rater"
                            ),
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("extra_rater_below__isnull", True),
                                    models.Q(("extra_rater_below__gt", 0.0), ("extra_rater_below__lte", 1.0)),
                                    _connector="OR",
                                ),
                                name="queue_extra_rater_below_a_share",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("pass_mark__isnull", True),
                                    models.Q(("pass_mark__gt", 0.0), ("pass_mark__lte", 1.0)),
                                    _connector="OR",
                                ),
                                name="queue_pass_mark_is_a_share",
                            ),
                            models.UniqueConstraint(
                                condition=models.Q(("label_decision__isnull", False)),
                                fields=("label_decision", "dataset"),
                                name="queue_once_for_a_decision",
                            ),
                        ],
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
                            "judgement",
                            models.OneToOneField(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="revision",
                                to="rubricweb.judgement",
                            ),
                        ),
                        (
                            "choice",
                            models.CharField(
                                choices=[
                                    ("keep", "keep"),
                                    ("change", "change"),
                                    ("unclear", "rubric unclear"),
                                ],
                                max_length=10,
                            ),
                        ),
                        ("verdict", models.CharField(max_length=200)),
                        ("reason", models.TextField(blank=True)),
                        (
                            "run",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.SET_NULL,
                                related_name="revisions",
                                to="rubricweb.run",
                            ),
                        ),
                        ("judge_verdict", models.CharField(blank=True, max_length=200)),
                        ("revised_at", models.DateTimeField(auto_now=True)),
                    ],
                    options={
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(("choice__in", ["keep", "change", "unclear"])),
                                name="revision_choice",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(
                                    models.Q(("choice", "change"), _negated=True),
                                    models.Q(("reason", ""), _negated=True),
                                    _connector="OR",
                                ),
                                name="revision_gives_a_reason",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Rubric",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("archived_at", models.DateTimeField(null=True)),
                        (
                            "team",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="rubrics",
                                to="rubricweb.team",
                            ),
                        ),
                        ("title", models.CharField(max_length=200)),
                        ("draft", models.JSONField(default=dict)),
                        ("draft_revision", models.PositiveIntegerField(default=0)),
                        (
                            "created_by",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.SET_NULL,
                                related_name="+",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                        ("updated_at", models.DateTimeField(auto_now=True)),
                    ],
                    options={
                        "ordering": ["-updated_at", "-id"],
                    },
                ),
                migrations.CreateModel(
                    name="RubricVersion",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "rubric",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="versions",
                                to="rubricweb.rubric",
                            ),
                        ),
                        ("number", models.PositiveIntegerField(null=True)),
                        ("title", models.CharField(blank=True, max_length=200)),
                        ("guidelines", models.TextField(blank=True)),
                        ("pass_rule", models.JSONField(null=True)),
                        ("length_penalty", models.JSONField(null=True)),
                        ("note", models.CharField(blank=True, max_length=300)),
                        (
                            "published_by",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.SET_NULL,
                                related_name="+",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        ("published_at", models.DateTimeField(auto_now_add=True)),
                    ],
                    options={
                        "ordering": ["rubric_id", "-number"],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("rubric", "number"), name="version_number_unique_in_rubric"
                            ),
                            models.CheckConstraint(
                                condition=models.Q(
                                    models.Q(("number__isnull", True), ("rubric__isnull", True)),
                                    models.Q(("number__gte", 1), ("rubric__isnull", False)),
                                    _connector="OR",
                                ),
                                name="version_numbered_or_owned_by_item",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Run",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("archived_at", models.DateTimeField(null=True)),
                        (
                            "team",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="runs",
                                to="rubricweb.team",
                            ),
                        ),
                        (
                            "dataset",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="runs",
                                to="rubricweb.dataset",
                            ),
                        ),
                        ("dataset_version", models.PositiveIntegerField(db_default=1, default=1)),
                        (
                            "system_version",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="runs",
                                to="rubricweb.systemversion",
                            ),
                        ),
                        ("half", models.CharField(blank=True, db_default="", default="", max_length=4)),
                        (
                            "launch",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.SET_NULL,
                                related_name="runs",
                                to="rubricweb.launch",
                            ),
                        ),
                        (
                            "rubric_version",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="runs",
                                to="rubricweb.rubricversion",
                            ),
                        ),
                        ("name", models.CharField(blank=True, max_length=200)),
                        ("autograder", models.CharField(max_length=60)),
                        ("judge", models.JSONField()),
                        (
                            "endpoint",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.SET_NULL,
                                related_name="+",
                                to="rubricweb.judgeendpoint",
                            ),
                        ),
                        ("reply_format", models.CharField(default="json", max_length=20)),
                        ("normalize", models.BooleanField(default=True)),
                        ("abstention", models.CharField(default="skip", max_length=20)),
                        ("on_error", models.CharField(default="exclude", max_length=20)),
                        ("option_seed", models.PositiveBigIntegerField(null=True)),
                        ("panel", models.JSONField(null=True)),
                        ("few_shot", models.JSONField(null=True)),
                        (
                            "mode",
                            models.CharField(
                                choices=[("live", "Live"), ("batch", "Batch")], default="live", max_length=10
                            ),
                        ),
                        (
                            "rater",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="imported_runs",
                                to="rubricweb.rater",
                            ),
                        ),
                        ("labels_digest", models.CharField(blank=True, max_length=64)),
                        ("use_cache", models.BooleanField(default=True)),
                        ("budget_usd", models.FloatField(null=True)),
                        (
                            "state",
                            models.CharField(
                                choices=[
                                    ("running", "Running"),
                                    ("paused", "Paused"),
                                    ("finished", "Finished"),
                                    ("cancelled", "Cancelled"),
                                    ("failed", "Failed"),
                                ],
                                default="running",
                                max_length=20,
                            ),
                        ),
                        ("finish_in_flight", models.BooleanField(default=True)),
                        (
                            "created_by",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.SET_NULL,
                                related_name="+",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                        ("finished_at", models.DateTimeField(null=True)),
                        ("stop_reason", models.CharField(blank=True, max_length=500)),
                    ],
                    options={
                        "ordering": ["-created_at", "-id"],
                        "indexes": [
                            models.Index(fields=["team", "-created_at", "-id"], name="run_list_of_team"),
                            models.Index(
                                condition=models.Q(("state", "running")),
                                fields=["id"],
                                name="run_still_running",
                            ),
                        ],
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("state__in", ["running", "paused", "finished", "cancelled", "failed"])
                                ),
                                name="run_state_known",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(("mode__in", ["live", "batch"])), name="run_mode_known"
                            ),
                            models.CheckConstraint(
                                condition=models.Q(("half__in", ("", "dev", "test"))), name="run_half_known"
                            ),
                            models.CheckConstraint(
                                condition=models.Q(
                                    models.Q(
                                        ("finished_at__isnull", True), ("state__in", ["running", "paused"])
                                    ),
                                    models.Q(
                                        models.Q(("state__in", ["running", "paused"]), _negated=True),
                                        ("finished_at__isnull", False),
                                    ),
                                    _connector="OR",
                                ),
                                name="run_ended_has_a_time",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("rater__isnull", True), ("state", "finished"), _connector="OR"
                                ),
                                name="run_imported_is_finished",
                            ),
                            models.UniqueConstraint(
                                condition=models.Q(("labels_digest", ""), _negated=True),
                                fields=("dataset", "labels_digest"),
                                name="run_imported_once",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="RunCriterionSummary",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "run",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="criterion_summaries",
                                to="rubricweb.run",
                            ),
                        ),
                        (
                            "criterion",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="rubricweb.criterion",
                            ),
                        ),
                        ("met", models.PositiveIntegerField()),
                        ("unmet", models.PositiveIntegerField()),
                        ("cannot_assess", models.PositiveIntegerField()),
                        ("errors", models.PositiveIntegerField()),
                        ("values_mean", models.FloatField(null=True)),
                        ("options", models.JSONField(default=dict)),
                    ],
                    options={
                        "ordering": ["run_id", "criterion__position"],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("run", "criterion"), name="run_criterion_summary_once"
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="RunEvent",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "run",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="events",
                                to="rubricweb.run",
                            ),
                        ),
                        ("kind", models.CharField(max_length=40)),
                        ("message", models.CharField(max_length=500)),
                        ("count", models.PositiveIntegerField(default=1)),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                        ("latest_at", models.DateTimeField(auto_now_add=True)),
                    ],
                    options={
                        "ordering": ["id"],
                        "indexes": [models.Index(fields=["run", "-id"], name="run_event_newest")],
                    },
                ),
                migrations.CreateModel(
                    name="RunItem",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "run",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="run_items",
                                to="rubricweb.run",
                            ),
                        ),
                        (
                            "item",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="run_items",
                                to="rubricweb.item",
                            ),
                        ),
                        (
                            "rubric_version",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="rubricweb.rubricversion",
                            ),
                        ),
                        ("leased_by", models.CharField(blank=True, max_length=100)),
                        ("leased_until", models.DateTimeField(null=True)),
                        ("graded_at", models.DateTimeField(null=True)),
                        ("score", models.FloatField(null=True)),
                        ("raw_score", models.FloatField(null=True)),
                        ("llm_raw_score", models.FloatField(null=True)),
                        ("coverage", models.FloatField(null=True)),
                        ("passed", models.BooleanField(null=True)),
                        ("length_penalty", models.FloatField(default=0.0)),
                        ("errors", models.PositiveIntegerField(default=0)),
                        ("reason", models.TextField(blank=True)),
                        ("error_kind", models.CharField(max_length=40, null=True)),
                        ("error_message", models.TextField(blank=True)),
                    ],
                    options={
                        "ordering": ["run_id", "item_id"],
                        "indexes": [
                            models.Index(
                                condition=models.Q(("graded_at__isnull", True)),
                                fields=["run", "id"],
                                name="run_item_pending",
                            ),
                            models.Index(fields=["run", "score", "id"], name="run_item_by_score"),
                        ],
                        "constraints": [
                            models.UniqueConstraint(fields=("run", "item"), name="run_item_once")
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="RunSummary",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "run",
                            models.OneToOneField(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="summary",
                                to="rubricweb.run",
                            ),
                        ),
                        ("items", models.PositiveIntegerField()),
                        ("scored", models.PositiveIntegerField()),
                        ("fully_judged", models.PositiveIntegerField(default=0)),
                        ("score_mean", models.FloatField(null=True)),
                        ("score_low", models.FloatField(null=True)),
                        ("score_high", models.FloatField(null=True)),
                        ("coverage", models.FloatField(null=True)),
                        ("verdicts", models.PositiveIntegerField()),
                        ("errors", models.PositiveIntegerField()),
                        ("prompt_tokens", models.PositiveBigIntegerField(default=0)),
                        ("completion_tokens", models.PositiveBigIntegerField(default=0)),
                        ("cost_usd", models.FloatField(null=True)),
                        ("groups", models.JSONField(null=True)),
                        ("lost_at_most_usd", models.FloatField(default=0.0)),
                    ],
                ),
                migrations.CreateModel(
                    name="RunTally",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "run",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.SET_NULL,
                                related_name="tallies",
                                to="rubricweb.run",
                            ),
                        ),
                        (
                            "team",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="+",
                                to="rubricweb.team",
                            ),
                        ),
                        ("worker", models.CharField(max_length=100)),
                        ("month", models.DateField()),
                        ("calls", models.PositiveBigIntegerField(default=0)),
                        ("cached", models.PositiveBigIntegerField(default=0)),
                        ("attempts", models.PositiveBigIntegerField(default=0)),
                        ("prompt_tokens", models.PositiveBigIntegerField(default=0)),
                        ("completion_tokens", models.PositiveBigIntegerField(default=0)),
                        ("cost_usd", models.FloatField(default=0.0)),
                        ("unpriced", models.PositiveBigIntegerField(default=0)),
                        ("in_flight", models.PositiveIntegerField(default=0)),
                        ("reserved_usd", models.FloatField(default=0.0)),
                        ("at_risk_calls", models.PositiveIntegerField(default=0)),
                        ("at_risk_unpriced", models.PositiveIntegerField(default=0)),
                        ("at_risk_usd", models.FloatField(default=0.0)),
                        ("lost_calls", models.PositiveBigIntegerField(default=0)),
                        ("lost_at_most_usd", models.FloatField(default=0.0)),
                        ("beat_at", models.DateTimeField(null=True)),
                    ],
                    options={
                        "ordering": ["id"],
                        "indexes": [
                            models.Index(fields=["month", "run"], name="run_tally_by_month"),
                            models.Index(fields=["team", "month"], name="run_tally_of_team"),
                        ],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("run", "worker", "month"), name="run_tally_once_per_worker"
                            )
                        ],
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
                        (
                            "draw",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="strata",
                                to="rubricweb.draw",
                            ),
                        ),
                        ("value", models.TextField(blank=True)),
                        ("size", models.PositiveIntegerField()),
                        ("drawn", models.PositiveIntegerField()),
                        ("items", models.JSONField()),
                    ],
                    options={
                        "ordering": ["draw_id", "pk"],
                        "constraints": [
                            models.UniqueConstraint(fields=("draw", "value"), name="stratum_once_in_draw"),
                            models.CheckConstraint(
                                condition=models.Q(("drawn__gte", 1), ("drawn__lte", models.F("size"))),
                                name="stratum_drawn_within_size",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="System",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("archived_at", models.DateTimeField(null=True)),
                        (
                            "team",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="systems",
                                to="rubricweb.team",
                            ),
                        ),
                        ("name", models.CharField(blank=True, max_length=100)),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                    ],
                    options={
                        "ordering": ["team_id", "name"],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("team", "name"), name="system_name_unique_in_team"
                            ),
                            models.CheckConstraint(
                                condition=models.Q(
                                    models.Q(("name__contains", "@"), _negated=True),
                                    models.Q(("name__contains", "/"), _negated=True),
                                ),
                                name="system_name_without_separators",
                            ),
                        ],
                    },
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
                        (
                            "system",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="versions",
                                to="rubricweb.system",
                            ),
                        ),
                        ("label", models.CharField(blank=True, max_length=100)),
                        ("position", models.PositiveIntegerField()),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                    ],
                    options={
                        "ordering": ["system_id", "position"],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("system", "label"), name="system_version_label_unique"
                            ),
                            models.UniqueConstraint(
                                fields=("system", "position"), name="system_version_position_unique"
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Team",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("archived_at", models.DateTimeField(null=True)),
                        ("name", models.CharField(max_length=120)),
                        ("slug", models.SlugField(max_length=60)),
                        ("monthly_budget_usd", models.FloatField(null=True)),
                        ("keep_calls_days", models.PositiveIntegerField(null=True)),
                        ("deleted_at", models.DateTimeField(null=True)),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                    ],
                    options={
                        "constraints": [
                            models.UniqueConstraint(
                                django.db.models.functions.text.Lower("slug"), name="team_slug_unique"
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="User",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("password", models.CharField(max_length=128, verbose_name="password")),
                        (
                            "last_login",
                            models.DateTimeField(blank=True, null=True, verbose_name="last login"),
                        ),
                        (
                            "is_superuser",
                            models.BooleanField(
                                default=False,
                                help_text="Designates that this user has all permissions without explicitly assigning them.",
                                verbose_name="superuser status",
                            ),
                        ),
                        (
                            "username",
                            models.CharField(
                                error_messages={"unique": "A user with that username already exists."},
                                help_text="Required. 150 characters or fewer. Letters, digits and @/./+/-/_ only.",
                                max_length=150,
                                unique=True,
                                validators=[django.contrib.auth.validators.UnicodeUsernameValidator()],
                                verbose_name="username",
                            ),
                        ),
                        (
                            "email",
                            models.EmailField(blank=True, max_length=254, verbose_name="email address"),
                        ),
                        (
                            "is_staff",
                            models.BooleanField(
                                default=False,
                                help_text="Designates whether the user can log into this admin site.",
                                verbose_name="staff status",
                            ),
                        ),
                        (
                            "is_active",
                            models.BooleanField(
                                default=True,
                                help_text="Designates whether this user should be treated as active. Unselect this instead of deleting accounts.",
                                verbose_name="active",
                            ),
                        ),
                        (
                            "date_joined",
                            models.DateTimeField(
                                default=django.utils.timezone.now, verbose_name="date joined"
                            ),
                        ),
                        ("name", models.CharField(blank=True, max_length=120)),
                        (
                            "last_team",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.SET_NULL,
                                related_name="+",
                                to="rubricweb.team",
                            ),
                        ),
                        ("single_keys", models.BooleanField(null=True)),
                        ("no_mail_since", models.DateTimeField(null=True)),
                        (
                            "groups",
                            models.ManyToManyField(
                                blank=True,
                                help_text="The groups this user belongs to. A user will get all permissions granted to each of their groups.",
                                related_name="user_set",
                                related_query_name="user",
                                to="auth.group",
                                verbose_name="groups",
                            ),
                        ),
                        (
                            "user_permissions",
                            models.ManyToManyField(
                                blank=True,
                                help_text="Specific permissions for this user.",
                                related_name="user_set",
                                related_query_name="user",
                                to="auth.permission",
                                verbose_name="user permissions",
                            ),
                        ),
                    ],
                    options={
                        "verbose_name": "user",
                        "verbose_name_plural": "users",
                        "abstract": False,
                    },
                    managers=[
                        ("objects", django.contrib.auth.models.UserManager()),
                    ],
                ),
                migrations.CreateModel(
                    name="Vote",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "run",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="votes",
                                to="rubricweb.run",
                            ),
                        ),
                        (
                            "item",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="votes",
                                to="rubricweb.item",
                            ),
                        ),
                        (
                            "criterion",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="votes",
                                to="rubricweb.criterion",
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
                        (
                            "call",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.SET_NULL,
                                related_name="votes",
                                to="rubricweb.judgecall",
                            ),
                        ),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                    ],
                    options={
                        "ordering": ["id"],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("run", "item", "criterion", "judge", "repeat", "stage"),
                                name="vote_once",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(
                                    models.Q(("error_kind__isnull", True), ("verdict__isnull", False)),
                                    models.Q(("error_kind__isnull", False), ("verdict__isnull", True)),
                                    _connector="OR",
                                ),
                                name="vote_label_or_error",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("confidence__isnull", True),
                                    models.Q(("confidence__gte", 0.0), ("confidence__lte", 1.0)),
                                    _connector="OR",
                                ),
                                name="vote_confidence_is_a_share",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Worker",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("name", models.CharField(max_length=100, unique=True)),
                        ("processes", models.PositiveIntegerField(default=1)),
                        ("started_at", models.DateTimeField()),
                        ("beat_at", models.DateTimeField()),
                    ],
                    options={
                        "ordering": ["name"],
                    },
                ),
            ],
        ),
    ]
