"""The fields in which somebody says on what a judge is to be tried."""

from collections.abc import Mapping
from typing import Any

from django import forms

from rubricweb import engine
from rubricweb.errors import Conflict, Invalid
from rubricweb.models import Dataset, Item, Judge, RubricVersion, Run, RunState, Team, User, unarchived
from rubricweb.selectors.blinding import hidden_datasets
from rubricweb.selectors.rubrics.versions import published_versions
from rubricweb.selectors.tries import NEXT, PASTED, PICKED, WRONG, chosen_item
from rubricweb.services.tries.subject import Subject, subject_of

FIELDS = {"item": "try_item", "which": "try_which", "rubric": "try_rubric", "dataset": "try_dataset"}
"""Places of a refusal, and the fields they stand at."""


class TryForm(forms.Form):
    """Its fields have names of their own, so that they stand in the form of the page as well."""

    try_rubric = forms.ModelChoiceField(
        RubricVersion.objects.none(), label="Rubric", required=False, empty_label="Choose a rubric"
    )
    try_dataset = forms.ModelChoiceField(
        Dataset.objects.none(), label="Dataset", required=False, empty_label="Choose a dataset"
    )
    try_which = forms.ChoiceField(label="On", required=False, initial=NEXT)
    try_item = forms.CharField(
        max_length=200,
        required=False,
        label="Item",
        widget=forms.TextInput(attrs={"class": "input--mono"}),
        help_text="Its id in the file, or # and its number.",
    )
    try_submission = forms.CharField(
        required=False, label="Submission", widget=forms.Textarea(attrs={"rows": 4}), help_text="Pasted text."
    )
    try_after = forms.IntegerField(required=False, min_value=1, widget=forms.HiddenInput)

    def __init__(
        self, data: Mapping[str, Any] | None = None, *, team: Team, viewer: User, judge: Judge | None
    ) -> None:
        super().__init__(data)
        self._team, self._viewer, self._judge = team, viewer, judge
        rubrics = published_versions(team)
        datasets = Dataset.objects.filter(unarchived(), team=team).exclude(sealed_as="test")
        _offer(self.fields["try_rubric"], rubrics)
        _offer(self.fields["try_dataset"], datasets.order_by("-created_at", "-pk"))
        ways = [(NEXT, "the next item")]
        if self._may_be_wrong():
            ways.append((WRONG, "one it got wrong"))
        ways += [(PICKED, "this item"), (PASTED, "what I paste")]
        which = self.fields["try_which"]
        assert isinstance(which, forms.ChoiceField)
        which.choices = ways

    @property
    def missing(self) -> str:
        """What must be there first: a "rubric", published or brought along by an item; else ""."""
        items = Item.objects.current().filter(dataset__team=self._team, rubric_version__isnull=False)
        return "" if self.fields["try_rubric"].initial is not None or items.exists() else "rubric"

    def _may_be_wrong(self) -> bool:
        """Whether there is a dataset whose labels and verdicts this person may hold against each other."""
        if self._judge is None:
            return False
        runs = Run.objects.filter(judge_version__judge=self._judge, state=RunState.FINISHED, archived_at=None)
        return runs.exclude(dataset__in=hidden_datasets(self._viewer, self._team)).exists()

    def subject(self) -> Subject:
        """What a valid form names. Raises as `subject_of` and `chosen_item`."""
        said = self.cleaned_data
        version, way = said["try_rubric"], said["try_which"] or NEXT
        pasted = item = None
        if way == PASTED:
            pasted = engine.Submission(output=said["try_submission"].replace("\r\n", "\n"))
        else:
            if said["try_dataset"] is None:
                raise Invalid.at("dataset", "no dataset", "one of the team's, or a pasted submission")
            item = chosen_item(
                said["try_dataset"],
                way,
                viewer=self._viewer,
                said=said["try_item"],
                after=said["try_after"],
                judge=self._judge,
            )
        return subject_of(self._team, viewer=self._viewer, item=item, pasted=pasted, version=version)

    def refuse(self, error: Invalid | Conflict) -> None:
        """Shows each fault at its field; what is about none is the page's to show."""
        for fault in error.faults if isinstance(error, Invalid) else ():
            if fault.place in FIELDS:
                self.add_error(FIELDS[fault.place], f"Found {fault.found}. Allowed: {fault.allowed}.")


def _offer(field: forms.Field, rows: Any) -> None:
    """These are taken; the first is chosen already, since there is mostly one."""
    assert isinstance(field, forms.ModelChoiceField)
    field.queryset = rows
    field.initial = rows.first()
