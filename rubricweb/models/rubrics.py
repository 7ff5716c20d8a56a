"""Rubrics people edit, and the frozen numbered versions everything else refers to."""

from typing import Any

from django.conf import settings
from django.db import models

from rubricweb import engine
from rubricweb.engine.parsers.plain_text import first_words
from rubricweb.engine.rubric.criterion import KINDS, SCALE_TYPES
from rubricweb.engine.rubric.identity import wording
from rubricweb.models.teams import Archivable, Team


class Rubric(Archivable):
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


class DraftSave(models.Model):
    """One save of a draft: who made it, and what leads back to the draft before it."""

    rubric = models.ForeignKey(Rubric, on_delete=models.CASCADE, related_name="draft_saves")
    # The draft_revision this save led to.
    revision = models.PositiveIntegerField()
    # services/earlier_drafts/ writes and reads it.
    before = models.JSONField()
    saved_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    saved_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["rubric", "revision"], name="draft_save_once_a_revision"),
        ]

    def __str__(self) -> str:
        return f"save {self.revision} of {self.rubric_id}"


class RubricVersion(models.Model):
    """A rubric as it was when published, or one that a single item brought along. Never changes."""

    rubric = models.ForeignKey(Rubric, on_delete=models.CASCADE, null=True, related_name="versions")
    number = models.PositiveIntegerField(null=True)
    title = models.CharField(max_length=200, blank=True)
    guidelines = models.TextField(blank=True)
    # engine.PassRule and engine.LengthPenalty as plain data.
    pass_rule = models.JSONField(null=True)
    length_penalty = models.JSONField(null=True)
    # engine.Rubric.metadata: ids, descriptions and sections of its file, which no grader is shown.
    metadata = models.JSONField(default=dict)
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
        descriptions = self.metadata.get("descriptions", {})
        return engine.Rubric(
            criteria=[
                criterion.to_engine(description=descriptions.get(str(place)))
                for place, criterion in enumerate(self.criteria.all())
            ],
            title=self.title,
            guidelines=self.guidelines,
            pass_rule=None if self.pass_rule is None else engine.PassRule(**self.pass_rule),
            length_penalty=None
            if self.length_penalty is None
            else engine.LengthPenalty(**self.length_penalty),
            id=self.metadata.get("id"),
            description=self.metadata.get("description"),
            sections=[engine.Section(**section) for section in self.metadata.get("sections", ())],
        )


class Meaning(models.Model):
    """A question of a rubric: the criteria of all versions whose labels count for each other.

    Criteria share one where nothing but names, groups, tags, weights or values of options was changed between
    their versions, or where an author decided that labels carry over: see `services.rubrics.meanings`.
    Carried to other options, labels flow one way, from `source` through `option_map`.
    """

    rubric = models.ForeignKey(Rubric, on_delete=models.CASCADE, related_name="meanings")
    # The uid its criteria have.
    uid = models.CharField(max_length=120)
    source = models.ForeignKey("self", on_delete=models.SET_NULL, null=True, related_name="flows_into")
    # Label of the source → the option it counts as here, null for one that does not count.
    option_map = models.JSONField(null=True)

    class Meta:
        ordering = ["rubric_id", "pk"]

    def __str__(self) -> str:
        return f"{self.uid} in {self.rubric_id}"


class Criterion(models.Model):
    """One thing to look for, in one of the engine's three kinds; fields of the other kinds are empty."""

    version = models.ForeignKey(RubricVersion, on_delete=models.CASCADE, related_name="criteria")
    position = models.PositiveIntegerField()
    # Which criterion of the other versions it is; files call it `id`. Empty where an item brought the rubric
    # and its file gave none.
    uid = models.CharField(max_length=120, blank=True)
    # Null in rubrics that items brought: those have no other versions.
    meaning = models.ForeignKey(Meaning, on_delete=models.SET_NULL, null=True, related_name="criteria")
    name = models.CharField(max_length=200)
    requirement = models.TextField()
    weight = models.FloatField()
    group = models.CharField(max_length=200, blank=True)
    guidance = models.TextField(blank=True)
    tags = models.JSONField(default=list)
    met_example = models.TextField(blank=True)
    unmet_example = models.TextField(blank=True)
    kind = models.CharField(max_length=20, default="binary")
    # A choice: [{label, value, na}] in the order people and judges are shown by default.
    options = models.JSONField(default=list)
    scale_type = models.CharField(max_length=20, blank=True)
    # The vote rule of panels for this criterion; empty leaves it to the panel.
    aggregation = models.CharField(max_length=40, blank=True)
    # A check: its name in engine.checks.CHECKS, and what it is called with.
    check_name = models.CharField(max_length=100, blank=True)
    params = models.JSONField(default=dict)

    class Meta:
        ordering = ["version_id", "position"]
        constraints = [
            models.UniqueConstraint(fields=["version", "position"], name="criterion_position_unique"),
            models.UniqueConstraint(fields=["version", "name"], name="criterion_name_unique"),
            models.UniqueConstraint(
                fields=["version", "uid"], condition=~models.Q(uid=""), name="criterion_uid_unique"
            ),
            models.CheckConstraint(condition=models.Q(kind__in=KINDS), name="criterion_kind_known"),
            models.CheckConstraint(
                condition=(models.Q(kind="check") & ~models.Q(check_name=""))
                | (~models.Q(kind="check") & models.Q(check_name="")),
                name="criterion_check_has_a_name",
            ),
            models.CheckConstraint(
                condition=models.Q(kind="choice", scale_type__in=SCALE_TYPES)
                | (~models.Q(kind="choice") & models.Q(scale_type="")),
                name="criterion_choice_has_a_scale",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def title(self) -> str:
        """What people are shown as its name: its own, or without one (C1…) its first words."""
        unnamed = self.position is not None and self.name == f"C{self.position + 1}"
        return first_words(self.requirement) or self.name if unnamed else self.name

    @property
    def question(self) -> tuple[Any, ...]:
        """Its wording: what those who answer it read, see `rubricweb.engine.rubric.identity`."""
        return wording(
            {
                "requirement": self.requirement,
                "guidance": self.guidance,
                "met_example": self.met_example,
                "unmet_example": self.unmet_example,
                "scale_type": self.scale_type,
                "options": self.options,
                "check": self.check_name,
                "params": self.params,
            }
        )

    @property
    def asks(self) -> tuple[Any, ...]:
        """The same with the guidelines above it. Reads `version`."""
        return (*self.question, " ".join(self.version.guidelines.split()))

    def to_engine(self, *, description: str | None = None) -> engine.Criterion:
        return engine.Criterion(
            weight=self.weight,
            requirement=self.requirement,
            name=self.name,
            group=self.group or None,
            guidance=self.guidance or None,
            tags=tuple(self.tags),
            met_example=self.met_example or None,
            unmet_example=self.unmet_example or None,
            kind=self.kind,
            options=tuple(engine.Option(**option) for option in self.options),
            scale_type=self.scale_type or None,
            aggregation=self.aggregation or None,
            check=self.check_name or None,
            params=self.params,
            id=self.uid or None,
            description=description,
        )


class LabelDecisionKind(models.TextChoices):
    """What becomes of labels that were given to the words before; without a decision they wait."""

    CARRY = "carry", "carry"
    LABEL_AGAIN = "label_again", "label again"
    PROBE = "probe", "probe"


class LabelDecision(models.Model):
    """What becomes of labels under one reworded criterion of a version, or under its new guidelines.

    `criterion` is None for guidelines, which are about all criteria. A later one takes its place: the older
    stays, with the time it was superseded at.
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

    @property
    def opens_queue(self) -> bool:
        """Whether people are asked anew, for every label or for a few."""
        return self.kind in (LabelDecisionKind.LABEL_AGAIN, LabelDecisionKind.PROBE)
