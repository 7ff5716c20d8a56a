"""What waits for an adjudicator: units people labelled on which somebody differs, the most telling first."""

from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from rubricweb.engine.ground_truth import majority, vote_rule
from rubricweb.engine.origin import Origin
from rubricweb.errors import Invalid
from rubricweb.models import (
    Adjudication,
    Cause,
    Criterion,
    Item,
    QueueItem,
    QueueState,
    ReviewQueue,
    User,
)
from rubricweb.selectors.adjudication.differing_units import (
    ABSTENTIONS,
    UNIT,
    abstaining_options,
    decided_units,
    judge_labels,
    of_the_past,
    people_labels,
    unit_kinds,
    unit_labels,
    units_of_cause,
)
from rubricweb.selectors.adjudication.differing_units import KINDS as KINDS
from rubricweb.selectors.adjudication.differing_units import Scope as Scope
from rubricweb.selectors.adjudication.differing_units import scope as scope
from rubricweb.selectors.blinding import hidden_items, hidden_of, is_hidden
from rubricweb.selectors.labels.comparable import labelled_queues
from rubricweb.selectors.labels.people import Unit, decided_rows, decisions
from rubricweb.selectors.rubrics.criterion_names import criterion_names
from rubricweb.selectors.shared.pages import not_ours, number_cursor, numbers_in

PAGE_SIZE = 50


@dataclass(frozen=True)
class InboxUnit:
    """One criterion of one item; `votes` are people's final labels, with their numbers, most frequent first.

    `item_key` is None while it would tell the viewer whose answer they review blind.
    `judged` are the labels of the judges beside them, `judged_origins` where each comes from (None: a judge
    asked here); `decided` is the adjudication, None while it waits.
    `stands` is what counts as ground truth by `rule`: the decision, else people's majority, None while tied.
    `settled` votes are those of a file's ground truth, where no person labelled it. `dataset` is the name of
    the item's dataset.
    """

    item_id: int
    criterion: Criterion
    kinds: tuple[str, ...]
    item_key: str | None = None
    votes: tuple[tuple[str, int], ...] = ()
    judged: tuple[str, ...] = ()
    judged_origins: tuple[Origin | None, ...] = ()
    decided: Adjudication | None = None
    settled: bool = False
    dataset: str = ""

    @property
    def by_judges(self) -> list[tuple[str, Origin | None]]:
        """The judges' labels, each with its origin."""
        return list(zip(self.judged, self.judged_origins, strict=True))

    @property
    def stands(self) -> str | None:
        return self.decided.verdict if self.decided else majority(self._people)

    @property
    def rule(self) -> str:
        if self.decided:
            return "adjudicated" if self.decided.cause else "unanimous"
        return vote_rule(self._people, settled=self.settled)

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
    """One page of the inbox; `kinds` and `criteria` count what the other filters leave. Each criterion has
    the name that tells it from the others.

    `hidden_items` counts those left out because the viewer is still to review them blind.
    """

    rows: tuple[InboxUnit, ...]
    total: int
    everything: int
    kinds: tuple[tuple[str, int], ...]
    criteria: tuple[tuple[Criterion, str, int], ...]
    hidden_items: int
    next_cursor: str | None
    # Queues of the past, what is labelled in which alone is left out.
    past: tuple[ReviewQueue, ...] = ()


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
    are left out, and of a scope of everything what is labelled in history alone. A fixed number of queries;
    time grows with the labels of the scope.
    """
    if kind and kind not in KINDS:
        raise Invalid.at("kind", repr(kind)[:60], ", ".join(KINDS))
    if cause and cause not in Cause.values:
        raise Invalid.at("cause", repr(cause)[:60], ", ".join(Cause.values))
    kinds = unit_kinds(where)
    if only is not None:
        kinds = {unit: kinds.get(unit, ()) for unit in only}
    elif cause:
        wanted = units_of_cause(where, cause)
        kinds = {unit: kinds.get(unit, ()) for unit in wanted}
    else:
        settled = decided_units(where)
        past = of_the_past(where, kinds) - settled
        kinds = {
            unit: of for unit, of in kinds.items() if unit not in past and (decided or unit not in settled)
        }
    # What was decided for a cause may be about any dataset of the team, not only about those of the scope.
    everywhere = hidden_items(where.viewer, where.team).values_list("pk", flat=True)
    hidden = frozenset(everywhere) if cause else where.hidden
    criteria = Criterion.objects.select_related("version").in_bulk({unit[1] for unit in kinds})
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
    units: Sequence[InboxUnit],
    *,
    kind: str = "",
    criterion_ids: Sequence[int] = (),
    cursor: str = "",
    size: int = PAGE_SIZE,
) -> InboxPage:
    """The rows of one kind and of some criteria after `cursor`, out of a list these did not narrow yet."""
    of_kind = [row for row in units if not kind or kind in row.kinds]
    of_criteria = [row for row in units if not criterion_ids or row.criterion.pk in criterion_ids]
    wanted = [row for row in of_kind if not criterion_ids or row.criterion.pk in criterion_ids]
    per_kind = Counter(name for row in of_criteria for name in row.kinds)
    per_criterion = Counter(row.criterion.pk for row in of_kind)
    criteria = {row.criterion.pk: row.criterion for row in units}
    names = criterion_names(criteria.values())
    after = _opened(cursor) if cursor else None
    rest = [row for row in wanted if after is None or list(row.key) > after]
    rows = shown(where, rest[:size])
    return InboxPage(
        rows=tuple(rows),
        total=len(wanted),
        everything=len(of_criteria),
        kinds=tuple((name, per_kind[name]) for name in KINDS),
        criteria=tuple(
            (criteria[pk], names[pk], per_criterion[pk])
            for pk in sorted(criteria, key=lambda pk: (-criteria[pk].version_id, criteria[pk].position))
        ),
        hidden_items=items_left_out(where),
        next_cursor=number_cursor(rows[-1].key) if len(rest) > size else None,
        past=tuple(where.history),
    )


def items_left_out(where: Scope) -> int:
    """How many items of these datasets the viewer is still to review blind."""
    return len(where.hidden)


def shown(where: Scope, rows: Sequence[InboxUnit]) -> list[InboxUnit]:
    """The same rows with their items' names, who said what how often, and the decision there is."""
    items = {row.item_id for row in rows}
    named = Item.objects.filter(pk__in=items).annotate(unnamed=is_hidden(where.viewer, where.team))
    about = named.values_list("pk", "key", "unnamed", "dataset__name")
    keys = {pk: None if unnamed else key for pk, key, unnamed, _ in about}
    datasets = {pk: dataset for pk, _, _, dataset in about}
    votes: dict[Unit, Counter[str]] = defaultdict(Counter)
    by_people: set[Unit] = set()
    for said in people_labels(where, items, detailed=True):
        votes[said.unit][said.final] += 1
        if said.origin != Origin.SETTLED_BY_FILE:
            by_people.add(said.unit)
    origins = {run.pk: run.origin for run in where.runs}
    judged: dict[Unit, list[tuple[str, Origin | None]]] = defaultdict(list)
    asked = judge_labels(where).filter(item__in=items).order_by("run_id", "pk")
    for item_id, criterion_id, run_id, label in asked.values_list(*UNIT, "run_id", "verdict"):
        judged[item_id, criterion_id].append((label, origins[run_id]))
    decided = decided_rows(decisions(where.queues, runs=where.runs, items=items))
    return [
        replace(
            row,
            item_key=keys[row.item_id],
            votes=tuple(votes[unit].most_common()),
            judged=tuple(label for label, _ in judged[unit]),
            judged_origins=tuple(origin for _, origin in judged[unit]),
            decided=decided.get(unit),
            settled=unit in votes and unit not in by_people,
            dataset=datasets[row.item_id],
        )
        for row in rows
        for unit in [(row.item_id, row.criterion.pk)]
    ]


@dataclass(frozen=True)
class PlaceInList:
    """Where one unit stands in the list: `position` from 1, None when it is not in it any more."""

    position: int | None
    total: int
    before: InboxUnit | None
    after: InboxUnit | None


def around(units: Sequence[InboxUnit], item_id: int, criterion: Criterion) -> PlaceInList:
    """The neighbours of a unit; of one that has left the list, because it was decided, those of its place."""
    for index, row in enumerate(units):
        if (row.item_id, row.criterion.pk) == (item_id, criterion.pk):
            before = units[index - 1] if index else None
            after = units[index + 1] if index + 1 < len(units) else None
            return PlaceInList(index + 1, len(units), before, after)
    return PlaceInList(None, len(units), None, units[0] if units else None)


def of_item(units: Sequence[InboxUnit], item_id: int, criterion: Criterion) -> list[InboxUnit]:
    """The units of a list that are of one item, that of this criterion too, in the order of the rubric."""
    rows = [row for row in units if row.item_id == item_id]
    if not any(row.criterion.pk == criterion.pk for row in rows):
        rows.append(InboxUnit(item_id, criterion, ()))  # decided, it has left the list
    return sorted(rows, key=lambda row: (-row.criterion.version_id, row.criterion.position))


def after_deciding(units: Sequence[InboxUnit], item_id: int, criterion: Criterion) -> InboxUnit | None:
    """Where somebody goes on who decides this unit of a list: the next one of its item, from its first again
    after its last, then the next of the list; None where it was the last.
    """
    rows = of_item(units, item_id, criterion)
    at = next(place for place, row in enumerate(rows) if row.criterion.pk == criterion.pk)
    rest = [*rows[at + 1 :], *rows[:at]]
    if rest:
        return rest[0]
    place = around(units, item_id, criterion)
    return place.after or place.before


# ── What everybody agrees on ─────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class AgreedUnit:
    item_id: int
    criterion_id: int
    label: str


def other_queues(queue: ReviewQueue) -> list[ReviewQueue]:
    """The other queues with labels of its dataset: what is decided on an item counts in all of them."""
    return list(labelled_queues(queue.dataset_id, team=queue.team).exclude(pk=queue.pk))


def agreed(queue: ReviewQueue, viewer: User) -> list[AgreedUnit]:
    """Undecided units of a queue on which all people, those of other queues too, and the judge gave one and
    the same label.

    Of an open queue only items whose raters have all submitted. Somebody has to have said it beside the first
    person: the judge, where a run stands beside the queue, else another person. Abstentions are not accepted
    this way, nor items the viewer is still to review blind.
    """
    where = scope(queue.team, viewer, [queue])
    decided = decided_units(where)
    hidden = hidden_of(viewer, queue.team, queue.dataset_id)
    wanted: dict[int, int] = {}
    if queue.state != QueueState.CLOSED:
        wanted = dict(QueueItem.objects.filter(queue=queue).values_list("item_id", "wanted"))
    judged: dict[Unit, set[str]] = defaultdict(set)
    for item_id, criterion_id, label in judge_labels(where).values_list(*UNIT, "verdict"):
        judged[item_id, criterion_id].add(label)
    gaps = abstaining_options(where)
    rows, others = unit_labels(where), other_queues(queue)
    here = {row.unit: row.n for row in rows}
    found = []
    for row in unit_labels(where, also_in=others) if others else rows:
        if row.unit not in here or not row.is_one or row.unit in decided or row.item_id in hidden:
            continue
        if here[row.unit] < wanted.get(row.item_id, 1):
            continue
        if row.least in gaps.get(row.criterion_id, ABSTENTIONS):
            continue
        if judged[row.unit] == {row.least} if where.runs else row.n > 1:
            found.append(AgreedUnit(row.item_id, row.criterion_id, row.least))
    return found


def _opened(cursor: str) -> list[float]:
    """The key a cursor stands for. Raises Invalid for one that is not ours."""
    key = numbers_in(cursor)
    if len(key) != 6:
        raise not_ours()
    return key
