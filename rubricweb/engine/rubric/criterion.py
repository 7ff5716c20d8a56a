"""One thing to look for in a submission, in one of three kinds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, Protocol, TypeAlias, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from rubricweb.engine.errors import Fault, FaultList, nearest, shortened, shown
from rubricweb.engine.number_format import counted
from rubricweb.engine.parsers.plain_text import folded, unstorable
from rubricweb.engine.rubric.field_types import (
    MAX_REQUIREMENT,
    Flag,
    Label,
    LongText,
    Name,
    Params,
    Requirement,
    Share,
    Tags,
    Weight,
    is_too_deep,
    refusal,
)
from rubricweb.engine.rubric.frozen_params import FrozenParams

Kind: TypeAlias = Literal["binary", "choice", "check"]
"""How a criterion is assessed: met or not met, one of its options, a function without a judge."""

ScaleType: TypeAlias = Literal["ordinal", "nominal"]
"""Whether a choice criterion's options are steps of a scale or just different."""

KINDS = get_args(Kind)
SCALE_TYPES = get_args(ScaleType)
MAX_OPTIONS = 100

AGGREGATIONS: dict[str, tuple[str, ...]] = {
    "binary": ("majority", "weighted", "unanimous", "any"),
    "ordinal": ("mean", "median", "weighted_mean", "mode", "min", "max"),
    "nominal": ("mode", "weighted_mode", "unanimous"),
}
"""The rules by which a panel may settle a criterion, by its kind or scale."""

_FIELDS_OF_KIND = {
    "choice": ("options", "scale_type"),
    "check": ("check", "params"),
}


class Option(BaseModel):
    """One answer of a choice criterion: what it is called and what it is worth, from 0 to 1.

    Choosing an option with ``na`` abstains; its value is not used. Raises pydantic's ValidationError for a
    value outside 0 to 1 and for a label that is empty, has a line break or more than 200 characters.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    label: Label
    value: Share = 0.0
    na: Flag = False

    def to_dict(self) -> dict[str, Any]:
        """The option as plain data, ``na`` only where it is true."""
        return {"label": self.label, "value": self.value} | ({"na": True} if self.na else {})


def _one_of(allowed: tuple[str, ...]) -> Any:
    def check(value: object) -> object:
        if value is not None and value not in allowed:
            raise refusal(
                shown(value),
                nearest(value, allowed) if isinstance(value, str) else f"one of {', '.join(allowed)}",
            )
        return value

    return BeforeValidator(check)


def _options(value: object) -> object:
    if value is None:
        return ()
    if not isinstance(value, list | tuple):
        raise refusal(shown(value), "a list of options, each with label and value")
    if len(value) > MAX_OPTIONS:
        raise refusal(f"{len(value)} options", f"at most {MAX_OPTIONS}")
    return value


class Criterion(BaseModel):
    """One thing to look for in a submission.

    ``weight`` is positive for something wanted, negative for an error to avoid, 0 for a metric that is
    tracked and moves nothing. ``name`` is unique in its rubric; None becomes C1, C2, … there. ``group`` is
    a category with its own sub-score; ``guidance`` longer help for people and judges; the examples show
    what MET and UNMET look like. ``id`` says which criterion it is across versions of a rubric, however it is
    renamed, moved or reworded; it is unique in its rubric. Neither judges nor raters nor scores know of it or
    of ``description``, which is kept for the programs that read the file.

    ``kind`` follows from the fields: ``options`` make a *choice* (at least two that are not ``na``;
    ``scale_type`` ordinal unless said otherwise), ``check`` a *check* (a name in ``engine.checks.CHECKS``
    with its ``params``, every default written out; without a requirement it says what the check asks),
    anything else is *binary*. ``aggregation`` names the vote rule a panel uses here; None leaves it to
    the panel.

    Raises pydantic's ValidationError (a ValueError) for a weight that is not a finite number, an empty
    requirement, and fields that contradict each other.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    weight: Weight = 1.0
    requirement: Requirement
    name: Name = None
    group: Name = None
    guidance: LongText = None
    tags: Tags = ()
    met_example: LongText = None
    unmet_example: LongText = None
    kind: Annotated[Kind, _one_of(KINDS)] = "binary"
    options: Annotated[tuple[Option, ...], BeforeValidator(_options)] = ()
    scale_type: Annotated[ScaleType | None, _one_of(SCALE_TYPES)] = None
    aggregation: Name = None
    check: Name = None
    params: Params = Field(default_factory=FrozenParams)
    id: Name = None
    description: LongText = None

    @model_validator(mode="before")
    @classmethod
    def _filled_in(cls, data: Any) -> Any:
        return filled_in(data) if isinstance(data, Mapping) else data

    @model_validator(mode="after")
    def _consistent(self) -> Criterion:
        fields = {name: getattr(self, name) for name in Criterion.model_fields}
        for fault in contradictions(fields):
            raise PydanticCustomError(
                "contradiction",
                "{place}: found {found}; allowed: {allowed}",
                {"place": fault.place, "found": fault.found, "allowed": fault.allowed},
            )
        return self

    @property
    def is_binary(self) -> bool:
        """Whether it is met or not met."""
        return self.kind == "binary"

    @property
    def is_multi_choice(self) -> bool:
        """Whether it is answered by one of its options."""
        return self.kind == "choice"

    @property
    def is_check(self) -> bool:
        """Whether a function answers it, without a judge."""
        return self.kind == "check"

    @property
    def worst_value(self) -> float:
        """The value, 0 to 1, of the answer that costs most: the lowest, for a negative weight the highest.

        Without options the ends of the scale, 0 or 1. Options worth 0.4 and 0.9: 0.4, or 0.9 as an error.
        """
        return max(self._values) if self.weight < 0 else min(self._values)

    @property
    def span(self) -> float:
        """How far apart, 0 to 1, its best and its worst answer are worth: 1 without options.

        Options worth 0.4, 0.6 and 0.9: 0.5.
        """
        return max(self._values) - min(self._values)

    @property
    def _values(self) -> list[float]:
        return [option.value for option in self.options if not option.na] or [0.0, 1.0]

    def find_option_by_label(self, label: str) -> int:
        """The 0-based place of the option called ``label``, compared as ``folded``.

        Raises ValueError, naming the allowed labels, for anything else.
        """
        wanted = folded(label) if isinstance(label, str) else None
        for index, option in enumerate(self.options):
            if folded(option.label) == wanted:
                return index
        allowed = ", ".join(option.label for option in self.options) or "none: it has no options"
        raise ValueError(f"unknown option {label!r}; allowed: {allowed}")

    def to_dict(self, *, ids: bool = True) -> dict[str, Any]:
        """The criterion as plain data: weight and requirement always, the rest where it says something.

        Without ``ids`` it is what answers depend on, whichever criterion of other versions it is and however
        it is described.
        """
        data: dict[str, Any] = {"name": self.name} if self.name else {}
        data |= {"weight": self.weight, "requirement": self.requirement}
        for field in ("group", "guidance", "tags", "met_example", "unmet_example"):
            value = getattr(self, field)
            if value:
                data[field] = list(value) if isinstance(value, tuple) else value
        if self.is_multi_choice:
            data["scale_type"] = self.scale_type
            data["options"] = [option.to_dict() for option in self.options]
        if self.is_check:
            data["check"] = self.check
            if self.params:
                data["params"] = dict(self.params)
        if self.aggregation:
            data["aggregation"] = self.aggregation
        if ids:
            data |= {key: value for key in ("id", "description") if (value := getattr(self, key))}
        return data


def filled_in(fields: Mapping[Any, Any]) -> dict[str, Any]:
    """The fields with what follows from them: the kind, a choice's scale, a check's requirement."""
    filled = {str(key): value for key, value in fields.items()}
    if filled.get("kind") is None:
        filled["kind"] = _kind_of(filled)
    if filled["kind"] == "choice" and filled.get("scale_type") is None:
        filled["scale_type"] = "ordinal"
    if filled["kind"] == "check" and isinstance(filled.get("check"), str):
        filled |= _check_fields(filled)
    return filled


def contradictions(fields: Mapping[str, Any]) -> Iterator[Fault]:
    """What is wrong between a criterion's fields (as ``filled_in`` gives them), placed inside it.

    A field that is itself unreadable is passed over here: its own check refuses it.
    """
    kind = fields.get("kind")
    if kind not in KINDS:
        return
    article = f"a {kind} criterion"
    for other, names in _FIELDS_OF_KIND.items():
        for name in names:
            if other != kind and fields.get(name):
                yield Fault(
                    name,
                    f"{name} in {article}",
                    f"{name} only in a {other} criterion; leave out kind or {name}",
                )
    if kind == "choice":
        yield from _option_faults(fields.get("options"))
    if kind == "check" and not fields.get("check"):
        yield Fault("check", "nothing", "the name of a check")
    elif kind == "check" and isinstance(fields["check"], str) and _are_params(fields.get("params")):
        faults = FaultList()
        _check_reader[0].check_params(fields["check"].strip(), fields.get("params"), faults)
        yield from faults
    yield from _aggregation_faults(fields)


def _kind_of(fields: Mapping[str, Any]) -> str:
    if fields.get("scale_type") is not None or fields.get("options") not in (None, ()):
        return "choice"
    return "check" if fields.get("check") is not None else "binary"


def _option_faults(options: Any) -> Iterator[Fault]:
    if options is None:
        options = ()
    if not isinstance(options, list | tuple):
        return
    scored = sum(not _read(option, "na") for option in options)
    if scored < 2:
        found = "no options" if not options else counted(scored, "scored option")
        yield Fault("options", found, "at least two options that are not na")
    first: dict[str, int] = {}
    for i, option in enumerate(options):
        label = _read(option, "label")
        if not isinstance(label, str) or not label.strip():
            continue
        key = label.strip().casefold()
        if key in first:
            found = f"the label {label.strip()!r} again (as options[{first[key]}])"
            yield Fault(f"options[{i}].label", found, "a different label for every option")
        first.setdefault(key, i)


def _read(option: Any, field: str) -> Any:
    return option.get(field) if isinstance(option, Mapping) else getattr(option, field, None)


def _aggregation_faults(fields: Mapping[str, Any]) -> Iterator[Fault]:
    rule, kind = fields.get("aggregation"), fields["kind"]
    if not isinstance(rule, str) or not rule.strip():
        return
    if kind == "check":
        yield Fault("aggregation", shown(rule), "nothing: a check has no votes")
        return
    scale = fields.get("scale_type") if kind == "choice" else "binary"
    allowed = AGGREGATIONS.get(str(scale))
    if allowed is not None and rule.strip() not in allowed:
        yield Fault("aggregation", shown(rule), nearest(rule, allowed))


def _check_fields(fields: Mapping[str, Any]) -> dict[str, Any]:
    """A check's parameters with every default written out, and what it asks where no requirement says so."""
    name, params = fields["check"].strip(), fields.get("params")
    filled: dict[str, Any] = {}
    read = _check_reader[0].check_params(name, params, FaultList()) if _are_params(params) else None
    if read is not None:
        filled["params"] = read
    if fields.get("requirement") is None and name:
        # A check that will be refused stands for itself, so that the refusal is about the check alone.
        described = (
            None if read is None else shortened(_check_reader[0].describe_check(name, read), MAX_REQUIREMENT)
        )
        filled["requirement"] = name if described is None or unstorable(described) else described
    return filled


def _are_params(value: Any) -> bool:
    return value is None or (isinstance(value, Mapping) and not is_too_deep(value))


class CheckReader(Protocol):
    """What a criterion must know of the check it names."""

    def check_params(self, name: str, params: Any, faults: FaultList, /) -> dict[str, Any] | None: ...

    def describe_check(self, name: str, params: Mapping[str, Any], /) -> str: ...


_check_reader: list[CheckReader] = []


def read_checks_with(reader: CheckReader) -> None:
    """Say who knows the checks. Checks are built on criteria, so they come here when they are imported."""
    _check_reader[:] = [reader]
