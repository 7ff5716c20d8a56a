"""Which option a judge's reply chose."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rubricweb.engine.autograders.material import neutralised
from rubricweb.engine.errors import UnreadableReply, shortened

_ESCAPED = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_ESCAPE = re.compile(r"\\([bfnrt])")


def chosen_option(reply: str, shown: Sequence[str]) -> str:
    """The label among those ``shown``, in the order they were numbered, that a reply named.

    A label counts after strip and casefold, also in the spelling the prompt gave it, or with a backslash that
    the judge's JSON did not escape. Else the number it was shown under, from 1, unless labels carry other
    numbers of their own: of "Level 3" shown as number 1 and "Level 1" as number 3, nobody knows which one "1"
    means. Raises UnreadableReply for anything else.
    """
    wanted = reply.strip().casefold()
    for spelled in (_spelled, neutralised, _unescaped):
        matches = [label for label in shown if spelled(label).strip().casefold() == wanted]
        if len(matches) == 1:
            return matches[0]
    if wanted not in map(str, range(1, len(shown) + 1)):
        raise UnreadableReply(f"no option is called {shortened(reply, 120)!r}; allowed: {', '.join(shown)}")
    for number, label in enumerate(shown, start=1):
        own = re.search(r"\d+", label)
        if own is not None and own.group() != str(number):
            raise UnreadableReply(
                f"{wanted!r} may be a number of the list or of a label; allowed: {', '.join(shown)}"
            )
    return shown[int(wanted) - 1]


def _spelled(label: str) -> str:
    return label


def _unescaped(label: str) -> str:
    """``\\frac`` as a form feed and ``rac``: what JSON makes of a backslash that a judge did not escape."""
    return _ESCAPE.sub(lambda escape: _ESCAPED[escape.group(1)], label)
