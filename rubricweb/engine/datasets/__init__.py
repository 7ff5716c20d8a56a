"""Datasets in memory: items with labels, their files, their splits."""

from typing import TYPE_CHECKING, NoReturn

from rubricweb.engine.datasets.items import DataItem
from rubricweb.engine.datasets.overlaps import Overlap, overlap
from rubricweb.engine.datasets.rubric_dataset import RubricDataset
from rubricweb.engine.datasets.split_report import LabelBalance, SplitReport, describe_split
from rubricweb.engine.published.former_names import refuse_name

__all__ = [
    "DataItem",
    "LabelBalance",
    "Overlap",
    "RubricDataset",
    "SplitReport",
    "describe_split",
    "overlap",
]


if not TYPE_CHECKING:  # which would take it for a module with every name there is

    def __getattr__(name: str) -> NoReturn:
        refuse_name(__name__, name)
