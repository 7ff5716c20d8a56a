"""One unit as an adjudicator sees it: who said what, and why, without their names."""

from collections import Counter
from dataclasses import dataclass

from django.utils.crypto import salted_hmac

from rubricweb.engine.ground_truth import majority
from rubricweb.models import (
    Adjudication,
    Criterion,
    Item,
    Judgement,
    Review,
    ReviewState,
    RevisionChoice,
    Run,
    User,
    Vote,
)
from rubricweb.selectors.blinding import require_visible
from rubricweb.selectors.labels.adjudications import judge_runs_for_queues, labelling_queues
from rubricweb.selectors.labels.ground_truth import people_first
from rubricweb.selectors.labels.people import PersonLabel, decided_rows, decisions, people_labels
from rubricweb.selectors.labels.provenance import Provenance, provenances
from rubricweb.selectors.reviews.reviews import Quote, quotes


@dataclass(frozen=True)
class UnitAnswer:
    """What one rater said: `verdict` is their final label, `initial` what they said first where they changed.

    `later` is their reason for changing, `unclear` whether they found the rubric so. `votes` are the answers
    a judge's label was made of, with their numbers, where it was asked several times. `origin` is None for
    the judge of a run here.
    """

    name: str
    is_judge: bool
    verdict: str | None
    reason: str
    initial: str | None = None
    later: str = ""
    unclear: bool = False
    error: str = ""
    evidence: tuple[Quote, ...] = ()
    votes: tuple[tuple[str, int], ...] = ()
    origin: str | None = None


@dataclass(frozen=True)
class UnitToDecide:
    """One criterion of one item; `most` is the majority of people's final labels, None when they are tied.

    `provenance` says what stands and why, None where no person has labelled it.
    """

    item: Item
    criterion: Criterion
    people: tuple[UnitAnswer, ...]
    judges: tuple[UnitAnswer, ...]
    most: str | None
    decision: Adjudication | None
    provenance: Provenance | None
    runs: tuple[Run, ...]

    @property
    def judged(self) -> str | None:
        """The label all judges gave, None where they differ or said nothing."""
        labels = {answer.verdict for answer in self.judges}
        return labels.pop() if len(labels) == 1 else None

    @property
    def answers(self) -> tuple[UnitAnswer, ...]:
        return (*self.people, *self.judges)


def unit_to_decide(item: Item, criterion: Criterion, *, viewer: User, names: bool = False) -> UnitToDecide:
    """Everybody's word on one criterion of one item; Withheld while the viewer is still to review it blind.

    Without `names` people are Rater A, Rater B, …: the same letter on every criterion of the item, and
    another one on the next item. Judges are those of the runs beside the queues that label the item.
    """
    require_visible(viewer, item)
    queues = people_first(labelling_queues([item])[item.pk])
    runs = judge_runs_for_queues(item.dataset.team, queues)
    judgements = Judgement.objects.filter(item=item, criterion=criterion)
    version = criterion.version_id
    unit = (item.pk, criterion.pk)
    labels = [
        label
        for label in people_labels(queues, version=version, items=[item.pk], detailed=True)
        if label.unit == unit
    ]
    rows = Judgement.objects.select_related("revision").in_bulk([label.judgement_id for label in labels])
    letters = aliases(item)
    people = [
        _person(rows[label.judgement_id], label, label.rater if names else letters[label.rater_id])
        for label in labels
    ]
    judged = list(judgements.filter(run__in=runs).select_related("run").order_by("run_id", "repeat", "pk"))
    votes = Counter(
        Vote.objects.filter(run__in=runs, item=item, criterion=criterion, verdict__isnull=False).values_list(
            "run_id", "verdict"
        )
    )
    # Only those that said something here are shown, and only several of them need numbers.
    heard = {row.run_id for row in judged}
    numbers = {pk: f" {n}" for n, pk in enumerate((run.pk for run in runs if run.pk in heard), start=1)}
    judges = []
    for row in judged:
        name = row.judge if names else "Judge" + (numbers[row.run_id or 0] if len(heard) > 1 else "")
        name += f", asked again ({row.repeat + 1})" if row.repeat else ""
        made_of = tuple((str(label), n) for (run_id, label), n in votes.most_common() if run_id == row.run_id)
        judges.append(
            UnitAnswer(
                name,
                True,
                row.verdict,
                row.reason,
                error=row.error_kind or "",
                votes=made_of if len(made_of) > 1 else (),
                origin=row.origin,
            )
        )
    provenance = provenances(queues, items=[item.pk], version=version).get(unit)
    decided = decisions(queues, version=version, items=[item.pk])
    decision = decided_rows({unit: decided[unit]})[unit] if unit in decided else None
    return UnitToDecide(
        item=item,
        criterion=criterion,
        people=tuple(sorted(people, key=lambda answer: answer.name)),
        judges=tuple(judges),
        most=majority(answer.verdict for answer in people if answer.verdict),
        decision=decision,
        provenance=provenance,
        runs=tuple(runs),
    )


def own_decision(item: Item, criterion: Criterion, *, by: User) -> Adjudication | None:
    """The person's own decision on a unit, None where there is none or it is somebody else's."""
    return Adjudication.objects.filter(item=item, criterion=criterion, decided_by=by).first()


def aliases(item: Item) -> dict[int, str]:
    """Rater id → Rater A, Rater B, … for all who submitted a review of the item.

    Who gets which letter depends on the item and on the secret key of the server: nobody can work it out from
    the ids.
    """

    def mixed(rater_id: int) -> str:
        return salted_hmac("letters of raters", f"{item.pk}:{rater_id}", algorithm="sha256").hexdigest()

    submitted = Review.objects.filter(
        item=item, state=ReviewState.SUBMITTED, queue__team__deleted_at=None
    ).order_by()
    ordered = sorted(set(submitted.values_list("rater_id", flat=True)), key=mixed)
    return {rater_id: f"Rater {_letters(place)}" for place, rater_id in enumerate(ordered)}


def _letters(place: int) -> str:
    """A, B, … Z, AA, AB, … for 0, 1, …"""
    more, last = divmod(place, 26)
    return (_letters(more - 1) if more else "") + chr(ord("A") + last)


def _person(row: Judgement, label: PersonLabel, name: str) -> UnitAnswer:
    """What a rater said, in their judgement, with the label as it is read here."""
    revision = getattr(row, "revision", None)
    changed = revision is not None and revision.choice == RevisionChoice.CHANGE
    return UnitAnswer(
        name=name,
        is_judge=False,
        verdict=label.final,
        reason=row.reason,
        initial=label.verdict if changed else None,
        later=revision.reason if revision is not None else "",
        unclear=revision is not None and revision.choice == RevisionChoice.UNCLEAR,
        evidence=quotes(row),
        origin=label.origin,
    )
