"""Every way the app says no; web, API and command line each translate these once.

Refusal
├── NotFound     the thing does not exist, or this person may not know that it does
├── Forbidden    a member asks for more than their role allows
├── Invalid      the request is understood and wrong; carries every fault, with its place
├── Conflict     it was right once, but the row has moved on
├── Withheld     a blind reviewer asks for verdicts before submitting their own
├── TooLarge     more bytes than the operator allows
└── Busy         it can be done, but not while so much else is being done
"""

from __future__ import annotations

from collections.abc import Iterable

from rubricweb.engine.errors import Fault


class Refusal(Exception):
    """Something the asker can understand and answer; never a bug of ours.

    `title` is a short noun phrase for headings, `str(error)` the sentence for people.
    """

    title = "Refused"


class NotFound(Refusal):
    title = "Not found"

    def __init__(self, what: str = "page") -> None:
        super().__init__(f"There is no such {what}, or it is not yours to see.")


class Forbidden(Refusal):
    title = "Not allowed"


class Invalid(Refusal):
    """`faults` lists each fault with its place; there are none where the sentence alone says it."""

    title = "Not valid"

    def __init__(self, message: str, faults: Iterable[Fault] = ()) -> None:
        super().__init__(message)
        self.faults = tuple(faults)

    @classmethod
    def at(cls, place: str, found: str, allowed: str) -> Invalid:
        """A refusal of one thing: where it stands, what was found there, what is allowed."""
        fault = Fault(place, found, allowed)
        return cls(str(fault), [fault])

    @classmethod
    def about(cls, place: str, message: str, *, found: str = "this value") -> Invalid:
        """The same in a sentence of its own, for a form to show beside the field of that name."""
        return cls(message, [Fault(place, found, message)])


class Conflict(Refusal):
    """`faults` lists what is in conflict with what is stored, where that can be told."""

    title = "Out of date"

    def __init__(self, message: str, *, title: str = "", faults: Iterable[Fault] = ()) -> None:
        super().__init__(message)
        self.title = title or self.title
        self.faults = tuple(faults)


class Withheld(Refusal):
    title = "Hidden until you finish your reviews"


class TooLarge(Refusal):
    title = "Too large"


class Busy(Refusal):
    """`retry_after_seconds` says when it is worth another try."""

    title = "Busy"
    retry_after_seconds = 30
