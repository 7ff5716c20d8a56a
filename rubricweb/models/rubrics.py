"""Rubrics people edit, and the frozen numbered versions everything else refers to."""

from django.conf import settings
from django.db import models

from rubricweb import engine
from rubricweb.models.teams import Team


class Rubric(models.Model):
    """A rubric under one title: an editable draft and its published versions."""

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="rubrics")
    title = models.CharField(max_length=200)
    # {title, guidelines, criteria: [...]}: kept as typed, even while it is not valid yet.
    draft = models.JSONField(default=dict)
    # Counts saves, so that two editors cannot overwrite each other unseen.
    draft_revision = models.PositiveIntegerField(default=0)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["-updated_at", "-id"]

    def __str__(self) -> str:
        return self.title


class RubricVersion(models.Model):
    """A rubric as it was when published, or one that a single item brought along. Never changes."""

    rubric = models.ForeignKey(Rubric, on_delete=models.CASCADE, null=True, related_name="versions")
    number = models.PositiveIntegerField(null=True)
    title = models.CharField(max_length=200, blank=True)
    guidelines = models.TextField(blank=True)
    note = models.CharField(max_length=300, blank=True)
    published_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    published_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["rubric_id", "-number"]
        constraints = [
            models.UniqueConstraint(fields=["rubric", "number"], name="version_number_unique_in_rubric"),
            models.CheckConstraint(
                condition=models.Q(rubric__isnull=True, number__isnull=True)
                | models.Q(rubric__isnull=False, number__gte=1),
                name="version_numbered_or_owned_by_item",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.title} v{self.number}" if self.number else "the item's own rubric"

    def to_engine(self) -> engine.Rubric:
        """The engine's rubric, criteria in order. Reads `self.criteria` (prefetch it for many)."""
        return engine.Rubric(
            criteria=[criterion.to_engine() for criterion in self.criteria.all()],
            title=self.title,
            guidelines=self.guidelines,
        )


class Criterion(models.Model):
    version = models.ForeignKey(RubricVersion, on_delete=models.CASCADE, related_name="criteria")
    position = models.PositiveIntegerField()
    name = models.CharField(max_length=200)
    requirement = models.TextField()
    weight = models.FloatField()
    group = models.CharField(max_length=200, blank=True)
    guidance = models.TextField(blank=True)
    tags = models.JSONField(default=list)
    met_example = models.TextField(blank=True)
    unmet_example = models.TextField(blank=True)

    class Meta:
        ordering = ["version_id", "position"]
        constraints = [
            models.UniqueConstraint(fields=["version", "position"], name="criterion_position_unique"),
            models.UniqueConstraint(fields=["version", "name"], name="criterion_name_unique"),
        ]

    def __str__(self) -> str:
        return self.name

    def to_engine(self) -> engine.Criterion:
        return engine.Criterion(
            weight=self.weight,
            requirement=self.requirement,
            name=self.name,
            group=self.group or None,
            guidance=self.guidance or None,
            tags=tuple(self.tags),
            met_example=self.met_example or None,
            unmet_example=self.unmet_example or None,
        )
