"""What goes into a bundle: a dataset with everything that was said about it."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from rubricweb.engine.agreement import PAIR_FIGURES, Figure, PairAgreement
from rubricweb.engine.formats.bundle.records import BundledAdjudication, BundledJudgement, BundledNote
from rubricweb.engine.formats.dataset_values import DatasetFile, ItemRecord
from rubricweb.engine.formats.label_provenance import NOT_COUNTED, UsedDecision
from rubricweb.engine.formats.result_files import GroundTruthItem
from rubricweb.engine.verdict import Verdict
from rubricweb.models import (
    Adjudication,
    Criterion,
    Dataset,
    Judgement,
    Review,
    ReviewQueue,
    ReviewState,
    RubricVersion,
    Run,
)
from rubricweb.selectors.comparison.comparison import Comparison
from rubricweb.selectors.datasets.versions import file_keys
from rubricweb.selectors.exports.exports import (
    BODIES,
    CHUNK,
    NOTHING_WITHHELD,
    WithheldItems,
    final_said,
    judgements,
    version_of,
    who_said,
)
from rubricweb.selectors.exports.ground_truth import SettledLabels, ground_truth_items
from rubricweb.selectors.exports.label_lineage import CountedLabels
from rubricweb.selectors.labels.by_kind import CriterionComparison


def dataset_file(
    dataset: Dataset,
    version: RubricVersion | None,
    items: Sequence[ItemRecord] = (),
    decisions: tuple[UsedDecision, ...] = (),
) -> DatasetFile:
    """The dataset as files hold it, with these items, and the decisions their labels count by."""
    rubric = None if version is None else version.to_engine()
    shared = (dataset.name, dataset.prompt, rubric, dataset.reference)
    return DatasetFile(*shared, tuple(items), label_decisions=decisions)


def item_records(
    dataset: Dataset,
    settled: SettledLabels,
    *,
    labelled_only: bool,
    withheld: WithheldItems = NOTHING_WITHHELD,
) -> Iterator[ItemRecord]:
    """Items in dataset order with their ground truth, and unless `labelled_only` those without; see
    `ground_truth_items` for what is `withheld`.
    """
    return map(_record, ground_truth_items(dataset, settled, labelled_only=labelled_only, withheld=withheld))


def _record(item: GroundTruthItem) -> ItemRecord:
    return ItemRecord(
        id=item.id,
        submission=item.submission,
        thinking=item.thinking,
        prompt=item.prompt,  # type: ignore[arg-type]  # a text or a list of turns, as it was imported
        reference=item.reference,
        rubric=item.rubric,
        description=item.description,
        metadata=item.metadata,
        case_id=item.case_id,
        system=item.system,
        attempt=item.attempt,
        case_tags=item.case_tags,
        ground_truth=item.ground_truth,
        ground_truth_reasons=item.ground_truth_reasons,
        ground_truth_provenance=item.ground_truth_provenance,
    )


def bundled_judgements(
    dataset: Dataset,
    queues: Sequence[ReviewQueue],
    run: Run | None,
    counted: CountedLabels,
    *,
    withheld: WithheldItems,
    judge_version: str | None,
) -> Iterator[BundledJudgement]:
    """Submitted answers of people in `queues`, then the run's, which `judge_version` graded, by item and
    criterion; none on `withheld`.
    """
    keys = {**file_keys(dataset), **withheld.unnamed}
    for row in judgements(dataset, queues, run, withheld=withheld.ids):
        yield BundledJudgement(
            item_id=keys.get(row.item_id, row.item.key),
            criterion=row.criterion.name,
            rater=row.review.rater.name if row.review else row.judge,
            **who_said(row),
            origin=row.origin,
            **_answer(row.criterion, row.verdict),
            value=row.value,
            reason=row.reason,
            confidence=row.confidence,
            error=row.error_message if row.error_kind else None,
            error_kind=row.error_kind,
            run=str(row.run) if row.run else None,
            judge=_model(row),
            repeat=row.repeat,
            recorded_at=row.created_at.isoformat(),
            evidence=tuple(row.evidence or ()),
            rubric_version=row.criterion.version.number,
            counts_by=counted.counts_by(row),
            **final_said(row),
            judge_version=version_of(row, judge_version),
        )


def bundled_notes(
    dataset: Dataset, queues: Sequence[ReviewQueue], *, withheld: WithheldItems
) -> Iterator[BundledNote]:
    """What people wrote on whole items in submitted reviews of `queues`, and what they flagged, by item;
    nothing on those `withheld`.
    """
    reviews = Review.objects.filter(queue__in=queues, queue__dataset=dataset, state=ReviewState.SUBMITTED)
    rows = reviews.exclude(note="", flagged=False).select_related("item", "rater", "queue")
    rows = rows.defer(*BODIES).order_by("item__position", "item_id", "rater__name", "pk")
    keys = {**file_keys(dataset), **withheld.unnamed}
    for row in rows.iterator(chunk_size=CHUNK):
        if row.item_id in withheld.ids:
            continue
        yield BundledNote(
            item_id=keys.get(row.item_id, row.item.key),
            rater=row.rater.name,
            queue=row.queue.name,
            note=row.note,
            flagged=row.flagged or None,
            recorded_at=row.submitted_at.isoformat() if row.submitted_at else None,
        )


def _model(row: Judgement) -> str | None:
    return row.run.judge.model or None if row.run else None


def bundled_adjudications(
    dataset: Dataset, counted: CountedLabels, *, withheld: WithheldItems
) -> Iterator[BundledAdjudication]:
    """What was settled on the dataset's items, by item and criterion; nothing on those `withheld`."""
    rows = (
        Adjudication.objects.undeleted()
        .filter(item__dataset=dataset)
        .select_related("item", "criterion__version", "decided_by")
        .defer(*BODIES)
        .order_by("item__position", "item_id", "criterion__position", "pk")
    )
    keys = {**file_keys(dataset), **withheld.unnamed}
    for row in rows.iterator(chunk_size=CHUNK):
        if row.item_id in withheld.ids:
            continue
        lineage = counted.adjudications.get(row.pk)
        yield BundledAdjudication(
            item_id=keys.get(row.item_id, row.item.key),
            criterion=row.criterion.name,
            adjudicator=row.decided_by.username if row.decided_by else None,
            **_answer(row.criterion, row.verdict),
            reason=row.reason,
            recorded_at=row.decided_at.isoformat(),
            rubric_version=row.criterion.version.number,
            counts_by=NOT_COUNTED if lineage is None else lineage.counts_by,
            cause=row.cause,
        )


def _answer(criterion: Criterion, label: str | None) -> dict[str, Any]:
    """A label as a verdict, or as an option where the criterion has an option of that name."""
    if label is None:
        return {}
    if criterion.kind == "choice" and any(option["label"] == label for option in criterion.options):
        return {"option": label}
    return {"verdict": Verdict(label)}


def agreement_table(comparison: Comparison) -> dict[str, Any]:
    """A comparison as plain data: overall figures, then every criterion's by its kind."""
    return {
        "run": str(comparison.run),
        "judge_version": comparison.judge_version and str(comparison.judge_version),
        "queues": [queue.name for queue in comparison.queues],
        "units": comparison.units,
        "tied_share": comparison.tied_share,
        "coverage": comparison.coverage,
        "bias": asdict(comparison.bias),
        "rates": asdict(comparison.rates),
        "overall": _by_field(comparison.overall) | _of_people(comparison),
        "within": None if comparison.within is None else asdict(comparison.within),
        "scores": _figures(comparison.scores.agreement),
        "criteria": [
            {
                "criterion": row.criterion.name,
                "kind": row.criterion.kind,
                "units": row.units,
                "tied_share": row.tied_share,
                "bias": asdict(row.bias),
                "rates": asdict(row.rates),
            }
            | _by_field(row.agreement)
            | _of_people(row)
            | ({} if row.mean_value is None else {"mean_value": asdict(row.mean_value)})
            for row in comparison.criteria
        ],
    }


def _by_field(agreement: PairAgreement) -> dict[str, Any]:
    """Every figure of the judge with people, as plain data under the names the API has."""
    fields = {row.name: row.field or row.name for row in PAIR_FIGURES}
    return {fields[name]: asdict(figure) for name, figure in agreement.figures.items()}


def _of_people(measured: Comparison | CriterionComparison) -> dict[str, Any]:
    figures = {name: asdict(figure) for name, figure in measured.human_figures.items()}
    return {"human_alpha": asdict(measured.human_alpha), "human_figures": figures}


def _figures(measured: Any) -> dict[str, Any]:
    """The figures among the fields of an agreement, as plain data."""
    named = {name: getattr(measured, name) for name in measured.__dataclass_fields__}
    return {name: asdict(figure) for name, figure in named.items() if isinstance(figure, Figure)}
