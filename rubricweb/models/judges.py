"""What a team grades with: judges, and their versions."""

from django.conf import settings
from django.db import models
from django.db.models.functions import Lower

from rubricweb.engine.judging.definition import JudgeDefinition
from rubricweb.models.snapshots import SnapshotField
from rubricweb.models.teams import Archivable, Team


class Judge(Archivable):
    """What a team grades with, through all its versions: "support-judge".

    One that nobody named was made when somebody picked a model and a way of asking. A slug stays taken when
    its judge is archived: `support-judge@v3` in a file never means another.
    """

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="judges")
    name = models.CharField(max_length=80)
    slug = models.SlugField(max_length=80)
    note = models.TextField(blank=True)
    # The version that is meant where none is named; earlier ones can be made it again.
    current = models.ForeignKey("JudgeVersion", on_delete=models.SET_NULL, null=True, related_name="+")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["team_id", "name"]
        constraints = [
            models.UniqueConstraint(fields=["team", "slug"], name="judge_slug_unique_in_team"),
            models.UniqueConstraint(
                "team",
                Lower("name"),
                condition=models.Q(archived_at__isnull=True),
                name="judge_name_unique_in_team",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class VersionOrigin(models.TextChoices):
    """How a version of a judge came to be."""

    PICKED = "picked", "picked with a model and a way of asking"
    KEPT = "kept", "kept by a person"
    FILE = "file", "read from a file"
    EARLIER = "earlier", "of runs from before judges had versions"


PEOPLES = (VersionOrigin.KEPT, VersionOrigin.FILE)
"""Origins of versions that a person made, and did not merely pick with a model and a way of asking."""


class JudgeVersion(models.Model):
    """A judge as it was at one moment. Never changed: another definition is another version."""

    judge = models.ForeignKey(Judge, on_delete=models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()
    definition: "models.Field[JudgeDefinition, JudgeDefinition]" = SnapshotField(JudgeDefinition)
    digest = models.CharField(max_length=64)
    # What tells it apart from versions that ask the same models in other words; empty for ours.
    words_digest = models.CharField(max_length=64, blank=True)
    # What it was made from; null for a first version.
    parent = models.ForeignKey("self", on_delete=models.SET_NULL, null=True, related_name="+")
    origin = models.CharField(max_length=10, choices=VersionOrigin.choices)
    note = models.TextField(blank=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["judge_id", "number"]
        constraints = [
            models.UniqueConstraint(fields=["judge", "number"], name="judge_version_number_unique"),
            # Also what finds the version that asks the same.
            models.UniqueConstraint(fields=["digest", "judge"], name="judge_version_digest_unique"),
        ]

    def __str__(self) -> str:
        """support-judge@v3. Reads `self.judge`."""
        return f"{self.judge.slug}@v{self.number}"

    @property
    def is_named(self) -> bool:
        """Whether its origin is one of PEOPLES."""
        return self.origin in PEOPLES
