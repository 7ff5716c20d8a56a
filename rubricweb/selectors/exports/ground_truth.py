"""What stands for the items of an export, by which rule, and by what the labels behind it count."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

from django.db.models import Prefetch

from rubricweb.engine.formats import GroundTruthItem
from rubricweb.engine.formats.label_provenance import LabelProvenance, UsedDecision
from rubricweb.models import Criterion, Dataset, Item, ReviewQueue
from rubricweb.selectors.datasets.versions import case_of_item, file_keys
from rubricweb.selectors.exports.exports import CHUNK, NOTHING_WITHHELD, WithheldItems, newest_version
from rubricweb.selectors.exports.label_lineage import (
    GivenAndRead,
    LabelLineage,
    label_lineages,
    used_decisions,
)
from rubricweb.selectors.labels.ground_truth import Truth, ground_truth
from rubricweb.selectors.labels.people import Unit
from rubricweb.selectors.labels.provenance import Provenance, provenances


@dataclass(frozen=True)
class SettledLabels:
    """What stands for every labelled unit of some queues as one version reads it, and by what it counts.

    `version` is that version's id, None where every item brings its own rubric; `decisions` are those by
    which labels of other versions count.
    """

    version: int | None
    truths: Mapping[Unit, Truth]
    origins: Mapping[Unit, Provenance]
    lineages: Mapping[GivenAndRead, LabelLineage]
    decisions: tuple[UsedDecision, ...]


def settled_labels(
    queues: Sequence[ReviewQueue],
    *,
    version: int | None = None,
    withheld: Collection[int] = (),
    datasets: Collection[int] = (),
) -> SettledLabels:
    """The ground truth of the queues, read by this version or the newest of theirs; none of items `withheld`,
    by id. What was decided on `datasets` without any queue counts as well.
    """
    version = newest_version(queues) if version is None else version
    truths = {
        unit: truth
        for unit, truth in ground_truth(queues, version=version, datasets=datasets).items()
        if unit[0] not in withheld
    }
    known = provenances(queues, version=version, datasets=datasets)
    origins = {unit: one for unit, one in known.items() if unit in truths}
    asked = set(Criterion.objects.filter(version_id=version).values_list("pk", flat=True))
    lineages = label_lineages(
        {(given_to, unit[1]) for unit, one in origins.items() for given_to in one.given_to}
    )
    used = used_decisions(lineage for (_, read), lineage in lineages.items() if read in asked)
    return SettledLabels(version, truths, origins, lineages, used)


def ground_truth_items(
    dataset: Dataset,
    settled: SettledLabels,
    *,
    labelled_only: bool = True,
    withheld: WithheldItems = NOTHING_WITHHELD,
) -> Iterator[GroundTruthItem]:
    """Items people labelled in dataset order; None stands for a criterion while people are tied.

    Without `labelled_only` all others as well, and those that are retired. Those `withheld.unnamed` have the
    id there in place of their own, and nothing that tells who answered; those `untagged` no tags. An item
    nobody labelled has no ground truth at all, nor has one whose labels are withheld.
    """
    version, truths = settled.version, settled.truths
    shared = list(Criterion.objects.filter(version_id=version).order_by("position")) if version else []
    labelled = {unit[0] for unit in truths}
    some = Item.objects.current() if labelled_only else Item.objects.all()
    keys: dict[int, str] = {} if labelled_only else file_keys(dataset)
    items = (
        some.filter(dataset=dataset)
        .select_related("rubric_version", "case", "system_version__system")
        .prefetch_related(
            Prefetch("rubric_version__criteria", Criterion.objects.order_by("position")), "case__tags"
        )
        .order_by("position", "pk")
    )
    for item in items.iterator(chunk_size=CHUNK):
        is_labelled = item.pk in labelled
        if not is_labelled and labelled_only:
            continue
        own, system, id_instead = item.rubric_version, str(item.system_version), withheld.unnamed.get(item.pk)
        tags = () if item.pk in withheld.untagged else sorted(one.tag for one in item.case.tags.all())
        units = [(item.pk, one.pk) for one in (own.criteria.all() if own else shared)]
        yield GroundTruthItem(
            id=id_instead or keys.get(item.pk, item.key),
            submission=item.submission,
            thinking=item.thinking,
            prompt=item.prompt,
            reference=item.reference,
            rubric=own.to_engine() if own else None,
            description=item.description,
            metadata={} if id_instead else item.metadata,
            case_id="" if id_instead else case_of_item(item),
            system="" if id_instead else system,
            attempt=1 if id_instead else item.attempt,
            case_tags=tuple(tags),
            split=item.case.half or None,
            ground_truth=_labels(map(truths.get, units)) if is_labelled else None,
            ground_truth_reasons=tuple(_why(settled, unit) for unit in units) if is_labelled else None,
            ground_truth_provenance=tuple(_origin(settled, unit) for unit in units) if is_labelled else None,
        )


def _origin(settled: SettledLabels, unit: Unit) -> LabelProvenance | None:
    """What a file says of where a label comes from; None where there is no label or people are tied."""
    found = settled.origins.get(unit)
    if found is None or found.verdict is None:
        return None
    how = [settled.lineages[given_to, unit[1]] for given_to in found.given_to]
    labels = [asdict(said) for said in found.labels]
    if len(how) == len(labels) and not found.is_decided:
        labels = [
            said | {"rubric_version": one.rubric_version, "counts_by": one.counts_by}
            for said, one in zip(labels, how, strict=True)
        ]
    return LabelProvenance(
        rule=found.rule,
        decided_by=found.decided_by or None,
        decided_at=found.decided_at.isoformat() if found.decided_at else None,
        labels=tuple(labels),
        rubric_versions=tuple(sorted({one.rubric_version for one in how if one.rubric_version is not None})),
        counts_by=tuple(sorted({one.counts_by for one in how})),
    )


def _labels(stands: Iterable[Truth | None]) -> tuple[str | None, ...]:
    return tuple(truth.verdict if truth else None for truth in stands)


def _why(settled: SettledLabels, unit: Unit) -> str | None:
    """By which rule a label stands: its provenance, in the words the file carries."""
    truth = settled.truths.get(unit)
    if truth is None or truth.verdict is None:
        return None
    if truth.rule == "adjudicated":
        reason = settled.origins[unit].reason
        return f"adjudicated: {reason}" if reason else "adjudicated"
    if truth.rule == "settled":
        return "settled by a file"
    people = sum(not one.is_judge for one in settled.origins[unit].labels)
    return f"{truth.rule} of {truth.labels or people}"
