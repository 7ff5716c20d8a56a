"""Conditions on the items of a queue: which of them wait for one person.

In SQL of their own. Nearly every page asks whether something is hidden from its reader, several times, and
Django takes longer to put such conditions together than a database to answer them.
"""

from typing import Any

from django.db.models import BooleanField, F, Func

from rubricweb.models import Review, User

_SUBMITTED = """EXISTS (
    SELECT 1 FROM rubricweb_review review
    WHERE review.queue_id = {queue} AND review.item_id = {item} AND review.state = 'submitted'
    AND review.rater_id IN (SELECT rater.id FROM rubricweb_rater rater WHERE rater.user_id = {viewer}))"""

# The case comes first, so that no queue is searched for each of its items: SQLite joins in the order in which
# CROSS JOIN names the tables, PostgreSQL in any. What `asked` must be is as in QueueItem.objects.for_person.
_STANDS_BESIDE = """(EXISTS (
    SELECT 1 FROM rubricweb_item this CROSS JOIN rubricweb_item other CROSS JOIN rubricweb_queueitem asked
    WHERE this.id = {item} AND other.case_id = this.case_id
    AND other.system_version_id <> this.system_version_id
    AND asked.queue_id = {queue} AND asked.item_id = other.id)
AND EXISTS (
    SELECT 1 FROM rubricweb_item this CROSS JOIN rubricweb_item answer CROSS JOIN rubricweb_queueitem asked
    WHERE this.id = {item} AND answer.case_id = this.case_id
    AND asked.queue_id = {queue} AND asked.item_id = answer.id AND NOT asked.withdrawn
    AND (asked.rater_id IS NULL
        OR asked.rater_id IN (SELECT rater.id FROM rubricweb_rater rater WHERE rater.user_id = {viewer}))
    AND {asked_unsubmitted}))"""


class _OfQueueItem(Func):
    """A condition on rows of QueueItem; `submitting` is a draft that counts as submitted."""

    output_field = BooleanField()

    def __init__(self, viewer: User, submitting: Review | None = None) -> None:
        super().__init__(F("queue_id"), F("item_id"))
        self._viewer = int(viewer.pk)
        self._submitting = None if submitting is None else (submitting.queue_id, submitting.item_id)

    def as_sql(self, compiler: Any, connection: Any, *_: Any, **__: Any) -> tuple[str, tuple[()]]:
        (queue, _), (item, _) = (compiler.compile(column) for column in self.get_source_expressions())
        return self._condition(queue, item), ()

    def _condition(self, queue: str, item: str) -> str:
        raise NotImplementedError

    def _unsubmitted(self, queue: str, item: str) -> str:
        condition = f"NOT {_SUBMITTED.format(queue=queue, item=item, viewer=self._viewer)}"
        if self._submitting is None:
            return condition
        in_queue, of_item = self._submitting
        return f"({condition} AND NOT ({queue} = {in_queue} AND {item} = {of_item}))"


class Unsubmitted(_OfQueueItem):
    """Whether this person has submitted no review of the item there."""

    def _condition(self, queue: str, item: str) -> str:
        return self._unsubmitted(queue, item)


class StandsBeside(_OfQueueItem):
    """Whether the queue has answers of several versions to the item's case, and one of them is left: this
    person is asked about it there and has submitted no review of it.
    """

    def _condition(self, queue: str, item: str) -> str:
        asked = self._unsubmitted("asked.queue_id", "asked.item_id")
        return _STANDS_BESIDE.format(queue=queue, item=item, viewer=self._viewer, asked_unsubmitted=asked)
