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


class JudgeTry(models.Model):
    """A judge was tried on a submission: who saw what it says of which item, before anything was measured.

    One row a try, written before the first question. `digest` is that of the definition, kept or only typed,
    `beside_digest` that of the version it was held against, "" without one. Labels of an item that a judge
    was tried on helped to word it: they do not measure it.
    """

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="+")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    # Null for a model that was picked, and for a judge that is not kept yet.
    judge = models.ForeignKey(Judge, on_delete=models.CASCADE, null=True, related_name="tries")
    digest = models.CharField(max_length=64)
    beside_digest = models.CharField(max_length=64, blank=True)
    # Null for a submission that was pasted.
    item = models.ForeignKey("Item", on_delete=models.CASCADE, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        indexes = [
            # Which items was this judge tried on?
            models.Index(
                fields=["judge", "item"],
                name="judge_try_of_item",
                condition=models.Q(judge__isnull=False, item__isnull=False),
            ),
            # How often did this team try within a minute?
            models.Index(fields=["team", "created_at"], name="judge_try_of_team"),
        ]

    def __str__(self) -> str:
        return f"try {self.pk} on {self.item_id or 'a pasted submission'}"


class TriedCall(models.Model):
    """What a judge answered in a try, so that nobody pays for the very same question again.

    Only answers that could be read are kept; a run that asks the same has them, see
    `services.grading.reply_cache`. They go with what the team keeps of calls.
    """

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="+")
    of = models.ForeignKey(JudgeTry, on_delete=models.CASCADE, related_name="calls")
    content_key = models.UUIDField()
    model = models.CharField(max_length=200, blank=True)
    rung = models.CharField(max_length=30, blank=True)
    # Whether the fallback model answered.
    fallback = models.BooleanField(default=False)
    # The request body as sent, zlib over JSON.
    request = models.BinaryField(null=True)
    reply = models.TextField()
    reasoning = models.TextField(blank=True)
    # How sure it was of each criterion it was asked about, in their order, null where nobody said.
    confidences = models.JSONField(default=list)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        indexes = [
            # Was this asked before?
            models.Index(fields=["content_key"], name="tried_call_by_content"),
            # What is due to be pruned.
            models.Index(fields=["team", "created_at"], name="tried_call_of_team"),
        ]

    def __str__(self) -> str:
        return f"call {self.pk} of try {self.of_id}"
