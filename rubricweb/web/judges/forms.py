"""What owners send from the pages about models, prices, budget and retention."""

from collections.abc import Mapping
from typing import Any

from django import forms

from rubricweb.engine.judging.sampling import SAMPLING_OPTIONS, Sampling, SamplingOption
from rubricweb.errors import Conflict, Invalid
from rubricweb.judges.base import JudgeConfig
from rubricweb.models import JudgeEndpoint
from rubricweb.services.endpoints import endpoints
from rubricweb.services.endpoints.options import MAX_CONCURRENCY, MAX_KEY, options_of
from rubricweb.services.judges.definitions import NAME_MAX
from rubricweb.services.teams.retention import MAX_DAYS
from rubricweb.web.judges.words import ways
from rubricweb.web.shared.choices import offer

MASK = "••••••••"
"""Stands for a stored value of a header: sent back unchanged, it keeps that value."""

_USD = "US$ per million tokens"
_MODEL_ATTRS = {"class": "input--mono", "list": "listed-models"}


class _Refusable(forms.Form):
    """A form that shows a service's refusal at its fields."""

    def refuse(self, error: Invalid | Conflict) -> None:
        """Shows every fault beside its field, a taken name beside the name, anything else on top."""
        faults = error.faults if isinstance(error, Invalid) else ()
        for fault in faults:
            place = fault.place if fault.place in self.fields else None
            self.add_error(place, f"Found {fault.found}; allowed: {fault.allowed}.")
        if not faults:
            self.add_error(
                "name" if isinstance(error, Conflict) and "name" in self.fields else None, str(error)
            )


class JudgeForm(_Refusable):
    """An OpenAI-compatible endpoint, new or being changed.

    The key and the values of headers are written once: no page ever shows them again, not even the form that
    was refused with them.
    """

    name = forms.CharField(max_length=80)
    base_url = forms.CharField(
        max_length=500,
        label="Base URL",
        widget=forms.URLInput(attrs={"placeholder": "https://api.example.com/v1", "class": "input--mono"}),
        help_text="Everything before /chat/completions.",
    )
    model = forms.CharField(
        max_length=200,
        widget=forms.TextInput(attrs=_MODEL_ATTRS),
        help_text="As the endpoint names it.",
    )
    api_key = forms.CharField(
        max_length=MAX_KEY,
        required=False,
        label="API key",
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
        help_text="Stored encrypted, used for calls only. It is never shown again.",
    )
    forget_key = forms.BooleanField(required=False, label="Forget the stored key")

    fallback_model = forms.CharField(
        max_length=200,
        required=False,
        widget=forms.TextInput(attrs=_MODEL_ATTRS),
        help_text="Asked at the same address when the model has failed for good. Its calls say so.",
    )
    cache_marks = forms.BooleanField(
        required=False,
        label="Mark what the provider may cache",
        help_text="For Anthropic’s models behind a gateway, which cache only what is marked.",
    )

    max_concurrency = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=MAX_CONCURRENCY,
        label="Calls at once",
    )
    requests_per_minute = forms.IntegerField(required=False, min_value=1)
    tokens_per_minute = forms.IntegerField(required=False, min_value=1)
    batches = forms.BooleanField(
        required=False,
        label="Takes batches",
        help_text="The provider answers files of questions within a day, for less.",
    )

    input_usd_per_million = forms.FloatField(
        required=False, min_value=0, max_value=999_999, label="Input", help_text=_USD
    )
    cached_input_usd_per_million = forms.FloatField(
        required=False, min_value=0, max_value=999_999, label="Cached input", help_text=_USD
    )
    output_usd_per_million = forms.FloatField(
        required=False, min_value=0, max_value=999_999, label="Output", help_text=_USD
    )

    extra_headers = forms.CharField(
        required=False,
        max_length=100_000,
        label="Headers",
        widget=forms.Textarea(
            attrs={"rows": 3, "class": "input--mono", "placeholder": "X-Team: blue", "autocomplete": "off"}
        ),
        help_text="One per line, sent with every call. Stored encrypted; their values are never shown again.",
    )

    SAMPLING = (*Sampling.model_fields, "fallback_model")
    LIMITS = ("max_concurrency", "requests_per_minute", "tokens_per_minute", "batches", "cache_marks")
    PRICES = ("input_usd_per_million", "cached_input_usd_per_million", "output_usd_per_million")

    def __init__(self, *args: Any, endpoint: JudgeEndpoint | None = None, **kwargs: Any) -> None:
        self.endpoint = endpoint
        known: dict[str, Any] = {option.name: plain(option.default) for option in SAMPLING_OPTIONS}
        self._headers: tuple[str, ...] = ()
        if endpoint is not None:
            self._headers = endpoints.header_names(endpoint) or ()
            known = {name: getattr(endpoint, name) for name in endpoints.NAMED}
            known |= {name: plain(value) for name, value in options_of(endpoint).items()}
            known["extra_headers"] = _masked(self._headers)
        super().__init__(*args, **kwargs | {"initial": known | kwargs.get("initial", {})})
        self.fields |= {option.name: sampling_field(option) for option in SAMPLING_OPTIONS}
        if endpoint is None or not endpoint.sealed_key:
            del self.fields["forget_key"]
        elif endpoint is not None:
            self.fields["api_key"].help_text = "One is stored. Leave this empty to keep it."
        if endpoint is not None and self._headers:
            self.fields[
                "extra_headers"
            ].help_text = f"One per line. {MASK} keeps the stored value; a line you delete is forgotten."
        if self.is_bound and self.data.get("api_key"):
            self.fields["api_key"].help_text = "Enter the key again: it is not sent back to the page."

    def clean_extra_headers(self) -> dict[str, str | None]:
        """Header names and values; None keeps what is stored. What was typed is quoted nowhere."""
        headers: dict[str, str | None] = {}
        stored = {name.lower() for name in self._headers}
        for number, line in enumerate(self.cleaned_data["extra_headers"].splitlines(), start=1):
            if not line.strip():
                continue
            name, colon, value = (part.strip() for part in line.partition(":"))
            if not colon:
                raise forms.ValidationError(f"Line {number} has no colon; allowed: Name: value.")
            if name.lower() in {known.lower() for known in headers}:
                raise forms.ValidationError(f"Line {number} names a header again; allowed: each name once.")
            if value == MASK and name.lower() not in stored:
                raise forms.ValidationError(
                    f"Line {number}: enter the value, it was not sent back to the page."
                )
            headers[name] = None if value == MASK else value
        return headers

    @property
    def said(self) -> dict[str, Any]:
        """A valid form as `add_endpoint` and `edit_endpoint` take it."""
        sent = dict(self.cleaned_data)
        forget = sent.pop("forget_key", False)
        headers: Mapping[str, str | None] = sent["extra_headers"]
        if self.endpoint is not None:
            sent["api_key"] = sent["api_key"] or ("" if forget else None)
            untouched = list(headers) == list(self._headers) and not any(headers.values())
            if untouched and endpoints.header_names(self.endpoint) is not None:
                sent["extra_headers"] = None
        return sent

    def without_secrets(self) -> "JudgeForm":
        """The form as it may go back to the page: values of headers masked."""
        lines = self.data.get("extra_headers", "").splitlines()
        names = [line.partition(":")[0].strip() for line in lines if ":" in line]
        sent: Any = self.data
        sent = sent.copy()
        sent["extra_headers"] = _masked(names)
        self.data = sent
        return self

    @property
    def sampling(self) -> list[forms.BoundField]:
        return [self[name] for name in self.SAMPLING]

    @property
    def limits(self) -> list[forms.BoundField]:
        return [self[name] for name in self.LIMITS]

    @property
    def prices(self) -> list[forms.BoundField]:
        return [self[name] for name in self.PRICES]

    @property
    def opened(self) -> frozenset[str]:
        """Folded parts that hold something to see: a fault, or a value that is not the usual one."""
        parts = {"sampling": self.SAMPLING, "limits": self.LIMITS, "prices": self.PRICES}
        return frozenset(
            part
            for part, names in {**parts, "headers": ("extra_headers",)}.items()
            if any(self[name].errors or self[name].value() not in (None, "", False, 0, "0") for name in names)
        )


class JudgeWordsForm(_Refusable):
    """What a judge is called, and what is noted of it."""

    name = forms.CharField(max_length=NAME_MAX)
    slug = forms.CharField(
        max_length=NAME_MAX,
        widget=forms.TextInput(attrs={"class": "input--mono"}),
        help_text="Files, the API and the terminal name it slug@v3; those with the old slug find it no more.",
    )
    note = forms.CharField(required=False, widget=forms.Textarea(attrs={"rows": 3}))

    def refuse(self, error: Invalid | Conflict) -> None:
        """A slug that is taken is said at the slug."""
        if isinstance(error, Conflict) and "slug" in str(error):
            self.add_error("slug", str(error))
        else:
            super().refuse(error)


class NewJudge(forms.Form):
    """What a new judge begins with."""

    name = forms.CharField(max_length=NAME_MAX, help_text="What the team calls it: Support judge.")
    model = forms.ChoiceField()
    way = forms.ChoiceField(label="Way of asking", choices=ways)

    def __init__(self, *args: Any, judges: Mapping[str, JudgeConfig], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        offer(self, "model", [(name, f"{one.name} ({one.model})") for name, one in judges.items()])


class PriceForm(_Refusable):
    """What one model costs this team."""

    model = forms.CharField(
        max_length=200,
        widget=forms.TextInput(attrs={"class": "input--mono"}),
        help_text="Exactly as endpoints name it.",
    )
    input_usd_per_million = forms.FloatField(min_value=0, max_value=999_999, label="Input", help_text=_USD)
    cached_input_usd_per_million = forms.FloatField(
        required=False,
        min_value=0,
        max_value=999_999,
        label="Cached input",
        help_text=f"{_USD}; the input price if empty",
    )
    output_usd_per_million = forms.FloatField(min_value=0, max_value=999_999, label="Output", help_text=_USD)


class BudgetForm(_Refusable):
    monthly_budget_usd = forms.FloatField(
        required=False,
        min_value=0,
        label="US$ per calendar month",
        help_text="All runs together, months in UTC. Empty is no cap.",
    )


class RetentionForm(_Refusable):
    keep_calls_days = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=MAX_DAYS,
        label="Keep for (days)",
        help_text="Empty keeps them for ever.",
    )


def sampling_field(option: SamplingOption) -> forms.Field:
    """It reads what was typed and refuses no range: the service does, in the words of the option."""
    said: dict[str, Any] = {
        "required": False,
        "label": option.says.title,
        "help_text": option.sentences("nothing"),
    }
    if option.kind is bool:
        return forms.BooleanField(**said)
    if option.kind is str:
        return forms.CharField(**said)
    ends = {"min": option.least, "max": option.most}
    attrs = {name: end for name, end in ends.items() if end is not None}
    number = forms.FloatField if option.kind is float else forms.IntegerField
    return number(widget=forms.NumberInput(attrs=attrs), **said)


def plain(value: Any) -> Any:
    """A whole number without a decimal point, as people write it."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _masked(names: Any) -> str:
    return "\n".join(f"{name}: {MASK}" for name in names)
