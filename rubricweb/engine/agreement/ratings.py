"""Who said what about which unit: raters × units, gaps allowed."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

GAP = -1
_MISSING_OF_PANDAS = ("NAType", "NaTType")
VERDICT_VALUES = {"UNMET": 0.0, "MET": 1.0}


def label_text(label: object) -> str | None:
    """A label as text; None where it is missing: None, a NaN of any library, pandas' NA and NaT.

    A whole number is written as one: pandas turns 1 into 1.0 where another value of its column is missing.
    """
    if label is None or isinstance(label, str):
        return label
    if type(label).__name__ in _MISSING_OF_PANDAS or label != label:  # only NaN differs from itself
        return None
    if isinstance(label, float) and label.is_integer():
        return str(int(label))
    return str(label)


def label_texts(labels: Iterable[object]) -> list[str | None]:
    """The labels of a column by `label_text`."""
    return [label_text(label) for label in labels]


@dataclass(frozen=True, eq=False)
class Ratings:
    """Labels that raters gave to units, with the cluster (item) that each unit belongs to.

    `codes` is (raters × units) of indexes into `labels`, `GAP` (−1) where a rater did not label a unit.
    `clusters` is (units,) of indexes 0 … C−1: units of one item share a cluster and are resampled together.
    `raters` and `units` keep the order of first appearance, so the same rows give the same object.

    `levels` is the full list of options in their order, used or not, and then `labels` is that same list;
    None means that only the labels that were seen are known, in order of first appearance. `values` gives
    each level its number on an interval scale; None means there are none. Raises ValueError when `labels`
    and `levels` differ, when `values` come without levels or are not one finite number per label, and when a
    code names no label.
    """

    raters: tuple[Hashable, ...]
    units: tuple[Hashable, ...]
    labels: tuple[str, ...]
    codes: NDArray[np.int64]
    clusters: NDArray[np.int64]
    levels: tuple[str, ...] | None = None
    values: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        if self.levels is not None and self.labels != self.levels:
            raise ValueError(f"labels must be the levels {self.levels!r}; found {self.labels!r}")
        if self.values is not None:
            if self.levels is None:
                raise ValueError("values belong to levels; found values without levels")
            if len(self.values) != len(self.labels):
                raise ValueError(
                    f"values must give one number for each of {len(self.labels)} labels; "
                    f"found {len(self.values)}"
                )
            if not all(math.isfinite(value) for value in self.values):
                raise ValueError(f"values must be finite numbers; found {self.values!r}")
        if self.codes.size and not GAP <= int(self.codes.min()) <= int(self.codes.max()) < len(self.labels):
            raise ValueError(
                f"codes must lie in {GAP} … {len(self.labels) - 1}; "
                f"found {int(self.codes.min())} … {int(self.codes.max())}"
            )

    @classmethod
    def from_triples(
        cls,
        triples: Iterable[tuple[Hashable, Hashable, str | None]],
        *,
        cluster_of: Callable[[Hashable], Hashable] | None = None,
        gaps: Collection[str] = (),
        levels: Sequence[str] | None = None,
        values: Sequence[float] | None = None,
    ) -> Ratings:
        """Build from (unit, rater, label) rows in any order.

        A label of None or NaN (see `label_text`), or one listed in `gaps` (pass `("CANNOT_ASSESS",)` to set
        abstentions aside), is a gap; its unit and rater are still counted. `cluster_of(unit)` names the item
        a unit belongs to; without it, every unit is its own cluster. `levels` is the full list of
        options in order, and `values` the number of each; labels are then matched after strip and casefold.
        Raises ValueError when a unit, rater or cluster is NaN, when a rater labels the same unit twice, when
        a label is none of the levels, or when two levels match each other.
        """
        index = _LabelIndex(levels, gaps)
        unit_index: dict[Hashable, int] = {}
        rater_index: dict[Hashable, int] = {}
        cells: dict[tuple[int, int], int] = {}
        for unit, rater, label in triples:
            if unit != unit or rater != rater:  # NaN
                raise ValueError(f"unit {unit!r} of rater {rater!r}; allowed: a name for each of them")
            column = unit_index.setdefault(unit, len(unit_index))
            row = rater_index.setdefault(rater, len(rater_index))
            if (row, column) in cells:
                raise ValueError(
                    f"rater {rater!r} labelled unit {unit!r} twice; one label per rater and unit"
                )
            try:
                cells[row, column] = index.code(label)
            except KeyError:
                raise ValueError(
                    f"rater {rater!r} gave unit {unit!r} the label {label!r}; allowed are "
                    f"{', '.join(map(repr, levels or ()))}"
                ) from None
        codes = np.full((len(rater_index), len(unit_index)), GAP, dtype=np.int64)
        if cells:
            places = np.array(list(cells), dtype=np.int64)
            codes[places[:, 0], places[:, 1]] = list(cells.values())
        items = list(unit_index) if cluster_of is None else [cluster_of(unit) for unit in unit_index]
        return cls(
            raters=tuple(rater_index),
            units=tuple(unit_index),
            labels=index.labels,
            codes=codes,
            clusters=cluster_codes(items),
            levels=None if levels is None else tuple(levels),
            values=None if values is None else tuple(float(value) for value in values),
        )

    @classmethod
    def from_columns(
        cls,
        columns: Sequence[Sequence[str | None]],
        *,
        clusters: Sequence[Hashable] | None = None,
        gaps: Collection[str] = (),
        levels: Sequence[str] | None = None,
        values: Sequence[float] | None = None,
    ) -> Ratings:
        """Build from one sequence of labels per rater, all over the same units in the same order.

        Raters and units are named 0, 1, …. `clusters` gives each unit's item; `gaps`, `levels` and `values`
        are those of `from_triples`. Raises ValueError when the lengths differ.
        """
        lengths = {len(column) for column in columns} | ({len(clusters)} if clusters is not None else set())
        if len(lengths) > 1:
            raise ValueError(
                f"every rater and `clusters` must cover the same units; found lengths {sorted(lengths)}"
            )
        triples = (
            (unit, rater, label) for rater, column in enumerate(columns) for unit, label in enumerate(column)
        )
        built = cls.from_triples(triples, gaps=gaps, levels=levels, values=values)
        if not built.units:
            raters = tuple(range(len(columns)))
            return replace(built, raters=raters, codes=np.empty((len(raters), 0), dtype=np.int64))
        return built if clusters is None else replace(built, clusters=cluster_codes(clusters))

    def label_counts(self) -> NDArray[np.int64]:
        """(units × labels): how many raters gave each label to each unit."""
        counts = np.zeros((len(self.units), len(self.labels)), dtype=np.int64)
        for code in range(len(self.labels)):
            counts[:, code] = (self.codes == code).sum(axis=0)
        return counts

    def on_full_scale(self) -> Ratings:
        """These ratings over the full list of options, so that labels nobody used count as options too.

        Ratings with levels are returned as they are; labels that are all MET or UNMET get the levels UNMET,
        MET with the values 0 and 1; of any other labels only the seen ones are known, and these ratings are
        returned unchanged.
        """
        if self.levels is not None or not set(self.labels) <= set(VERDICT_VALUES):
            return self
        levels = tuple(VERDICT_VALUES)
        # One more place at the end, so that a gap's code of −1 stays a gap.
        recode = np.array([*(levels.index(label) for label in self.labels), GAP], dtype=np.int64)
        return replace(self, labels=levels, levels=levels, codes=recode[self.codes])

    def numbers(self) -> NDArray[np.float64]:
        """(raters × units): the value of each label, NaN at gaps; MET is 1 and UNMET 0 without `values`.

        Raises ValueError when other labels have no values.
        """
        values = self.values
        if values is None:
            if not set(self.labels) <= set(VERDICT_VALUES):
                raise ValueError(
                    f"the labels {', '.join(map(repr, self.labels))} have no numbers; pass values with levels"
                )
            values = tuple(VERDICT_VALUES[label] for label in self.labels)
        return np.array([*values, np.nan])[self.codes]

    def of_units(self, keep: Callable[[Hashable], bool]) -> Ratings:
        """The units for which `keep(unit)` is true, with every rater and the same labels."""
        kept = np.array([keep(unit) for unit in self.units], dtype=np.bool_)
        return replace(
            self,
            units=tuple(unit for unit, stays in zip(self.units, kept, strict=True) if stays),
            codes=self.codes[:, kept],
            clusters=cluster_codes(self.clusters[kept].tolist()),
        )


class _LabelIndex:
    """Codes of labels: by the given levels after strip and casefold, else in order of first appearance."""

    def __init__(self, levels: Sequence[str] | None, gaps: Collection[str]) -> None:
        self._closed = levels is not None
        self._gaps = {self._key(gap) for gap in gaps}
        self._codes: dict[str, int] = {}
        for level in levels or ():
            if self._key(level) in self._codes:
                raise ValueError(f"levels must differ after strip and casefold; found {level!r} twice")
            self._codes[self._key(level)] = len(self._codes)
        self._levels = tuple(levels or ())

    def _key(self, label: str) -> str:
        return label.strip().casefold() if self._closed else label

    def code(self, label: object) -> int:
        text = label_text(label)
        if text is None or self._key(text) in self._gaps:
            return GAP
        if self._closed:
            return self._codes[self._key(text)]
        return self._codes.setdefault(text, len(self._codes))

    @property
    def labels(self) -> tuple[str, ...]:
        return self._levels if self._closed else tuple(self._codes)


def cluster_codes(items: Iterable[Hashable]) -> NDArray[np.int64]:
    """(units,) of indexes 0 … C−1 in order of first appearance: ["a", "b", "a"] → [0, 1, 0].

    Raises ValueError for a NaN: whether two of them are one item nobody knows.
    """
    if isinstance(items, range):
        return np.arange(len(items), dtype=np.int64)
    items = list(items)
    if any(item != item for item in items):
        raise ValueError("a cluster is NaN; allowed: the name of an item for each unit")
    index: dict[Hashable, int] = {}
    return np.array([index.setdefault(item, len(index)) for item in items], dtype=np.int64)
