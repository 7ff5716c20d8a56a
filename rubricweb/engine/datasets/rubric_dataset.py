"""A dataset with its rubric: items in memory, files, scores of labels, seeded splits."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any

from rubricweb.engine.datasets.items import DataItem
from rubricweb.engine.datasets.overlaps import seal_of
from rubricweb.engine.datasets.stratification import stratified_halves
from rubricweb.engine.errors import FaultList, InvalidFile, shown
from rubricweb.engine.formats.content_ids import numbered_ids
from rubricweb.engine.formats.dataset_values import DatasetFile, Prompt
from rubricweb.engine.formats.datasets.files import read_dataset
from rubricweb.engine.formats.datasets.writers import header_fields, item_fields, write_dataset
from rubricweb.engine.formats.records import SUFFIXES, format_of
from rubricweb.engine.rubric import Rubric
from rubricweb.engine.scoring import score_labels
from rubricweb.engine.verdict import Label


# Long because it is the library’s one noun for a dataset: each method is a line or two.
@dataclass
class RubricDataset:
    """Items that answer one prompt, with the rubric they are graded by.

    ``prompt``, ``rubric`` and ``reference_submission`` hold for every item that has none of its own. Labels
    are checked and spelled as the rubric spells them when an item comes in; two items of the same content and
    no id of their own are numbered apart. Raises ValueError with every fault and its place
    (``items[3].ground_truth[1]``): labels of the wrong number or unknown, ids that occur twice.
    """

    prompt: Prompt | None = None
    rubric: Rubric | None = None
    items: list[DataItem] = field(default_factory=list)
    name: str | None = None
    reference_submission: str | None = None
    _taken: set[str] = field(default_factory=set, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        given, self.items = self.items, []
        faults = FaultList()
        for index, item in enumerate(given):
            try:
                self._append(item, f"items[{index}]")
            except InvalidFile as refusal:
                faults.extend(refusal)
        faults.raise_as(InvalidFile)

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[DataItem]:
        return iter(self.items)

    def __getitem__(self, idx: int) -> DataItem:
        return self.items[idx]

    @property
    def criterion_names(self) -> list[str]:
        """The names of the dataset's criteria. Raises ValueError when it has no rubric."""
        return list(self._own_rubric("criterion_names").names)

    @property
    def num_criteria(self) -> int:
        """How many criteria the dataset's rubric has. Raises ValueError when it has none."""
        return len(self._own_rubric("num_criteria").criteria)

    @property
    def total_positive_weight(self) -> float:
        """Sum of the positive weights of the dataset's rubric. Raises ValueError when it has none."""
        return sum(max(0.0, weight) for weight in self._own_rubric("total_positive_weight").weights)

    @property
    def item_ids(self) -> list[str]:
        """Every item's id, in order; no two are the same."""
        return [item.id for item in self.items]

    def get_item_rubric(self, idx: int) -> Rubric:
        """The rubric in force for an item: its own, else the dataset's. Raises ValueError without either."""
        rubric = self.items[idx].rubric or self.rubric
        if rubric is None:
            raise ValueError(f"items[{idx}] has no rubric and neither has the dataset; one of them needs it")
        return rubric

    def get_item_reference_submission(self, idx: int) -> str | None:
        """The reference in force for an item: its own, else the dataset's, None without either."""
        own = self.items[idx].reference_submission
        return self.reference_submission if own is None else own

    def get_item_prompt(self, idx: int) -> Prompt | None:
        """The prompt in force for an item: its own, else the dataset's."""
        own = self.items[idx].prompt
        return self.prompt if own is None else own

    def add_item(
        self,
        submission: str,
        description: str = "",
        ground_truth: Sequence[Label | None] | None = None,
        rubric: Rubric | None = None,
        reference_submission: str | None = None,
        **more: Any,
    ) -> None:
        """Add an item; ``more`` are the other fields of DataItem.

        Raises ValueError when no rubric is in force for it, for labels of another number than criteria or
        unknown ones, and for an id that is taken.
        """
        truth = None if ground_truth is None else list(ground_truth)
        item = DataItem(submission, description, truth, rubric, reference_submission, **more)
        place = f"items[{len(self.items)}]"
        if item.rubric is None and self.rubric is None:
            raise ValueError(f"{place} has no rubric and neither has the dataset; one of them needs it")
        self._append(item, place)

    def compute_weighted_score(
        self,
        verdicts: Sequence[Label | float | None],
        normalize: bool = True,
        rubric: Rubric | None = None,
    ) -> float | None:
        """The score of one label per criterion, by ``score_labels`` with abstentions skipped.

        From 0 to 1, or the weighted sum when not normalised; None among the labels is a gap. Unlike the
        published formula, which says 0.0 in both cases, it is None when nothing is left to score, and
        1 + raw / N for a rubric of negative weights only.
        Weights (10, 5, −3) and MET, UNMET, MET: (10 − 3) / 15 = 0.467.

        Raises ValueError without any rubric, for another number of labels than criteria, unknown labels, and
        a Verdict where an option is asked for.
        """
        in_force = rubric if rubric is not None else self.rubric
        if in_force is None:
            raise ValueError("no rubric to score with; allowed: one given here, or the dataset's own")
        return score_labels(in_force, verdicts, normalize=normalize).score

    def seal(self, salt: str = "") -> str:
        """The digest of what is graded: see ``overlaps.seal_of``. Write it down before looking at results."""
        return seal_of(self, salt)

    def split_train_test(
        self, n_train: int, *, stratify: bool = True, seed: int | None = None
    ) -> tuple[RubricDataset, RubricDataset]:
        """Divide the items: exactly ``n_train`` for training (few-shot examples), the rest for testing.

        ``stratify`` spreads every label of every criterion alike over both parts (see ``stratified_halves``);
        ``describe_split`` counts how well that went. A criterion is the same in two rubrics when name and
        requirement are; one that a single item has cannot be balanced. With one ``seed`` the split is the
        same on every machine; None draws anew. Items keep their order.

        Raises ValueError for an ``n_train`` that is negative or more than there are items, and, stratified,
        for items without ground truth.
        """
        if isinstance(n_train, bool) or not isinstance(n_train, int) or not 0 <= n_train <= len(self.items):
            raise ValueError(f"n_train is {n_train!r}; allowed: a whole number from 0 to {len(self.items)}")
        rng = Random(seed)  # noqa: S311 - a repeatable draw, nothing secret
        if stratify:
            chosen, rest = stratified_halves(self._strata(), n_train, rng)
        else:
            order = list(range(len(self.items)))
            rng.shuffle(order)
            chosen, rest = sorted(order[:n_train]), sorted(order[n_train:])
        return (
            replace(self, items=[self.items[position] for position in chosen]),
            replace(self, items=[self.items[position] for position in rest]),
        )

    def to_json(self, indent: int | None = 2) -> str:
        """The dataset as JSON text, ``indent`` spaces per level, None for one line."""
        file = self.to_dataset_file()
        whole = header_fields(file) | {"items": [item_fields(item) for item in file.items]}
        return json.dumps(whole, ensure_ascii=False, indent=indent, allow_nan=False)

    def to_yaml(self) -> str:
        """The dataset as YAML text."""
        return b"".join(write_dataset(self.to_dataset_file(), "yaml")).decode()

    def to_file(self, path: str | Path) -> None:
        """Write the dataset in the format its name ends in: .json, .jsonl, .csv, .yaml or .parquet.

        What each format keeps is said by ``write_dataset``. Raises ValueError for another ending, before
        anything is written.
        """
        path = Path(path)
        format = format_of(path.name)
        if format is None or path.name.casefold().endswith(".tsv"):
            allowed = ", ".join(suffix for suffix in SUFFIXES if suffix != ".tsv")
            raise ValueError(f"cannot write {path.name}; allowed: a name ending in {allowed}")
        written = b"".join(write_dataset(self.to_dataset_file(), format))
        path.write_bytes(written)

    @classmethod
    def from_json(cls, json_string: str) -> RubricDataset:
        """Read the published form: an object with prompt, rubric and items, each with a description.

        Raises InvalidFile (a ValueError) with every fault and its place; the keys prompt and rubric must be
        there, null where the dataset has none (prompt may be missing where every item has its own), and every
        item needs a rubric in force. Without items, or without that key, the dataset is empty.
        """
        file = read_dataset(
            json_string.encode("utf-8", "surrogatepass"),
            filename="dataset.json",
            needs=("prompt", "rubric"),
            item_needs=("description", "rubric"),
            may_be_empty=True,
        )
        return cls.from_dataset_file(file)

    @classmethod
    def from_yaml(cls, yaml_string: str, *, rubric: Rubric | None = None) -> RubricDataset:
        """Read YAML text as ``from_file`` reads a file."""
        data = yaml_string.encode("utf-8", "surrogatepass")
        return cls.from_dataset_file(
            read_dataset(
                data, filename="dataset.yaml", rubric=rubric, item_needs=("rubric",), may_be_empty=True
            )
        )

    @classmethod
    def from_file(cls, path: str | Path, *, rubric: Rubric | None = None) -> RubricDataset:
        """Read a dataset file of any format ``read_dataset`` knows, with the same refusals.

        ``rubric`` stands in where the file brings none: every item needs one. A file of ours without items is
        an empty dataset. Raises FileNotFoundError, and
        InvalidFile (a ValueError) with every fault and its place.
        """
        path = Path(path)
        return cls.from_dataset_file(
            read_dataset(
                path.read_bytes(),
                filename=path.name,
                rubric=rubric,
                item_needs=("rubric",),
                may_be_empty=True,
            )
        )

    @classmethod
    def from_dataset_file(cls, file: DatasetFile) -> RubricDataset:
        """The dataset a file holds."""
        return cls(
            prompt=file.prompt,
            rubric=file.rubric,
            items=[DataItem.from_record(record) for record in file.items],
            name=file.name or None,
            reference_submission=file.reference,
        )

    def to_dataset_file(self) -> DatasetFile:
        """The dataset as files hold it. Raises InvalidFile for items changed into something faulty."""
        records = [
            item.to_record(item.rubric or self.rubric, f"items[{index}]")
            for index, item in enumerate(self.items)
        ]
        return DatasetFile(
            self.name or "", self.prompt, self.rubric, self.reference_submission, tuple(records)
        )

    def _append(self, item: DataItem, place: str) -> None:
        item = item.with_own_labels(item.rubric or self.rubric, place)
        if len(self._taken) != len(self.items):  # somebody changed the list itself
            self._taken = {other.id for other in self.items}
        taken = self._taken
        if item.id in taken and item.has_derived_id:
            item = replace(item, id=next(id for _, id in numbered_ids(item.content_id) if id not in taken))
        elif item.id in taken:
            faults = FaultList()
            faults.add(f"{place}.id", f"{shown(item.id)} again", "ids that occur once, or no id")
            faults.raise_as(InvalidFile)
        self.items.append(item)
        self._taken.add(item.id)

    def _own_rubric(self, wanted: str) -> Rubric:
        if self.rubric is None:
            raise ValueError(f"{wanted} needs a rubric of the dataset's own; items here bring theirs")
        return self.rubric

    def _strata(self) -> list[list[tuple[str, str, str]]]:
        unlabelled = [index for index, item in enumerate(self.items) if item.ground_truth is None]
        if unlabelled:
            raise ValueError(
                f"items[{unlabelled[0]}] has no ground truth ({len(unlabelled)} in all); "
                "allowed: ground truth for every item, or stratify=False"
            )
        return [
            [
                (str(criterion.name), criterion.requirement, str(label))
                for criterion, label in zip(
                    self.get_item_rubric(index).criteria, item.ground_truth or (), strict=True
                )
                if label is not None
            ]
            for index, item in enumerate(self.items)
        ]
