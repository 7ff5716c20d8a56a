"""Scores of a run beside the scores people's labels come to, item by item and on average."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from rubricweb.engine.agreement import ScoreAgreement, compare_scores
from rubricweb.models import ReviewQueue, Run
from rubricweb.selectors.comparison.people_means import PeopleEstimate, people_estimate
from rubricweb.selectors.comparison.people_scores import PeoplesScores, scored_rows
from rubricweb.selectors.labels.ground_truth import Labels, RunAnswers, Truth, Unit


@dataclass(frozen=True)
class ScoreComparison:
    """Judge's scores against people's, and the mean that people would give to all items.

    `agreement` holds the judge against the score of the ground truth, of items where every criterion a person
    is asked about is settled; an item with an error has no score of the judge. `estimate` is about what
    people say: the means of raters, a tie is ½, and no adjudication.
    """

    agreement: ScoreAgreement
    estimate: PeopleEstimate


def compare_item_scores(
    run: Run,
    queues: Sequence[ReviewQueue],
    truths: Mapping[Unit, Truth],
    labelled: Labels,
    judged: RunAnswers,
    hidden: Collection[int],
    *,
    resamples: int = 1000,
    seed: int = 0,
) -> ScoreComparison:
    """All items of the run and those started with it that are not `hidden`; the estimate is of the run alone.

    Seven queries at most, however many items.
    """
    rows = scored_rows(run.launched_with, hidden)
    own = [row for row in rows if row.run_id == run.pk]
    settled = {unit: {0: truth.verdict} for unit, truth in truths.items() if truth.verdict is not None}
    people = PeoplesScores(run, rows)
    truth = people.of(settled, judged.values)
    said, mine = people.of(labelled, judged.values), {row.item_id for row in own}
    judge = {row.item_id: row.score if row.fully_judged else None for row in rows}
    return ScoreComparison(
        agreement=compare_scores(
            [score.mean for score in truth.values()],
            [judge[pk] for pk in truth],
            resamples=resamples,
            seed=seed,
        ),
        estimate=people_estimate(
            run, queues, own, {pk: score for pk, score in said.items() if pk in mine}, hidden=hidden
        ),
    )
