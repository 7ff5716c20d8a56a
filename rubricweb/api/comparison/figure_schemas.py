"""Figures of agreement in answers: all by their names in the docs, the oldest by names of their own too."""

from types import new_class
from typing import Annotated, Any

from ninja import Schema
from pydantic import Field

from rubricweb.api.schemas import Figure
from rubricweb.engine.agreement import PAIR_FIGURES, PairFigure
from rubricweb.engine.agreement.figure_rows import Scale

FiguresByName = Annotated[
    dict[str, Figure],
    Field(description="By the names that the docs of agreement have; a figure that is new is added here."),
]


def named_figures(*scales: Scale) -> type[Schema]:
    """A base for what shows a `PairAgreement`: a field for each row that has one on any of these scales, null
    where the row does not apply.
    """
    rows = [row for row in PAIR_FIGURES if row.field and row.applies_to.intersection(scales)]
    fields: dict[str, Any] = {
        row.field: Figure if row.applies_to.issuperset(scales) else Figure | None for row in rows
    }
    resolvers = {f"resolve_{row.field}": staticmethod(_figure_of(row)) for row in rows}
    about = {"__annotations__": fields, "__module__": __name__, **resolvers}
    made: type[Schema] = new_class(
        f"FiguresOf{'And'.join(scales)}", (Schema,), {}, lambda body: body.update(about)
    )
    return made


def _figure_of(row: PairFigure) -> Any:
    return lambda pair: pair.figures.get(row.name)
