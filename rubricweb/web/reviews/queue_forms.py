"""What people send to open a review queue: which items, who, how."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.http import QueryDict
from django.utils.text import capfirst

from rubricweb.models import (
    Blind,
    Criterion,
    Dataset,
    Order,
    ReasonRule,
    RubricVersion,
    Run,
    RunState,
    SystemVersion,
    Team,
)
from rubricweb.selectors.reviews import queues as selectors
from rubricweb.selectors.reviews.informative import REASONS
from rubricweb.selectors.reviews.queue_sources import ALL, KINDS, SEEDS, Source, new_seed
from rubricweb.services.reviews.queues import QueueRequest
from rubricweb.web.shared.choices import RowChoices, offer, offer_rows
from rubricweb.web.shared.refused_forms import RefusableForm
from rubricweb.web.shared.selections import Selection
from rubricweb.web.shared.systems import (
    SplitField,
    SystemsField,
    newest_of_each,
    offer_splits,
    offer_systems,
)

SHORT = {"class": "input--short"}
SOURCE_KINDS = [(kind, words[0].upper() + words[1:]) for kind, words in KINDS.items() if kind != "items"]


class SourceForm(RefusableForm):
    """Which items: a kind, and what each kind needs to be told. A `selection` is a kind of its own."""

    places = {"source": "kind"}

    kind = forms.ChoiceField(
        choices=SOURCE_KINDS, widget=forms.RadioSelect, required=False, initial=ALL, label="Items"
    )
    search = forms.CharField(
        max_length=200, required=False, label="With this text", help_text="In key, description or submission."
    )
    metadata = forms.CharField(
        max_length=500,
        required=False,
        label="With this metadata",
        help_text="As key=value, for example language=fr.",
    )
    source_run: "forms.ModelChoiceField[Run]" = forms.ModelChoiceField(
        queryset=None, required=False, empty_label="Choose…", label="Run"
    )
    reasons = forms.MultipleChoiceField(
        choices=[(name, words[0].upper() + words[1:]) for name, words in REASONS.items()],
        widget=forms.CheckboxSelectMultiple,
        required=False,
        label="Where",
        help_text="Empty: all of them.",
    )
    size = forms.IntegerField(
        min_value=1,
        required=False,
        label="How many items",
        widget=forms.NumberInput(attrs=SHORT),
        help_text="Drawn at random, so that its labels allow estimates for all items.",
    )
    strata_metadata = forms.CharField(
        max_length=200,
        required=False,
        label="Evenly over the values of this metadata key",
        help_text="Rare values get a higher probability, which the estimates account for.",
    )
    strata_criterion = forms.CharField(
        max_length=200,
        required=False,
        label="Or evenly over the run’s verdicts on this criterion",
        help_text="The name of a criterion; needs the run.",
    )
    # A form that is sent twice draws the same items twice, and adds them once.
    seed = forms.IntegerField(
        min_value=0, max_value=SEEDS - 1, required=False, initial=new_seed, widget=forms.HiddenInput
    )

    def __init__(self, *args: Any, team: Team, selection: Selection | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.choices = selectors.queue_choices(team)
        self.selection = selection
        offer_rows(self, "source_run", self.choices.runs, _run_label)
        if selection is not None:
            offer(self, "kind", [("items", capfirst(str(selection))), *SOURCE_KINDS])

    def clean_kind(self) -> str:
        return self.cleaned_data["kind"] or ALL

    @property
    def source(self) -> Source:
        """What a valid form asks for; a sample is drawn with a seed that each page has of its own."""
        data = self.cleaned_data
        kind = data["kind"]
        of_run = kind == "run" or (kind == "sample" and data["strata_criterion"])
        return Source(
            kind=kind,
            item_ids=self.selection.item_ids if self.selection and kind == "items" else (),
            search="" if kind == ALL else data["search"].strip(),
            metadata="" if kind == ALL else data["metadata"].strip(),
            run=data["source_run"] if of_run else None,
            reasons=tuple(data["reasons"]),
            size=data["size"] or 0,
            strata_metadata=data["strata_metadata"].strip(),
            strata_criterion=data["strata_criterion"].strip(),
            seed=new_seed() if data["seed"] is None else data["seed"],
        )


def _run_label(run: Any) -> str:
    return f"{run} · {run.judge.name} · {run.dataset}"


class CriterionIds(forms.TypedMultipleChoiceField):
    """Ids as they were sent; whether they are criteria of the rubric, the service says."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(coerce=int, **kwargs)

    def valid_value(self, value: str) -> bool:
        return True


@dataclass(frozen=True)
class OfferedCriterion:
    """A criterion that may be chosen, and whether it is."""

    criterion: Criterion
    is_chosen: bool


class NewQueue(SourceForm):
    """A new review queue; `planning` asks only what it would come to, and needs neither name nor people.

    The criteria of the rubric that is chosen are `offered`, all of them chosen at first. Without scripts they
    appear when the form is sent; `criteria_of` says of which version those were that somebody saw. So it is
    with the system versions of the dataset that is chosen and `systems_of`.
    """

    name = forms.CharField(max_length=200, required=False, help_text="Empty: that of the dataset.")
    dataset: "forms.ModelChoiceField[Dataset]" = forms.ModelChoiceField(queryset=None, empty_label="Choose…")
    rubric_version: "forms.ModelChoiceField[RubricVersion]" = forms.ModelChoiceField(
        queryset=None, required=False, empty_label="The rubric each item brings along", label="Rubric"
    )
    criteria = CriterionIds(label="Criteria", required=False)
    criteria_of = forms.IntegerField(required=False)
    systems = SystemsField(
        label="System versions",
        help_text="Answers of other versions never come in, whether added later or by hand. "
        "None ticked: every version, later ones too.",
    )
    systems_of = forms.IntegerField(required=False)
    split = SplitField(help_text="Answers to cases of the other split never come in.")
    everyone = forms.BooleanField(
        required=False,
        label="The whole team",
        help_text="Everybody who may review, also people who join later. Otherwise the people you choose:",
    )
    raters = RowChoices(queryset=None, label="People", widget=forms.CheckboxSelectMultiple, required=False)
    raters_per_item = forms.IntegerField(
        min_value=1,
        initial=1,
        label="People per item",
        widget=forms.NumberInput(attrs=SHORT),
        help_text="Two or more measure how well people agree.",
    )
    run: "forms.ModelChoiceField[Run]" = forms.ModelChoiceField(
        queryset=None,
        required=False,
        empty_label="None",
        label="Run to reveal",
    )
    blind = forms.ChoiceField(
        choices=Blind.choices,
        required=False,
        initial=Blind.BOTH,
        label="Blind",
    )
    order = forms.ChoiceField(
        choices=[
            ("", "default order"),
            *((order, order.label) for order in Order if order != Order.DRAWN),
        ],
        required=False,
        label="Order",
        help_text="Most informative first: reviewers may then guess that early items are difficult.",
    )
    needs_reason = forms.ChoiceField(
        choices=ReasonRule.choices,
        required=False,
        initial=ReasonRule.NEVER,
        label="Verdicts that need a reason",
    )
    hold_minutes = forms.IntegerField(
        min_value=1,
        required=False,
        initial=30,
        label="Release after inactivity (minutes)",
        widget=forms.NumberInput(attrs=SHORT),
    )
    instructions = forms.CharField(
        required=False, widget=forms.Textarea(attrs={"rows": 4}), help_text="Markdown; opens with the key g."
    )

    def __init__(self, *args: Any, planning: bool = False, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        offer_rows(self, "dataset", self.choices.datasets)
        offer_rows(self, "rubric_version", self.choices.versions)
        offer_rows(self, "run", self.choices.runs, _run_label)
        offer_rows(self, "raters", self.choices.people)
        self.versions, _ = offer_systems(self, team=kwargs["team"])
        offer_splits(self, team=kwargs["team"])
        if isinstance(self.data, QueryDict) and str(self.offered_systems_of or "") != str(
            self["systems_of"].value() or ""
        ):
            # Those of another dataset were seen; the newest of this one are ticked where they are shown now.
            self.data = self.data.copy()
            self.data.setlist("systems", list(map(str, newest_of_each(list(self.versions.values())))))
        self.planning = planning
        if not self.is_bound and "run" not in self.initial:
            self.initial["run"] = self._usual_run()

    def _usual_run(self) -> int | None:
        """The run to reveal unless another is chosen: the newest that grades what is asked about."""
        dataset, version = self._chosen("dataset"), self._chosen("rubric_version")
        if dataset is None or version is None:
            return None
        runs = self.choices.runs.filter(dataset=dataset, rubric_version=version, half="")
        runs = runs.exclude(state__in=(RunState.CANCELLED, RunState.FAILED))
        ticked = set(map(str, self["systems"].value() or ()))
        # A run over answers of no named system names no version.
        named = {pk for pk, version in self.versions.items() if version.system.name}
        if versions := [pk for pk in named if str(pk) in ticked]:
            runs = runs.filter(system_version__in=versions)
        return runs.values_list("pk", flat=True).first()

    def _chosen(self, name: str) -> Any:
        """The row a field names by now; None where it names none that is offered."""
        try:
            return self.fields[name].clean(self[name].value())
        except ValidationError:
            return None

    @classmethod
    def with_all_versions(cls, data: QueryDict, team: Team, selection: Selection | None) -> "NewQueue":
        """What was typed so far, with every version of the chosen dataset ticked; no name is needed yet."""
        form = cls(data, team=team, planning=True, selection=selection)
        form.data = data.copy()
        form.data.setlist("systems", list(map(str, form.versions)))
        return form

    @property
    def opens_more(self) -> bool:
        """Whether something in the fold was typed, chosen by the address or refused."""
        folded = ("run", "blind", "order", "needs_reason", "hold_minutes", "instructions")
        usual = {
            "blind": Blind.BOTH,
            "needs_reason": ReasonRule.NEVER,
            "hold_minutes": 30,
            "run": self._usual_run(),
        }
        values = ((name, self[name].value()) for name in folded)
        changed = any(str(value or "") not in ("", str(usual.get(name, ""))) for name, value in values)
        return changed or any(name in self.errors for name in folded)

    def clean_blind(self) -> str:
        return self.cleaned_data["blind"] or Blind.BOTH

    def clean_needs_reason(self) -> str:
        return self.cleaned_data["needs_reason"] or ReasonRule.NEVER

    def clean_hold_minutes(self) -> int:
        return self.cleaned_data["hold_minutes"] or 30

    @property
    def offered_version(self) -> RubricVersion | None:
        """The rubric version that is chosen by now."""
        version: RubricVersion | None = self._chosen("rubric_version")
        return version

    @property
    def offered(self) -> Sequence[tuple[str, Sequence[OfferedCriterion]]]:
        """The criteria to choose from by group, both in rubric order; none where there is nothing to choose.

        Checks are computed, so nobody is asked about them.
        """
        version = self.offered_version
        if version is None:
            return []
        rows = list(Criterion.objects.filter(version=version).exclude(kind="check").order_by("position"))
        if len(rows) < 2:
            return []
        ticked = {str(row.pk) for row in rows}
        # An address may name some: what is to be labelled again under other words, or selected units.
        ticked = ticked & set(map(str, self.initial.get("criteria", ()))) or ticked
        if self["criteria_of"].value() == str(version.pk):
            ticked = set(self["criteria"].value())
        return _by_group(OfferedCriterion(row, str(row.pk) in ticked) for row in rows)

    @property
    def offered_systems_of(self) -> int | None:
        """The dataset of which versions are offered, by id: one with a named system, or with several."""
        versions = self.versions.values()
        is_asked = len(versions) > 1 or any(version.system.name for version in versions)
        return int(self["dataset"].value()) if is_asked else None

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        if data.get("systems_of") != self.offered_systems_of:
            self.errors.pop("systems", None)
            self.add_error("systems", "Choose whose answers of this dataset are reviewed.")
        seen, version = data.get("criteria_of"), data.get("rubric_version")
        if seen is not None and (version is None or version.pk != seen):
            self.add_error("criteria", "The rubric was changed: look at what people are asked about now.")
        elif seen is not None and not data.get("criteria") and "criteria" not in self.errors:
            self.add_error("criteria", "Choose at least one criterion.")
        if not data.get("name") and data.get("dataset"):
            data["name"] = str(data["dataset"])
        # The form begins with two people an item; one person alone is one an item.
        if (
            not data.get("everyone")
            and len(data.get("raters") or ()) == 1
            and data.get("raters_per_item") == 2
        ):
            data["raters_per_item"] = 1
        if not self.planning and not data.get("everyone") and not data.get("raters"):
            self.add_error("raters", "Choose at least one person to review.")
        return data

    @property
    def wanted(self) -> QueueRequest:
        """What `create_queue` is to be told."""
        asked = (
            "name",
            "dataset",
            "rubric_version",
            "criteria",
            "raters",
            "everyone",
            "raters_per_item",
            "run",
            "blind",
            "order",
            "needs_reason",
            "hold_minutes",
            "instructions",
        )
        chosen = {name: self.cleaned_data[name] for name in asked}
        half = self.cleaned_data.get("split", "")
        return QueueRequest(**chosen, source=self.source, systems=self.chosen_systems, half=half)

    @property
    def chosen_systems(self) -> list[SystemVersion]:
        """The versions that are ticked in a valid form."""
        return [self.versions[pk] for pk in self.cleaned_data["systems"]]


def _by_group(offered: Iterable[OfferedCriterion]) -> list[tuple[str, list[OfferedCriterion]]]:
    groups: dict[str, list[OfferedCriterion]] = {}
    for one in offered:
        groups.setdefault(one.criterion.group, []).append(one)
    return list(groups.items())
