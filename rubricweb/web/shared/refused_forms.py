"""Forms of which a service may refuse what they were sent with."""

from collections.abc import Callable

from django import forms

from rubricweb.errors import Conflict, Forbidden, Invalid

Refused = Conflict | Forbidden | Invalid


class RefusableForm(forms.Form):
    """A form that shows a refusal beside the field its faults name; `places` are other names of fields."""

    places: dict[str, str] = {}

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
            except (Conflict, Forbidden, Invalid) as error:
                self.refuse(error)
        return ""
