"""The choices about labels under other words, as the publish page and a version's page offer them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from rubricweb.engine.rubric.words import Segment, within_pairs, word_diff
from rubricweb.errors import Invalid
from rubricweb.models import LabelDecisionKind, QueueState
from rubricweb.selectors.rubrics.label_changes import LabelChange, LabelChanges
from rubricweb.selectors.rubrics.label_queues import LabelQueue
from rubricweb.services.label_queues import PROBED, QueueWish
from rubricweb.services.rubrics.label_decisions import KINDS, LATER, NewLabelDecision

NOTHING = "-"
"""The value of a select that carries an option to nothing."""

EXPLAINED = (
    (LATER, "Decide later", "Not used until somebody decides."),
    ("carry", "Carry", "The same question in other words: labels count for both."),
    (
        "label_again",
        "Label again",
        "Another question: people label it anew, and the labels before do not count.",
    ),
    ("probe", "Re-label a sample", "Not sure yet: some are labelled again under the new words, then decide."),
)
"""Each choice with its name and what it means."""


@dataclass(frozen=True)
class OptionChoice:
    """What one earlier option counts as: the value of its select, "" while nothing is chosen."""

    label: str
    labels: int
    name: str
    value: str


@dataclass
class LabelChoice:
    """One change with what is chosen for it; `prefix` begins the names of its controls."""

    change: LabelChange
    prefix: str
    kind: str
    reason: str
    options: list[OptionChoice]
    # Whether its review queue is opened in the same step, and of how many items a probe is, as typed.
    opens: bool = False
    size: str = str(PROBED)
    # How many people label each item again, as typed; "" for as many as labelled it before.
    people: str = ""
    errors: list[str] = field(default_factory=list)
    word_by_word: bool = True

    @cached_property
    def words(self) -> tuple[Segment, ...]:
        """What became of the requirement, where both are stored."""
        return word_diff(*_requirements(self.change), word_by_word=self.word_by_word)

    @property
    def seen(self) -> int | str:
        """The id of the current decision, "" without one."""
        return self.change.decision.pk if self.change.decision is not None else ""

    @property
    def unclosed(self) -> list[LabelQueue]:
        """The queues of the current decision that another one would close."""
        return [one for one in self.change.queues if one.queue.state != QueueState.CLOSED]

    @property
    def asks_people_again(self) -> bool:
        """Whether it was decided to have the criterion labelled anew, all of it or some."""
        return self._current in (LabelDecisionKind.LABEL_AGAIN, LabelDecisionKind.PROBE)

    @property
    def queue_query(self) -> str:
        """What the address of a new queue says about it: this criterion, and for a probe a random sample."""
        criterion = f"&criteria={self.change.criterion.pk}" if self.change.criterion is not None else ""
        return criterion + (f"&kind=sample&size={PROBED}" * (self._current == LabelDecisionKind.PROBE))

    @property
    def is_probed(self) -> bool:
        return self._current == LabelDecisionKind.PROBE

    @property
    def decided_kind(self) -> str:
        return next(name for kind, name, _ in EXPLAINED if kind == self._current)

    @property
    def _current(self) -> str:
        return self.change.decision.kind if self.change.decision is not None else LATER

    @property
    def explained(self) -> list[tuple[str, str, str, bool]]:
        """The choices there are: value, name, meaning, and whether it is the chosen one."""
        return [
            (kind, name, meaning, kind == self.kind)
            for kind, name, meaning in EXPLAINED
            if kind != LabelDecisionKind.CARRY or self.change.may_carry
        ]

    @property
    def targets(self) -> list[tuple[str, str]]:
        """Value and text of the options an earlier one can count as."""
        return [(str(place), label) for place, label in enumerate(self.change.options)]


def label_choices(
    changes: LabelChanges, posted: Mapping[str, str] | None = None, refusal: Invalid | None = None
) -> list[LabelChoice]:
    """A row for every change: as posted, else as it was decided; what was refused stands at its row."""
    rows = [_choice(place, change, posted, refusal) for place, change in enumerate(changes.changes)]
    for row, compared in zip(rows, within_pairs(_requirements(row.change) for row in rows), strict=True):
        row.word_by_word = compared
    return rows


def _choice(
    place: int, change: LabelChange, posted: Mapping[str, str] | None, refusal: Invalid | None
) -> LabelChoice:
    prefix, decision = f"labels-{place}", change.decision
    kind = decision.kind if decision is not None else LATER
    reason = decision.reason if decision is not None else ""
    carried = (decision.options if decision is not None else None) or {}
    known = {label: str(number) for number, label in enumerate(change.options)}
    values = {
        one.label: known.get(carried[one.label] or "", NOTHING)
        if one.label in carried
        # An option that is still there is the likely one.
        else known.get(one.label, "")
        for one in change.earlier
    }
    if posted is not None and f"{prefix}-kind" in posted:
        kind, reason = posted[f"{prefix}-kind"], posted.get(f"{prefix}-reason", "")
        values = {
            one.label: posted.get(f"{prefix}-option-{number}", "")
            for number, one in enumerate(change.earlier)
        }
    opens, size, people = False, str(PROBED), ""
    if posted is not None and f"{prefix}-kind" in posted:
        opens, size = f"{prefix}-open" in posted, posted.get(f"{prefix}-size", "").strip() or size
        people = posted.get(f"{prefix}-people", "").strip()
    own = f"decisions.{change.uid}"
    faults = refusal.faults if refusal is not None else ()
    return LabelChoice(
        change=change,
        prefix=prefix,
        kind=kind if kind in KINDS else LATER,
        reason=reason,
        options=[
            OptionChoice(one.label, one.labels, f"{prefix}-option-{number}", values[one.label])
            for number, one in enumerate(change.earlier)
        ],
        opens=opens,
        size=size,
        people=people,
        errors=[
            f"{fault.place.removeprefix(own).lstrip('.')}: found {fault.found}; allowed: {fault.allowed}."
            for fault in faults
            if fault.place == own or fault.place.startswith(f"{own}.")
        ],
    )


def _requirements(change: LabelChange) -> tuple[str, str]:
    """The requirement before and now, empty where it is not stored."""
    before, now = change.previous, change.criterion
    return ("", "") if before is None or now is None else (before.requirement, now.requirement)


def chosen(rows: Sequence[LabelChoice], *, all_of_them: bool = False) -> dict[str, NewLabelDecision]:
    """What to decide, by uid; "decide later" is no decision unless `all_of_them` are asked for."""
    return {
        row.change.uid: NewLabelDecision(
            row.kind, dict(_option_map(row)) if _is_mapped(row) else None, row.reason
        )
        for row in rows
        if all_of_them or row.kind != LATER
    }


def openings(rows: Sequence[LabelChoice]) -> dict[str, QueueWish]:
    """The review queues to be opened with the decisions, by uid. Raises Invalid for a size that is none."""
    return {
        row.change.uid: _wish(row)
        for row in rows
        if row.opens and row.kind in (LabelDecisionKind.LABEL_AGAIN, LabelDecisionKind.PROBE)
    }


def _wish(row: LabelChoice) -> QueueWish:
    if row.kind == LabelDecisionKind.PROBE:
        return QueueWish(size=_number(row, "size", row.size))
    return QueueWish(raters_per_item=_number(row, "raters_per_item", row.people) if row.people else None)


def _number(row: LabelChoice, field: str, text: str) -> int:
    if text.isascii() and text.isdigit() and len(text) < 10:
        return int(text)
    raise Invalid.at(f"decisions.{row.change.uid}.queue.{field}", repr(text[:40]), "a whole number")


def _is_mapped(row: LabelChoice) -> bool:
    return row.kind == LabelDecisionKind.CARRY and row.change.needs_map


def _option_map(row: LabelChoice) -> Iterator[tuple[str, str | None]]:
    targets = dict(row.targets)
    for option in row.options:
        if option.value == NOTHING:
            yield option.label, None
        elif option.value in targets:
            yield option.label, targets[option.value]
