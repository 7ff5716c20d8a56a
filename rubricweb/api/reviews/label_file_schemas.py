"""Shapes of what files of labels became."""

from typing import Any

from ninja import Schema

from rubricweb.api.datasets.schemas import LeftOutLabels
from rubricweb.api.reviews.queue_schemas import Queue, queue_seen_by
from rubricweb.api.schemas import Named
from rubricweb.models import User
from rubricweb.services.label_files import ImportedLabels, left_out_as_data


class LabelsImported(Schema):
    """What a file of labels became: people's a closed `queue`, each machine's one of the imported `runs`.

    `queue` is null where the file holds no labels of people. What was left out is told by reason.
    """

    queue: Queue | None
    runs: list[Named]
    left_out: list[LeftOutLabels]


def labels_imported(stored: ImportedLabels, viewer: User) -> dict[str, Any]:
    """What an import made, as LabelsImported shows it."""
    return {
        "queue": stored.queue and queue_seen_by(viewer, stored.queue),
        "runs": [{"id": run.pk, "name": str(run)} for run in stored.runs],
        "left_out": left_out_as_data(stored.left_out),
    }
