"""Scores of a run beside the scores people's labels come to, item by item."""

from collections.abc import Mapping
from dataclasses import dataclass

from rubricweb.engine.agreement import (
    PredictionPowered,
    ScoreAgreement,
    compare_scores,
    prediction_powered_mean,
)
from rubricweb.engine.scoring import Abstention, penalised, score_labels
from rubricweb.models import RubricVersion, Run, RunItem
from rubricweb.selectors.ground_truth import RunAnswers, Truth, Unit


@dataclass(frozen=True)
class ScoreComparison:
    """Judge's scores against people's, and the mean both together let one expect over all items.

    An item has a score of people once every criterion a person is asked about is settled there; its checks
    and its length count for people as they do for the judge. `estimate` is the prediction-powered mean.
    """

    agreement: ScoreAgreement
    estimate: PredictionPowered


def compare_item_scores(
    run: Run,
    truths: Mapping[Unit, Truth],
    judged: RunAnswers,
    hidden: set[int],
    *,
    resamples: int = 1000,
    seed: int = 0,
) -> ScoreComparison:
    """All graded items of a run that are not `hidden`; three queries however many items."""
    graded = RunItem.objects.filter(run=run, graded_at__isnull=False).order_by("item_id")
    fields = ("item_id", "rubric_version_id", "score", "length_penalty")
    rows = [row for row in graded.values_list(*fields) if row[0] not in hidden]
    versions = {
        version.pk: _Scorer(run, version)
        for version in RubricVersion.objects.filter(
            pk__in={version_id for _, version_id, _, _ in rows}
        ).prefetch_related("criteria")
    }
    reviewed = {item_id for item_id, _ in truths}
    people = [
        versions[version_id].score(item_id, truths, judged, penalty) if item_id in reviewed else None
        for item_id, version_id, _, penalty in rows
    ]
    machine = [score for _, _, score, _ in rows]
    labelled = [place for place, score in enumerate(people) if score is not None]
    return ScoreComparison(
        agreement=compare_scores(
            [people[place] for place in labelled],
            [machine[place] for place in labelled],
            resamples=resamples,
            seed=seed,
        ),
        estimate=prediction_powered_mean(people, machine),
    )


class _Scorer:
    """People's score on items of one rubric version, by the run's own policies."""

    def __init__(self, run: Run, version: RubricVersion) -> None:
        self._criteria = sorted(version.criteria.all(), key=lambda criterion: criterion.position)
        self._rubric = version.to_engine()
        self._normalize = run.normalize
        self._abstention: Abstention = run.abstention  # type: ignore[assignment]  # checked when the run began

    def score(
        self, item_id: int, truths: Mapping[Unit, Truth], judged: RunAnswers, penalty: float
    ) -> float | None:
        """None unless every criterion people are asked about is settled, or when nothing can be said."""
        answers: list[str | float | None] = []
        settled = 0
        for criterion in self._criteria:
            unit = (item_id, criterion.pk)
            if criterion.kind == "check":
                answers.append(judged.values.get(unit))
                continue
            truth = truths.get(unit)
            if truth is None or truth.verdict is None:
                return None
            settled += 1
            answers.append(truth.verdict)
        if not settled:
            return None
        score = score_labels(
            self._rubric, answers, normalize=self._normalize, abstention=self._abstention
        ).score
        return penalised(score, penalty, normalize=self._normalize)
