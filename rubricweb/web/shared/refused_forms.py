"""Forms of which a service may refuse what they were sent with."""

from collections.abc import Callable
from typing import Any

from django import forms

from rubricweb.errors import Conflict, Forbidden, Invalid, Withheld

Refused = Conflict | Forbidden | Invalid | Withheld


class RefusableForm(forms.Form):
    """A form that shows a refusal beside the field its faults name; `places` are other names of fields.

    With `only_changes` it sends along what its page showed: see `changes`.
    """

    places: dict[str, str] = {}
    only_changes = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for field in self.fields.values() if self.only_changes else ():
            field.show_hidden_initial = True

    @property
    def changes(self) -> dict[str, Any]:
        """What differs from what the page showed: what others changed since it was opened stays theirs."""
        return {name: self.cleaned_data[name] for name in self.changed_data}

    def refuse(self, error: Refused) -> None:
        """Shows a refusal beside the field its faults name, a taken name beside the name, else on top."""
        faults = error.faults if isinstance(error, Invalid) else ()
        place = faults[0].place if faults else ("name" if isinstance(error, Conflict) else "")
        place = place.partition("[")[0]
        place = self.places.get(place, place)
        self.add_error(place if place in self.fields else None, str(error))

    def carried_out(self, change: Callable[[], str]) -> str:
        """What `change` says it did; "" where the form is not valid or is refused, and then says why."""
        if self.is_valid():
            try:
                return change()
            except (Conflict, Forbidden, Invalid, Withheld) as error:
                self.refuse(error)
        return ""
