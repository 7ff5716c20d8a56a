"""Shapes of the splits of a dataset whose cases are marked dev or test."""

from datetime import datetime
from typing import Annotated

from ninja import Schema
from pydantic import Field

from rubricweb.api.datasets.schemas import LabelBalance
from rubricweb.api.schemas import Input, Named, Share, Username
from rubricweb.api.shapes import Shape
from rubricweb.selectors.datasets.looks import Look as ShownLook

Seed = Annotated[int, Field(ge=0, lt=2**63)]


class NewSplit(Input):
    """`n_dev` cases become dev, all others test; `seed` makes the draw repeatable."""

    n_dev: Annotated[int, Field(ge=1, le=10_000_000)]
    seed: Seed = 0


class MoreCases(Input):
    """`seed` is that of the first draw unless given."""

    seed: Seed | None = None


class CaseSplit(Schema):
    """A draw: number 1 split the dataset, the later ones marked the cases that had come since."""

    number: int
    seed: int
    n_dev: Annotated[int, Field(description="How many cases it marked dev.")]
    n_test: Annotated[int, Field(description="How many cases it marked test.")]
    dataset_version: int
    created_by: Username
    created_at: datetime


class SplitReport(Schema):
    """How alike the two splits were after the newest draw.

    `labels` count labelled answers; `largest_difference` is the largest gap between the splits' shares of a
    label, 0 to 1. Both are null while you are still to review items of the dataset blind.
    """

    n_dev: int
    n_test: int
    labelled_dev: Annotated[int, Field(description="Dev cases with a label.")]
    labelled_test: Annotated[int, Field(description="Test cases with a label.")]
    largest_difference: Share
    labels: list[LabelBalance] | None
    same_words: Annotated[
        int, Field(description="Answers to dev cases that ask and say what one to a test case does.")
    ]


class Look(Shape[ShownLook]):
    """A look at the test split: a judge held against people on its cases, by whoever opened it first.

    `number` counts the looks of all people, rubrics and judges; the same verdicts and labels are one look.
    """

    confidence: Annotated[
        float,
        Field(
            description="At which its claims hold: 1 − 0.05/(k(k + 1)) at look k, so that over all looks "
            "together the chance of a wrong claim stays within 5 %."
        ),
    ]
    units: Annotated[
        int | None,
        Field(description="The items of test cases and criteria that were compared; null as `seal`."),
    ]
    items: Annotated[int | None, Field(description="The items that were compared; null as `seal`.")]
    dataset: Named
    seal: Annotated[
        str | None,
        Field(
            description="Digest, with a salt, of the answers that were in the test split then: looks with "
            "one seal were at the same answers. Null while you are to review an item of the dataset blind."
        ),
    ]
    run: Annotated[Named | None, Field(description="The run that was compared; null once it is deleted.")]
    looked_by: Username


class DatasetSplit(Schema):
    """How many cases are in which split; `draws`, the newest first, are none while nobody split them.

    `looks` at the test split are the newest first; a sealed copy has them too.
    """

    dev: int
    test: int
    without: Annotated[int, Field(description="Cases that came after the split and are in neither split.")]
    draws: list[CaseSplit]
    report: SplitReport | None
    looks: list[Look]
