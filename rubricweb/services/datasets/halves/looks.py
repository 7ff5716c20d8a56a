"""Counting looks at the test half of a dataset (decision 0032)."""

from dataclasses import replace

from rubricweb.models import HalfLook, User
from rubricweb.selectors.blinding import hidden_datasets
from rubricweb.selectors.comparison.comparison import Comparison
from rubricweb.selectors.datasets.looks import look_with, seal_of


def count_look(comparison: Comparison, *, by: User) -> Comparison:
    """The comparison with the look at a test half that it is, counted; as it is where it holds no test case.

    The same verdicts and labels are one look, whoever opens them and however often.
    """
    tested = comparison.tested
    if not tested.units:
        return comparison
    dataset = comparison.run.dataset
    look = look_with(dataset, tested.digest)
    if look is None:
        HalfLook.objects.get_or_create(
            dataset=dataset,
            data=tested.digest,
            defaults={
                "units": tested.units,
                "items": tested.items,
                "dataset_version": dataset.version,
                "seal": seal_of(dataset),
                "run": comparison.run,
                "looked_by": by,
            },
        )
        look = look_with(dataset, tested.digest)
    if look is not None and dataset.pk in hidden_datasets(by, dataset.team):
        look = look.withheld
    return replace(comparison, look=look)
