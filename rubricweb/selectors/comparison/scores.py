"""Scores of a run beside the scores people's labels come to, item by item and on average."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from rubricweb.engine.agreement import ScoreAgreement, compare_scores
from rubricweb.models import ReviewQueue, Run
from rubricweb.selectors.comparison.people_means import PeopleEstimate, people_estimate
from rubricweb.selectors.comparison.people_scores import PeoplesScores, scored_rows
from rubricweb.selectors.labels.by_kind import Evidence
from rubricweb.selectors.labels.ground_truth import Labels
from rubricweb.selectors.shared.score_ends import score_ends


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
    evidence: Evidence,
    labelled: Labels,
    hidden: Collection[int],
) -> ScoreComparison:
    """All items of the run and those started with it that are not `hidden`; the estimate is of the run alone.

    Ten queries at most, however many items, four more of raw scores and one for each step of carried
    options.
    """
    rows = scored_rows(run.launched_with, hidden)
    own = [row for row in rows if row.run_id == run.pk]
    decided = {unit: truth.verdict for unit, truth in evidence.truths.items() if truth.verdict is not None}
    people, measured = PeoplesScores(run, rows), evidence.judged.values
    truth = people.of({unit: {0: label} for unit, label in decided.items()}, measured)
    said, mine = people.of(labelled, measured), {row.item_id for row in own}
    judge = {row.item_id: row.score if row.fully_judged else None for row in rows}
    return ScoreComparison(
        agreement=compare_scores(
            [score.mean for score in truth.values()],
            [judge[pk] for pk in truth],
            [evidence.cases.get(pk, pk) for pk in truth],
            limits=score_ends(run),
            resamples=evidence.resamples,
            seed=evidence.seed,
        ),
        estimate=people_estimate(
            run, queues, own, {pk: score for pk, score in said.items() if pk in mine}, hidden=hidden
        ),
    )
