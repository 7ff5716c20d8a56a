"""What people send from the pages of the reviews room."""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.http import QueryDict

from rubricweb.errors import Conflict, Invalid
from rubricweb.models import Team
from rubricweb.selectors import reviews as selectors
from rubricweb.selectors.reviews import Question
from rubricweb.services.labels import checked_label
from rubricweb.services.reviews import Answer


class NewQueue(forms.Form):
    """A new review queue; refusals of the service come back beside the field they are about."""

    name = forms.CharField(max_length=200, help_text="What reviewers see in their list.")
    dataset = forms.ModelChoiceField(queryset=None, empty_label="Choose…")
    rubric_version = forms.ModelChoiceField(
        queryset=None, required=False, empty_label="The rubric each item brings along", label="Rubric"
    )
    raters = forms.ModelMultipleChoiceField(
        queryset=None,
        label="People",
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose at least one person to review."},
    )
    raters_per_item = forms.IntegerField(
        min_value=1,
        initial=1,
        label="People per item",
        widget=forms.NumberInput(attrs={"class": "input--short"}),
        help_text="With two or more, you can measure how well people agree with each other.",
    )
    run = forms.ModelChoiceField(
        queryset=None,
        required=False,
        empty_label="None",
        label="Run to reveal",
        help_text="Its verdicts are shown beside a person's own once they have submitted.",
    )
    blind = forms.BooleanField(
        required=False,
        initial=True,
        label="Blind",
        help_text="Until they submit an item, reviewers see no verdict of a judge or of other people on it, "
        "on any page, in any export.",
    )
    instructions = forms.CharField(
        required=False, widget=forms.Textarea(attrs={"rows": 4}), help_text="Markdown; opens with the key g."
    )

    def __init__(self, *args: Any, team: Team, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choices = selectors.queue_choices(team)
        self.fields["dataset"].queryset = choices.datasets
        self.fields["rubric_version"].queryset = choices.versions
        self.fields["run"].queryset = choices.runs
        self.fields["run"].label_from_instance = lambda run: f"{run} · {run.judge['name']} · {run.dataset}"
        self.fields["raters"].queryset = choices.people

    def refuse(self, error: Invalid | Conflict) -> None:
        """Shows a refusal beside the field its faults name, a taken name beside the name."""
        faults = error.faults if isinstance(error, Invalid) else ()
        place = faults[0].place if faults else ("name" if isinstance(error, Conflict) else "")
        self.add_error(place if place in self.fields else None, str(error))


def read_answers(data: QueryDict, asked: Sequence[Question]) -> list[Answer]:
    """The answers of a whole review form: fields verdict_<id> and reason_<id>, a missing label is None."""
    return [
        Answer(
            question.criterion.pk,
            read_label(data.get(f"verdict_{question.criterion.pk}", "")),
            data.get(f"reason_{question.criterion.pk}", "").replace("\r\n", "\n"),
        )
        for question in asked
    ]


def typed_answers(data: QueryDict, asked: Sequence[Question]) -> dict[int, tuple[str | None, str]]:
    """Criterion id → (label, reason) of a form that was refused; a label the criterion refuses is None."""
    typed = {}
    for question in asked:
        pk = question.criterion.pk
        label = read_label(data.get(f"verdict_{pk}", ""))
        try:
            label = checked_label(question.criterion, label) if label else None
        except Invalid:
            label = None
        typed[pk] = (label, data.get(f"reason_{pk}", question.reason))
    return typed


def same_as_stored(answers: Sequence[Answer], asked: Sequence[Question]) -> bool:
    """Whether a form says nothing that is not stored already."""
    stored = {question.criterion.pk: (question.verdict, question.reason) for question in asked}
    return all(stored[answer.criterion_id] == (answer.verdict, answer.reason) for answer in answers)


def read_label(text: str) -> str | None:
    """The label a form names, None for the empty text; whether the criterion knows it, the service says."""
    return text.strip() or None
