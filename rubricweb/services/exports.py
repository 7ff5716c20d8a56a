"""Handing data out: streamed files in a named format, written down in the journal."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rubricweb.engine.formats import FORMATS, DatasetHead
from rubricweb.errors import Invalid
from rubricweb.models import Dataset, ReviewQueue, Run, Team, User
from rubricweb.selectors import exports as selected
from rubricweb.selectors.reviews import require_nothing_hidden
from rubricweb.services.journal import record

CONTENTS = {"ground_truth": "Ground truth", "verdicts": "All verdicts"}


@dataclass(frozen=True)
class Export:
    """A file on its way: `chunks` are pieces of text, made while they are sent."""

    filename: str
    content_type: str
    chunks: Iterator[str]


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

    Raises Invalid for names that are not offered, queues or runs over another dataset, or nothing to
    export; Withheld while the viewer is still to review some of the items blind.
    """
    if what not in CONTENTS:
        raise Invalid(f"{what!r} cannot be exported. Allowed: {', '.join(CONTENTS)}.")
    if format not in FORMATS:
        raise Invalid(f"{format!r} is not an export format. Allowed: {', '.join(FORMATS)}.")
    sources: list[ReviewQueue | Run] = [*queues, *([run] if run else [])]
    for one in sources:
        if one.dataset_id != dataset.pk:
            raise Invalid(f"{one} is over another dataset than {dataset}.")
    require_nothing_hidden(viewer, team, dataset.pk)
    writer = FORMATS[format]
    if what == "ground_truth":
        if not queues:
            raise Invalid("Ground truth comes from people: choose at least one queue of labels.")
        versions = {queue.rubric_version_id for queue in queues}
        if len(versions) > 1:
            raise Invalid("The queues label against different rubric versions; export them one by one.")
        version = selected.shared_version(dataset, queues, run)
        head = DatasetHead(
            name=dataset.name,
            prompt=dataset.prompt,
            rubric=version.to_engine() if version else None,
            reference=dataset.reference,
        )
        chunks = writer.write_ground_truth(selected.ground_truth_items(dataset, queues), head)
    else:
        if writer.write_verdicts is None:
            raise Invalid(f"{writer.title} holds one label per criterion; export verdicts as csv or jsonl.")
        if not queues and run is None:
            raise Invalid("Choose a run, or queues of labels, whose verdicts you want.")
        chunks = writer.write_verdicts(selected.verdict_rows(dataset, queues, run))
    record(team, viewer, "exported", dataset, what=what, format=format)
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", dataset.name).strip("-.") or "dataset"
    return Export(f"{name}-{what}{writer.suffix}", writer.content_type, chunks)
