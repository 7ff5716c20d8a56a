"""What one person does with one item of a queue."""

from django.db import models

from rubricweb.models.datasets import Item
from rubricweb.models.queues import Rater, ReviewQueue


class ReviewState(models.TextChoices):
    DRAFT = "draft"
    SUBMITTED = "submitted"
    SKIPPED = "skipped"


class Review(models.Model):
    """One rater's work on one item of one queue; its verdicts are judgements.

    `holds_place`: it counts towards the item's raters, and the queue item has so much less room. A submitted
    review always does, a skipped one never, a draft until `held_until`; after that somebody else may have
    the place, and the draft stays.
    """

    queue = models.ForeignKey(ReviewQueue, on_delete=models.CASCADE, related_name="reviews")
    item = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="reviews")
    rater = models.ForeignKey(Rater, on_delete=models.PROTECT, related_name="reviews")
    state = models.CharField(max_length=20, choices=ReviewState.choices, default=ReviewState.DRAFT)
    note = models.TextField(blank=True)
    # Why its rater skipped it last; it stays when they take the item up again.
    skip_reason = models.TextField(blank=True)
    flagged = models.BooleanField(default=False)
    holds_place = models.BooleanField(default=True)
    held_until = models.DateTimeField(null=True)
    # Seconds the page was in front of its reader, as the browser says; null when it did not.
    seconds = models.FloatField(null=True)
    started_at = models.DateTimeField(auto_now_add=True)
    # Its sheet is or was before its rater: it is not merely taken ahead, and nobody gives it back unseen.
    opened = models.BooleanField(default=False)
    submitted_at = models.DateTimeField(null=True)
    # It came in a file of labels and was not given here.
    imported = models.BooleanField(default=False)

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
            models.CheckConstraint(
                condition=models.Q(state="draft")
                | models.Q(state="submitted", holds_place=True)
                | models.Q(state="skipped", holds_place=False),
                name="review_place_follows_state",
            ),
        ]
        indexes = [
            # Places that are to be given back.
            models.Index(
                fields=["held_until"],
                condition=models.Q(state="draft", holds_place=True),
                name="review_held_until",
            ),
            # What one person has done in a queue.
            models.Index(fields=["queue", "rater", "state"], name="review_queue_rater_state"),
        ]

    def __str__(self) -> str:
        return f"{self.rater} on {self.item_id}"
