"""After the reveal: keep, change or unclear, stored beside the initial label and counted where it belongs."""

import pytest
from django.utils import timezone

from rubricweb.engine.verdict import Verdict
from rubricweb.errors import Conflict, Invalid, NotFound, Withheld
from rubricweb.models import (
    Criterion,
    JournalEntry,
    Judgement,
    Review,
    ReviewQueue,
    Revision,
    RubricVersion,
    Run,
    User,
)
from rubricweb.selectors.comparison import comparison
from rubricweb.selectors.exports.ground_truth import ground_truth_items, settled_labels
from rubricweb.selectors.labels.ground_truth import ground_truth, labels
from rubricweb.selectors.reviews.reveals import reveal
from rubricweb.services import adjudications
from rubricweb.services.datasets import splits
from rubricweb.services.reviews import queues, reviews, revisions
from tests import factories
from tests.factories import Cast
from tests.judging import InProcessJudge, grade


@pytest.fixture
def version(people: Cast) -> RubricVersion:
    return factories.version(people.team, people.ed)


@pytest.fixture
def run(people: Cast, version: RubricVersion) -> Run:
    """The judge says MET to everything."""
    run = factories.run(
        people.team,
        people.ed,
        dataset=factories.dataset(people.team, people.ed),
        rubric_version=version,
    )
    return grade(run, InProcessJudge(lambda requirement, response: "MET"))


@pytest.fixture
def queue(people: Cast, run: Run, version: RubricVersion) -> ReviewQueue:
    return factories.queue(
        people.team,
        people.ed,
        dataset=run.dataset,
        rubric_version=version,
        raters=[people.ann, people.rae, people.ed],
        raters_per_item=3,
        run=run,
    )


def reviewed(queue: ReviewQueue, user: User, *said: str, key: str = "good") -> Review:
    """The person's submitted review of one item: a letter per criterion, M or U."""
    words = {"M": Verdict.MET, "U": Verdict.UNMET}
    review = queues.start_review(queue, queue.dataset.items.get(key=key), user)
    for criterion, letter in zip(reviews.criteria_of(review).order_by("position"), said, strict=True):
        reviews.save_verdict(review, criterion.pk, verdict=words[letter], reason="at first sight")
    reviews.submit(review, now=timezone.now())
    return review


def criterion(version: RubricVersion, name: str) -> Criterion:
    return version.criteria.get(name=name)


def test_the_initial_label_stays_beside_the_final_one(
    people: Cast, queue: ReviewQueue, version: RubricVersion
) -> None:
    review, capital = reviewed(queue, people.ann, "U", "M", "U"), criterion(version, "capital")
    revisions.revise(
        review, capital.pk, choice="change", verdict=Verdict.MET, reason="It is named in line two."
    )
    stored = Revision.objects.get()
    assert (stored.choice, stored.verdict, stored.reason) == ("change", "MET", "It is named in line two.")
    assert (stored.run_id, stored.judge_verdict) == (queue.run_id, "MET")
    assert stored.judgement.verdict == "UNMET"
    [row] = [row for row in reveal(review) if row.criterion == capital]
    assert (row.mine, row.is_open, row.decided) == ("UNMET", False, "MET")
    # Said once more, the newest counts; the label is the initial one again.
    revisions.revise(review, capital.pk, choice="keep")
    assert list(Revision.objects.values_list("choice", "verdict")) == [("keep", "UNMET")]
    verbs = (
        JournalEntry.objects.filter(verb="revised").order_by("pk").values_list("detail__choice", flat=True)
    )
    assert list(verbs) == ["change", "keep"]


@pytest.mark.parametrize(
    ("said", "place"),
    [
        ({"choice": "change", "verdict": "MET"}, "reason"),
        ({"choice": "change", "verdict": "MET", "reason": "  "}, "reason"),
        ({"choice": "change", "reason": "Because."}, "verdict"),
        ({"choice": "change", "verdict": "UNMET", "reason": "Because."}, "verdict"),  # what was said already
        ({"choice": "change", "verdict": "maybe", "reason": "Because."}, "verdict"),
        ({"choice": "waver"}, "choice"),
        ({"choice": "keep", "reason": "x" * 10_001}, "reason"),
    ],
)
def test_what_makes_no_sense_is_refused_with_its_place(
    people: Cast, queue: ReviewQueue, version: RubricVersion, said, place: str
) -> None:
    review = reviewed(queue, people.ann, "U", "M", "U")
    with pytest.raises(Invalid) as refusal:
        revisions.revise(review, criterion(version, "capital").pk, **said)
    assert [fault.place for fault in refusal.value.faults] == [place]
    assert not Revision.objects.exists()


def test_nothing_is_revised_before_the_reveal_and_after_closing(
    people: Cast, queue: ReviewQueue, version: RubricVersion
) -> None:
    capital = criterion(version, "capital")
    draft = queues.start_review(queue, queue.dataset.items.get(key="bad"), people.ann)
    reviews.save_verdict(draft, capital.pk, verdict=Verdict.UNMET)
    with pytest.raises(Withheld):
        revisions.revise(draft, capital.pk, choice="keep")
    review = reviewed(queue, people.ann, "U", "M", "U")
    other = factories.version(people.team, people.ed, title="Other")
    with pytest.raises(NotFound):
        revisions.revise(review, other.criteria.all()[0].pk, choice="keep")
    queues.close_queue(queue, by=people.ed)
    for change in (
        lambda: revisions.revise(review, capital.pk, choice="keep"),
        lambda: revisions.keep_all(review),
    ):
        with pytest.raises(Conflict, match="closed"):
            change()


def test_another_blind_queue_over_the_item_withholds_revising_too(
    people: Cast, queue: ReviewQueue, version: RubricVersion
) -> None:
    factories.queue(
        people.team,
        people.ed,
        dataset=queue.dataset,
        rubric_version=version,
        raters=[people.ann],
        name="Again",
    )
    review = reviewed(queue, people.ann, "U", "M", "U")
    with pytest.raises(Withheld):
        revisions.revise(review, criterion(version, "capital").pk, choice="keep")


def test_keeping_all_leaves_what_was_said_and_what_nobody_differs_on(
    people: Cast, queue: ReviewQueue, version: RubricVersion
) -> None:
    # The judge says MET three times: ann differs on the first and the third.
    review = reviewed(queue, people.ann, "U", "M", "U")
    revisions.revise(review, criterion(version, "capital").pk, choice="unclear", reason="Which capital?")
    assert revisions.keep_all(review) == 1
    assert revisions.keep_all(review) == 0
    said = Revision.objects.order_by("judgement__criterion__position")
    assert list(said.values_list("judgement__criterion__name", "choice", "verdict")) == [
        ("capital", "unclear", "UNMET"),
        ("wrong_country", "keep", "UNMET"),
    ]


def test_ground_truth_counts_final_labels_and_agreement_initial_ones(
    people: Cast, queue: ReviewQueue, run: Run, version: RubricVersion
) -> None:
    # capital: ann U, rae U, ed M; ann changes to M. Majority UNMET at first, MET in the end; the judge MET.
    ann = reviewed(queue, people.ann, "U", "M", "U")
    reviewed(queue, people.rae, "U", "M", "U")
    reviewed(queue, people.ed, "M", "M", "U")
    capital, good = criterion(version, "capital"), queue.dataset.items.get(key="good")
    revisions.revise(ann, capital.pk, choice="change", verdict=Verdict.MET, reason="Line two.")

    stands = ground_truth([queue])[good.pk, capital.pk]
    assert (stands.verdict, stands.rule, stands.labels) == ("MET", "majority", 3)
    assert sorted(labels([queue])[good.pk, capital.pk].values()) == ["MET", "UNMET", "UNMET"]
    assert sorted(labels([queue], final=True)[good.pk, capital.pk].values()) == ["MET", "MET", "UNMET"]
    [exported] = ground_truth_items(queue.dataset, settled_labels([queue]))
    assert exported.ground_truth == ("MET", "MET", "UNMET")

    # Agreement: truth U M U against the judge's M M M is 1 of 3; with final labels it would be 2 of 3.
    found = comparison.compare(run, [queue], viewer=people.bob)
    assert found.overall.accuracy.value == pytest.approx(1 / 3)
    overview = comparison.overview(run, [queue], viewer=people.bob)
    assert overview.overall.accuracy.value == pytest.approx(1 / 3)
    assert overview.ceiling == found.ceiling
    # The matrix counts what was said before the reveal.
    assert comparison.cell_units(run, [queue], judged="MET", truth="UNMET", criterion=capital) == [
        (good.pk, capital.pk)
    ]

    # The reveal counts the labels of all queues: MET, MET, UNMET here, and UNMET twice elsewhere.
    data = b"item_id,criterion,rater,verdict\ngood,capital,x,UNMET\ngood,capital,y,UNMET\n"
    factories.import_labels(queue.dataset, version, by=people.ed, data=data, filename="elsewhere.csv")
    [row] = [row for row in reveal(ann) if row.criterion == capital]
    assert (row.decided, row.by_adjudication) == ("UNMET", False)

    # An adjudication stands above both.
    adjudications.adjudicate(
        good, capital, by=people.alice, verdict=Verdict.UNMET, cause="human_wrong", reason="No."
    )
    assert ground_truth([queue])[good.pk, capital.pk].rule == "adjudicated"
    assert ground_truth([queue])[good.pk, capital.pk].verdict == "UNMET"


def test_the_halves_of_a_split_keep_final_labels(
    people: Cast, queue: ReviewQueue, version: RubricVersion
) -> None:
    for key in ("good", "bad"):
        review = reviewed(queue, people.ann, "U", "M", "U", key=key)
        revisions.revise(
            review, criterion(version, "capital").pk, choice="change", verdict=Verdict.MET, reason="Yes."
        )
    queues.close_queue(queue, by=people.ed)
    made = splits.split_dataset(queue.dataset, n_dev=1, by=people.ed)
    for half in (made.dev, made.test):
        [copied] = half.queues.all()
        [item] = ground_truth_items(half, settled_labels([copied]))
        assert item.ground_truth == ("MET", "MET", "UNMET")
        assert Judgement.objects.get(review__queue=copied, criterion__name="capital").verdict == "UNMET"
