"""Datasets in memory: items with labels, their files, their splits."""

from rubricweb.engine.datasets.items import DataItem
from rubricweb.engine.datasets.overlaps import Overlap, overlap
from rubricweb.engine.datasets.rubric_dataset import RubricDataset
from rubricweb.engine.datasets.split_report import LabelBalance, SplitReport, describe_split

__all__ = [
    "DataItem",
    "LabelBalance",
    "Overlap",
    "RubricDataset",
    "SplitReport",
    "describe_split",
    "overlap",
]
