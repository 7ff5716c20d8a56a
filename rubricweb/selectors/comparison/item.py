"""One item as a comparison shows it: who said what on every criterion, and what stands."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Q

from rubricweb.engine.ground_truth import majority, vote_rule
from rubricweb.engine.origin import Origin
from rubricweb.engine.submission import Submission
from rubricweb.models import (
    Adjudication,
    Criterion,
    Item,
    Judgement,
    RaterKind,
    ReviewQueue,
    Run,
    User,
    in_reviews,
)
from rubricweb.selectors.adjudication.units import aliases
from rubricweb.selectors.blinding import require_visible
from rubricweb.selectors.labels.people import decided_rows, decisions, people_labels, readings
from rubricweb.selectors.reviews.reveals import RevealedAnswer
from rubricweb.selectors.reviews.reviews import quotes


@dataclass(frozen=True)
class CriterionAnswers:
    """One criterion: people's answers, the judge's, and the label that stands by `rule`, of final labels.

    `rule` is one of the engine's RULES, tied (then `stands` is None) or "" without any label.
    """

    criterion: Criterion
    people: tuple[RevealedAnswer, ...]
    judges: tuple[RevealedAnswer, ...]
    stands: str | None
    rule: str
    most: str | None
    adjudication: Adjudication | None
    decided_by: str

    @property
    def differs(self) -> bool:
        """Somebody's label is not what the others say."""
        return len({answer.verdict for answer in (*self.people, *self.judges) if answer.verdict}) > 1


@dataclass(frozen=True)
class ItemComparison:
    item: Item
    submission: Submission
    criteria: tuple[CriterionAnswers, ...]

    @property
    def differing(self) -> int:
        """On how many criteria somebody differs."""
        return sum(row.differs for row in self.criteria)


def item_comparison(
    item: Item, run: Run | None, queues: Sequence[ReviewQueue], *, viewer: User, names: bool = False
) -> ItemComparison:
    """Everybody's verdicts on the item, criterion by criterion, those of imported runs too.

    Withheld while the viewer reviews it blind.
    Without `names`, people are Rater A, B, …, the same letter on every criterion of this item.
    """
    require_visible(viewer, item)
    source = in_reviews(queue__in=queues) | Q(run__rater__isnull=False, run__team__deleted_at=None)
    if run is not None:
        source |= Q(run__in=run.launched_with)
    judgements = list(
        Judgement.objects.filter(source, item=item)
        .select_related("review__rater", "criterion", "revision", "run")
        .order_by("review__rater_id", "judge", "repeat", "pk")
    )
    runs = [] if run is None else [run]
    read = readings(queues, runs=runs)[item.dataset_id]
    # Of a rater's labels on one unit only the one that counts has an answer.
    counting = {
        (label.criterion_id, label.rater_id): label.judgement_id
        for label in people_labels(queues, runs=runs, items=[item.pk])
    }
    letters = aliases(item)
    people: dict[int, list[RevealedAnswer]] = defaultdict(list)
    judges: dict[int, list[RevealedAnswer]] = defaultdict(list)
    for one in judgements:
        rater = one.review.rater if one.review else None
        if rater is None:
            name = one.judge
        else:
            name = letters[rater.pk] if rater.kind == RaterKind.HUMAN and not names else rater.name
        revision = getattr(one, "revision", None)
        counts_for, verdict, final = one.criterion_id, one.verdict, None
        if rater is not None and one.verdict is not None:
            said_last = revision.verdict if revision is not None else one.verdict
            counts_for, verdict, final = read.labels(one.criterion_id, one.verdict, said_last)
            if counting.get((counts_for, rater.pk), one.pk) != one.pk:
                continue
        changed = final if final != verdict else None
        answer = RevealedAnswer(
            name,
            rater is None,
            verdict,
            one.reason,
            one.error_kind or "",
            one.value,
            one.origin,
            changed_to=changed,
            evidence=quotes(one) if rater is not None else (),
        )
        answers = judges if rater is None else people
        answers[counts_for].append(answer)
    stands = decided_rows(decisions(queues, runs=runs, items=[item.pk]))
    decided = {unit[1]: row for unit, row in stands.items()}
    return ItemComparison(
        item=item,
        submission=item.to_engine(),
        criteria=tuple(
            _answers(criterion, people[criterion.pk], judges[criterion.pk], decided.get(criterion.pk), names)
            for criterion in _criteria(item, run, queues, judgements)
            if read.criterion(criterion.pk) == criterion.pk or people[criterion.pk] or judges[criterion.pk]
        ),
    )


def _criteria(
    item: Item, run: Run | None, queues: Sequence[ReviewQueue], judgements: Sequence[Judgement]
) -> list[Criterion]:
    """The criteria of the item's own rubric, else of the queues' and the run's, in rubric order."""
    if item.rubric_version_id is not None:
        versions = {item.rubric_version_id}
    else:
        versions = {queue.rubric_version_id for queue in queues if queue.rubric_version_id}
        versions |= {run.rubric_version_id} if run is not None and run.rubric_version_id else set()
    versions |= {judgement.criterion.version_id for judgement in judgements}
    return list(Criterion.objects.filter(version__in=versions).order_by("-version_id", "position"))


def _answers(
    criterion: Criterion,
    people: Sequence[RevealedAnswer],
    judges: Sequence[RevealedAnswer],
    adjudication: Adjudication | None,
    names: bool,
) -> CriterionAnswers:
    people = sorted(people, key=lambda answer: answer.name)
    labels = [answer.changed_to or answer.verdict for answer in people if answer.verdict]
    most = majority(labels)
    if adjudication is not None:
        stands, rule = adjudication.verdict, "adjudicated" if adjudication.cause else "unanimous"
    elif not labels:
        stands, rule = None, ""
    else:
        stands = most
        settled = all(voice.origin == Origin.SETTLED_BY_FILE for voice in people)
        rule = "tied" if most is None else vote_rule(labels, settled=settled)
    by = adjudication.decided_by if adjudication is not None and names else None
    return CriterionAnswers(
        criterion, tuple(people), tuple(judges), stands, rule, most, adjudication, str(by) if by else ""
    )
