"""Queues of items for people to label, their reviews, and what was decided where they differ."""

from django.conf import settings
from django.db import models

from rubricweb.models.datasets import Dataset, Item
from rubricweb.models.rubrics import Criterion, RubricVersion
from rubricweb.models.runs import Run
from rubricweb.models.teams import Team


class Rater(models.Model):
    """A person as a rater in a team: a member, or a name that came in a file of labels."""

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="raters")
    name = models.CharField(max_length=120)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="raters"
    )

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["team", "name"], name="rater_name_unique_in_team"),
            models.UniqueConstraint(fields=["team", "user"], name="rater_once_per_member"),
        ]

    def __str__(self) -> str:
        return self.name


class QueueState(models.TextChoices):
    OPEN = "open"
    CLOSED = "closed"


class ReviewQueue(models.Model):
    """Items of one dataset to be labelled against one rubric version by these raters."""

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="queues")
    name = models.CharField(max_length=200)
    dataset = models.ForeignKey(Dataset, on_delete=models.PROTECT, related_name="queues")
    # Null when every item brings its own rubric.
    rubric_version = models.ForeignKey(
        RubricVersion, on_delete=models.PROTECT, null=True, related_name="queues"
    )
    # The run whose verdicts are revealed beside the person's own after they submit.
    run = models.ForeignKey(Run, on_delete=models.SET_NULL, null=True, related_name="queues")
    raters_per_item = models.PositiveIntegerField(default=1)
    blind = models.BooleanField(default=True)
    instructions = models.TextField(blank=True)
    imported = models.BooleanField(default=False)
    state = models.CharField(max_length=20, choices=QueueState.choices, default=QueueState.OPEN)
    raters = models.ManyToManyField(Rater, related_name="queues")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created_at", "-id"]
        constraints = [
            models.UniqueConstraint(fields=["team", "name"], name="queue_name_unique_in_team"),
            models.CheckConstraint(condition=models.Q(state__in=QueueState.values), name="queue_state_known"),
            models.CheckConstraint(condition=models.Q(raters_per_item__gte=1), name="queue_needs_a_rater"),
        ]

    def __str__(self) -> str:
        return self.name


class ReviewState(models.TextChoices):
    DRAFT = "draft"
    SUBMITTED = "submitted"
    SKIPPED = "skipped"


class Review(models.Model):
    """One rater's work on one item of one queue; its verdicts are judgements."""

    queue = models.ForeignKey(ReviewQueue, on_delete=models.CASCADE, related_name="reviews")
    item = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="reviews")
    rater = models.ForeignKey(Rater, on_delete=models.PROTECT, related_name="reviews")
    state = models.CharField(max_length=20, choices=ReviewState.choices, default=ReviewState.DRAFT)
    note = models.TextField(blank=True)
    flagged = models.BooleanField(default=False)
    started_at = models.DateTimeField(auto_now_add=True)
    submitted_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["queue_id", "item_id", "rater_id"]
        constraints = [
            models.UniqueConstraint(fields=["queue", "item", "rater"], name="review_once_per_rater"),
            models.CheckConstraint(
                condition=models.Q(state__in=ReviewState.values), name="review_state_known"
            ),
            models.CheckConstraint(
                condition=~models.Q(state="submitted") | models.Q(submitted_at__isnull=False),
                name="review_submitted_has_a_time",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.rater} on {self.item_id}"


class Cause(models.TextChoices):
    """Why the raters differed; the causes of a criterion are its to-do list."""

    JUDGE_WRONG = "judge_wrong", "judge wrong"
    HUMAN_WRONG = "human_wrong", "human wrong"
    RUBRIC_UNCLEAR = "rubric_unclear", "rubric unclear"
    ITEM_BROKEN = "item_broken", "item broken"


class Adjudication(models.Model):
    """The label that stands for one criterion of one item, whatever the raters said: see Judgement."""

    item = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="adjudications")
    criterion = models.ForeignKey(Criterion, on_delete=models.PROTECT, related_name="adjudications")
    verdict = models.CharField(max_length=200)
    cause = models.CharField(max_length=20, choices=Cause.choices)
    reason = models.TextField(blank=True)
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    decided_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["item", "criterion"], name="adjudication_once"),
            models.CheckConstraint(
                condition=models.Q(cause__in=Cause.values), name="adjudication_cause_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.verdict} for {self.criterion_id} of {self.item_id}"
