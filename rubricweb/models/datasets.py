"""Datasets, what they ask and the submissions in them. An item never changes once it is stored.

A case is what stays when the system under test changes; its items are the answers of system versions.
"""

from django.conf import settings
from django.db import models

from rubricweb.engine.submission import Submission
from rubricweb.models.rubrics import RubricVersion
from rubricweb.models.teams import Team

SEALS = ("dev", "test")


class Dataset(models.Model):
    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="datasets")
    name = models.CharField(max_length=200)
    description = models.TextField(blank=True)
    # What every item answers unless it says otherwise: text, or a list of chat turns.
    prompt = models.JSONField(null=True)
    reference = models.TextField(null=True)
    # The rubric that came in the same file, if one did.
    rubric_version = models.ForeignKey(RubricVersion, on_delete=models.PROTECT, null=True, related_name="+")
    # A half of a split: dev to draw examples from, test to judge the judge on; empty for all others.
    sealed_as = models.CharField(max_length=10, blank=True)
    # SHA-256 over the items and labels a half was sealed with, and how alike the halves came out.
    seal = models.CharField(max_length=64, blank=True)
    split_of = models.ForeignKey("self", on_delete=models.SET_NULL, null=True, related_name="halves")
    split_report = models.JSONField(null=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created_at", "-id"]
        constraints = [
            models.UniqueConstraint(fields=["team", "name"], name="dataset_name_unique_in_team"),
            models.CheckConstraint(
                condition=models.Q(sealed_as="", seal="")
                | (models.Q(sealed_as__in=SEALS) & ~models.Q(seal="")),
                name="dataset_seal_known",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class System(models.Model):
    """What is evaluated: an assistant, a model. That without a name has the items of files that name none."""

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="systems")
    name = models.CharField(max_length=100, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["team_id", "name"]
        constraints = [
            models.UniqueConstraint(fields=["team", "name"], name="system_name_unique_in_team"),
            models.CheckConstraint(
                condition=~models.Q(name__contains="@") & ~models.Q(name__contains="/"),
                name="system_name_without_separators",
            ),
        ]

    def __str__(self) -> str:
        return self.name or "no system named"


class SystemVersion(models.Model):
    """One build of a system, named by a tag, commit, date or model. Versions are ordered by `position`."""

    system = models.ForeignKey(System, on_delete=models.CASCADE, related_name="versions")
    label = models.CharField(max_length=100, blank=True)
    position = models.PositiveIntegerField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["system_id", "position"]
        constraints = [
            models.UniqueConstraint(fields=["system", "label"], name="system_version_label_unique"),
            models.UniqueConstraint(fields=["system", "position"], name="system_version_position_unique"),
        ]

    def __str__(self) -> str:
        """assistant@v4; "" for the version of the system without a name. Reads `self.system`."""
        return f"{self.system.name}@{self.label}" if self.label else self.system.name


class Case(models.Model):
    """What was asked, under a key that stays when the system changes; its items hold the words asked.

    `wording` counts the words it had: answers to earlier words keep theirs and are paired with none to later.
    """

    dataset = models.ForeignKey(Dataset, on_delete=models.CASCADE, related_name="cases")
    key = models.CharField(max_length=200)
    position = models.PositiveIntegerField()
    wording = models.PositiveIntegerField(default=1)

    class Meta:
        ordering = ["dataset_id", "position"]
        constraints = [
            models.UniqueConstraint(fields=["dataset", "key"], name="case_key_unique_in_dataset"),
            models.UniqueConstraint(fields=["dataset", "position"], name="case_position_unique_in_dataset"),
        ]

    def __str__(self) -> str:
        return self.key


class Item(models.Model):
    """One submission to be graded: a system version's answer to a case. `key` is its id in its file.

    Without a case id in the file the case is the item's own and has its key. `wording` says which words of
    the case it answers, `attempt` counts the answers of the same version from 1.
    """

    dataset = models.ForeignKey(Dataset, on_delete=models.CASCADE, related_name="items")
    case = models.ForeignKey(Case, on_delete=models.CASCADE, related_name="items")
    wording = models.PositiveIntegerField(default=1)
    system_version = models.ForeignKey(SystemVersion, on_delete=models.PROTECT, related_name="items")
    attempt = models.PositiveIntegerField(default=1)
    key = models.CharField(max_length=200)
    position = models.PositiveIntegerField()
    submission = models.TextField()
    thinking = models.TextField(null=True)
    prompt = models.JSONField(null=True)
    reference = models.TextField(null=True)
    description = models.TextField(blank=True)
    metadata = models.JSONField(default=dict)
    # The engine's `content_digest` of prompt and submission: the same words under another key are the same.
    content_hash = models.CharField(max_length=64, blank=True)
    rubric_version = models.ForeignKey(
        RubricVersion, on_delete=models.PROTECT, null=True, related_name="items"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["dataset_id", "position"]
        constraints = [
            models.UniqueConstraint(fields=["dataset", "key"], name="item_key_unique_in_dataset"),
            models.UniqueConstraint(fields=["dataset", "position"], name="item_position_unique_in_dataset"),
            models.UniqueConstraint(
                fields=["case", "wording", "system_version", "attempt"], name="item_answer_once"
            ),
        ]
        # Items of other datasets with the same words.
        indexes = [
            models.Index(fields=["content_hash"], name="item_content_hash"),
            models.Index(fields=["dataset", "system_version", "position"], name="item_of_system"),
        ]

    def __str__(self) -> str:
        return self.key

    def to_engine(self) -> Submission:
        """What a judge is shown; the dataset's prompt and reference stand in for missing ones."""
        return Submission(
            output=self.submission,
            thinking=self.thinking,
            query=self.prompt if self.prompt is not None else self.dataset.prompt,
            reference=self.reference if self.reference is not None else self.dataset.reference,
        )
