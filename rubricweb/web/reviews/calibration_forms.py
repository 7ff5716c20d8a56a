"""What editors send from the page of a queue's gold items."""

from django import forms

from rubricweb.models import Item, ReviewQueue, User
from rubricweb.selectors.teams.lookup import key_is_shown
from rubricweb.services.reviews.calibration import GOLD_WINDOW, GOLD_WINDOW_MAX
from rubricweb.web.shared.refused_forms import RefusableForm

SHORT = {"class": "input--short"}


class _Percent(forms.FloatField):
    """A share that people write in percent; empty is None."""

    def __init__(self, **kwargs: object) -> None:
        widget = forms.NumberInput(attrs={**SHORT, "step": "any"})
        super().__init__(min_value=0, max_value=100, required=False, widget=widget, **kwargs)  # type: ignore[arg-type]  # passed on

    def clean(self, value: object) -> float | None:
        percent = super().clean(value)
        return None if percent is None else percent / 100

    def prepare_value(self, value: object) -> object:
        return f"{value * 100:.12g}" if isinstance(value, float) else value


class MarkGoldForm(RefusableForm):
    """Items to be gold: so many at random, or those with these keys."""

    places = {"item_ids": "keys"}

    at_random = forms.IntegerField(
        min_value=1,
        required=False,
        label="Number drawn at random",
        widget=forms.NumberInput(attrs=SHORT),
        help_text="Drawn from the items whose labels are known for every criterion.",
    )
    keys = forms.CharField(
        required=False,
        label="Or these",
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="Keys of items, one per line.",
    )

    def __init__(self, *args: object, queue: ReviewQueue, viewer: User, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        self.queue, self.viewer = queue, viewer

    def clean_keys(self) -> list[int]:
        """The ids of the items named."""
        keys = [line.strip() for line in self.cleaned_data["keys"].splitlines() if line.strip()]
        asked = Item.objects.filter(queue_items__queue=self.queue, key__in=keys)
        rows = asked.filter(key_is_shown(self.viewer, self.queue.team))
        found = dict(rows.values_list("key", "pk"))
        unknown = [key for key in keys if key not in found]
        if unknown:
            raise forms.ValidationError(f"Not in {self.queue}: {', '.join(unknown[:5])}.")
        return [found[key] for key in keys]


class CalibrationRulesForm(RefusableForm):
    """How raters are calibrated, and when an item gets one more."""

    only_changes = True

    calibration_items = forms.IntegerField(
        min_value=0,
        label="Gold items that come first",
        widget=forms.NumberInput(attrs=SHORT),
        help_text="The calibration round, the same for everybody; 0 for none. Other gold items come between.",
    )
    pass_mark = _Percent(
        label="Pass mark in percent",
        help_text="Share of labels in the round that must be right to continue. Empty: no pass mark.",
    )
    gold_floor = _Percent(
        label="Pause a rater when gold labels right are below (%)",
        help_text="Over their last gold items; they are handed nothing more until somebody lets them go on. "
        "Empty: never.",
    )
    gold_window = forms.IntegerField(
        min_value=1,
        max_value=GOLD_WINDOW_MAX,
        required=False,
        label="Over so many of their last gold items",
        widget=forms.NumberInput(attrs=SHORT),
    )
    extra_rater_below = _Percent(
        label="Add a rater when agreement is below (%)",
        help_text="An item whose reviewers agree on a smaller share of its criteria gets one more, once. "
        "Who is asked may guess that the others differed. Empty: never.",
    )

    def clean_gold_window(self) -> int:
        return self.cleaned_data["gold_window"] or GOLD_WINDOW
