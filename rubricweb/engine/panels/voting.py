"""Many votes on one criterion, and the one verdict they add up to.

Abstaining votes (CANNOT_ASSESS, or an option marked ``na``) are set aside, failed votes are kept apart as
errors, and what is left is settled by a rule of ``vote_rules``. Numbers are taken as the decimals that were
written, so that a tie is a tie on every machine and the order of the votes changes nothing.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from typing import Final

from rubricweb.engine.answer import Answer
from rubricweb.engine.panels.vote_rules import DEFAULT_RULES, VOTE_RULES, Ballots, Scale
from rubricweb.engine.report import GradingError, Vote
from rubricweb.engine.rubric import Criterion
from rubricweb.engine.verdict import Verdict

__all__ = [
    "ABSTAINED",
    "DEFAULT_RULES",
    "VOTE_RULES",
    "Scale",
    "Vote",
    "VoteTally",
    "flip_share",
    "labels_of",
    "rule_for",
    "scale_of",
    "standpoint",
    "tally",
]

ABSTAINED: Final = -1
"""The standpoint of a vote that abstains; others are positions in ``labels_of``."""


@dataclass(frozen=True, slots=True)
class VoteTally:
    """What the votes on one criterion add up to.

    ``answer`` is the final verdict or option, None exactly when ``error`` says why there is none.
    ``agreement``: share (0 to 1) of the votes that are neither failed nor abstaining which equal the final
    answer; 1.0 when all abstain; None without an answer. It counts votes, whatever their weights. A mean can
    settle on an option nobody chose: agreement is then 0.0. ``flips``: see ``flip_share``.
    """

    answer: Answer | None
    agreement: float | None
    flips: float | None
    error: GradingError | None = None


def tally(
    criterion: Criterion, votes: Sequence[Vote], rule: str | None = None, *, quorum: float = 0.0
) -> VoteTally:
    """Settle the votes on one criterion by ``rule``; None is the criterion's own, else the scale's default.

    ``quorum``: share (0 to 1) of the votes that must have come, abstaining ones included, for there to be a
    verdict; 0 asks for one vote. Below it the error is ``no_quorum``; when every vote failed it is the
    kind most of them share. All votes abstaining is an abstention, not an error.

    Worked: weight 5, MET, MET, UNMET, CANNOT_ASSESS and one failure, majority → MET, agreement 2/3.

    Raises ValueError for a check criterion, a rule that does not settle its scale, a quorum outside 0 to 1,
    two votes of one judge and repeat, or a vote that is no answer to this criterion.
    """
    name = rule_for(criterion) if rule is None else _known_rule(criterion, rule)
    _check_quorum(quorum)
    _check_identities(votes)
    cast = [(vote, vote.answer) for vote in _by_judge_and_repeat(votes) if vote.answer is not None]
    standpoints = [(vote, answer, standpoint(criterion, answer)) for vote, answer in cast]
    flips = _flips([(vote.judge, stand) for vote, _, stand in standpoints])
    error = _shortfall(criterion, votes, quorum)
    if error is not None:
        return VoteTally(None, None, flips, error)
    final = _winner(criterion, [(vote, stand) for vote, _, stand in standpoints], name)
    backing = [(vote, answer) for vote, answer, stand in standpoints if stand == final]
    voices = sum(stand != ABSTAINED for _, _, stand in standpoints) if final != ABSTAINED else len(cast)
    answer = _answer(criterion, final, backing, voices, name)
    return VoteTally(answer, len(backing) / voices, flips)


def flip_share(criterion: Criterion, votes: Sequence[Vote]) -> float | None:
    """Share (0 to 1) of the pairs of repeats by one judge that differ, pooled over the judges.

    Every two answers of one judge are a pair, in whatever order they came; abstaining is an answer like any
    other, a failed vote is none. None when no judge answered twice. It is 1 − P of Fleiss (1971), "Measuring
    nominal scale agreement among many raters", for one subject, with a judge's repeats as the raters.

    Worked: MET, MET, UNMET by one judge are 3 pairs, 2 of them differ: 0.667; with a second judge's UNMET,
    UNMET it is 2 of 4: 0.5.
    """
    return _flips(
        [(vote.judge, standpoint(criterion, vote.answer)) for vote in votes if vote.answer is not None]
    )


def rule_for(criterion: Criterion, rules: Mapping[Scale, str] | None = None) -> str:
    """The name of the rule that settles ``criterion`` in a panel with these rules by scale.

    The criterion's own ``aggregation`` stands above the panel's, the panel's above ``DEFAULT_RULES``. Raises
    ValueError for a check criterion and for a name that does not settle its scale.
    """
    scale = scale_of(criterion)
    return _known_rule(criterion, criterion.aggregation or (rules or {}).get(scale) or DEFAULT_RULES[scale])


def scale_of(criterion: Criterion) -> Scale:
    """Which family of rules settles the criterion. Raises ValueError for a check: nobody votes on it."""
    if criterion.kind == "check":
        raise ValueError(f"criterion {criterion.name!r} is a check; allowed: binary and choice criteria")
    if criterion.kind == "binary":
        return "binary"
    return "nominal" if criterion.scale_type == "nominal" else "ordinal"


def labels_of(criterion: Criterion) -> tuple[str, ...]:
    """The answers that can win, in order: UNMET and MET, or the options that are not ``na``."""
    if criterion.kind == "binary":
        return (Verdict.UNMET.value, Verdict.MET.value)
    return tuple(option.label for option in criterion.options if not option.na)


def standpoint(criterion: Criterion, answer: Answer) -> int:
    """The answer's position in ``labels_of``, or ABSTAINED; two answers agree when these are equal.

    Raises ValueError when it is no answer to this criterion.
    """
    if answer.verdict is Verdict.CANNOT_ASSESS:
        return ABSTAINED
    if criterion.kind == "binary" and answer.verdict is not None:
        return int(answer.verdict is Verdict.MET)
    if criterion.kind == "choice" and answer.option is not None:
        option = criterion.options[criterion.find_option_by_label(answer.option)]
        return ABSTAINED if option.na else labels_of(criterion).index(option.label)
    allowed = "one of its options" if criterion.kind == "choice" else "MET, UNMET or CANNOT_ASSESS"
    found = answer.verdict or answer.option or answer.value
    raise ValueError(f"a vote on criterion {criterion.name!r} is {found!r}; allowed: {allowed}")


_SCALE_NAMES: Final[Mapping[Scale, str]] = {
    "binary": "a binary criterion",
    "ordinal": "ordered options",
    "nominal": "unordered options",
}


def _known_rule(criterion: Criterion, name: str) -> str:
    scale = scale_of(criterion)
    if name not in VOTE_RULES[scale]:
        allowed = ", ".join(VOTE_RULES[scale])
        raise ValueError(
            f"aggregation of criterion {criterion.name!r} is {name!r}; "
            f"allowed for {_SCALE_NAMES[scale]}: {allowed}"
        )
    return name


def _by_judge_and_repeat(votes: Iterable[Vote]) -> list[Vote]:
    return sorted(votes, key=lambda vote: (vote.judge, vote.repeat))


def _check_quorum(quorum: float) -> None:
    if not 0.0 <= quorum <= 1.0:
        raise ValueError(f"quorum is {quorum!r}; allowed: a share from 0 to 1")


def _check_identities(votes: Iterable[Vote]) -> None:
    times = Counter((vote.judge, vote.repeat) for vote in votes)
    for (judge, repeat), count in times.items():
        if count > 1:
            raise ValueError(f"{count} votes of judge {judge!r}, repeat {repeat}; allowed: one of each")


def _shortfall(criterion: Criterion, votes: Sequence[Vote], quorum: float) -> GradingError | None:
    """Why these votes make no verdict, or None when they do."""
    failed = [(vote, vote.error) for vote in _by_judge_and_repeat(votes) if vote.error is not None]
    came = len(votes) - len(failed)
    if not votes:
        return GradingError(criterion=criterion.name, kind="missing_criterion", message="nobody voted")
    if came == 0:
        kinds = Counter(error.kind for _, error in failed)
        kind = min(kinds, key=lambda name: (-kinds[name], name))
        judge, message = next((vote.judge, error.message) for vote, error in failed if error.kind == kind)
        if len(votes) > 1:
            message = f"all {len(votes)} votes failed; {judge}: {message}"
        return GradingError(criterion=criterion.name, kind=kind, message=message)
    if came < math.ceil(Fraction(repr(float(quorum))) * len(votes)):
        return GradingError(
            criterion=criterion.name,
            kind="no_quorum",
            message=f"{came} of {len(votes)} votes came; a verdict needs a share of {quorum:g}",
        )
    return None


def _winner(criterion: Criterion, stands: Sequence[tuple[Vote, int]], rule: str) -> int:
    voiced = [(vote, stand) for vote, stand in stands if stand != ABSTAINED]
    if not voiced:
        return ABSTAINED
    values = _values(criterion)
    counts = [0] * len(values)
    weights = [Fraction(0)] * len(values)
    for vote, stand in voiced:
        counts[stand] += 1
        weights[stand] += _exact(vote.weight)
    if not any(weights):
        weights = [Fraction(count) for count in counts]
    ballots = Ballots(values, tuple(counts), tuple(weights), -1 if criterion.weight < 0 else 1)
    return VOTE_RULES[scale_of(criterion)][rule](ballots)


def _values(criterion: Criterion) -> tuple[Fraction, ...]:
    if criterion.kind == "binary":
        return (Fraction(0), Fraction(1))
    return tuple(_exact(option.value) for option in criterion.options if not option.na)


def _answer(
    criterion: Criterion, final: int, backing: Sequence[tuple[Vote, Answer]], voices: int, rule: str
) -> Answer:
    """The final answer with the first backing vote's reason; of several, led by how the votes fell."""
    if final == ABSTAINED:
        verdict, option = _abstention(criterion, [answer for _, answer in backing])
    elif criterion.kind == "binary":
        verdict, option = Verdict(labels_of(criterion)[final]), None
    else:
        verdict, option = None, labels_of(criterion)[final]
    if len(backing) == voices == 1:
        return replace(backing[0][1], verdict=verdict, option=option)
    stated = [answer.confidence for _, answer in backing if answer.confidence is not None]
    confidence = math.fsum(stated) / len(stated) if stated and len(stated) == len(backing) else None
    label = "abstain" if final == ABSTAINED else f"say {labels_of(criterion)[final]}"
    reason = f"{len(backing)} of {voices} votes {label} ({rule})."
    if backing:
        vote, answer = backing[0]
        reason = f"{reason} {vote.judge}: {answer.reason}" if answer.reason else reason
    return Answer(verdict, reason, option=option, confidence=confidence)


def _abstention(criterion: Criterion, answers: Sequence[Answer]) -> tuple[Verdict | None, str | None]:
    """How a panel abstains that abstained as one: by the ``na`` option named most, else CANNOT_ASSESS."""
    named = Counter(
        criterion.find_option_by_label(answer.option) for answer in answers if answer.option is not None
    )
    if not named:
        return Verdict.CANNOT_ASSESS, None
    index = min(named, key=lambda i: (-named[i], i))
    return None, criterion.options[index].label


def _flips(stands: Sequence[tuple[str, int]]) -> float | None:
    per_judge: dict[str, list[int]] = {}
    for judge, stand in stands:
        per_judge.setdefault(judge, []).append(stand)
    pairs = [pair for answers in per_judge.values() for pair in combinations(answers, 2)]
    return sum(one != other for one, other in pairs) / len(pairs) if pairs else None


def _exact(number: float) -> Fraction:
    return Fraction(repr(float(number)))
