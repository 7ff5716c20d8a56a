"""Comparisons made of counts, without a database: what is said of them can be worked out by hand."""

from dataclasses import replace

from rubricweb.engine.agreement import (
    Ratings,
    compare_labels,
    compare_scores,
    effect_bias,
    human_ceiling,
    mean_rates,
)
from rubricweb.engine.agreement.intervals import Figure
from rubricweb.engine.agreement.scores.low_end import LowEnd
from rubricweb.models import Run
from rubricweb.selectors.comparison.comparison import Comparison
from rubricweb.selectors.comparison.people_means import PeopleEstimate
from rubricweb.selectors.comparison.scores import ScoreComparison
from rubricweb.selectors.labels.by_kind import UnitsOfTestHalf
from rubricweb.selectors.reviews.sampling import Samples

UNKNOWN = Figure(None, None, None, 0)
GOOD_PEOPLE = Figure(0.9, 0.85, 0.95, 100)

NOTHING = Figure(None, None, None, 0)
NO_ESTIMATE = PeopleEstimate(
    0,
    "",
    "",
    None,
    None,
    None,
    labelled=NOTHING,
    judged_labelled=NOTHING,
    judged=NOTHING,
    samples=Samples([], [], version=None),
    cases={},
    labelled_low_end=LowEnd(),
    judged_labelled_low_end=LowEnd(),
    judged_low_end=LowEnd(),
)


def comparison(cells: dict[str, int], *, alpha: Figure = GOOD_PEOPLE) -> Comparison:
    """A comparison with these counts by what people and judge said: {"MET UNMET": 3} is three missed METs."""
    pairs = [words.split() for words, count in cells.items() for _ in range(count)]
    met_by_judge, met_by_people = [pair[1] == "MET" for pair in pairs], [pair[0] == "MET" for pair in pairs]
    overall = compare_labels(
        [people for people, _ in pairs], [judge for _, judge in pairs], range(len(pairs)), resamples=200
    )
    return Comparison(
        run=Run(),
        runs=(),
        queues=(),
        overall=overall,
        n_binary=len(pairs),
        has_penalties=False,
        bias=effect_bias(met_by_judge, met_by_people, [1.0] * len(pairs), range(len(pairs))),
        rates=mean_rates(met_by_judge, met_by_people, range(len(pairs))),
        human_alpha=alpha,
        human_figures={},
        ceiling=human_ceiling(Ratings.from_triples([])),
        within=None,
        scores=ScoreComparison(compare_scores([], []), NO_ESTIMATE),
        raters=2,
        items=len(pairs),
        units=len(pairs),
        judged=len(pairs),
        errors=0,
        undecided=0,
        adjudicated=0,
        hidden_items=0,
        on_other_versions=0,
        of_other_systems=0,
        unavailable=None,
        describes=None,
        criteria=(),
        panel=None,
        tested=UnitsOfTestHalf(0, 0, ""),
    )


def seated(people: list[list[str]], judge: list[str]) -> Comparison:
    """A comparison whose ceiling is that of these people, with the judge in their seat."""
    cells = {"MET MET": 35, "UNMET MET": 15, "MET UNMET": 15, "UNMET UNMET": 35}
    ceiling = human_ceiling(Ratings.from_columns(people), judge, resamples=400)
    return replace(comparison(cells, alpha=Figure(0.1, 0.0, 0.2, 100)), ceiling=ceiling)
