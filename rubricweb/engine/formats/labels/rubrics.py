"""The criteria a file of labels is read against, by the names and ids it may give them."""

from __future__ import annotations

from collections.abc import Mapping

from rubricweb.engine.formats.labels.headers import CriterionNames
from rubricweb.engine.rubric import Criterion, Rubric


class Criteria:
    """The criteria of one rubric by the names a file may give them."""

    def __init__(self, rubric: Rubric) -> None:
        self.by_name: dict[str, Criterion] = {
            str(name): criterion for name, criterion in zip(rubric.names, rubric.criteria, strict=True)
        }
        self._names = CriterionNames(self.by_name, [(one.id, name) for name, one in self.by_name.items()])

    def find(self, text: str) -> str | None:
        return self._names.find(text)


class Rubrics:
    """The criteria in force for an item: its own, else the shared ones; None when no rubric is known."""

    def __init__(self, shared: Rubric | None, own: Mapping[str, Rubric]) -> None:
        read = {id(rubric): Criteria(rubric) for rubric in own.values()}
        self._own = {item: read[id(rubric)] for item, rubric in own.items()}
        self._shared = None if shared is None else Criteria(shared)
        self.every = [*([self._shared] if self._shared else []), *read.values()]

    def of(self, item_id: str) -> Criteria | None:
        return self._own.get(item_id, self._shared)
