"""What a run keeps of its judge, panel and examples: frozen when it starts, read here and nowhere else.

An endpoint keeps its sampling likewise, and a shared link its figures.
"""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, ClassVar, Literal, Self

from django.db import models
from django.db.models.fields.json import KeyTransform
from pydantic import ConfigDict, TypeAdapter, ValidationError, model_serializer, model_validator

from rubricweb.engine.judging.sampling import Sampling
from rubricweb.engine.submission import Submission
from rubricweb.judges.base import JudgeConfig

NO_JUDGE = "none"
PANEL = "panel"
IMPORTED = "imported"
"""The id of a judge whose grades came in a file: it is asked nothing."""
SECRETS = ("api_key", "extra_headers")
"""What a run never remembers of its judge."""

# A key that nobody reads, or a number written as a text, is a mistake.
_STRICT = ConfigDict(extra="forbid", strict=True)
_KEPT = [field.name for field in fields(JudgeConfig) if field.name not in ("sampling", *SECRETS)]


@dataclass(frozen=True, slots=True)
class JudgeSnapshot:
    """A judge by the id it was chosen by; stored as `{id, name, model, …}`, its config and the options of its
    sampling in the same object.

    `config` is how it is asked, without its secrets; None for a panel, whose members have theirs, and for
    nobody. What a row of an earlier release lacks of it has its default.
    """

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    id: str
    name: str
    model: str
    config: JudgeConfig | None = None

    @classmethod
    def of(cls, judge_id: str, config: JudgeConfig) -> "JudgeSnapshot":
        """What a run remembers of this judge: everything but the key and extra headers."""
        return cls(judge_id, config.name, config.model, replace(config, api_key=None, extra_headers=()))

    @model_validator(mode="before")
    @classmethod
    def _read(cls, stored: Any) -> Any:
        if not isinstance(stored, Mapping) or stored.keys() <= {"id", "name", "model"}:
            return stored
        config = {name: value for name, value in stored.items() if name in _KEPT}
        options = {name: value for name, value in stored.items() if name in Sampling.model_fields}
        if unknown := sorted(stored.keys() - config.keys() - options.keys() - {"id"}):
            raise ValueError(f"{', '.join(unknown)}: a judge has no such setting, or keeps it from runs")
        config["sampling"] = Sampling.stored(options)
        return {name: stored[name] for name in ("id", "name", "model") if name in stored} | {"config": config}

    @model_serializer(mode="plain")
    def as_json(self) -> dict[str, Any]:
        """As it is stored."""
        if self.config is None:
            return {"id": self.id, "name": self.name, "model": self.model}
        config = {name: getattr(self.config, name) for name in _KEPT}
        return {"id": self.id, **config, **self.config.sampling.model_dump()}


NOBODY = JudgeSnapshot(NO_JUDGE, "no judge", "no judge")
"""What a run remembers as its judge when its rubrics hold nothing but checks."""


@dataclass(frozen=True, slots=True)
class MemberSnapshot:
    """One judge of a panel; `name` is what its votes carry, `stage` counts from 0."""

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    name: str
    weight: float
    stage: int
    judge: JudgeSnapshot


@dataclass(frozen=True, slots=True)
class CascadeSnapshot:
    """How stages follow each other: `repeats` has one number per stage."""

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    repeats: tuple[int, ...]
    escalate_on: tuple[str, ...] | None
    min_confidence: float | None


@dataclass(frozen=True, slots=True)
class PanelSnapshot:
    """Who votes and how it is settled. `repeats` is how often the members of the first stage are asked;
    `cascade` is None where there is one stage.
    """

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    members: tuple[MemberSnapshot, ...]
    rule: str | dict[str, str] | None
    repeats: int
    quorum: float
    cascade: CascadeSnapshot | None

    @property
    def repeats_by_stage(self) -> tuple[int, ...]:
        """How often each stage asks every one of its members the same."""
        return self.cascade.repeats if self.cascade else (self.repeats,)

    @property
    def repeats_by_member(self) -> dict[str, int]:
        """How often each member, by its name, is asked the same."""
        return {member.name: self.repeats_by_stage[member.stage] for member in self.members}

    @property
    def votes_per_criterion(self) -> tuple[int, ...]:
        """How many votes each stage asks for per criterion: 3 judges asked twice are (6,)."""
        sizes = Counter(member.stage for member in self.members)
        return tuple(sizes[stage] * times for stage, times in enumerate(self.repeats_by_stage))

    def as_judge(self) -> JudgeSnapshot:
        """What lists and headings call it: "panel of 3", "cascade of 2 stages", "gpt-5, asked 3 times"; the
        models follow in order.
        """
        if self.cascade:
            name = f"cascade of {len(self.cascade.repeats)} stages"
        elif len(self.members) > 1:
            name = f"panel of {len(self.members)}"
        else:
            times = "once" if self.repeats == 1 else f"{self.repeats} times"
            name = f"{self.members[0].name}, asked {times}"
        models_in_order = ", ".join(member.judge.model for member in self.members)
        return JudgeSnapshot(PANEL, name[:200], models_in_order[:200])


def asked_judges(judge: JudgeSnapshot, panel: PanelSnapshot | None) -> tuple[JudgeSnapshot, ...]:
    """The judges that are really asked: a panel's members, a single one; nobody for checks alone and for
    grades that came in a file.
    """
    if panel is not None:
        return tuple(member.judge for member in panel.members)
    return () if judge.id in (NO_JUDGE, IMPORTED) else (judge,)


@dataclass(frozen=True, slots=True)
class ExampleWords:
    """The words of an example whose dataset was deleted."""

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    key: str
    output: str
    thinking: str | None
    query: Any
    reference: str | None

    @classmethod
    def of(cls, key: str, shown: Submission) -> Self:
        return cls(key, shown.output, shown.thinking, shown.query, shown.reference)

    def to_engine(self) -> Submission:
        return Submission(
            output=self.output, thinking=self.thinking, query=self.query, reference=self.reference
        )


@dataclass(frozen=True, slots=True)
class ExampleSnapshot:
    """One label the judge is shown: ids of the criterion and the item, and what people said.

    `words` are kept once the item is gone; until then it has them. Examples that came with a version of the
    judge have words and no item.
    """

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    criterion: int
    item: int | None
    label: str
    reason: str
    words: ExampleWords | None = None

    @model_serializer(mode="plain")
    def as_json(self) -> dict[str, Any]:
        """As it is stored."""
        stored = asdict(self)
        if self.words is None:
            del stored["words"]
        return stored


@dataclass(frozen=True, slots=True)
class FewShotSnapshot:
    """Which labelled items the judge is shown as examples; equal digests show the same words.

    `dataset_id` is None, and `item_ids` are empty, where the examples came with a version of the judge.
    """

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    dataset_id: int | None
    queue_id: int | None
    item_ids: tuple[int, ...]
    n: int
    seed: int
    digest: str
    examples: tuple[ExampleSnapshot, ...]


Scale = Literal["kappa", "share", "score", "difference", "points"]
"""What figures of a table are: κ, a share of 0 to 1, a mean score, a difference of scores, parts of one in
points."""
Who = Literal["people", "judge", "better", "worse", "none"]
Look = Literal["better", "worse", "undecided"]


@dataclass(frozen=True, slots=True)
class SharedFigure:
    """One figure with its interval, on `n` units; None where it is undefined. `few`: it tells little."""

    who: Who
    value: float | None
    low: float | None
    high: float | None
    n: int
    few: bool = False


@dataclass(frozen=True, slots=True)
class SharedRow:
    """One line of a table: what it is about, its figures, and a word at the end."""

    name: str
    about: str
    figures: tuple[SharedFigure, ...]
    word: str = ""


@dataclass(frozen=True, slots=True)
class SharedTable:
    """Figures on one scale, a row each thing, a column each of `columns`."""

    title: str
    note: str
    scale: Scale
    columns: tuple[str, ...]
    rows: tuple[SharedRow, ...]


@dataclass(frozen=True, slots=True)
class SharedPage:
    """All that a link shows: sentences, facts and tables of figures, and nothing of single items or people.

    `badge` is the state of the answer in words, "" without one. `facts` are (term, detail).
    """

    sentence: str
    why: str
    badge: str
    look: Look
    facts: tuple[tuple[str, str], ...]
    tables: tuple[SharedTable, ...]


class SnapshotField(models.JSONField):
    """A JSON column that is read as one of the types above, and stores what they write.

    Raises ValueError naming the column and each key that is missing, unknown or of another type.
    """

    def __init__(self, kind: type, **options: Any) -> None:
        self.kind = kind
        self._adapter: TypeAdapter[Any] = TypeAdapter(kind)
        super().__init__(**options)

    def deconstruct(self) -> Any:
        """To migrations it is the JSON column it is."""
        name, _, args, options = super().deconstruct()
        return name, "django.db.models.JSONField", args, options

    def clone(self) -> "SnapshotField":
        return SnapshotField(self.kind, **self.deconstruct()[3])

    def from_db_value(self, value: Any, expression: Any, connection: Any) -> Any:
        if value is None or isinstance(expression, KeyTransform):
            return super().from_db_value(value, expression, connection)
        return self._read(value)

    def get_prep_value(self, value: Any) -> Any:
        return super().get_prep_value(self._written(value))

    def value_to_string(self, obj: models.Model) -> Any:
        return self._written(self.value_from_object(obj))

    def _read(self, stored: str) -> Any:
        try:
            return self._adapter.validate_json(stored)
        except ValidationError as error:
            faults = "; ".join(
                f"{'.'.join(map(str, (self.name, *one['loc'])))}: {one['msg']}" for one in error.errors()
            )
            raise ValueError(f"{self.model.__name__}: {faults}") from error

    def _written(self, value: Any) -> Any:
        return self._adapter.dump_python(value, mode="json") if isinstance(value, self.kind) else value


class SamplingField(SnapshotField):
    """A JSON column with the options of a sampling by name; those it lacks are at their defaults."""

    def __init__(self, kind: type = Sampling, **options: Any) -> None:
        super().__init__(kind, **options)

    def deconstruct(self) -> Any:
        """To migrations an empty object is the default, which is read as all defaults."""
        name, path, args, options = super().deconstruct()
        return name, path, args, options | {"default": dict}

    def clone(self) -> "SamplingField":
        return SamplingField(**self.deconstruct()[3] | {"default": Sampling})

    def _read(self, stored: str) -> Any:
        try:
            return Sampling.stored(json.loads(stored))
        except ValueError as error:
            raise ValueError(f"{self.model.__name__}: {self.name}.{error}") from error
