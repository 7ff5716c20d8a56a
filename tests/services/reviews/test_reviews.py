"""Reviews by people: handed out fairly, saved at once, submitted whole, decided with reasons."""

import pytest
from django.utils import timezone

from rubricweb.engine.verdict import Verdict
from rubricweb.errors import Conflict, Forbidden, Invalid, NotFound, Withheld
from rubricweb.models import Judgement, Rater, Review, ReviewQueue, ReviewState, RubricVersion, User
from rubricweb.selectors.labels.ground_truth import ground_truth
from rubricweb.services import adjudications
from rubricweb.services.reviews import queues, reviews
from tests import factories
from tests.factories import Cast


@pytest.fixture
def version(people: Cast) -> RubricVersion:
    return factories.version(people.team, people.ed)


@pytest.fixture
def queue(people: Cast, version: RubricVersion) -> ReviewQueue:
    return factories.queue(
        people.team,
        people.ed,
        dataset=factories.dataset(people.team, people.ed),
        rubric_version=version,
        raters=[people.ann, people.rae],
        raters_per_item=1,
    )


def next_review(queue: ReviewQueue, user: User) -> Review | None:
    return queues.next_review(queue, user, now=timezone.now())


def answer_all(review: Review, verdict: Verdict = Verdict.MET) -> None:
    for criterion in reviews.criteria_of(review):
        reviews.save_verdict(review, criterion.pk, verdict=verdict)


def test_items_are_handed_out_once_and_an_open_draft_comes_back(people: Cast, queue: ReviewQueue) -> None:
    mine, theirs = next_review(queue, people.ann), next_review(queue, people.rae)
    assert mine is not None
    assert theirs is not None
    assert [mine.item.key, theirs.item.key] == ["good", "bad"]
    assert next_review(queue, people.ann) == mine


def test_nobody_gets_more_when_every_item_is_taken(people: Cast, queue: ReviewQueue) -> None:
    for _ in range(3):
        review = next_review(queue, people.ann)
        assert review is not None
        answer_all(review)
        reviews.submit(review, now=timezone.now())
    assert next_review(queue, people.ann) is None
    assert next_review(queue, people.rae) is None


def test_a_skipped_item_goes_to_somebody_else(people: Cast, queue: ReviewQueue) -> None:
    review = next_review(queue, people.ann)
    assert review is not None
    reviews.skip(review, reason="I wrote this one myself.")
    again = next_review(queue, people.ann)
    other = next_review(queue, people.rae)
    assert again is not None
    assert other is not None
    assert again.item.key == "bad"
    assert other.item.key == "good"


def test_skipping_needs_a_reason(people: Cast, queue: ReviewQueue) -> None:
    review = next_review(queue, people.ann)
    assert review is not None
    with pytest.raises(Invalid, match="why you skip"):
        reviews.skip(review, reason="  ")


def test_each_verdict_is_stored_at_once_and_the_newest_wins(people: Cast, queue: ReviewQueue) -> None:
    review = next_review(queue, people.ann)
    assert review is not None
    criterion = reviews.criteria_of(review)[0]
    reviews.save_verdict(review, criterion.pk, verdict=Verdict.MET, reason="It says so.")
    reviews.save_verdict(review, criterion.pk, verdict=Verdict.UNMET)
    stored = Judgement.objects.get(review=review)
    assert (stored.verdict, stored.reason) == ("UNMET", "It says so.")
    reviews.save_verdict(review, criterion.pk, verdict=None)
    assert not Judgement.objects.filter(review=review).exists()


def test_submitting_names_the_criteria_still_open(people: Cast, queue: ReviewQueue) -> None:
    review = next_review(queue, people.ann)
    assert review is not None
    reviews.save_verdict(review, reviews.criteria_of(review)[0].pk, verdict=Verdict.MET)
    with pytest.raises(Invalid) as refusal:
        reviews.submit(review, now=timezone.now())
    assert [fault.place for fault in refusal.value.faults] == ["concise", "wrong_country"]
    assert Review.objects.get(pk=review.pk).state == ReviewState.DRAFT


def test_a_submitted_review_no_longer_changes(people: Cast, queue: ReviewQueue) -> None:
    review = next_review(queue, people.ann)
    assert review is not None
    answer_all(review)
    reviews.submit(review, now=timezone.now())
    reviews.submit(review, now=timezone.now())  # a second click is harmless
    with pytest.raises(Conflict, match="already submitted"):
        answer_all(review)


def test_a_closed_queue_keeps_drafts_and_takes_no_more(people: Cast, queue: ReviewQueue) -> None:
    review = next_review(queue, people.ann)
    assert review is not None
    reviews.save_verdict(review, reviews.criteria_of(review)[0].pk, verdict=Verdict.MET)
    queues.close_queue(queue, by=people.ed)
    with pytest.raises(Conflict, match="closed"):
        answer_all(review)
    assert Judgement.objects.filter(review=review).count() == 1


def test_only_raters_of_the_queue_review(people: Cast, queue: ReviewQueue) -> None:
    with pytest.raises(Forbidden, match="not one of the raters"):
        next_review(queue, people.alice)


def test_a_criterion_of_another_rubric_is_not_found(people: Cast, queue: ReviewQueue) -> None:
    other = factories.version(people.team, people.ed, title="Other")
    review = next_review(queue, people.ann)
    assert review is not None
    with pytest.raises(NotFound):
        reviews.save_verdict(review, other.criteria.all()[0].pk, verdict=Verdict.MET)


def test_viewers_cannot_be_raters(people: Cast, version: RubricVersion) -> None:
    dataset = factories.dataset(people.team, people.ed)
    with pytest.raises(Invalid, match="Bob cannot"):
        factories.queue(people.team, people.ed, dataset=dataset, rubric_version=version, raters=[people.bob])


LABELS = """item_id,criterion,rater,verdict,reason
good,capital,x,MET,named
good,capital,y,MET,
good,capital,z,UNMET,not named
bad,capital,x,MET,
bad,capital,y,UNMET,
"""


def test_labels_from_a_file_become_submitted_reviews(people: Cast, version: RubricVersion) -> None:
    dataset = factories.dataset(people.team, people.ed)
    queue = factories.import_labels(
        dataset, version, by=people.ed, data=LABELS.encode(), filename="labels.csv"
    )
    assert (queue.name, queue.state, queue.raters_per_item) == ("labels", "closed", 3)
    assert sorted(Rater.objects.filter(queues=queue).values_list("name", flat=True)) == ["x", "y", "z"]
    assert Judgement.objects.filter(review__queue=queue).count() == 5
    stands = {
        (Judgement.objects.filter(item_id=unit[0]).first().item.key): (truth.verdict, truth.rule)  # type: ignore[union-attr]  # labelled units have one
        for unit, truth in ground_truth([queue]).items()
    }
    # Two of three say MET; one against one is tied and stays open.
    assert stands == {"good": (Verdict.MET, "majority"), "bad": (None, "majority")}


def test_wrong_labels_are_refused_all_at_once_and_nothing_is_imported(
    people: Cast, version: RubricVersion
) -> None:
    data = LABELS + "nowhere,capital,x,MET,\ngood,unknown,x,MET,\n"
    with pytest.raises(Invalid) as refusal:
        factories.import_labels(
            factories.dataset(people.team, people.ed),
            version,
            by=people.ed,
            data=data.encode(),
            filename="labels.csv",
        )
    assert [fault.place for fault in refusal.value.faults] == ["line 7: item_id", "line 8: criterion"]
    assert not ReviewQueue.objects.exists()
    assert not Judgement.objects.exists()


def test_a_person_under_two_names_is_one_rater(people: Cast, version: RubricVersion) -> None:
    shown = people.team.raters.get_or_create(user=people.ann, defaults={"name": "Ann"})[0].name
    dataset = factories.dataset(people.team, people.ed)
    twice = f"item_id,criterion,rater,verdict,reason\ngood,capital,ann,MET,\ngood,capital,{shown},UNMET,\n"
    with pytest.raises(Invalid) as refusal:
        factories.import_labels(dataset, version, by=people.ed, data=twice.encode(), filename="twice.csv")
    [fault] = refusal.value.faults
    assert (fault.place, fault.found) == ("line 3", "the same item, criterion and rater as line 2")

    apart = twice.replace("good,capital,ann", "bad,capital,ann")
    queue = factories.import_labels(dataset, version, by=people.ed, data=apart.encode(), filename="apart.csv")
    assert (queue.raters_per_item, queue.raters.count()) == (1, 1)


def test_deciding_against_the_majority_needs_a_reason(people: Cast, version: RubricVersion) -> None:
    dataset = factories.dataset(people.team, people.ed)
    queue = factories.import_labels(dataset, version, by=people.ed, data=LABELS.encode(), filename="l.csv")
    good, capital = dataset.items.get(key="good"), version.criteria.get(name="capital")
    with pytest.raises(Invalid, match="Most raters said MET"):
        adjudications.adjudicate(good, capital, by=people.rae, verdict=Verdict.UNMET, cause="human_wrong")
    adjudications.adjudicate(
        good, capital, by=people.rae, verdict=Verdict.UNMET, cause="human_wrong", reason="It is a question."
    )
    truth = ground_truth([queue])[good.pk, capital.pk]
    assert (truth.verdict, truth.rule, truth.labels) == (Verdict.UNMET, "adjudicated", 3)


def test_who_is_still_to_review_an_item_blind_cannot_decide_it(
    people: Cast, queue: ReviewQueue, version: RubricVersion
) -> None:
    item, criterion = queue.dataset.items.get(key="good"), version.criteria.get(name="capital")
    with pytest.raises(Withheld, match="open blind queue"):
        adjudications.adjudicate(item, criterion, by=people.rae, verdict=Verdict.MET, cause="judge_wrong")
    queues.close_queue(queue, by=people.ed)
    adjudications.adjudicate(item, criterion, by=people.rae, verdict=Verdict.MET, cause="judge_wrong")


def test_an_unknown_cause_is_refused(people: Cast, version: RubricVersion) -> None:
    dataset = factories.dataset(people.team, people.ed)
    item, criterion = dataset.items.get(key="good"), version.criteria.get(name="capital")
    with pytest.raises(Invalid, match="judge_wrong"):
        adjudications.adjudicate(item, criterion, by=people.rae, verdict=Verdict.MET, cause="fate")
