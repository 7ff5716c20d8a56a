"""The export formats by the name they are asked for; adding one is its writers and a line here."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec

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
from rubricweb.engine.formats.wide_files import ground_truth_wide, verdicts_wide

CONTENTS = {"ground_truth": "Ground truth", "verdicts": "All verdicts"}
"""What an export can hold, by the name it is asked for."""

BUNDLE = "bundle"


@dataclass(frozen=True, slots=True)
class ExportFormat:
    """How a format is offered and written, in streamed pieces; a writer it does not have is None."""

    title: str
    suffix: str
    content_type: str
    write_ground_truth: Callable[[Iterable[GroundTruthItem], DatasetHead], Iterator[str]]
    write_verdicts: Callable[[Iterable[VerdictRow], DatasetHead], Iterator[str]] | None = None


def _verdicts_csv(rows: Iterable[VerdictRow], head: DatasetHead) -> Iterator[str]:
    return verdicts_csv(rows)


def _verdicts_jsonl(rows: Iterable[VerdictRow], head: DatasetHead) -> Iterator[str]:
    return verdicts_jsonl(rows)


_CSV = "text/csv; charset=utf-8"

FORMATS: dict[str, ExportFormat] = {
    "csv": ExportFormat("Long CSV", ".csv", _CSV, ground_truth_csv, _verdicts_csv),
    "wide": ExportFormat("Wide CSV", ".csv", _CSV, ground_truth_wide, verdicts_wide),
    "jsonl": ExportFormat(
        "JSON Lines", ".jsonl", "application/x-ndjson", ground_truth_jsonl, _verdicts_jsonl
    ),
    "autorubric": ExportFormat("autorubric dataset", ".json", "application/json", autorubric_dataset),
}


@dataclass(frozen=True, slots=True)
class OfferedFormat:
    """A format as it is offered: `contents` are the names in CONTENTS it can hold."""

    title: str
    suffix: str
    content_type: str
    contents: tuple[str, ...]


def _offered() -> dict[str, OfferedFormat]:
    """FORMATS, and what is written from a whole dataset; Parquet where it can be."""
    offered = {
        name: OfferedFormat(
            one.title,
            one.suffix,
            one.content_type,
            ("ground_truth",) if one.write_verdicts is None else tuple(CONTENTS),
        )
        for name, one in FORMATS.items()
    }
    offered["yaml"] = OfferedFormat("YAML dataset", ".yaml", "application/yaml", ("ground_truth",))
    if find_spec("pyarrow") is not None:
        parquet = "application/vnd.apache.parquet"
        offered["parquet"] = OfferedFormat("Parquet dataset", ".parquet", parquet, ("ground_truth",))
    offered[BUNDLE] = OfferedFormat("Bundle of everything", ".zip", "application/zip", ("verdicts",))
    return offered


EXPORT_FORMATS = _offered()
"""Every format an export is offered in, by the name it is asked for."""

__all__ = [
    "BUNDLE",
    "CONTENTS",
    "EXPORT_FORMATS",
    "FORMATS",
    "DatasetHead",
    "ExportFormat",
    "GroundTruthItem",
    "OfferedFormat",
    "VerdictRow",
]
