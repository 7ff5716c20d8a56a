"""Choosing whose answers of a dataset, and in which split, as forms of runs and queues ask it."""

from typing import Any

from django import forms

from rubricweb.engine.number_format import counted
from rubricweb.models import Dataset, SystemVersion, Team
from rubricweb.selectors.datasets.systems import counted_versions
from rubricweb.web.shared.choices import LARGEST_ID, offer


class SystemsField(forms.TypedMultipleChoiceField):
    """Some of the versions that are offered, by id."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(coerce=int, required=False, widget=forms.CheckboxSelectMultiple, **kwargs)


class SplitField(forms.ChoiceField):
    """One split of a dataset whose cases are split, or all cases."""

    def __init__(self, **kwargs: Any) -> None:
        choices = [("", "All cases"), ("test", "Test cases"), ("dev", "Dev cases")]
        super().__init__(required=False, label="Split", choices=choices, **kwargs)


def chosen_dataset(form: forms.BaseForm, team: Team) -> Dataset | None:
    """The dataset that is chosen by now."""
    value = form["dataset"].value()
    return Dataset.objects.filter(team=team, pk=int(value)).first() if is_id(value) else None


def offer_systems(form: forms.BaseForm, team: Team) -> tuple[dict[int, SystemVersion], int]:
    """Offers the versions with answers in the chosen dataset, the newest of each system at first.

    Returns them by id, and how many there are with those of archived systems, which are not offered.
    """
    dataset = chosen_dataset(form, team)
    answered = counted_versions(dataset) if dataset is not None else []
    versions = [version for version in answered if version.system.archived_at is None]
    offer(form, "systems", [(str(version.pk), _answers(version)) for version in versions])
    newest = [str(pk) for pk in newest_of_each(versions)]
    form.initial.setdefault("systems", newest or [str(version.pk) for version in versions])
    return {version.pk: version for version in versions}, len(answered)


def offer_splits(form: forms.BaseForm, team: Team) -> None:
    """Asks for the `split` only where the cases of the chosen dataset are split."""
    dataset = chosen_dataset(form, team)
    if dataset is None or not dataset.case_splits.exists():
        del form.fields["split"]


def newest_of_each(versions: list[SystemVersion]) -> list[int]:
    """The newest version of each named system, by id."""
    return list({version.system_id: version.pk for version in versions if version.system.name}.values())


def is_id(typed: Any) -> bool:
    digits = str(typed)
    return digits.isascii() and digits.isdigit() and len(digits) < 20 and int(digits) <= LARGEST_ID


def _answers(version: SystemVersion) -> str:
    answers = counted(version.item_count, "answer")  # type: ignore[attr-defined]  # annotated
    return f"{str(version) or 'no system named'} ({answers})"
