"""What people would say on average of all items of a run, where the labelled ones allow to tell."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean

import numpy as np
from django.db.models import Q

from rubricweb.engine.agreement import (
    Figure,
    Labelling,
    LabelsNeeded,
    PeopleMean,
    estimate_people_mean,
    labels_needed,
    mean_figure,
)
from rubricweb.engine.agreement.scores.low_end import LowEnd, low_end
from rubricweb.engine.agreement.scores.pairing import case_means
from rubricweb.engine.agreement.scores.people_mean import LEAST_PILOT, Population
from rubricweb.engine.number_format import counted
from rubricweb.models import Criterion, Judgement, Order, QueueState, ReviewQueue, Run, RunItem, User
from rubricweb.selectors.blinding import hidden_of
from rubricweb.selectors.comparison.people_scores import PeoplesScore, PeoplesScores, scored_rows
from rubricweb.selectors.labels.ground_truth import Unit, labels, reviewed_items
from rubricweb.selectors.reviews.sampling import DescribedItems, NotSampled, Sampled, Samples, described
from rubricweb.selectors.shared.cases import repeated_cases_of
from rubricweb.selectors.shared.columns import ints
from rubricweb.selectors.shared.score_ends import score_ends
from rubricweb.selectors.shared.unavailable import Unavailable, sample_for

MARGIN = 0.05
"""How exactly a mean score is to be told when it is said how many labels that takes."""
UNKNOWN = float("nan")


@dataclass(frozen=True)
class PeopleEstimate:
    """The mean score that people would give, from their labels on some items and the judge on all.

    Every case weighs the same in it, however many answers it has; every `n` counts items.

    `these` tells of the `population` in words, a part of `everything` the viewer may see, `like_these` of
    cases like them, each with a 95 % interval; both are None where the labels do not allow it, and
    `unavailable` says why. `labelled` is people's plain mean over the items they labelled and
    `judged_labelled` the judge's over the same, which tell of these items alone and have no interval;
    `judged` is the judge's over all `items` the viewer may see. Each of these three has its low end beside
    it, of people's the lowest of their scores of an item. `samples` is what all of this rests on, for
    any criteria, `cases` the `repeated_cases` of the run. `is_census`: people were asked about every item,
    whether each has an answer or not. `left_out` counts labelled items that are no part of the random sample,
    `needed` the labels that tell a mean from one MARGIN away.
    """

    items: int
    everything: str
    population: str
    these: PeopleMean | None
    like_these: PeopleMean | None
    unavailable: Unavailable | None
    labelled: Figure
    judged_labelled: Figure
    judged: Figure
    samples: Samples = field(compare=False)
    cases: Mapping[int, int] = field(compare=False)
    labelled_low_end: LowEnd
    judged_labelled_low_end: LowEnd
    judged_low_end: LowEnd
    is_census: bool = False
    left_out: int = 0
    needed: LabelsNeeded | None = None

    @property
    def about(self) -> str:
        """What `like_these` tells of: cases like these, or these raters where they tell of nobody else."""
        of_raters = self.like_these.of_raters if self.like_these else ""
        return of_raters or "of cases like these"

    @property
    def drawn_words(self) -> str:
        """What besides the labels is taken as drawn in `like_these`."""
        told = self.like_these is not None and self.like_these.tells_of_other_raters
        return "items and people taken as a sample" if told else "the items taken as a sample too"

    def described(self, labelled: Collection[Unit], *, weighted: bool = False) -> DescribedItems | None:
        """Which items figures of these labelled units describe, by the samples of their criteria."""
        sample = self.samples.of({criterion_id for _, criterion_id in labelled})
        population = _population(self.everything, self.items, sample)
        return described(sample, {item_id for item_id, _ in labelled}, population, weighted=weighted)


def estimate_of(run: Run, queues: Sequence[ReviewQueue], *, viewer: User) -> PeopleEstimate:
    """What people would say by the labels of these queues, over the items the viewer may see."""
    hidden = hidden_of(viewer, run.team, run.dataset_id)
    rows = scored_rows([run], hidden)
    # Of the judge's answers only what checks measured is asked for: a few rows of very many.
    measured = Judgement.objects.filter(
        run=run, repeat=0, criterion__kind="check", verdict=None, item__in=reviewed_items(queues)
    ).values_list("item_id", "criterion_id", "value")
    values = {(item, criterion): value for item, criterion, value in measured.order_by() if value is not None}
    scores = PeoplesScores(run, rows).of(labels(queues, runs=[run]), values)
    return people_estimate(run, queues, rows, scores, hidden=hidden)


def people_estimate(
    run: Run,
    queues: Sequence[ReviewQueue],
    rows: Sequence[RunItem],
    scores: Mapping[int, PeoplesScore],
    *,
    hidden: Collection[int] = (),
) -> PeopleEstimate:
    """The estimate over these rows of the run, from people's `scores` by item id; at most nine queries,
    two more of raw scores, and one for each step of carried options.

    `hidden` items are not among the rows. Refused where the labelled items are no random sample of the rows,
    and where too few are labelled for an interval.
    """
    machine = {row.item_id: row.score if row.fully_judged else None for row in rows}
    cases = repeated_cases_of(run)
    ends = score_ends(run)
    judged = replace(mean_figure(_by_case(machine, cases), limits=ends), n=_known(machine))
    labelled, judged_labelled = _plain_means(scores, machine, cases)
    passed = {row.item_id: row.passed if row.fully_judged else None for row in rows}
    # The items of a run over one system version are that version's answers, and the dataset may have more.
    whose = f"answers of {run.system} in" if run.system else "items of"
    everything = f"the {len(rows):,} {whose} {run.dataset}" + " that you may see" * bool(hidden)
    samples = Samples(queues, [row.item_id for row in rows], version=run.rubric_version_id)
    asked = Criterion.objects.filter(version=run.rubric_version_id).exclude(kind="check")
    sample = samples.of(asked.values_list("pk", flat=True))
    these = like_these = None
    if isinstance(sample, Sampled) and scores:
        these = _estimated(ends, sample, scores, machine, cases, "these items")
        if these.low is not None or sample.is_census:
            like_these = _estimated(ends, sample, scores, machine, cases, "cases like these")
    allowed = like_these is not None
    return PeopleEstimate(
        items=len(rows),
        everything=everything,
        population=_population(everything, len(rows), sample),
        these=these if allowed else None,
        like_these=like_these,
        unavailable=None if allowed else _unavailable(run, sample, labelled=len(scores), items=len(rows)),
        labelled=labelled,
        judged_labelled=judged_labelled,
        judged=judged,
        labelled_low_end=_low_end({pk: (one.mean, one.passed) for pk, one in scores.items()}, cases),
        judged_labelled_low_end=_low_end({pk: (machine[pk], passed[pk]) for pk in scores}, cases),
        judged_low_end=_low_end({pk: (machine[pk], passed[pk]) for pk in machine}, cases),
        samples=samples,
        cases=cases,
        is_census=isinstance(sample, Sampled) and sample.is_census,
        left_out=len(set(scores) - sample.asked) if allowed and isinstance(sample, Sampled) else 0,
        needed=labels_needed(like_these, MARGIN) if like_these is not None else None,
    )


def _population(everything: str, items: int, sample: Sampled | NotSampled) -> str:
    """The items a sample tells of, in words."""
    if isinstance(sample, NotSampled) or len(sample.items) == items:
        return everything
    return f"{len(sample.items):,} of {everything}: those the random sample was drawn from"


def _by_case(scores: Mapping[int, float | None], cases: Mapping[int, int]) -> list[float]:
    """The mean score of each case that has one; several answers to a case are in `cases`."""
    column = np.array(list(scores.values()), dtype=np.float64)
    return [float(mean) for mean in case_means(column, ints([cases.get(pk, pk) for pk in scores]))]


def _plain_means(
    scores: Mapping[int, PeoplesScore], machine: Mapping[int, float | None], cases: Mapping[int, int]
) -> tuple[Figure, Figure]:
    """The plain means of people and of the judge over the items people labelled, and how many those are."""
    both = {pk: one.mean for pk, one in scores.items()}, {pk: machine[pk] for pk in scores}
    people, judge = (
        Figure(fmean(means) if (means := _by_case(of, cases)) else None, None, None, _known(of))
        for of in both
    )
    return people, judge


def _low_end(said: Mapping[int, tuple[float | None, float | None]], cases: Mapping[int, int]) -> LowEnd:
    """The low end of the score of each item, which comes with whether it passes."""
    scores, passed = zip(*said.values(), strict=True) if said else ((), ())
    return low_end(scores, passed, [cases.get(pk, pk) for pk in said])


def _known(scores: Mapping[int, float | None]) -> int:
    return sum(score is not None for score in scores.values())


def _estimated(
    scale: tuple[float, float],
    sample: Sampled,
    scores: Mapping[int, PeoplesScore],
    machine: Mapping[int, float | None],
    cases: Mapping[int, int],
    population: Population,
) -> PeopleMean:
    """People's mean over the items of a sample; labels of items that were not asked about do not count."""
    people = [scores.get(pk) if pk in sample.asked else None for pk in sample.items]
    judged = [machine[pk] for pk in sample.items]
    return estimate_people_mean(
        [UNKNOWN if score is None else score for score in judged],
        [UNKNOWN if one is None else one.mean for one in people],
        [sample.probability[pk] for pk in sample.items],
        Labelling(
            answered=[cases.get(pk, pk) for pk in sample.items],
            drawn=[pk in sample.asked for pk in sample.items],
            scale=scale,
            by_rater=[{} if one is None else one.by_rater for one in people],
        ),
        population=population,
    )


# ── Why there is none ────────────────────────────────────────────────────────────────────────────


def _unavailable(run: Run, sample: Sampled | NotSampled, *, labelled: int, items: int) -> Unavailable:
    """What is missing, and the random sample that would do: one that is open already, else a new one."""
    if not items:
        return Unavailable(
            "labels_hidden",
            "Every item of this run is hidden from you while you review blind.",
            "There is nothing to do about it here.",
        )
    size = min(LEAST_PILOT, items)
    if not labelled:
        why = "People have not answered all criteria of any item yet."
    elif isinstance(sample, Sampled):
        why = f"{counted(labelled, 'item')} of a random sample: too few labels for an interval."
    else:
        verb, subject = ("is", "it is") if labelled == 1 else ("are", "they are")
        why = (
            f"{labelled:,} of {items:,} items {verb} labelled, and {subject} no random sample: {sample.why}. "
            "Such labels describe their own items only."
        )
    open_sample = _open_sample(run)
    if open_sample is not None:
        step = (
            f"Go on labelling in “{open_sample}”, a random sample: {size:,} labels of it allow an estimate."
        )
        return Unavailable("sample_has_begun", why, step, page="queue", queue_id=open_sample.pk)
    step = f"Have {size:,} items labelled that are drawn at random: that allows an estimate."
    return Unavailable("not_a_random_sample", why, step, page="new_queue", sample=sample_for(run, size))


def _open_sample(run: Run) -> ReviewQueue | None:
    """The newest open random sample of what the run graded by its whole rubric, handed out as drawn."""
    version = run.system_version
    same_answers = Q(system_versions__system__name="") if version is None else Q(system_versions=version)
    queues = ReviewQueue.objects.filter(
        Q(system_versions=None) | same_answers,
        dataset=run.dataset_id,
        rubric_version=run.rubric_version_id,
        order=Order.DRAWN,
        state=QueueState.OPEN,
        criteria=None,
        half__in={"", run.half},
    )
    return queues.order_by("-pk").first()
