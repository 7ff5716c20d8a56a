"""The export formats by the name they are asked for; adding one is its writers and a line here."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from rubricweb.engine.formats.result_files import (
    DatasetHead,
    GroundTruthItem,
    VerdictRow,
    autorubric_dataset,
    ground_truth_csv,
    ground_truth_jsonl,
    verdicts_csv,
    verdicts_jsonl,
)


@dataclass(frozen=True, slots=True)
class ExportFormat:
    """How a format is offered and written, in streamed pieces; a writer it does not have is None."""

    title: str
    suffix: str
    content_type: str
    write_ground_truth: Callable[[Iterable[GroundTruthItem], DatasetHead], Iterator[str]]
    write_verdicts: Callable[[Iterable[VerdictRow]], Iterator[str]] | None = None


FORMATS: dict[str, ExportFormat] = {
    "csv": ExportFormat("Long CSV", ".csv", "text/csv; charset=utf-8", ground_truth_csv, verdicts_csv),
    "jsonl": ExportFormat("JSON Lines", ".jsonl", "application/x-ndjson", ground_truth_jsonl, verdicts_jsonl),
    "autorubric": ExportFormat("autorubric dataset", ".json", "application/json", autorubric_dataset),
}

__all__ = ["FORMATS", "DatasetHead", "ExportFormat", "GroundTruthItem", "VerdictRow"]
