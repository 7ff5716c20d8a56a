"""Evidence: where in an item a person found what their verdict says."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rubricweb.engine.errors import Fault, shown
from rubricweb.errors import Invalid
from rubricweb.models import Item
from rubricweb.selectors.reviews.evidence import quotable_text

MOST = 20
"""So many places can be quoted for one criterion."""


@dataclass(frozen=True)
class Span:
    """The characters `start` to `end` (code points, without the end) of one place, and what stands there.

    `field` is a place as `selectors.reviews.evidence` names it.
    """

    field: str
    start: int
    end: int
    text: str


def checked_evidence(item: Item, spans: Sequence[Span]) -> list[dict[str, Any]] | None:
    """The spans as rows keep them, each once; None for none.

    Raises Invalid naming every place whose text is not what stands there: evidence that points elsewhere is
    worse than none. "Paris" in "In Paris" is submission 3 to 8.
    """
    if len(spans) > MOST:
        allowed = f"at most {MOST} places"
        fault = Fault("evidence", f"{len(spans)} places", allowed)
        raise Invalid(f"A criterion has {allowed} as evidence, not {len(spans)}.", [fault])
    faults = [fault for at, span in enumerate(spans) for fault in _faults(item, at, span)]
    if faults:
        raise Invalid("The evidence is not what stands in the item: " + str(faults[0]), faults)
    return [asdict(span) for span in dict.fromkeys(spans)] or None


def _faults(item: Item, at: int, span: Span) -> list[Fault]:
    place = f"evidence[{at}]"
    text = quotable_text(item, span.field)
    if text is None:
        return [
            Fault(f"{place}.field", shown(span.field), "a text of the item, such as submission or prompt[0]")
        ]
    if not 0 <= span.start < span.end <= len(text):
        allowed = f"0 ≤ start < end ≤ {len(text)}"
        return [Fault(f"{place}.start", f"{span.start} to {span.end}", allowed)]
    there = text[span.start : span.end]
    if there != span.text:
        return [Fault(f"{place}.text", shown(span.text), f"what stands there: {shown(there)}")]
    return []
