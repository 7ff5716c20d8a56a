"""One review: the sheet a person fills in."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from rubricweb.engine.checks import run_check
from rubricweb.engine.checks.processes.limited import at_once
from rubricweb.engine.report import GradingError
from rubricweb.engine.submission import Submission
from rubricweb.errors import NotFound
from rubricweb.models import Criterion, Judgement, Review, Team, User
from rubricweb.selectors.blinding import require_own_visible
from rubricweb.selectors.labels.reasons import labels_with_reason
from rubricweb.selectors.reviews.evidence import place_words


def review_for(team: Team, review_id: int, viewer: User) -> Review:
    """The access check of a review: only its own rater comes in, and not where they are to label
    the item again without seeing it.
    """
    review = (
        Review.objects.filter(queue__team=team, rater__user=viewer, pk=review_id)
        .select_related(
            "queue__dataset",
            "queue__run",
            "queue__rubric_version",
            "queue__team",
            "item__dataset",
            "item__case",
            "item__rubric_version",
            "rater__user",
        )
        .first()
        if 0 < review_id < 2**63
        else None
    )
    if review is None:
        raise NotFound("review")
    require_own_visible(viewer, review)
    return review


@dataclass(frozen=True)
class RaterAnswer:
    """What one other rater said about a criterion: a peer or a judge.

    `value` is what a check found in the judge's run; then there is neither `verdict` nor `error`. `origin` is
    None for the judge of a run here.
    """

    name: str
    is_judge: bool
    verdict: str | None
    reason: str
    error: str
    value: float | None = None
    origin: str | None = None


@dataclass(frozen=True)
class Measured:
    """What a check found: a value with its reason, or the error (its kind and message) in place of both."""

    value: float | None
    reason: str
    error: str = ""
    message: str = ""


@dataclass(frozen=True)
class Quote:
    """A place that was quoted as evidence; `where` is `field` for people."""

    field: str
    start: int
    end: int
    text: str

    @property
    def where(self) -> str:
        return place_words(self.field)


def quotes(judgement: Judgement) -> tuple[Quote, ...]:
    """The evidence of a stored judgement, in the order it was given."""
    return tuple(Quote(**span) for span in judgement.evidence or ())


@dataclass(frozen=True)
class ReviewQuestion:
    """One criterion on the review page with the person's own answer so far.

    `advice` is what the queue shows of others before submitting. A check is answered already: `measured` says
    how, and nobody is asked. `with_reason` are the labels that need a reason in this queue.
    """

    criterion: Criterion
    verdict: str | None
    reason: str
    advice: tuple[RaterAnswer, ...] = ()
    measured: Measured | None = None
    evidence: tuple[Quote, ...] = ()
    seconds: float | None = None
    with_reason: tuple[str, ...] = ()

    @property
    def is_asked(self) -> bool:
        """Whether a person answers it."""
        return self.measured is None

    @property
    def lacks_reason(self) -> bool:
        """Whether its label must not be submitted without a reason."""
        return self.verdict in self.with_reason and not self.reason.strip()


def questions(review: Review) -> list[ReviewQuestion]:
    """The criteria a review is asked about in rubric order, with the rater's own answers only.

    Checks are computed here and now: they are facts about the submission, not a judge's opinion of it.
    """
    mine = {judgement.criterion_id: judgement for judgement in Judgement.objects.filter(review=review)}
    submission = review.item.to_engine()
    found = []
    for criterion in review.queue.criteria_asked(review.item.rubric_version_id).order_by("position"):
        if criterion.kind == "check":
            found.append(ReviewQuestion(criterion, None, "", measured=measured(criterion, submission)))
            continue
        answer = mine.get(criterion.pk)
        found.append(
            ReviewQuestion(
                criterion,
                answer.verdict if answer else None,
                answer.reason if answer else "",
                evidence=quotes(answer) if answer else (),
                seconds=answer.seconds if answer else None,
                with_reason=tuple(labels_with_reason(criterion, review.queue.rationale)),
            )
        )
    return found


def measured(criterion: Criterion, submission: Submission) -> Measured:
    """What a check finds in a submission, if it can be said at once: a page waits for no helper process."""
    with at_once():
        answer = run_check(criterion.to_engine(), submission)
    if isinstance(answer, GradingError):
        return Measured(None, "", answer.kind, answer.message)
    return Measured(answer.value, answer.reason)


@dataclass(frozen=True)
class Sheet:
    """What the review page asks; `open_id` is the criterion to begin with, None without any to answer.

    `total`, `answered` and `missing` are about the questions people answer, not about checks.
    """

    questions: tuple[ReviewQuestion, ...]
    guidelines: str
    instructions: str

    @property
    def total(self) -> int:
        return sum(question.is_asked for question in self.questions)

    @property
    def answered(self) -> int:
        return sum(question.verdict is not None for question in self.questions)

    @property
    def missing(self) -> list[Criterion]:
        return [
            question.criterion
            for question in self.questions
            if question.is_asked and question.verdict is None
        ]

    @property
    def unreasoned(self) -> list[Criterion]:
        """Criteria whose label needs a reason that is not there."""
        return [question.criterion for question in self.questions if question.lacks_reason]

    @property
    def open_id(self) -> int | None:
        asked = (question.criterion for question in self.questions if question.is_asked)
        first = next(iter([*self.missing, *self.unreasoned, *asked]), None)
        return first.pk if first else None


def sheet(
    review: Review,
    typed: Mapping[int, tuple[str | None, str]] | None = None,
    advice: Mapping[int, Sequence[RaterAnswer]] | None = None,
) -> Sheet:
    """The rater's own sheet; `typed` (criterion id → verdict, reason) goes over what is stored.

    `advice` (criterion id → what others said) is `reveals.advice`.
    """
    version = review.item.rubric_version or review.queue.rubric_version
    typed, advice = typed or {}, advice or {}
    asked = []
    for one in questions(review):
        verdict, reason = typed.get(one.criterion.pk, (one.verdict, one.reason))
        said = tuple(advice.get(one.criterion.pk, ()))
        asked.append(replace(one, verdict=verdict or one.verdict, reason=reason, advice=said))
    return Sheet(tuple(asked), version.guidelines if version else "", review.queue.instructions)
