"""Handing data out: streamed files in a named format, written down in the journal."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rubricweb import __version__
from rubricweb.engine.formats import (
    BUNDLE,
    CONTENTS,
    EXPORT_FORMATS,
    FORMATS,
    DatasetHead,
    OfferedFormat,
)
from rubricweb.engine.formats.bundle.bundle import write_bundle
from rubricweb.engine.formats.datasets.writers import write_dataset
from rubricweb.engine.formats.records import FileFormat
from rubricweb.errors import Invalid, Withheld
from rubricweb.models import Dataset, ReviewQueue, RubricVersion, Run, Team, User
from rubricweb.selectors.comparison.comparison import compare
from rubricweb.selectors.exports import bundles
from rubricweb.selectors.exports import exports as selected
from rubricweb.selectors.exports.exports import WithheldItems
from rubricweb.services.shared.journal import record

__all__ = ["CONTENTS", "EXPORT_FORMATS", "Export", "export"]

_DATASET_FORMATS: dict[str, FileFormat] = {"yaml": "yaml", "parquet": "parquet"}


@dataclass(frozen=True)
class Export:
    """A file on its way: `chunks` are pieces of text, or of bytes where a format is none, made while sent.

    `withheld` are the items it holds no label or verdict of: the viewer is still to review them blind.
    """

    filename: str
    content_type: str
    chunks: Iterator[str] | Iterator[bytes]
    withheld: WithheldItems


def export(
    team: Team,
    *,
    viewer: User,
    what: str,
    format: str,
    dataset: Dataset,
    queues: Sequence[ReviewQueue],
    run: Run | None = None,
) -> Export:
    """Ground truth of the queues, or every verdict of the queues and the run, over one dataset.

    A bundle holds the verdicts with the items, ground truth, adjudications and, of a run and queues, the
    table of agreement. Items the viewer is still to review blind are left out; a bundle keeps their texts,
    has no table of agreement then, and names them in its manifest. Raises Invalid for names that are not
    offered, queues or runs over another dataset, or nothing to export; Withheld where every item would be
    left out.
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
    chunks: Iterator[str] | Iterator[bytes]
    if what == "ground_truth":
        chunks = _ground_truth(format, dataset, queues, run, withheld)
    elif not sources:
        raise Invalid("Choose a run, or queues of labels, whose verdicts you want.")
    elif format == BUNDLE:
        chunks = _bundle(viewer, dataset, queues, run, withheld)
    else:
        write = FORMATS[format].write_verdicts
        assert write is not None, "_checked saw to it"
        head = DatasetHead(name=dataset.name, criteria=selected.criterion_names(dataset, queues, run))
        chunks = write(selected.verdict_rows(dataset, queues, run, withheld=withheld.ids), head)
    record(team, viewer, "exported", dataset, what=what, format=format)
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", dataset.name).strip("-.") or "dataset"
    return Export(f"{name}-{what}{offered.suffix}", offered.content_type, chunks, withheld)


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


def _ground_truth(
    format: str,
    dataset: Dataset,
    queues: Sequence[ReviewQueue],
    run: Run | None,
    withheld: WithheldItems,
) -> Iterator[str] | Iterator[bytes]:
    if not queues:
        raise Invalid("Ground truth comes from people: choose at least one queue of labels.")
    _require_one_rubric(queues)
    version = selected.shared_version(dataset, queues, run)
    if format in _DATASET_FORMATS:
        records = bundles.item_records(dataset, queues, labelled_only=True, withheld=withheld.ids)
        items = tuple(records)
        return write_dataset(bundles.dataset_file(dataset, version, items), _DATASET_FORMATS[format])
    head = DatasetHead(
        name=dataset.name,
        prompt=dataset.prompt,
        rubric=version.to_engine() if version else None,
        reference=dataset.reference,
        criteria=selected.criterion_names(dataset, queues),
    )
    found = selected.ground_truth_items(dataset, queues, withheld=withheld.ids)
    return FORMATS[format].write_ground_truth(found, head)


def _bundle(
    viewer: User, dataset: Dataset, queues: Sequence[ReviewQueue], run: Run | None, withheld: WithheldItems
) -> Iterator[bytes]:
    _require_one_version(queues)
    version = selected.shared_version(dataset, queues, run)
    others = selected.other_versions(run, version)
    agreement = None
    if run is not None and queues and not withheld.ids:
        agreement = bundles.agreement_table(compare(run, queues, viewer=viewer))
    return write_bundle(
        bundles.dataset_file(dataset, version),
        items=bundles.item_records(dataset, queues, labelled_only=False, withheld=withheld.ids),
        rubrics=[other.to_engine() for other in others],
        judgements=bundles.bundled_judgements(dataset, queues, run, withheld=withheld.ids),
        adjudications=bundles.bundled_adjudications(dataset, withheld=withheld.ids),
        agreement=agreement,
        versions={"rubricweb": __version__},
        withheld=withheld.keys,
    )


def _require_one_rubric(queues: Sequence[ReviewQueue]) -> None:
    """Labels of all versions of a rubric are read by the newest of them; those of several rubrics by none."""
    versions = RubricVersion.objects.filter(queues__in=queues)
    rubrics = set(versions.values_list("rubric_id", flat=True))
    if len(rubrics) + any(queue.rubric_version_id is None for queue in queues) > 1:
        raise Invalid("The queues label against different rubrics; export them one by one.")


def _require_one_version(queues: Sequence[ReviewQueue]) -> None:
    if len({queue.rubric_version_id for queue in queues}) > 1:
        raise Invalid("The queues label against different rubric versions; export them one by one.")
