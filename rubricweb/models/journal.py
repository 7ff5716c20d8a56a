"""What was done, by whom, when: written by services, never changed."""

from django.conf import settings
from django.db import models

from rubricweb.models.teams import Team

PRUNED = "pruned"
"""The journal's verb where what was said in calls was cleared; its detail says `before` which moment."""


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
        # The journal page: newest first within a team.
        indexes = [models.Index(fields=["team", "-id"], name="journal_of_team")]

    def __str__(self) -> str:
        return f"{self.verb} {self.target_kind} {self.target_label}"
