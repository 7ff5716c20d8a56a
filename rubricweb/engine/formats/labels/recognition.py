"""Which columns of a table of labels say what: by their names, and by what stands in them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from rubricweb.engine.errors import FaultList, shortened
from rubricweb.engine.formats.datasets.known_keys import KnownItems, whole_number
from rubricweb.engine.formats.label_files import (
    FIELDS,
    RATER_KINDS,
    LabelCell,
    LabelChoices,
    LabelColumns,
)
from rubricweb.engine.formats.labels.answers import GRADES, WORDS, allowed_labels
from rubricweb.engine.formats.labels.choices import check_choices
from rubricweb.engine.formats.labels.headers import (
    ALIASES,
    OWN_NAMES,
    RATER_WORDS,
    CriterionNames,
    LabelColumn,
    plain,
    read_header,
    read_rater_header,
)
from rubricweb.engine.parsers.plain_text import folded
from rubricweb.engine.rubric import Criterion
from rubricweb.engine.verdict import Verdict

COLUMNS_NAMED = 40
_HALF, _MOST = 0.5, 0.8
"""So many of a column's values must fit before they say what it is; most, where its name says nothing."""


@dataclass(frozen=True, slots=True)
class KnownNames:
    """What a file of labels is held against: criteria by name, every answer to them, the dataset's items."""

    names: CriterionNames
    answers: frozenset[str]
    items: KnownItems | None = None

    @classmethod
    def of(
        cls, criteria: Iterable[tuple[str, Criterion]], choices: LabelChoices, items: KnownItems | None
    ) -> KnownNames:
        """Of named criteria, and of what a person said values stand for."""
        named = [(name, one) for name, one in criteria if not one.is_check]
        answers = {folded(text) for text in (*WORDS, *GRADES, *Verdict, *choices.values)}
        answers |= {folded(value.partition(": ")[2]) for value in choices.values if ": " in value}
        for _, one in named:
            answers |= {folded(label) for label in allowed_labels(one)}
            answers |= {f"{option.value:g}" for option in one.options}
        names = CriterionNames([name for name, _ in named], [(one.id, name) for name, one in named])
        return cls(names, frozenset(answers), items)

    def is_item(self, text: str) -> bool:
        return self.items is not None and self.items.is_item(text)

    def is_case(self, text: str) -> bool:
        return self.items is not None and self.items.is_case(text)

    def is_system(self, text: str) -> bool:
        return self.items is not None and self.items.is_system(text)

    def is_criterion(self, text: str) -> bool:
        return self.names.find(text) is not None

    def is_answer(self, text: str) -> bool:
        return folded(text) in self.answers


def recognised(
    sample: Mapping[str, Sequence[str]], known: KnownNames, choices: LabelChoices, faults: FaultList
) -> tuple[LabelColumns | None, dict[str, str]]:
    """The columns of a table whose first values are ``sample``, and column by column the field it is read as.

    What ``choices`` says goes first. Faults about a choice, and one for columns that do not say enough, go to
    ``faults``; the columns are then None, and the fields those that could be told.
    """
    recogniser = _Recogniser(sample, known, choices)
    check_choices(sample, known.names, known.answers, choices, faults)
    if faults:
        return None, {}
    found = recogniser.find()
    if found is not None:
        return found, found.fields
    faults.add("", _columns_text(list(sample)), recogniser.missing())
    return None, recogniser.guesses()


def _columns_text(columns: list[str]) -> str:
    more = f" and {len(columns) - COLUMNS_NAMED:,} more" if len(columns) > COLUMNS_NAMED else ""
    return f"the columns {', '.join(shortened(name) for name in columns[:COLUMNS_NAMED])}{more}"


# Long because each column is found with those in mind that were found before it.
class _Recogniser:
    """One table: the columns nobody has said anything of yet are free.

    What is known of the columns does not change, so that which one is what is found out once.
    """

    def __init__(self, sample: Mapping[str, Sequence[str]], known: KnownNames, choices: LabelChoices) -> None:
        self._sample, self._known, self._choices = sample, known, choices
        self._roles: dict[str, str] = {}
        self._headers: dict[str, LabelColumn] = {}
        for field, column in choices.columns.items():
            role = plain(field).replace(" ", "_")
            if role in FIELDS:
                self._roles[role] = column
            elif column:
                self._headers[column] = read_header(field, known.names) or read_rater_header(field)
        taken = {*self._roles.values(), *self._headers, *choices.unread}
        self._said = frozenset(self._headers)
        self._free = [column for column in sample if column not in taken]
        for column in self._free:
            header = read_header(column, known.names)
            if header is not None:
                self._headers[column] = header

    def missing(self) -> str:
        """What no column says."""
        if not (self._item_id or self._case_id):
            lacks = "the items' ids (item_id), or which case and system a label is about (case_id, system)"
        elif self._criterion and not self._verdict:
            lacks = "the verdicts (verdict)"
        elif self._choices.shape == "raters" or self._rater_cells() or self._verdict:
            lacks = "the criterion the labels are about (criterion), or that criterion named"
        else:
            lacks = "the criterion and the verdict, or a column for each criterion or each rater"
        return f"columns that say {lacks}; or FIELD=COLUMN for each, as in item_id=COLUMN"

    def guesses(self) -> dict[str, str]:
        """What can be told of single columns where it does not make a shape."""
        told = {
            "item_id": self._item_id,
            "case_id": self._case_id,
            "system": self._system,
            "attempt": self._attempt,
            "criterion": self._criterion,
            "rater": self._rater,
            "verdict": self._verdict,
        }
        return {column: field for field, column in told.items() if column}

    def find(self) -> LabelColumns | None:
        if not (self._item_id or self._case_id):
            return None
        found = self._shaped(self._item_id)
        if found is None or self._item_id:
            return found
        return replace(found, case_id=self._case_id, system=self._system, attempt=self._attempt)

    def _shaped(self, item_id: str) -> LabelColumns | None:
        # In this order: what could be taken for more than one shape is taken for the earlier one.
        finders = {
            "long": self._long,
            "both": self._both,
            "criteria": self._criteria,
            "raters": self._raters,
        }
        if self._choices.shape is not None:
            return finders[self._choices.shape](item_id)
        if self._roles.get("verdict"):
            return self._long(item_id)
        if self._criterion and (found := self._long(item_id)):
            return found
        for finder in (self._both, self._criteria, self._raters, self._long):
            found = finder(item_id)
            if found is not None:
                return found
        return None

    # ── Shapes ───────────────────────────────────────────────────────────────────────────────────

    def _long(self, item_id: str) -> LabelColumns | None:
        verdict, criterion = self._verdict, self._criterion
        if not verdict or not (criterion or self._one_criterion):
            return None
        cell = LabelCell(
            verdict,
            "" if criterion else self._one_criterion,
            reason=self._beside(verdict, "reason", "reason"),
            final=self._beside(verdict, "final_verdict"),
            final_reason=self._beside(verdict, "final_reason"),
        )
        return LabelColumns("long", item_id, (cell,), criterion, self._rater, self._kind)

    def _criteria(self, item_id: str) -> LabelColumns | None:
        cells = self._cells(lambda header: bool(header.criterion and not header.rater))
        if not cells:
            return None
        return LabelColumns("criteria", item_id, cells, "", self._rater, self._kind)

    def _both(self, item_id: str) -> LabelColumns | None:
        cells = self._cells(lambda header: bool(header.criterion and header.rater))
        alone = self._cells(lambda header: bool(header.criterion and not header.rater))
        by_rater = any(cell.rater for cell in cells)
        if not cells or (self._choices.shape is None and (len(alone) > len(cells) or not by_rater)):
            return None
        by_row = "" if all(cell.rater for cell in cells) else self._rater
        return LabelColumns("both", item_id, cells, "", by_row, self._kind)

    def _raters(self, item_id: str) -> LabelColumns | None:
        criterion = self._criterion
        if not criterion and not self._one_criterion:
            return None
        cells = self._rater_cells()
        if not cells:
            return None
        return LabelColumns("raters", item_id, cells, criterion, rater_kind=self._kind)

    def _cells(self, wanted: Callable[[LabelColumn], bool]) -> tuple[LabelCell, ...]:
        """Columns whose headers are wanted, and those a person said are about a criterion."""
        headers = {
            column: one
            for column, one in self._headers.items()
            if column not in self._naming and (wanted(one) or (column in self._said and one.criterion))
        }
        return _cells_of(headers)

    def _rater_cells(self) -> tuple[LabelCell, ...]:
        """Columns called like raters; without any, those that hold answers throughout."""
        said = {column: one for column, one in self._headers.items() if one.rater and not one.criterion}
        free = [column for column in self._free if column not in self._taken]
        if not said:
            named = [column for column in free if _is_rater_name(read_rater_header(column).rater)]
            answering = [column for column in free if self._share(column, self._known.is_answer) >= _MOST]
            labels = named or (answering if len(answering) > 1 else [])
            said = {column: read_rater_header(column) for column in labels}
        raters = {one.rater for one in said.values()}
        beside = {column: read_rater_header(column) for column in free if column not in said}
        said |= {column: one for column, one in beside.items() if one.is_reason and one.rater in raters}
        about = "" if self._criterion else self._one_criterion
        return _cells_of({column: replace(one, criterion=about) for column, one in said.items()})

    # ── Columns ──────────────────────────────────────────────────────────────────────────────────

    @cached_property
    def _taken(self) -> set[str]:
        return {*self._naming, self._criterion, self._rater, self._kind} - {""}

    @cached_property
    def _naming(self) -> set[str]:
        """The columns that name the item: what is one of them is nothing else."""
        return {self._item_id, self._case_id, self._system, self._attempt} - {""}

    @cached_property
    def _one_criterion(self) -> str:
        """The criterion everything is about where no column says it."""
        names = self._known.names
        if self._choices.criterion:
            return names.find(self._choices.criterion) or ""
        return names.names[0] if len(names.names) == 1 else ""

    @cached_property
    def _item_id(self) -> str:
        if "item_id" in self._roles:
            return self._roles["item_id"]
        if self._roles.get("case_id"):
            return ""
        named = self._named("item_id")
        shares = {column: self._share(column, self._known.is_item) for column in self._free}
        fitting = [column for column in named if shares[column] >= _HALF]
        if fitting:
            return fitting[0]
        if self._case_id:
            return ""
        # What is called like the id is the id: were another column taken whose values happen to fit, such as
        # a score, every label would be on a wrong item.
        own = [column for column in named if plain(column) in OWN_NAMES["item_id"]]
        answers = [one for one in self._named("verdict") if self._share(one, self._known.is_answer) >= _HALF]
        others = [column for column in self._free if column not in (*self._headers, *answers)]
        best = max(others, key=lambda column: shares[column], default="")
        if best and shares[best] >= _HALF and not own:
            return best
        return max(named, key=lambda column: shares[column], default="")

    @cached_property
    def _case_id(self) -> str:
        """The column of cases, where no column holds ids of items."""
        if "case_id" in self._roles or "item_id" in self._roles:
            return self._roles.get("case_id", "")
        named = self._named("case_id")
        if any(self._share(column, self._known.is_item) >= _HALF for column in self._named("item_id")):
            return ""
        return next((column for column in named if self._share(column, self._known.is_case) >= _HALF), "")

    @cached_property
    def _system(self) -> str:
        if "system" in self._roles or not self._case_id:
            return self._roles.get("system", "")
        named = [column for column in self._named("system") if column != self._case_id]
        return next((column for column in named if self._share(column, self._known.is_system) >= _HALF), "")

    @cached_property
    def _attempt(self) -> str:
        if "attempt" in self._roles or not self._case_id:
            return self._roles.get("attempt", "")
        others = {self._case_id, self._system}
        named = [column for column in self._named("attempt") if column not in others]
        return next((column for column in named if self._share(column, _is_whole) >= _MOST), "")

    @cached_property
    def _criterion(self) -> str:
        if "criterion" in self._roles:
            return self._roles["criterion"]
        others = [column for column in self._free if column not in self._naming]
        shares = {column: self._share(column, self._known.is_criterion) for column in others}
        best = max(shares, key=lambda column: shares[column], default="")
        if best and shares[best] >= _HALF:
            return best
        own = [column for column in self._named("criterion") if plain(column) in OWN_NAMES["criterion"]]
        return own[0] if own and own[0] not in self._naming else ""

    @cached_property
    def _rater(self) -> str:
        if "rater" in self._roles:
            return self._roles["rater"]
        others = {*self._naming, self._criterion}
        return next((column for column in self._named("rater") if column not in others), "")

    @cached_property
    def _kind(self) -> str:
        if "rater_kind" in self._roles:
            return self._roles["rater_kind"]
        named = [column for column in self._named("rater_kind") if column != "kind"]
        by_content = [one for one in self._named("rater_kind") if self._share(one, _is_kind) >= _MOST]
        return (named or by_content or ["rater_kind"])[0]

    @cached_property
    def _verdict(self) -> str:
        if "verdict" in self._roles:
            return self._roles["verdict"]
        taken = self._taken
        free = [column for column in self._free if column not in taken]
        shares = {column: self._share(column, self._known.is_answer) for column in free}
        named = [column for column in self._named("verdict") if column in shares]
        fitting = [column for column in named if shares[column] >= _HALF]
        answering = [column for column in free if shares[column] >= _MOST]
        return next(iter(fitting or named or (answering if len(answering) == 1 else [])), "")

    def _beside(self, verdict: str, role: str, otherwise: str = "") -> str:
        """The column that was said to be the role, else a free one that is called so."""
        if role in self._roles:
            return self._roles[role]
        taken = {*self._taken, verdict}
        return next((column for column in self._named(role) if column not in taken), otherwise)

    def _named(self, role: str) -> list[str]:
        """Free columns called like the role, the best name first."""
        names = {name: place for place, name in enumerate(ALIASES[role])}
        named = [column for column in self._free if plain(column) in names]
        return sorted(named, key=lambda column: names[plain(column)])

    def _share(self, column: str, fits: Callable[[str], bool]) -> float:
        values = self._sample[column]
        return sum(fits(value) for value in values) / len(values) if values else 0.0


def _cells_of(headers: Mapping[str, LabelColumn]) -> tuple[LabelCell, ...]:
    """One per column of labels, with those of final labels and of reasons that belong to it.

    Where only a column of final labels is there, it is the one of labels.
    """
    about = {column: (one.criterion, one.rater) for column, one in headers.items()}
    reasons = {about[column]: column for column, one in headers.items() if one.is_reason}
    finals = {about[column]: column for column, one in headers.items() if one.is_final}
    firsts = [column for column, one in headers.items() if not (one.is_reason or one.is_final)]
    with_first = {about[column] for column in firsts}
    alone = [column for key, column in finals.items() if key not in with_first]
    return (
        *(
            LabelCell(one, *about[one], reasons.get(about[one], ""), finals.get(about[one], ""))
            for one in firsts
        ),
        *(LabelCell(one, *about[one], reasons.get(about[one], "")) for one in alone),
    )


def _is_rater_name(name: str) -> bool:
    """``rater_1``, ``Annotator B``: a word for raters and one more."""
    words = plain(name).split()
    return len(words) == 2 and words[0] in RATER_WORDS and words[1] != "id"


def _is_whole(text: str) -> bool:
    return whole_number(text) is not None


def _is_kind(text: str) -> bool:
    return text.casefold() in RATER_KINDS
