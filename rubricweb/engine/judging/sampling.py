"""How a model is asked to choose its words: each option with its range, its words and its default.

Whatever else knows an option has it from here: requests, keys of stored answers, runs, endpoints, the API,
pages, the terminal and the environment. A new option is a field of `Sampling`, and its lines in the docs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import NoneType
from typing import Annotated, Any, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from rubricweb.engine.errors import Fault, Invalid, shortened

_STRICT = ConfigDict(frozen=True, strict=True, extra="forbid", allow_inf_nan=False)


@dataclass(frozen=True, slots=True)
class Says:
    """The words of an option: `allowed` completes "allowed: …", `what` says what it does.

    `sent_as` is its name in a request, "" its own. An option that is not `in_every_key` is in the key of a
    stored answer only where it is not at its default, so that keys of before it stay what they were.
    """

    title: str
    allowed: str
    what: str
    sent_as: str = ""
    in_every_key: bool = False


class Sampling(BaseModel):
    """How a model chooses its words. What is None, "" or False is left out of requests.

    Values are checked: `ValidationError`, a `ValueError`, names each that is out of its range.
    """

    model_config = _STRICT

    temperature: Annotated[
        float | None,
        Field(ge=0, le=2),
        Says(
            "Temperature",
            "0 to 2",
            "at 0 the likeliest word is taken each time, above it replies differ",
            in_every_key=True,
        ),
    ] = 0.0
    top_p: Annotated[
        float | None,
        Field(gt=0, le=1),
        Says(
            "Top p",
            "more than 0 and at most 1",
            "words are chosen from the likeliest ones, which make up this share together",
            in_every_key=True,
        ),
    ] = None
    seed: Annotated[
        int | None,
        Field(ge=-(2**63), lt=2**63),
        Says(
            "Sampling seed",
            "a whole number of 64 bits",
            "the same seed asks for the same choice of words, where the endpoint takes one",
            in_every_key=True,
        ),
    ] = None
    max_output_tokens: Annotated[
        int | None,
        Field(ge=1, lt=2**31),
        Says(
            "Output limit",
            "a whole number of tokens from 1",
            "a reply that is cut off there is an error",
            sent_as="max_tokens",
            in_every_key=True,
        ),
    ] = None
    reasoning_effort: Annotated[
        str,
        Field(pattern=r"^[a-z0-9_-]{0,20}$"),
        Says(
            "Reasoning effort",
            "a word such as low, medium or high",
            "how much a model that reasons thinks before it answers",
            in_every_key=True,
        ),
    ] = ""
    logprobs: Annotated[
        bool,
        Says(
            "Token probabilities",
            "true or false",
            "ask for them: they become the confidence of a verdict, where the model gives them",
            in_every_key=True,
        ),
    ] = False

    @classmethod
    def stored(cls, kept: Mapping[str, Any]) -> Sampling:
        """What a row kept, missing options at their defaults. A value may be out of today's range, for it was
        in that of its day. Raises Invalid for one of another type and for what is no option.
        """
        try:
            read = _BY_TYPE_ALONE.model_validate(dict(kept))
        except ValidationError as error:
            raise Invalid(_faults(error, kept)) from error
        return cls.model_construct(**read.model_dump())

    def changed(self, **options: Any) -> Sampling:
        """A copy with these values. Raises Invalid with a fault for each that cannot be."""
        return self.model_copy(update=_checked(options))

    def in_key(self) -> dict[str, Any]:
        """What of it decides whether two questions are the same, in the order of the options."""
        return {
            option.name: value
            for option, value in self.items()
            if option.says.in_every_key or value != option.default
        }

    def request(self) -> dict[str, Any]:
        """Parameters of a request, by the names that endpoints know."""
        return {option.sent_as: value for option, value in self.items() if value != option.unset}

    def items(self) -> Iterator[tuple[SamplingOption, Any]]:
        """Each option with the value it has here."""
        return ((option, getattr(self, option.name)) for option in SAMPLING_OPTIONS)

    @property
    def in_words(self) -> str:
        """What is sent, and what is left out though it usually is not: "no temperature, output limit 9"."""
        words = []
        for option, value in self.items():
            title = option.says.title.lower()
            if value == option.unset:
                words += [f"no {title}"] * (option.default != option.unset)
            else:
                words.append(title if value is True else f"{title} {_shown(value)}")
        return ", ".join(words)


@dataclass(frozen=True, slots=True)
class SamplingOption:
    """A field of `Sampling`. `kind` is float, int, str or bool; `unset` is what leaves it out of requests;
    `least` and `most` are None where numbers have no such end.
    """

    name: str
    says: Says
    kind: type
    default: Any
    unset: Any
    least: float | None
    most: float | None

    @property
    def sent_as(self) -> str:
        """Its name in a request."""
        return self.says.sent_as or self.name

    @property
    def annotation(self) -> Any:
        """The type of its values, without a range: `float | None`."""
        return self.kind | None if self.unset is None else self.kind

    def allowed_or(self, unset: str) -> str:
        """What is allowed, with the word for leaving it out: "0 to 2, or none"."""
        return self.says.allowed if self.kind is bool else f"{self.says.allowed}, or {unset}"

    def sentences(self, unset: str) -> str:
        """What is allowed and what it does, as a page says it: "0 to 2, or nothing. At 0 …."."""
        parts = [self.says.what] if self.kind is bool else [self.allowed_or(unset), self.says.what]
        return " ".join(f"{part[0].upper()}{part[1:]}." for part in parts)

    def read(self, text: str) -> Any:
        """The value that a text spells; "none" leaves the option out. Its range is not looked at.

        Raises ValueError for a text that is no number where there must be one.
        """
        if text.lower() == "none":
            return self.unset
        try:
            return self.kind(text)
        except ValueError as error:
            wanted = "whole number" if self.kind is int else "number"
            raise ValueError(f"{shortened(text)} is no {wanted}, nor none") from error


def wrong_options(said: Mapping[str, Any]) -> list[Fault]:
    """A fault for each of these values that its option cannot have."""
    try:
        _checked(said)
    except Invalid as refusal:
        return list(refusal.faults)
    return []


def _checked(said: Mapping[str, Any]) -> dict[str, Any]:
    try:
        whole = Sampling.model_validate(dict(said))
    except ValidationError as error:
        raise Invalid(_faults(error, said)) from error
    return {name: getattr(whole, name) for name in said}


def _faults(error: ValidationError, said: Mapping[str, Any]) -> list[Fault]:
    known = {option.name: option.allowed_or("nothing to leave it out") for option in SAMPLING_OPTIONS}
    wrong = {one["loc"][0] for one in error.errors(include_url=False, include_context=False)}
    return [
        Fault(name, _found(value), known.get(name, f"the options {', '.join(known)}"))
        for name, value in said.items()
        if name in wrong
    ]


def _found(value: Any) -> str:
    return repr(shortened(value)) if isinstance(value, str) else shortened(_shown(value))


def _shown(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _options() -> Iterator[SamplingOption]:
    for name, field in Sampling.model_fields.items():
        [says] = [one for one in field.metadata if isinstance(one, Says)]
        kinds = set(get_args(field.annotation) or (field.annotation,))
        [kind] = kinds - {NoneType}
        ends = {
            end: getattr(one, end)
            for one in field.metadata
            for end in ("ge", "gt", "le", "lt")
            if hasattr(one, end)
        }
        yield SamplingOption(
            name,
            says,
            kind,
            field.default,
            None if NoneType in kinds else kind(),
            ends.get("ge", ends.get("gt")),
            ends["lt"] - 1 if "lt" in ends else ends.get("le"),
        )


SAMPLING_OPTIONS = tuple(_options())
"""Every option, in the order of `Sampling`."""

_BY_TYPE_ALONE = create_model(  # type: ignore[call-overload]  # a class made here
    "_BY_TYPE_ALONE",
    __config__=_STRICT,
    **{option.name: (option.annotation, option.default) for option in SAMPLING_OPTIONS},
)
