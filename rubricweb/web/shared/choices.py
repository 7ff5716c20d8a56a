"""Choices among rows, for forms: an id that no row can have is no choice, as one that no row has."""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from django import forms
from django.core.exceptions import ValidationError
from django.db import models
from django.http import QueryDict

from rubricweb.errors import Invalid
from rubricweb.web.http import whole_number

T = TypeVar("T", bound=models.Model)

LARGEST_ID = 2**63 - 1
"""The largest number that databases keep as an id; in a list of ids they refuse larger ones with an error."""


class RowChoices(forms.ModelMultipleChoiceField):  # type: ignore[type-arg]  # generic in its stubs alone
    """Several rows, by id."""

    def _check_values(self, value: Any) -> Any:
        for one in value:
            if not str(one).isascii() or not str(one).isdigit() or int(str(one)[:20]) > LARGEST_ID:
                raise ValidationError(
                    self.error_messages["invalid_choice"], code="invalid_choice", params={"value": one}
                )
        return super()._check_values(value)  # type: ignore[misc]  # Django's, not in its stubs


def offer_rows(
    form: forms.BaseForm, name: str, rows: models.QuerySet[T], label: Callable[[T], str] | None = None
) -> None:
    """Let a field choose among `rows`, each called by `label` or as it is written."""
    field = form.fields[name]
    assert isinstance(field, forms.ModelChoiceField)
    field.queryset = rows
    if label is not None:
        field.label_from_instance = label  # type: ignore[method-assign,assignment]  # Django's way without a class


def offer(form: forms.BaseForm, name: str, choices: Iterable[tuple[str, Any]]) -> None:
    """Let a field choose among (value, words)."""
    field = form.fields[name]
    assert isinstance(field, forms.ChoiceField)
    field.choices = list(choices)


QUEUES_MAX = 100


def queue_ids(query: QueryDict) -> tuple[int, ...]:
    """The queues named, each once. Raises Invalid for what is no number, and for more than a hundred."""
    queues = query.getlist("queue")
    if len(queues) > QUEUES_MAX:
        raise Invalid(f"Name at most {QUEUES_MAX} queues at once, not {len(queues)}.")
    numbers = (whole_number(text, "The queue") for text in queues)
    return tuple(dict.fromkeys(number for number in numbers if number is not None))
