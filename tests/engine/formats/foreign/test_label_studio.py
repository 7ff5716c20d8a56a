"""Label Studio's export: its annotations are labels, one column of its data is what is graded."""

import pytest

from tests.engine.formats.foreign import samples
from tests.engine.formats.foreign.test_foreign_files import faults, in_part, labels, read


def test_label_studio_annotations_are_raters_labels():
    file = read(samples.LABEL_STUDIO)
    assert [(criterion.name, criterion.kind, criterion.weight) for criterion in file.rubric.criteria] == [
        ("grounded", "binary", 1.0),
        ("tone", "choice", 0.0),
        ("stars", "choice", 0.0),
    ]
    assert [option.label for option in file.rubric.criteria[1].options] == ["Friendly", "Rude"]
    assert [option.value for option in file.rubric.criteria[2].options] == [0.0, 0.25, 0.5, 0.75, 1.0]
    first, second = file.items
    assert (first.id, first.submission, first.prompt) == ("11", "Paris.", "Capital?")
    assert first.labels == {
        "ann@example.org": ("MET", "Friendly", "4"),
        "annotator 7": ("UNMET", "Rude", None),
        "model v2": ("MET", None, None),
    }
    assert first.label_reasons == {"ann@example.org": ("because", None, None)}
    assert second.ground_truth == ("CANNOT_ASSESS", None, None)
    assert second.labels == {}


def task(id=1, **data):
    result = [{"from_name": "polite", "type": "choices", "value": {"choices": ["MET"]}}]
    return {"id": id, "data": data, "annotations": [{"completed_by": 3, "result": result}]}


def one_task(**data):
    (item,) = read([task(**data)]).items
    return item


def test_the_text_is_the_submission_only_where_no_other_field_is_called_like_one():
    item = one_task(text="An article.", Response="Its summary.")
    assert (item.submission, item.metadata) == ("Its summary.", {"text": "An article."})
    assert one_task(text="An article.", output=None).submission == "An article."
    item = one_task(text="An article.", submission={"thinking": "Hm.", "output": "Its summary."})
    assert (item.submission, item.thinking) == ("Its summary.", "Hm.")


@pytest.mark.parametrize(
    ("extra", "metadata"),
    [
        ({"output": ""}, {"output": ""}),
        ({"output": " \n"}, {"output": " \n"}),
        ({"answer": 3}, {"answer": 3}),
        ({"response": ["a"]}, {"response": ["a"]}),
        ({"submission": 3}, {"data_submission": 3}),
        ({"Submission": None}, {}),
    ],
)
def test_what_is_no_text_to_grade_leaves_the_text_as_the_submission(extra, metadata):
    item = one_task(**extra, text="T")
    assert (item.submission, item.metadata) == ("T", metadata)


def test_the_text_is_the_submission_of_every_task_of_an_export_or_of_none():
    export = [task(1, response="a", text="T"), task(2, response=None, text="t2"), task(3, text="t3")]
    missing = "nothing (Label Studio export)"
    assert faults(export) == [("items[1].response", missing), ("items[2].submission", missing)]
    assert in_part(export) == (
        [("1", "polite", "annotator 3", "MET", "")],
        [("items[1].response", "nothing"), ("items[2].submission", "nothing")],
    )
    # Whichever task comes first.
    assert faults(export[::-1])[0] == ("items[0].submission", missing)
    alone = read([task(1, response="", text="T"), task(2, response=None, text="t2")]).items
    assert [item.submission for item in alone] == ["T", "t2"]


@pytest.mark.parametrize(
    ("result", "place"),
    [
        ({"type": "choices", "value": {"choices": ["a", "b"]}}, "value.choices"),
        ({"type": "choices", "value": {"choices": [5]}}, "value.choices"),
        ({"type": "rating", "value": {"rating": 0}}, "value.rating"),
    ],
)
def test_answers_that_are_no_single_label_are_refused(result, place):
    task = {"id": 1, "data": {"text": "s"}, "annotations": [{"result": [{"from_name": "q"} | result]}]}
    assert [found for found, _ in faults([task])] == [f"items[0].annotations[0].result[0].{place}"]


def test_one_choice_alone_makes_no_scale():
    task = {
        "data": {"text": "s"},
        "annotations": [{"result": [{"from_name": "q", "type": "choices", "value": {"choices": ["Good"]}}]}],
    }
    assert faults([task])[0] == ("annotations.q", 'only one choice (the text "Good") (Label Studio export)')


def test_columns_called_like_what_annotators_said_are_renamed():
    item = one_task(**{"text": "s", "Labels": "x", "Ground Truth": "y", "label-reasons": {"ann": "z"}})
    assert item.labels == {"annotator 3": ("MET",)}
    assert sorted(item.metadata) == ["data_Ground Truth", "data_Labels", "data_label-reasons"]


def result(name, type, **value):
    return {"from_name": name, "to_name": "text", "type": type, "value": value}


def test_answers_of_other_kinds_are_left_out_by_place():
    others = [
        result("summary", "textarea", text=["Odd."]),
        result("quality", "number", number=3),
        result("topic", "taxonomy", taxonomy=[["Post", "Parcels"]]),
        {"type": "relation", "from_id": "a", "to_id": "b"},
        result("nothing", "textarea", text=[" "]),
    ]
    export = [task(text="T")]
    export[0]["annotations"][0]["result"] += others
    at = "items[0].annotations[0].result"
    expected = [
        (f"{at}[2]", "an answer of the type 'number' to 'quality'"),
        (f"{at}[3]", "an answer of the type 'taxonomy' to 'topic'"),
        (f"{at}[4]", "an answer of the type 'relation'"),
        (f"{at}[1]", "a text for 'summary'"),
    ]
    assert faults(export) == [(place, f"{found} (Label Studio export)") for place, found in expected]
    assert in_part(export) == ([("1", "polite", "annotator 3", "MET", "")], expected)


@pytest.mark.parametrize("name", ["polite_reason", "why"])
def test_a_text_that_is_plainly_the_reason_of_an_answer_is_its_reason(name):
    export = [task(text="T"), task(2, text="U")]
    for one in export:
        one["annotations"][0]["result"].append(result(name, "textarea", text=["It greets.", "Twice."]))
    export[1]["annotations"][0]["ground_truth"] = True
    file = read(export)
    assert labels(file) == [("1", "polite", "annotator 3", "MET", "It greets.\nTwice.")]
    assert file.items[1].ground_truth_reasons == ("It greets.\nTwice.",)


def test_a_text_is_no_reason_of_an_answer_that_was_not_given_or_of_one_of_several():
    export = [task(text="T"), task(2, text="U")]
    results = export[0]["annotations"][0]["result"]
    results += [result("stars", "rating", rating=4), result("why", "textarea", text=["So."])]
    other = export[1]["annotations"][0]["result"]
    other.append(result("stars_why", "textarea", text=["So."]))
    export.append(task(3, text="V"))
    export[2]["annotations"][0]["result"] = [result("polite_why", "textarea", text=["So."])]
    # Who wrote first and answered then has answered once.
    export[2]["annotations"] += task()["annotations"]
    said, left_out = in_part(export)
    assert {reason for *_, reason in said} == {""}
    assert said[-1][:4] == ("3", "polite", "annotator 3", "MET")
    assert sorted(place for place, _ in left_out) == [
        "items[0].annotations[0].result[2]",
        "items[1].annotations[0].result[1]",
        "items[2].annotations[0].result[0]",
    ]
