"""What people said under other words: which criteria a version or a draft asks anew, and what stands on the
words before.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
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
from rubricweb.selectors.rubrics.label_queues import LabelQueue, label_queues
from rubricweb.selectors.rubrics.probe import Probe
from rubricweb.selectors.shared.option_maps import flows

GUIDELINES = "guidelines"
"""In the place of an id: all criteria that were not reworded themselves, where the guidelines were."""

Pair = tuple[Criterion, Criterion]
"""A criterion in the words before, and in those of the version that reworded it."""


@dataclass(frozen=True)
class OptionCount:
    """An option of the earlier words, and how many labels chose it."""

    label: str
    labels: int


@dataclass(frozen=True)
class LabelChange:
    """One reworded criterion, or all others where the guidelines changed (`uid` GUIDELINES, no `previous`).

    `labels` in `reviews` and `decisions` of adjudicators stand on the words before, carried ones too.
    Of a choice `earlier` are its options then, with the labels that count as each, and `options` those it has
    now; labels are carried as they are where these are the same.
    `decision` is the current one, None while the labels wait. `criterion` is None in a draft. `pairs` are the
    criteria it is about, before and now; `queues` were opened to have them labelled again, or to
    probe; what a probe found is filled in by `selectors.probes`. `closed` are queues of the decision before,
    which this one closed: filled in where it is made.
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
    closed: tuple[LabelQueue, ...] = ()

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
    is_penalty: bool
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
            one.weight < 0,
            None,
        )
        for one in content.criteria
    ]
    return _changes(asked, content.guidelines, rubric, {}, viewer)


def changes_in_version(version: RubricVersion, *, viewer: User | None) -> LabelChanges:
    """What a published version asked in other words than those before it. Reads `version.criteria`.

    What others said of items the `viewer` is still to review blind is counted nowhere; with None, for what is
    shown to nobody, everything is.
    """
    if version.rubric is None:
        return LabelChanges((), None)
    asked = [
        _NewerCriterion(
            row.uid,
            row.name,
            row.question,
            row.kind,
            tuple(one["label"] for one in row.options),
            row.weight < 0,
            row,
        )
        for row in sorted(version.criteria.all(), key=lambda one: one.position)
    ]
    rows = LabelDecision.objects.filter(version=version, superseded_at=None)
    current = list(rows.select_related("decided_by", "version__rubric__team"))
    if viewer is not None:
        withhold_evidence(current, version.rubric, viewer=viewer)
    decided = {one.criterion_id: one for one in current}
    found = _changes(asked, version.guidelines, version.rubric, decided, viewer, before=version.number)
    return _with_queues(found, version)


def _with_queues(changes_found: LabelChanges, version: RubricVersion) -> LabelChanges:
    """The same with the queues that were opened to label again what the changes are about."""
    opened = label_queues(Q(label_decision__version=version))
    if not opened:
        return changes_found
    about = {
        pk: (criterion_id, kind)
        for pk, criterion_id, kind in LabelDecision.objects.filter(pk__in=opened).values_list(
            "pk", "criterion", "kind"
        )
    }
    changes = []
    for change in changes_found.changes:
        # Without a decision a probe that was taken back still tells something.
        kind = change.decision.kind if change.decision is not None else LabelDecisionKind.PROBE
        here = (change.criterion.pk if change.criterion is not None else None, kind)
        own = [one for pk, several in opened.items() if about[pk] == here for one in several]
        changes.append(replace(change, queues=tuple(own)))
    return replace(changes_found, changes=tuple(changes))


def withhold_evidence(decisions: Sequence[LabelDecision], rubric: Rubric, *, viewer: User) -> None:
    """Takes out of what stood on the words before, and of what a probe had found, when they decided, all that
    the viewer may not know yet. The rows are to be shown, never saved.

    While they are still to review something of a dataset blind, nothing is told that was counted over it:
    `labels`, `reviews` and `decisions` over all datasets with queues of the rubric, the `probe` over its own.
    Queues that were deleted since may have been over any dataset.
    """
    hidden = hidden_datasets(viewer, rubric.team) if decisions else frozenset()
    if not hidden:
        return
    queues = ReviewQueue.objects.filter(rubric_version__rubric=rubric, team=rubric.team)
    dataset_of = dict(queues.values_list("pk", "dataset_id"))
    withheld = dict.fromkeys(("labels", "reviews", "decisions"))
    for one in decisions:
        stored = one.evidence.get("probe")
        probed = {dataset_of.get(pk) for pk in stored["queues"]} if stored is not None else set()
        untold = {"probe": None} if None in probed or hidden & probed else {}
        one.evidence = one.evidence | withheld | untold


def _changes(
    asked: Sequence[_NewerCriterion],
    guidelines: str,
    rubric: Rubric,
    decided: Mapping[int | None, LabelDecision],
    viewer: User | None,
    before: int | None = None,
) -> LabelChanges:
    """What is asked in other words than in the versions `before` that number, all of them for None."""
    asked = [one for one in asked if one.kind in PEOPLE]
    rows = _rows_of(rubric, [one.uid for one in asked])
    above = " ".join(guidelines.split())
    reworded: list[tuple[_NewerCriterion, Criterion]] = []
    under_guidelines: list[Criterion] = []
    under: list[Pair] = []
    given: dict[int, _GivenTo] = {}
    for one in asked:
        chain = [row for row in rows[one.uid] if before is None or (row.version.number or 0) < before]
        if not chain or any(row.asks == (*one.question, above) for row in chain):
            continue
        given[chain[-1].pk] = _given_to(chain, rows[one.uid])
        if chain[-1].question == one.question:
            under_guidelines.append(chain[-1])
            under += [(chain[-1], one.row)] if one.row is not None else []
        else:
            reworded.append((one, chain[-1]))
    # What hides anything is asked first, as it is in few rows: mostly nothing is hidden.
    hides = viewer is not None and bool(hidden_datasets(viewer, rubric.team))
    hidden = hidden_items(viewer, rubric.team) if viewer is not None and hides else Item.objects.none()
    counts = _counts(given, rubric.team_id, hidden)
    changes = [
        _change(one, row, counts[row.pk], decided.get(one.row.pk) if one.row is not None else None)
        for one, row in reworded
    ]
    if under_guidelines:
        stands = [counts[row.pk] for row in under_guidelines]
        changes.append(
            LabelChange(
                uid=GUIDELINES,
                name="",
                criterion=None,
                previous=None,
                labels=sum(one.labels for one in stands),
                reviews=max(one.labels for one in stands),
                decisions=sum(one.decisions for one in stands),
                decision=decided.get(None),
                pairs=tuple(under),
            )
        )
    previous = [row for _, row in reworded] + under_guidelines
    regrading = _regrading(asked, previous, everything=bool(under_guidelines))
    return LabelChanges(tuple(changes), regrading, leaves_out=bool(changes) and hides)


PEOPLE = ("binary", "choice")
"""The kinds of criteria people answer."""


def _rows_of(rubric: Rubric, uids: Collection[str]) -> defaultdict[str, list[Criterion]]:
    """Uid → the criteria of all versions that people answer, oldest first. One query."""
    found: defaultdict[str, list[Criterion]] = defaultdict(list)
    rows = Criterion.objects.filter(version__rubric=rubric, uid__in=uids, kind__in=PEOPLE)
    for row in rows.select_related("version", "meaning").order_by("version__number"):
        found[row.uid].append(row)
    return found


_GivenTo = Mapping[int, tuple[int, Mapping[str, str] | None]]
"""Criterion id → its meaning, and what labels that were given to it count as; None for as they are."""


def _given_to(chain: Sequence[Criterion], rows: Sequence[Criterion]) -> _GivenTo:
    """Of all `rows` of a criterion those whose labels count for the last of the earlier ones, its `chain`.

    Where labels were carried on since, its meaning has newer words too: those given to them are left out.
    """
    words = {repr(row.asks) for row in chain}
    meanings = {row.meaning.pk: row.meaning for row in rows if row.meaning is not None}
    if chain[-1].meaning is None:
        return {}
    return {
        row.pk: (meaning.pk, options)
        for meaning, options in flows(chain[-1].meaning, meanings)
        for row in rows
        if row.meaning_id == meaning.pk and repr(row.asks) in words
    }


@dataclass
class _Counts:
    """What stands on the words before: `chosen` are the labels, as what they count there."""

    chosen: Counter[str] = field(default_factory=Counter)
    decisions: int = 0

    @property
    def labels(self) -> int:
        """How many; so many reviews, too, as a review says one thing of a criterion."""
        return self.chosen.total()


def _counts(
    given: Mapping[int, _GivenTo], team_id: int, hidden: QuerySet[Item, Any]
) -> defaultdict[int, _Counts]:
    """Id of the last earlier criterion → what stands on it, `hidden` items left out. Two queries."""
    found: defaultdict[int, _Counts] = defaultdict(_Counts)
    counts_for = {pk: (last, options) for last, rows in given.items() for pk, (_, options) in rows.items()}
    meanings = {meaning for rows in given.values() for meaning, _ in rows.values()}

    def carried(rows: QuerySet[Any, Any]) -> Iterator[tuple[_Counts, str, int]]:
        rows = rows.filter(criterion__meaning__in=meanings).exclude(item__in=hidden).order_by()
        counted = rows.values("criterion", "verdict").annotate(n=Count("pk"))
        for criterion, verdict, n in counted.values_list("criterion", "verdict", "n"):
            last, options = counts_for.get(criterion, (None, None))
            label = verdict if options is None else options.get(verdict)
            if last is not None and label is not None:
                yield found[last], label, n

    judgements = Judgement.objects.in_reviews(queue__team=team_id).filter(verdict__isnull=False)
    for counts, label, n in carried(judgements):
        counts.chosen[label] += n
    for counts, _, n in carried(Adjudication.objects.filter(item__dataset__team=team_id)):
        counts.decisions += n
    return found


def _change(
    one: _NewerCriterion,
    previous: Criterion,
    stands: _Counts,
    decision: LabelDecision | None,
) -> LabelChange:
    return LabelChange(
        uid=one.uid,
        name=one.name,
        criterion=one.row,
        previous=previous,
        labels=stands.labels,
        reviews=stands.labels,
        decisions=stands.decisions,
        earlier=tuple(
            OptionCount(option["label"], stands.chosen[option["label"]]) for option in previous.options
        ),
        options=one.options,
        may_carry=one.kind == previous.kind,
        decision=decision,
        pairs=() if one.row is None else ((previous, one.row),),
    )


def _regrading(
    asked: Sequence[_NewerCriterion], previous: Sequence[Criterion], *, everything: bool
) -> Regrading | None:
    """What asking again comes to; None where nothing was reworded or no judge's run has ended with the words
    before.
    """
    versions = {row.version_id for row in previous}
    ended = Run.objects.filter(rubric_version__in=versions, rater=None).exclude(state=RunState.RUNNING)
    run = ended.select_related("dataset", "rubric_version").order_by("-created_at", "-pk").first()
    if run is None:
        return None
    items = RunItem.objects.filter(run=run).count()
    everything = everything or run.autograder != "per_criterion"
    graded = Criterion.objects.filter(version=run.rubric_version_id)
    # A judge is told whether a criterion is an error to avoid, so that a turned sign is another question.
    answered = {repr((row.question, row.weight < 0)) for row in graded}
    anew = [one for one in asked if everything or repr((one.question, one.is_penalty)) not in answered]
    questions = len(anew) if run.autograder == "per_criterion" else 1
    votes = sum(run.panel.votes_per_criterion) if run.panel is not None else 1
    calls = items * questions * votes
    tally = RunTally.objects.filter(run=run).aggregate(calls=Sum("calls"), cost=Sum("cost_usd"))
    cost = calls * tally["cost"] / tally["calls"] if tally["calls"] and tally["cost"] else None
    return Regrading(run, calls, cost, everything)
