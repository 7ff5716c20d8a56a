"""What is asked of a submission: weighted criteria in a rubric."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from rubricweb.engine.criterion import KINDS, Criterion, Option, contradictions, filled_in
from rubricweb.engine.errors import (
    FaultList,
    InvalidRubric,
    InvalidText,
    join_place,
    nearest,
    shown,
)
from rubricweb.engine.field_types import (
    MAX_NAME,
    MAX_REQUIREMENT,
    MAX_TITLE,
    MAX_WEIGHT,
    Guidelines,
    Name,
    Title,
)
from rubricweb.engine.parsers.json_text import parse_json
from rubricweb.engine.parsers.plain_text import decode
from rubricweb.engine.parsers.yaml_text import dump_yaml, parse_yaml
from rubricweb.engine.rubric_rules import LengthPenalty, PassRule
from rubricweb.engine.submission import Query, ToGrade

if TYPE_CHECKING:
    from rubricweb.engine.autograders.base import Autograder
    from rubricweb.engine.report import EvaluationReport

__all__ = [
    "KINDS",
    "MAX_CRITERIA",
    "MAX_NAME",
    "MAX_REQUIREMENT",
    "MAX_SOURCE_BYTES",
    "MAX_TITLE",
    "MAX_WEIGHT",
    "Criterion",
    "LengthPenalty",
    "Option",
    "PassRule",
    "Rubric",
    "check_rubric",
]

MAX_CRITERIA = 1_000
MAX_SOURCE_BYTES = 10_000_000


class Rubric(BaseModel):
    """An ordered list of criteria with an optional title and guidelines shown beside every one of them.

    ``pass_rule`` says when a submission passes, ``length_penalty`` what long ones lose; None is no such rule.

    ``Rubric([Criterion(…), …])`` as well as keywords. Unnamed criteria become C1, C2, … by position,
    skipping names that are taken. Raises InvalidRubric with every fault: no criteria, too many, or two of
    one name (compared after strip and casefold).
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    criteria: tuple[Criterion, ...]
    title: Title = ""
    guidelines: Guidelines = ""
    pass_rule: PassRule | None = None
    length_penalty: LengthPenalty | None = None

    def __init__(
        self,
        criteria: Iterable[Criterion],
        title: str = "",
        guidelines: str = "",
        *,
        pass_rule: PassRule | None = None,
        length_penalty: LengthPenalty | None = None,
    ) -> None:
        faults = FaultList()
        entries = [(f"criteria[{i}]", entry) for i, entry in enumerate(criteria)]
        read = tuple(_check_criterion(entry, faults, place) for place, entry in entries)
        _check_together(read, faults, "criteria", [place for place, _ in entries])
        faults.raise_as(InvalidRubric)
        try:
            super().__init__(
                criteria=_named(read),
                title=title,
                guidelines=guidelines,
                pass_rule=pass_rule,
                length_penalty=length_penalty,
            )
        except ValidationError as error:
            _add_faults(faults, error, "", _RUBRIC_KEYS)
            faults.raise_as(InvalidRubric)

    @property
    def rubric(self) -> list[Criterion]:
        """The criteria as a list: the name the published packages use."""
        return list(self.criteria)

    @property
    def names(self) -> tuple[str, ...]:
        """Every criterion's name in order; inside a rubric none is missing."""
        return tuple(criterion.name or "" for criterion in self.criteria)

    @property
    def weights(self) -> tuple[float, ...]:
        """Every criterion's weight in order."""
        return tuple(criterion.weight for criterion in self.criteria)

    @classmethod
    def from_dict(cls, data: Any) -> Rubric:
        """Build from a list of criteria, or from an object with ``criteria`` or ``sections``.

        The object may have ``title``, ``guidelines``, ``pass_rule`` and ``length_penalty`` too. A section is
        an object with a ``title`` (or ``name``), which becomes its criteria's group, and ``criteria``.

        Raises InvalidRubric with all faults at once, each with its place: ``criteria[3].weight``.
        """
        faults = FaultList()
        rubric = check_rubric(data, faults)
        faults.raise_as(InvalidRubric)
        assert rubric is not None
        return rubric

    @classmethod
    def from_json(cls, source: str | bytes) -> Rubric:
        """Build from JSON text. Raises InvalidRubric; a syntax error is placed by line and column."""
        return cls.from_dict(_parsed(source, parse_json))

    @classmethod
    def from_yaml(cls, source: str | bytes) -> Rubric:
        """Build from YAML text (plain data only, see ``parse_yaml``). Raises InvalidRubric."""
        return cls.from_dict(_parsed(source, parse_yaml))

    @classmethod
    def from_file(cls, path: str | Path) -> Rubric:
        """Build from a ``.json``, ``.yaml`` or ``.yml`` file. Raises InvalidRubric or OSError."""
        path = Path(path)
        suffix = path.suffix.casefold()
        if suffix not in (".json", ".yaml", ".yml"):
            faults = FaultList()
            faults.add("", f"a file named {path.name}", "a name ending in .json, .yaml or .yml")
            faults.raise_as(InvalidRubric)
        source = path.read_bytes()
        return cls.from_json(source) if suffix == ".json" else cls.from_yaml(source)

    def to_dict(self) -> dict[str, Any]:
        """The rubric as plain data that ``from_dict`` reads back to an equal rubric."""
        data: dict[str, Any] = {}
        if self.title:
            data["title"] = self.title
        if self.guidelines:
            data["guidelines"] = self.guidelines
        data["criteria"] = [criterion.to_dict() for criterion in self.criteria]
        if self.pass_rule is not None:
            data["pass_rule"] = self.pass_rule.to_dict()
        if self.length_penalty is not None:
            data["length_penalty"] = self.length_penalty.to_dict()
        return data

    def to_json(self) -> str:
        """The rubric as indented JSON text."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=2) + "\n"

    def to_yaml(self) -> str:
        """The rubric as YAML text."""
        return dump_yaml(self.to_dict())

    async def grade(
        self,
        to_grade: ToGrade,
        autograder: Autograder | None = None,
        query: Query | None = None,
        reference: str | None = None,
    ) -> EvaluationReport:
        """Grade one submission.

        ``to_grade`` is a text, a mapping with ``thinking`` and ``output``, or a Submission; ``autograder``
        any Autograder, by default ``PerCriterionGrader()`` on the endpoint of the environment.
        """
        # By name, because autograders are built on rubrics: an import here would close a circle.
        grading = importlib.import_module("rubricweb.engine.grade")
        report: EvaluationReport = await grading.grade(self, to_grade, autograder, query, reference)
        return report


def check_rubric(data: Any, faults: FaultList, place: str = "") -> Rubric | None:
    """Read plain data as a rubric; what is wrong goes to ``faults`` under ``place`` and gives None."""
    before = faults.total
    head: dict[str, Any] = {}
    entries: list[_Entry] | None
    if isinstance(data, Mapping):
        head = _check_head(data, faults, place)
        entries = _entries(data, faults, place)
    else:
        allowed = "a list of criteria, or an object with criteria"
        entries = _listed(data, faults, place or "criteria", allowed=allowed)
    if entries is None:
        return None
    criteria_place = join_place(place, "criteria") if isinstance(data, Mapping) else place or "criteria"
    if len(entries) > MAX_CRITERIA:
        faults.add(criteria_place, f"{len(entries):,} criteria", f"at most {MAX_CRITERIA:,}")
        return None
    read = [_check_criterion(entry, faults, where) for where, entry in entries]
    _check_together(read, faults, criteria_place, [where for where, _ in entries])
    if faults.total > before:
        return None
    return Rubric([criterion for criterion in read if criterion is not None], **head)


_Entry: TypeAlias = tuple[str, Any]
"""What stands for a criterion, with its place."""

_RUBRIC_KEYS = ("title", "guidelines", "criteria", "sections", "pass_rule", "length_penalty")
_SECTION_KEYS = ("title", "name", "criteria")
_RULES: dict[str, type[PassRule] | type[LengthPenalty]] = {
    "pass_rule": PassRule,
    "length_penalty": LengthPenalty,
}


def _parsed(source: str | bytes, parse: Callable[[str], Any]) -> Any:
    try:
        return parse(decode(source, max_bytes=MAX_SOURCE_BYTES))
    except InvalidText as error:
        raise InvalidRubric(error.faults) from None


def _check_head(data: Mapping[Any, Any], faults: FaultList, place: str) -> dict[str, Any]:
    """Everything a rubric says beside its criteria, as keywords for Rubric."""
    for key in data:
        if key not in _RUBRIC_KEYS:
            faults.add(join_place(place, str(key)), "an unknown key", nearest(str(key), _RUBRIC_KEYS))
    head: dict[str, Any] = {}
    for field, kind in (("title", Title), ("guidelines", Guidelines)):
        if data.get(field) is not None:
            head[field] = _fitted(TypeAdapter(kind), data[field], faults, join_place(place, field), ())
    for field, rule in _RULES.items():
        if data.get(field) is not None:
            here = join_place(place, field)
            head[field] = _fitted(TypeAdapter(rule), data[field], faults, here, tuple(rule.model_fields))
    return head


def _fitted(
    adapter: TypeAdapter[Any], value: Any, faults: FaultList, place: str, known: Sequence[str]
) -> Any:
    if known and not isinstance(value, Mapping | BaseModel):
        faults.add(place, shown(value), f"an object with {', '.join(known)}")
        return None
    try:
        return adapter.validate_python(value)
    except ValidationError as error:
        _add_faults(faults, error, place, known)
        return None


def _entries(data: Mapping[Any, Any], faults: FaultList, place: str) -> list[_Entry] | None:
    """The criteria of an object with ``criteria``, ``sections`` or both, those without a section first."""
    has_sections = data.get("sections") is not None
    if "criteria" not in data and not has_sections:
        faults.add(join_place(place, "criteria"), "nothing", "a list of criteria")
        return None
    entries: list[_Entry] | None = []
    if not has_sections or data.get("criteria") is not None:
        entries = _listed(data.get("criteria"), faults, join_place(place, "criteria"))
    if not has_sections:
        return entries
    sections, here = data["sections"], join_place(place, "sections")
    if not isinstance(sections, list | tuple):
        faults.add(here, shown(sections), "a list of sections, each with title and criteria")
        return None
    read = [_section(section, faults, f"{here}[{i}]") for i, section in enumerate(sections)]
    if entries is None or any(part is None for part in read):
        return None
    return entries + [entry for part in read if part is not None for entry in part]


def _section(section: Any, faults: FaultList, place: str) -> list[_Entry] | None:
    """A section's criteria, each with the section's title as its group."""
    if not isinstance(section, Mapping):
        faults.add(place, shown(section), "an object with title and criteria")
        return None
    for key in section:
        if key not in _SECTION_KEYS:
            faults.add(join_place(place, str(key)), "an unknown key", nearest(str(key), _SECTION_KEYS))
    titles = [key for key in ("title", "name") if section.get(key) is not None]
    if len(titles) != 1:
        found = "nothing" if not titles else "both title and name"
        faults.add(join_place(place, "title"), found, "a title (or a name), which becomes the group")
        return None
    group = _fitted(TypeAdapter(Name), section[titles[0]], faults, join_place(place, titles[0]), ())
    if group is None and isinstance(section[titles[0]], str) and not section[titles[0]].strip():
        faults.add(join_place(place, titles[0]), "an empty text", "a title, which becomes the group")
    entries = _listed(section.get("criteria"), faults, join_place(place, "criteria"))
    if entries is None:
        return None
    return [(where, _grouped(entry, group, faults, where)) for where, entry in entries]


def _grouped(entry: Any, group: str | None, faults: FaultList, place: str) -> Any:
    if not isinstance(entry, Mapping) or group is None:
        return entry
    own = entry.get("group")
    if own is not None and not (isinstance(own, str) and own.strip() == group):
        faults.add(join_place(place, "group"), shown(own), f"no group, or the section's own: {group}")
    return {**entry, "group": group}


def _listed(
    value: Any, faults: FaultList, place: str, *, allowed: str = "a list of criteria"
) -> list[_Entry] | None:
    if not isinstance(value, list | tuple):
        faults.add(place, shown(value), allowed)
        return None
    return [(f"{place}[{i}]", entry) for i, entry in enumerate(value)]


def _check_criterion(entry: Any, faults: FaultList, place: str) -> Criterion | None:
    if isinstance(entry, Criterion):
        return entry
    if not isinstance(entry, Mapping):
        faults.add(place, shown(entry), "an object with weight and requirement")
        return None
    before = faults.total
    fields = filled_in(entry)
    criterion = None
    try:
        criterion = Criterion.model_validate(fields)
    except ValidationError as error:
        _add_faults(faults, error, place, tuple(Criterion.model_fields))
    for fault in contradictions(fields):
        faults.add(join_place(place, fault.place), fault.found, fault.allowed)
    return criterion if faults.total == before else None


def _check_together(
    criteria: Iterable[Criterion | None], faults: FaultList, place: str, places: Sequence[str]
) -> None:
    """What only shows between criteria (None is an unreadable one): none, too many, a name twice."""
    criteria = list(criteria)
    if not criteria:
        faults.add(place, "an empty list", "at least one criterion")
    if len(criteria) > MAX_CRITERIA:
        faults.add(place, f"{len(criteria):,} criteria", f"at most {MAX_CRITERIA:,}")
    first: dict[str, int] = {}
    for i, criterion in enumerate(criteria):
        if criterion is None or criterion.name is None:
            continue
        name = criterion.name.casefold()
        if name in first:
            found = f"the name {criterion.name!r} again (as {places[first[name]]})"
            faults.add(join_place(places[i], "name"), found, "a different name for every criterion")
        first.setdefault(name, i)


def _named(read: Iterable[Criterion | None]) -> tuple[Criterion, ...]:
    criteria = [criterion for criterion in read if criterion is not None]
    taken = {criterion.name.casefold() for criterion in criteria if criterion.name is not None}
    named = []
    for i, criterion in enumerate(criteria):
        if criterion.name is None:
            number = i + 1
            while f"c{number}" in taken:
                number += 1
            taken.add(f"c{number}")
            criterion = criterion.model_copy(update={"name": f"C{number}"})
        named.append(criterion)
    return tuple(named)


def _add_faults(faults: FaultList, error: ValidationError, place: str, known: Sequence[str]) -> None:
    """Pydantic's errors as faults; a criterion's contradictions are left to ``contradictions``."""
    for detail in error.errors(include_url=False):
        where = join_place(place, _path(detail))
        context = detail.get("ctx", {})
        if detail["type"] == "contradiction":
            continue
        if detail["type"] == "refused":
            faults.add(where, context["found"], context["allowed"])
        elif detail["type"] == "missing":
            what = "text that says what to look for" if detail["loc"][-1] == "requirement" else "a text"
            faults.add(where, "nothing", what)
        elif detail["type"] == "extra_forbidden":
            keys = Option.model_fields if "options" in detail["loc"][:-1] else known
            faults.add(where, "an unknown key", nearest(str(detail["loc"][-1]), keys))
        elif detail["type"] == "model_type":
            faults.add(where, shown(detail["input"]), "an object with label and value")
        else:
            faults.add(where, shown(detail["input"]), detail["msg"])


def _path(detail: ErrorDetails) -> str:
    path = ""
    for step in detail["loc"]:
        path = join_place(path, f"[{step}]" if isinstance(step, int) else step)
    return path
