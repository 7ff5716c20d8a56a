"""What the queue of a file of labels is called where nobody says a name."""

import pytest
from django import forms

from rubricweb.models import ReviewQueue
from rubricweb.services import label_files
from tests import factories
from tests.factories import Cast

LABELS = b"item_id,rater,capital\ngood,kim,MET\n"


@pytest.mark.parametrize(
    ("filename", "name"),
    [
        (" ratings .csv", "ratings"),
        ("\u3000ratings\u00a0.csv", "ratings"),
        ("a" * 199 + " b.csv", "a" * 199),
        (" .csv", "Imported labels"),
    ],
)
def test_the_name_of_a_file_names_its_queue_without_blanks_at_the_ends(
    people: Cast, filename: str, name: str
) -> None:
    dataset = factories.dataset(people.team, people.ed)
    version = factories.version(people.team, people.ed)
    plan = label_files.plan_labels(dataset, version, data=LABELS, filename=filename)
    assert plan.queue_name == name
    # A form sends back what it shows, or the name would seem changed and the file be looked at again.
    assert forms.CharField(max_length=200).clean(plan.queue_name) == plan.queue_name
    label_files.import_label_file(dataset, version, by=people.ed, data=LABELS, filename=filename)
    assert ReviewQueue.objects.get().name == name


def test_a_name_that_was_said_goes_first_and_has_no_blanks_at_its_ends_either(people: Cast) -> None:
    dataset = factories.dataset(people.team, people.ed)
    version = factories.version(people.team, people.ed)
    for said, name in ((" mine ", "mine"), ("b" * 199 + " c", "b" * 199), (" ", "ratings")):
        plan = label_files.plan_labels(dataset, version, data=LABELS, filename="ratings.csv", queue_name=said)
        assert plan.queue_name == name
