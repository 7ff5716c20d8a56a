"""What was decided about people's labels where a new version of a rubric asks something in other words."""

from django.conf import settings
from django.db import models

from rubricweb.models.rubrics import Criterion, RubricVersion


class LabelDecisionKind(models.TextChoices):
    """What becomes of labels that were given to the words before; without a decision they wait."""

    CARRY = "carry", "carry"
    LABEL_AGAIN = "label_again", "label again"
    PROBE = "probe", "probe"


class LabelDecision(models.Model):
    """One decision about one reworded criterion of a version, or about all of them where its guidelines
    changed.

    A later one takes its place: the older stays, with the time it was superseded at.
    """

    version = models.ForeignKey(RubricVersion, on_delete=models.CASCADE, related_name="label_decisions")
    # The reworded criterion. Null: the guidelines above every criterion that was not reworded itself.
    criterion = models.ForeignKey(
        Criterion, on_delete=models.CASCADE, null=True, related_name="label_decisions"
    )
    # The criterion whose labels it is about: of the last version that had the same uid.
    previous = models.ForeignKey(Criterion, on_delete=models.CASCADE, null=True, related_name="+")
    kind = models.CharField(max_length=20, choices=LabelDecisionKind.choices)
    # Carried to other options: each earlier label → the option it counts as, null for one that does not.
    options = models.JSONField(null=True)
    reason = models.TextField(blank=True)
    # What stood on the earlier words then: {"labels": 36, "reviews": 12, "decisions": 1}.
    evidence = models.JSONField(default=dict)
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    decided_at = models.DateTimeField(auto_now_add=True)
    superseded_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-decided_at", "-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["criterion"],
                condition=models.Q(superseded_at__isnull=True, criterion__isnull=False),
                name="label_decision_current",
            ),
            models.UniqueConstraint(
                fields=["version"],
                condition=models.Q(superseded_at__isnull=True, criterion__isnull=True),
                name="label_decision_of_guidelines",
            ),
            models.CheckConstraint(
                condition=models.Q(kind__in=LabelDecisionKind.values), name="label_decision_kind_known"
            ),
            models.CheckConstraint(
                condition=models.Q(options__isnull=True) | models.Q(kind="carry", criterion__isnull=False),
                name="label_decision_options_are_carried",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} for {self.criterion_id or 'the guidelines'} of {self.version_id}"
