"""Reviews that go back to their rater: what they change is stored beside what they said first."""

import pytest
from django.utils import timezone

from rubricweb.errors import Conflict, Forbidden, Invalid, Withheld
from rubricweb.models import JournalEntry, Judgement, Notice, Review, Revision, RubricVersion, Run
from rubricweb.selectors.labels.ground_truth import ground_truth
from rubricweb.selectors.reviews.leads.returns import open_return, own_returns, shown_returns
from rubricweb.selectors.reviews.revision_rates import revision_rates
from rubricweb.services.reviews import queues, reviews, revisions
from rubricweb.services.reviews.leads import returns
from tests import factories
from tests.factories import Cast
from tests.judging import InProcessJudge, grade


@pytest.fixture
def version(people: Cast) -> RubricVersion:
    return factories.version(people.team, people.ed)


@pytest.fixture
def run(people: Cast, version: RubricVersion) -> Run:
    """The judge says MET to everything."""
    data = factories.dataset(people.team, people.ed)
    run = factories.run(people.team, people.ed, dataset=data, rubric_version=version)
    grade(run, InProcessJudge(lambda requirement, response: "MET"))
    return run


@pytest.fixture
def review(people: Cast, version: RubricVersion, run: Run) -> Review:
    """ann said UNMET to all three criteria, blind."""
    queue = factories.queue(
        people.team,
        people.ed,
        dataset=run.dataset,
        rubric_version=version,
        raters=[people.ann, people.rae],
        raters_per_item=2,
        run=run,
    )
    review = queues.start_review(queue, run.dataset.items.get(key="good"), people.ann)
    for criterion in version.criteria.all():
        reviews.save_verdict(review, criterion.pk, verdict="UNMET")
    reviews.submit(review, now=timezone.now())
    return review


def test_the_first_labels_stay_and_the_new_ones_become_final(people: Cast, review: Review, run: Run) -> None:
    now = timezone.now()
    returns.send_back(review, by=people.alice, note="Paris is named in line 1.", now=now)
    assert [one.note for one in own_returns(review.queue, people.ann)] == ["Paris is named in line 1."]
    capital = Judgement.objects.get(review=review, criterion__name="capital")
    revisions.revise(review, capital.criterion_id, choice="change", verdict="MET", reason="So it is.")
    returns.send_again(review, now=now)
    capital.refresh_from_db()
    review.refresh_from_db()
    assert (capital.verdict, capital.revision.verdict) == ("UNMET", "MET")
    assert open_return(review) is None
    assert review.state == "submitted"
    assert ground_truth([review.queue])[review.item_id, capital.criterion_id].verdict == "MET"
    # What the lead's note asked for is no answer to the judge's verdict: of 3 reveals none was answered.
    rates = revision_rates(run, [review.queue], viewer=people.alice)
    assert (rates.overall.n, rates.overall.unanswered) == (0, 2)
    verbs = list(JournalEntry.objects.order_by("pk").values_list("verb", flat=True))
    assert [verb for verb in verbs if verb in ("sent back", "revised", "submitted again")] == [
        "sent back",
        "revised",
        "submitted again",
    ]


def test_its_rater_is_told_in_the_notices_and_who_else_may_see_it(people: Cast, review: Review) -> None:
    Notice.objects.filter(user=people.ann).update(read_at=timezone.now())
    returns.send_back(review, by=people.alice, note="Look again.", now=timezone.now())
    assert Notice.objects.get(user=people.ann, queue=review.queue).read_at is None
    assert len(shown_returns(review.queue, people.alice).rows) == 1
    # rae is a rater who has not reviewed the item yet: the note could tell a verdict.
    assert shown_returns(review.queue, people.rae).rows == ()


def test_who_may_not_send_it_back(people: Cast, review: Review) -> None:
    now = timezone.now()
    with pytest.raises(Withheld):
        returns.send_back(review, by=people.rae, note="I am to review it blind.", now=now)
    with pytest.raises(Forbidden):
        returns.send_back(review, by=people.ann, note="It is my own.", now=now)
    with pytest.raises(Invalid):
        returns.send_back(review, by=people.alice, note="  ", now=now)
    returns.send_back(review, by=people.alice, note="Look again.", now=now)
    with pytest.raises(Conflict):
        returns.send_back(review, by=people.alice, note="And again.", now=now)
    queues.close_queue(review.queue, by=people.ed)
    review.refresh_from_db()
    with pytest.raises(Conflict):
        returns.send_again(review, now=now)
    assert not Revision.objects.exists()
