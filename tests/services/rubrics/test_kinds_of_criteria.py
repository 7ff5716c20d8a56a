"""Choices and checks from the draft to the submitted review."""

import pytest
from django.utils import timezone

from rubricweb.errors import Conflict, Invalid
from rubricweb.models import Judgement, ReviewState, RubricVersion
from rubricweb.selectors.reviews import reviews as selected
from rubricweb.selectors.rubrics.versions import draft_source
from rubricweb.services import adjudications
from rubricweb.services.reviews import queues, reviews
from rubricweb.services.rubrics import rubrics
from tests import factories
from tests.factories import Cast

EVERY_KIND = b"""
title: Every kind
criteria:
  - name: present
    weight: 4
    requirement: Names Paris.
    aggregation: unanimous
  - name: tone
    weight: 2
    requirement: How friendly is it?
    scale_type: ordinal
    options:
      - {label: Rude, value: 0}
      - {label: Plain, value: 0.5}
      - {label: Warm, value: 1}
      - {label: Not applicable, na: true}
  - name: short
    weight: 1
    check: length_between
    params: {unit: words, max: 5}
pass_rule: {min_score: 0.6, min_criterion: 0.5}
length_penalty: {free_budget: 10, max_cap: 20, penalty_at_cap: 0.25}
"""


@pytest.fixture
def version(people: Cast) -> RubricVersion:
    return rubrics.import_rubric(people.team, by=people.ed, data=EVERY_KIND, filename="kinds.yaml")


def test_a_version_of_every_kind_comes_back_as_it_was_written(version: RubricVersion) -> None:
    fresh = RubricVersion.objects.prefetch_related("criteria").get(pk=version.pk)
    written = rubrics.read(EVERY_KIND, filename="kinds.yaml")
    assert fresh.to_engine().to_dict(ids=False) == written.to_dict()
    assert [criterion.kind for criterion in fresh.criteria.order_by("position")] == [
        "binary",
        "choice",
        "check",
    ]


def test_publishing_it_again_changes_nothing_and_a_changed_rule_is_a_new_version(
    people: Cast, version: RubricVersion
) -> None:
    rubric = version.rubric
    assert rubric is not None
    assert rubrics.publish(rubric, by=people.ed) == version
    draft = dict(rubric.draft, pass_rule={"min_score": 0.7})
    rubrics.save_draft(rubric, draft=draft, revision=0)
    assert rubrics.publish(rubric, by=people.ed).number == 2


def test_a_draft_survives_the_way_through_its_source(people: Cast, version: RubricVersion) -> None:
    rubric = version.rubric
    assert rubric is not None
    for format in ("yaml", "json"):
        assert rubrics.read_draft(draft_source(rubric, format)) == rubric.draft


def test_a_draft_keeps_options_half_typed(people: Cast) -> None:
    text = """
title: Half done
criteria:
  - {name: tone, kind: choice}
  - {name: mood, options: [{label: Good, value: high}, {label: ""}], scale_type: ordnial}
  - {name: brief, check: length_betwen, params: {max: soon}}
pass_rule: {min_score: much}
"""
    draft = rubrics.read_draft(text)
    assert draft["criteria"] == [
        {"name": "tone", "kind": "choice"},
        {
            "name": "mood",
            "options": [{"label": "Good", "value": "high"}, {"label": ""}],
            "scale_type": "ordnial",
        },
        {"name": "brief", "check": "length_betwen", "params": {"max": "soon"}},
    ]
    assert draft["pass_rule"] == {"min_score": "much"}
    rubric = rubrics.create_rubric(people.team, by=people.ed, title="Half done", draft=draft)
    with pytest.raises(Invalid) as refusal:
        rubrics.publish(rubric, by=people.ed)
    assert {"criteria[1].options[0].value", "criteria[2].check"} <= {
        fault.place for fault in refusal.value.faults
    }


@pytest.mark.parametrize(
    "text",
    [
        "[{name: a, title: T, criteria: []}]",
        "rubric: [{name: a}]\nauthor: x",
        "rubric: {title: T, criteria: []}\ntitle: U",
        "rubric: [{name: a}]\ncriteria: []",
        "rubric: {rubric: [{name: a}]}",
        "sections: [{title: S, criteria: [{group: R}]}]",
    ],
)
def test_a_form_of_rubric_that_cannot_be_read_is_no_draft(text: str) -> None:
    with pytest.raises(Invalid) as refusal:
        rubrics.read_draft(text)
    assert all(fault.place.startswith("line ") for fault in refusal.value.faults)


@pytest.mark.parametrize(
    "text",
    [
        "- {requirement: a}\n- {title: S, criteria: [{name: half}]}",
        "rubric:\n- {requirement: a}\n- {title: S, criteria: [{name: half}]}",
        "rubric: {criteria: [{requirement: a}], sections: [{title: S, criteria: [{name: half}]}]}",
        "criteria: [{requirement: a}]\nsections: [{title: S, criteria: [{name: half}]}]",
        '{"rubric": [{"requirement": "a"}, {"name": "S", "criteria": [{"name": "half"}]}]}',
    ],
)
def test_a_draft_is_one_list_whatever_form_was_typed(text: str) -> None:
    draft = rubrics.read_draft(text)
    assert draft["criteria"] == [{"requirement": "a"}, {"name": "half", "group": "S"}]


def test_a_wrapped_rubric_keeps_what_stands_beside_it() -> None:
    draft = rubrics.read_draft("rubric: {title: T, criteria: []}\nguidelines: Be kind.")
    assert (draft["title"], draft["guidelines"]) == ("T", "Be kind.")


def test_a_rubric_file_of_the_published_packages_is_imported(people: Cast) -> None:
    data = b'{"rubric": [{"name": "Facts", "criteria": [{"weight": 2, "requirement": "Is true."}]}]}'
    version = rubrics.import_rubric(people.team, by=people.ed, data=data, filename="facts.json")
    [criterion] = version.criteria.all()
    assert (criterion.group, criterion.weight) == ("Facts", 2.0)


@pytest.mark.parametrize(
    "text",
    [
        "criteria: [{options: good}]",
        "criteria: [{options: [{label: [a]}]}]",
        "criteria: [{options: [{label: a, worth: 1}]}]",
        "criteria: [{check: x, params: [1]}]",
        "criteria: [{check: x, params: {max: .nan}}]",
        "criteria: []\npass_rule: 0.5",
        "criteria: []\nlength_penalty: {free: 3}",
    ],
)
def test_what_a_form_could_not_show_is_no_draft(text: str) -> None:
    with pytest.raises(Invalid):
        rubrics.read_draft(f"title: T\n{text}")


# ── Labels ───────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def review(people: Cast, version: RubricVersion):
    dataset = factories.dataset(people.team, people.ed)
    queue = factories.queue(
        people.team, people.ed, dataset=dataset, rubric_version=version, raters=[people.ann]
    )
    found = queues.next_review(queue, people.ann, now=timezone.now())
    assert found is not None
    return found


def test_a_label_is_stored_as_the_rubric_writes_it(review) -> None:
    tone = reviews.criteria_of(review).get(name="tone")
    judgement = reviews.save_verdict(review, tone.pk, verdict="  wARM ", reason="Kind words.")
    assert judgement is not None
    assert (judgement.verdict, judgement.value) == ("Warm", None)


@pytest.mark.parametrize(
    ("name", "label", "allowed"),
    [
        ("tone", "MET", "Rude, Plain, Warm, Not applicable"),
        ("tone", "CANNOT_ASSESS", "Rude, Plain, Warm, Not applicable"),
        ("present", "Warm", "MET, UNMET or CANNOT_ASSESS"),
    ],
)
def test_a_label_of_another_kind_is_refused_with_what_is_allowed(review, name, label, allowed) -> None:
    criterion = reviews.criteria_of(review).get(name=name)
    with pytest.raises(Invalid) as refusal:
        reviews.save_verdict(review, criterion.pk, verdict=label)
    [fault] = refusal.value.faults
    assert (fault.place, fault.allowed) == ("verdict", allowed)
    assert not Judgement.objects.exists()


def test_nobody_answers_a_check_and_submitting_does_not_ask_for_one(review) -> None:
    present, tone, short = reviews.criteria_of(review).order_by("position")
    with pytest.raises(Invalid, match="short is a check"):
        reviews.save_verdict(review, short.pk, verdict="MET")
    reviews.save_verdict(review, present.pk, verdict="MET")
    with pytest.raises(Invalid) as refusal:
        reviews.submit(review, now=timezone.now())
    assert [(fault.place, fault.allowed) for fault in refusal.value.faults] == [
        ("tone", "Rude, Plain, Warm, Not applicable")
    ]
    reviews.save_verdict(review, tone.pk, verdict="Not applicable")
    reviews.submit(review, now=timezone.now())
    assert review.state == ReviewState.SUBMITTED


def test_a_check_is_shown_as_answered_to_whoever_reviews(review) -> None:
    # "Paris is the capital of France." has six words, one more than allowed.
    sheet = selected.sheet(review)
    assert (sheet.total, sheet.answered, len(sheet.missing)) == (2, 0, 2)
    short = sheet.questions[2]
    assert short.measured is not None
    assert not short.is_asked
    assert (short.measured.value, short.measured.error) == (0.0, "")
    assert "6" in short.measured.reason


def test_labels_of_choices_come_in_with_a_file(people: Cast, version: RubricVersion) -> None:
    dataset = factories.dataset(people.team, people.ed)
    data = (
        "item_id,criterion,rater,verdict,reason\n"
        "good,tone,x,warm,\ngood,tone,y,Warm,\ngood,tone,z,Plain,\ngood,present,x,met,\n"
    )
    queue = factories.import_labels(dataset, version, by=people.ed, data=data.encode(), filename="l.csv")
    stored = Judgement.objects.filter(review__queue=queue).values_list("criterion__name", "verdict")
    assert sorted(stored) == [("present", "MET"), ("tone", "Plain"), ("tone", "Warm"), ("tone", "Warm")]


def test_labels_for_checks_and_of_other_kinds_are_refused_all_at_once(
    people: Cast, version: RubricVersion
) -> None:
    dataset = factories.dataset(people.team, people.ed)
    data = (
        "item_id,criterion,rater,verdict\n"
        "good,tone,x,MET\ngood,short,x,MET\nnowhere,present,x,MET\ngood,present,x,Warm\n"
    )
    with pytest.raises(Invalid) as refusal:
        factories.import_labels(dataset, version, by=people.ed, data=data.encode(), filename="l.csv")
    assert [fault.place for fault in refusal.value.faults] == [
        "line 2: verdict",
        "line 3: verdict",
        "line 4: item_id",
        "line 5: verdict",
    ]


def test_deciding_a_choice_takes_an_option_and_names_the_majority(
    people: Cast, version: RubricVersion
) -> None:
    dataset = factories.dataset(people.team, people.ed)
    data = "item_id,criterion,rater,verdict\ngood,tone,x,Warm\ngood,tone,y,Warm\n"
    factories.import_labels(dataset, version, by=people.ed, data=data.encode(), filename="l.csv")
    item, tone = dataset.items.get(key="good"), version.criteria.get(name="tone")
    with pytest.raises(Invalid, match="Most raters said Warm"):
        adjudications.adjudicate(item, tone, by=people.rae, verdict="plain", cause="human_wrong")
    decided = adjudications.adjudicate(
        item, tone, by=people.rae, verdict="plain", cause="human_wrong", reason="Not warm."
    )
    assert decided.verdict == "Plain"


def test_labels_of_several_raters_in_a_dataset_become_their_reviews(people: Cast) -> None:
    data = b"""
{"rubric": {"title": "Tone", "criteria": [{"name": "tone", "requirement": "How friendly?",
  "options": [{"label": "Rude", "value": 0}, {"label": "Warm", "value": 1}]},
  {"name": "said", "requirement": "Says hello."}]},
 "items": [{"id": "a", "submission": "Hello!", "ground_truth": ["warm", "MET"],
            "labels": {"x": ["Warm", null], "y": {"said": "MET"}}}]}
"""
    dataset = factories.import_dataset(people.team, by=people.ed, data=data, filename="t.json", name="Tone")
    stored = Judgement.objects.filter(item__dataset=dataset).values_list(
        "review__queue__name", "review__rater__name", "criterion__name", "verdict"
    )
    assert sorted(stored) == [
        ("Ground truth of Tone", "ground truth", "said", "MET"),
        ("Ground truth of Tone", "ground truth", "tone", "Warm"),
        ("Labels of Tone", "x", "tone", "Warm"),
        ("Labels of Tone", "y", "said", "MET"),
    ]
    with pytest.raises(Conflict):
        factories.import_dataset(people.team, by=people.ed, data=data, filename="t.json", name="Tone")
