"""In which words versions of a rubric ask, and by which decisions labels of one wording count for another."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

from rubricweb.models import Criterion, LabelDecision, LabelDecisionKind, Rubric


@dataclass(eq=False)
class Wording:
    """The criteria of one uid, oldest first, that ask in the same words under the same guidelines.

    Labels that were given to the words `before` count for these by `decision`; without one both are None.
    """

    before: "Wording | None" = None
    decision: LabelDecision | None = None
    members: list[Criterion] = field(default_factory=list)


def wordings(rubric: Rubric) -> dict[str, list[Wording]]:
    """Uid → the wordings of that criterion in the order they first appeared in. Two queries.

    Words that come back are the wording they were: what was decided in between is about other words.
    """
    chains: dict[str, list[Criterion]] = defaultdict(list)
    rows = Criterion.objects.filter(version__rubric=rubric).select_related("version", "meaning")
    for row in rows.order_by("version__number", "position"):
        chains[row.uid].append(row)
    current = LabelDecision.objects.filter(version__rubric=rubric, superseded_at=None)
    decided = {(one.version_id, one.criterion_id): one for one in current.select_related("version")}
    return {uid: _wordings(chain, decided) for uid, chain in chains.items()}


def _wordings(
    chain: list[Criterion], decided: Mapping[tuple[int, int | None], LabelDecision]
) -> list[Wording]:
    by_words: dict[str, Wording] = {}
    # Nobody labels a check: to people, the words before are those before it was one.
    previous: dict[bool, Wording] = {}
    for row in chain:
        words, is_check = repr(row.asks), row.kind == "check"
        if words not in by_words:
            by_words[words] = _first(row, previous.get(is_check), decided)
        previous[is_check] = by_words[words]
        previous[is_check].members.append(row)
    return list(by_words.values())


def _first(
    row: Criterion, previous: Wording | None, decided: Mapping[tuple[int, int | None], LabelDecision]
) -> Wording:
    """A wording nobody used before: labels come along where that was decided of the words before it."""
    if previous is None:
        return Wording()
    own = decided.get((row.version_id, row.pk))
    if own is None and row.question == previous.members[-1].question:
        own = decided.get((row.version_id, None))
    if own is None or own.kind != LabelDecisionKind.CARRY:
        return Wording()
    return Wording(previous, own)


def decisions_between(one: Wording, other: Wording) -> list[LabelDecision]:
    """The decisions by which labels of one of two wordings count for the other, oldest version first.

    None for a wording and itself. Where no decisions connect them, those up to the first words of both.
    """
    path = _to_the_first(one), _to_the_first(other)
    shared = {wording for wording, _ in path[0]} & {wording for wording, _ in path[1]}
    steps = [decision for side in path for wording, decision in side if wording not in shared]
    found = [decision for decision in steps if decision is not None]
    return sorted(found, key=lambda decision: (decision.version.number or 0, decision.pk))


def _to_the_first(wording: Wording) -> list[tuple[Wording, LabelDecision | None]]:
    """A wording and those before it as far as decisions lead, each with the decision that leads on."""
    found = [(wording, wording.decision)]
    while wording.before is not None:
        wording = wording.before
        found.append((wording, wording.decision))
    return found
