"""How several votes are settled, as forms ask for it: rules by scale, a quorum, when to go on."""

from django import forms

from rubricweb.engine.autograders.panels.cascade import CONDITIONS
from rubricweb.engine.panels.vote_rules import DEFAULT_RULES, VOTE_RULES, Scale

CONDITION_WORDS = {
    "error": "no answer came",
    "abstention": "nothing could be assessed",
    "disagreement": "the votes differ",
    "low_confidence": "the judge is unsure",
}


def _rule_field(scale: Scale, label: str) -> forms.ChoiceField:
    usual = DEFAULT_RULES[scale].replace("_", " ")
    rules = [(rule, rule.replace("_", " ")) for rule in VOTE_RULES[scale]]
    return forms.ChoiceField(
        required=False, label=label, choices=[("", f"what the criterion says, else {usual}"), *rules]
    )


class SettlingFields(forms.Form):
    """Part of the forms of a run and of a judge."""

    escalate_on = forms.MultipleChoiceField(
        required=False,
        label="Ask the next stage when",
        choices=[(name, CONDITION_WORDS[name]) for name in CONDITIONS],
        widget=forms.CheckboxSelectMultiple,
        help_text="None chosen: all of them; low confidence only if a threshold is set.",
    )
    min_confidence = forms.FloatField(
        min_value=0,
        max_value=1,
        required=False,
        label="Minimum confidence",
        help_text="From 0 to 1; below it the judge counts as unsure.",
        widget=forms.NumberInput(attrs={"class": "input--short", "step": "any"}),
    )
    quorum = forms.FloatField(
        min_value=0,
        max_value=1,
        initial=0,
        required=False,
        label="Minimum share of votes",
        help_text="From 0 to 1; with fewer votes a criterion becomes an error.",
        widget=forms.NumberInput(attrs={"class": "input--short", "step": "any"}),
    )
    rule_binary = _rule_field("binary", "Met or unmet is settled by")
    rule_ordinal = _rule_field("ordinal", "Scales are settled by")
    rule_nominal = _rule_field("nominal", "Unordered options are settled by")

    @property
    def rules(self) -> dict[str, str] | None:
        """The rules of a valid form by scale; None where every scale is left to its usual one."""
        chosen = {scale: self.cleaned_data[f"rule_{scale}"] for scale in VOTE_RULES}
        return {scale: rule for scale, rule in chosen.items() if rule} or None
