"""What an export holds: settled labels per item, and every verdict of people and judges, streamed."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict

from django.db.models import Exists, F, OuterRef, Prefetch, Q, QuerySet

from rubricweb import engine
from rubricweb.engine.formats import GroundTruthItem, VerdictRow
from rubricweb.engine.formats.label_provenance import LabelProvenance
from rubricweb.engine.outcomes import outcome_of, value_of
from rubricweb.errors import Withheld
from rubricweb.models import (
    Adjudication,
    Criterion,
    Dataset,
    Item,
    Judgement,
    Review,
    ReviewQueue,
    ReviewState,
    RubricVersion,
    Run,
    RunState,
    Team,
    User,
)
from rubricweb.selectors.blinding import require_nothing_hidden
from rubricweb.selectors.ground_truth import Truth, ground_truth
from rubricweb.selectors.provenance import Provenance, provenances
from rubricweb.selectors.stored_answers import answer_of

CHUNK = 500


def ground_truth_items(
    dataset: Dataset, queues: Sequence[ReviewQueue], *, labelled_only: bool = True
) -> Iterator[GroundTruthItem]:
    """Items people labelled, or all, in dataset order; None stands for a criterion while people are tied.

    An item nobody labelled has no ground truth at all.
    """
    truths = ground_truth(queues)
    origins = provenances(queues)
    reasons = {
        (item_id, criterion_id): reason
        for item_id, criterion_id, reason in Adjudication.objects.filter(item__dataset=dataset).values_list(
            "item_id", "criterion_id", "reason"
        )
    }
    fallback = next((queue.rubric_version_id for queue in queues if queue.rubric_version_id), None)
    shared = list(Criterion.objects.filter(version_id=fallback).order_by("position")) if fallback else []
    labelled = {unit[0] for unit in truths}
    items = (
        Item.objects.filter(dataset=dataset)
        .select_related("rubric_version")
        .prefetch_related(Prefetch("rubric_version__criteria", Criterion.objects.order_by("position")))
        .order_by("position")
    )
    for item in items.iterator(chunk_size=CHUNK):
        if item.pk not in labelled and labelled_only:
            continue
        own = item.rubric_version
        criteria = list(own.criteria.all()) if own else shared
        stands = [truths.get((item.pk, criterion.pk)) for criterion in criteria]
        yield GroundTruthItem(
            id=item.key,
            submission=item.submission,
            thinking=item.thinking,
            prompt=item.prompt,
            reference=item.reference,
            rubric=own.to_engine() if own else None,
            description=item.description,
            metadata=item.metadata,
            ground_truth=_labels(stands) if item.pk in labelled else None,
            ground_truth_reasons=tuple(
                _why(truth, reasons.get((item.pk, criterion.pk), ""))
                for truth, criterion in zip(stands, criteria, strict=True)
            )
            if item.pk in labelled
            else None,
            ground_truth_provenance=tuple(_origin(origins.get((item.pk, one.pk))) for one in criteria)
            if item.pk in labelled
            else None,
        )


def _origin(found: Provenance | None) -> LabelProvenance | None:
    """What a file says of where a label comes from; None where there is no label or people are tied."""
    if found is None or found.verdict is None:
        return None
    return LabelProvenance(
        rule=found.rule,
        decided_by=found.decided_by or None,
        decided_at=found.decided_at.isoformat() if found.decided_at else None,
        labels=tuple(asdict(said) for said in found.labels),
    )


def _labels(stands: Sequence[Truth | None]) -> tuple[str | None, ...]:
    return tuple(truth.verdict if truth else None for truth in stands)


def _why(truth: Truth | None, reason: str) -> str | None:
    """By which rule a label stands: its provenance, in the words the file carries."""
    if truth is None or truth.verdict is None:
        return None
    if truth.rule == "adjudicated":
        return f"adjudicated: {reason}" if reason else "adjudicated"
    return f"{truth.rule} of {truth.labels}"


def verdict_rows(dataset: Dataset, queues: Sequence[ReviewQueue], run: Run | None) -> Iterator[VerdictRow]:
    """Submitted verdicts of people in `queues`, then the run's, by item and criterion."""
    criteria: dict[int, engine.Criterion] = {}
    for row in judgements(dataset, queues, run).iterator(chunk_size=CHUNK):
        rater = row.review.rater.name if row.review else row.judge
        if row.criterion_id not in criteria:
            criteria[row.criterion_id] = row.criterion.to_engine()
        criterion = criteria[row.criterion_id]
        yield VerdictRow(
            item_id=row.item.key,
            criterion=row.criterion.name,
            rater=rater,
            verdict=row.verdict,
            kind=row.criterion.kind,
            value=value_of(outcome_of(criterion, answer_of(criterion, row.verdict, row.value))),
            reason=row.reason,
            rater_kind="human" if row.review else "judge",
            error=f"{row.error_kind}: {row.error_message}" if row.error_kind else None,
            group=row.criterion.group or None,
            weight=row.criterion.weight,
            run=str(row.run) if row.run else None,
            recorded_at=row.created_at.isoformat(),
            evidence=tuple(row.evidence or ()),
        )


def criterion_names(
    dataset: Dataset, queues: Sequence[ReviewQueue], run: Run | None = None
) -> tuple[str, ...]:
    """The names of every criterion an export may speak of: of the queues, the run, the items' own rubrics."""
    versions = [queue.rubric_version_id for queue in queues] + ([run.rubric_version_id] if run else [])
    shared = list(dict.fromkeys(version_id for version_id in versions if version_id))
    own = Item.objects.filter(dataset=dataset, rubric_version__isnull=False).values("rubric_version")
    rows = Criterion.objects.filter(Q(version__in=shared) | Q(version__in=own)).order_by(
        "version_id", "position"
    )
    names = sorted(
        rows.values_list("version_id", "name"),
        key=lambda row: shared.index(row[0]) if row[0] in shared else len(shared),
    )
    return tuple(dict.fromkeys(name for _, name in names))


def judgements(dataset: Dataset, queues: Sequence[ReviewQueue], run: Run | None) -> QuerySet[Judgement]:
    """Submitted judgements of people in `queues` and the run's, by item and criterion, without bodies."""
    source = Q(review__queue__in=queues, review__state=ReviewState.SUBMITTED)
    if run is not None:
        source |= Q(run=run)
    return (
        Judgement.objects.filter(source, item__dataset=dataset)
        .select_related("item", "criterion", "review__rater", "run")
        .defer("item__submission", "item__thinking", "item__prompt", "item__reference", "item__metadata")
        .order_by(
            "item__position",
            "criterion__position",
            F("run_id").asc(nulls_first=True),
            "review__rater__name",
            "repeat",
        )
    )


def shared_version(dataset: Dataset, queues: Sequence[ReviewQueue], run: Run | None) -> RubricVersion | None:
    """The rubric version an export's items share unless they bring their own."""
    for version_id in [queue.rubric_version_id for queue in queues] + [
        run.rubric_version_id if run else None
    ]:
        if version_id:
            return RubricVersion.objects.prefetch_related("criteria").get(pk=version_id)
    return None


def other_versions(run: Run | None, shared: RubricVersion | None) -> list[RubricVersion]:
    """The version a run used when it is not the one the items share."""
    if run is None or run.rubric_version_id is None or (shared and shared.pk == run.rubric_version_id):
        return []
    return [RubricVersion.objects.prefetch_related("criteria").get(pk=run.rubric_version_id)]


def datasets(team: Team) -> QuerySet[Dataset]:
    """What can be exported from, newest first."""
    return Dataset.objects.filter(team=team).order_by("-created_at", "-pk")


def labelled_queues(dataset: Dataset | None) -> QuerySet[ReviewQueue]:
    """Queues over the dataset with at least one submitted review."""
    submitted = Review.objects.filter(queue=OuterRef("pk"), state=ReviewState.SUBMITTED)
    return ReviewQueue.objects.filter(Exists(submitted), dataset=dataset).order_by("-created_at", "-pk")


def runs(dataset: Dataset | None) -> QuerySet[Run]:
    """Runs over the dataset that are no longer under way, newest first."""
    return Run.objects.filter(dataset=dataset).exclude(state=RunState.RUNNING).order_by("-created_at", "-pk")


def withheld_from(viewer: User, dataset: Dataset | None) -> str:
    """Why this person is handed nothing of the dataset, in a sentence; "" when nothing stands against it."""
    if dataset is None:
        return ""
    try:
        require_nothing_hidden(viewer, dataset.team, dataset.pk)
    except Withheld as error:
        return str(error)
    return ""
