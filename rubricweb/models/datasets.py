"""Datasets, what they ask and the submissions in them. An item never changes once it is stored.

A case is what stays when the system under test changes; its items are the answers of system versions. Items
come and go by versions of their dataset (decision 0026).
"""

# Long because every table of a dataset stands here, from its cases to files on their way in.

from typing import Self

from django.conf import settings
from django.db import models

from rubricweb.engine.formats.content_ids import name_of
from rubricweb.engine.submission import Submission
from rubricweb.models.rubrics import RubricVersion
from rubricweb.models.teams import Archivable, Team

SEALS = ("dev", "test")
NOT_RETIRED = 2_147_483_647
"""`Item.retired_in` of an item that is current: later than any version."""


class Dataset(Archivable):
    """Items under one name, with what they share; every change of them makes a new version."""

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="datasets")
    name = models.CharField(max_length=200)
    description = models.TextField(blank=True)
    # What every item answers unless it says otherwise: text, or a list of chat turns.
    prompt = models.JSONField(null=True)
    reference = models.TextField(null=True)
    # The rubric that came in the same file, if one did.
    rubric_version = models.ForeignKey(RubricVersion, on_delete=models.PROTECT, null=True, related_name="+")
    # Metadata that lists show and are narrowed by: {"name", "values", "counts"} of the most frequent ones.
    columns = models.JSONField(default=list)
    # A half of a split: dev to draw examples from, test to judge the judge on; empty for all others.
    sealed_as = models.CharField(max_length=10, blank=True)
    # Digest of the items and labels a half was sealed with, see `engine.datasets.overlaps.seal_of`.
    seal = models.CharField(max_length=64, blank=True)
    # Random, for the seal and those of looks at the test half: without it labels, and who answered, could be
    # tried until the seal is right. Empty for a dataset without halves.
    seal_salt = models.CharField(max_length=64, blank=True, default="", db_default="")
    split_of = models.ForeignKey("self", on_delete=models.SET_NULL, null=True, related_name="halves")
    # Counts its changes; DatasetChange says what each was.
    version = models.PositiveIntegerField(default=1, db_default=1)
    # How alike the halves came out: what it counts of labels tells of both, see `split_is_withheld`.
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


class ChangeKind(models.TextChoices):
    """What made a version of a dataset."""

    APPEND = "append", "Added"
    CORRECT = "correct", "Corrected"
    RETIRE = "retire", "Retired"
    RESTORE = "restore", "Restored"


class DatasetChange(models.Model):
    """One version of a dataset: what was done to how many items, by whom, when and why."""

    dataset = models.ForeignKey(Dataset, on_delete=models.CASCADE, related_name="changes")
    version = models.PositiveIntegerField()
    kind = models.CharField(max_length=10, choices=ChangeKind.choices)
    items = models.PositiveIntegerField()
    note = models.CharField(max_length=200, blank=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["dataset_id", "-version"]
        constraints = [
            models.UniqueConstraint(fields=["dataset", "version"], name="dataset_change_once"),
            models.CheckConstraint(
                condition=models.Q(kind__in=ChangeKind.values), name="dataset_change_kind_known"
            ),
        ]

    def __str__(self) -> str:
        return f"version {self.version} of {self.dataset_id}"


class System(Archivable):
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
    # dev to draw examples from, test to judge the judge on; empty until the dataset is split, and for cases
    # that came later until the split is extended.
    half = models.CharField(max_length=4, blank=True, default="", db_default="")
    # When a draw marked it; runs over the half that began before then are without it until extended.
    half_since = models.DateTimeField(null=True)

    class Meta:
        ordering = ["dataset_id", "position"]
        constraints = [
            models.UniqueConstraint(fields=["dataset", "key"], name="case_key_unique_in_dataset"),
            models.UniqueConstraint(fields=["dataset", "position"], name="case_position_unique_in_dataset"),
            models.CheckConstraint(condition=models.Q(half__in=("", *SEALS)), name="case_half_known"),
        ]
        indexes = [models.Index(fields=["dataset", "half"], name="case_of_half")]

    def __str__(self) -> str:
        return name_of(self.key, id=self.pk)


class CaseTag(models.Model):
    """A word people gave a case, as `read_tags` of the engine has it: lists of items are narrowed by it."""

    # Found by the constraint's index.
    case = models.ForeignKey(Case, on_delete=models.CASCADE, related_name="tags", db_index=False)
    tag = models.CharField(max_length=60)

    class Meta:
        ordering = ["case_id", "tag"]
        constraints = [
            models.UniqueConstraint(fields=["case", "tag"], name="case_tag_once"),
            models.CheckConstraint(condition=~models.Q(tag=""), name="case_tag_not_empty"),
        ]
        indexes = [
            # Lists of items narrowed to a tag.
            models.Index(fields=["tag", "case"], name="case_of_tag")
        ]

    def __str__(self) -> str:
        return self.tag


class CaseSplit(models.Model):
    """A draw that marked cases dev or test: number 1 split the dataset, the later ones extended the split."""

    dataset = models.ForeignKey(Dataset, on_delete=models.CASCADE, related_name="case_splits")
    number = models.PositiveIntegerField()
    dataset_version = models.PositiveIntegerField()
    seed = models.BigIntegerField()
    # The cases this draw marked.
    n_dev = models.PositiveIntegerField()
    n_test = models.PositiveIntegerField()
    # How alike the halves were after it.
    report = models.JSONField()
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["dataset_id", "number"]
        constraints = [models.UniqueConstraint(fields=["dataset", "number"], name="case_split_once")]

    def __str__(self) -> str:
        return f"{self.dataset} ({self.number})"


class CaseText(models.Model):
    """The words a case was given by a correction, under their number; its first ones are in its items."""

    case = models.ForeignKey(Case, on_delete=models.CASCADE, related_name="texts")
    number = models.PositiveIntegerField()
    prompt = models.JSONField(null=True)
    reference = models.TextField(null=True)
    description = models.TextField(blank=True)
    rubric_version = models.ForeignKey(RubricVersion, on_delete=models.PROTECT, null=True, related_name="+")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["case_id", "number"]
        constraints = [models.UniqueConstraint(fields=["case", "number"], name="case_text_once")]

    def __str__(self) -> str:
        return f"{self.case} ({self.number})"


class ItemQuerySet(models.QuerySet["Item"]):
    def current(self) -> Self:
        """Those that are not retired: all that lists, new runs and new queues know of."""
        return self.filter(retired_in=NOT_RETIRED)

    def in_version(self, version: int) -> Self:
        """Those that their dataset held in this version of it."""
        away = ItemAbsence.objects.filter(
            item=models.OuterRef("pk"), retired_in__lte=version, restored_in__gt=version
        )
        return self.filter(~models.Exists(away), added_in__lte=version, retired_in__gt=version)


class Item(models.Model):
    """One submission to be graded: a system version's answer to a case. `key` is its id in its file.

    Without a case id in the file the case is the item's own and has its key. `wording` says which words of
    the case it answers, `attempt` counts the answers of the same version from 1. A retired item stays in what
    was made of it: runs, queues, labels.
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
    # The versions of the dataset that hold it are those from the first, before the second.
    added_in = models.PositiveIntegerField(default=1, db_default=1)
    retired_in = models.PositiveIntegerField(default=NOT_RETIRED, db_default=NOT_RETIRED)
    # The first item at its place, of which it is a correction: all of them can be hidden together.
    replaces = models.ForeignKey("self", on_delete=models.SET_NULL, null=True, related_name="replaced_by")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = ItemQuerySet.as_manager()

    class Meta:
        ordering = ["dataset_id", "position"]
        constraints = [
            models.UniqueConstraint(
                fields=["dataset", "key"],
                condition=models.Q(retired_in=NOT_RETIRED),
                name="item_key_current",
            ),
            models.UniqueConstraint(
                fields=["dataset", "position"],
                condition=models.Q(retired_in=NOT_RETIRED),
                name="item_position_current",
            ),
            models.UniqueConstraint(
                fields=["case", "wording", "system_version", "attempt"],
                condition=models.Q(retired_in=NOT_RETIRED),
                name="item_answer_current",
            ),
            models.CheckConstraint(
                condition=models.Q(added_in__gte=1, retired_in__gt=models.F("added_in")),
                name="item_retired_after_added",
            ),
        ]
        indexes = [
            # Items of other datasets with the same words.
            models.Index(fields=["content_hash"], name="item_content_hash"),
            models.Index(fields=["dataset", "system_version", "position"], name="item_of_system"),
        ]

    def __str__(self) -> str:
        return name_of(self.key, id=self.pk)

    def to_engine(self) -> Submission:
        """What a judge is shown; the dataset's prompt and reference stand in for missing ones."""
        return Submission(
            output=self.submission,
            thinking=self.thinking,
            query=self.prompt if self.prompt is not None else self.dataset.prompt,
            reference=self.reference if self.reference is not None else self.dataset.reference,
        )


class ItemAbsence(models.Model):
    """The versions that an item was retired for until it was restored: from the first, before the second."""

    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="absences")
    retired_in = models.PositiveIntegerField()
    restored_in = models.PositiveIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["item", "retired_in"], name="item_absence_once"),
            models.CheckConstraint(
                condition=models.Q(restored_in__gt=models.F("retired_in")), name="item_absence_ends"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.item_id} from {self.retired_in} to {self.restored_in}"


class ItemFacet(models.Model):
    """What a current item's metadata hold under a declared column, as text: lists find it by an index."""

    dataset = models.ForeignKey(Dataset, on_delete=models.CASCADE, related_name="+")
    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="facets")
    name = models.CharField(max_length=100)
    value = models.CharField(max_length=200)
    # The item's, which never changes: a list in this order ends once its page is full.
    position = models.PositiveIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["item", "name"], name="item_facet_once")]
        indexes = [
            # Lists narrowed to a value of a column.
            models.Index(fields=["dataset", "name", "value", "position", "item"], name="item_facet_value")
        ]

    def __str__(self) -> str:
        return f"{self.name}={self.value}"


class ImportState(models.TextChoices):
    """`ASKS` waits for somebody to look at the preview and say so; the last four are ends."""

    WAITING = "waiting", "Waiting"
    RUNNING = "running", "Running"
    ASKS = "asks", "Waits for an answer"
    DONE = "done", "Done"
    REFUSED = "refused", "Refused"
    FAILED = "failed", "Failed"
    CANCELLED = "cancelled", "Cancelled"


class ImportKind(models.TextChoices):
    DATASET = "dataset", "a dataset"
    ITEMS = "items", "items"
    ANSWERS = "answers", "answers of a system version"


class Duplicates(models.TextChoices):
    """What becomes of items whose words came before."""

    ASK = "ask", "Ask"
    KEEP = "keep", "Keep"
    SKIP = "skip", "Skip"


class DatasetImport(models.Model):
    """A file on its way into a dataset: read and checked in steps, stored by one transaction."""

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="imports")
    kind = models.CharField(max_length=10, choices=ImportKind.choices)
    # Null until a new dataset stands.
    dataset = models.ForeignKey(Dataset, on_delete=models.CASCADE, null=True, related_name="imports")
    name = models.CharField(max_length=200, blank=True)
    filename = models.CharField(max_length=200)
    # Null once the import has ended.
    file = models.ForeignKey("KeptFile", on_delete=models.SET_NULL, null=True, related_name="+")
    columns = models.JSONField(default=dict)
    system = models.CharField(max_length=201, blank=True)
    as_attempt = models.BooleanField(default=False)
    strict = models.BooleanField(default=True)
    duplicates = models.CharField(max_length=4, choices=Duplicates.choices, default=Duplicates.ASK)
    # Names that resemble others are meant as they are written.
    new_names = models.BooleanField(default=False, db_default=False)
    # It asks before it stores, whatever is found.
    preview = models.BooleanField(default=False, db_default=False)
    state = models.CharField(max_length=10, choices=ImportState.choices, default=ImportState.WAITING)
    rows_read = models.PositiveIntegerField(default=0)
    rows_stored = models.PositiveIntegerField(default=0)
    duplicate_count = models.PositiveIntegerField(default=0)
    # The first duplicates, what was left out, cases without an answer: as its page shows them.
    found = models.JSONField(default=dict)
    # Why it was refused or failed, and every fault: [place, found, allowed].
    message = models.TextField(blank=True)
    faults = models.JSONField(default=list)
    fault_count = models.PositiveIntegerField(default=0)
    # The process at work on it, and when that last said so.
    worker = models.CharField(max_length=100, blank=True)
    beat_at = models.DateTimeField(null=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(kind=ImportKind.DATASET) | models.Q(dataset__isnull=False),
                name="import_into_a_dataset",
            ),
            models.CheckConstraint(
                condition=~models.Q(state=ImportState.DONE) | models.Q(dataset__isnull=False),
                name="import_done_has_dataset",
            ),
        ]
        indexes = [
            # A team's imports, the newest first.
            models.Index(fields=["team", "-id"], name="import_of_team"),
            # The reaper's question: what waits, and what the dead held.
            models.Index(
                fields=["id"],
                name="import_under_way",
                condition=models.Q(state__in=["waiting", "running"]),
            ),
        ]

    def __str__(self) -> str:
        return self.filename


class ImportBatch(models.Model):
    """Some checked items of an import with their labels, as compressed JSON, until they are stored."""

    dataset_import = models.ForeignKey(DatasetImport, on_delete=models.CASCADE, related_name="batches")
    number = models.PositiveIntegerField()
    data = models.BinaryField()

    class Meta:
        ordering = ["dataset_import_id", "number"]
        constraints = [models.UniqueConstraint(fields=["dataset_import", "number"], name="import_batch_once")]

    def __str__(self) -> str:
        return f"{self.dataset_import_id}/{self.number}"


class CombinationState(models.TextChoices):
    """The last four are ends."""

    WAITING = "waiting", "Waiting"
    RUNNING = "running", "Copying"
    DONE = "done", "Done"
    REFUSED = "refused", "Refused"
    FAILED = "failed", "Failed"
    CANCELLED = "cancelled", "Cancelled"


class Combination(models.Model):
    """Several datasets on their way into one, item by item, by a worker.

    Until it is whole the new dataset stands in the `workshop`, a team without members where nobody finds it.
    """

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="combinations")
    name = models.CharField(max_length=200)
    as_attempts = models.BooleanField(default=False)
    # "cases" matches by case id, else by what is asked; "ids" by the ids of items.
    match = models.CharField(max_length=10, default="cases")
    archive_originals = models.BooleanField(default=False)
    # The new dataset, from the first batch on; null again once it is deleted.
    dataset = models.ForeignKey(Dataset, on_delete=models.SET_NULL, null=True, related_name="+")
    # Null before the first batch and once all is in its place.
    workshop = models.ForeignKey(Team, on_delete=models.SET_NULL, null=True, related_name="+")
    state = models.CharField(
        max_length=10, choices=CombinationState.choices, default=CombinationState.WAITING
    )
    items_planned = models.PositiveIntegerField(default=0)
    items_copied = models.PositiveIntegerField(default=0)
    # What the originals were like at the first batch: changed meanwhile, the copy is refused.
    stamp = models.JSONField(default=list)
    # Queues and imported runs of the new dataset, and versions, by what they stand for:
    # {"queue 3 False": 17, "run 4": 9, "version bot@v1": 2}.
    made = models.JSONField(default=dict)
    # Runs of originals that were started again over the new dataset: {"<id>": id}.
    started = models.JSONField(default=dict)
    # Why it was refused or failed.
    message = models.TextField(blank=True)
    # The process at work on it, and when that last said so.
    worker = models.CharField(max_length=100, blank=True)
    beat_at = models.DateTimeField(null=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(state__in=CombinationState.values), name="combination_state_known"
            ),
        ]
        indexes = [
            # A team's combinations, the newest first.
            models.Index(fields=["team", "-id"], name="combination_of_team"),
            # The reaper's question: what waits, what the dead held, and what is to be cleared away.
            models.Index(
                fields=["id"],
                name="combination_under_way",
                condition=models.Q(state__in=["waiting", "running"]) | models.Q(workshop__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return self.name


class CombinationPart(models.Model):
    """One of the datasets that are combined; its items become answers of `system`, "" keeps theirs."""

    combination = models.ForeignKey(Combination, on_delete=models.CASCADE, related_name="parts")
    dataset = models.ForeignKey(Dataset, on_delete=models.CASCADE, related_name="+")
    place = models.PositiveSmallIntegerField()
    system = models.CharField(max_length=201, blank=True)

    class Meta:
        ordering = ["combination_id", "place"]
        constraints = [
            models.UniqueConstraint(fields=["combination", "place"], name="combination_part_place_once"),
            models.UniqueConstraint(fields=["combination", "dataset"], name="combination_part_once"),
        ]

    def __str__(self) -> str:
        return f"{self.dataset_id} as {self.system}"
