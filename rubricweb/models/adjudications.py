"""What was decided: by each person after they saw the others, and by whoever settles a disagreement."""

from typing import Self

from django.conf import settings
from django.db import models

from rubricweb.models.datasets import Item
from rubricweb.models.judgements import Judgement
from rubricweb.models.queues import ReviewQueue
from rubricweb.models.rubrics import Criterion
from rubricweb.models.runs import Run


class RevisionChoice(models.TextChoices):
    """What a person does with their own verdict once they see the others'."""

    KEEP = "keep", "keep"
    CHANGE = "change", "change"
    UNCLEAR = "unclear", "rubric unclear"


class Revision(models.Model):
    """What a person said after the reveal. Their judgement keeps the initial label, here is the final one.

    Agreement counts the initial labels, ground truth the final ones. In an imported run it is the other way
    round: the judgement has what was said last, and the revision what was said first.
    """

    judgement = models.OneToOneField(Judgement, on_delete=models.CASCADE, related_name="revision")
    choice = models.CharField(max_length=10, choices=RevisionChoice.choices)
    # The final label: the initial one unless it was changed.
    verdict = models.CharField(max_length=200)
    reason = models.TextField(blank=True)
    # What was on the screen: the run that was revealed, and what its judge said; null and empty without one.
    run = models.ForeignKey(Run, on_delete=models.SET_NULL, null=True, related_name="revisions")
    judge_verdict = models.CharField(max_length=200, blank=True)
    revised_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(choice__in=RevisionChoice.values), name="revision_choice"
            ),
            models.CheckConstraint(
                condition=~models.Q(choice="change") | ~models.Q(reason=""),
                name="revision_gives_a_reason",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.choice}: {self.verdict}"


class Cause(models.TextChoices):
    """Why the raters differed; the causes of a criterion are its to-do list."""

    JUDGE_WRONG = "judge_wrong", "judge wrong"
    HUMAN_WRONG = "human_wrong", "human wrong"
    RUBRIC_UNCLEAR = "rubric_unclear", "rubric unclear"
    ITEM_BROKEN = "item_broken", "item broken"


class AdjudicationQuerySet(models.QuerySet["Adjudication"]):
    def undeleted(self) -> Self:
        """Without those by a deleted rubric: they go with it, and a worker is still to remove them."""
        return self.filter(criterion__version__rubric__team__deleted_at=None)


class Adjudication(models.Model):
    """The label that stands for one criterion of one item, whatever the raters said: see Judgement.

    `cause` is empty where nobody differed: a bulk acceptance of what all said. `labels` are those it was
    decided from, as [{"rater": name, "is_judge": bool, "verdict": label}, …], as they were then. `replaced`
    are the decisions this one took the place of, oldest first: the last stands again when it is taken back.
    """

    item = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="adjudications")
    criterion = models.ForeignKey(Criterion, on_delete=models.PROTECT, related_name="adjudications")
    verdict = models.CharField(max_length=200)
    cause = models.CharField(max_length=20, choices=Cause.choices, blank=True)
    reason = models.TextField(blank=True)
    labels = models.JSONField(default=list)
    replaced = models.JSONField(default=list)
    queue = models.ForeignKey(ReviewQueue, on_delete=models.SET_NULL, null=True, related_name="+")
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    decided_at = models.DateTimeField(auto_now=True)

    objects = AdjudicationQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["item", "criterion"], name="adjudication_once"),
            models.CheckConstraint(
                condition=models.Q(cause__in=["", *Cause.values]), name="adjudication_cause_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.verdict} for {self.criterion_id} of {self.item_id}"
