"""Made-up worlds of known truth: judges, people, scores and draws, in which every figure is measured."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rubricweb.engine.agreement import (
    Figure,
    Labelling,
    OptionScale,
    Ratings,
    alpha_nominal,
    alpha_ordinal,
    cohen_d,
    compare_labels,
    compare_options,
    estimate_people_mean,
    fleiss_kappa,
    flip_rate,
    gwet_ac1,
    human_ceiling,
    kendall,
    mcnemar,
    mean_figure,
    pearson,
    rater_leniency,
    spearman,
)
from rubricweb.engine.agreement.judge.pair_figures import PairFigure, pair_figures
from rubricweb.engine.agreement.scores.people_mean import PeopleMean
from rubricweb.engine.agreement.scores.scores import mae, mean_difference, rmse

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Random = np.random.Generator
Figures = dict[str, Figure | PeopleMean]

RESAMPLES = 400
MANY = 40_000  # units from which the truth of a figure without a formula is taken
VERDICTS = np.array(["UNMET", "MET"])
LEVELS = ("poor", "fair", "good", "best")


@dataclass(frozen=True)
class World:
    """One cell of the grid: `sample` draws data of `n` items and measures every figure, `truths` are theirs.

    Without truths, the figures' own values on very many items are taken. `drift` names figures whose mean
    over all draws is to be near their truth. `least` is the coverage promised of this one, where it is other
    than that of the grid.
    """

    family: str
    name: str
    n: int
    sample: Callable[[Random, int], Figures]
    truths: dict[str, float] | None = None
    drift: tuple[str, ...] = ()
    least: float | None = None

    def known(self, random: Random) -> dict[str, float]:
        if self.truths is not None:
            return self.truths
        found = self.sample(random, MANY)
        return {name: figure.value for name, figure in found.items() if figure.value is not None}


# ── People's mean from a sample ──────────────────────────────────────────────────────────────────

JUDGES = ("perfect", "useless", "biased", "good")
DESIGNS = ("random", "stratified", "weighted", "half done", "clustered")
SCORES = {"even": 0.5, "skewed": 0.9, "mostly full": 0.95, "in quarters": 0.8, "rarely failing": 0.864}


def people_mean_worlds(sizes: tuple[int, ...], rates: tuple[float, ...]) -> Iterator[World]:
    kinds: tuple[float | str, ...] = (*rates, *SCORES)
    for n in sizes:
        for judge in JUDGES:
            for kind in kinds:
                for design in DESIGNS:
                    for total in (n * 3 // 2, 400):
                        yield World(
                            family=f"people's mean, {'verdicts' if kind in rates else 'scores'}, {design}",
                            name=f"{judge} judge, {kind}, {n} of {total}",
                            n=n,
                            sample=_people_mean(judge, kind, design, total),
                            truths={
                                "cases like these": SCORES[kind] if isinstance(kind, str) else kind,
                                "these items": 0.0,
                            },
                        )


def _people_mean(judge: str, kind: float | str, design: str, total: int) -> Callable[[Random, int], Figures]:
    def sample(random: Random, n: int) -> Figures:
        per_case = 3 if design == "clustered" else 1
        cases = np.repeat(np.arange(total), per_case)
        people = _people(random, kind, total)[cases]
        if per_case > 1:  # the attempts at a case share most of it
            own = _people(random, kind, total * per_case)
            people = np.where(random.random(len(people)) < 0.7, people, own)
        judged = _judge(random, judge, kind, people)
        chosen, inclusion = _draw(random, design, n, total, judged[::per_case])
        labels = np.where(chosen[cases], people, np.nan)
        found: Figures = {}
        for population in ("these items", "cases like these"):
            one = estimate_people_mean(
                judged,
                labels,
                inclusion[cases],
                Labelling(cases=cases if per_case > 1 else None),
                population=population,
                binary=None if per_case > 1 else not isinstance(kind, str),
            )
            off = (
                people.mean() if population == "these items" else 0.0
            )  # that truth differs from draw to draw
            found[population] = replace(
                one,
                value=None if one.value is None else one.value - off,
                low=None if one.low is None else one.low - off,
                high=None if one.high is None else one.high - off,
            )
        return found

    return sample


def _people(random: Random, kind: float | str, count: int) -> Floats:
    if kind == "even":
        return random.beta(2, 2, count)
    if kind == "skewed":
        return random.beta(9, 1, count)
    if kind == "mostly full":
        return np.where(random.random(count) < 0.9, 1.0, random.random(count))
    if kind == "rarely failing":
        return np.where(
            random.random(count) < 0.04, 0.0, np.clip(0.9 + 0.03 * random.normal(size=count), 0, 1)
        )
    if kind == "in quarters":
        return random.binomial(4, 0.8, count) / 4
    return (random.random(count) < float(kind)).astype(np.float64)


def _judge(random: Random, judge: str, kind: float | str, people: Floats) -> Floats:
    count = len(people)
    if judge == "perfect":
        return people
    if judge == "useless":
        return random.permutation(people)
    if judge == "good":
        return np.where(random.random(count) < 0.1, _people(random, kind, count), people)
    if isinstance(kind, str):
        return np.clip(people + 0.15 + 0.1 * random.normal(size=count), 0, 1)
    return np.where(random.random(count) < 0.3, 1.0, people)


def _draw(random: Random, design: str, n: int, total: int, judged: Floats) -> tuple[Bools, Floats]:
    """Which cases are labelled, and with which probability each was."""
    if design == "weighted":
        size = np.where(judged > judged.mean(), 1.0, 2.0) * random.choice([1, 2, 3], total)
        inclusion = np.minimum(1, n * size / size.sum())
        order = random.permutation(total)
        steps = np.cumsum(inclusion[order])
        drawn = np.searchsorted(steps, np.arange(random.random(), steps[-1], 1))
        chosen = np.zeros(total, dtype=np.bool_)
        chosen[order[drawn.clip(0, total - 1)]] = True
        return chosen, inclusion
    strata = np.zeros(total, dtype=np.int64)
    parts = [1.0]
    if design in ("stratified", "half done"):
        strata = (judged >= np.median(judged)).astype(np.int64)
        if len(np.unique(strata)) < 2:
            strata = np.arange(total) % 2
        parts = [2 / 3, 1 / 3] if design == "stratified" else [0.25, 0.75]  # half done: one stratum is behind
    chosen, inclusion = np.zeros(total, dtype=np.bool_), np.ones(total)
    for stratum, part in enumerate(parts):
        members = np.flatnonzero(strata == stratum)
        count = min(len(members), max(2, round(n * part)))
        chosen[random.choice(members, count, replace=False)] = True
        inclusion[members] = count / len(members)
    return chosen, inclusion


# ── A judge against a reference ──────────────────────────────────────────────────────────────────

# (how often MET is said of a MET, of an UNMET)
REPLIES = {"perfect": (1.0, 0.0), "biased": (1.0, 0.3), "strict": (0.6, 0.0), "good": (0.9, 0.1)}


def judge_worlds(sizes: tuple[int, ...], rates: tuple[float, ...]) -> Iterator[World]:
    for n in sizes:
        for p in rates:
            for judge, (met, unmet) in {**REPLIES, "useless": (p, p)}.items():
                for units in (1, 4):
                    grouped = "" if units == 1 else f", {units} units an item"
                    yield World(
                        family=f"judge against people{grouped}",
                        name=f"{judge} judge, p {p}, n {n}",
                        n=n,
                        sample=_verdicts(p, met, unmet, units),
                        truths=_truths(p, met, unmet),
                    )


def _truths(p: float, met: float, unmet: float) -> dict[str, float]:
    """The figures of the table of all units there could be, whatever of them falls together in an item."""
    table = np.array([[p * met, p * (1 - met)], [(1 - p) * unmet, (1 - p) * (1 - unmet)]])

    def truth(row: PairFigure) -> float:
        if row.of_table is not None:
            return float(row.of_table(table))
        assert row.of_cells is not None
        return float(np.divide(*row.of_cells(table)))

    return {row.name: truth(row) for row in pair_figures("binary")}


def _verdicts(p: float, met: float, unmet: float, units: int) -> Callable[[Random, int], Figures]:
    def pairs(random: Random, count: int) -> tuple[Bools, Bools]:
        people = random.random(count) < p
        return people, random.random(count) < np.where(people, met, unmet)

    def sample(random: Random, n: int) -> Figures:
        items = np.repeat(np.arange(n), units)
        people, judge = pairs(random, n * units)
        if units > 1:
            shared, shared_judge = pairs(random, n)
            same = random.random(n * units) < 0.5
            people = np.where(same, shared[items], people)
            judge = np.where(same, shared_judge[items], judge)
        found = compare_labels(
            VERDICTS[people.astype(int)].tolist(),
            VERDICTS[judge.astype(int)].tolist(),
            items.tolist(),
            resamples=RESAMPLES,
        )
        return dict(found.figures)

    return sample


def option_worlds(sizes: tuple[int, ...]) -> Iterator[World]:
    for n in sizes:
        for shape, shares in {"even": (0.25,) * 4, "steep": (0.05, 0.1, 0.25, 0.6)}.items():
            for judge, right in {"perfect": 1.0, "good": 0.8, "useless": 0.0}.items():
                yield World(
                    family="judge against people, four options",
                    name=f"{judge} judge, {shape}, n {n}",
                    n=n,
                    sample=_options(np.array(shares), right),
                )


def _options(shares: Floats, right: float) -> Callable[[Random, int], Figures]:
    def sample(random: Random, n: int) -> Figures:
        people = random.choice(4, n, p=shares)
        near = np.clip(people + random.choice([-1, 1], n), 0, 3)
        other = near if right else random.choice(4, n, p=shares)
        judge = np.where(random.random(n) < right, people, other)
        found = compare_options(
            np.array(LEVELS)[people].tolist(),
            np.array(LEVELS)[judge].tolist(),
            range(n),
            OptionScale(LEVELS, "ordinal", (0, 1 / 3, 2 / 3, 1)),
            resamples=0 if n == MANY else RESAMPLES,
        )
        names = (
            "accuracy",
            "cohen_kappa",
            "quadratic_kappa",
            "linear_kappa",
            "judge_ac1",
            "judge_ac2",
            "macro_f1",
            "steps_apart",
            "value_error",
        )
        return {name: found.figures[name] for name in names}

    return sample


# ── People among themselves, and the judge in a person's seat ────────────────────────────────────


def people_worlds(
    sizes: tuple[int, ...], rates: tuple[float, ...], people: tuple[int, ...]
) -> Iterator[World]:
    for n in sizes:
        for p in rates:
            for count in people:
                for wrong in (0.0, 0.1, 0.3):
                    yield World(
                        family=f"{count} people",
                        name=f"p {p}, wrong {wrong}, n {n}",
                        n=n,
                        sample=_raters(p, count, wrong),
                    )


def _raters(p: float, people: int, wrong: float) -> Callable[[Random, int], Figures]:
    def sample(random: Random, n: int) -> Figures:
        ratings = _ratings(random, p, [wrong] * people, n)
        draws = 0 if n == MANY else RESAMPLES
        found = human_ceiling(ratings, resamples=draws)
        return {
            "α": alpha_nominal(ratings, resamples=draws),
            "Fleiss κ": fleiss_kappa(ratings, resamples=draws),
            "AC1": gwet_ac1(ratings, resamples=draws),
            "raw agreement": found.pair_accuracy,
            "mean pair κ": found.pair_kappa,
            "ceiling": found.accuracy,
            "ceiling κ": found.kappa,
            "flip rate": flip_rate(ratings),
            "leniency": rater_leniency(ratings)[0].leniency,
        }

    return sample


def seat_worlds(sizes: tuple[int, ...], rates: tuple[float, ...], people: tuple[int, ...]) -> Iterator[World]:
    """A judge exactly as good as a person: both differences are 0."""
    for n in sizes:
        for p in rates:
            for count in people:
                for wrong in (0.0, 0.1, 0.3):
                    yield World(
                        family=f"judge in the seat of {count} people",
                        name=f"p {p}, wrong {wrong}, n {n}",
                        n=n,
                        sample=_seat(p, count, wrong),
                        truths={"Δ accuracy": 0.0, "Δ κ": 0.0},
                        drift=("Δ accuracy", "Δ κ"),
                    )


def _seat(p: float, people: int, wrong: float) -> Callable[[Random, int], Figures]:
    def sample(random: Random, n: int) -> Figures:
        ratings = _ratings(random, p, [wrong] * (people + 1), n)
        judge = [str(VERDICTS[code]) for code in ratings.codes[-1]]
        others = replace(ratings, raters=ratings.raters[:-1], codes=ratings.codes[:-1])
        found = human_ceiling(others, judge, resamples=RESAMPLES).judge
        assert found is not None
        return {"Δ accuracy": found.accuracy_difference, "Δ κ": found.kappa_difference}

    return sample


def _ratings(random: Random, p: float, wrong: list[float], n: int) -> Ratings:
    truth = random.random(n) < p
    flipped = random.random((len(wrong), n)) < np.array(wrong)[:, None]
    return Ratings(
        raters=tuple(range(len(wrong))),
        units=tuple(range(n)),
        labels=tuple(VERDICTS.tolist()),
        codes=(truth ^ flipped).astype(np.int64),
        clusters=np.arange(n),
        levels=tuple(VERDICTS.tolist()),
        values=(0.0, 1.0),
    )


def step_worlds(sizes: tuple[int, ...]) -> Iterator[World]:
    for n in sizes:
        for spread in (0.0, 0.5, 1.0):
            yield World(
                family="3 people, five steps",
                name=f"spread {spread}, n {n}",
                n=n,
                sample=_steps(spread),
            )


def _steps(spread: float) -> Callable[[Random, int], Figures]:
    levels = tuple("abcde")

    def sample(random: Random, n: int) -> Figures:
        middle = random.choice(5, n, p=(0.05, 0.1, 0.2, 0.3, 0.35))
        codes = np.clip(np.rint(middle + spread * random.normal(size=(3, n))), 0, 4).astype(np.int64)
        ratings = Ratings(
            raters=(0, 1, 2),
            units=tuple(range(n)),
            labels=levels,
            codes=codes,
            clusters=np.arange(n),
            levels=levels,
            values=(0, 0.25, 0.5, 0.75, 1),
        )
        draws = 0 if n == MANY else RESAMPLES
        found = human_ceiling(ratings, weighting="quadratic", resamples=draws)
        return {
            "α ordinal": alpha_ordinal(ratings, resamples=draws),
            "ceiling κ, quadratic": found.kappa,
            "mean pair κ, quadratic": found.pair_kappa,
        }

    return sample


# ── Scores and differences ───────────────────────────────────────────────────────────────────────


def score_worlds(sizes: tuple[int, ...]) -> Iterator[World]:
    for n in sizes:
        for kind in SCORES:
            for judge in JUDGES:
                yield World(
                    family="scores",
                    name=f"{judge} judge, {kind}, n {n}",
                    n=n,
                    sample=_score_pairs(judge, kind),
                )


def _score_pairs(judge: str, kind: str) -> Callable[[Random, int], Figures]:
    def sample(random: Random, n: int) -> Figures:
        people = _people(random, kind, n)
        # Drawn anew, not shuffled: shuffled scores stand in two differences each, which are then no sample.
        judged = _people(random, kind, n) if judge == "useless" else _judge(random, judge, kind, people)
        draws = 0 if n == MANY else RESAMPLES
        return {
            "mean": mean_figure(people.tolist()),
            "difference": mean_difference(people, judged),
            "mean absolute error": mae(people, judged),
            "root mean squared error": rmse(people, judged),
            "Cohen d": cohen_d(people, judged),
            "Pearson r": pearson(people, judged, resamples=draws),
            "Spearman ρ": spearman(people, judged, resamples=draws),
            "Kendall τ-b": kendall(people[:4000], judged[:4000], resamples=draws),
        }

    return sample


def raw_score_worlds(sizes: tuple[int, ...]) -> Iterator[World]:
    """Two criteria of weight 10 that are always met, and one that is seldom: of 20 and 30 points."""
    for n in sizes:
        for rate in (0.02, 0.05, 0.2):
            yield World(
                family="raw scores",
                name=f"30 points in {rate}, n {n}",
                n=n,
                sample=_points(rate),
                truths={"mean": 20 + 10 * rate, "mean, ends not known": 20 + 10 * rate, "difference": 0.0},
            )


def _points(rate: float) -> Callable[[Random, int], Figures]:
    def sample(random: Random, n: int) -> Figures:
        one, other = 20.0 + 10 * (random.random((2, n)) < rate)
        return {
            "mean": mean_figure(one.tolist(), limits=(0, 30)),
            "mean, ends not known": mean_figure(one.tolist(), limits=None),
            "difference": mean_difference(one, other, limits=(0, 30)),
        }

    return sample


def difference_worlds(sizes: tuple[int, ...], rates: tuple[float, ...]) -> Iterator[World]:
    for n in sizes:
        for p in rates:
            for change in ("none", "twins", "some", "only better"):
                yield World(
                    family="paired difference of MET",
                    name=f"{change}, p {p}, n {n}",
                    n=n,
                    sample=_two_runs(p, change),
                )


def _two_runs(p: float, change: str) -> Callable[[Random, int], Figures]:
    def sample(random: Random, n: int) -> Figures:
        one = random.random(n) < p
        other = {
            "none": random.random(n) < p,
            "twins": one,
            "some": one ^ (random.random(n) < 0.1),
            "only better": one | (random.random(n) < 0.1),
        }[change]
        return {"Δ": mcnemar(one.astype(float), other.astype(float)).difference}

    return sample
