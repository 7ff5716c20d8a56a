"""What processes know of each other: who is alive, which request was done, throttles, files on their way."""

from django.db import models

from rubricweb.models.runs import Run
from rubricweb.models.teams import Team


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


class Worker(models.Model):
    """A worker that says it is alive every few seconds, whether it has work or not."""

    name = models.CharField(max_length=100, unique=True)
    processes = models.PositiveIntegerField(default=1)
    started_at = models.DateTimeField()
    beat_at = models.DateTimeField()

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class IdempotencyKey(models.Model):
    """A request that started paid work or kept a version of a judge: the same one sent again does nothing."""

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="+")
    name = models.CharField(max_length=255)
    # SHA-256 of all that was asked for.
    asked = models.CharField(max_length=64, blank=True)
    # Null for a version of a judge, and inside the transaction that does the work.
    run = models.ForeignKey(Run, on_delete=models.CASCADE, null=True, related_name="+")
    # How many items of the run are to be worked on; without a run the id of the version that was kept.
    items = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["team", "name"], name="idempotency_key_once_per_team")]

    def __str__(self) -> str:
        return self.name


class KeptFile(models.Model):
    """A file that was sent and is not done with: in the database, where every machine reaches it."""

    token = models.CharField(max_length=32, unique=True)
    size = models.PositiveBigIntegerField(default=0)
    # What was seen of it when it came, so that no later step reads it again for that.
    about = models.JSONField(default=dict)
    created_at = models.DateTimeField()

    class Meta:
        # Tidying up, the oldest first.
        indexes = [models.Index(fields=["created_at"], name="kept_file_age")]

    def __str__(self) -> str:
        return self.token


class KeptFilePart(models.Model):
    """About a megabyte of a kept file, compressed by zlib."""

    file = models.ForeignKey(KeptFile, on_delete=models.CASCADE, related_name="parts")
    number = models.PositiveIntegerField()
    data = models.BinaryField()

    class Meta:
        ordering = ["file_id", "number"]
        constraints = [models.UniqueConstraint(fields=["file", "number"], name="kept_file_part_once")]

    def __str__(self) -> str:
        return f"{self.file_id}/{self.number}"
