"""Who said what about which unit: raters × units, gaps allowed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

GAP = -1


@dataclass(frozen=True, eq=False)
class Ratings:
    """Labels that raters gave to units, with the cluster (item) that each unit belongs to.

    `codes` is (raters × units) of indexes into `labels`, `GAP` (−1) where a rater did not label a unit.
    `clusters` is (units,) of indexes 0 … C−1: units of one item share a cluster and are resampled together.
    `raters`, `units` and `labels` keep the order of first appearance, so the same rows give the same object.
    """

    raters: tuple[Hashable, ...]
    units: tuple[Hashable, ...]
    labels: tuple[str, ...]
    codes: NDArray[np.int64]
    clusters: NDArray[np.int64]

    @classmethod
    def from_triples(
        cls,
        triples: Iterable[tuple[Hashable, Hashable, str | None]],
        *,
        cluster_of: Callable[[Hashable], Hashable] | None = None,
        gaps: Collection[str] = (),
    ) -> Ratings:
        """Build from (unit, rater, label) rows in any order.

        A label of None, or one listed in `gaps` (pass `("CANNOT_ASSESS",)` to set abstentions aside), is a
        gap; its unit and rater are still counted. `cluster_of(unit)` names the item a unit belongs to;
        without it, every unit is its own cluster. Raises ValueError when a rater labels the same unit twice.
        """
        unit_index: dict[Hashable, int] = {}
        rater_index: dict[Hashable, int] = {}
        label_index: dict[str, int] = {}
        cells: dict[tuple[int, int], int] = {}
        for unit, rater, label in triples:
            column = unit_index.setdefault(unit, len(unit_index))
            row = rater_index.setdefault(rater, len(rater_index))
            if (row, column) in cells:
                raise ValueError(
                    f"rater {rater!r} labelled unit {unit!r} twice; one label per rater and unit"
                )
            missing = label is None or label in gaps
            cells[row, column] = GAP if missing else label_index.setdefault(str(label), len(label_index))
        codes = np.full((len(rater_index), len(unit_index)), GAP, dtype=np.int64)
        if cells:
            places = np.array(list(cells), dtype=np.int64)
            codes[places[:, 0], places[:, 1]] = list(cells.values())
        items = list(unit_index) if cluster_of is None else [cluster_of(unit) for unit in unit_index]
        return cls(tuple(rater_index), tuple(unit_index), tuple(label_index), codes, cluster_codes(items))

    @classmethod
    def from_columns(
        cls,
        columns: Sequence[Sequence[str | None]],
        *,
        clusters: Sequence[Hashable] | None = None,
        gaps: Collection[str] = (),
    ) -> Ratings:
        """Build from one sequence of labels per rater, all over the same units in the same order.

        Raters and units are named 0, 1, …. `clusters` gives each unit's item. Raises ValueError when the
        lengths differ.
        """
        lengths = {len(column) for column in columns} | ({len(clusters)} if clusters is not None else set())
        if len(lengths) > 1:
            raise ValueError(
                f"every rater and `clusters` must cover the same units; found lengths {sorted(lengths)}"
            )
        triples = (
            (unit, rater, label) for rater, column in enumerate(columns) for unit, label in enumerate(column)
        )
        built = cls.from_triples(triples, gaps=gaps)
        return built if clusters is None else replace(built, clusters=cluster_codes(clusters))

    def label_counts(self) -> NDArray[np.int64]:
        """(units × labels): how many raters gave each label to each unit."""
        counts = np.zeros((len(self.units), len(self.labels)), dtype=np.int64)
        for code in range(len(self.labels)):
            counts[:, code] = (self.codes == code).sum(axis=0)
        return counts


def cluster_codes(items: Iterable[Hashable]) -> NDArray[np.int64]:
    """(units,) of indexes 0 … C−1 in order of first appearance: ["a", "b", "a"] → [0, 1, 0]."""
    index: dict[Hashable, int] = {}
    return np.array([index.setdefault(item, len(index)) for item in items], dtype=np.int64)
