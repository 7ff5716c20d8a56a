"""Queues named in a query string."""

from django.http import QueryDict

from rubricweb.errors import Invalid
from rubricweb.web.http import whole_number

QUEUES_MAX = 100


def queue_ids(query: QueryDict) -> tuple[int, ...]:
    """The queues named, each once. Raises Invalid for what is no number, and for more than a hundred."""
    queues = query.getlist("queue")
    if len(queues) > QUEUES_MAX:
        raise Invalid(f"Name at most {QUEUES_MAX} queues at once, not {len(queues)}.")
    numbers = (whole_number(text, "The queue") for text in queues)
    return tuple(dict.fromkeys(number for number in numbers if number is not None))
