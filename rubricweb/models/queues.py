"""Queues: which items wait for how many people, and who those people are."""

# Long because a queue and what its raters do in it are read together.

from typing import Self

from django.conf import settings
from django.db import models

from rubricweb.models.datasets import SEALS, Dataset, Item, SystemVersion
from rubricweb.models.rubrics import Criterion, LabelDecision, LabelDecisionKind, RubricVersion
from rubricweb.models.runs import Run
from rubricweb.models.teams import Archivable, Team, User


class RaterKind(models.TextChoices):
    """Who labels: only humans are raters among people; settled labels are a file's ground truth.

    What a machine said in a file is a run of its own, see `Run.imported`: a machine has no reviews.
    """

    HUMAN = "human"
    MACHINE = "machine"
    SETTLED = "settled"


class Rater(models.Model):
    """Who labels in a team: a member, or a name that came in a file of labels.

    A person and a machine of one name are two raters.
    """

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="raters")
    name = models.CharField(max_length=120)
    kind = models.CharField(max_length=10, choices=RaterKind.choices, default=RaterKind.HUMAN)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="raters"
    )
    # A name in files that somebody said is this member: its labels are theirs, those of later files too.
    same_as = models.ForeignKey("self", on_delete=models.SET_NULL, null=True, related_name="names_in_files")
    # The ids of the reviews that became the member's, to be given back.
    moved_reviews = models.JSONField(default=list)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["team", "name", "kind"], name="rater_name_unique_in_team"),
            models.UniqueConstraint(fields=["team", "user"], name="rater_once_per_member"),
            models.CheckConstraint(condition=models.Q(kind__in=RaterKind.values), name="rater_kind_known"),
            models.CheckConstraint(
                condition=models.Q(kind="human") | models.Q(user__isnull=True),
                name="rater_member_is_human",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class QueueState(models.TextChoices):
    OPEN = "open"
    PAUSED = "paused"
    CLOSED = "closed"


class Blind(models.TextChoices):
    """Whose verdicts a person does not see on the review page until they have submitted their own."""

    BOTH = "both", "to the judge and to each other"
    JUDGE = "judge", "to the judge"
    PEERS = "peers", "to each other"
    NONE = "none", "no"
    # Nor what they said of these items themselves, in other queues: a probe asks whether they say it again.
    SELF = "self", "to the judge, to each other and to their own earlier labels"


class Order(models.TextChoices):
    """Which item is next: as in the dataset, another order for everybody, what tells most, or as drawn."""

    DATASET = "dataset", "as in the dataset"
    SHUFFLED = "shuffled", "shuffled for each person"
    INFORMATIVE = "informative", "most informative first"
    # Of random samples alone: whatever is done so far is a random sample too.
    DRAWN = "drawn", "as drawn at random"


class ReasonRule(models.TextChoices):
    """Which verdicts need a reason before a review can be submitted."""

    NEVER = "never", "none"
    UNMET = "unmet", "those that are not met"
    ALWAYS = "always", "all"


class ReviewQueue(Archivable):
    """Items of one dataset to be labelled by these raters against a rubric version or some of its criteria.

    `criteria` is empty where people are asked about all of them, `system_versions` where it is about answers
    of any version.
    """

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="queues")
    name = models.CharField(max_length=200)
    dataset = models.ForeignKey(Dataset, on_delete=models.PROTECT, related_name="queues")
    # Of which version its newest items are.
    dataset_version = models.PositiveIntegerField(default=1, db_default=1)
    # Null when every item brings its own rubric.
    rubric_version = models.ForeignKey(
        RubricVersion, on_delete=models.PROTECT, null=True, related_name="queues"
    )
    # Fixed when the queue is opened: figures of its labels would change their meaning under people's hands.
    criteria = models.ManyToManyField(Criterion, through="QueueCriterion", related_name="queues")
    # Whose answers it asks about; those of other versions never come in. Fixed when the queue is opened.
    system_versions = models.ManyToManyField(
        SystemVersion, through="QueueSystemVersion", related_name="queues"
    )
    # The half of the dataset it is over, dev or test, from beginning to end; empty for all cases.
    half = models.CharField(max_length=4, blank=True, default="", db_default="")
    # The run whose verdicts are revealed beside the person's own after they submit.
    run = models.ForeignKey(Run, on_delete=models.SET_NULL, null=True, related_name="queues")
    raters_per_item = models.PositiveIntegerField(default=1)
    blind = models.CharField(max_length=10, choices=Blind.choices, default=Blind.BOTH)
    order = models.CharField(max_length=20, choices=Order.choices, default=Order.DATASET)
    rationale = models.CharField(max_length=10, choices=ReasonRule.choices, default=ReasonRule.NEVER)
    instructions = models.TextField(blank=True)
    # How the items were chosen, for people to read: {"kind": "all"}, or the filter, run or sample in words.
    source = models.JSONField(default=dict)
    # The decision about labels under other words it was opened for: to label again, or to probe.
    label_decision = models.ForeignKey(
        LabelDecision, on_delete=models.SET_NULL, null=True, related_name="queues"
    )
    # Whether its raters may answer several items in one table.
    grid = models.BooleanField(default=False, db_default=False)
    # After so long without activity an item is offered to somebody else.
    hold_minutes = models.PositiveIntegerField(default=30)
    # An item whose raters agree on a smaller share of its criteria gets one more rater; null: never.
    extra_rater_below = models.FloatField(null=True)
    # So many gold items come first for everybody, and this share of their labels must be right to go on.
    calibration_items = models.PositiveIntegerField(default=0)
    pass_mark = models.FloatField(null=True)
    # Who has a smaller share of labels right over their last so many gold items is handed nothing more; null:
    # never.
    gold_floor = models.FloatField(null=True)
    gold_window = models.PositiveSmallIntegerField(default=10, db_default=10)
    # Every member who may review is a rater, those who join later too.
    everyone = models.BooleanField(default=False)
    # Labels that came in a file: one queue, closed from the beginning, without queue items.
    imported = models.BooleanField(default=False)
    # Labels of the past: where all labels of a unit are in such queues, nobody is asked to settle them.
    history = models.BooleanField(default=False, db_default=False)
    # SHA-256 of those labels of people in the file that were new, each with the one it came after, so that
    # they become a queue once; empty for all others, and once it has lost a rater.
    labels_digest = models.CharField(max_length=64, blank=True)
    state = models.CharField(max_length=20, choices=QueueState.choices, default=QueueState.OPEN)
    raters = models.ManyToManyField(Rater, related_name="queues")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created_at", "-id"]
        constraints = [
            models.UniqueConstraint(fields=["team", "name"], name="queue_name_unique_in_team"),
            models.UniqueConstraint(
                fields=["dataset", "labels_digest"],
                condition=~models.Q(labels_digest=""),
                name="queue_imported_once",
            ),
            models.CheckConstraint(condition=models.Q(state__in=QueueState.values), name="queue_state_known"),
            models.CheckConstraint(condition=models.Q(half__in=("", *SEALS)), name="queue_half_known"),
            models.CheckConstraint(condition=models.Q(blind__in=Blind.values), name="queue_blind_known"),
            models.CheckConstraint(condition=models.Q(order__in=Order.values), name="queue_order_known"),
            models.CheckConstraint(
                condition=models.Q(rationale__in=ReasonRule.values), name="queue_rationale_known"
            ),
            models.CheckConstraint(condition=models.Q(raters_per_item__gte=1), name="queue_needs_a_rater"),
            models.CheckConstraint(
                condition=models.Q(extra_rater_below__isnull=True)
                | models.Q(extra_rater_below__gt=0.0, extra_rater_below__lte=1.0),
                name="queue_extra_rater_below_a_share",
            ),
            models.CheckConstraint(
                condition=models.Q(pass_mark__isnull=True) | models.Q(pass_mark__gt=0.0, pass_mark__lte=1.0),
                name="queue_pass_mark_is_a_share",
            ),
            models.CheckConstraint(
                condition=models.Q(gold_floor__isnull=True)
                | models.Q(gold_floor__gt=0.0, gold_floor__lte=1.0),
                name="queue_gold_floor_is_a_share",
            ),
            models.CheckConstraint(
                condition=models.Q(gold_window__gte=1), name="queue_gold_window_has_items"
            ),
            models.UniqueConstraint(
                fields=["label_decision", "dataset"],
                condition=models.Q(label_decision__isnull=False),
                name="queue_once_for_a_decision",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_probe(self) -> bool:
        """Whether it was opened to probe labels under other words: each item is for one rater."""
        return self.label_decision is not None and self.label_decision.kind == LabelDecisionKind.PROBE

    def people_missing(self) -> int:
        """How many people more an item is for than the queue has; 0 once it is closed. One query."""
        if self.state == QueueState.CLOSED:
            return 0
        return max(0, self.raters_per_item - self.raters.count())

    def criteria_asked(self, own_version_id: int | None = None) -> models.QuerySet[Criterion]:
        """The criteria of an item in this queue, of its own rubric where it brings one. One query.

        Else those of the queue's rubric version: all with its checks, or only those the queue is limited to.
        """
        if own_version_id is not None:
            return Criterion.objects.filter(version=own_version_id)
        chosen = QueueCriterion.objects.filter(queue=self)
        is_chosen = models.Exists(chosen.filter(criterion=models.OuterRef("pk")))
        return Criterion.objects.filter(~models.Exists(chosen) | is_chosen, version=self.rubric_version_id)


class QueueCriterion(models.Model):
    """One criterion a queue is limited to. Checks are none: they are computed, and nobody is asked."""

    queue = models.ForeignKey(ReviewQueue, on_delete=models.CASCADE, related_name="queue_criteria")
    criterion = models.ForeignKey(Criterion, on_delete=models.PROTECT, related_name="queue_criteria")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["queue", "criterion"], name="queue_criterion_once"),
        ]

    def __str__(self) -> str:
        return f"{self.criterion_id} in {self.queue_id}"


class QueueSystemVersion(models.Model):
    """One system version a queue is limited to."""

    queue = models.ForeignKey(ReviewQueue, on_delete=models.CASCADE, related_name="queue_system_versions")
    system_version = models.ForeignKey(
        SystemVersion, on_delete=models.PROTECT, related_name="queue_system_versions"
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["queue", "system_version"], name="queue_system_version_once"),
        ]

    def __str__(self) -> str:
        return f"{self.system_version_id} in {self.queue_id}"


class QueueItemQuerySet(models.QuerySet["QueueItem"]):
    def for_person(self, person: User) -> Self:
        """Those that are neither kept for another rater nor withdrawn."""
        return self.filter(models.Q(rater=None) | models.Q(rater__user=person), withdrawn=False)


class QueueItem(models.Model):
    """One item in a queue, and the places there are for raters.

    `room` is how many more people may take it: `wanted` less the reviews that hold a place (see
    Review.holds_place). It is taken by a conditional UPDATE, so never more than `wanted` people have it. Gold
    items are handed to everybody: `wanted` is the number of raters there.
    """

    queue = models.ForeignKey(ReviewQueue, on_delete=models.CASCADE, related_name="queue_items")
    item = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="queue_items")
    position = models.PositiveIntegerField()
    # Higher is more informative; see services.reviews.queue_items.
    priority = models.FloatField(default=0.0)
    # At random from 0 to 2³¹ − 1; where in the round of these a person begins depends on the person.
    shuffle = models.PositiveIntegerField(default=0)
    wanted = models.PositiveSmallIntegerField()
    room = models.PositiveSmallIntegerField()
    gold = models.BooleanField(default=False)
    # The one rater who may take it, in a probe whoever gave the earlier label; null: any rater of the queue.
    rater = models.ForeignKey(Rater, on_delete=models.SET_NULL, null=True, related_name="queue_items")
    # Whether its raters disagreed so much that one more was asked for.
    extra = models.BooleanField(default=False)
    # Its item was retired: nobody is asked any more, `wanted` are the reviews that were submitted.
    withdrawn = models.BooleanField(default=False, db_default=False)

    objects = QueueItemQuerySet.as_manager()

    class Meta:
        ordering = ["queue_id", "position"]
        constraints = [
            models.UniqueConstraint(fields=["queue", "item"], name="queue_item_once"),
            models.UniqueConstraint(fields=["queue", "position"], name="queue_item_position_once"),
            models.CheckConstraint(
                condition=models.Q(room__gte=0, room__lte=models.F("wanted")),
                name="queue_item_room",
            ),
            models.CheckConstraint(
                condition=models.Q(withdrawn=False) | models.Q(room=0), name="queue_item_withdrawn_no_room"
            ),
        ]
        # Each finds the next item of one order without reading the others.
        indexes = [
            models.Index(
                fields=["queue", "position"], condition=models.Q(room__gt=0), name="queue_item_next"
            ),
            models.Index(
                fields=["queue", "shuffle"], condition=models.Q(room__gt=0), name="queue_item_shuffled"
            ),
            models.Index(
                fields=["queue", "-priority", "position"],
                condition=models.Q(room__gt=0),
                name="queue_item_informative",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.item_id} in {self.queue_id}"


class Draw(models.Model):
    """Items drawn at random for a queue, recorded whole: from which items of its dataset, with which seed."""

    queue = models.ForeignKey(ReviewQueue, on_delete=models.CASCADE, related_name="draws")
    seed = models.PositiveIntegerField()
    # How many items the dataset had then; null for draws of earlier releases that did not say.
    dataset_size = models.PositiveIntegerField(null=True)
    drawn_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["queue_id", "pk"]

    def __str__(self) -> str:
        return f"draw {self.pk} of {self.queue_id}"


class Stratum(models.Model):
    """Items of which a draw took so many, each with the same probability; all of them without strata.

    `items` holds the ids of all `size` items: first the `drawn` ones in the order in which they were drawn,
    then those that were not. One row for each item would be a hundred times the work at a draw of 200 of
    100,000, and nothing asks for one of them alone.
    """

    draw = models.ForeignKey(Draw, on_delete=models.CASCADE, related_name="strata")
    # The metadata's value, or the verdict, its items share; "" where there are no strata.
    value = models.TextField(blank=True)
    size = models.PositiveIntegerField()
    drawn = models.PositiveIntegerField()
    items = models.JSONField()

    class Meta:
        ordering = ["draw_id", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["draw", "value"], name="stratum_once_in_draw"),
            models.CheckConstraint(
                condition=models.Q(drawn__gte=1, drawn__lte=models.F("size")),
                name="stratum_drawn_within_size",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.drawn} of {self.size}"


class Calibration(models.Model):
    """How one rater did on a queue's gold items before going on, and who let them go on."""

    queue = models.ForeignKey(ReviewQueue, on_delete=models.CASCADE, related_name="calibrations")
    rater = models.ForeignKey(Rater, on_delete=models.CASCADE, related_name="calibrations")
    # Labels like the gold ones, of how many.
    right = models.PositiveIntegerField(default=0)
    total = models.PositiveIntegerField(default=0)
    passed = models.BooleanField(default=False)
    # An editor who let somebody on below the mark.
    passed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    decided_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["queue", "rater"], name="calibration_once"),
            models.CheckConstraint(
                condition=models.Q(right__lte=models.F("total")), name="calibration_right_within_total"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.rater_id} in {self.queue_id}: {self.right} of {self.total}"


class GoldPause(models.Model):
    """A rater who is handed nothing more: too few labels of their last gold items were right.

    It ends when an editor lets them go on; gold items of before count no more from then on.
    """

    queue = models.ForeignKey(ReviewQueue, on_delete=models.CASCADE, related_name="gold_pauses")
    rater = models.ForeignKey(Rater, on_delete=models.CASCADE, related_name="gold_pauses")
    # Labels like the gold ones, of how many, over the last gold items.
    right = models.PositiveIntegerField()
    total = models.PositiveIntegerField()
    paused_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    ended_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["queue", "rater"], condition=models.Q(ended_at=None), name="gold_pause_once_at_a_time"
            ),
            models.CheckConstraint(
                condition=models.Q(right__lte=models.F("total")), name="gold_pause_right_within_total"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.rater_id} in {self.queue_id}: {self.right} of {self.total}"


class ReviewState(models.TextChoices):
    DRAFT = "draft"
    SUBMITTED = "submitted"
    SKIPPED = "skipped"


class Review(models.Model):
    """One rater's work on one item of one queue; its verdicts are judgements.

    `holds_place`: it counts towards the item's raters, and the queue item has so much less room. A submitted
    review always does, a skipped one never, a draft until `held_until`; after that somebody else may have
    the place, and the draft stays.
    """

    queue = models.ForeignKey(ReviewQueue, on_delete=models.CASCADE, related_name="reviews")
    item = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="reviews")
    rater = models.ForeignKey(Rater, on_delete=models.PROTECT, related_name="reviews")
    state = models.CharField(max_length=20, choices=ReviewState.choices, default=ReviewState.DRAFT)
    note = models.TextField(blank=True)
    # Why its rater skipped it last; it stays when they take the item up again.
    skip_reason = models.TextField(blank=True)
    flagged = models.BooleanField(default=False)
    holds_place = models.BooleanField(default=True)
    held_until = models.DateTimeField(null=True)
    # Seconds the page was in front of its reader, as the browser says; null when it did not.
    seconds = models.FloatField(null=True)
    started_at = models.DateTimeField(auto_now_add=True)
    # Its sheet is or was before its rater: it is not merely taken ahead, and nobody gives it back unseen.
    opened = models.BooleanField(default=False)
    submitted_at = models.DateTimeField(null=True)
    # It came in a file of labels and was not given here.
    imported = models.BooleanField(default=False)

    class Meta:
        ordering = ["queue_id", "item_id", "rater_id"]
        constraints = [
            models.UniqueConstraint(fields=["queue", "item", "rater"], name="review_once_per_rater"),
            models.CheckConstraint(
                condition=models.Q(state__in=ReviewState.values), name="review_state_known"
            ),
            models.CheckConstraint(
                condition=~models.Q(state="submitted") | models.Q(submitted_at__isnull=False),
                name="review_submitted_has_a_time",
            ),
            models.CheckConstraint(
                condition=models.Q(state="draft")
                | models.Q(state="submitted", holds_place=True)
                | models.Q(state="skipped", holds_place=False),
                name="review_place_follows_state",
            ),
        ]
        indexes = [
            # Places that are to be given back.
            models.Index(
                fields=["held_until"],
                condition=models.Q(state="draft", holds_place=True),
                name="review_held_until",
            ),
            # What one person has done in a queue.
            models.Index(fields=["queue", "rater", "state"], name="review_queue_rater_state"),
        ]

    def __str__(self) -> str:
        return f"{self.rater} on {self.item_id}"


class ReviewReturn(models.Model):
    """A submitted review that its rater was asked to look at again, with a note; it stays submitted.

    `answered_at` is when they sent it again. What they changed meanwhile are revisions: the labels they gave
    first, blind, stay in the judgements.
    """

    review = models.ForeignKey(Review, on_delete=models.CASCADE, related_name="returns")
    note = models.TextField()
    sent_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    sent_at = models.DateTimeField()
    answered_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-sent_at", "-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["review"], condition=models.Q(answered_at=None), name="review_return_once_at_a_time"
            ),
            models.CheckConstraint(condition=~models.Q(note=""), name="review_return_has_a_note"),
        ]

    def __str__(self) -> str:
        return f"{self.review_id} sent back"
