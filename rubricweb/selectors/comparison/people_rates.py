"""How well people say each criterion is met: means over items of the mean of an item's raters."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from statistics import fmean

import numpy as np

from rubricweb.engine.agreement import Figure, Labelling, estimate_people_mean
from rubricweb.engine.agreement.scores.pairing import case_means
from rubricweb.models import Criterion
from rubricweb.selectors.labels.ground_truth import Labels
from rubricweb.selectors.reviews.sampling import Sampled, Samples
from rubricweb.selectors.runs.diff.answers import worth_of
from rubricweb.selectors.shared.columns import ints
from rubricweb.selectors.shared.score_ends import NORMALISED, value_ends


@dataclass(frozen=True)
class PeopleRate:
    """What people say of one criterion: MET is 1, UNMET 0, an option its value; `n` counts labelled items.

    `missing` items that people were asked about have no answer. Above a tenth of them `bounds` are where the
    interval would end if all of them were at the bottom or the top of the scale.
    """

    rate: Figure
    missing: int = 0
    bounds: tuple[float, float] | None = None


def people_rates(
    criteria: Iterable[Criterion],
    labelled: Labels,
    items: Collection[int],
    samples: Samples,
    cases: Mapping[int, int],
) -> dict[int, PeopleRate]:
    """Criterion id → people's rate over these items.

    Of an item counts the mean of its raters, so that one with five raters weighs no more than one with one;
    abstentions are no answer. Every case weighs the same, however many of its answers are labelled. From a
    random sample each item weighs 1/π and the interval is of cases like these, and of people like these where
    three or more gave the labels; a queue that does not ask
    about a criterion draws nothing for it. Other labels describe their own items: their plain mean, without
    an interval. `cases` are the `repeated_cases` of the items.

    Worked: MET UNMET on one item and MET on another is (½ + 1) / 2 = 0.75, not 2/3.
    """
    criteria = list(criteria)
    worth = worth_of(criteria)
    scales = {criterion.pk: value_ends(criterion) or NORMALISED for criterion in criteria}
    visible = set(items)
    own: dict[int, dict[int, dict[int, float]]] = {pk: {} for pk in worth}
    for (item_id, criterion_id), by_rater in labelled.items():
        if criterion_id not in worth or item_id not in visible:
            continue
        values = {rater: worth[criterion_id].of(label) for rater, label in by_rater.items()}
        given = {rater: value for rater, value in values.items() if value is not None}
        if given:
            own[criterion_id][item_id] = given
    rates = {}
    for pk, of in own.items():
        sample = samples.of([pk])
        if isinstance(sample, Sampled):
            rates[pk] = _weighed(scales[pk], of, sample, cases)
        else:
            rates[pk] = PeopleRate(_plain({item: fmean(one.values()) for item, one in of.items()}, cases))
    return rates


def _plain(means: Mapping[int, float], cases: Mapping[int, int]) -> Figure:
    by_case = case_means(np.array(list(means.values())), ints([cases.get(pk, pk) for pk in means]))
    return Figure(float(by_case.mean()) if len(by_case) else None, None, None, len(means))


def _weighed(
    scale: tuple[float, float],
    own: Mapping[int, Mapping[int, float]],
    sample: Sampled,
    cases: Mapping[int, int],
) -> PeopleRate:
    """The rate of one criterion, from what raters gave its items and the ends of the scale of its answers."""
    place = {pk: at for at, pk in enumerate(sample.items)}
    people = np.full(len(place), np.nan)
    by_rater: list[Mapping[int, float]] = [{}] * len(place)
    for item_id, given in own.items():
        if item_id in sample.asked:
            people[place[item_id]] = fmean(given.values())
            by_rater[place[item_id]] = given
    rate = estimate_people_mean(
        np.full(len(place), np.nan),
        people,
        np.array([sample.probability[pk] for pk in sample.items]),
        Labelling(
            answered=[cases.get(pk, pk) for pk in sample.items],
            drawn=np.array([pk in sample.asked for pk in sample.items], dtype=np.bool_),
            scale=scale,
            by_rater=by_rater,
        ),
    )
    return PeopleRate(
        Figure(rate.value, rate.low, rate.high, rate.n, reason=rate.reason),
        rate.missing,
        None if rate.worst is None or rate.best is None else (rate.worst, rate.best),
    )
