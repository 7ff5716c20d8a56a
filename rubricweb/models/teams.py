"""People, teams, what each may do, and the keys they hold."""

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.db.models.functions import Lower

from rubricweb.engine.judging.sampling import Sampling
from rubricweb.models.snapshots import SamplingField


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
    # Whether keys without Ctrl or Alt act at once; null is yes, as nobody has chosen yet.
    single_keys = models.BooleanField(null=True)
    # Since when they want no notices by e-mail; null: they get them where mail is set up.
    no_mail_since = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return self.name or self.username

    def get_full_name(self) -> str:
        return str(self)

    def get_short_name(self) -> str:
        return str(self)


class Archivable(models.Model):
    """What a person made and can put out of sight: lists and choosers leave it out, what uses it stays."""

    archived_at = models.DateTimeField(null=True)

    class Meta:
        abstract = True


def unarchived(*prefixes: str, archived: bool = False) -> models.Q:
    """The condition on rows, or on those that the prefixes lead to, that none is archived; or that it is."""
    condition = models.Q()
    for prefix in prefixes or ("",):
        condition &= models.Q((f"{prefix}archived_at__isnull", not archived))
    return condition


class Team(Archivable):
    """People who share rubrics, datasets, judges and a month's budget.

    Archived, everything in it is read and exported, and nothing changes.
    """

    name = models.CharField(max_length=120)
    slug = models.SlugField(max_length=60)
    # What all its runs may cost in a calendar month (UTC); null is no cap.
    monthly_budget_usd = models.FloatField(null=True)
    # How long prompts and raw replies are kept; null is for ever.
    keep_calls_days = models.PositiveIntegerField(null=True)
    # Since when it is deleted, or the bin of what was: nobody is a member of it.
    deleted_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(Lower("slug"), name="team_slug_unique")]

    def __str__(self) -> str:
        return self.name


class Membership(models.Model):
    """That a person is in a team, and the role they have there."""

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

    def may(self, role: Role) -> bool:
        """Whether they may change what needs this role: in an archived team nobody may. Reads `self.team`."""
        return self.role >= role and self.team.archived_at is None


class Invitation(models.Model):
    """What lets one person into a team, once: its secret is in a link and stored as a SHA-256 digest.

    `email` and `username` are what an owner typed, one of them blank. `user` is the only one who may accept,
    null for whoever holds the link. For a member whose account is unused the link sets its first password.
    """

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="invitations")
    invited_by = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    user = models.ForeignKey(User, on_delete=models.CASCADE, null=True, related_name="+")
    email = models.EmailField(blank=True)
    username = models.CharField(max_length=150, blank=True)
    name = models.CharField(max_length=120, blank=True)
    role = models.PositiveSmallIntegerField(choices=Role.choices)
    digest = models.CharField(max_length=64)
    # Whether only the mailbox got the link, so that who holds it has proven the address.
    mailed = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    accepted_at = models.DateTimeField(null=True)
    withdrawn_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["digest"], name="invitation_digest_unique"),
            models.CheckConstraint(condition=models.Q(role__in=Role.values), name="invitation_role_known"),
        ]

    def __str__(self) -> str:
        # The audit log shows this to every member, and addresses are for owners only.
        return self.name or self.username or "somebody by e-mail"


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


class JudgeEndpoint(Archivable):
    """An OpenAI-compatible address an owner added; its key and extra headers are stored encrypted.

    Limits are what the provider allows, shared by all workers; null is unknown, and learned from its
    refusals.
    """

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="endpoints")
    name = models.CharField(max_length=80)
    base_url = models.URLField(max_length=500)
    model = models.CharField(max_length=200)
    sealed_key = models.TextField(blank=True)
    # A JSON object of header names and values.
    sealed_headers = models.TextField(blank=True)
    # Asked for what `model` has refused for good; blank is nobody.
    fallback_model = models.CharField(max_length=200, blank=True)
    sampling = SamplingField(default=Sampling)
    # Whether requests mark the beginning that prompts share, for providers that keep only marked ones.
    cache_marks = models.BooleanField(default=False)
    # Whether it takes batches: slower and cheaper.
    batches = models.BooleanField(default=False)
    max_concurrency = models.PositiveIntegerField(null=True)
    requests_per_minute = models.PositiveIntegerField(null=True)
    tokens_per_minute = models.PositiveIntegerField(null=True)
    input_usd_per_million = models.FloatField(null=True)
    cached_input_usd_per_million = models.FloatField(null=True)
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

    @property
    def judge_id(self) -> str:
        """What runs call it, as their judge or a member of their panel."""
        return f"endpoint-{self.pk}"


class ModelPrice(models.Model):
    """What a team says a model costs, in US dollars per million tokens; wins over the prices shipped."""

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="prices")
    model = models.CharField(max_length=200)
    input_usd_per_million = models.FloatField()
    # Null bills prompt tokens the provider had in its cache like all others.
    cached_input_usd_per_million = models.FloatField(null=True)
    output_usd_per_million = models.FloatField()
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["model"]
        constraints = [models.UniqueConstraint(fields=["team", "model"], name="price_once_per_model")]

    def __str__(self) -> str:
        return self.model


class EndpointMemory(models.Model):
    """What all workers learned about one address and model: which forms of a question it takes, how fast.

    `key` is a digest of address, key and model, so that nothing secret is in it.
    """

    key = models.CharField(max_length=64, unique=True)
    habits = models.JSONField(default=dict)
    # Learned pace and shared minute counters where there is no Redis.
    pace = models.JSONField(default=dict)
    updated_at = models.DateTimeField(auto_now=True)

    def __str__(self) -> str:
        return f"memory of {self.key[:8]}…"
