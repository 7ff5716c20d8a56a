"""The part of the launch form that few runs need: several judges, repeats, a cascade, examples."""

from collections.abc import Mapping
from typing import Any

from django import forms

from rubricweb.engine.autograders.panels.panel import MAX_REPEATS
from rubricweb.engine.number_format import counted, plain_number
from rubricweb.models import Dataset, JudgeVersion
from rubricweb.services.runs import few_shot, panels
from rubricweb.web.shared.vote_fields import SettlingFields


class DatasetChoice(forms.ModelChoiceField):  # type: ignore[type-arg]  # generic in its stubs alone
    def label_from_instance(self, dataset: Dataset) -> str:
        items: int = dataset.item_count  # type: ignore[attr-defined]  # annotated by `run_choices`
        return f"{dataset.name} ({counted(items, 'item')})"


class VotingFields(SettlingFields):
    """Who votes, how often, how it is settled, and what the judge is shown first.

    The form it is part of has the field `judge`, the first one to be asked; `judge_versions` are what of its
    choices are versions of judges, by what is sent.
    """

    judge_versions: Mapping[str, JudgeVersion]

    repeats = forms.IntegerField(
        min_value=1,
        max_value=MAX_REPEATS,
        initial=1,
        required=False,
        label="Times each judge is asked",
        widget=forms.NumberInput(attrs={"class": "input--short"}),
        help_text="Asking twice or more shows how often a judge contradicts itself.",
    )
    weight = forms.FloatField(
        min_value=0,
        initial=1,
        required=False,
        label="Weight of the judge above",
        widget=forms.NumberInput(attrs={"class": "input--short", "step": "any"}),
    )
    further = forms.MultipleChoiceField(
        required=False, label="Further judges", widget=forms.CheckboxSelectMultiple
    )
    further_weights = forms.CharField(
        required=False,
        label="Weights of further judges",
        help_text="In the order of the list, separated by spaces. Empty: 1 each.",
        widget=forms.TextInput(attrs={"inputmode": "decimal"}),
    )
    cascade = forms.BooleanField(
        required=False,
        label="Ask the further judges only where the first one does not settle it",
        help_text="Cheaper than a panel: most criteria never reach the second stage.",
    )
    examples_from = DatasetChoice(
        queryset=None,
        required=False,
        label="Examples from",
        empty_label="No examples",
        help_text="Another labelled dataset, preferably a dev split. The judge sees its ground truth.",
    )
    n_examples = forms.IntegerField(
        min_value=1,
        max_value=few_shot.MAX_EXAMPLES,
        initial=3,
        required=False,
        label="Examples per criterion",
        widget=forms.NumberInput(attrs={"class": "input--short"}),
    )
    examples_seed = forms.IntegerField(
        min_value=0,
        initial=0,
        required=False,
        label="Seed",
        widget=forms.NumberInput(attrs={"class": "input--short"}),
    )

    # What the page folds away, by the heading it stands under.
    VOTING = (
        "repeats",
        "weight",
        "further",
        "further_weights",
        "cascade",
        "escalate_on",
        "min_confidence",
        "quorum",
        "rule_binary",
        "rule_ordinal",
        "rule_nominal",
    )
    EXAMPLES = ("examples_from", "n_examples", "examples_seed")

    @property
    def voting_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in self.VOTING]

    @property
    def example_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in self.EXAMPLES]

    @property
    def chosen_version(self) -> JudgeVersion | None:
        """The version of a judge that is chosen, which has its own way of asking; None for a model."""
        return self.judge_versions.get(str(self["judge"].value()))

    def panel(self) -> panels.Panel | None:
        """What a valid form asks to vote; None for one judge asked once."""
        chosen = self.cleaned_data
        further, repeats = chosen["further"], chosen["repeats"] or 1
        if not further and repeats == 1:
            return None
        stage = 1 if chosen["cascade"] and further else 0
        first = panels.PanelMember(
            chosen["judge"], weight=1.0 if chosen["weight"] is None else chosen["weight"]
        )
        others = [
            panels.PanelMember(judge_id, weight=weight, stage=stage)
            for judge_id, weight in zip(further, chosen["weights"], strict=True)
        ]
        return panels.Panel(
            members=[first, *others],
            rule=self.rules,
            repeats=repeats,
            quorum=chosen["quorum"] or 0.0,
            escalate_on=chosen["escalate_on"] or None if stage else None,
            min_confidence=chosen["min_confidence"] if stage else None,
        )

    def examples(self) -> few_shot.FewShot | None:
        """The examples a valid form asks for; None for none."""
        chosen = self.cleaned_data
        if chosen["examples_from"] is None:
            return None
        return few_shot.FewShot(
            chosen["examples_from"], n=chosen["n_examples"] or 3, seed=chosen["examples_seed"] or 0
        )

    def _votes(self) -> tuple[int, ...]:
        """How many votes each stage casts, from the fields filled in so far."""
        repeats = 1
        if self._is_fine("repeats"):
            repeats = self.fields["repeats"].clean(self["repeats"].value()) or 1
        further = len(self["further"].value() or ())
        if further and self["cascade"].value():
            return (repeats, further * repeats)
        return ((1 + further) * repeats,)

    def _weights(self, cleaned: dict[str, Any]) -> None:
        """One weight per further judge goes to `weights`."""
        further, typed = cleaned.get("further", []), cleaned.get("further_weights", "").split()
        numbers = [plain_number(text) for text in typed]
        weights = [number for number in numbers if number is not None] or [1.0] * len(further)
        if None in numbers:
            self.add_error("further_weights", "Numbers from 0, apart by spaces: 1 2.5.")
            return
        if len(weights) != len(further):
            self.add_error("further_weights", f"{len(weights)} weights for {len(further)} further judges.")
        if any(weight < 0 for weight in weights):
            self.add_error("further_weights", "A weight is a number from 0.")
        cleaned["weights"] = weights

    def _is_fine(self, name: str) -> bool:
        try:
            self.fields[name].clean(self[name].value())
        except forms.ValidationError:
            return False
        return True
