"""What a split balanced, in counts anyone can check."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rubricweb.engine.datasets.overlaps import Overlap, overlap

if TYPE_CHECKING:
    from rubricweb.engine.datasets.rubric_dataset import RubricDataset


@dataclass(frozen=True, slots=True)
class LabelBalance:
    """How many items of each part carry one label of one criterion."""

    criterion: str
    label: str
    train: int
    test: int


@dataclass(frozen=True, slots=True)
class SplitReport:
    """A split in numbers: sizes, counts per criterion and label, seals of both parts, what they share.

    ``largest_difference`` is the largest gap between the parts' shares of a label among the items labelled on
    that criterion, from 0 (the same in both) to 1; None when no criterion is labelled in both.
    """

    n_train: int
    n_test: int
    labels: tuple[LabelBalance, ...]
    train_seal: str
    test_seal: str
    overlap: Overlap

    @property
    def largest_difference(self) -> float | None:
        return largest_difference(self.labels)


def largest_difference(labels: Sequence[LabelBalance]) -> float | None:
    """The largest gap between the parts' shares of a label; see ``SplitReport``."""
    totals: dict[str, list[int]] = {}
    for row in labels:
        total = totals.setdefault(row.criterion, [0, 0])
        total[0] += row.train
        total[1] += row.test
    gaps = [
        abs(row.train / totals[row.criterion][0] - row.test / totals[row.criterion][1])
        for row in labels
        if all(totals[row.criterion])
    ]
    return max(gaps, default=None)


def describe_split(train: RubricDataset, test: RubricDataset) -> SplitReport:
    """Count every label of every criterion (by name) in both parts of a split.

    Train MET, UNMET and test MET, MET on one criterion: shares of MET 0.5 and 1.0, largest difference 0.5.
    """
    counts = (_counts(train), _counts(test))
    keys = list(dict.fromkeys([*counts[0], *counts[1]]))
    order = {name: number for number, name in enumerate(dict.fromkeys(name for name, _ in keys))}
    keys.sort(key=lambda key: (order[key[0]], key[1]))
    return SplitReport(
        len(train.items),
        len(test.items),
        tuple(
            LabelBalance(name, label, counts[0][name, label], counts[1][name, label]) for name, label in keys
        ),
        train.seal(),
        test.seal(),
        overlap(train, test),
    )


def _counts(dataset: RubricDataset) -> Counter[tuple[str, str]]:
    found: Counter[tuple[str, str]] = Counter()
    for index, item in enumerate(dataset.items):
        if item.ground_truth is None:
            continue
        names = dataset.get_item_rubric(index).names
        found.update(
            (name, str(label))
            for name, label in zip(names, item.ground_truth, strict=True)
            if label is not None
        )
    return found
