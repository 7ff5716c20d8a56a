"""What people send from the pages of the runs room."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from django import forms
from django.http import QueryDict
from django.utils.html import format_html

from rubricweb.engine.autograders import AUTOGRADERS
from rubricweb.errors import Conflict, Invalid
from rubricweb.judges.base import JudgeConfig
from rubricweb.models import Team
from rubricweb.selectors import run_plans
from rubricweb.selectors.runs import ERROR_KINDS
from rubricweb.services import endpoints, few_shot
from rubricweb.services import runs as services
from rubricweb.services.reviews import require_rubric
from rubricweb.templatetags.display import usd
from rubricweb.templatetags.run_words import autograder_line, autograder_title
from rubricweb.web.forms_run_votes import DatasetChoice, VotingFields

PLANNED_BY = (
    "dataset",
    "rubric_version",
    "autograder",
    "judge",
    "reply_format",
    "name",
    "repeats",
    "further",
    "cascade",
)


class NewRun(VotingFields):
    """A new run; what the service would refuse is shown beside the field it is about."""

    dataset = DatasetChoice(queryset=None, empty_label="Choose…")
    rubric_version = forms.ModelChoiceField(
        queryset=None,
        required=False,
        label="Rubric",
        empty_label="Each item’s own rubric",
        help_text="An item that brings a rubric along is always graded by its own.",
    )
    judge = forms.ChoiceField(widget=forms.RadioSelect)
    autograder = forms.ChoiceField(
        widget=forms.RadioSelect, initial="per_criterion", label="How the judge is asked"
    )
    reply_format = forms.ChoiceField(
        choices=[("json", "JSON with a reason"), ("yes_no", "Prose with a yes or no")],
        initial="json",
        label="How the judge answers",
        help_text="Prose is for models that cannot keep to JSON; it works criterion by criterion only.",
    )
    name = forms.CharField(max_length=200, required=False, help_text="What sets this run apart from others.")

    def __init__(self, *args: Any, team: Team, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choices = run_plans.run_choices(team)
        self.judges = endpoints.judges_of(team)
        self.fields["dataset"].queryset = choices.datasets
        self.fields["rubric_version"].queryset = choices.versions
        self.fields["autograder"].choices = [
            (name, _option(autograder_title(name), autograder_line(name))) for name in AUTOGRADERS
        ]
        self.fields["judge"].choices = [
            (judge_id, _option(config.name, _about(judge_id, config)))
            for judge_id, config in self.judges.items()
        ]
        self.fields["judge"].initial = next(iter(self.judges), None)
        self.fields["judge"].required = bool(self.judges)
        self.fields["further"].choices = [(judge_id, config.name) for judge_id, config in self.judges.items()]
        self.fields["examples_from"].queryset = choices.datasets.exclude(sealed_as=few_shot.TEST)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if {"autograder", "reply_format"} <= cleaned.keys():
            self._refused_by(
                "reply_format", services.grader, cleaned["autograder"], cleaned["reply_format"], True
            )
        if {"dataset", "rubric_version"} <= cleaned.keys():
            self._refused_by("rubric_version", require_rubric, cleaned["dataset"], cleaned["rubric_version"])
        self._weights(cleaned)
        return cleaned

    @property
    def main_fields(self) -> list[forms.BoundField]:
        folded = {*self.VOTING, *self.EXAMPLES}
        return [field for field in self if field.name not in folded]

    def refuse(self, error: Invalid | Conflict) -> None:
        place = error.faults[0].place if isinstance(error, Invalid) and error.faults else ""
        self.add_error(_field_of(place, self.fields), str(error))

    def plan(self) -> run_plans.Plan | None:
        """What the run would take, from the fields filled in so far; None without a dataset."""
        filled = {
            name: self.fields[name].clean(self[name].value())
            for name in ("dataset", "rubric_version", "autograder")
            if self._is_fine(name)
        }
        if filled.get("dataset") is None or "autograder" not in filled or "rubric_version" not in filled:
            return None
        return run_plans.plan(
            filled["dataset"], filled["rubric_version"], filled["autograder"], votes=self._votes()
        )

    def chosen_judge(self) -> JudgeConfig | None:
        return self.judges.get(str(self["judge"].value()))

    def _refused_by(self, field: str, rule: Any, *values: Any) -> None:
        try:
            rule(*values)
        except Invalid as error:
            self.add_error(field, str(error))


def _field_of(place: str, fields: Mapping[str, Any]) -> str | None:
    """The field a fault of the service is about; None for the whole form."""
    if place in fields:
        return place
    by_start = {
        "few_shot.n": "n_examples",
        "few_shot.seed": "examples_seed",
        "few_shot": "examples_from",
        "panel.repeats": "repeats",
        "panel.escalate_on": "escalate_on",
        "panel.members": "further",
    }
    return next((name for start, name in by_start.items() if place.startswith(start)), None)


def _option(title: str, line: str) -> str:
    return format_html('<span>{}<span class="check__help">{}</span></span>', title, line)


def _about(judge_id: str, config: JudgeConfig) -> str:
    if judge_id == endpoints.OFFLINE:
        return "Compares words, understands nothing; free. For trying things out, not for deciding."
    prices = (config.input_usd_per_million, config.output_usd_per_million)
    price = (
        "price unknown" if None in prices else f"{usd(prices[0])} in, {usd(prices[1])} out per million tokens"
    )
    return f"{config.model} at {urlsplit(config.base_url).hostname} · {price}"


def read_retry(data: QueryDict) -> tuple[str, ...] | None:
    """Which failed verdicts to ask for again: kind=… one kind, only=pending none, else all (None)."""
    if data.get("only") == "pending":
        return ()
    kind = data.get("kind", "")
    if not kind:
        return None
    if kind not in ERROR_KINDS:
        raise Invalid(f"{kind[:60]!r} is not a kind of error. Known: {', '.join(ERROR_KINDS)}.")
    return (kind,)
