"""What people send from the export page."""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.utils.html import format_html

from rubricweb.errors import Invalid
from rubricweb.models import Dataset, ReviewQueue, Run, Team, User
from rubricweb.selectors.exports import exports as selectors
from rubricweb.selectors.judges import shown_judge, withheld_judges
from rubricweb.selectors.labels.comparable import labelled_queues
from rubricweb.selectors.labels.ground_truth import people_first
from rubricweb.services.exports import CONTENTS, EXPORT_FORMATS
from rubricweb.web.shared.choices import RowChoices, offer, offer_rows

WORDS = {
    "ground_truth": "One label per criterion: the adjudicated one, else the majority of people.",
    "verdicts": "What every person and judge said, one row per verdict, with its reason.",
    "csv": "One row per verdict, for spreadsheets and statistics programs.",
    "wide": "One row per item and rater, one column per criterion, for tables and measures of agreement.",
    "jsonl": "One JSON object per line, for scripts.",
    "yaml": "Items, rubric and ground truth in one YAML file; opens here again.",
    "parquet": "Items and ground truth in columns, for data frames; opens here again.",
    "bundle": "Rubric, items, verdicts, notes, decisions and agreement in one archive, with a sum for each; "
    "Python reads it back exactly with read_bundle; the import page does not open it.",
    "autorubric": "Items, rubric and ground truth in one JSON file; opens in autorubric and here again.",
}


class NewExport(forms.Form):
    """One export; queues and runs are those of the dataset that is chosen, or of the newest one."""

    dataset: "forms.ModelChoiceField[Dataset]" = forms.ModelChoiceField(queryset=None, empty_label=None)
    what = forms.ChoiceField(widget=forms.RadioSelect, initial="ground_truth")
    queues = RowChoices(
        queryset=None, required=False, widget=forms.CheckboxSelectMultiple, label="Labels of people from"
    )
    run: "forms.ModelChoiceField[Run]" = forms.ModelChoiceField(
        queryset=None,
        required=False,
        empty_label="None",
        label="Verdicts of a judge from",
        help_text="Goes with all verdicts; ground truth is what people say.",
    )
    format = forms.ChoiceField(widget=forms.RadioSelect, initial="csv")

    def __init__(self, *args: Any, team: Team, viewer: User, dataset: Dataset | None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.chosen = dataset
        queues = labelled_queues(dataset.pk, team=team) if dataset else ReviewQueue.objects.none()
        offer_rows(self, "dataset", selectors.datasets(team))
        offer_rows(self, "queues", queues)
        withheld = withheld_judges(team, viewer)
        offer_rows(self, "run", selectors.runs(dataset), lambda run: f"{run} · {shown_judge(run, withheld)}")
        self.fields["dataset"].initial = dataset
        self.fields["queues"].initial = [queue.pk for queue in people_first(list(queues))]
        offer(self, "what", [(name, _option(title, name)) for name, title in CONTENTS.items()])
        offer(
            self,
            "format",
            [(name, _option(one.title, name, only=one.contents)) for name, one in EXPORT_FORMATS.items()],
        )

    def refuse(self, error: Invalid) -> None:
        self.add_error(None, str(error))


def _option(title: str, name: str, only: Sequence[str] = ()) -> str:
    line = WORDS.get(name, "")
    if len(only) == 1:
        line = f"{CONTENTS[only[0]]} only. {line}"
    return format_html('<span>{}<span class="check__help">{}</span></span>', title, line)
