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
class ScorePoint:
    """One item that both scored: people's mean score and the judge's."""

    item_id: int
    people: float
    judge: float


@dataclass(frozen=True)
class ScoreComparison:
    """Judge's scores against people's, and the mean that people would give to all items.

    Both are about what people said themselves, without adjudications: `agreement` holds the judge's score of
    an item against the mean of people's own scores (`PeoplesScore`), so that ties are in it; an item with an
    error has no score of the judge. Majorities would make people look strict where few of them say MET.
    `points` are the items that `agreement` is of, one by one.
    """

    agreement: ScoreAgreement
    estimate: PeopleEstimate
    points: tuple[ScorePoint, ...] = ()


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
    said = PeoplesScores(run, rows).of(labelled, evidence.judged.values)
    mine = {row.item_id for row in own}
    judge = {row.item_id: row.score if row.fully_judged else None for row in rows}
    return ScoreComparison(
        agreement=compare_scores(
            [score.mean for score in said.values()],
            [judge[pk] for pk in said],
            [evidence.cases.get(pk, pk) for pk in said],
            limits=score_ends(run),
            resamples=evidence.resamples,
            seed=evidence.seed,
        ),
        estimate=people_estimate(
            run, queues, own, {pk: score for pk, score in said.items() if pk in mine}, hidden=hidden
        ),
        points=tuple(
            ScorePoint(pk, score.mean, beside)
            for pk, score in said.items()
            if (beside := judge[pk]) is not None
        ),
    )
