from django.conf import settings
from django.db import migrations, models
from django.db.models.functions import Lower


class Migration(migrations.Migration):
    """Judges have names and versions; runs say which version they asked."""

    dependencies = [("rubricweb", "0069_sampling_of_endpoints")]

    operations = [
        migrations.CreateModel(
            "Judge",
            [
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("archived_at", models.DateTimeField(null=True)),
                ("name", models.CharField(max_length=80)),
                ("slug", models.SlugField(max_length=80)),
                ("note", models.TextField(blank=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "created_by",
                    models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+"),
                ),
                ("team", models.ForeignKey("rubricweb.team", models.CASCADE, related_name="judges")),
            ],
            options={"ordering": ["team_id", "name"]},
        ),
        migrations.CreateModel(
            "JudgeVersion",
            [
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("number", models.PositiveIntegerField()),
                ("definition", models.JSONField()),
                ("digest", models.CharField(max_length=64)),
                ("words_digest", models.CharField(blank=True, max_length=64)),
                (
                    "origin",
                    models.CharField(
                        choices=[
                            ("picked", "picked with a model and a way of asking"),
                            ("kept", "kept by a person"),
                            ("file", "read from a file"),
                            ("earlier", "of runs from before judges had versions"),
                        ],
                        max_length=10,
                    ),
                ),
                ("note", models.TextField(blank=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "created_by",
                    models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+"),
                ),
                ("judge", models.ForeignKey("rubricweb.judge", models.CASCADE, related_name="versions")),
                (
                    "parent",
                    models.ForeignKey("rubricweb.judgeversion", models.SET_NULL, null=True, related_name="+"),
                ),
            ],
            options={"ordering": ["judge_id", "number"]},
        ),
        migrations.AddField(
            "judge",
            "current",
            models.ForeignKey("rubricweb.judgeversion", models.SET_NULL, null=True, related_name="+"),
        ),
        migrations.AddField(
            "run",
            "judge_version",
            models.ForeignKey("rubricweb.judgeversion", models.PROTECT, null=True, related_name="runs"),
        ),
        migrations.AddConstraint(
            "judgeversion",
            models.UniqueConstraint(fields=["judge", "number"], name="judge_version_number_unique"),
        ),
        migrations.AddConstraint(
            "judgeversion",
            models.UniqueConstraint(fields=["digest", "judge"], name="judge_version_digest_unique"),
        ),
        migrations.AddConstraint(
            "judge", models.UniqueConstraint(fields=["team", "slug"], name="judge_slug_unique_in_team")
        ),
        migrations.AddConstraint(
            "judge",
            models.UniqueConstraint(
                "team",
                Lower("name"),
                condition=models.Q(archived_at__isnull=True),
                name="judge_name_unique_in_team",
            ),
        ),
    ]
