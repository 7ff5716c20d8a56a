"""The atom of everything: one answer to one criterion of one item by one rater."""

from typing import Any, Self

from django.db import models

from rubricweb.engine.origin import Origin, origin_of
from rubricweb.models.datasets import Item
from rubricweb.models.queues import Review, ReviewState
from rubricweb.models.rubrics import Criterion
from rubricweb.models.runs import JudgeCall, Run, RunItem


def in_reviews(via: str = "", **conditions: Any) -> models.Q:
    """Judgements in submitted reviews that fit the conditions, named as fields of Review: what people said
    and what a file settled. What machines said in files is in runs of their own.

    `in_reviews(queue=queue)` is for Judgement, `in_reviews("judgement__", queue=queue)` for its revisions.
    The only way from judgements to reviews: nearly all judgements are of runs, and without the words "has a
    review" PostgreSQL reads them all to find people's few.
    """
    return models.Q(
        (f"{via}review__isnull", False),
        (f"{via}review__state", ReviewState.SUBMITTED),
        *((f"{via}review__{name}", value) for name, value in conditions.items()),
    )


def of_run(run: Run) -> models.Q:
    """What the run said of the items it is over: of judgements and votes, those that its figures count.

    What it said of an answer that was corrected since stays with that answer: see `RunItem.replaced`.
    """
    replaced = RunItem.every.filter(run=run, replaced=True).order_by().values("item")
    return models.Q(run=run) & ~models.Q(item__in=replaced)


class JudgementQuerySet(models.QuerySet["Judgement"]):
    def in_reviews(self, **conditions: Any) -> Self:
        """Those in submitted reviews, drafts and judges left out: see `in_reviews`."""
        return self.filter(in_reviews(**conditions))

    def in_order_given(self) -> Self:
        """Labels in the order their reviews were submitted: a draft begun first may be submitted last."""
        return self.order_by("review__submitted_at", "pk")


class Judgement(models.Model):
    """People, judges and checks fill in the same form; a failure is an error, never an answer.

    `verdict` is the label that was answered: MET, UNMET or CANNOT_ASSESS to a binary criterion, the chosen
    option's label as the rubric writes it to a choice (CANNOT_ASSESS there only from a panel that could not
    settle). `value` is what a check found. Exactly one of verdict, value and error_kind is set.
    """

    item = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="judgements")
    criterion = models.ForeignKey(Criterion, on_delete=models.PROTECT, related_name="judgements")
    # The rater: a run's judge, or a person's review.
    run = models.ForeignKey(Run, on_delete=models.CASCADE, null=True, related_name="judgements")
    # Its index is that of `judgement_once_per_review`, without the millions of rows that have no review.
    review = models.ForeignKey(
        Review, on_delete=models.CASCADE, null=True, related_name="judgements", db_index=False
    )
    judge = models.CharField(max_length=200, blank=True)
    repeat = models.PositiveSmallIntegerField(default=0)
    verdict = models.CharField(max_length=200, null=True)
    value = models.FloatField(null=True)
    # From 0 to 1; null when nobody said.
    confidence = models.FloatField(null=True)
    reason = models.TextField(blank=True)
    # Where a person found it: [{"field": "submission", "start": 4, "end": 9, "text": "words"}, …], offsets in
    # characters (code points) of that field of the item; null without any. See services.reviews.evidence.
    evidence = models.JSONField(null=True)
    # Seconds a person had this criterion open, as the browser says; null when it did not.
    seconds = models.FloatField(null=True)
    error_kind = models.CharField(max_length=40, null=True)
    error_message = models.TextField(blank=True)
    call = models.ForeignKey(JudgeCall, on_delete=models.SET_NULL, null=True, related_name="judgements")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = JudgementQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(run__isnull=False, review__isnull=True)
                | models.Q(run__isnull=True, review__isnull=False),
                name="judgement_by_run_or_review",
            ),
            models.CheckConstraint(
                condition=models.Q(verdict__isnull=False, value__isnull=True, error_kind__isnull=True)
                | models.Q(verdict__isnull=True, value__isnull=False, error_kind__isnull=True)
                | models.Q(verdict__isnull=True, value__isnull=True, error_kind__isnull=False),
                name="judgement_one_answer",
            ),
            models.CheckConstraint(
                condition=models.Q(confidence__isnull=True)
                | models.Q(confidence__gte=0.0, confidence__lte=1.0),
                name="judgement_confidence_is_a_share",
            ),
            models.UniqueConstraint(
                fields=["run", "item", "criterion", "judge", "repeat"],
                condition=models.Q(run__isnull=False),
                name="judgement_once_per_run",
            ),
            # Also how every query that reads people's labels comes from their reviews: see `in_reviews`.
            models.UniqueConstraint(
                fields=["review", "criterion"],
                condition=models.Q(review__isnull=False),
                name="judgement_once_per_review",
            ),
        ]
        indexes = [
            # Pass rates and comparisons of one run, criterion by criterion.
            models.Index(fields=["run", "criterion"], name="judgement_run_criterion"),
            # People's labels of one item or a few, and of the criteria of one rubric version, wherever they
            # were given. Without these PostgreSQL walks through all labels of all teams in the index of
            # `judgement_once_per_review`, or through all that runs said.
            models.Index(
                fields=["item", "criterion"],
                condition=models.Q(review__isnull=False),
                name="judgement_label_of_item",
            ),
            models.Index(
                fields=["criterion", "item"],
                condition=models.Q(review__isnull=False),
                name="judgement_label_of_criterion",
            ),
        ]

    def __str__(self) -> str:
        answer = self.value if self.value is not None else self.verdict or self.error_kind
        return f"{answer} for {self.criterion_id} of {self.item_id}"

    @property
    def origin(self) -> Origin | None:
        """Who gave the label; None for the verdict of a run that was graded here. Reads review and rater, or
        run.
        """
        if self.review is not None:
            return origin_of(self.review.rater.kind, imported=self.review.imported)
        return None if self.run is None else self.run.origin


class Vote(models.Model):
    """What one judge of a panel answered once; the panel's own answer is the Judgement made of its votes."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="votes")
    item = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="votes")
    criterion = models.ForeignKey(Criterion, on_delete=models.PROTECT, related_name="votes")
    judge = models.CharField(max_length=200)
    repeat = models.PositiveSmallIntegerField(default=0)
    # The stage of a cascade that asked, from 0.
    stage = models.PositiveSmallIntegerField(default=0)
    weight = models.FloatField(default=1.0)
    verdict = models.CharField(max_length=200, null=True)
    confidence = models.FloatField(null=True)
    reason = models.TextField(blank=True)
    error_kind = models.CharField(max_length=40, null=True)
    error_message = models.TextField(blank=True)
    call = models.ForeignKey(JudgeCall, on_delete=models.SET_NULL, null=True, related_name="votes")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["run", "item", "criterion", "judge", "repeat", "stage"], name="vote_once"
            ),
            models.CheckConstraint(
                condition=models.Q(verdict__isnull=False, error_kind__isnull=True)
                | models.Q(verdict__isnull=True, error_kind__isnull=False),
                name="vote_label_or_error",
            ),
            models.CheckConstraint(
                condition=models.Q(confidence__isnull=True)
                | models.Q(confidence__gte=0.0, confidence__lte=1.0),
                name="vote_confidence_is_a_share",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.judge}: {self.verdict or self.error_kind} for {self.criterion_id} of {self.item_id}"
