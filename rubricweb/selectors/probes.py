"""What a probe found: what people say under new words, beside what was said under the words before."""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.db.models import Q

from rubricweb.engine.agreement import Figure, Ratings, alpha_nominal, alpha_ordinal, raw_agreement
from rubricweb.models import (
    Criterion,
    Item,
    Judgement,
    LabelDecision,
    LabelDecisionKind,
    Rater,
    RaterKind,
    ReviewQueue,
    Rubric,
    RubricVersion,
    User,
)
from rubricweb.selectors.blinding import hidden_datasets
from rubricweb.selectors.labels.by_kind import option_gaps, option_levels
from rubricweb.selectors.labels.people import PersonLabel, Unit, people_labels
from rubricweb.selectors.rubrics.label_changes import (
    GUIDELINES,
    LabelChange,
    LabelChanges,
    Pair,
    changes_in_version,
    withhold_evidence,
)
from rubricweb.selectors.rubrics.label_queues import LabelQueue, label_queues
from rubricweb.selectors.rubrics.probe import Probe, ProbeAnswers
from rubricweb.selectors.shared.cases import repeated_cases


def changes_with_probes(version: RubricVersion, *, viewer: User | None) -> LabelChanges:
    """`changes_in_version`, with what a probe has found so far where the decision waits for it."""
    changes = changes_in_version(version, viewer=viewer)
    return replace(changes, changes=tuple(_with_probe(one, viewer) for one in changes.changes))


def _with_probe(change: LabelChange, viewer: User | None) -> LabelChange:
    probed = change.decision is None or change.decision.kind == LabelDecisionKind.PROBE
    if not probed or not change.queues:
        return change
    return replace(change, probe=probe(change.pairs, change.queues, viewer=viewer))


def probe(pairs: Sequence[Pair], queues: Sequence[LabelQueue], *, viewer: User | None) -> Probe:
    """What a probe has found so far; with `viewer` None, for what is shown to nobody, nothing is withheld."""
    rows = [one.queue for one in queues]
    seeds = ReviewQueue.objects.filter(pk__in=[row.pk for row in rows]).values_list("draws__seed", flat=True)
    nothing = Figure(None, None, None, 0)
    found = Probe(
        asked=sum(one.items for one in queues),
        answered=sum(one.submitted for one in queues),
        same_rater=0,
        seed=next(iter(seeds), None),
        agreement=nothing,
        alpha=nothing,
        usual=nothing,
        usual_alpha=nothing,
        repeated=nothing,
    )
    if viewer is not None and {row.dataset_id for row in rows} & hidden_datasets(viewer, rows[0].team):
        return replace(found, withheld=True)
    before = _by_unit(earlier_labels(pairs))
    now = [label for label in labels_in(rows, pairs) if label.unit in before]
    # Their own earlier label where they gave one; else that of whoever was the first.
    old = [_of_rater(before[label.unit], label.rater_id) for label in now]
    both = [((*a.unit, a.rater_id), (b.verdict, a.verdict)) for a, b in zip(now, old, strict=True)]
    agreement, alpha = _agreement(
        [(unit, place, label) for unit, said in both for place, label in enumerate(said)], pairs
    )
    between = [(unit, one.rater_id, one.verdict) for unit, several in before.items() for one in several]
    usual, usual_alpha = _agreement(between, [(was, was) for was, _ in pairs])
    return replace(
        found,
        same_rater=sum(a.rater_id == b.rater_id for a, b in zip(now, old, strict=True)),
        agreement=agreement,
        alpha=alpha,
        usual=usual,
        usual_alpha=usual_alpha,
        repeated=_repeated(pairs),
        answers=tuple(
            ProbeAnswers(was, is_now, n)
            for (was, is_now), n in sorted(Counter(said for _, said in both).items())
        ),
    )


DECISIONS_SHOWN = 50


@dataclass(frozen=True)
class DecisionRow:
    """A decision about labels, of its evidence what the viewer may know, with the queues opened for it.

    `probe` is what a probe has found: so far while it is the current decision, else when it was decided. None
    without one, and where what was found then would tell the viewer what they are still to label blind.
    """

    decision: LabelDecision
    queues: tuple[LabelQueue, ...]
    probe: Probe | None

    @property
    def lacks_queue(self) -> bool:
        """Whether it waits for the queue that it needs."""
        return self.decision.opens_queue and self.decision.superseded_at is None and not self.queues

    @property
    def uid(self) -> str:
        return self.decision.criterion.uid if self.decision.criterion is not None else GUIDELINES


def label_decisions(rubric: Rubric, *, viewer: User) -> list[DecisionRow]:
    """The newest decisions about labels of all versions, replaced ones too."""
    decisions = LabelDecision.objects.filter(version__rubric=rubric)
    rows = list(
        decisions.select_related("version__rubric__team", "criterion", "decided_by")[:DECISIONS_SHOWN]
    )
    withhold_evidence(rows, rubric, viewer=viewer)
    # Only those that open queues have something to show besides; each version takes several queries.
    opening = [row for row in rows if row.opens_queue and row.superseded_at is None]
    current: dict[int, LabelChange] = {}
    for version in {row.version_id: row.version for row in opening}.values():
        changes = changes_with_probes(version, viewer=viewer).changes
        current |= {one.decision.pk: one for one in changes if one.decision is not None}
    opened = label_queues(Q(label_decision__in=rows))
    decided = []
    for row in rows:
        change, stored = current.get(row.pk), row.evidence.get("probe")
        queues = change.queues if change is not None else tuple(opened.get(row.pk, ()))
        then = Probe.from_evidence(stored) if stored is not None else None
        live = change.probe if change is not None else None
        decided.append(DecisionRow(row, queues, live or then))
    return decided


# ── What people said before, and what they say now ───────────────────────────────────────────────


def earlier_labels(pairs: Sequence[Pair]) -> list[PersonLabel]:
    """What people said under the words before, each unit of the criterion it is asked by now.

    Labels of files without a person, which settle what nobody labelled, are among them.
    """
    found: list[PersonLabel] = []
    for version in {before.version_id: before.version for before, _ in pairs}.values():
        now_by = {before.pk: now.pk for before, now in pairs if before.version_id == version.pk}
        found += [
            label._replace(criterion_id=now_by[label.criterion_id])
            for label in _labels(version, set(now_by))
            if label.criterion_id in now_by
        ]
    return found


def later_labels(pairs: Sequence[Pair]) -> list[PersonLabel]:
    """What people have said under the new words by now, in whichever queue."""
    asked = {now.pk for _, now in pairs}
    versions = {now.version_id: now.version for _, now in pairs}.values()
    return [one for version in versions for one in _labels(version, asked) if one.criterion_id in asked]


def labels_in(queues: Sequence[ReviewQueue], pairs: Sequence[Pair]) -> list[PersonLabel]:
    """What people said in these queues under the new words."""
    asked = {now.pk for _, now in pairs}
    [version] = {now.version_id for _, now in pairs}
    return [one for one in people_labels(queues, version=version) if one.criterion_id in asked]


def _labels(version: RubricVersion, asked: set[int]) -> list[PersonLabel]:
    """The labels that count for these criteria of a version, in every queue."""
    uids = Criterion.objects.filter(pk__in=asked).values("uid")
    team = Rubric.objects.filter(versions=version).values("team")
    given = Judgement.objects.in_reviews(queue__team__in=team).filter(
        criterion__version__rubric=version.rubric_id, criterion__uid__in=uids
    )
    in_queues = given.order_by().values("review__queue")
    queues = list(ReviewQueue.objects.filter(pk__in=in_queues).order_by("pk"))
    return people_labels(queues, version=version.pk) if queues else []


def _by_unit(labels: Sequence[PersonLabel]) -> dict[Unit, list[PersonLabel]]:
    """The labels of people by unit, each unit's in the order they were given."""
    people = set(
        Rater.objects.filter(pk__in={one.rater_id for one in labels}, kind=RaterKind.HUMAN).values_list(
            "pk", flat=True
        )
    )
    found: dict[Unit, list[PersonLabel]] = defaultdict(list)
    for one in sorted(labels, key=lambda label: label.judgement_id):
        if one.rater_id in people:
            found[one.unit].append(one)
    return dict(found)


def _of_rater(labels: Sequence[PersonLabel], rater_id: int) -> PersonLabel:
    return next((one for one in labels if one.rater_id == rater_id), labels[0])


# ── Agreement ────────────────────────────────────────────────────────────────────────────────────

OTHER_OPTIONS = "the options changed, so labels before and now cannot be equal or differ"
OTHER_KIND = "the criterion is of another kind now"
SEVERAL = "α is not pooled over criteria that ask different things"


def _agreement(
    said: Sequence[tuple[tuple[int, ...], int, str]], pairs: Sequence[Pair]
) -> tuple[Figure, Figure]:
    """The share of equal labels and α of (unit, who, label) rows; abstentions are set aside."""
    units = len({unit for unit, _, _ in said})
    if not units:
        return Figure(None, None, None, 0), Figure(None, None, None, 0)
    why = next(filter(None, map(_incomparable, pairs)), "")
    if why:
        refused = Figure(None, None, None, units, reason=why)
        return refused, refused
    gaps = sorted({gap for _, now in pairs for gap in option_gaps(now)})
    if len(pairs) > 1:
        shares = Ratings.from_triples(said, cluster_of=_together(said), gaps=gaps)
        return raw_agreement(shares), Figure(None, None, None, units, reason=SEVERAL)
    [(_, criterion)] = pairs
    levels = option_levels(criterion) if criterion.kind == "choice" else None
    ratings = Ratings.from_triples(said, cluster_of=_together(said), gaps=gaps, levels=levels)
    measure = alpha_ordinal if criterion.scale_type == "ordinal" else alpha_nominal
    return raw_agreement(ratings), measure(ratings)


def _incomparable(pair: Pair) -> str:
    """Why labels before and now are no labels of one scale; "" where they are."""
    before, now = pair
    if before.kind != now.kind:
        return OTHER_KIND
    options = [[(one["label"], bool(one.get("na"))) for one in row.options] for row in pair]
    return "" if options[0] == options[1] else OTHER_OPTIONS


def _together(said: Sequence[tuple[tuple[int, ...], Any, str]]) -> Callable[[Any], int]:
    """What a unit of these rows falls together with: its item, or the case of several items. One query."""
    cases = repeated_cases(Item.objects.filter(pk__in={unit[0] for unit, _, _ in said}))
    return lambda unit: cases.get(unit[0], unit[0])


def _repeated(pairs: Sequence[Pair]) -> Figure:
    """How often raters who labelled a unit in several queues under the words before said the same."""
    now_by: Mapping[int | None, int] = {before.meaning_id: now.pk for before, now in pairs}
    given = Judgement.objects.in_reviews(rater__kind=RaterKind.HUMAN, queue__team__deleted_at=None).filter(
        criterion__meaning__in=[one for one in now_by if one is not None], verdict__isnull=False
    )
    columns = ("item_id", "criterion__meaning", "review__rater_id", "review__queue_id", "verdict")
    by_rater: dict[tuple[int, int, int], list[tuple[int, str]]] = defaultdict(list)
    for item_id, meaning, rater_id, queue_id, verdict in given.order_by("pk").values_list(*columns):
        by_rater[item_id, now_by[meaning], rater_id].append((queue_id, str(verdict)))
    said = [(unit, one) for unit, several in by_rater.items() if len(several) > 1 for one in several]
    if not said:
        return Figure(None, None, None, 0, reason="no rater labelled a unit twice")
    gaps = sorted({gap for before, _ in pairs for gap in option_gaps(before)})
    rows = [(unit, queue, label) for unit, (queue, label) in said]
    return raw_agreement(Ratings.from_triples(rows, cluster_of=_together(rows), gaps=gaps))
