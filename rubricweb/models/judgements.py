"""The atom of everything: one verdict on one criterion of one item by one rater."""

from django.db import models

from rubricweb.engine.verdict import Verdict
from rubricweb.models.datasets import Item
from rubricweb.models.reviews import Review
from rubricweb.models.rubrics import Criterion
from rubricweb.models.runs import JudgeCall, Run


class Judgement(models.Model):
    """People and judges fill in the same form; a failure is an error, never a verdict."""

    item = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="judgements")
    criterion = models.ForeignKey(Criterion, on_delete=models.PROTECT, related_name="judgements")
    # The rater: a run's judge, or a person's review.
    run = models.ForeignKey(Run, on_delete=models.CASCADE, null=True, related_name="judgements")
    review = models.ForeignKey(Review, on_delete=models.CASCADE, null=True, related_name="judgements")
    judge = models.CharField(max_length=200, blank=True)
    repeat = models.PositiveSmallIntegerField(default=0)
    verdict = models.CharField(max_length=20, null=True)
    reason = models.TextField(blank=True)
    error_kind = models.CharField(max_length=40, null=True)
    error_message = models.TextField(blank=True)
    call = models.ForeignKey(JudgeCall, on_delete=models.SET_NULL, null=True, related_name="judgements")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(run__isnull=False, review__isnull=True)
                | models.Q(run__isnull=True, review__isnull=False),
                name="judgement_by_run_or_review",
            ),
            models.CheckConstraint(
                condition=models.Q(verdict__isnull=False, error_kind__isnull=True)
                | models.Q(verdict__isnull=True, error_kind__isnull=False),
                name="judgement_verdict_or_error",
            ),
            models.CheckConstraint(
                condition=models.Q(verdict__isnull=True)
                | models.Q(verdict__in=[verdict.value for verdict in Verdict]),
                name="judgement_verdict_known",
            ),
            models.UniqueConstraint(
                fields=["run", "item", "criterion", "judge", "repeat"],
                condition=models.Q(run__isnull=False),
                name="judgement_once_per_run",
            ),
            models.UniqueConstraint(
                fields=["review", "criterion"],
                condition=models.Q(review__isnull=False),
                name="judgement_once_per_review",
            ),
        ]
        indexes = [
            # Pass rates and comparisons of one run, criterion by criterion.
            models.Index(fields=["run", "criterion"], name="judgement_run_criterion"),
        ]

    def __str__(self) -> str:
        return f"{self.verdict or self.error_kind} for {self.criterion_id} of {self.item_id}"
