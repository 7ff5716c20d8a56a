"""What is asked of a submission: weighted criteria in a rubric."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Never

from pydantic import BaseModel, ConfigDict, ValidationError

from rubricweb.engine.errors import FaultList, InvalidRubric, InvalidText, join_place
from rubricweb.engine.parsers.json_text import parse_json
from rubricweb.engine.parsers.plain_text import decode
from rubricweb.engine.parsers.yaml_text import dump_yaml, parse_yaml
from rubricweb.engine.published.former_names import refuse_arguments
from rubricweb.engine.rubric.criterion import KINDS, Criterion, Option
from rubricweb.engine.rubric.field_types import (
    MAX_NAME,
    MAX_REQUIREMENT,
    MAX_TITLE,
    MAX_WEIGHT,
    Guidelines,
    LongText,
    Name,
    Title,
)
from rubricweb.engine.rubric.reading import (
    MAX_CRITERIA,
    RUBRIC_KEYS,
    Entry,
    add_faults,
    check_criterion,
    check_together,
    groups_of,
    named_by_ids,
    opened,
    read_entries,
    read_head,
    read_list,
)
from rubricweb.engine.rubric.rules import LengthPenalty, PassRule
from rubricweb.engine.rubric.sections import ReadSection, Section, kept_sections, nested
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
    "Section",
    "check_rubric",
    "grade_by_default_with",
]

MAX_SOURCE_BYTES = 10_000_000


class Rubric(BaseModel):
    """An ordered list of criteria with an optional title and guidelines shown beside every one of them.

    ``pass_rule`` says when a submission passes, ``length_penalty`` what long ones lose; None is no such rule.
    ``id``, ``description`` and ``sections`` are what its file says beside that: no grader knows of them.

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
    id: Name = None
    description: LongText = None
    sections: tuple[Section, ...] = ()

    def __init__(
        self,
        criteria: Iterable[Criterion],
        title: str = "",
        guidelines: str = "",
        *,
        pass_rule: PassRule | None = None,
        length_penalty: LengthPenalty | None = None,
        id: str | None = None,
        description: str | None = None,
        sections: Iterable[Section] = (),
    ) -> None:
        faults = FaultList()
        entries = [(f"criteria[{i}]", entry) for i, entry in enumerate(criteria)]
        read = tuple(check_criterion(entry, faults, place) for place, entry in entries)
        check_together(read, faults, "criteria", entries)
        faults.raise_as(InvalidRubric)
        try:
            super().__init__(
                criteria=_named(read),
                title=title,
                guidelines=guidelines,
                pass_rule=pass_rule,
                length_penalty=length_penalty,
                id=id,
                description=description,
                sections=tuple(sections),
            )
        except ValidationError as error:
            add_faults(faults, error, "", RUBRIC_KEYS)
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

    @property
    def worst_values(self) -> tuple[float, ...]:
        """Every criterion's ``worst_value`` in order: what abstaining is worth under the policy ``fail``."""
        return tuple(criterion.worst_value for criterion in self.criteria)

    @property
    def metadata(self) -> dict[str, Any]:
        """What its file says and no grader knows of, as plain data; empty where it says nothing of the kind.

        ``id``, ``description``, ``sections``, and ``descriptions``: those of criteria by their places from 0.
        """
        described = {str(place): one.description for place, one in enumerate(self.criteria)}
        found = {
            "id": self.id,
            "description": self.description,
            "sections": [section.to_dict() for section in self.sections],
            "descriptions": {place: text for place, text in described.items() if text},
        }
        return {key: value for key, value in found.items() if value}

    @classmethod
    def from_dict(cls, data: Any) -> Rubric:
        """Build from a list of criteria, or from an object with ``criteria`` or ``sections``.

        The object may have ``title``, ``guidelines``, ``pass_rule`` and ``length_penalty`` too. A section is
        an object with ``criteria`` and perhaps a ``title`` (or ``name``), which becomes their group; lists of
        criteria may hold sections too. Either form may stand under the key ``rubric`` of one more object. An
        ``id`` names a criterion or section that has no name of its own (see ``named_by_ids``). ``id`` and
        ``description`` of the rubric, its sections and its criteria, and sections without criteria, are kept.

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
    def from_file(cls, source: str | Path | IO[str] | IO[bytes]) -> Rubric:
        """Build from a ``.json``, ``.yaml`` or ``.yml`` file, named or already open.

        An open file is read on from where it stands; its ``name`` says the format. Raises InvalidRubric or
        OSError.
        """
        path = Path(source if isinstance(source, str | Path) else str(getattr(source, "name", "")))
        suffix = path.suffix.casefold()
        if suffix not in (".json", ".yaml", ".yml"):
            faults = FaultList()
            found = f"a file named {path.name}" if path.name else "an open file without a name"
            faults.add("", found, "a name ending in .json, .yaml or .yml")
            faults.raise_as(InvalidRubric)
        content = path.read_bytes() if isinstance(source, str | Path) else source.read()
        return cls.from_json(content) if suffix == ".json" else cls.from_yaml(content)

    def to_dict(self, *, ids: bool = True) -> dict[str, Any]:
        """The rubric as plain data that ``from_dict`` reads back to an equal rubric.

        All criteria are in one list, in order, whatever their sections. Without ``ids`` it is what answers
        depend on: equal for rubrics that differ in ids, descriptions and sections alone.
        """
        data: dict[str, Any] = {}
        if self.title:
            data["title"] = self.title
        if ids:
            data |= {key: value for key in ("id", "description") if (value := getattr(self, key))}
        if self.guidelines:
            data["guidelines"] = self.guidelines
        data["criteria"] = [criterion.to_dict(ids=ids) for criterion in self.criteria]
        if self.sections and ids:
            data["sections"] = [section.to_dict() for section in self.sections]
        if self.pass_rule is not None:
            data["pass_rule"] = self.pass_rule.to_dict()
        if self.length_penalty is not None:
            data["length_penalty"] = self.length_penalty.to_dict()
        return data

    def to_nested_dict(self) -> dict[str, Any]:
        """The same with each section's criteria inside it, as files have it: see ``nested``."""
        return nested(self.to_dict())

    def to_json(self) -> str:
        """The rubric as indented JSON text, criteria inside their sections."""
        return json.dumps(self.to_nested_dict(), ensure_ascii=False, indent=2) + "\n"

    def to_yaml(self) -> str:
        """The rubric as YAML text, criteria inside their sections."""
        return dump_yaml(self.to_nested_dict())

    async def grade(
        self,
        to_grade: ToGrade,
        autograder: Autograder | None = None,
        query: Query | None = None,
        reference: str | None = None,
        **former: Never,
    ) -> EvaluationReport:
        """Grade one submission.

        ``to_grade`` is a text, a mapping with ``thinking`` and ``output``, or a Submission; ``autograder``
        any Autograder, by default ``PerCriterionGrader()`` on the endpoint of the environment.
        """
        refuse_arguments("grade", former)
        grader = _default_autograder[0]() if autograder is None else autograder
        return await grader.grade(to_grade, self, query, reference)


_default_autograder: list[Callable[[], Autograder]] = []


def grade_by_default_with(autograder: Callable[[], Autograder]) -> None:
    """Say what `Rubric.grade` grades with when it is given nothing.

    Autograders are built on rubrics, so they name the default here when they are imported, which the package
    does before anybody holds a rubric.
    """
    _default_autograder[:] = [autograder]


def check_rubric(data: Any, faults: FaultList, place: str = "") -> Rubric | None:
    """Read plain data as a rubric; what is wrong goes to ``faults`` under ``place`` and gives None."""
    before = faults.total
    entries: list[Entry] | None
    sections: list[ReadSection] = []
    data, place, head = opened(data, faults, place)
    if isinstance(data, Mapping):
        inside = read_head(data, faults, place)
        for key in [key for key in inside if key in head]:
            faults.add(join_place(place, key), f"{key} beside rubric and in it", f"{key} once")
        head |= inside
        entries = read_entries(data, faults, place, sections)
    else:
        allowed = "a list of criteria, or an object with criteria"
        entries = read_list(data, faults, place or "criteria", sections, allowed=allowed)
    if entries is None:
        return None
    criteria_place = join_place(place, "criteria") if isinstance(data, Mapping) else place or "criteria"
    if len(entries) > MAX_CRITERIA:
        faults.add(criteria_place, f"{len(entries):,} criteria", f"at most {MAX_CRITERIA:,}")
        return None
    head["sections"] = kept_sections(sections, groups_of(entries), faults, join_place(place, "sections"))
    entries = named_by_ids(entries)
    read = [check_criterion(entry, faults, where) for where, entry in entries]
    check_together(read, faults, criteria_place, entries)
    if faults.total > before:
        return None
    return Rubric([criterion for criterion in read if criterion is not None], **head)


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


def _parsed(source: str | bytes, parse: Callable[[str], Any]) -> Any:
    try:
        return parse(decode(source, max_bytes=MAX_SOURCE_BYTES))
    except InvalidText as error:
        raise InvalidRubric(error.faults) from None
