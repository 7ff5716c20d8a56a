"""The score of an item by what people said of it, by a run's own policies."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from rubricweb.engine.rubric.criterion import Criterion as EngineCriterion
from rubricweb.engine.scoring import Abstention, Outcome, penalised, score_verdicts
from rubricweb.engine.scoring.outcomes import label_outcome, value_of
from rubricweb.engine.verdict import Verdict
from rubricweb.models import RubricVersion, Run, RunItem
from rubricweb.selectors.labels.ground_truth import Labels, Unit


@dataclass(frozen=True)
class PeoplesScore:
    """`mean` is the score of the raters' mean answers: of MET and UNMET it is ½.

    `by_rater` has the own score of everybody who answered all they were asked, by the id of the rater.
    """

    mean: float
    by_rater: Mapping[int, float]


def scored_rows(runs: Iterable[Run], hidden: Collection[int]) -> list[RunItem]:
    """The items of runs that are not `hidden`, with what scores are made of."""
    rows = RunItem.objects.filter(run__in=runs).order_by("item_id")
    rows = rows.only(
        "run_id", "item_id", "rubric_version_id", "score", "graded_at", "errors", "length_penalty"
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
        """Item id → people's score, of the rows where somebody answered every criterion people are asked.

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
        units = [((row.item_id, one.pk), one.kind == "check", known) for one, known in self._criteria]
        columns = [_answers(known, labelled.get(unit, {})) for unit, is_check, known in units if not is_check]
        raters = set().union(*columns)
        if (
            not columns
            or not all(columns)
            or any(is_check and unit not in measured for unit, is_check, _ in units)
        ):
            return None
        asked = iter(columns)
        answers = [
            dict.fromkeys(raters, label_outcome(known, measured[unit])) if is_check else next(asked)
            for unit, is_check, known in units
        ]
        mean = self._scored([_mean(column.values()) for column in answers], row)
        if mean is None:
            return None
        own = {
            rater: self._scored([column[rater] for column in answers], row)
            for rater in raters
            if all(rater in column for column in answers)
        }
        return PeoplesScore(mean, {rater: score for rater, score in own.items() if score is not None})

    def _scored(self, outcomes: Sequence[Outcome], row: RunItem) -> float | None:
        found = score_verdicts(
            self._rubric.weights,
            outcomes,
            worst=self._rubric.worst_values,
            normalize=self._normalize,
            abstention=self._abstention,
        )
        return penalised(found.score, row.length_penalty, normalize=self._normalize)


def _answers(criterion: EngineCriterion, labels: Mapping[int, str]) -> dict[int, Outcome]:
    """Rater → what their label comes to, without those who could not tell."""
    not_applicable = {option.label for option in criterion.options or () if option.na}
    found = {rater: (label, label_outcome(criterion, label)) for rater, label in labels.items()}
    return {
        rater: outcome
        for rater, (label, outcome) in found.items()
        if outcome is not Verdict.CANNOT_ASSESS or label in not_applicable
    }


def _mean(outcomes: Collection[Outcome]) -> Outcome:
    """The mean of the values given; an abstention where all say that it does not apply."""
    values = [value for outcome in outcomes if (value := value_of(outcome)) is not None]
    return fmean(values) if values else Verdict.CANNOT_ASSESS
