"""Names that are unique in their team, saved while somebody else may be taking them."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count

from django.db import IntegrityError, transaction

from rubricweb.errors import Conflict


def numbered(name: str) -> Iterator[str]:
    """name, name (2), name (3), …"""
    yield name[:200]
    for number in count(2):
        yield f"{name[:190]} ({number})"


@contextmanager
def saved_unless_taken(taken: str) -> Iterator[None]:
    """A block that saves a row under a name that was free a moment ago.

    Raises Conflict, in the words of `taken`, where somebody has taken it since. The transaction around it
    goes on.
    """
    try:
        with transaction.atomic():
            yield
    except IntegrityError as error:
        raise Conflict(taken) from error
