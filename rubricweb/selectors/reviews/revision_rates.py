"""How often people change their verdict once they have seen a judge's: how strongly a judge anchors them."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rubricweb.engine.agreement import Figure
from rubricweb.engine.agreement.intervals import share_figure
from rubricweb.models import (
    Blind,
    Criterion,
    Item,
    Judgement,
    ReviewQueue,
    Revision,
    RevisionChoice,
    Run,
    User,
    in_reviews,
)
from rubricweb.selectors.blinding import hidden_of
from rubricweb.selectors.labels.ground_truth import run_answers
from rubricweb.selectors.shared.cases import repeated_cases


@dataclass(frozen=True)
class RevisionRate:
    """Of the verdicts from which the judge differed when it was shown, and about which people said something.

    `changed` is the share they changed, `to_judge` the share they changed to the judge's label, both with n
    and an interval in which those on one item count together; `unclear` counts those where they found the
    rubric so. `unanswered` verdicts, about which nobody said anything, are in no share. `criterion` is None
    over all of them.
    """

    criterion: Criterion | None
    changed: Figure
    to_judge: Figure
    unclear: int
    unanswered: int

    @property
    def n(self) -> int:
        return self.changed.n


@dataclass(frozen=True)
class RevisionRates:
    """`reveals` says whether any of the queues shows this run's judge after submitting, and not before."""

    reveals: bool
    overall: RevisionRate
    criteria: tuple[RevisionRate, ...]


BLIND_TO_JUDGE = (Blind.BOTH, Blind.JUDGE, Blind.SELF)


def revision_rates(run: Run, queues: Sequence[ReviewQueue], *, viewer: User) -> RevisionRates:
    """The revisions of verdicts in those of the queues that hid the run's judge first and revealed it then.

    Changes 3 of 10 on ten items, all to the judge's label: changed and to_judge 0.3, interval 0.108 to 0.603.
    Items the viewer is still to review blind are left out. Without such a queue no query is made.
    """
    revealing = [one for one in queues if one.blind in BLIND_TO_JUDGE and _reveals(one, run)]
    if not revealing:
        return RevisionRates(False, _rate(None, [], 0, {}), ())
    hidden = hidden_of(viewer, run.team, run.dataset_id)
    said: dict[int, list[Revision]] = defaultdict(list)
    revisions = Revision.objects.filter(in_reviews("judgement__", queue__in=revealing), run=run).exclude(
        judge_verdict=""
    )
    for revision in revisions.select_related("judgement"):
        judgement = revision.judgement
        if judgement.item_id not in hidden and revision.judge_verdict != judgement.verdict:
            said[judgement.criterion_id].append(revision)
    judged = run_answers([run], beside=revealing).labels
    unanswered: dict[int, int] = defaultdict(int)
    silent = Judgement.objects.in_reviews(queue__in=revealing).filter(
        verdict__isnull=False, revision__isnull=True
    )
    for item_id, criterion_id, verdict in silent.values_list("item_id", "criterion_id", "verdict"):
        if item_id not in hidden and judged.get((item_id, criterion_id), verdict) != verdict:
            unanswered[criterion_id] += 1
    criteria = Criterion.objects.filter(pk__in={*said, *unanswered}).order_by("-version_id", "position")
    everything = [revision for rows in said.values() for revision in rows]
    cases = repeated_cases(Item.objects.filter(pk__in={row.judgement.item_id for row in everything}))
    return RevisionRates(
        True,
        _rate(None, everything, sum(unanswered.values()), cases),
        tuple(_rate(one, said[one.pk], unanswered[one.pk], cases) for one in criteria),
    )


def _reveals(queue: ReviewQueue, run: Run) -> bool:
    """Whether the queue's run is this one, or was started with it."""
    if queue.run is None or run.launch_id is None:
        return queue.run_id == run.pk
    return queue.run.launch_id == run.launch_id


def _rate(
    criterion: Criterion | None, rows: Sequence[Revision], unanswered: int, cases: Mapping[int, int]
) -> RevisionRate:
    changed = [row for row in rows if row.choice == RevisionChoice.CHANGE]
    return RevisionRate(
        criterion=criterion,
        changed=_share(changed, rows, cases),
        to_judge=_share((row for row in changed if row.verdict == row.judge_verdict), rows, cases),
        unclear=sum(row.choice == RevisionChoice.UNCLEAR for row in rows),
        unanswered=unanswered,
    )


def _share(some: Iterable[Revision], rows: Sequence[Revision], cases: Mapping[int, int]) -> Figure:
    """The share of the rows that some of them are; those about one item, or one case, fall together."""

    def counted(revisions: Iterable[Revision]) -> Counter[int]:
        item_ids = (row.judgement.item_id for row in revisions)
        return Counter(cases.get(item_id, item_id) for item_id in item_ids)

    totals, counts = counted(rows), counted(some)
    successes = np.array([counts[one] for one in totals], dtype=np.float64)
    return share_figure(successes, np.array([*totals.values()], dtype=np.float64))
