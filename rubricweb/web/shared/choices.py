"""Choices among rows, for forms: an id that no row can have is no choice, as one that no row has."""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from django import forms
from django.core.exceptions import ValidationError
from django.db import models

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
