"""Conditions on items: which of them wait for one person, and which stand beside one that does.

In SQL of their own. Nearly every page asks whether something is hidden from its reader, several times, and
Django takes longer to put such conditions together than a database to answer them.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.db.models import (
    BigIntegerField,
    BooleanField,
    Case,
    Exists,
    F,
    Func,
    Max,
    Min,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    When,
)

from rubricweb.models import (
    ChangeKind,
    DatasetChange,
    Item,
    QueueItem,
    Review,
    ReviewQueue,
    Team,
    User,
)

_SUBMITTED = """EXISTS (
    SELECT 1 FROM rubricweb_review review
    WHERE review.queue_id = {queue} AND review.item_id = {item} AND review.state = 'submitted'
    AND review.rater_id IN (SELECT rater.id FROM rubricweb_rater rater WHERE rater.user_id = {viewer}))"""

# The case comes first, so that no queue is searched for each of its items: SQLite joins in the order in which
# CROSS JOIN names the tables, PostgreSQL in any. What `asked` must be is as in QueueItem.objects.for_person.
_BESIDE = """EXISTS (
    SELECT 1 FROM rubricweb_item this CROSS JOIN rubricweb_item other {twin}
    CROSS JOIN rubricweb_queueitem asked
    WHERE this.id = {item} AND other.case_id = this.case_id
    AND other.id <> this.id {same_words}
    AND asked.item_id = {of}.id AND asked.queue_id IN ({queues}) AND NOT asked.withdrawn
    AND (asked.rater_id IS NULL
        OR asked.rater_id IN (SELECT rater.id FROM rubricweb_rater rater WHERE rater.user_id = {viewer}))
    AND {asked_unsubmitted}
    AND (NOT EXISTS (SELECT 1 FROM rubricweb_queuesystemversion about WHERE about.queue_id = asked.queue_id)
        OR EXISTS (SELECT 1 FROM rubricweb_queuesystemversion about
            WHERE about.queue_id = asked.queue_id AND about.system_version_id = this.system_version_id)))"""
_ITSELF = {"of": "other", "twin": "", "same_words": ""}
_SAME_WORDS = {
    "of": "twin",
    "twin": "CROSS JOIN rubricweb_item twin",
    "same_words": "AND twin.content_hash = other.content_hash AND other.content_hash <> ''",
}


class Unsubmitted(Func):
    """A condition on rows of QueueItem: whether this person has submitted no review of the item there;
    `submitting` is a draft that counts as submitted.
    """

    output_field = BooleanField()

    def __init__(self, viewer: User, submitting: Review | None = None) -> None:
        super().__init__(F("queue_id"), F("item_id"))
        self._viewer = int(viewer.pk)
        self._submitting = None if submitting is None else (submitting.queue_id, submitting.item_id)

    def as_sql(self, compiler: Any, connection: Any, *_: Any, **__: Any) -> tuple[str, tuple[()]]:
        (queue, _), (item, _) = (compiler.compile(column) for column in self.get_source_expressions())
        return self.condition(queue, item), ()

    def condition(self, queue: str, item: str) -> str:
        """The same of any columns with the ids of a queue and an item."""
        condition = f"NOT {_SUBMITTED.format(queue=queue, item=item, viewer=self._viewer)}"
        if self._submitting is None:
            return condition
        in_queue, of_item = self._submitting
        return f"({condition} AND NOT ({queue} = {in_queue} AND {item} = {of_item}))"


class BesideUnsubmitted(Func):
    """A condition on rows of Item: whether one of these queues asks this person about another answer to its
    case, or about the same words as that answer, and they have submitted no review of it.

    Only items of versions the queue is about stand beside another; other attempts of one version do too.
    """

    output_field = BooleanField()

    def __init__(
        self, viewer: User, queue_ids: Collection[int], submitting: Review | None = None, item: str = "pk"
    ) -> None:
        super().__init__(F(item))
        self._asked = Unsubmitted(viewer, submitting)
        self._viewer, self._queues = int(viewer.pk), ", ".join(str(int(pk)) for pk in queue_ids)

    def as_sql(self, compiler: Any, connection: Any, *_: Any, **__: Any) -> tuple[str, tuple[()]]:
        item, _ = compiler.compile(self.get_source_expressions()[0])
        asked = self._asked.condition("asked.queue_id", "asked.item_id")
        known = {"item": item, "queues": self._queues, "viewer": self._viewer, "asked_unsubmitted": asked}
        either = " OR ".join(_BESIDE.format(**known, **way) for way in (_ITSELF, _SAME_WORDS))
        return f"({either})", ()


class Asking(NamedTuple):
    """A queue; whether it asks about answers of several system versions, and its dataset has items that were
    corrected.
    """

    queue_id: int
    dataset_id: int
    several_versions: bool
    corrected: bool


def asking_of(queues: QuerySet[ReviewQueue]) -> list[Asking]:
    """What must be known of each of these queues. One query."""
    answers = Item.objects.filter(dataset=OuterRef("dataset")).values("system_version")
    first = Subquery(answers.order_by("system_version", "position")[:1])
    last = Subquery(answers.order_by("-system_version", "-position")[:1])
    # Only where the dataset has several the queue itself is read.
    asked = QueueItem.objects.filter(queue=OuterRef("pk")).order_by().values("queue")
    lowest, highest = (
        Case(
            When(first_version__lt=F("last_version"), then=Subquery(asked.annotate(v=end).values("v"))),
            output_field=BigIntegerField(),
        )
        for end in (Min("item__system_version"), Max("item__system_version"))
    )
    corrections = DatasetChange.objects.filter(dataset=OuterRef("dataset"), kind=ChangeKind.CORRECT)
    rows = queues.order_by().annotate(first_version=first, last_version=last)
    rows = rows.annotate(lowest=lowest, highest=highest, corrected=Exists(corrections))
    found = rows.values_list("pk", "dataset_id", "lowest", "highest", "corrected")
    return [Asking(pk, dataset, low != high, corrected) for pk, dataset, low, high, corrected in found]


@dataclass(frozen=True)
class Waiting:
    """Items that hide what is said of them: left for a person in some queues, or `beside` one that is, which
    can only be where a queue is about answers of several versions; None where none is.
    """

    team: Team
    queue_ids: tuple[int, ...]
    left: QuerySet[QueueItem]
    left_of_several: QuerySet[QueueItem]
    beside: BesideUnsubmitted | None

    @classmethod
    def of(
        cls, viewer: User, team: Team, asking: Sequence[Asking], submitting: Review | None = None
    ) -> "Waiting":
        several = tuple(one.queue_id for one in asking if one.several_versions)
        left = QueueItem.objects.for_person(viewer).filter(Q(Unsubmitted(viewer, submitting))).order_by()
        return cls(
            team,
            several,
            left.filter(queue__in=[one.queue_id for one in asking]),
            left.filter(queue__in=several),
            BesideUnsubmitted(viewer, several, submitting) if several else None,
        )

    @property
    def one(self) -> Q:
        """The condition on items that they wait, for few of them: each is looked up."""
        itself = Q(Exists(self.left.filter(item=OuterRef("pk"))))
        return itself if self.beside is None else itself | Q(self.beside)

    @property
    def among_all(self) -> Q:
        """The same for all items of the team: the queues are read once."""
        condition = Q(pk__in=self.left.values("item"))
        if self.beside is not None:
            condition |= Q(case__in=self.cases(Item.objects.filter(dataset__team=self.team))) & Q(self.beside)
        return condition

    def cases(self, among: QuerySet[Item]) -> QuerySet[Item, Any]:
        """The cases of those that are left, or say the same, in a queue about several versions."""
        words = self.left_of_several.exclude(item__content_hash="").values("item__content_hash")
        is_left = Q(pk__in=self.left_of_several.values("item")) | Q(content_hash__in=words)
        return among.filter(is_left).order_by().values("case")

    @property
    def items(self) -> QuerySet[Item]:
        """All of them."""
        return Item.objects.filter(self.among_all, dataset__team=self.team).order_by()

    @property
    def words(self) -> QuerySet[Any, Any]:
        """What they say."""
        if self.beside is None:
            return self.left.exclude(item__content_hash="").values("item__content_hash")
        return self.items.exclude(content_hash="").values("content_hash")
