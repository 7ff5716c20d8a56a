"""Whether two datasets share items, and the digest that fixes what a dataset holds."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rubricweb.engine.autograders.examples.few_shot import content_digest
from rubricweb.engine.formats.field_values import canonical
from rubricweb.engine.submission import Submission

if TYPE_CHECKING:
    from rubricweb.engine.datasets.rubric_dataset import RubricDataset


@dataclass(frozen=True, slots=True)
class Overlap:
    """What two datasets share; false in a condition when they share nothing to worry about.

    ``ids``: ids in both. ``contents``: pairs of ids, one from each, whose prompt and submission are the same
    text but for white space. ``groups``: groups in both, which is no overlap of items but often a leak.
    """

    ids: tuple[str, ...] = ()
    contents: tuple[tuple[str, str], ...] = ()
    groups: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.ids or self.contents)


def overlap(first: RubricDataset, second: RubricDataset) -> Overlap:
    """What the two datasets share, by id and by content. Two halves of a split share nothing."""
    ids = {item.id for item in second.items}
    second_groups = {item.group for item in second.items if item.group is not None}
    by_content: dict[str, list[str]] = {}
    for index, item in enumerate(second.items):
        by_content.setdefault(_content(second, index), []).append(item.id)
    pairs = [
        (item.id, other)
        for index, item in enumerate(first.items)
        for other in by_content.get(_content(first, index), ())
    ]
    return Overlap(
        tuple(item.id for item in first.items if item.id in ids),
        tuple(pairs),
        tuple(sorted({item.group for item in first.items if item.group in second_groups if item.group})),
    )


def seal_of(dataset: RubricDataset, salt: str = "") -> str:
    """The digest, 64 hexadecimal digits, of every item's id, what a judge is shown of it, rubric and ground
    truth.

    The order of the items, names, descriptions, metadata and raters' labels do not take part. Two datasets
    with one seal and salt are graded alike.

    Without a salt it is a SHA-256: people who have the items can try which labels give it. Choose a random
    ``salt`` for a seal that others see before the labels, and keep it to prove the seal later.
    """
    sealed = []
    for index, item in enumerate(dataset.items):
        rubric = dataset.rubric if item.rubric is None else item.rubric
        sealed.append(
            canonical(
                [
                    item.id,
                    item.submission,
                    item.thinking,
                    dataset.get_item_prompt(index),
                    dataset.get_item_reference_submission(index),
                    None if rubric is None else rubric.to_dict(ids=False),
                    item.ground_truth,
                ]
            )
        )
    return salted(hashlib.sha256("\n".join(sorted(sealed)).encode()).hexdigest(), salt)


def salted(digest: str, salt: str) -> str:
    """HMAC-SHA256 of the digest, hexadecimal, with the salt as its key; the digest itself without a salt."""
    return hmac.new(salt.encode(), digest.encode(), hashlib.sha256).hexdigest() if salt else digest


def _content(dataset: RubricDataset, index: int) -> str:
    item = dataset.items[index]
    return content_digest(Submission(item.submission, query=dataset.get_item_prompt(index)))
