"""What waits for an adjudicator: units people labelled on which somebody differs, the most telling first."""

from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from django.db.models import Count, F, Max, Min, Q, QuerySet
from django.db.models.functions import Coalesce

from rubricweb.engine.ground_truth import majority, vote_rule
from rubricweb.engine.verdict import Verdict
from rubricweb.errors import Invalid
from rubricweb.models import (
    Adjudication,
    Cause,
    Choice,
    Criterion,
    Item,
    Judgement,
    QueueItem,
    QueueState,
    ReviewQueue,
    Revision,
    Run,
    Team,
    User,
    Vote,
    in_reviews,
)
from rubricweb.selectors.blinding import hidden_items, hidden_of
from rubricweb.selectors.labels.adjudications import runs_beside
from rubricweb.selectors.labels.by_kind import option_gaps
from rubricweb.selectors.labels.comparable import labelled_queues, queues_to_compare
from rubricweb.selectors.labels.ground_truth import Unit, labels_that_count, people_first, reviewed_items
from rubricweb.selectors.shared.pages import NOT_OURS, number_cursor, numbers_in

KINDS = ("people differ", "judge differs", "judge flips", "cannot assess")
"""Why a unit is looked at, the most telling first.

People differ: their final labels are not the same. Judge differs: people agree, the judge says otherwise.
Judge flips: the votes of a panel or the repeats of a run are not the same. Cannot assess: at least two of
people and judges abstained, one of them a person.
"""

PAGE_SIZE = 50


@dataclass(frozen=True)
class InboxUnit:
    """One criterion of one item; `votes` are people's final labels, with their numbers, most frequent first.

    `judged` are the labels of the judges beside them; `decided` is the adjudication, None while it waits.
    `stands` is what counts as ground truth by `rule`: the decision, else people's majority, None while tied.
    """

    item_id: int
    criterion: Criterion
    kinds: tuple[str, ...]
    item_key: str = ""
    votes: tuple[tuple[str, int], ...] = ()
    judged: tuple[str, ...] = ()
    decided: Adjudication | None = None

    @property
    def stands(self) -> str | None:
        return self.decided.verdict if self.decided else majority(self._people)

    @property
    def rule(self) -> str:
        if self.decided:
            return "adjudicated" if self.decided.cause else "unanimous"
        return vote_rule(self._people)

    @property
    def _people(self) -> list[str]:
        return [label for label, number in self.votes for _ in range(number)]

    @property
    def kind(self) -> str:
        """The first reason to look at it; "" when nobody differs."""
        return self.kinds[0] if self.kinds else ""

    @property
    def key(self) -> tuple[float, ...]:
        """Its place in the list: by first reason, more reasons first, heavier criteria, then by item."""
        first = KINDS.index(self.kinds[0]) if self.kinds else len(KINDS)
        return (
            first,
            -len(self.kinds),
            -abs(self.criterion.weight),
            self.item_id,
            self.criterion.position,
            self.criterion.pk,
        )


@dataclass(frozen=True)
class InboxPage:
    """One page of the inbox; `kinds` and `criteria` count what the other filters leave.

    `hidden_items` counts those left out because the viewer is still to review them blind.
    """

    rows: tuple[InboxUnit, ...]
    total: int
    everything: int
    kinds: tuple[tuple[str, int], ...]
    criteria: tuple[tuple[Criterion, int], ...]
    hidden_items: int
    next_cursor: str | None


@dataclass(frozen=True)
class Scope:
    """Which queues an inbox is about, and the runs whose judges stand beside their people."""

    team: Team
    viewer: User
    queues: tuple[ReviewQueue, ...]
    runs: tuple[Run, ...]

    @property
    def dataset_ids(self) -> set[int]:
        return {queue.dataset_id for queue in self.queues}

    @cached_property
    def hidden(self) -> frozenset[int]:
        """The items of these datasets the viewer is still to review blind; read once."""
        return frozenset().union(*(hidden_of(self.viewer, self.team, pk) for pk in self.dataset_ids))


def scope(team: Team, viewer: User, queues: Sequence[ReviewQueue] = (), run: Run | None = None) -> Scope:
    """These queues, or all of the team that people labelled; settled labels of files only where nobody did.

    With a run, its judge alone stands beside people, in the queues over its dataset; without queues, in those
    it is compared with.
    """
    if run is not None:
        return Scope(team, viewer, tuple(queues_to_compare(run, queues)), (run,))
    queues = queues or people_first(list(labelled_queues(team=team)))
    return Scope(team, viewer, tuple(queues), tuple(runs_beside(team, queues)))


def inbox(
    where: Scope,
    *,
    criterion_ids: Sequence[int] = (),
    kind: str = "",
    decided: bool = False,
    cause: str = "",
    only: Collection[Unit] | None = None,
) -> list[InboxUnit]:
    """Units that wait, in order, without what each row shows: see `shown`.

    `decided` takes those in that were adjudicated; `cause` asks for those decided for that cause alone, where
    for an unclear rubric a person's own word after the reveal is enough. `only` lists exactly these units,
    whether anybody differs or not: a cell of the confusion matrix. Items the viewer is still to review blind
    are left out. A fixed number of queries; time grows with the labels of the scope.
    """
    if kind and kind not in KINDS:
        raise Invalid.at("kind", repr(kind)[:60], ", ".join(KINDS))
    if cause and cause not in Cause.values:
        raise Invalid.at("cause", repr(cause)[:60], ", ".join(Cause.values))
    kinds = _kinds(where)
    if only is not None:
        kinds = {unit: kinds.get(unit, ()) for unit in only}
    elif cause:
        wanted = _of_cause(where, cause)
        kinds = {unit: kinds.get(unit, ()) for unit in wanted}
    elif not decided:
        for unit in _adjudicated(where):
            kinds.pop(unit, None)
    # What was decided for a cause may be about any dataset of the team, not only about those of the scope.
    everywhere = hidden_items(where.viewer, where.team).values_list("pk", flat=True)
    hidden = frozenset(everywhere) if cause else where.hidden
    criteria = Criterion.objects.in_bulk({unit[1] for unit in kinds})
    found = [
        InboxUnit(item_id, criteria[criterion_id], of)
        for (item_id, criterion_id), of in kinds.items()
        if item_id not in hidden
        and (not criterion_ids or criterion_id in criterion_ids)
        and (not kind or kind in of)
    ]
    return sorted(found, key=lambda row: row.key)


def inbox_page(
    where: Scope,
    found: Sequence[InboxUnit],
    *,
    kind: str = "",
    criterion_ids: Sequence[int] = (),
    cursor: str = "",
    size: int = PAGE_SIZE,
) -> InboxPage:
    """The rows of one kind and of some criteria after `cursor`, out of a list these did not narrow yet."""
    of_kind = [row for row in found if not kind or kind in row.kinds]
    of_criteria = [row for row in found if not criterion_ids or row.criterion.pk in criterion_ids]
    wanted = [row for row in of_kind if not criterion_ids or row.criterion.pk in criterion_ids]
    per_kind = Counter(name for row in of_criteria for name in row.kinds)
    per_criterion = Counter(row.criterion.pk for row in of_kind)
    criteria = {row.criterion.pk: row.criterion for row in found}
    after = _opened(cursor) if cursor else None
    rest = [row for row in wanted if after is None or list(row.key) > after]
    rows = shown(where, rest[:size])
    return InboxPage(
        rows=tuple(rows),
        total=len(wanted),
        everything=len(of_criteria),
        kinds=tuple((name, per_kind[name]) for name in KINDS),
        criteria=tuple(
            (criteria[pk], per_criterion[pk])
            for pk in sorted(criteria, key=lambda pk: (-criteria[pk].version_id, criteria[pk].position))
        ),
        hidden_items=items_left_out(where),
        next_cursor=number_cursor(rows[-1].key) if len(rest) > size else None,
    )


def items_left_out(where: Scope) -> int:
    """How many items of these datasets the viewer is still to review blind."""
    return len(where.hidden)


def shown(where: Scope, rows: Sequence[InboxUnit]) -> list[InboxUnit]:
    """The same rows with their items' names, who said what how often, and the decision there is."""
    items = {row.item_id for row in rows}
    keys = dict(Item.objects.filter(pk__in=items).values_list("pk", "key"))
    votes: dict[Unit, Counter[str]] = defaultdict(Counter)
    people = _people(where).filter(item__in=items).annotate(label=FINAL)
    for item_id, criterion_id, label in people.values_list("item_id", "criterion_id", "label"):
        votes[item_id, criterion_id][label] += 1
    judged: dict[Unit, list[str]] = defaultdict(list)
    for item_id, criterion_id, label in (
        _judges(where).filter(item__in=items).order_by("run_id", "pk").values_list(*UNIT, "verdict")
    ):
        judged[item_id, criterion_id].append(label)
    decisions = {
        (one.item_id, one.criterion_id): one
        for one in Adjudication.objects.filter(item__in=items).select_related("criterion", "decided_by")
    }
    return [
        replace(
            row,
            item_key=keys[row.item_id],
            votes=tuple(votes[unit].most_common()),
            judged=tuple(judged[unit]),
            decided=decisions.get(unit),
        )
        for row in rows
        for unit in [(row.item_id, row.criterion.pk)]
    ]


@dataclass(frozen=True)
class Around:
    """Where one unit stands in the list: `position` from 1, None when it is not in it any more."""

    position: int | None
    total: int
    before: InboxUnit | None
    after: InboxUnit | None


def around(found: Sequence[InboxUnit], item_id: int, criterion: Criterion) -> Around:
    """The neighbours of a unit; of one that has left the list, because it was decided, those of its place."""
    for index, row in enumerate(found):
        if (row.item_id, row.criterion.pk) == (item_id, criterion.pk):
            before = found[index - 1] if index else None
            after = found[index + 1] if index + 1 < len(found) else None
            return Around(index + 1, len(found), before, after)
    return Around(None, len(found), None, found[0] if found else None)


# ── What everybody agrees on ─────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class AgreedUnit:
    item_id: int
    criterion_id: int
    label: str


def agreed(queue: ReviewQueue, viewer: User) -> list[AgreedUnit]:
    """Undecided units of a queue on which all people and the judge gave one and the same label.

    Of an open queue only items whose raters have all submitted. Somebody has to have said it beside the first
    person: the judge, where a run stands beside the queue, else another person. Abstentions are not accepted
    this way, nor items the viewer is still to review blind.
    """
    where = scope(queue.team, viewer, [queue])
    decided = _adjudicated(where)
    hidden = hidden_of(viewer, queue.team, queue.dataset_id)
    wanted: dict[int, int] = {}
    if queue.state != QueueState.CLOSED:
        wanted = dict(QueueItem.objects.filter(queue=queue).values_list("item_id", "wanted"))
    judged: dict[Unit, set[str]] = defaultdict(set)
    for item_id, criterion_id, label in _judges(where).values_list(*UNIT, "verdict"):
        judged[item_id, criterion_id].add(label)
    gaps = _gaps(where)
    found = []
    for row in _per_unit(where):
        if not row.is_one or row.unit in decided or row.item_id in hidden:
            continue
        if row.n < wanted.get(row.item_id, 1) or row.least in gaps.get(row.criterion_id, ABSTENTIONS):
            continue
        if judged[row.unit] == {row.least} if where.runs else row.n > 1:
            found.append(AgreedUnit(row.item_id, row.criterion_id, row.least))
    return found


# ── What the lists above are made of ─────────────────────────────────────────────────────────────

UNIT = ("item_id", "criterion_id")
ABSTENTIONS = frozenset({str(Verdict.CANNOT_ASSESS)})
FINAL = Coalesce("revision__verdict", "verdict")
"""A person's final label."""


class UnitLabels(NamedTuple):
    """People's final labels of one unit: how many, the first and last by alphabet, how many CANNOT_ASSESS."""

    item_id: int
    criterion_id: int
    n: int
    least: str
    most: str
    cannot: int

    @property
    def unit(self) -> Unit:
        return (self.item_id, self.criterion_id)

    @property
    def is_one(self) -> bool:
        """Whether all gave the same."""
        return self.least == self.most


def _people(where: Scope) -> QuerySet[Judgement]:
    """Submitted judgements of people, and what a file settled where there are none."""
    return labels_that_count(where.queues)


def _judges(where: Scope) -> QuerySet[Judgement]:
    """What judges said of the items people labelled: runs may be a hundred times as big."""
    return Judgement.objects.filter(
        run__in=where.runs, repeat=0, verdict__isnull=False, item__in=reviewed_items(where.queues)
    )


def _per_unit(where: Scope) -> list[UnitLabels]:
    """What people said on every labelled unit, by item and criterion."""
    rows = (
        _people(where)
        .annotate(label=FINAL)
        .order_by()
        .values(*UNIT)
        .annotate(
            n=Count("pk"),
            least=Min("label"),
            most=Max("label"),
            cannot=Count("pk", filter=Q(label=Verdict.CANNOT_ASSESS.value)),
        )
        .order_by(*UNIT)
    )
    return [UnitLabels(*row) for row in rows.values_list(*UNIT, "n", "least", "most", "cannot")]


def _kinds(where: Scope) -> dict[Unit, tuple[str, ...]]:
    """Every labelled unit somebody differs on, or nobody can assess, with its reasons in order of KINDS."""
    if not where.queues:
        return {}
    judged: dict[Unit, set[str]] = defaultdict(set)
    for item_id, criterion_id, label in _judges(where).values_list(*UNIT, "verdict"):
        judged[item_id, criterion_id].add(label)
    flips = _flips(where)
    gaps = _gaps(where)
    found = {}
    for row in _per_unit(where):
        said, of = judged[row.unit], gaps.get(row.criterion_id, ABSTENTIONS)
        abstained = row.n * (row.least in of) if row.is_one else row.cannot
        holds = (
            not row.is_one,
            row.is_one and bool(said - {row.least}),
            row.unit in flips,
            abstained > 0 and abstained + len(said & of) > 1,
        )
        kinds = tuple(kind for kind, is_so in zip(KINDS, holds, strict=True) if is_so)
        if kinds:
            found[row.unit] = kinds
    return found


def _flips(where: Scope) -> set[Unit]:
    """Units of labelled items on which a judge asked several times, or a panel, did not say the same."""
    found: set[Unit] = set()
    for rows in (Vote.objects, Judgement.objects):
        said = rows.filter(
            run__in=where.runs, verdict__isnull=False, item__in=reviewed_items(where.queues)
        ).order_by()
        several = said.values("run_id", *UNIT).annotate(least=Min("verdict"), most=Max("verdict"))
        found.update(several.filter(least__lt=F("most")).values_list(*UNIT))
    return found


def _gaps(where: Scope) -> dict[int, frozenset[str]]:
    """Criterion id → the labels that abstain, of the choices in the scope."""
    versions = {queue.rubric_version_id for queue in where.queues}
    own = Item.objects.filter(dataset__in=where.dataset_ids, rubric_version__isnull=False)
    choices = Criterion.objects.filter(
        Q(version__in=versions - {None}) | Q(version__in=own.order_by().values("rubric_version")),
        kind="choice",
    )
    return {criterion.pk: frozenset(option_gaps(criterion)) for criterion in choices}


def _adjudicated(where: Scope) -> set[Unit]:
    return set(Adjudication.objects.filter(item__dataset__in=where.dataset_ids).values_list(*UNIT))


def _of_cause(where: Scope, cause: str) -> set[Unit]:
    """Units decided for a cause; for an unclear rubric also those a person found so after the reveal."""
    decided = Adjudication.objects.filter(item__dataset__team=where.team, cause=cause)
    found: set[Unit] = set(decided.values_list(*UNIT))
    if cause == Cause.RUBRIC_UNCLEAR:
        said = Revision.objects.filter(
            in_reviews("judgement__", queue__team=where.team), choice=Choice.UNCLEAR
        ).values_list("judgement__item_id", "judgement__criterion_id")
        found.update(said)
    return found


def _opened(cursor: str) -> list[float]:
    """The key a cursor stands for. Raises Invalid for one that is not ours."""
    key = numbers_in(cursor)
    if len(key) != 6:
        raise Invalid(NOT_OURS)
    return key
