"""What people send from the settings pages of a team."""

from typing import Any

from django import forms

from rubricweb.errors import Conflict, Invalid
from rubricweb.judges.addresses import BlockedAddress
from rubricweb.models import Role
from rubricweb.services.teams import TOKEN_DAYS_MAX


class NewMember(forms.Form):
    who = forms.CharField(
        max_length=150,
        label="User name or e-mail",
        help_text="Somebody new gets an account; you get a sign-in link to hand to them.",
        widget=forms.TextInput(
            attrs={"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}
        ),
    )
    name = forms.CharField(max_length=120, required=False, label="Shown name")
    role = forms.TypedChoiceField(coerce=int, choices=Role.choices, initial=Role.ANNOTATOR)


class ChangedRole(forms.Form):
    role = forms.TypedChoiceField(coerce=int, choices=Role.choices)


class NewJudge(forms.Form):
    """An OpenAI-compatible endpoint. The key is written once: no page ever shows it again."""

    name = forms.CharField(max_length=80, help_text="What the team calls this judge.")
    base_url = forms.CharField(
        max_length=500,
        label="Base URL",
        widget=forms.URLInput(attrs={"placeholder": "https://api.example.com/v1", "class": "input--mono"}),
        help_text="Everything before /chat/completions.",
    )
    model = forms.CharField(max_length=200, widget=forms.TextInput(attrs={"class": "input--mono"}))
    api_key = forms.CharField(
        max_length=500,
        required=False,
        label="API key",
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
        help_text="Stored encrypted, used for calls only. It is never shown again.",
    )
    input_usd_per_million = forms.FloatField(
        required=False,
        min_value=0,
        max_value=999_999,
        label="Input price",
        help_text="US$ per million tokens",
    )
    output_usd_per_million = forms.FloatField(
        required=False,
        min_value=0,
        max_value=999_999,
        label="Output price",
        help_text="US$ per million tokens",
    )

    def refuse(self, error: Invalid | Conflict) -> None:
        """Shows a blocked address beside the address, a taken name beside the name."""
        if isinstance(error.__cause__, BlockedAddress):
            self.add_error("base_url", str(error))
        else:
            self.add_error("name" if isinstance(error, Conflict) else None, str(error))

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.is_bound and self.data.get("api_key"):
            self.fields["api_key"].help_text = "Enter the key again: it is not sent back to the page."


class NewToken(forms.Form):
    name = forms.CharField(max_length=80, help_text="What it is for, so that you know which one to revoke.")
    may_write = forms.TypedChoiceField(
        coerce=lambda text: text == "write",
        choices=[("read", "Read only"), ("write", "Read and write")],
        initial="read",
        label="May",
        widget=forms.RadioSelect,
    )
    days = forms.IntegerField(
        min_value=1,
        max_value=TOKEN_DAYS_MAX,
        initial=90,
        label="Valid for days",
        widget=forms.NumberInput(attrs={"class": "input--short"}),
    )
