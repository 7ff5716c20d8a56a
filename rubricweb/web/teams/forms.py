"""What people send from the settings pages of a team."""

from django import forms

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
