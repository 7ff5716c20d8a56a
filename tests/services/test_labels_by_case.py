"""Labels that name the case and the system, sent by somebody who is to review those answers blind."""

from rubricweb.services import label_files
from tests import factories
from tests.factories import Cast

ANSWERS = [
    {"id": key, "case_id": "refund", "system": system, "submission": key}
    for key, system in (("a", "warm@v1"), ("b", "cold@v1"))
]


def test_whose_answer_an_item_is_cannot_be_asked_for_with_labels(people: Cast) -> None:
    dataset = factories.dataset(people.team, people.ed, items=ANSWERS)
    version = factories.version(people.team, people.ed, criteria=[{"requirement": "Is polite."}])
    factories.queue(
        people.team, people.rae, dataset=dataset, rubric_version=version, raters=[people.ed], name="Blind"
    )
    given = {"data": b"case_id,system,C1\nrefund,warm,yes\n", "filename": "r.csv"}
    plan = label_files.look_at_labels(dataset, version, viewer=people.rae, **given)
    assert [label.item_id for label in plan.first] == ["a"]
    plan = label_files.look_at_labels(dataset, version, viewer=people.ed, **given)
    assert (plan.first, plan.reading.labels) == ((), ())
    # Nor does a refusal say who answered, or that nobody of that name did.
    other = {**given, "data": b"case_id,system,C1\nrefund,nobody,yes\n"}
    refused = label_files.look_at_labels(dataset, version, viewer=people.ed, **other)
    assert refused.reading.faults == plan.reading.faults
