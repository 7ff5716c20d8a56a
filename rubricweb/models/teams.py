"""People, teams, what each may do, and the keys they hold."""

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.db.models.functions import Lower


class Role(models.IntegerChoices):
    """What a member may do; each role may do everything the ones below it may."""

    VIEWER = 10, "viewer"
    ANNOTATOR = 20, "annotator"
    REVIEWER = 30, "reviewer"
    EDITOR = 40, "editor"
    OWNER = 50, "owner"


class User(AbstractUser):
    """A person who signs in; `name` is how others see them."""

    first_name = None  # type: ignore[assignment]  # one name field serves every culture
    last_name = None  # type: ignore[assignment]  # as above
    name = models.CharField(max_length=120, blank=True)
    # The team whose pages were open last; the front page goes there.
    last_team = models.ForeignKey("Team", on_delete=models.SET_NULL, null=True, related_name="+")

    def __str__(self) -> str:
        return self.name or self.username

    def get_full_name(self) -> str:
        return str(self)

    def get_short_name(self) -> str:
        return str(self)


class Team(models.Model):
    name = models.CharField(max_length=120)
    slug = models.SlugField(max_length=60)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(Lower("slug"), name="team_slug_unique")]

    def __str__(self) -> str:
        return self.name


class Membership(models.Model):
    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="memberships")
    role = models.PositiveSmallIntegerField(choices=Role.choices)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["team", "user"], name="membership_once_per_team"),
            models.CheckConstraint(condition=models.Q(role__in=Role.values), name="membership_role_known"),
        ]

    def __str__(self) -> str:
        return f"{self.user} in {self.team} ({self.get_role_display()})"


class ApiToken(models.Model):
    """A bearer token of one member in one team: shown once, stored as a SHA-256 digest."""

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="tokens")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="tokens")
    name = models.CharField(max_length=80)
    digest = models.CharField(max_length=64)
    hint = models.CharField(max_length=12)
    may_write = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    last_used_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["digest"], name="token_digest_unique")]

    def __str__(self) -> str:
        return f"{self.name} ({self.hint}…)"


class JudgeEndpoint(models.Model):
    """An OpenAI-compatible address an owner added; its key is stored encrypted, never in clear."""

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="endpoints")
    name = models.CharField(max_length=80)
    base_url = models.URLField(max_length=500)
    model = models.CharField(max_length=200)
    sealed_key = models.TextField(blank=True)
    input_usd_per_million = models.FloatField(null=True)
    output_usd_per_million = models.FloatField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)
    removed_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["team", "name"],
                condition=models.Q(removed_at__isnull=True),
                name="endpoint_name_unique_in_team",
            )
        ]

    def __str__(self) -> str:
        return self.name
