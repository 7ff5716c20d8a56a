"""All tables at once, for a database that has none: what the migrations up to 0032 make one after the other.

A database that has some of them goes on with the others. Both ways end in the same models, which
tests/models/test_migrations.py holds.
"""

import django.contrib.auth.models
import django.contrib.auth.validators
import django.db.models.deletion
import django.db.models.functions.text
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


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
    ]

    initial = True

    dependencies = [
        ("auth", "0012_alter_user_first_name_max_length"),
    ]

    operations = [
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
            name="Team",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=120)),
                ("slug", models.SlugField(max_length=60)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("keep_calls_days", models.PositiveIntegerField(null=True)),
                ("monthly_budget_usd", models.FloatField(null=True)),
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
        migrations.CreateModel(
            name="JudgeEndpoint",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=80)),
                ("base_url", models.URLField(max_length=500)),
                ("model", models.CharField(max_length=200)),
                ("sealed_key", models.TextField(blank=True)),
                ("input_usd_per_million", models.FloatField(null=True)),
                ("output_usd_per_million", models.FloatField(null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("removed_at", models.DateTimeField(null=True)),
                (
                    "team",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="endpoints",
                        to="rubricweb.team",
                    ),
                ),
                ("batches", models.BooleanField(default=False)),
                ("cached_input_usd_per_million", models.FloatField(null=True)),
                ("fallback_model", models.CharField(blank=True, max_length=200)),
                ("logprobs", models.BooleanField(default=False)),
                ("max_concurrency", models.PositiveIntegerField(null=True)),
                ("max_output_tokens", models.PositiveIntegerField(null=True)),
                ("reasoning_effort", models.CharField(blank=True, max_length=20)),
                ("requests_per_minute", models.PositiveIntegerField(null=True)),
                ("sealed_headers", models.TextField(blank=True)),
                ("temperature", models.FloatField(default=0.0, null=True)),
                ("tokens_per_minute", models.PositiveIntegerField(null=True)),
                ("top_p", models.FloatField(null=True)),
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
            name="ModelPrice",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("model", models.CharField(max_length=200)),
                ("input_usd_per_million", models.FloatField()),
                ("cached_input_usd_per_million", models.FloatField(null=True)),
                ("output_usd_per_million", models.FloatField()),
                ("updated_at", models.DateTimeField(auto_now=True)),
                (
                    "team",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="prices",
                        to="rubricweb.team",
                    ),
                ),
            ],
            options={
                "ordering": ["model"],
                "constraints": [
                    models.UniqueConstraint(fields=("team", "model"), name="price_once_per_model")
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
            options={
                "ordering": ["team_id", "name"],
                "constraints": [
                    models.UniqueConstraint(fields=("team", "name"), name="system_name_unique_in_team"),
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
            name="User",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("password", models.CharField(max_length=128, verbose_name="password")),
                ("last_login", models.DateTimeField(blank=True, null=True, verbose_name="last login")),
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
                ("email", models.EmailField(blank=True, max_length=254, verbose_name="email address")),
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
                    models.DateTimeField(default=django.utils.timezone.now, verbose_name="date joined"),
                ),
                ("name", models.CharField(blank=True, max_length=120)),
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
            name="ApiToken",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
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
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="tokens",
                        to=settings.AUTH_USER_MODEL,
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
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("digest",), name="token_digest_unique")],
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
        migrations.CreateModel(
            name="JournalEntry",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("verb", models.CharField(max_length=60)),
                ("target_kind", models.CharField(max_length=40)),
                ("target_id", models.BigIntegerField(null=True)),
                ("target_label", models.CharField(blank=True, max_length=200)),
                ("detail", models.JSONField(default=dict)),
                ("at", models.DateTimeField(auto_now_add=True)),
                (
                    "actor",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
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
            ],
            options={
                "verbose_name_plural": "journal entries",
                "ordering": ["-id"],
                "indexes": [models.Index(fields=["team", "-id"], name="journal_of_team")],
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
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="memberships",
                        to=settings.AUTH_USER_MODEL,
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
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("team", "user"), name="membership_once_per_team"),
                    models.CheckConstraint(
                        condition=models.Q(("role__in", [10, 20, 30, 40, 50])), name="membership_role_known"
                    ),
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
                ("name", models.CharField(max_length=120)),
                (
                    "user",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="raters",
                        to=settings.AUTH_USER_MODEL,
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
                (
                    "kind",
                    models.CharField(
                        choices=[("human", "Human"), ("machine", "Machine"), ("settled", "Settled")],
                        default="human",
                        max_length=10,
                    ),
                ),
            ],
            options={
                "ordering": ["name"],
                "constraints": [
                    models.UniqueConstraint(fields=("team", "user"), name="rater_once_per_member"),
                    models.UniqueConstraint(
                        fields=("team", "name", "kind"), name="rater_name_unique_in_team"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("kind__in", ["human", "machine", "settled"])),
                        name="rater_kind_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("kind", "human"), ("user__isnull", True), _connector="OR"),
                        name="rater_member_is_human",
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
                ("title", models.CharField(max_length=200)),
                ("draft", models.JSONField(default=dict)),
                ("draft_revision", models.PositiveIntegerField(default=0)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                (
                    "created_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "team",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="rubrics",
                        to="rubricweb.team",
                    ),
                ),
            ],
            options={
                "ordering": ["-updated_at", "-id"],
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
            options={
                "ordering": ["system_id", "position"],
                "constraints": [
                    models.UniqueConstraint(fields=("system", "label"), name="system_version_label_unique"),
                    models.UniqueConstraint(
                        fields=("system", "position"), name="system_version_position_unique"
                    ),
                ],
            },
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
                ("uid", models.CharField(max_length=120)),
                (
                    "rubric",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="meanings",
                        to="rubricweb.rubric",
                    ),
                ),
                ("option_map", models.JSONField(null=True)),
                (
                    "source",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="flows_into",
                        to="rubricweb.meaning",
                    ),
                ),
            ],
            options={
                "ordering": ["rubric_id", "pk"],
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
                ("number", models.PositiveIntegerField(null=True)),
                ("title", models.CharField(blank=True, max_length=200)),
                ("guidelines", models.TextField(blank=True)),
                ("note", models.CharField(blank=True, max_length=300)),
                ("published_at", models.DateTimeField(auto_now_add=True)),
                (
                    "published_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
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
                ("length_penalty", models.JSONField(null=True)),
                ("pass_rule", models.JSONField(null=True)),
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
            name="Criterion",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("position", models.PositiveIntegerField()),
                ("name", models.CharField(max_length=200)),
                ("requirement", models.TextField()),
                ("weight", models.FloatField()),
                ("group", models.CharField(blank=True, max_length=200)),
                ("guidance", models.TextField(blank=True)),
                ("tags", models.JSONField(default=list)),
                ("met_example", models.TextField(blank=True)),
                ("unmet_example", models.TextField(blank=True)),
                (
                    "version",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="criteria",
                        to="rubricweb.rubricversion",
                    ),
                ),
                ("aggregation", models.CharField(blank=True, max_length=40)),
                ("check_name", models.CharField(blank=True, max_length=100)),
                ("kind", models.CharField(default="binary", max_length=20)),
                ("options", models.JSONField(default=list)),
                ("params", models.JSONField(default=dict)),
                ("scale_type", models.CharField(blank=True, max_length=20)),
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
            ],
            options={
                "ordering": ["version_id", "position"],
                "constraints": [
                    models.UniqueConstraint(fields=("version", "position"), name="criterion_position_unique"),
                    models.UniqueConstraint(fields=("version", "name"), name="criterion_name_unique"),
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
                    models.UniqueConstraint(
                        condition=models.Q(("uid", ""), _negated=True),
                        fields=("version", "uid"),
                        name="criterion_uid_unique",
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
                ("name", models.CharField(max_length=200)),
                ("description", models.TextField(blank=True)),
                ("prompt", models.JSONField(null=True)),
                ("reference", models.TextField(null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "created_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
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
                    "team",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="datasets",
                        to="rubricweb.team",
                    ),
                ),
                ("seal", models.CharField(blank=True, max_length=64)),
                ("sealed_as", models.CharField(blank=True, max_length=10)),
                (
                    "split_of",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="halves",
                        to="rubricweb.dataset",
                    ),
                ),
                ("split_report", models.JSONField(null=True)),
            ],
            options={
                "ordering": ["-created_at", "-id"],
                "constraints": [
                    models.UniqueConstraint(fields=("team", "name"), name="dataset_name_unique_in_team"),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("seal", ""), ("sealed_as", "")),
                            models.Q(
                                ("sealed_as__in", ("dev", "test")), models.Q(("seal", ""), _negated=True)
                            ),
                            _connector="OR",
                        ),
                        name="dataset_seal_known",
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
            options={
                "ordering": ["dataset_id", "position"],
                "constraints": [
                    models.UniqueConstraint(fields=("dataset", "key"), name="case_key_unique_in_dataset"),
                    models.UniqueConstraint(
                        fields=("dataset", "position"), name="case_position_unique_in_dataset"
                    ),
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
        migrations.CreateModel(
            name="Run",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(blank=True, max_length=200)),
                ("autograder", models.CharField(max_length=60)),
                ("judge", models.JSONField()),
                ("reply_format", models.CharField(default="json", max_length=20)),
                ("normalize", models.BooleanField(default=True)),
                ("abstention", models.CharField(default="skip", max_length=20)),
                ("on_error", models.CharField(default="exclude", max_length=20)),
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
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("finished_at", models.DateTimeField(null=True)),
                ("stop_reason", models.CharField(blank=True, max_length=500)),
                (
                    "created_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
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
                (
                    "endpoint",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="rubricweb.judgeendpoint",
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
                (
                    "team",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="runs", to="rubricweb.team"
                    ),
                ),
                ("few_shot", models.JSONField(null=True)),
                ("option_seed", models.PositiveBigIntegerField(null=True)),
                ("panel", models.JSONField(null=True)),
                ("budget_usd", models.FloatField(null=True)),
                ("finish_in_flight", models.BooleanField(default=True)),
                (
                    "mode",
                    models.CharField(
                        choices=[("live", "Live"), ("batch", "Batch")], default="live", max_length=10
                    ),
                ),
                ("use_cache", models.BooleanField(default=True)),
                ("labels_digest", models.CharField(blank=True, max_length=64)),
                (
                    "rater",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="imported_runs",
                        to="rubricweb.rater",
                    ),
                ),
            ],
            options={
                "ordering": ["-created_at", "-id"],
                "indexes": [
                    models.Index(fields=["team", "-created_at", "-id"], name="run_list_of_team"),
                    models.Index(
                        condition=models.Q(("state", "running")), fields=["id"], name="run_still_running"
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
                        condition=models.Q(
                            models.Q(("finished_at__isnull", True), ("state__in", ["running", "paused"])),
                            models.Q(
                                models.Q(("state__in", ["running", "paused"]), _negated=True),
                                ("finished_at__isnull", False),
                            ),
                            _connector="OR",
                        ),
                        name="run_ended_has_a_time",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("rater__isnull", True), ("state", "finished"), _connector="OR"),
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
            name="BatchJob",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
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
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="batches",
                        to="rubricweb.run",
                    ),
                ),
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
            name="IdempotencyKey",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=255)),
                ("asked", models.CharField(blank=True, max_length=64)),
                ("items", models.PositiveIntegerField(default=0)),
                ("created_at", models.DateTimeField()),
                (
                    "run",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="rubricweb.run",
                    ),
                ),
                (
                    "team",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="rubricweb.team"
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("team", "name"), name="idempotency_key_once_per_team")
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
                ("key", models.CharField(max_length=200)),
                ("position", models.PositiveIntegerField()),
                ("submission", models.TextField()),
                ("thinking", models.TextField(null=True)),
                ("prompt", models.JSONField(null=True)),
                ("reference", models.TextField(null=True)),
                ("description", models.TextField(blank=True)),
                ("metadata", models.JSONField(default=dict)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "dataset",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="items",
                        to="rubricweb.dataset",
                    ),
                ),
                (
                    "rubric_version",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="items",
                        to="rubricweb.rubricversion",
                    ),
                ),
                ("content_hash", models.CharField(blank=True, max_length=64)),
                ("attempt", models.PositiveIntegerField(default=1)),
                ("wording", models.PositiveIntegerField(default=1)),
                (
                    "case",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="items", to="rubricweb.case"
                    ),
                ),
                (
                    "system_version",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="items",
                        to="rubricweb.systemversion",
                    ),
                ),
            ],
            options={
                "ordering": ["dataset_id", "position"],
                "indexes": [
                    models.Index(fields=["content_hash"], name="item_content_hash"),
                    models.Index(fields=["dataset", "system_version", "position"], name="item_of_system"),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("dataset", "key"), name="item_key_unique_in_dataset"),
                    models.UniqueConstraint(
                        fields=("dataset", "position"), name="item_position_unique_in_dataset"
                    ),
                    models.UniqueConstraint(
                        fields=("case", "wording", "system_version", "attempt"), name="item_answer_once"
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
                ("met", models.PositiveIntegerField()),
                ("unmet", models.PositiveIntegerField()),
                ("cannot_assess", models.PositiveIntegerField()),
                ("errors", models.PositiveIntegerField()),
                (
                    "criterion",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="rubricweb.criterion",
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
                ("options", models.JSONField(default=dict)),
                ("values_mean", models.FloatField(null=True)),
            ],
            options={
                "ordering": ["run_id", "criterion__position"],
                "constraints": [
                    models.UniqueConstraint(fields=("run", "criterion"), name="run_criterion_summary_once")
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
                ("kind", models.CharField(max_length=40)),
                ("message", models.CharField(max_length=500)),
                ("count", models.PositiveIntegerField(default=1)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("latest_at", models.DateTimeField(auto_now_add=True)),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="events", to="rubricweb.run"
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
                "indexes": [models.Index(fields=["run", "-id"], name="run_event_newest")],
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
                ("items", models.PositiveIntegerField()),
                ("scored", models.PositiveIntegerField()),
                ("score_mean", models.FloatField(null=True)),
                ("score_low", models.FloatField(null=True)),
                ("score_high", models.FloatField(null=True)),
                ("coverage", models.FloatField(null=True)),
                ("verdicts", models.PositiveIntegerField()),
                ("errors", models.PositiveIntegerField()),
                ("prompt_tokens", models.PositiveBigIntegerField(default=0)),
                ("completion_tokens", models.PositiveBigIntegerField(default=0)),
                ("cost_usd", models.FloatField(null=True)),
                (
                    "run",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="summary",
                        to="rubricweb.run",
                    ),
                ),
                ("fully_judged", models.PositiveIntegerField(default=0)),
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
                ("beat_at", models.DateTimeField(null=True)),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="tallies",
                        to="rubricweb.run",
                    ),
                ),
                ("at_risk_calls", models.PositiveIntegerField(default=0)),
                ("at_risk_unpriced", models.PositiveIntegerField(default=0)),
                ("at_risk_usd", models.FloatField(default=0.0)),
                ("lost_at_most_usd", models.FloatField(default=0.0)),
                ("lost_calls", models.PositiveBigIntegerField(default=0)),
            ],
            options={
                "ordering": ["id"],
                "indexes": [models.Index(fields=["month", "run"], name="run_tally_by_month")],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("run", "worker", "month"), name="run_tally_once_per_worker"
                    )
                ],
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
                ("model", models.CharField(blank=True, max_length=200)),
                ("rung", models.CharField(blank=True, max_length=30)),
                ("attempts", models.PositiveIntegerField(default=1)),
                ("prompt_tokens", models.PositiveIntegerField(null=True)),
                ("completion_tokens", models.PositiveIntegerField(null=True)),
                ("cost_usd", models.FloatField(null=True)),
                ("latency_seconds", models.FloatField(null=True)),
                ("reply", models.TextField(blank=True)),
                ("error_kind", models.CharField(max_length=40, null=True)),
                ("error_message", models.TextField(blank=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "item",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="rubricweb.item"
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="calls", to="rubricweb.run"
                    ),
                ),
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
                ("cached_prompt_tokens", models.PositiveIntegerField(null=True)),
                ("content_key", models.UUIDField(null=True)),
                ("fallback", models.BooleanField(default=False)),
                ("reasoning", models.TextField(blank=True)),
                ("request", models.BinaryField(null=True)),
            ],
            options={
                "ordering": ["id"],
                "indexes": [
                    models.Index(
                        condition=models.Q(("content_key__isnull", False), ("error_kind__isnull", True)),
                        fields=["content_key"],
                        name="call_by_content",
                    )
                ],
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
                ("leased_by", models.CharField(blank=True, max_length=100)),
                ("leased_until", models.DateTimeField(null=True)),
                ("graded_at", models.DateTimeField(null=True)),
                ("score", models.FloatField(null=True)),
                ("raw_score", models.FloatField(null=True)),
                ("llm_raw_score", models.FloatField(null=True)),
                ("coverage", models.FloatField(null=True)),
                ("errors", models.PositiveIntegerField(default=0)),
                ("reason", models.TextField(blank=True)),
                ("error_kind", models.CharField(max_length=40, null=True)),
                ("error_message", models.TextField(blank=True)),
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
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="run_items",
                        to="rubricweb.run",
                    ),
                ),
                ("length_penalty", models.FloatField(default=0.0)),
                ("passed", models.BooleanField(null=True)),
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
                "constraints": [models.UniqueConstraint(fields=("run", "item"), name="run_item_once")],
            },
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
                (
                    "call",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="votes",
                        to="rubricweb.judgecall",
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
                (
                    "item",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="votes", to="rubricweb.item"
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="votes", to="rubricweb.run"
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("run", "item", "criterion", "judge", "repeat", "stage"), name="vote_once"
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
            name="Adjudication",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
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
                ("decided_at", models.DateTimeField(auto_now=True)),
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
                    "criterion",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="adjudications",
                        to="rubricweb.criterion",
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
                ("labels", models.JSONField(default=list)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("item", "criterion"), name="adjudication_once"),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("cause__in", ["", "judge_wrong", "human_wrong", "rubric_unclear", "item_broken"])
                        ),
                        name="adjudication_cause_known",
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
                ("text", models.TextField()),
                ("resolved", models.BooleanField(default=False)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("edited_at", models.DateTimeField(null=True)),
                ("removed_at", models.DateTimeField(null=True)),
                (
                    "author",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="comments",
                        to=settings.AUTH_USER_MODEL,
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
                    "item",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="comments",
                        to="rubricweb.item",
                    ),
                ),
            ],
            options={
                "ordering": ["created_at", "id"],
                "indexes": [models.Index(fields=["item", "created_at"], name="comment_item")],
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
                ("judge", models.CharField(blank=True, max_length=200)),
                ("repeat", models.PositiveSmallIntegerField(default=0)),
                ("verdict", models.CharField(max_length=200, null=True)),
                ("reason", models.TextField(blank=True)),
                ("error_kind", models.CharField(max_length=40, null=True)),
                ("error_message", models.TextField(blank=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "call",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="judgements",
                        to="rubricweb.judgecall",
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
                    "item",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="judgements",
                        to="rubricweb.item",
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
                ("confidence", models.FloatField(null=True)),
                ("value", models.FloatField(null=True)),
                ("evidence", models.JSONField(null=True)),
                ("seconds", models.FloatField(null=True)),
            ],
            options={
                "indexes": [models.Index(fields=["run", "criterion"], name="judgement_run_criterion")],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("run__isnull", False)),
                        fields=("run", "item", "criterion", "judge", "repeat"),
                        name="judgement_once_per_run",
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
                (
                    "judgement",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="revision",
                        to="rubricweb.judgement",
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="revisions",
                        to="rubricweb.run",
                    ),
                ),
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
                ("email_tried_at", models.DateTimeField(null=True)),
            ],
            options={
                "ordering": ["-created_at", "-id"],
                "indexes": [
                    models.Index(
                        condition=models.Q(("read_at", None)), fields=["user", "team"], name="notice_unread"
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("comment__isnull", False)),
                        fields=("user", "comment"),
                        name="notice_once_a_comment",
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
                (
                    "draw",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="strata",
                        to="rubricweb.draw",
                    ),
                ),
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
            name="ReviewQueue",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=200)),
                ("raters_per_item", models.PositiveIntegerField(default=1)),
                ("instructions", models.TextField(blank=True)),
                ("imported", models.BooleanField(default=False)),
                (
                    "state",
                    models.CharField(
                        choices=[("open", "Open"), ("paused", "Paused"), ("closed", "Closed")],
                        default="open",
                        max_length=20,
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "created_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "dataset",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="queues",
                        to="rubricweb.dataset",
                    ),
                ),
                ("raters", models.ManyToManyField(related_name="queues", to="rubricweb.rater")),
                (
                    "rubric_version",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="queues",
                        to="rubricweb.rubricversion",
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="queues",
                        to="rubricweb.run",
                    ),
                ),
                (
                    "team",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="queues",
                        to="rubricweb.team",
                    ),
                ),
                ("calibration_items", models.PositiveIntegerField(default=0)),
                ("everyone", models.BooleanField(default=False)),
                ("extra_rater_below", models.FloatField(null=True)),
                ("hold_minutes", models.PositiveIntegerField(default=30)),
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
                ("pass_mark", models.FloatField(null=True)),
                (
                    "rationale",
                    models.CharField(
                        choices=[("never", "none"), ("unmet", "those that are not met"), ("always", "all")],
                        default="never",
                        max_length=10,
                    ),
                ),
                ("source", models.JSONField(default=dict)),
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
                    "label_decision",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="queues",
                        to="rubricweb.labeldecision",
                    ),
                ),
                ("labels_digest", models.CharField(blank=True, max_length=64)),
            ],
            options={
                "ordering": ["-created_at", "-id"],
                "constraints": [
                    models.UniqueConstraint(fields=("team", "name"), name="queue_name_unique_in_team"),
                    models.CheckConstraint(
                        condition=models.Q(("raters_per_item__gte", 1)), name="queue_needs_a_rater"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["open", "paused", "closed"])),
                        name="queue_state_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("rationale__in", ["never", "unmet", "always"])),
                        name="queue_rationale_known",
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
                    models.CheckConstraint(
                        condition=models.Q(("order__in", ["dataset", "shuffled", "informative", "drawn"])),
                        name="queue_order_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("blind__in", ["both", "judge", "peers", "none", "self"])),
                        name="queue_blind_known",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("label_decision__isnull", False)),
                        fields=("label_decision", "dataset"),
                        name="queue_once_for_a_decision",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("labels_digest", ""), _negated=True),
                        fields=("dataset", "labels_digest"),
                        name="queue_imported_once",
                    ),
                ],
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
                ("right", models.PositiveIntegerField(default=0)),
                ("total", models.PositiveIntegerField(default=0)),
                ("passed", models.BooleanField(default=False)),
                ("decided_at", models.DateTimeField(auto_now=True)),
                (
                    "passed_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
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
            name="QueueCriterion",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
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
                (
                    "queue",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="queue_criteria",
                        to="rubricweb.reviewqueue",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("queue", "criterion"), name="queue_criterion_once")
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
                ("position", models.PositiveIntegerField()),
                ("priority", models.FloatField(default=0.0)),
                ("shuffle", models.PositiveIntegerField(default=0)),
                ("wanted", models.PositiveSmallIntegerField()),
                ("room", models.PositiveSmallIntegerField()),
                ("gold", models.BooleanField(default=False)),
                ("extra", models.BooleanField(default=False)),
                (
                    "item",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="queue_items",
                        to="rubricweb.item",
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
                    "rater",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="queue_items",
                        to="rubricweb.rater",
                    ),
                ),
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
                    models.UniqueConstraint(fields=("queue", "position"), name="queue_item_position_once"),
                    models.CheckConstraint(
                        condition=models.Q(("room__gte", 0), ("room__lte", models.F("wanted"))),
                        name="queue_item_room",
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
                    "state",
                    models.CharField(
                        choices=[("draft", "Draft"), ("submitted", "Submitted"), ("skipped", "Skipped")],
                        default="draft",
                        max_length=20,
                    ),
                ),
                ("note", models.TextField(blank=True)),
                ("flagged", models.BooleanField(default=False)),
                ("started_at", models.DateTimeField(auto_now_add=True)),
                ("submitted_at", models.DateTimeField(null=True)),
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
                    "queue",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="reviews",
                        to="rubricweb.reviewqueue",
                    ),
                ),
                ("held_until", models.DateTimeField(null=True)),
                ("holds_place", models.BooleanField(default=True)),
                ("seconds", models.FloatField(null=True)),
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
                    models.UniqueConstraint(fields=("queue", "item", "rater"), name="review_once_per_rater"),
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
        migrations.AddField(
            model_name="Adjudication",
            name="queue",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to="rubricweb.reviewqueue",
            ),
        ),
        migrations.AddField(
            model_name="Comment",
            name="judgement",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="comments",
                to="rubricweb.judgement",
            ),
        ),
        migrations.AddField(
            model_name="Judgement",
            name="review",
            field=models.ForeignKey(
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="judgements",
                to="rubricweb.review",
            ),
        ),
        migrations.AddConstraint(
            model_name="Judgement",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("review__isnull", True), ("run__isnull", False)),
                    models.Q(("review__isnull", False), ("run__isnull", True)),
                    _connector="OR",
                ),
                name="judgement_by_run_or_review",
            ),
        ),
        migrations.AddConstraint(
            model_name="Judgement",
            constraint=models.UniqueConstraint(
                condition=models.Q(("review__isnull", False)),
                fields=("review", "criterion"),
                name="judgement_once_per_review",
            ),
        ),
        migrations.AddField(
            model_name="Notice",
            name="queue",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="notices",
                to="rubricweb.reviewqueue",
            ),
        ),
        migrations.AddConstraint(
            model_name="Notice",
            constraint=models.CheckConstraint(
                condition=models.Q(("kind__in", ["mention", "reply", "queue"])), name="notice_kind_known"
            ),
        ),
        migrations.AddConstraint(
            model_name="Notice",
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
            model_name="Notice",
            constraint=models.UniqueConstraint(
                condition=models.Q(("queue__isnull", False)),
                fields=("user", "queue"),
                name="notice_once_a_queue",
            ),
        ),
        migrations.AddField(
            model_name="Draw",
            name="queue",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="draws", to="rubricweb.reviewqueue"
            ),
        ),
        migrations.AddField(
            model_name="ReviewQueue",
            name="criteria",
            field=models.ManyToManyField(
                related_name="queues", through="rubricweb.QueueCriterion", to="rubricweb.criterion"
            ),
        ),
    ]
