"""What is asked of a submission: weighted criteria in a rubric."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError

from rubricweb.engine.errors import (
    FaultList,
    InvalidRubric,
    InvalidText,
    join_place,
    nearest,
    shown,
)
from rubricweb.engine.parsers.json_text import parse_json
from rubricweb.engine.parsers.plain_text import decode, unstorable
from rubricweb.engine.parsers.yaml_text import dump_yaml, parse_yaml
from rubricweb.engine.submission import Query, ToGrade

if TYPE_CHECKING:
    from rubricweb.engine.autograders.base import Autograder
    from rubricweb.engine.report import EvaluationReport

MAX_CRITERIA = 1_000
MAX_NAME = 120
MAX_TITLE = 200
MAX_REQUIREMENT = 10_000
MAX_LONG_TEXT = 50_000
"""Characters of guidelines, guidance and examples."""
MAX_TAGS = 50
MAX_WEIGHT = 1_000_000.0
"""Largest absolute weight: far above any use, far below where a sum of weights loses its meaning."""
MAX_SOURCE_BYTES = 10_000_000

KINDS = ("binary",)
"""How a criterion can be assessed; another kind is refused, never read as if it were binary."""

_OTHER_KINDS = {
    "choice": ("scale_type", "options", "aggregation"),
    "check": ("check", "check_name", "function", "params", "parameters"),
}


def _weight(value: object) -> float:
    allowed = f"a finite number from {-MAX_WEIGHT:,.0f} to {MAX_WEIGHT:,.0f}"
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _refused(value, allowed)
    # NaN fails every comparison, so the test is written to pass only what is surely inside.
    if not -MAX_WEIGHT <= value <= MAX_WEIGHT:
        raise _refused(value, allowed)
    return float(value) + 0.0  # turns -0.0 into 0.0


def _kind(value: object) -> object:
    if value not in KINDS:
        raise _refused(value, "binary: this version grades binary criteria, met or not met")
    return value


def _text(limit: int, *, one_line: bool = False) -> Callable[[object], str]:
    def check(value: object) -> str:
        if not isinstance(value, str):
            raise _refused(value, "text (in quotes)" if isinstance(value, int | float) else "text")
        text = value.strip()
        broken = unstorable(text)
        if broken:
            raise PydanticCustomError("refused", "{found}", {"found": broken, "allowed": "text"})
        if len(text) > limit:
            raise PydanticCustomError(
                "refused", "{found}", {"found": f"{len(text):,} characters", "allowed": f"at most {limit:,}"}
            )
        if one_line and any(character in text for character in "\n\r\t\x0b\x0c\x85\u2028\u2029"):
            raise PydanticCustomError("refused", "{found}", {"found": "a line break", "allowed": "one line"})
        return text

    return check


def _required(check: Callable[[object], str]) -> Callable[[object], str]:
    def checked(value: object) -> str:
        text = check(value)
        if not text:
            raise _refused(text, "text that says what to look for")
        return text

    return checked


def _optional(check: Callable[[object], str]) -> Callable[[object], str | None]:
    def checked(value: object) -> str | None:
        return None if value is None else check(value) or None

    return checked


def _tags(value: object) -> tuple[str, ...]:
    if value is None:
        return ()
    if not isinstance(value, list | tuple):
        raise _refused(value, "a list of texts")
    if len(value) > MAX_TAGS:
        raise PydanticCustomError(
            "refused", "{found}", {"found": f"{len(value)} tags", "allowed": f"at most {MAX_TAGS}"}
        )
    check = _required(_text(MAX_NAME, one_line=True))
    return tuple(check(tag) for tag in value)


def _refused(value: object, allowed: str) -> PydanticCustomError:
    found = shown(value)
    return PydanticCustomError(
        "refused", "found {found}; allowed: {allowed}", {"found": found, "allowed": allowed}
    )


Weight: TypeAlias = Annotated[float, BeforeValidator(_weight)]
Name: TypeAlias = Annotated[str | None, BeforeValidator(_optional(_text(MAX_NAME, one_line=True)))]
LongText: TypeAlias = Annotated[str | None, BeforeValidator(_optional(_text(MAX_LONG_TEXT)))]


class Criterion(BaseModel):
    """One thing to look for in a submission.

    ``weight`` is positive for something wanted, negative for an error to avoid, 0 for a metric that is
    tracked and moves nothing. ``name`` is unique in its rubric; None becomes C1, C2, … there. ``group`` is
    a category with its own sub-score; ``guidance`` longer help for people and judges; the examples show
    what MET and UNMET look like. Raises pydantic's ValidationError (a ValueError) for a weight that is not
    a finite number or empty requirement.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    weight: Weight = 1.0
    requirement: Annotated[str, BeforeValidator(_required(_text(MAX_REQUIREMENT)))]
    name: Name = None
    group: Name = None
    guidance: LongText = None
    tags: Annotated[tuple[str, ...], BeforeValidator(_tags)] = ()
    met_example: LongText = None
    unmet_example: LongText = None
    kind: Annotated[Literal["binary"], BeforeValidator(_kind)] = "binary"

    def to_dict(self) -> dict[str, Any]:
        """The criterion as plain data: weight and requirement always, the rest where it says something."""
        data: dict[str, Any] = {"name": self.name} if self.name else {}
        data |= {"weight": self.weight, "requirement": self.requirement}
        for field in ("group", "guidance", "tags", "met_example", "unmet_example"):
            value = getattr(self, field)
            if value:
                data[field] = list(value) if isinstance(value, tuple) else value
        return data


class Rubric(BaseModel):
    """An ordered list of criteria with an optional title and guidelines shown beside every one of them.

    ``Rubric([Criterion(…), …])`` as well as keywords. Unnamed criteria become C1, C2, … by position,
    skipping names that are taken. Raises InvalidRubric with every fault: no criteria, too many, or two of
    one name (compared after strip and casefold).
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    criteria: tuple[Criterion, ...]
    title: Annotated[str, BeforeValidator(_text(MAX_TITLE, one_line=True))] = ""
    guidelines: Annotated[str, BeforeValidator(_text(MAX_LONG_TEXT))] = ""

    def __init__(self, criteria: Iterable[Criterion], title: str = "", guidelines: str = "") -> None:
        faults = FaultList()
        read = tuple(_check_criterion(entry, faults, f"criteria[{i}]") for i, entry in enumerate(criteria))
        _check_together(read, faults, "criteria")
        faults.raise_as(InvalidRubric)
        try:
            super().__init__(criteria=_named(read), title=title, guidelines=guidelines)
        except ValidationError as error:
            _add_faults(faults, error, "")
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
        """Build from a list of criteria, or an object with ``criteria``, maybe ``title``, ``guidelines``.

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
    title: Any = ""
    guidelines: Any = ""
    criteria_place = place or "criteria"
    entries: Any = data
    if isinstance(data, Mapping):
        criteria_place = join_place(place, "criteria")
        entries = data.get("criteria", _ABSENT)
        title, guidelines = data.get("title") or "", data.get("guidelines") or ""
        _check_rubric_keys(data, faults, place)
    if entries is _ABSENT:
        faults.add(criteria_place, "nothing", "a list of criteria")
        return None
    if not isinstance(entries, list | tuple):
        allowed = (
            "a list of criteria"
            if isinstance(data, Mapping)
            else "a list of criteria, or an object with criteria"
        )
        faults.add(criteria_place, shown(entries), allowed)
        return None
    if len(entries) > MAX_CRITERIA:
        faults.add(criteria_place, f"{len(entries):,} criteria", f"at most {MAX_CRITERIA:,}")
        return None
    read = [_check_criterion(entry, faults, f"{criteria_place}[{i}]") for i, entry in enumerate(entries)]
    _check_together(read, faults, criteria_place)
    if faults.total > before:
        return None
    return Rubric([criterion for criterion in read if criterion is not None], title, guidelines)


_ABSENT = object()


def _parsed(source: str | bytes, parse: Callable[[str], Any]) -> Any:
    try:
        return parse(decode(source, max_bytes=MAX_SOURCE_BYTES))
    except InvalidText as error:
        raise InvalidRubric(error.faults) from None


def _check_rubric_keys(data: Mapping[Any, Any], faults: FaultList, place: str) -> None:
    known = ("title", "guidelines", "criteria")
    for key in data:
        if key not in known:
            faults.add(join_place(place, str(key)), "an unknown key", nearest(str(key), known))
    for field, check in (("title", _text(MAX_TITLE, one_line=True)), ("guidelines", _text(MAX_LONG_TEXT))):
        if data.get(field) is None:
            continue
        try:
            check(data[field])
        except PydanticCustomError as error:
            context = error.context or {}
            faults.add(join_place(place, field), context["found"], context["allowed"])


def _check_criterion(entry: Any, faults: FaultList, place: str) -> Criterion | None:
    if isinstance(entry, Criterion):
        return entry
    if not isinstance(entry, Mapping):
        faults.add(place, shown(entry), "an object with weight and requirement")
        return None
    fields = {str(key): value for key, value in entry.items()}
    for kind, keys in _OTHER_KINDS.items():
        used = [key for key in keys if key in fields]
        if used:
            found = f"a {kind} criterion ({', '.join(used)})"
            faults.add(
                join_place(place, used[0]), found, "this version grades binary criteria, met or not met"
            )
            return None
    try:
        return Criterion.model_validate(fields)
    except ValidationError as error:
        _add_faults(faults, error, place)
        return None


def _check_together(criteria: Iterable[Criterion | None], faults: FaultList, place: str) -> None:
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
            found = f"the name {criterion.name!r} again (as {place}[{first[name]}])"
            faults.add(f"{place}[{i}].name", found, "a different name for every criterion")
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


def _add_faults(faults: FaultList, error: ValidationError, place: str) -> None:
    for detail in error.errors(include_url=False):
        where = join_place(place, _path(detail))
        context = detail.get("ctx", {})
        if detail["type"] == "refused":
            faults.add(where, context["found"], context["allowed"])
        elif detail["type"] == "missing":
            faults.add(where, "nothing", "text that says what to look for")
        elif detail["type"] == "extra_forbidden":
            key = str(detail["loc"][-1])
            faults.add(where, "an unknown key", nearest(key, Criterion.model_fields))
        else:
            faults.add(where, shown(detail["input"]), detail["msg"])


def _path(detail: ErrorDetails) -> str:
    path = ""
    for step in detail["loc"]:
        path = join_place(path, f"[{step}]" if isinstance(step, int) else step)
    return path
