"""How labels that were carried to other options are followed back to the words they were given to."""

from collections.abc import Iterator, Mapping
from typing import Protocol, TypeVar


class Carried(Protocol):
    """A meaning: labels of the one with the id `source_id` count for it through `option_map`."""

    @property
    def source_id(self) -> int | None: ...
    @property
    def option_map(self) -> Mapping[str, str | None] | None: ...


AnyMeaning = TypeVar("AnyMeaning", bound=Carried)


def flows(
    meaning: AnyMeaning, meanings: Mapping[int, AnyMeaning]
) -> Iterator[tuple[AnyMeaning, Mapping[str, str] | None]]:
    """The meanings whose labels count for one, itself first, with what each label counts as there: None for
    as itself. A label that is carried to nothing is left out.
    """
    options: Mapping[str, str] | None = None
    yield meaning, options
    # Maps only lead from older words to newer ones, so this comes to an end.
    while meaning.source_id is not None and meaning.source_id in meanings:
        step = {old: new for old, new in (meaning.option_map or {}).items() if new is not None}
        options = (
            step if options is None else {old: options[new] for old, new in step.items() if new in options}
        )
        meaning = meanings[meaning.source_id]
        yield meaning, options
