"""Copies of items in another dataset with what was said of them: halves of splits, and combined datasets."""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from django.db.models import QuerySet

from rubricweb.models import (
    Adjudication,
    Blind,
    Dataset,
    Item,
    Judgement,
    QueueState,
    RaterKind,
    Review,
    ReviewQueue,
    ReviewState,
    Revision,
    RubricVersion,
    Run,
    User,
    in_reviews,
)
from rubricweb.services.imported_runs import Grade

AT_ONCE = 500

Copies = Mapping[int, Item]
"""Item id → its copy."""

_Said = dict[tuple[int, int], dict[int, Judgement]]
"""(item, rater) → criterion → the label."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where the copy of an item stands."""

    case_id: int
    wording: int
    system_version_id: int
    attempt: int
    key: str
    position: int


def copy_items(placed: Sequence[tuple[Item, Place]], into: Dataset) -> dict[int, Item]:
    """Each item as a new one of the dataset, current, with its words as they are."""
    made = [
        Item(
            dataset=into,
            case_id=place.case_id,
            wording=place.wording,
            system_version_id=place.system_version_id,
            attempt=place.attempt,
            key=place.key,
            position=place.position,
            submission=item.submission,
            thinking=item.thinking,
            prompt=item.prompt,
            reference=item.reference,
            description=item.description,
            metadata=item.metadata,
            content_hash=item.content_hash,
            rubric_version_id=item.rubric_version_id,
        )
        for item, place in placed
    ]
    stored = Item.objects.bulk_create(made, batch_size=AT_ONCE)
    return {item.pk: copy for (item, _), copy in zip(placed, stored, strict=True)}


def label_rows(queues: Collection[ReviewQueue], *, settled: bool) -> QuerySet[Judgement]:
    """What people said in these queues and submitted, or what a file settled, in the order it was given."""
    is_settled = in_reviews(rater__kind=RaterKind.SETTLED)
    rows = Judgement.objects.in_reviews(queue__in=queues)
    return rows.filter(is_settled if settled else ~is_settled, verdict__isnull=False).order_by("pk")


def label_queue(into: Dataset, version: RubricVersion | None, name: str, *, by: User | None) -> ReviewQueue:
    """A closed queue for copied labels."""
    return ReviewQueue.objects.create(
        team=into.team,
        name=name,
        dataset=into,
        dataset_version=into.version,
        rubric_version=version,
        raters_per_item=1,
        blind=Blind.NONE,
        imported=True,
        state=QueueState.CLOSED,
        created_by=by,
    )


def copy_labels(
    queues: Collection[ReviewQueue],
    copies: Copies,
    queue_for: Callable[[RubricVersion | None], ReviewQueue],
    *,
    settled: bool,
) -> None:
    """Submitted reviews of the copies, by people or as a file settled them, with revisions.

    `queue_for` gives the queue for labels by a rubric version; asked only where there are some. Of a rater in
    several queues of a version the last label is taken.
    """
    by_version: dict[RubricVersion | None, _Said] = defaultdict(lambda: defaultdict(dict))
    ids = list(copies)
    for start in range(0, len(ids), AT_ONCE):
        rows = label_rows(queues, settled=settled).filter(item__in=ids[start : start + AT_ONCE])
        for row in rows.select_related("review__queue__rubric_version", "revision"):
            assert row.review is not None, "asked for"
            said = by_version[row.review.queue.rubric_version]
            said[row.item_id, row.review.rater_id][row.criterion_id] = row
    pairs: list[tuple[Judgement, Review]] = []
    for version, said in by_version.items():
        queue = queue_for(version)
        queue.raters.add(*{rater_id for _, rater_id in said})
        ReviewQueue.objects.filter(pk=queue.pk).update(raters_per_item=queue.raters.count())
        reviews = _copied_reviews(queue, said, copies)
        for review, answers in zip(reviews, said.values(), strict=True):
            pairs += [(answer, review) for answer in answers.values()]
    # In their order: of labels given to several versions the newest counts for the next one.
    pairs.sort(key=lambda pair: pair[0].pk)
    copied = Judgement.objects.bulk_create(
        [
            Judgement(
                review=review,
                item_id=review.item_id,
                criterion_id=answer.criterion_id,
                verdict=answer.verdict,
                reason=answer.reason,
                evidence=answer.evidence,
            )
            for answer, review in pairs
        ],
        batch_size=AT_ONCE,
    )
    _copy_revisions([answer for answer, _ in pairs], copied)


def _copied_reviews(queue: ReviewQueue, said: _Said, copies: Copies) -> list[Review]:
    return Review.objects.bulk_create(
        [
            Review(
                queue=queue,
                item=copies[item_id],
                rater_id=rater_id,
                state=ReviewState.SUBMITTED,
                submitted_at=queue.created_at,
                imported=all(_came_in_a_file(one) for one in answers.values()),
            )
            for (item_id, rater_id), answers in said.items()
        ],
        batch_size=AT_ONCE,
    )


def _came_in_a_file(answer: Judgement) -> bool:
    return answer.review is not None and answer.review.imported


def _copy_revisions(given: Sequence[Judgement], copied: Sequence[Judgement]) -> None:
    """What people said after the reveal: ground truth counts it in a copy as well."""
    both = zip(given, copied, strict=True)
    pairs = [(one.revision, copy) for one, copy in both if hasattr(one, "revision")]
    Revision.objects.bulk_create(
        [
            Revision(
                judgement=copy,
                choice=revision.choice,
                verdict=revision.verdict,
                reason=revision.reason,
                run_id=revision.run_id,
                judge_verdict=revision.judge_verdict,
            )
            for revision, copy in pairs
        ],
        batch_size=AT_ONCE,
    )


def copy_adjudications(copies: Copies) -> None:
    """What was decided of the originals."""
    ids = list(copies)
    for start in range(0, len(ids), AT_ONCE):
        decided = Adjudication.objects.filter(item__in=ids[start : start + AT_ONCE])
        Adjudication.objects.bulk_create(
            [
                Adjudication(
                    item=copies[one.item_id],
                    criterion_id=one.criterion_id,
                    verdict=one.verdict,
                    cause=one.cause,
                    reason=one.reason,
                    labels=one.labels,
                    decided_by_id=one.decided_by_id,
                )
                for one in decided.order_by("decided_at", "pk")
            ],
            batch_size=AT_ONCE,
        )


def imported_grades(run: Run, copies: Copies) -> list[Grade]:
    """What a machine said of the copies in a file."""
    ids, grades = list(copies), []
    for start in range(0, len(ids), AT_ONCE):
        said = Judgement.objects.filter(run=run, item__in=ids[start : start + AT_ONCE])
        grades += [
            (copies[one.item_id], one.criterion, str(one.verdict), one.reason)
            for one in said.select_related("criterion").order_by("pk")
        ]
    return grades
