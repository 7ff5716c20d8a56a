"""What verdicts are worth: the only place a weight is multiplied.

Over the criteria that have a value, ``P = Σ max(0, w)``, ``N = Σ |w|`` for w < 0, ``raw = Σ w·value``::

    the rubric has positive weights    score = clamp01(raw / P)
    only negative (and zero) weights   score = clamp01(1 + raw / N)
    only zero weights                  score = 0.0
    nothing has a value                score = None

The formula is chosen by the whole rubric: when skipping empties the side it divides by, there is no score
rather than the other formula's. Sources: the published ``rubric`` 2.0.0 formulas, and autorubric's
abstention policies.
"""

# Long because half of it are worked values.

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, get_args

from rubricweb.engine.scoring.outcomes import FAILED, Failed, Outcome, label_outcome, outcome_of, value_of
from rubricweb.engine.submission import Submission
from rubricweb.engine.thinking import word_count
from rubricweb.engine.verdict import Label, Verdict

if TYPE_CHECKING:
    from rubricweb.engine.rubric import Rubric
    from rubricweb.engine.rubric.rules import LengthPenalty

__all__ = [
    "ABSTENTION_POLICIES",
    "ERROR_POLICIES",
    "FAILED",
    "FAILED_ITEM_POLICIES",
    "Abstention",
    "Failed",
    "FailedItems",
    "OnError",
    "Outcome",
    "Score",
    "compute_length_penalty",
    "contributions",
    "length_penalty",
    "outcome_of",
    "passed",
    "penalised",
    "score_groups",
    "score_holistic",
    "score_labels",
    "score_verdicts",
    "value_of",
]

Abstention: TypeAlias = Literal["skip", "zero", "partial", "fail"]
"""What CANNOT_ASSESS is worth: out of both sums, 0, half a positive weight, the worst there is by sign."""

OnError: TypeAlias = Literal["exclude", "zero", "fail_item"]
"""What a failed question is worth: out of both sums, 0 with its weight kept, or no score for the item."""

FailedItems: TypeAlias = Literal["exclude", "include"]
"""Whether a submission with an error is in figures over several: left out until it is graded without, or
counted with the score the error policy gave it."""

ABSTENTION_POLICIES: Final = get_args(Abstention)
ERROR_POLICIES: Final = get_args(OnError)
FAILED_ITEM_POLICIES: Final = get_args(FailedItems)

ROUNDING: Final = 1e-9
"""By so little a value may miss a limit: 0.7 + 0.1 is 0.8 on paper and 0.7999999999999999 in binary."""


@dataclass(frozen=True, slots=True)
class Score:
    """A score with what it rests on.

    ``score``: 0 to 1 (the raw sum when not normalised), None when nothing can be said. ``raw_score``: the
    weighted sum. ``coverage``: share (0 to 1) of Σ|w| really judged; of the criteria when all weights are
    zero. ``llm_raw_score``: what the judge said, 0 to 100 if holistic, else the weighted sum.
    """

    score: float | None
    raw_score: float | None
    coverage: float
    llm_raw_score: float | None = None


def score_verdicts(
    weights: Sequence[float],
    outcomes: Sequence[Outcome],
    *,
    worst: Sequence[float] | None = None,
    normalize: bool = True,
    abstention: Abstention = "skip",
    on_error: OnError = "exclude",
) -> Score:
    """Score one submission from one outcome per criterion.

    ``worst`` is what an abstention counts under ``fail``, one value from 0 to 1 per criterion
    (``Rubric.worst_values``); without it 0, for a negative weight 1.
    Weights (10, 5, −3) with MET, UNMET, MET: raw = 10 − 3 = 7, P = 15, score 7/15 = 0.467, coverage 1.0.
    Weight 10 with CANNOT_ASSESS under ``fail`` and a worst of 0.4: raw 4, score 0.4, coverage 0.
    Raises ValueError for lists of different length, values outside 0 to 1 (finite is enough where the weight
    is 0), weights that are not finite, or an unknown policy.
    """
    _check(weights, outcomes, abstention, on_error)
    worst = _worst(weights, worst)
    judged = [
        not isinstance(outcome, Failed) and outcome is not Verdict.CANNOT_ASSESS for outcome in outcomes
    ]
    coverage = _coverage(weights, judged)
    if on_error == "fail_item" and any(isinstance(outcome, Failed) for outcome in outcomes):
        return Score(None, None, coverage)
    terms = [
        (weight, value)
        for weight, outcome, at_worst in zip(weights, outcomes, worst, strict=True)
        if (value := _value(weight, outcome, at_worst, abstention, on_error)) is not None
    ]
    if not terms:
        return Score(None, None, coverage)
    raw = math.fsum(weight * value for weight, value in terms) + 0.0
    score = _normalised(raw, weights, [weight for weight, _ in terms]) if normalize else raw
    return Score(score, raw, coverage, llm_raw_score=raw)


def contributions(
    weights: Sequence[float],
    outcomes: Sequence[Outcome],
    *,
    worst: Sequence[float] | None = None,
    abstention: Abstention = "skip",
    on_error: OnError = "exclude",
) -> list[float | None]:
    """What each criterion adds to the raw score; None where it leaves the score alone by policy.

    The sum of those that are not None is the raw score of ``score_verdicts``, which also says what is raised.
    Weights (10, 5, −3, 2) with MET, UNMET, MET, FAILED: 10, 0, −3, None.
    """
    _check(weights, outcomes, abstention, on_error)
    values = [
        _value(weight, outcome, at_worst, abstention, on_error)
        for weight, outcome, at_worst in zip(weights, outcomes, _worst(weights, worst), strict=True)
    ]
    return [
        None if value is None else weight * value + 0.0 for weight, value in zip(weights, values, strict=True)
    ]


def score_groups(
    groups: Sequence[str | None],
    weights: Sequence[float],
    outcomes: Sequence[Outcome],
    *,
    worst: Sequence[float] | None = None,
    normalize: bool = True,
    abstention: Abstention = "skip",
    on_error: OnError = "exclude",
) -> dict[str | None, Score]:
    """Score every group as a rubric of its own, in order of appearance; None holds the ungrouped.

    Groups (a, a, b), weights (1, 1, −1), MET, UNMET, UNMET: a = 0.5, b = 1.0.
    """
    if len(groups) != len(weights) or len(groups) != len(outcomes):
        raise ValueError(f"{len(groups)} groups for {len(weights)} weights and {len(outcomes)} outcomes")
    worst = _worst(weights, worst)
    members: dict[str | None, list[int]] = {}
    for i, group in enumerate(groups):
        members.setdefault(group, []).append(i)
    return {
        group: score_verdicts(
            [weights[i] for i in indexes],
            [outcomes[i] for i in indexes],
            worst=[worst[i] for i in indexes],
            normalize=normalize,
            abstention=abstention,
            on_error=on_error,
        )
        for group, indexes in members.items()
    }


def passed(rubric: Rubric, score: float | None, outcomes: Sequence[Outcome] | None) -> bool | None:
    """Whether a submission passes by the rubric's rule; None without a rule or when it cannot be said.

    ``score`` is the normalised score with any penalty taken off, ``outcomes`` one per criterion (None: not
    known). A criterion of weight 0 or without a value asks for nothing of ``min_criterion``; one that failed
    leaves the answer open, unless another limit is already missed. Rule (0.8, 0.5) with score 0.9 and
    outcomes MET, 0.5 of positive weight passes; UNMET instead of 0.5 does not. What misses a limit by no more
    than binary rounding reaches it.
    """
    rule = rubric.pass_rule
    if rule is None or score is None:
        return None
    if rule.min_score is not None and score < rule.min_score - ROUNDING:
        return False
    if rule.min_criterion is None:
        return True
    if outcomes is None:
        return None
    if len(outcomes) != len(rubric.criteria):
        raise ValueError(f"{len(outcomes)} outcomes for {len(rubric.criteria)} criteria; allowed: one each")
    scored = [(w, outcome) for w, outcome in zip(rubric.weights, outcomes, strict=True) if w != 0]
    values = [(w, value) for w, outcome in scored if (value := value_of(outcome)) is not None]
    if any((value if w > 0 else 1.0 - value) < rule.min_criterion - ROUNDING for w, value in values):
        return False
    return None if any(isinstance(outcome, Failed) for _, outcome in scored) else True


def length_penalty(rule: LengthPenalty | None, submission: Submission) -> float:
    """What a submission's length takes off its score; 0 without a rule.

    Words are what white space separates; thinking that was not given has none. With free 6000, cap 8000,
    0.5 at the cap and exponent 1.6, 7000 words cost 0.5 · 0.5**1.6 = 0.165. Source: autorubric's penalty.
    """
    if rule is None:
        return 0.0
    counted = {
        "ALL": (submission.thinking, submission.output),
        "OUTPUT_ONLY": (submission.output,),
        "THINKING_ONLY": (submission.thinking,),
    }[rule.counts]
    words = sum(word_count(text) for text in counted if text is not None)
    if words <= rule.free_budget:
        return 0.0
    if words >= rule.max_cap:
        return rule.penalty_at_cap
    share = (words - rule.free_budget) / (rule.max_cap - rule.free_budget)
    return rule.penalty_at_cap * math.pow(share, rule.exponent)


def compute_length_penalty(text: str | Mapping[str, str], config: LengthPenalty) -> float:
    """``length_penalty`` of a text, or of a mapping with ``thinking`` and ``output``; a published name.

    A text is all output, tags or not; what a mapping leaves out has no words.
    """
    output, thinking = (text, None) if isinstance(text, str) else (text.get("output"), text.get("thinking"))
    return length_penalty(config, Submission(output or "", thinking=thinking))


def penalised(score: float | None, penalty: float, *, normalize: bool = True) -> float | None:
    """The score less a length penalty, never below 0 when normalised; None stays None.

    0.4 less 0.5 is 0.0, or −0.1 as a raw sum.
    """
    if score is None:
        return None
    return max(0.0, score - penalty) if normalize else score - penalty


def score_labels(
    rubric: Rubric,
    labels: Sequence[Label | float | None],
    *,
    normalize: bool = True,
    abstention: Abstention = "skip",
    on_error: OnError = "exclude",
) -> Score:
    """Score one submission from one label per criterion.

    A label is a verdict (or its text), an option's label, or a number for a check. None is a gap: it is not
    covered and counts as a failure does. Weights (10, 5, −3) labelled MET, None, UNMET: score 10/10,
    coverage 13/18. Raises ValueError naming the criterion for an unknown label, and for another number of
    labels than criteria.
    """
    if len(labels) != len(rubric.criteria):
        raise ValueError(f"{len(labels)} labels for {len(rubric.criteria)} criteria; allowed: one each")
    outcomes = []
    for i, (criterion, label) in enumerate(zip(rubric.criteria, labels, strict=True)):
        try:
            outcomes.append(label_outcome(criterion, label))
        except ValueError as error:
            raise ValueError(f"labels[{i}] ({criterion.name}): {error}") from None
    return score_verdicts(
        rubric.weights,
        outcomes,
        worst=rubric.worst_values,
        normalize=normalize,
        abstention=abstention,
        on_error=on_error,
    )


def score_holistic(
    weights: Sequence[float],
    llm_score: float | None,
    *,
    normalize: bool = True,
    checked: Mapping[int, Outcome] | None = None,
    abstention: Abstention = "skip",
    on_error: OnError = "exclude",
) -> Score:
    """Score one submission from a judge's single number, clamped to 0–100; None is a failed call.

    raw = llm/100 · P, or −N·(1 − llm/100) when nothing is positive, so that it compares with the other
    graders: weights (10, 5, −3) and 85 give raw 0.85 · 15 = 12.75, score 0.85. ``checked`` holds the
    outcomes, by 0-based index, of criteria the judge was not asked about: the number then stands for the
    others, and all add up. Weights (10, 10) with 85 and a check of 0.5 at the second: raw 8.5 + 5, score
    0.675. Raises ValueError for NaN and as ``score_verdicts`` does.
    """
    checked = checked or {}
    judged = [i for i in range(len(weights)) if i not in checked]
    outcomes: list[Outcome] = [checked.get(i, Verdict.MET) for i in range(len(weights))]
    _check(weights, outcomes, abstention, on_error)
    if llm_score is None:
        reached = [i in checked and value_of(outcomes[i]) is not None for i in range(len(weights))]
        return Score(None, None, _coverage(weights, reached))
    if math.isnan(llm_score):
        raise ValueError("the judge's score is NaN; allowed: a number from 0 to 100")
    share = min(100.0, max(0.0, llm_score)) / 100.0
    positive, negative = _sides([weights[i] for i in judged])
    raw = (share * positive if positive > 0 else -negative * (1.0 - share)) + 0.0
    if not checked:
        alone = 0.0 if positive == 0 and negative == 0 else share  # raw / P and 1 + raw / N come back to it
        return Score(alone if normalize else raw, raw, 1.0, llm_raw_score=llm_score)
    coverage = _coverage(weights, [value_of(outcome) is not None for outcome in outcomes])
    if on_error == "fail_item" and any(isinstance(outcome, Failed) for outcome in checked.values()):
        return Score(None, None, coverage, llm_raw_score=llm_score)
    worst = _worst(weights, None)
    terms = {
        i: value
        for i in checked
        if (value := _value(weights[i], outcomes[i], worst[i], abstention, on_error)) is not None
    }
    raw = math.fsum([raw, *(weights[i] * value for i, value in terms.items())]) + 0.0
    valued = [weights[i] for i in (*judged, *terms)]
    score = _normalised(raw, weights, valued) if normalize else raw
    return Score(score, raw, coverage, llm_raw_score=llm_score)


def _check(weights: Sequence[float], outcomes: Sequence[Outcome], abstention: str, on_error: str) -> None:
    if len(weights) != len(outcomes):
        raise ValueError(
            f"{len(outcomes)} outcomes for {len(weights)} weights; allowed: one outcome per criterion"
        )
    if abstention not in ABSTENTION_POLICIES:
        raise ValueError(
            f"unknown abstention policy {abstention!r}; allowed: {', '.join(ABSTENTION_POLICIES)}"
        )
    if on_error not in ERROR_POLICIES:
        raise ValueError(f"unknown error policy {on_error!r}; allowed: {', '.join(ERROR_POLICIES)}")
    _check_weights(weights)
    for i, outcome in enumerate(outcomes):
        if isinstance(outcome, Verdict | Failed):
            continue
        # True would pass for 1.0, and None for "nothing wrong": neither is an outcome.
        number = isinstance(outcome, int | float) and not isinstance(outcome, bool)
        if number and weights[i] == 0 and math.isfinite(outcome):
            continue
        if not number or not 0.0 <= outcome <= 1.0:
            raise ValueError(
                f"outcomes[{i}] is {outcome!r}; allowed: a Verdict, FAILED or a number from 0 to 1"
            )


def _check_weights(weights: Sequence[float]) -> None:
    for i, weight in enumerate(weights):
        if not math.isfinite(weight):
            raise ValueError(f"weights[{i}] is {weight!r}; allowed: a finite number")


def _worst(weights: Sequence[float], worst: Sequence[float] | None) -> Sequence[float]:
    if worst is None:
        return [1.0 if weight < 0 else 0.0 for weight in weights]
    if len(worst) != len(weights):
        raise ValueError(f"{len(worst)} worst values for {len(weights)} weights; allowed: one each")
    for i, value in enumerate(worst):
        if not 0.0 <= value <= 1.0:
            raise ValueError(f"worst[{i}] is {value!r}; allowed: a number from 0 to 1")
    return worst


def _value(
    weight: float, outcome: Outcome, worst: float, abstention: Abstention, on_error: OnError
) -> float | None:
    """The value of one outcome from 0 to 1, or None when it leaves both sums."""
    if isinstance(outcome, Failed):
        return 0.0 if on_error == "zero" else None
    if outcome is Verdict.CANNOT_ASSESS:
        if abstention == "skip":
            return None
        if abstention == "partial":
            return 0.5 if weight > 0 else 0.0
        if abstention == "fail":
            return worst
        return 0.0
    return value_of(outcome)


def _normalised(raw: float, weights: Sequence[float], valued_weights: Sequence[float]) -> float | None:
    rubric_positive, rubric_negative = _sides(weights)
    positive, negative = _sides(valued_weights)
    if rubric_positive > 0:
        return _clamp01(raw / positive) if positive > 0 else None
    if rubric_negative > 0:
        return _clamp01(1.0 + raw / negative) if negative > 0 else None
    return 0.0


def _sides(weights: Sequence[float]) -> tuple[float, float]:
    positive = math.fsum(weight for weight in weights if weight > 0)
    negative = math.fsum(-weight for weight in weights if weight < 0)
    return positive, negative


def _coverage(weights: Sequence[float], judged: Sequence[bool]) -> float:
    sizes = [abs(weight) for weight in weights]
    if not any(sizes):
        sizes = [1.0] * len(sizes)
    total = math.fsum(sizes)
    if total == 0:
        return 0.0
    return _clamp01(
        math.fsum(size for size, was_judged in zip(sizes, judged, strict=True) if was_judged) / total
    )


def _clamp01(number: float) -> float:
    return min(1.0, max(0.0, number))
