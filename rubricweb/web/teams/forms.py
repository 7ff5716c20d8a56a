"""What people send from the settings pages of a team."""

from typing import Any

from django import forms
from django.conf import settings

from rubricweb.models import Role
from rubricweb.services.sharing import links as sharing
from rubricweb.services.teams.teams import TOKEN_DAYS_MAX


class NewMember(forms.Form):
    who = forms.CharField(
        max_length=150,
        label="User name or e-mail",
        help_text="People join when they accept. Without an account, they create one then.",
        widget=forms.TextInput(
            attrs={"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}
        ),
    )
    name = forms.CharField(max_length=120, required=False, label="Shown name")
    role = forms.TypedChoiceField(coerce=int, choices=Role.choices, initial=Role.ANNOTATOR)
    hand_over = forms.BooleanField(
        required=False,
        label="Give me the link instead of mailing it",
        help_text="It is shown once. The address then counts as not proven.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not settings.SENDS_MAIL:
            del self.fields["hand_over"]


class FirstPassword(forms.Form):
    password = forms.CharField(
        label="Password",
        max_length=200,
        help_text="At least 12 characters. With it you come back without a link.",
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )


class NewAccount(FirstPassword):
    username = forms.CharField(
        max_length=150,
        label="User name",
        widget=forms.TextInput(
            attrs={"autocomplete": "username", "autocapitalize": "none", "spellcheck": "false"}
        ),
    )
    name = forms.CharField(
        max_length=120,
        required=False,
        label="Shown name",
        widget=forms.TextInput(attrs={"autocomplete": "name"}),
    )

    field_order = ("username", "name", "password")


class ChangedRole(forms.Form):
    role = forms.TypedChoiceField(coerce=int, choices=Role.choices)


class NewToken(forms.Form):
    name = forms.CharField(max_length=80, help_text="What it is for, so that you know which one to revoke.")
    may_write = forms.TypedChoiceField(
        coerce=lambda text: text == "write",
        choices=[("read", "Read only"), ("write", "Read and write")],
        initial="read",
        label="Access",
        widget=forms.RadioSelect,
    )
    days = forms.IntegerField(
        min_value=1,
        max_value=TOKEN_DAYS_MAX,
        initial=90,
        label="Valid for days",
        widget=forms.NumberInput(attrs={"class": "input--short"}),
    )


class NewSharedLink(forms.Form):
    title = forms.CharField(
        max_length=sharing.TITLE_MAX,
        help_text="The heading of the page, for people who do not know the team.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    days = forms.TypedChoiceField(
        coerce=int,
        choices=[(1, "1 day"), (7, "1 week"), (30, "30 days")],
        initial=7,
        label="Ends after",
        widget=forms.RadioSelect,
    )
