"""The score of an item by what people said of it, by a run's own policies."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from statistics import fmean

import numpy as np

from rubricweb.engine.report import passes
from rubricweb.engine.rubric.criterion import Criterion as EngineCriterion
from rubricweb.engine.scoring import Abstention, Outcome, penalised, score_verdicts
from rubricweb.engine.scoring.outcomes import label_outcome
from rubricweb.engine.verdict import Verdict
from rubricweb.models import RubricVersion, Run, RunItem
from rubricweb.selectors.labels.ground_truth import Labels, Unit

MOST_COMBINATIONS = 120
"""So many combinations of people's answers are scored at most, where nobody answered every criterion."""


@dataclass(frozen=True)
class PeoplesScore:
    """People's score of one item: `mean` is the mean of their own scores, never the score of mean answers.

    Every person's answers are scored by themselves, cut at 0 and 1 and penalised, before the mean is taken.
    `by_rater` has the score of everybody who answered all criteria people are asked, by the id of the rater,
    and `mean` is theirs: what others said of some criteria is part of the rates of these. Where nobody
    answered all, `by_rater` is empty and `mean` that of the scores of `_combined` answers. `passed` is the
    share of the same scores that pass by the rubric's rule, None where it has a word on none of them.

    Worked: weights 1 and −1; ann says MET MET, bob UNMET MET, cat MET UNMET: 0, −1 cut to 0, and 1 make ⅓.
    Of their mean answers ⅔ and ⅔ the score would be 0.
    """

    mean: float
    by_rater: Mapping[int, float]
    passed: float | None


def scored_rows(runs: Iterable[Run], hidden: Collection[int]) -> list[RunItem]:
    """The items of runs that are not `hidden`, with what scores are made of."""
    rows = RunItem.objects.filter(run__in=runs).order_by("item_id")
    rows = rows.only(
        "run_id", "item_id", "rubric_version_id", "score", "passed", "graded_at", "errors", "length_penalty"
    )
    return [row for row in rows if row.item_id not in hidden]


class PeoplesScores:
    """What labels come to as scores of these rows of a run. Two queries, however often it is asked."""

    def __init__(self, run: Run, rows: Sequence[RunItem]) -> None:
        self._rows = rows
        versions = RubricVersion.objects.filter(pk__in={row.rubric_version_id for row in rows})
        self._scorers = {
            version.pk: _Scorer(run, version) for version in versions.prefetch_related("criteria")
        }

    def of(self, labelled: Labels, measured: Mapping[Unit, float]) -> dict[int, PeoplesScore]:
        """Item id → people's score, of the rows where each criterion that people are asked has an answer.

        What a check `measured` and what length takes off count as they do for the judge; an item without its
        checks has no score. CANNOT_ASSESS is no answer; an option that says not applicable is one.
        """
        reviewed = {item_id for item_id, _ in labelled}
        found = {
            row.item_id: self._scorers[row.rubric_version_id].score(row, labelled, measured)
            for row in self._rows
            if row.item_id in reviewed
        }
        return {pk: score for pk, score in found.items() if score is not None}


class _Scorer:
    """People's score on items of one rubric version."""

    def __init__(self, run: Run, version: RubricVersion) -> None:
        criteria = sorted(version.criteria.all(), key=lambda criterion: criterion.position)
        self._rubric = version.to_engine()
        self._criteria = list(zip(criteria, self._rubric.criteria, strict=True))
        self._normalize = run.normalize
        self._abstention: Abstention = run.abstention  # type: ignore[assignment]  # checked when the run began

    def score(self, row: RunItem, labelled: Labels, measured: Mapping[Unit, float]) -> PeoplesScore | None:
        columns: list[Mapping[int, Outcome]] = []
        checked: dict[int, Outcome] = {}
        for place, (criterion, known) in enumerate(self._criteria):
            unit = (row.item_id, criterion.pk)
            if criterion.kind != "check":
                columns.append(_answers(known, labelled.get(unit, {})))
            elif unit in measured:
                checked[place] = label_outcome(known, measured[unit])
            else:
                return None
        if not columns or not all(columns):
            return None
        whole = sorted(set(columns[0]).intersection(*columns))
        answers = [[column[rater] for column in columns] for rater in whole] or _combined(columns)
        found = [self._scored(one, checked, row) for one in answers]
        given = [score for score, _ in found if score is not None]
        own = {rater: score for rater, (score, _) in zip(whole, found, strict=False) if score is not None}
        passing = [passed for _, passed in found if passed is not None]
        if not given:
            return None
        return PeoplesScore(fmean(given), own, fmean(passing) if passing else None)

    def _scored(
        self, answers: Sequence[Outcome], checked: Mapping[int, Outcome], row: RunItem
    ) -> tuple[float | None, bool | None]:
        """The score of one person's answers to what people are asked, in the order of the rubric, and
        whether they pass.
        """
        said = iter(answers)
        outcomes = [
            checked[place] if place in checked else next(said) for place in range(len(self._criteria))
        ]
        found = score_verdicts(
            self._rubric.weights,
            outcomes,
            worst=self._rubric.worst_values,
            normalize=self._normalize,
            abstention=self._abstention,
        )
        score = penalised(found.score, row.length_penalty, normalize=self._normalize)
        return score, passes(self._rubric, score, outcomes, normalize=self._normalize)


def _answers(criterion: EngineCriterion, labels: Mapping[int, str]) -> dict[int, Outcome]:
    """Rater → what their label comes to, without those who could not tell."""
    not_applicable = {option.label for option in criterion.options or () if option.na}
    found = {rater: (label, label_outcome(criterion, label)) for rater, label in labels.items()}
    return {
        rater: outcome
        for rater, (label, outcome) in found.items()
        if outcome is not Verdict.CANNOT_ASSESS or label in not_applicable
    }


def _combined(columns: Sequence[Mapping[int, Outcome]]) -> list[list[Outcome]]:
    """Answers to all criteria, put together of people who answered some: one row for each combination.

    Criteria that the same people answered go together, and each of these people gives all of theirs. Of very
    many combinations MOST_COMBINATIONS are drawn, in which everybody comes up about equally often.

    Worked: ann and bob answered A and B, cat C: ann with cat, and bob with cat.
    """
    groups: dict[frozenset[int], list[int]] = {}
    for place, column in enumerate(columns):
        groups.setdefault(frozenset(column), []).append(place)
    people = [sorted(raters) for raters in groups]
    if prod(len(raters) for raters in people) <= MOST_COMBINATIONS:
        chosen = list(product(*people))
    else:
        random = np.random.default_rng(0)
        drawn = [random.permutation(np.resize(raters, MOST_COMBINATIONS)).tolist() for raters in people]
        chosen = list(zip(*drawn, strict=True))
    group_of = {place: number for number, places in enumerate(groups.values()) for place in places}
    return [
        [column[combination[group_of[place]]] for place, column in enumerate(columns)]
        for combination in chosen
    ]
