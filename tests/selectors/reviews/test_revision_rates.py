"""How strongly a judge anchors people, and the to-do list of a rubric, worked out by hand."""

import pytest
from django.utils import timezone

from rubricweb.models import Criterion, ReviewQueue, Run, User
from rubricweb.selectors.reviews.revision_rates import revision_rates
from rubricweb.selectors.rubrics.todo import rubric_todo
from rubricweb.services import adjudications
from rubricweb.services.reviews import queues, reviews, revisions
from rubricweb.services.rubrics import rubrics
from tests import factories
from tests.factories import Cast
from tests.judging import InProcessJudge, grade


@pytest.fixture
def shown(people: Cast) -> tuple[Run, ReviewQueue]:
    """The judge says MET to everything; ann UNMET to all of two items, then one word on four of the six.

    good: capital changed to MET, concise changed to CANNOT_ASSESS, wrong_country kept; bad: capital unclear.
    """
    version = factories.version(people.team, people.ed)
    data = factories.dataset(people.team, people.ed)
    run = factories.run(people.team, people.ed, dataset=data, rubric_version=version)
    grade(run, InProcessJudge(lambda requirement, response: "MET"))
    queue = factories.queue(
        people.team, people.ed, dataset=data, rubric_version=version, raters=[people.ann], run=run
    )
    good, bad = (reviewed(queue, people.ann, key) for key in ("good", "bad"))
    capital, concise, country = version.criteria.order_by("position")
    revisions.revise(good, capital.pk, choice="change", verdict="MET", reason="Yes.")
    revisions.revise(good, concise.pk, choice="change", verdict="CANNOT_ASSESS", reason="Hm.")
    revisions.revise(good, country.pk, choice="keep")
    revisions.revise(bad, capital.pk, choice="unclear")
    return run, queue


def reviewed(queue: ReviewQueue, user: User, key: str):
    review = queues.start_review(queue, queue.dataset.items.get(key=key), user)
    for criterion in reviews.criteria_of(review):
        reviews.save_verdict(review, criterion.pk, verdict="UNMET")
    reviews.submit(review, now=timezone.now())
    return review


def test_shares_are_of_what_people_said_something_about(people: Cast, shown) -> None:
    run, queue = shown
    found = revision_rates(run, [queue], viewer=people.bob)
    overall = found.overall
    # Of 4 words 2 are changes, 1 of them to the judge's label; 2 verdicts without a word.
    assert (overall.n, overall.changed.value, overall.to_judge.value) == (4, 0.5, 0.25)
    assert (overall.unclear, overall.unanswered) == (1, 2)
    # Three words are on one item, one on the other: two items, n = 4 · 1/2 · (1.960 / 12.706)² = 0.0476.
    # Wilson of ½: half 1.960 · √(0.25 / 0.0476 + 3.8415 / 0.00906) / 81.72 = 0.4969; of ¼: 0.4969 ± 0.4962.
    assert (overall.changed.low, overall.changed.high) == pytest.approx((0.0031, 0.9969), abs=2e-4)
    assert (overall.to_judge.low, overall.to_judge.high) == pytest.approx((0.0008, 0.9931), abs=2e-4)
    capital = found.criteria[0]
    assert (capital.criterion.name, capital.n, capital.changed.value) == ("capital", 2, 0.5)
    # One word on each item: Wilson of 1 of 2, 0.5 ± 1.960 · √(0.125 + 0.2401) / 2.9207 = 0.4055.
    assert (capital.changed.low, capital.changed.high) == pytest.approx((0.0945, 0.9055), abs=2e-4)


def test_a_queue_that_showed_the_judge_before_says_nothing_about_anchoring(people: Cast, shown) -> None:
    run, queue = shown
    queue.blind = "none"
    queue.save()
    found = revision_rates(run, [queue], viewer=people.bob)
    assert (found.reveals, found.overall.n, found.overall.changed.value) == (False, 0, None)


def test_who_is_still_to_review_an_item_learns_nothing_of_it(people: Cast, shown) -> None:
    run, queue = shown
    factories.queue(
        people.team,
        people.ed,
        dataset=run.dataset,
        rubric_version=queue.rubric_version,
        raters=[people.rae],
        name="Blind",
    )
    found = revision_rates(run, [queue], viewer=people.rae)
    assert (found.overall.n, found.overall.unanswered) == (0, 0)
    assert rubric_todo(queue.rubric_version.rubric, viewer=people.rae) == []


def test_causes_add_up_until_a_version_changes_the_criterion(people: Cast, shown) -> None:
    run, queue = shown
    version = queue.rubric_version
    good, bad = (run.dataset.items.get(key=key) for key in ("good", "bad"))

    def decide(item, name: str, cause: str) -> None:
        criterion = Criterion.objects.get(version=version, name=name)
        adjudications.adjudicate(item, criterion, by=people.ed, verdict="UNMET", cause=cause, reason="So.")

    decide(good, "capital", "rubric_unclear")
    decide(bad, "capital", "judge_wrong")
    decide(good, "concise", "item_broken")
    rubric = version.rubric
    rows = rubric_todo(rubric, viewer=people.bob)
    # capital: unclear on good by decision, on bad by ann's word; judge wrong on bad.
    assert [(row.criterion.name, [count for _, count in row.counts], row.done) for row in rows] == [
        ("capital", [1, 0, 2, 0], False),
        ("concise", [0, 0, 0, 1], False),
    ]
    assert rows[0].unclear_said == 1

    # Version 2 rewords capital and only reweights concise: the first is done, the second still to do.
    changed = [dict(criterion) for criterion in factories.CRITERIA]
    changed[0]["requirement"] = "Says that Paris is the capital of France."
    changed[1]["weight"] = 7.0
    rubrics.save_draft(
        rubric, draft={"title": "Capitals", "criteria": changed}, revision=rubric.draft_revision
    )
    rubrics.publish(rubric, by=people.ed)
    rows = rubric_todo(rubric, viewer=people.bob)
    assert [(row.criterion.name, row.total, row.done) for row in rows] == [
        ("concise", 1, False),
        ("capital", 3, True),
    ]
    assert rows[0].criterion.version.number == 2


def test_pages_and_api_say_the_same(people: Cast, shown, sign_in) -> None:
    run, queue = shown
    page = sign_in(people.bob).get(f"/t/{people.team.slug}/compare/?run={run.pk}&queue={queue.pk}")
    content = page.content.decode()
    assert "After seeing the judge" in content
    assert "[0.00, 1.00]" in content
    rubric = queue.rubric_version.rubric
    content = sign_in(people.bob).get(f"/t/{people.team.slug}/rubrics/{rubric.pk}/").content.decode()
    capital = queue.rubric_version.criteria.get(name="capital")
    assert f"?cause=rubric_unclear&amp;criterion={capital.pk}" in content
    listed = sign_in(people.bob).get(
        f"/t/{people.team.slug}/adjudication/?cause=rubric_unclear&criterion={capital.pk}"
    )
    assert [row.item_key for row in listed.context["page"].rows] == ["bad"]
