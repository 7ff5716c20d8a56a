"""Schemas that show a dataclass as it is: its fields are written once, in the dataclass."""

import types
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar, Union, get_args, get_origin, get_type_hints

from django.db import models
from ninja import Schema
from pydantic import create_model
from pydantic_core import core_schema

Shown = TypeVar("Shown")


class _NotShown:
    """Stands for a type that no schema shows: the class that derives has to say what it shows there."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> core_schema.CoreSchema:
        return core_schema.any_schema()


_SCHEMAS: dict[Any, type[Schema]] = {}
"""The schema that was first derived from each dataclass."""


if TYPE_CHECKING:

    class Shape(Schema, Generic[Shown]):
        """As below."""

else:

    class Shape(Schema):
        """A schema with the fields of a dataclass, each of them always there, in its order.

        `class Span(Shape[Range])` shows them under their names: a dataclass among them by the schema that was
        derived from it first, a tuple as a list. A field that the class writes itself is as it writes it, in
        its place; further ones follow. Raises TypeError for a field that nothing shows.
        """

        kind: ClassVar[type | None] = None

        def __class_getitem__(cls, kind):
            hints = get_type_hints(kind)
            shown = {field.name: (_shown(hints[field.name]), ...) for field in fields(kind)}
            base = create_model(f"FieldsOf{kind.__name__}", __base__=Shape, **shown)
            base.kind = kind
            return base

        @classmethod
        def __pydantic_init_subclass__(cls, **options):
            super().__pydantic_init_subclass__(**options)
            if cls.kind is None:
                return
            lost = [name for name, field in cls.model_fields.items() if _NotShown in _parts(field.annotation)]
            if lost:
                raise TypeError(f"{cls.__name__} does not say how it shows {', '.join(lost)}")
            _SCHEMAS.setdefault(cls.kind, cls)


def _shown(kind: Any) -> Any:
    """What shows a value of this type."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return reduce(or_, map(_shown, inner))
    if origin in (tuple, list, Sequence) and inner[1:] in ((), (...,)):
        return list[_shown(inner[0])]  # type: ignore[misc]  # a type made here
    if origin in (dict, Mapping):
        return dict[_shown(inner[0]), _shown(inner[1])]  # type: ignore[misc]  # a type made here
    if origin is tuple:
        return kind if all(_shown(one) is one for one in inner) else _NotShown
    if is_dataclass(kind):
        return _SCHEMAS.get(kind, _NotShown)
    if isinstance(kind, type) and issubclass(kind, models.Model):
        return _NotShown
    return kind


def _parts(kind: Any) -> Iterator[Any]:
    yield kind
    for inner in get_args(kind):
        yield from _parts(inner)
