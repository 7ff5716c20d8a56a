"""Shapes of systems and their versions."""

from datetime import datetime
from typing import Annotated, Any

from ninja import Schema
from pydantic import Field

from rubricweb.api.schemas import Input, Named, Naming


class SystemVersion(Schema):
    id: int
    name: Annotated[str, Field(description="As items name it.", examples=["assistant@v4"])]
    label: str
    items: Annotated[int, Field(description="Its answers in all datasets.")]

    @staticmethod
    def resolve_name(row: Any) -> str:
        return str(row)

    @staticmethod
    def resolve_items(row: Any) -> int:
        return int(row.item_count)


class System(Schema):
    """What is evaluated: an assistant, a model. Versions are in the order in which they came."""

    id: int
    name: str
    archived_at: datetime | None
    versions: list[SystemVersion]

    @staticmethod
    def resolve_versions(row: Any) -> list[Any]:
        return list(row.listed)


class Renamed(Named):
    """What it is called now."""


class ChangedSystem(Renamed):
    archived_at: datetime | None


class SystemChanges(Naming):
    name: Annotated[str | None, Field(max_length=100, description="Without @ and /.")] = None


class SystemVersionLabel(Input):
    label: Annotated[str, Field(max_length=100, examples=["v5"])]
