"""What each group of criteria comes to over the items of a run."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any, cast

import numpy as np
from django.db.models import QuerySet

from rubricweb.engine.agreement.intervals import Figure
from rubricweb.engine.agreement.scores.low_end import low_end
from rubricweb.engine.agreement.scores.means import mean_figure
from rubricweb.engine.agreement.scores.pairing import Unit, case_means
from rubricweb.engine.scoring import Abstention, OnError
from rubricweb.engine.scoring.parts import score_columns
from rubricweb.models import Criterion, Run, RunItem, RunSummary
from rubricweb.selectors.runs.diff.answers import LabelNumbers, answers_of, worth_of
from rubricweb.selectors.runs.graders import PER_ITEM
from rubricweb.selectors.shared.cases import has_repeated_cases, with_cases

ONE_SCORE = "The judge gave one score for all criteria at once."


@dataclass(frozen=True)
class GroupMean:
    """The mean score of one group of `criteria` criteria, each item's as `score_groups` has it.

    `name` is None for the criteria without a group. The figure's `n` counts what its `unit` says, items or
    cases, on which something of the group has a value; it is None where every answer abstained. `lowest` is
    the lowest score of an item. There is no share below the bar: a pass rule is of the whole rubric.
    """

    name: str | None
    criteria: int
    score: Figure
    unit: Unit
    lowest: float | None


def no_groups(run: Run) -> str:
    """Why there is no mean per group, in a sentence; "" where there is one."""
    if run.rubric_version_id is None:
        return "Every item brings its own rubric, so there are no groups they share."
    if not Criterion.objects.filter(version_id=run.rubric_version_id).exclude(group="").exists():
        return "No criterion of the rubric has a group."
    if run.autograder == PER_ITEM:
        return ONE_SCORE
    return ""


def group_means(run: Run, items: QuerySet[RunItem]) -> tuple[GroupMean, ...]:
    """The mean of every group over these items of the run, in the rubric's order; none where `no_groups`.

    Several answers to a case count as one. Items that bring a rubric of their own are left out. Five queries
    at most, one of them over every answer.
    """
    if no_groups(run):
        return ()
    criteria = list(Criterion.objects.filter(version_id=run.rubric_version_id).order_by("position"))
    shared = items.filter(rubric_version=run.rubric_version_id).order_by("item_id")
    by_case = has_repeated_cases(run)
    item_ids, cases = with_cases(shared, by_case=by_case)
    worth = worth_of(criteria)
    answers = answers_of(run, worth, item_ids, LabelNumbers())
    found = []
    for name in dict.fromkeys(criterion.group for criterion in criteria):
        members = [criterion for criterion in criteria if criterion.group == name]
        answers_of_members = [answers[criterion.pk] for criterion in members]
        weights = [criterion.weight for criterion in members]
        scores = score_columns(
            weights,
            np.array([one.values for one in answers_of_members]).T,
            np.array([one.failed | ~one.there for one in answers_of_members]).T,
            worst=[worth[criterion.pk].criterion.worst_value for criterion in members],
            normalize=run.normalize,
            abstention=cast(Abstention, run.abstention),
            on_error=cast(OnError, run.on_error),
        )
        ends = (0.0, 1.0)
        if not run.normalize:
            ends = fsum(min(0.0, one) for one in weights), fsum(max(0.0, one) for one in weights)
        mean = mean_figure(case_means(scores, cases).tolist(), limits=ends)
        unit: Unit = "case" if by_case else "item"
        found.append(GroupMean(name or None, len(members), mean, unit, low_end(scores).lowest))
    return tuple(found)


def as_stored(means: Sequence[GroupMean]) -> list[dict[str, Any]]:
    """The means as a summary's row keeps them."""
    return [
        {
            "name": one.name,
            "criteria": one.criteria,
            "score": {name: getattr(one.score, name) for name in ("value", "low", "high", "n")},
            "unit": one.unit,
            "lowest": one.lowest,
        }
        for one in means
    ]


def summarised_groups(summary: RunSummary | None) -> tuple[GroupMean, ...] | None:
    """The means as they were when the run ended; None without a summary or in one of before. Those kept
    before a lowest score was have none.
    """
    if summary is None or summary.groups is None:
        return None
    return tuple(
        GroupMean(
            one["name"], one["criteria"], Figure(**one["score"]), one.get("unit", "item"), one.get("lowest")
        )
        for one in summary.groups
    )
