"""What labels show about criteria: counts by hand, blind items left out, as many queries as before."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from rubricweb.models import RubricVersion
from rubricweb.selectors.labels.label_evidence import label_evidence
from rubricweb.selectors.rubrics.label_changes import changes_in_version
from rubricweb.selectors.rubrics.versions import version_with_criteria
from rubricweb.services.rubrics import rubrics
from rubricweb.services.rubrics.label_decisions import NewLabelDecision, decide
from tests import factories
from tests.factories import Cast
from tests.judging import LabelJudge, grade

CRITERIA: list[dict[str, Any]] = [
    {"name": "right", "weight": 1, "requirement": "Is right."},
    {
        "name": "tone",
        "weight": 1,
        "requirement": "Which tone?",
        "options": [
            {"label": "Rude", "value": 0},
            {"label": "Warm", "value": 1},
            {"label": "Cannot tell", "na": True},
        ],
    },
    {"name": "short", "weight": 1, "check": "length_between", "params": {"max": 50}},
]


def labelled(people: Cast, name: str, items: int) -> RubricVersion:
    """x and y say MET and Rude of every item, but y MET, Cannot tell of the first; the judge MET and Warm."""
    version = factories.version(people.team, people.ed, title=name, criteria=CRITERIA)
    rows = [{"id": str(number), "submission": f"{name} {number}"} for number in range(items)]
    dataset = factories.dataset(people.team, people.ed, name=name, items=rows)
    lines = ["item_id,criterion,rater,verdict,reason"]
    for number in range(items):
        for rater in "xy":
            tone = "Cannot tell" if (number, rater) == (0, "y") else "Rude"
            lines += [f"{number},right,{rater},MET,", f"{number},tone,{rater},{tone},"]
    factories.import_labels(
        dataset, version, by=people.ed, data="\n".join(lines).encode(), filename=f"{name}.csv"
    )
    for _ in range(2):
        run = factories.run(people.team, people.ed, dataset=dataset, rubric_version=version)
        grade(run, LabelJudge(lambda _, asked, __: "MET" if "Is right" in asked else "Warm"))
    return version_with_criteria(version.pk)


@pytest.fixture
def version(people: Cast) -> RubricVersion:
    return labelled(people, "Twelve", 12)


def test_labels_of_people_are_counted_and_items_once_whatever_the_runs(
    people: Cast, version: RubricVersion
) -> None:
    right, tone = label_evidence(version, people.team, viewer=people.bob)
    assert (right.criterion, right.items, right.labels) == (0, 12, {"MET": 24})
    # Only one verdict was ever used: no disagreement to expect.
    assert (right.alpha, right.alpha_units) == (None, 12)
    assert right.judge_bias is not None
    assert (right.judge_bias.value, right.judge_bias.n) == (0, 12)
    assert (tone.criterion, tone.labels) == (1, {"Rude": 23, "Cannot tell": 1})
    # Item 0 has one label that is no gap: Rude, of x alone.
    assert tone.alpha_units == 11
    assert tone.judge_bias is not None
    assert (tone.judge_bias.value, tone.judge_bias.n) == (1, 12)


def test_the_api_shows_what_labels_say_beside_the_text(
    people: Cast, as_member, version: RubricVersion
) -> None:
    found = as_member(people.bob).get(f"/rubric-versions/{version.pk}/lint")["items"]
    of_labels = {(one["rule"], one["criterion"]) for one in found if one["reads"] == "data"}
    assert of_labels == {("never_varies", 0), ("never_varies", 1), ("judge_bias", 1)}


def test_labels_carried_to_other_options_are_seen_where_nothing_else_was_labelled(
    people: Cast, as_member, version: RubricVersion
) -> None:
    """The next version asks for the tone alone, Cold or Warm: Rude counts as Cold, Cannot tell as nothing."""
    rubric = version.rubric
    assert rubric is not None
    rubric.refresh_from_db()
    tone = {
        **rubric.draft["criteria"][1],
        "options": [{"label": "Cold", "value": 0}, {"label": "Warm", "value": 1}],
    }
    rubrics.save_draft(rubric, draft={**rubric.draft, "criteria": [tone]}, revision=rubric.draft_revision)
    second = version_with_criteria(rubrics.publish(rubric, by=people.ed).pk)
    [change] = changes_in_version(second, viewer=people.ed).changes
    assert label_evidence(second, people.team, viewer=people.bob) == []
    options = {"Rude": "Cold", "Warm": "Warm", "Cannot tell": None}
    decide(second, change.uid, NewLabelDecision("carry", options), by=people.ed)
    [found] = label_evidence(second, people.team, viewer=people.bob)
    # x and y said Rude of all twelve but y of one.
    assert (found.criterion, found.items, found.labels) == (0, 12, {"Cold": 23})
    shown = as_member(people.bob).get(f"/rubric-versions/{second.pk}/lint")["items"]
    assert [(one["rule"], one["criterion"]) for one in shown if one["reads"] == "data"] == [
        ("never_varies", 0)
    ]


def test_the_page_of_a_version_shows_it_too(people: Cast, sign_in, version: RubricVersion) -> None:
    url = reverse("rubric_version", args=[people.team.slug, version.rubric_id, version.number])
    page = sign_in(people.bob).get(url).content.decode()
    assert "Always MET, over 12 items" in page
    assert "The judge is more lenient than people over 12 items: bias +1.00" in page


def test_a_blind_rater_is_told_nothing_of_hidden_items(
    people: Cast, as_member, sign_in, version: RubricVersion
) -> None:
    dataset = version.queues.get().dataset
    factories.queue(
        people.team, people.ed, dataset=dataset, rubric_version=version, raters=[people.ann], name="Blind"
    )
    assert label_evidence(version, people.team, viewer=people.ann) == []
    found = as_member(people.ann).get(f"/rubric-versions/{version.pk}/lint")["items"]
    assert not [one for one in found if one["reads"] == "data"]
    url = reverse("rubric_version", args=[people.team.slug, version.rubric_id, version.number])
    assert "Always MET" not in sign_in(people.ann).get(url).content.decode()
    assert label_evidence(version, people.team, viewer=people.bob)


def test_more_items_ask_no_more_queries(people: Cast, version: RubricVersion) -> None:
    larger = labelled(people, "Thirty", 30)
    counted = []
    for one in (version, larger):
        with CaptureQueriesContext(connection) as queries:
            assert label_evidence(one, people.team, viewer=people.bob)
        counted.append(len(queries))
    assert counted[0] == counted[1] <= 13


def test_a_version_nobody_labelled_has_no_evidence(people: Cast) -> None:
    fresh = version_with_criteria(factories.version(people.team, people.ed).pk)
    assert label_evidence(fresh, people.team, viewer=people.bob) == []
