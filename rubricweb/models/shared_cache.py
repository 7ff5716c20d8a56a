"""What all web processes must agree on for a while: counters of throttles."""

from django.db import models


class CacheEntry(models.Model):
    """A value until `expires_at`, by name. Rows that have expired count as not there."""

    name = models.CharField(max_length=250, unique=True)
    value = models.JSONField()
    expires_at = models.DateTimeField()

    class Meta:
        verbose_name_plural = "cache entries"
        # Tidying up, the oldest first.
        indexes = [models.Index(fields=["expires_at"], name="cache_entry_expiry")]

    def __str__(self) -> str:
        return self.name
