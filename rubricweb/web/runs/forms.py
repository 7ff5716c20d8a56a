"""What people send from the pages of the runs room."""

from collections.abc import Container, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from django import forms
from django.db.models import QuerySet
from django.http import QueryDict
from django.urls import reverse
from django.utils.html import format_html

from rubricweb.engine.autograders import AUTOGRADERS
from rubricweb.engine.scoring import ABSTENTION_POLICIES, ERROR_POLICIES
from rubricweb.errors import Conflict, Invalid, Refusal, Withheld
from rubricweb.judges.base import JudgeConfig
from rubricweb.models import Dataset, Item, RubricVersion, RunMode, SystemVersion, Team, User
from rubricweb.selectors.datasets.halves import of_half
from rubricweb.selectors.datasets.systems import blinded_answers
from rubricweb.selectors.rubrics.versions import published_versions
from rubricweb.selectors.runs.planning import plans
from rubricweb.selectors.runs.planning.forecasts import Forecast
from rubricweb.services.endpoints import endpoints
from rubricweb.services.judges.definitions import grader
from rubricweb.services.labels import require_rubric
from rubricweb.services.runs import few_shot
from rubricweb.services.runs.planning import plan_run
from rubricweb.services.runs.starting import RunOptions
from rubricweb.templatetags.run_words import autograder_line, autograder_title
from rubricweb.web.runs.judge_choice import (
    config_of,
    judge_choices,
    judge_line,
    offered_versions,
    votes_of,
    votes_once,
)
from rubricweb.web.runs.vote_forms import DatasetChoice, VotingFields
from rubricweb.web.shared.choices import offer, offer_rows
from rubricweb.web.shared.selections import Selection
from rubricweb.web.shared.systems import (
    SplitField,
    SystemsField,
    is_id,
    newest_of_each,
    offer_splits,
    offer_systems,
)

ABSTENTION_WORDS = {
    "skip": "left out of the score",
    "zero": "0",
    "partial": "half of the weight",
    "fail": "the worst there is",
}
ERROR_WORDS = {
    "exclude": "left out of the score, and said so",
    "zero": "0",
    "fail_item": "no score for the whole item",
}


class NewRun(VotingFields):
    """A new run; what the service would refuse is shown beside the field it is about.

    With a `selection` it grades those items alone: its dataset is the only one offered.
    """

    dataset = DatasetChoice(queryset=None, empty_label="Choose…")
    rubric_version: "forms.ModelChoiceField[RubricVersion]" = forms.ModelChoiceField(
        queryset=None,
        required=False,
        label="Rubric",
        empty_label="Each item’s own rubric",
        help_text="An item that brings a rubric along is always graded by its own.",
    )
    systems = SystemsField(
        label="System versions", help_text="One run starts for each; the budget is divided among them."
    )
    split = SplitField(
        help_text="Examples for the judge come from no test case, and from no case that is graded."
    )
    judge = forms.ChoiceField()
    autograder = forms.ChoiceField(initial="per_criterion", label="How the judge is asked")
    reply_format = forms.ChoiceField(
        choices=[("json", "JSON with a reason"), ("yes_no", "Prose with a yes or no")],
        initial="json",
        label="How the judge answers",
        help_text="Prose is for models that cannot keep to JSON; it works criterion by criterion only.",
    )
    name = forms.CharField(max_length=200, required=False)
    budget_usd = forms.FloatField(
        min_value=0,
        required=False,
        label="Budget in US dollars",
        widget=forms.NumberInput(attrs={"class": "input--short", "step": "any"}),
        help_text="The run pauses before exceeding this; you can raise it and continue.",
    )
    no_cap = forms.BooleanField(
        required=False,
        label="Run it without a cap",
        help_text="Needed for a judge with an unknown price: no budget can limit it.",
    )
    use_cache = forms.BooleanField(
        required=False,
        initial=True,
        label="Use earlier answers",
        help_text="Identical earlier questions of this team are not asked and paid for again.",
    )
    batch = forms.BooleanField(
        required=False,
        label="Send as provider batches",
        help_text="The provider answers within a day, for half the price.",
    )
    abstention = forms.ChoiceField(
        required=False,
        initial="skip",
        label="Cannot assess counts",
        choices=[(policy, ABSTENTION_WORDS[policy]) for policy in ABSTENTION_POLICIES],
    )
    on_error = forms.ChoiceField(
        required=False,
        initial="exclude",
        label="A failed question counts",
        choices=[(policy, ERROR_WORDS[policy]) for policy in ERROR_POLICIES],
    )
    normalize = forms.BooleanField(
        required=False,
        initial=True,
        label="Scores from 0 to 1",
        help_text="Otherwise the raw weighted sum.",
    )
    option_seed = forms.IntegerField(
        min_value=0,
        max_value=2**63 - 1,
        required=False,
        label="Seed of the order of options",
        help_text="Empty: the rubric’s own, the same in every run.",
    )
    # The page sends it along, so that a box that is not ticked can be told from one that was never shown.
    sent = forms.BooleanField(required=False, initial=True, widget=forms.HiddenInput)

    # What the page asks in the open; all else it folds away.
    LINES = ("dataset", "systems", "rubric_version", "judge", "autograder")
    COSTS = ("budget_usd", "no_cap", "use_cache", "batch")
    SCORING = ("abstention", "on_error", "normalize", "option_seed")

    def __init__(
        self, *args: Any, team: Team, viewer: User, selection: Selection | None = None, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.team, self.selection = team, selection
        choices = plans.run_choices(team)
        self.judges = endpoints.judges_of(team)
        if selection is not None:
            choices = replace(choices, datasets=choices.datasets.filter(pk=selection.dataset_id))
            self.initial["dataset"] = selection.dataset_id
            self.fields["dataset"].help_text = f"Only {selection} of it will be graded."
        offer_rows(self, "dataset", choices.datasets)
        offer_rows(self, "rubric_version", choices.versions)
        self.versions = self._offer_systems()
        offer_splits(self, team)
        _offer_asked(
            self, "autograder", [(name, autograder_title(name)) for name in AUTOGRADERS], AUTOGRADERS
        )
        self.judge_versions = offered_versions(team, str(_asked(self, "judge") or ""), viewer)
        offered = {**self.judges, **self.judge_versions}
        _offer_asked(self, "judge", judge_choices(self.judges, self.judge_versions), offered)
        # Before anything looks at what is chosen: from then on the field keeps its first value.
        self.fields["judge"].initial = next(iter(self.judges), None)
        chosen, way = str(self["judge"].value()), str(self["autograder"].value())
        self["judge"].help_text = judge_line(chosen, self.judges, self.judge_versions) or "Choose one."
        self["autograder"].help_text = autograder_line(way) if way in AUTOGRADERS else "Choose one."
        self.fields["judge"].required = bool(self.judges)
        if self.chosen_version is not None:
            self.fields["autograder"].required = self.fields["reply_format"].required = False
        further = {judge_id: config.name for judge_id, config in self.judges.items()}
        further |= {words: words for words, version in self.judge_versions.items() if votes_once(version)}
        offer(self, "further", further.items())
        offer_rows(self, "examples_from", choices.datasets.exclude(sealed_as=few_shot.TEST))

    def _offer_systems(self) -> dict[int, SystemVersion]:
        """The system versions of the chosen dataset where there are several, by id; else nobody is asked.

        The newest of each system is chosen at first, and where the dataset was changed under the choice.
        """
        by_id, answered = offer_systems(self, self.team)
        if answered < 2 or not by_id:
            del self.fields["systems"]
            return {}
        if isinstance(self.data, QueryDict) and not any(
            is_id(value) and int(value) in by_id for value in self.data.getlist("systems")
        ):
            self.data = self.data.copy()
            self.data.setlist("systems", [str(pk) for pk in newest_of_each(list(by_id.values()))])
        return by_id

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if self.chosen_version is None and {"autograder", "reply_format"} <= cleaned.keys():
            self._refused_by("reply_format", grader, cleaned["autograder"], cleaned["reply_format"], True)
        if {"dataset", "rubric_version"} <= cleaned.keys():
            self._refused_by("rubric_version", require_rubric, cleaned["dataset"], cleaned["rubric_version"])
        self._weights(cleaned)
        return cleaned

    @property
    def opens_more(self) -> bool:
        """Whether anything that is folded away was chosen or refused: then it stands open."""
        folded = [field for field in self if field.name not in (*self.LINES, "sent")]
        return any(field.errors or _was_chosen(field) for field in folded)

    @property
    def cost_fields(self) -> list[forms.BoundField]:
        """The budget and what saves money; what cannot matter here is left out."""
        shown = {"budget_usd", "use_cache"}
        if any(config.cost_usd(0, 0) is None for config in self.judges.values()) or self["no_cap"].errors:
            shown.add("no_cap")
        if self.takes_batches or self["batch"].errors:
            shown.add("batch")
        return [self[name] for name in self.COSTS if name in shown]

    @property
    def lines_explained(self) -> list[forms.BoundField]:
        """What a change of the form explains anew: the help of the chosen."""
        names = ("rubric_version", "judge", "autograder") if self.judges else ("rubric_version", "autograder")
        return [self[name] for name in names]

    @property
    def scoring_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in self.SCORING]

    @property
    def takes_batches(self) -> bool:
        return any(endpoint.batches for endpoint in endpoints.endpoints_of(self.team))

    def refuse(self, error: Invalid | Conflict | Withheld) -> None:
        self.add_error(*self._field_and_message(error))

    def options(self) -> RunOptions:
        """What a valid form asks `start_run` for, its budget apart."""
        chosen, version = self.cleaned_data, self.chosen_version
        panel = self.panel()
        return RunOptions(
            judge_id="" if panel else chosen["judge"],
            panel=panel,
            few_shot_from=self.examples(),
            autograder="" if version else chosen["autograder"],
            reply_format="" if version else chosen["reply_format"],
            normalize=chosen["normalize"] or not chosen["sent"],
            abstention=chosen["abstention"] or "skip",
            on_error=chosen["on_error"] or "exclude",
            option_seed=chosen["option_seed"],
            use_cache=chosen["use_cache"] or not chosen["sent"],
            mode=RunMode.BATCH if chosen["batch"] else RunMode.LIVE,
            name=chosen["name"],
            item_ids=self.selection.item_ids if self.selection else None,
            systems=[self.versions[pk] for pk in chosen.get("systems", ())],
            half=chosen.get("split", ""),
        )

    def plan(self, viewer: User) -> plans.Plan | None:
        """What the run would ask, from the fields filled in so far; None without a dataset."""
        filled = {
            name: self.fields[name].clean(self[name].value())
            for name in ("dataset", "rubric_version", "autograder")
            if self._is_fine(name)
        }
        version = self.chosen_version
        if version is not None:
            filled["autograder"] = version.definition.autograder
        if filled.get("dataset") is None or "autograder" not in filled or "rubric_version" not in filled:
            return None
        return plans.plan(
            filled["dataset"],
            filled["rubric_version"],
            filled["autograder"],
            votes=votes_of(version.definition) if version and self._votes() == (1,) else self._votes(),
            items=self._items(filled["dataset"], viewer),
        )

    def _items(self, dataset: Dataset, viewer: User) -> QuerySet[Item]:
        """Those that would be graded, as far as the fields say."""
        items: QuerySet[Item] = Item.objects.current().filter(dataset=dataset)
        names_tell = False
        if self.selection:
            items = items.filter(pk__in=self.selection.item_ids)
            # How many of them are a version's answers would tell whose they are.
            names_tell = not blinded_answers(dataset, viewer).isdisjoint(self.selection.item_ids)
        if "split" in self.fields and self._is_fine("split"):
            items = of_half(items, str(self["split"].value() or ""))
        if self.versions and self._is_fine("systems") and not names_tell:
            chosen = self.fields["systems"].clean(self["systems"].value())
            items = items.filter(system_version__in=chosen) if chosen else items
        return items

    def say_what_lacks_a_rubric(self, plan: plans.Plan) -> None:
        """Puts beside the rubric how many items need one, before anybody tries to start without."""
        if not plan.unjudged:
            return
        if plan.own:
            has = "has no rubric of its own" if plan.unjudged == 1 else "have no rubric of their own"
            lacking = f"{plan.unjudged:,} of the {plan.items:,} items {has}"
        else:
            lacking = "No item brings a rubric of its own"
        remedy: str = "choose one"
        if not published_versions(self.team).exists():
            url = reverse("rubrics", args=[self.team.slug])
            remedy = format_html('<a href="{}">write and publish one</a>', url)
        self["rubric_version"].help_text = format_html("{}: {}.", lacking, remedy)

    def forecast(self, viewer: User, now: datetime) -> tuple[Forecast | None, str]:
        """What it would cost and take, or why that cannot be said; both empty while it is not filled in."""
        typed = self
        if not self.is_bound:
            typed = NewRun(self._typed(), team=self.team, viewer=viewer, selection=self.selection)
        if not typed.is_valid():
            return None, ""
        try:
            made = plan_run(
                self.team,
                dataset=typed.cleaned_data["dataset"],
                rubric_version=typed.cleaned_data["rubric_version"],
                viewer=viewer,
                now=now,
                options=typed.options(),
            )
        except Refusal as error:
            return None, self._named(*self._field_and_message(error))
        return made.forecast, ""

    def chosen_judge(self) -> JudgeConfig | None:
        if (version := self.chosen_version) is not None:
            return config_of(version)
        return self.judges.get(str(self["judge"].value()))

    def wrong(self) -> str:
        """All that a form is refused for, by the labels of its fields; "" when nothing is."""
        return " ".join(
            self._named(name, str(words)) for name, errors in self.errors.items() for words in errors
        )

    def _named(self, field: str | None, words: str) -> str:
        return f"{self[field].label}: {words}" if field in self.fields else words

    def _field_and_message(self, error: Refusal) -> tuple[str | None, str]:
        """The field it is about, None for the whole form, and what to say there."""
        faults = error.faults if isinstance(error, Invalid) else ()
        field = _field_of(faults[0].place, self.fields) if faults else None
        # Beside its field a fault needs no place, and places have the names that programs use.
        alone = field is not None and len(faults) == 1
        return field, f"Found {faults[0].found}. Allowed: {faults[0].allowed}." if alone else str(error)

    def _typed(self) -> dict[str, Any]:
        return {name: self[name].value() for name in self.fields}

    def _refused_by(self, field: str, rule: Any, *values: Any) -> None:
        try:
            rule(*values)
        except Invalid as error:
            self.add_error(field, str(error))


def _asked(form: forms.BaseForm, name: str) -> Any:
    return form.data.get(name) if form.is_bound else form.initial.get(name)


def _offer_asked(
    form: forms.BaseForm, name: str, choices: list[tuple[str, Any]], offered: Container[str]
) -> None:
    """Offers the choices; where one is asked for that is not among them, nothing is chosen silently."""
    asked = _asked(form, name)
    known = asked is None or str(asked) in offered
    offer(form, name, choices if known else [("", "Choose…"), *choices])


def _was_chosen(field: forms.BoundField) -> bool:
    """Whether it holds something else than at first; left empty it means what it does at first."""
    first, now = field.field.initial, field.value()
    if isinstance(field.field, forms.BooleanField):
        return bool(first) != bool(now)
    return now not in (None, "", []) and str(now) != str(first)


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
        "panel.members[0]": "judge",
        "panel.members": "further",
        "mode": "batch",
    }
    return next((name for start, name in by_start.items() if place.startswith(start)), None)
