"""Grades of a machine that came in a file, kept as a finished run of a judge that nobody asks."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from rubricweb import engine
from rubricweb.engine.number_format import counted
from rubricweb.engine.scoring import length_penalty, passed, penalised, score_labels
from rubricweb.engine.scoring.outcomes import label_outcome
from rubricweb.models import (
    IMPORTED,
    Criterion,
    Dataset,
    Item,
    Judgement,
    JudgeSnapshot,
    Rater,
    Review,
    ReviewQueue,
    Revision,
    RevisionChoice,
    RubricVersion,
    Run,
    RunEvent,
    RunItem,
    RunState,
    User,
)
from rubricweb.services.shared import bulk_rows
from rubricweb.services.shared.run_summaries import summarise

Grade = tuple[Item, Criterion, str, str]
"""What the machine said: item, criterion, label, reason."""

ITEMS_AT_ONCE = 2_000

_JUDGEMENT = (
    "run_id",
    "item_id",
    "criterion_id",
    "judge",
    "repeat",
    "verdict",
    "reason",
    "error_message",
    "created_at",
)
_RUN_ITEM = (
    "run_id",
    "item_id",
    "rubric_version_id",
    "leased_by",
    "graded_at",
    "score",
    "raw_score",
    "llm_raw_score",
    "coverage",
    "passed",
    "length_penalty",
    "errors",
    "reason",
    "error_message",
)


def store(
    dataset: Dataset,
    rubric_version: RubricVersion | None,
    rater: Rater,
    grades: Sequence[Grade],
    *,
    by: User | None,
    source: str,
    labels_digest: str = "",
) -> Run:
    """A run with these grades, over the items they are on. Call it in a transaction."""
    run = begin(dataset, rubric_version, rater, by=by, source=source, labels_digest=labels_digest)
    add(run, rater, grades)
    finish(run, by=by, source=source)
    return run


def add(run: Run, rater: Rater, grades: Sequence[Grade]) -> None:
    """These grades, to a run that was begun and is not finished."""
    bulk_rows.insert(
        Judgement,
        _JUDGEMENT,
        [
            (run.pk, item.pk, criterion.pk, rater.name, 0, label, reason, "", run.created_at)
            for item, criterion, label, reason in grades
        ],
    )


def from_reviews(rater: Rater, *, by: User | None) -> list[Run]:
    """The rater's labels as one run for each dataset and rubric version, for a file that grew is spread over
    several queues. Of labels on one unit the newest is kept; the reviews are gone. Call it in a transaction.
    """
    together: dict[tuple[int, int | None], list[ReviewQueue]] = defaultdict(list)
    for queue in ReviewQueue.objects.filter(reviews__rater=rater).distinct().order_by("pk"):
        together[queue.dataset_id, queue.rubric_version_id].append(queue)
    return [_from_queues(rater, queues, by=by) for queues in together.values()]


def _from_queues(rater: Rater, queues: Sequence[ReviewQueue], *, by: User | None) -> Run:
    source = " and ".join(queue.name for queue in queues)
    run = begin(queues[0].dataset, queues[0].rubric_version, rater, by=by, source=source)
    given = Judgement.objects.in_reviews(queue__in=queues, rater=rater)
    newer = given.filter(item=OuterRef("item"), criterion=OuterRef("criterion"), pk__gt=OuterRef("pk"))
    given.filter(Exists(newer)).delete()
    given.update(run=run, review=None, judge=rater.name)
    swap_first_and_last(run, of_a_person=False)
    Review.objects.filter(queue__in=queues, rater=rater).delete()
    for queue in queues:
        queue.raters.remove(rater)
        if queue.raters.exists():
            # It does not hold all labels of its file any more.
            ReviewQueue.objects.filter(pk=queue.pk).update(labels_digest="")
        else:
            queue.delete()
    finish(run, by=by, source=source)
    return run


def swap_first_and_last(run: Run, *, of_a_person: bool) -> None:
    """Of a machine what it said last counts: that becomes the verdict, and the revision keeps the first one,
    for a rater who is a person after all. `of_a_person` says which way round it is to be.
    """
    revisions = list(Revision.objects.filter(judgement__run=run).select_related("judgement"))
    for one in revisions:
        judgement = one.judgement
        one.verdict, judgement.verdict = str(judgement.verdict), one.verdict
        one.reason, judgement.reason = judgement.reason, one.reason
        # A change needs a reason, which a first verdict may lack.
        changed = of_a_person and one.verdict != judgement.verdict
        one.choice = RevisionChoice.CHANGE if changed else RevisionChoice.KEEP
    Judgement.objects.bulk_update([one.judgement for one in revisions], ["verdict", "reason"], batch_size=500)
    Revision.objects.bulk_update(revisions, ["verdict", "reason", "choice"], batch_size=500)


def begin(
    dataset: Dataset,
    rubric_version: RubricVersion | None,
    rater: Rater,
    *,
    by: User | None,
    source: str,
    labels_digest: str = "",
) -> Run:
    """A run that gets its grades by `add` and its scores by `finish`."""
    return Run.objects.create(
        team=dataset.team,
        dataset=dataset,
        dataset_version=dataset.version,
        rubric_version=rubric_version,
        name=f"{rater.name} from {source}"[:200],
        autograder="per_criterion",
        judge=JudgeSnapshot(IMPORTED, rater.name, rater.name),
        rater=rater,
        labels_digest=labels_digest,
        use_cache=False,
        state=RunState.FINISHED,
        finished_at=timezone.now(),
        created_by=by,
    )


def finish(run: Run, *, by: User | None, source: str) -> None:
    """Scores what was said, and writes down where it came from."""
    items = _score(run, run.created_at)
    what = f"Imported from {source}{f' by {by}' if by else ''}: grades of {counted(items, 'item')}."
    RunEvent.objects.create(run=run, kind="imported", message=what[:500])
    summarise(run)


def _score(run: Run, now: datetime) -> int:
    """A scored row for every item the run says something of; how many.

    What it says nothing of, checks too, is not covered: a score is made of what the machine judged.
    """
    said: dict[int, dict[int, str]] = defaultdict(dict)
    answers = Judgement.objects.filter(run=run).order_by("item_id")
    for item_id, criterion_id, label in answers.values_list("item_id", "criterion_id", "verdict"):
        said[item_id][criterion_id] = label or ""
    rubrics, everything = _Rubrics(), sorted(said)
    for start in range(0, len(everything), ITEMS_AT_ONCE):
        ids = everything[start : start + ITEMS_AT_ONCE]
        # A range, since a database takes only so many parameters.
        items = Item.objects.filter(Q(pk__gte=ids[0], pk__lte=ids[-1]), dataset=run.dataset_id)
        rows = []
        for item in items.only("rubric_version_id", "submission", "thinking", "dataset_id").iterator():
            if item.pk not in said:
                continue
            version = item.rubric_version_id or run.rubric_version_id
            assert version is not None  # labels are of a criterion, whose version this is
            rubric, criteria = rubrics.of(version)
            labels = [said[item.pk].get(pk) for pk in criteria]
            rows.append((run.pk, item.pk, version, "", now, *_scored(rubric, labels, item), 0, "", ""))
        bulk_rows.insert(RunItem, _RUN_ITEM, rows)
    return len(said)


def _scored(rubric: engine.Rubric, labels: Sequence[str | None], item: Item) -> tuple[Any, ...]:
    """score, raw_score, llm_raw_score, coverage, passed, length_penalty."""
    scores = score_labels(rubric, labels)
    penalty = length_penalty(
        rubric.length_penalty, engine.Submission(item.submission, thinking=item.thinking)
    )
    score = penalised(scores.score, penalty)
    pairs = zip(rubric.criteria, labels, strict=True)
    outcomes = [label_outcome(criterion, label) for criterion, label in pairs]
    return score, scores.raw_score, None, scores.coverage, passed(rubric, score, outcomes), penalty


class _Rubrics:
    """Rubrics by version with the ids of their criteria; each is read once."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[engine.Rubric, tuple[int, ...]]] = {}

    def of(self, version_id: int) -> tuple[engine.Rubric, tuple[int, ...]]:
        if version_id not in self._known:
            version = RubricVersion.objects.prefetch_related("criteria").get(pk=version_id)
            ids = tuple(criterion.pk for criterion in version.criteria.all())
            self._known[version_id] = version.to_engine(), ids
        return self._known[version_id]
