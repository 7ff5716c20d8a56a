"""What people send to change a review queue."""

from typing import Any

from django import forms

from rubricweb.models import ReviewQueue, User
from rubricweb.selectors.reviews import queues as selectors
from rubricweb.web.reviews.queue_forms import SHORT, SourceForm
from rubricweb.web.shared.choices import RowChoices, offer_rows
from rubricweb.web.shared.refused_forms import RefusableForm


class ExtendQueue(SourceForm):
    """More items for a queue."""


class QueueRaters(RefusableForm):
    """How many people have an item each; only ever more."""

    raters_per_item = forms.IntegerField(
        min_value=1, label="People per item", widget=forms.NumberInput(attrs=SHORT)
    )


class QueuePeople(RefusableForm):
    """Who is in a queue. Only what differs from what was shown changes: others may do so meanwhile."""

    places = {"add": "raters", "remove": "raters"}

    seen = forms.CharField(required=False, widget=forms.HiddenInput)  # ids of its people, "everyone" if it is
    everyone = forms.BooleanField(
        required=False,
        label="The whole team",
        help_text="Everybody who may review, also people who join later.",
    )
    raters = RowChoices(
        queryset=None,
        label="People",
        widget=forms.CheckboxSelectMultiple,
        required=False,
        help_text="People you remove keep their drafts to read; submitted reviews are kept.",
    )

    def __init__(self, *args: Any, queue: ReviewQueue, **kwargs: Any) -> None:
        now = [user.pk for user in User.objects.filter(raters__queues=queue)]
        seen = " ".join(map(str, [*now, *["everyone"] * queue.everyone]))
        initial = {"seen": seen, "everyone": queue.everyone, "raters": now}
        super().__init__(*args, **kwargs | {"initial": initial})
        self.people = (selectors.reviewers(queue.team) | User.objects.filter(pk__in=now)).distinct()
        offer_rows(self, "raters", self.people)

    @property
    def wanted(self) -> dict[str, Any]:
        """What `reassign_queue` is to be told: who comes and who goes."""
        seen = set(self.cleaned_data["seen"].split())
        chosen, everyone = self.cleaned_data["raters"], self.cleaned_data["everyone"]
        come = [user for user in chosen if str(user.pk) not in seen]
        go = [user for user in self.people if str(user.pk) in seen and user not in chosen and not everyone]
        return {"add": come, "remove": go, "everyone": None if everyone == ("everyone" in seen) else everyone}


class QueueTexts(RefusableForm):
    """What a queue is called, what it tells its people, how long it waits for them."""

    only_changes = True

    name = forms.CharField(max_length=200)
    hold_minutes = forms.IntegerField(
        min_value=1, label="Release after inactivity (minutes)", widget=forms.NumberInput(attrs=SHORT)
    )
    instructions = forms.CharField(
        required=False, widget=forms.Textarea(attrs={"rows": 4}), help_text="Markdown; opens with the key g."
    )
    grid = forms.BooleanField(
        required=False,
        label="Table",
        help_text="Reviewers may answer several of their items in one table, beside the page of each.",
    )
    history = forms.BooleanField(
        required=False,
        label="Labels of the past",
        help_text="What their reviewers differ on is not to be settled: it is left out of the inbox.",
    )

    def __init__(self, *args: Any, imported: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        del self.fields["grid" if imported else "history"]
