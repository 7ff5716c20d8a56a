"""What was done, looked at and shown to people outside, by whom, when; and what was deleted."""

from django.conf import settings
from django.db import models

from rubricweb.models.datasets import Dataset
from rubricweb.models.queues import ReviewQueue
from rubricweb.models.runs import Run
from rubricweb.models.snapshots import SharedPage, SnapshotField
from rubricweb.models.teams import Team

ACCEPTED = "accepted what all said in"
PRUNED = "pruned"
"""The verb where what was said in calls was cleared; its detail says `before` which moment."""
TESTED = "tested"
"""The verb where a judge was asked one question to see whether it answers."""


class JournalEntry(models.Model):
    """A line of the audit log: who did what to which row, and when."""

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="journal")
    # Null for what the app did by itself.
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    verb = models.CharField(max_length=60)
    target_kind = models.CharField(max_length=40)
    target_id = models.BigIntegerField(null=True)
    target_label = models.CharField(max_length=200, blank=True)
    detail = models.JSONField(default=dict)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]
        verbose_name_plural = "journal entries"
        indexes = [
            # The audit log page: newest first within a team.
            models.Index(fields=["team", "-id"], name="journal_of_team"),
            # When calls were pruned, and how often judges were tested: few lines among very many.
            models.Index(fields=["team", "verb", "-id"], name="journal_of_verb"),
        ]

    def __str__(self) -> str:
        return f"{self.verb} {self.target_kind} {self.target_label}"


class HalfLook(models.Model):
    """One look at the test split of a dataset: what a judge said of its cases, held against what people said.

    Whoever opens the same verdicts and labels again, looks no further (decision 0032).
    """

    dataset = models.ForeignKey(Dataset, on_delete=models.CASCADE, related_name="looks")
    # SHA-256 over the verdicts and labels that were compared; shown to nobody.
    data = models.CharField(max_length=64)
    # The items and criteria on which judge and people were compared, and the items.
    units = models.PositiveIntegerField()
    items = models.PositiveIntegerField()
    # Which answers were in the half then, salted: see `selectors.datasets.looks.seal_of`.
    dataset_version = models.PositiveIntegerField()
    seal = models.CharField(max_length=64)
    run = models.ForeignKey(Run, on_delete=models.SET_NULL, null=True, related_name="+")
    # Who looked first.
    looked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["dataset_id", "-id"]
        constraints = [models.UniqueConstraint(fields=["dataset", "data"], name="half_look_once")]

    def __str__(self) -> str:
        return f"a look at {self.dataset_id}"


class SharedKind(models.TextChoices):
    DASHBOARD = "dashboard", "Dashboard"
    COMPARISON = "comparison", "Judge against people"
    RUN_DIFF = "run-diff", "Run against run"


class SharedLink(models.Model):
    """A link under which `page` is read without an account, until it ends or is revoked; decision 0057.

    Its secret is in the link and stored as a SHA-256 digest. `runs` and `queues` are what the figures are of:
    with one of them the link goes, and while somebody reviews answers of theirs blind it shows nothing.
    """

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="shared_links")
    kind = models.CharField(max_length=12, choices=SharedKind.choices)
    title = models.CharField(max_length=120)
    digest = models.CharField(max_length=64)
    page = SnapshotField(SharedPage)
    # Where the same is read live by members of the team.
    address = models.CharField(max_length=500)
    runs = models.ManyToManyField(Run, related_name="+")
    queues = models.ManyToManyField(ReviewQueue, related_name="+")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True)
    # How often it was opened, and when last.
    opened = models.PositiveIntegerField(default=0)
    opened_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(fields=["digest"], name="shared_link_digest_unique"),
            models.CheckConstraint(
                condition=models.Q(kind__in=SharedKind.values), name="shared_link_kind_known"
            ),
        ]

    def __str__(self) -> str:
        return self.title


class DeletionState(models.TextChoices):
    WAITING = "waiting", "Waiting"
    RUNNING = "running", "Removing"
    DONE = "done", "Done"
    FAILED = "failed", "Failed"


class Deletion(models.Model):
    """One thing an owner deleted. It is out of sight at once; a worker removes its rows batch by batch.

    `bin` is the team without members that holds it meanwhile; null once all is removed. A whole team is its
    own.
    """

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="deletions")
    kind = models.CharField(max_length=20)
    row_id = models.BigIntegerField()
    name = models.CharField(max_length=200)
    bin = models.ForeignKey(Team, on_delete=models.SET_NULL, null=True, related_name="+")
    # What goes with it, as its preview said: {"runs": 2, "verdicts": 4000, …}.
    planned = models.JSONField(default=dict)
    rows_planned = models.PositiveBigIntegerField(default=0)
    rows_removed = models.PositiveBigIntegerField(default=0)
    state = models.CharField(max_length=10, choices=DeletionState.choices, default=DeletionState.WAITING)
    # Why it failed.
    message = models.TextField(blank=True)
    # The process at work on it, and when that last said so.
    worker = models.CharField(max_length=100, blank=True)
    beat_at = models.DateTimeField(null=True)
    deleted_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    deleted_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(state__in=DeletionState.values), name="deletion_state_known"
            ),
        ]
        indexes = [
            # A team's deletions, the newest first.
            models.Index(fields=["team", "-id"], name="deletion_of_team"),
            # The reaper's question: what waits, and what the dead held.
            models.Index(
                fields=["id"],
                name="deletion_under_way",
                condition=models.Q(state__in=["waiting", "running"]),
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def share(self) -> float:
        """Of the rows that are to go, those that are gone: 0 to 1."""
        if self.state == DeletionState.DONE or not self.rows_planned:
            return float(self.state == DeletionState.DONE)
        return min(1.0, self.rows_removed / self.rows_planned)
