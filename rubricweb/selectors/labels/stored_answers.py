"""Answers as rows keep them, turned back into the engine's."""

from collections.abc import Iterable, Mapping, Sequence

from rubricweb import engine
from rubricweb.engine.answer import Answer
from rubricweb.engine.report import GradingError, Vote
from rubricweb.engine.scoring import Outcome, outcome_of
from rubricweb.engine.scoring.effect import Effect, effect_of
from rubricweb.engine.scoring.outcomes import value_of
from rubricweb.engine.verdict import Verdict
from rubricweb.models import Criterion, Judgement
from rubricweb.models import Vote as VoteRow


def answer_of(
    criterion: engine.Criterion,
    verdict: str | None,
    value: float | None = None,
    *,
    reason: str = "",
    confidence: float | None = None,
) -> Answer | None:
    """The answer behind a row's `verdict` (a label) or `value`; None when both are None: a failure.

    CANNOT_ASSESS on a choice is a panel that could not settle, unless an option is called so.
    """
    if value is not None:
        return Answer(None, reason, value=value, confidence=confidence)
    if verdict is None:
        return None
    if criterion.is_multi_choice and any(option.label == verdict for option in criterion.options):
        return Answer(None, reason, option=verdict, confidence=confidence)
    return Answer(Verdict(verdict), reason, confidence=confidence)


def label_of(answer: Answer) -> str | None:
    """What a row keeps as its `verdict`: the verdict or the option's label; None for a check's number."""
    return answer.option if answer.verdict is None else answer.verdict.value


def outcomes(
    rubric: engine.Rubric,
    criteria: Sequence[Criterion],
    found: Mapping[int, tuple[str | None, float | None]],
) -> list[Outcome]:
    """One outcome per criterion of `rubric`, from (verdict, value) by criterion id; nothing there failed.

    `criteria` are the rubric's rows in order.
    """
    return [
        outcome_of(criterion, answer_of(criterion, *found.get(row.pk, (None, None))))
        for criterion, row in zip(rubric.criteria, criteria, strict=True)
    ]


def outcome(row: Criterion, judgement: Judgement | None) -> Outcome:
    """What one stored judgement comes to; without one, or with an error, it failed."""
    criterion = row.to_engine()
    if judgement is None:
        return outcome_of(criterion, None)
    return outcome_of(criterion, answer_of(criterion, judgement.verdict, judgement.value))


def label_effect(row: Criterion, label: str | None, value: float | None = None) -> Effect | None:
    """What a label, or what a check found, does to the score: MET of a negative weight hurt.

    None for an abstention and where there is no answer.
    """
    criterion = row.to_engine()
    return effect_of(value_of(outcome_of(criterion, answer_of(criterion, label, value))), row.weight)


def engine_votes(criterion: engine.Criterion, rows: Iterable[VoteRow]) -> list[Vote]:
    """The votes on one criterion as the engine counts them."""
    votes = []
    for row in rows:
        answer = answer_of(criterion, row.verdict, reason=row.reason, confidence=row.confidence)
        error = None
        if answer is None:
            error = GradingError(
                criterion=criterion.name, kind=str(row.error_kind), message=row.error_message
            )
        votes.append(Vote(judge=row.judge, repeat=row.repeat, answer=answer, error=error, weight=row.weight))
    return votes
