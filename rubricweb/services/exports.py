"""Handing data out: streamed files in a named format, written down in the audit log."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rubricweb import __version__
from rubricweb.engine.errors import InvalidFile
from rubricweb.engine.formats import (
    BUNDLE,
    CONTENTS,
    EXPORT_FORMATS,
    FORMATS,
    DatasetHead,
    OfferedFormat,
)
from rubricweb.engine.formats.bundle.bundle import BundledRows, write_bundle
from rubricweb.engine.formats.datasets.writers import write_dataset
from rubricweb.engine.formats.label_provenance import UsedDecision
from rubricweb.engine.formats.records import FileFormat
from rubricweb.engine.formats.scores.item_scores import SCORE_WRITERS
from rubricweb.errors import Invalid, NotFound, Withheld
from rubricweb.models import Dataset, ReviewQueue, Run, Team, User
from rubricweb.selectors.comparison.comparison import compare
from rubricweb.selectors.exports import bundles
from rubricweb.selectors.exports import exports as selected
from rubricweb.selectors.exports.exports import WithheldItems
from rubricweb.selectors.exports.ground_truth import ground_truth_items, settled_labels
from rubricweb.selectors.exports.item_scores import item_scores
from rubricweb.selectors.exports.label_lineage import counted_labels
from rubricweb.selectors.judges import version_told_to
from rubricweb.selectors.runs.graders import PER_ITEM
from rubricweb.services.shared.journal import record

__all__ = ["CONTENTS", "EXPORT_FORMATS", "Export", "export"]

_DATASET_FORMATS: dict[str, FileFormat] = {"yaml": "yaml", "parquet": "parquet"}


@dataclass(frozen=True)
class Export:
    """A file on its way: `chunks` are pieces of text, or of bytes where a format is none, made while sent.

    `withheld` are the items it holds no label or verdict of: the viewer is still to review them blind.
    `decisions` are those by which it counts labels that were given to earlier words.
    """

    filename: str
    content_type: str
    chunks: Iterator[str] | Iterator[bytes]
    withheld: WithheldItems
    decisions: tuple[UsedDecision, ...] = ()


class _Made(NamedTuple):
    """The pieces of a file, and the decisions its labels count by."""

    chunks: Iterator[str] | Iterator[bytes]
    decisions: tuple[UsedDecision, ...]


def export(
    team: Team,
    *,
    viewer: User,
    what: str,
    format: str,
    dataset: Dataset,
    queues: Sequence[ReviewQueue],
    run: Run | None = None,
    item_ids: Collection[int] | None = None,
) -> Export:
    """Ground truth of the queues, or every verdict of the queues and the run, over one dataset. Where no
    labels of it are left, ground truth needs no queue: it is what was decided.

    A bundle holds the verdicts with the items, ground truth, adjudications and, of a run and queues, the
    table of agreement. Of a holistic run, the verdicts are a line for each item with its score. Items the
    viewer is still to review blind are left out; a bundle keeps their texts,
    has no table of agreement then, and names them in its manifest. `item_ids` are the items it is limited to.
    Raises Invalid for names that are not offered, queues or runs over another dataset, items a bundle is to
    be limited to, or nothing to export; NotFound for items of another dataset; Withheld where every item
    would be left out.
    """
    offered = _checked(what, format)
    sources: list[ReviewQueue | Run] = [*queues, *([run] if run else [])]
    for one in sources:
        if one.dataset_id != dataset.pk:
            raise Invalid(f"{one} is over another dataset than {dataset}.")
    withheld = selected.withheld_items(viewer, dataset)
    if withheld.everything:
        raise Withheld(withheld.why)
    unavailable = None if sources else selected.unavailable(dataset, what=what)
    if unavailable is not None:
        raise Invalid(f"{unavailable.why} {unavailable.next_step}")
    left_out = withheld.ids if item_ids is None else withheld.ids | _others(dataset, item_ids, format)
    if what == "ground_truth":
        made = _ground_truth(format, dataset, queues, left_out, withheld)
    elif not sources:
        raise Invalid("Choose a run, or queues of labels, whose verdicts you want.")
    elif format == BUNDLE:
        made = _bundle(viewer, dataset, queues, run, withheld)
    elif run is not None and run.autograder == PER_ITEM:
        made = _item_scores(format, queues, run, left_out, withheld.unnamed, _judge_version(run, viewer))
    else:
        graded_by = _judge_version(run, viewer)
        made = _verdicts(format, dataset, queues, run, left_out, withheld.unnamed, graded_by)
    # A later decision about the same labels does not change what this export said: see `recorded_exports`.
    used = {"label_decisions": [one.id for one in made.decisions]} if made.decisions else {}
    version = {"dataset_version": dataset.version}
    record(team, viewer, "exported", dataset, what=what, format=format, **version, **used)
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", dataset.name).strip("-.") or "dataset"
    return Export(
        f"{name}-{what}{offered.suffix}", offered.content_type, made.chunks, withheld, made.decisions
    )


def _judge_version(run: Run | None, viewer: User) -> str | None:
    """By which version of its judge the run was graded, as far as this person may know."""
    told = None if run is None else version_told_to(run, viewer)
    return None if told is None else str(told)


def _checked(what: str, format: str) -> OfferedFormat:
    if what not in CONTENTS:
        raise Invalid(f"{what!r} cannot be exported. Allowed: {', '.join(CONTENTS)}.")
    if format not in EXPORT_FORMATS:
        raise Invalid(f"{format!r} is not an export format. Allowed: {', '.join(EXPORT_FORMATS)}.")
    offered = EXPORT_FORMATS[format]
    if what not in offered.contents:
        *fitting, last = (
            name for name, one in EXPORT_FORMATS.items() if what in one.contents and name != BUNDLE
        )
        names = f"{', '.join(fitting)} or {last}"
        if what == "verdicts":
            raise Invalid(
                f"{offered.title} holds one label per criterion; export verdicts as {names}, "
                f"or with everything else as {BUNDLE}."
            )
        raise Invalid(f"{offered.title} is more than ground truth; export that as {names}.")
    return offered


def _others(dataset: Dataset, item_ids: Collection[int], format: str) -> frozenset[int]:
    """The items of the dataset that are not chosen."""
    if format == BUNDLE:
        raise Invalid.at("item_ids", "a choice of items", "none: a bundle holds the whole dataset")
    everything = frozenset(dataset.items.order_by().values_list("pk", flat=True))
    if not everything.issuperset(item_ids):
        raise NotFound(f"item in {dataset}")
    return everything.difference(item_ids)


def _ground_truth(
    format: str,
    dataset: Dataset,
    queues: Sequence[ReviewQueue],
    left_out: Collection[int],
    withheld: WithheldItems,
) -> _Made:
    if not queues and not selected.only_decided(dataset):
        raise Invalid("Ground truth comes from people: choose at least one queue of labels.")
    selected.require_one_rubric(queues)
    version = selected.shared_version(queues, None) if queues else selected.decided_version(dataset)
    read_by = None if version is None else version.pk
    settled = settled_labels(queues, version=read_by, withheld=left_out, datasets=[dataset.pk])
    if format in _DATASET_FORMATS:
        records = bundles.item_records(dataset, settled, labelled_only=True, withheld=withheld)
        items = tuple(records)
        file = bundles.dataset_file(dataset, version, items, settled.decisions)
        try:
            chunks = write_dataset(file, _DATASET_FORMATS[format])
        except InvalidFile as refused:
            [fault] = refused.faults
            raise Invalid.at("format", fault.found, fault.allowed) from refused
        return _Made(chunks, settled.decisions)
    head = DatasetHead(
        name=dataset.name,
        prompt=dataset.prompt,
        rubric=version.to_engine() if version else None,
        reference=dataset.reference,
        criteria=selected.criterion_names(dataset, [read_by]),
        label_decisions=settled.decisions,
    )
    found = ground_truth_items(dataset, settled, withheld=withheld)
    return _Made(FORMATS[format].write_ground_truth(found, head), settled.decisions)


def _verdicts(
    format: str,
    dataset: Dataset,
    queues: Sequence[ReviewQueue],
    run: Run | None,
    left_out: Collection[int],
    unnamed: Mapping[int, str],
    judge_version: str | None,
) -> _Made:
    write = FORMATS[format].write_verdicts
    assert write is not None, "_checked saw to it"
    counted = counted_labels(queues, run, withheld=left_out)
    own = selected.criterion_names(dataset, [])
    head = DatasetHead(
        name=dataset.name,
        criteria=tuple(dict.fromkeys((*counted.criteria.columns, *own))),
        changed=selected.changed_criteria(dataset, queues, counted, withheld=left_out),
    )
    rows = selected.verdict_rows(
        dataset, queues, run, counted, withheld=left_out, unnamed=unnamed, judge_version=judge_version
    )
    return _Made(write(rows, head), counted.decisions)


def _item_scores(
    format: str,
    queues: Sequence[ReviewQueue],
    run: Run,
    left_out: Collection[int],
    unnamed: Mapping[int, str],
    judge_version: str | None,
) -> _Made:
    """A holistic judge answers no criterion: its file has a line for each item."""
    if queues:
        raise Invalid.at(
            "queue", f"queues beside {run}", "none: a holistic run has a score per item and no verdicts"
        )
    if format not in SCORE_WRITERS:
        allowed = f"{' or '.join(SCORE_WRITERS)}: a holistic run has a score per item and no verdicts"
        raise Invalid.at("format", format, allowed)
    rows = item_scores(run, withheld=left_out, unnamed=unnamed, judge_version=judge_version)
    return _Made(SCORE_WRITERS[format](rows), ())


def _bundle(
    viewer: User, dataset: Dataset, queues: Sequence[ReviewQueue], run: Run | None, withheld: WithheldItems
) -> _Made:
    selected.require_one_rubric(queues)
    version = selected.shared_version(queues, run)
    others = selected.other_versions(queues, run, version)
    shared = None if version is None else version.pk
    # Without queues nothing of people is in it, so no ground truth either.
    decided_on = [dataset.pk] if queues else []
    settled = settled_labels(queues, version=shared, withheld=withheld.ids, datasets=decided_on)
    counted = counted_labels(queues, run, withheld=withheld.ids)
    numbers = {f"rubrics.json[{place}]": str(one.number) for place, one in enumerate(others)}
    if version is not None:
        numbers = {"dataset.json": str(version.number), **numbers}
    agreement = None
    if run is not None and queues and not withheld.ids:
        agreement = bundles.agreement_table(compare(run, queues, viewer=viewer))
    chunks = write_bundle(
        bundles.dataset_file(dataset, version, decisions=counted.decisions),
        items=bundles.item_records(dataset, settled, labelled_only=False, withheld=withheld),
        rubrics=[other.to_engine() for other in others],
        said=BundledRows(
            bundles.bundled_judgements(
                dataset, queues, run, counted, withheld=withheld, judge_version=_judge_version(run, viewer)
            ),
            bundles.bundled_adjudications(dataset, counted, withheld=withheld),
            bundles.bundled_notes(dataset, queues, withheld=withheld),
        ),
        agreement=agreement,
        versions={"rubricweb": __version__, "dataset": str(dataset.version), **numbers},
        withheld=withheld.keys,
    )
    return _Made(chunks, counted.decisions)
