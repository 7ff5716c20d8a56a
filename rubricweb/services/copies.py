"""Copies of items in another dataset with what was said of them: halves of splits, and combined datasets."""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Model, QuerySet

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
from rubricweb.services.shared import bulk_rows
from rubricweb.services.shared.names import saved_unless_taken

AT_ONCE = 500

Copies = Mapping[int, Item]
"""Item id → its copy."""

_Said = dict[tuple[int, int], list[Judgement]]
"""(item, rater) → their labels, the last one last."""


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
    return rows.filter(is_settled if settled else ~is_settled, verdict__isnull=False).in_order_given()


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
    """Submitted reviews of the copies, by people or as a file settled them, with revisions, notes and flags,
    at the times they were given.

    `queue_for` gives the queue for labels by a rubric version; asked only where there are some. Of a rater in
    several queues of a version the last label is taken. What came in a file by a rater who labelled the same
    item here as well goes to a queue beside it: a review is either.
    """
    by_version: dict[RubricVersion | None, _Said] = defaultdict(lambda: defaultdict(list))
    ids = list(copies)
    for start in range(0, len(ids), AT_ONCE):
        rows = label_rows(queues, settled=settled).filter(item__in=ids[start : start + AT_ONCE])
        for row in rows.select_related("review__queue__rubric_version", "revision"):
            assert row.review is not None, "asked for"
            by_version[row.review.queue.rubric_version][row.item_id, row.review.rater_id].append(row)
    pairs: list[tuple[Judgement, Review]] = []
    for version, said in by_version.items():
        queue = queue_for(version)
        here, beside = _parted(said)
        pairs += _copy_reviews(queue, here, copies, noted=_without(said, beside))
        if beside:
            pairs += _copy_reviews(_queue_beside(queue), beside, copies, noted=beside)
    # In the order they were given: of labels given to several versions the last counts for the next one.
    pairs.sort(key=lambda pair: (pair[1].submitted_at, pair[0].pk))
    copied = [
        Judgement(
            review=review,
            item_id=review.item_id,
            criterion_id=answer.criterion_id,
            verdict=answer.verdict,
            reason=answer.reason,
            evidence=answer.evidence,
            created_at=answer.created_at,
        )
        for answer, review in pairs
    ]
    _insert(copied)
    _copy_revisions([answer for answer, _ in pairs], copied)


def _parted(said: _Said) -> tuple[_Said, _Said]:
    """The last label of each rater on each criterion; apart those from files of who labelled the item here
    too.
    """
    here: _Said = {}
    beside: _Said = {}
    for unit, rows in said.items():
        kept = {row.criterion_id: row for row in rows}.values()
        given = [row for row in kept if not _came_in_a_file(row)]
        filed = [row for row in kept if _came_in_a_file(row)]
        here[unit] = given or filed
        if given and filed:
            beside[unit] = filed
    return here, beside


def _without(said: _Said, beside: _Said) -> _Said:
    return {unit: [row for row in rows if row not in beside.get(unit, ())] for unit, rows in said.items()}


def _came_in_a_file(answer: Judgement) -> bool:
    return answer.review is not None and answer.review.imported


def _queue_beside(queue: ReviewQueue) -> ReviewQueue:
    """The queue for labels from files, where `queue` has others; the batch before may have made it."""
    name = f"{queue.name[:180]}, from files"
    there = ReviewQueue.objects.filter(dataset=queue.dataset, name=name).first()
    if there is not None:
        return there
    taken = f"The team already has a queue called {name!r}; labels from files need that name."
    with saved_unless_taken(taken):
        return label_queue(queue.dataset, queue.rubric_version, name, by=queue.created_by)


def _copy_reviews(
    queue: ReviewQueue, said: _Said, copies: Copies, *, noted: _Said
) -> list[tuple[Judgement, Review]]:
    """A review for each rater of each item; each label with the review its copy belongs to. Notes and flags
    are those of all labels in `noted`, of earlier ones too.
    """
    queue.raters.add(*{rater_id for _, rater_id in said})
    ReviewQueue.objects.filter(pk=queue.pk).update(raters_per_item=queue.raters.count())
    reviews: list[Review] = []
    pairs: list[tuple[Judgement, Review]] = []
    for (item_id, rater_id), answers in said.items():
        given, all_given = _reviews_of(answers), _reviews_of(noted[item_id, rater_id])
        review = Review(
            queue=queue,
            item=copies[item_id],
            rater_id=rater_id,
            state=ReviewState.SUBMITTED.value,
            note="\n\n".join(dict.fromkeys(one.note for one in all_given if one.note)),
            flagged=any(one.flagged for one in all_given),
            started_at=min(one.started_at for one in given),
            submitted_at=max(one.submitted_at for one in given if one.submitted_at),
            imported=all(one.imported for one in given),
        )
        reviews.append(review)
        pairs += [(answer, review) for answer in answers]
    _insert(reviews)
    return pairs


def _reviews_of(answers: Sequence[Judgement]) -> list[Review]:
    return list({one.pk: one for one in (answer.review for answer in answers) if one}.values())


def _copy_revisions(given: Sequence[Judgement], copied: Sequence[Judgement]) -> None:
    """What people said after the reveal: ground truth counts it in a copy as well."""
    both = zip(given, copied, strict=True)
    pairs = [(one.revision, copy) for one, copy in both if hasattr(one, "revision")]
    _insert(
        [
            Revision(
                judgement=copy,
                choice=revision.choice,
                verdict=revision.verdict,
                reason=revision.reason,
                run_id=revision.run_id,
                judge_verdict=revision.judge_verdict,
                revised_at=revision.revised_at,
            )
            for revision, copy in pairs
        ]
    )


def copy_adjudications(copies: Copies, *, only: Collection[int] | None = None) -> None:
    """What was decided of the originals, when it was; `only` these decisions, by id, if given."""
    ids = list(copies)
    for start in range(0, len(ids), AT_ONCE):
        decided = Adjudication.objects.undeleted().filter(item__in=ids[start : start + AT_ONCE])
        _insert(
            [
                Adjudication(
                    item=copies[one.item_id],
                    criterion_id=one.criterion_id,
                    verdict=one.verdict,
                    cause=one.cause,
                    reason=one.reason,
                    labels=one.labels,
                    # Queues stay with the originals.
                    replaced=[earlier | {"queue": None} for earlier in one.replaced],
                    decided_by_id=one.decided_by_id,
                    decided_at=one.decided_at,
                )
                for one in decided.order_by("decided_at", "pk")
                if only is None or one.pk in only
            ]
        )


def _insert(rows: Sequence[Model]) -> None:
    """New rows with the times they have: `bulk_create` would put the present in their place."""
    if not rows:
        return
    model = type(rows[0])
    for row, pk in zip(rows, bulk_rows.reserve_ids(model, len(rows)), strict=True):
        row.pk = pk
    columns = tuple(field.attname for field in model._meta.concrete_fields)
    for start in range(0, len(rows), AT_ONCE):
        some = rows[start : start + AT_ONCE]
        bulk_rows.insert(model, columns, [[getattr(row, name) for name in columns] for row in some])


def imported_grades(run: Run, copies: Copies) -> list[Grade]:
    """What a machine said of the copies in a file."""
    ids, grades = list(copies), []
    for start in range(0, len(ids), AT_ONCE):
        judgements = Judgement.objects.filter(run=run, item__in=ids[start : start + AT_ONCE])
        grades += [
            (copies[one.item_id], one.criterion, str(one.verdict), one.reason)
            for one in judgements.select_related("criterion").order_by("pk")
        ]
    return grades
