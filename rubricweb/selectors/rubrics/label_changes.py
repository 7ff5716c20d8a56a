"""What people said under other words: which criteria a version or a draft asks anew, and what stands on the
words before.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.db.models import Count, Q, QuerySet, Sum

from rubricweb import engine
from rubricweb.engine.rubric.identity import wording
from rubricweb.models import (
    Adjudication,
    Criterion,
    Item,
    Judgement,
    LabelDecision,
    LabelDecisionKind,
    ReviewQueue,
    Rubric,
    RubricVersion,
    Run,
    RunItem,
    RunState,
    RunTally,
    User,
)
from rubricweb.selectors.blinding import hidden_datasets, hidden_items
from rubricweb.selectors.rubrics.label_queues import LabelQueue, Pair, Probe, label_queues

GUIDELINES = "guidelines"
"""In the place of an id: all criteria that were not reworded themselves, where the guidelines were."""


@dataclass(frozen=True)
class OptionCount:
    """An option of the earlier words, and how many labels chose it."""

    label: str
    labels: int


@dataclass(frozen=True)
class LabelChange:
    """One reworded criterion, or all others where the guidelines changed (`uid` GUIDELINES, no `previous`).

    `labels` in `reviews` and `decisions` of adjudicators stand on the words before. Of a choice `earlier` are
    its options then and `options` those it has now; labels are carried as they are where these are the same.
    `decision` is the current one, None while the labels wait. `criterion` is None in a draft. `pairs` are the
    criteria it is about, before and now; `queues` were opened to have them labelled again, or to
    probe; what a probe found is filled in by `selectors.probes`.
    """

    uid: str
    name: str
    criterion: Criterion | None
    previous: Criterion | None
    labels: int
    reviews: int
    decisions: int
    earlier: tuple[OptionCount, ...] = ()
    options: tuple[str, ...] = ()
    may_carry: bool = True
    decision: LabelDecision | None = None
    pairs: tuple[Pair, ...] = ()
    queues: tuple[LabelQueue, ...] = ()
    probe: Probe | None = None

    @property
    def needs_map(self) -> bool:
        """Whether carrying has to say what each earlier option counts as."""
        return self.may_carry and [one.label for one in self.earlier] != list(self.options)


@dataclass(frozen=True)
class Regrading:
    """What asking a judge again comes to, by the newest ended run with the version before.

    `calls` are at most so many; `cost_usd` is None where what that run's calls cost is not known. With
    `everything` the grader asks all criteria at once, or the guidelines changed.
    """

    run: Run
    calls: int
    cost_usd: float | None
    everything: bool


@dataclass(frozen=True)
class LabelChanges:
    """All changes of one version or draft, in rubric order, the guidelines last; `regrading` is None without
    a run. `leaves_out`: what is said of items the viewer is still to review blind is not counted.
    """

    changes: tuple[LabelChange, ...]
    regrading: Regrading | None
    leaves_out: bool = False

    @property
    def waiting(self) -> int:
        """How many changes with labels nothing was decided about."""
        return sum(one.decision is None and bool(one.labels or one.decisions) for one in self.changes)

    def about(self, uid: str) -> LabelChange | None:
        return next((one for one in self.changes if one.uid == uid), None)


@dataclass(frozen=True)
class _NewerCriterion:
    """A criterion of the newer side."""

    uid: str
    name: str
    question: tuple[Any, ...]
    kind: str
    options: tuple[str, ...]
    row: Criterion | None


def changes_in_draft(rubric: Rubric, content: engine.Rubric, *, viewer: User) -> LabelChanges:
    """What publishing this content of the draft, its ids filled in, would ask in other words.

    What others said of items the viewer is still to review blind is counted nowhere.
    """
    asked = [
        _NewerCriterion(
            one.id or "",
            one.name or "",
            wording(one.to_dict()),
            one.kind,
            tuple(option.label for option in one.options),
            None,
        )
        for one in content.criteria
    ]
    hidden = hidden_items(viewer, rubric.team)
    return _changes(asked, content.guidelines, RubricVersion.objects.filter(rubric=rubric), {}, hidden)


def changes_in_version(version: RubricVersion, *, viewer: User | None) -> LabelChanges:
    """What a published version asked in other words than those before it. Reads `version.criteria`.

    What others said of items the `viewer` is still to review blind is counted nowhere; with None, for what is
    shown to nobody, everything is.
    """
    if version.rubric is None:
        return LabelChanges((), None)
    asked = [
        _NewerCriterion(
            row.uid, row.name, row.question, row.kind, tuple(one["label"] for one in row.options), row
        )
        for row in sorted(version.criteria.all(), key=lambda one: one.position)
    ]
    rows = LabelDecision.objects.filter(version=version, superseded_at=None)
    current = list(rows.select_related("decided_by", "version__rubric__team"))
    for one in current:
        if viewer is not None and "probe" in one.evidence:  # to be shown, never saved
            one.evidence = one.evidence | {"probe": probe_evidence(one, viewer=viewer)}
    earlier = RubricVersion.objects.filter(rubric=version.rubric_id, number__lt=version.number)
    hidden = Item.objects.none() if viewer is None else hidden_items(viewer, version.rubric.team)
    found = _changes(asked, version.guidelines, earlier, {one.criterion_id: one for one in current}, hidden)
    return _with_queues(found, version, viewer)


def _with_queues(found: LabelChanges, version: RubricVersion, viewer: User | None) -> LabelChanges:
    """The same with the queues that were opened to label again what the changes are about."""
    opened = label_queues(Q(label_decision__version=version))
    if not opened:
        return found
    about = {
        pk: (criterion_id, kind)
        for pk, criterion_id, kind in LabelDecision.objects.filter(pk__in=opened).values_list(
            "pk", "criterion", "kind"
        )
    }
    changes = []
    for change in found.changes:
        # Without a decision a probe that was taken back still tells something.
        kind = change.decision.kind if change.decision is not None else LabelDecisionKind.PROBE
        here = (change.criterion.pk if change.criterion is not None else None, kind)
        own = [one for pk, several in opened.items() if about[pk] == here for one in several]
        changes.append(replace(change, queues=tuple(own)))
    return replace(found, changes=tuple(changes))


def probe_evidence(decision: LabelDecision, *, viewer: User) -> dict[str, Any] | None:
    """What a probe had found when it was decided, None without one; withheld while the viewer is still to
    review something of its datasets blind.
    """
    stored: dict[str, Any] | None = decision.evidence.get("probe")
    if stored is None:
        return None
    assert decision.version.rubric is not None  # numbered versions alone are decided about
    datasets = set(ReviewQueue.objects.filter(pk__in=stored["queues"]).values_list("dataset_id", flat=True))
    return None if datasets & hidden_datasets(viewer, decision.version.rubric.team) else stored


def _changes(
    asked: Sequence[_NewerCriterion],
    guidelines: str,
    earlier: QuerySet[RubricVersion],
    decided: Mapping[int | None, LabelDecision],
    hidden: QuerySet[Item, Any],
) -> LabelChanges:
    before: dict[str, list[Criterion]] = defaultdict(list)
    rows = Criterion.objects.filter(version__in=earlier, uid__in=[one.uid for one in asked], kind__in=PEOPLE)
    for row in rows.select_related("version").order_by("version__number"):
        before[row.uid].append(row)
    above = " ".join(guidelines.split())
    reworded: list[tuple[_NewerCriterion, Criterion]] = []
    under_guidelines: list[Criterion] = []
    under: list[Pair] = []
    for one in asked:
        chain = before[one.uid]
        if not chain or any(row.asks == (*one.question, above) for row in chain):
            continue
        if chain[-1].question == one.question:
            under_guidelines.append(chain[-1])
            under += [(chain[-1], one.row)] if one.row is not None else []
        else:
            reworded.append((one, chain[-1]))
    previous = [row for _, row in reworded] + under_guidelines
    counts = _counts({row.meaning_id for row in previous if row.meaning_id is not None}, hidden)
    changes = [
        _change(one, row, counts, decided.get(one.row.pk) if one.row is not None else None)
        for one, row in reworded
    ]
    if under_guidelines:
        stands = [counts.get(row.meaning_id, _Counts()) for row in under_guidelines]
        changes.append(
            LabelChange(
                uid=GUIDELINES,
                name="",
                criterion=None,
                previous=None,
                labels=sum(one.labels for one in stands),
                reviews=max(one.reviews for one in stands),
                decisions=sum(one.decisions for one in stands),
                decision=decided.get(None),
                pairs=tuple(under),
            )
        )
    regrading = _regrading(previous, everything=bool(under_guidelines))
    return LabelChanges(tuple(changes), regrading, leaves_out=bool(changes) and hidden.exists())


PEOPLE = ("binary", "choice")
"""The kinds of criteria people answer."""


@dataclass
class _Counts:
    labels: int = 0
    reviews: int = 0
    decisions: int = 0
    chosen: dict[str, int] | None = None


def _counts(meanings: Collection[int], hidden: QuerySet[Item, Any]) -> dict[int | None, _Counts]:
    """Meaning → what stands on it, `hidden` items left out. Three queries."""
    found: dict[int | None, _Counts] = defaultdict(_Counts)
    in_sight = {"queue__team__deleted_at": None}
    given = Judgement.objects.in_reviews(**in_sight).filter(
        criterion__meaning__in=meanings, verdict__isnull=False
    )
    given = given.exclude(item__in=hidden)
    for meaning, verdict, n in (
        given.order_by().values("criterion__meaning", "verdict").annotate(n=Count("pk"))
    ).values_list("criterion__meaning", "verdict", "n"):
        found[meaning].labels += n
        found[meaning].chosen = {**(found[meaning].chosen or {}), str(verdict): n}
    reviews = given.order_by().values("criterion__meaning").annotate(n=Count("review", distinct=True))
    for meaning, n in reviews.values_list("criterion__meaning", "n"):
        found[meaning].reviews = n
    decided = Adjudication.objects.filter(criterion__meaning__in=meanings).exclude(item__in=hidden).order_by()
    for meaning, n in (
        decided.values("criterion__meaning").annotate(n=Count("pk")).values_list("criterion__meaning", "n")
    ):
        found[meaning].decisions = n
    return found


def _change(
    one: _NewerCriterion,
    previous: Criterion,
    counts: Mapping[int | None, _Counts],
    decision: LabelDecision | None,
) -> LabelChange:
    stands = counts.get(previous.meaning_id, _Counts())
    chosen = stands.chosen or {}
    return LabelChange(
        uid=one.uid,
        name=one.name,
        criterion=one.row,
        previous=previous,
        labels=stands.labels,
        reviews=stands.reviews,
        decisions=stands.decisions,
        earlier=tuple(
            OptionCount(option["label"], chosen.get(option["label"], 0)) for option in previous.options
        ),
        options=one.options,
        may_carry=one.kind == previous.kind,
        decision=decision,
        pairs=() if one.row is None else ((previous, one.row),),
    )


def _regrading(previous: Sequence[Criterion], *, everything: bool) -> Regrading | None:
    """What asking again comes to; None where nothing was reworded or no run has ended with the words
    before.
    """
    versions = {row.version_id for row in previous}
    ended = Run.objects.filter(rubric_version__in=versions).exclude(state=RunState.RUNNING)
    run = ended.select_related("dataset", "rubric_version").order_by("-created_at", "-pk").first()
    if run is None:
        return None
    items = RunItem.objects.filter(run=run).count()
    everything = everything or run.autograder != "per_criterion"
    asked = Criterion.objects.filter(version=run.rubric_version_id, kind__in=PEOPLE).count()
    by_criterion = asked if everything else len(previous)
    questions = by_criterion if run.autograder == "per_criterion" else 1
    votes = sum(run.panel.votes_per_criterion) if run.panel is not None else 1
    calls = items * questions * votes
    tally = RunTally.objects.filter(run=run).aggregate(calls=Sum("calls"), cost=Sum("cost_usd"))
    cost = calls * tally["cost"] / tally["calls"] if tally["calls"] and tally["cost"] else None
    return Regrading(run, calls, cost, everything)
