"""Two worlds that differ in what a prober, and others, said of an item before it was asked in other words."""

from dataclasses import dataclass

from django.db.models import F
from django.utils import timezone

from rubricweb.engine.verdict import Verdict
from rubricweb.models import Dataset, Review, ReviewQueue, RubricVersion, Run, RunTally
from rubricweb.services import adjudications, comments
from rubricweb.services.label_queues import QueueWish, publish
from rubricweb.services.reviews import queues, reviews
from rubricweb.services.rubrics import rubrics
from rubricweb.services.rubrics.label_decisions import NewLabelDecision
from tests import factories
from tests.factories import Cast
from tests.judging import InProcessJudge, grade
from tests.worlds.blinding.two_worlds import HOUR
from tests.worlds.versions import CRITERIA


@dataclass(frozen=True)
class ProbedWorld:
    """alice, who owns the team, is to label `item` again in the `probe`, and has done so with all others.

    `earlier` is her review of it under the words before, `of_copy` that of the same words in another dataset.
    """

    first: RubricVersion
    second: RubricVersion
    dataset: Dataset
    before: Run
    run: Run
    labelled: ReviewQueue
    probe: ReviewQueue
    earlier: Review
    of_copy: Review
    draft: Review


def probed_world(people: Cast, *, met: bool) -> ProbedWorld:
    """Everybody found that the item `bad` names Paris and is warm, or that it does not and is rude."""
    team, ed, alice = people.team, people.ed, people.alice
    identified = [{**criterion, "id": criterion["name"]} for criterion in CRITERIA]
    first = factories.version(team, ed, criteria=identified)
    bad = next(item for item in factories.ITEMS if item["id"] == "bad")
    dataset = factories.dataset(team, ed)
    copies = factories.dataset(team, ed, name="subset", items=[{**bad, "id": "of the subset"}])
    judge = InProcessJudge(lambda requirement, response: "MET")
    before = grade(factories.run(team, ed, dataset=dataset, rubric_version=first, name="Before"), judge)
    labelled, elsewhere = (
        factories.queue(
            team,
            ed,
            dataset=one,
            rubric_version=first,
            raters=raters,
            raters_per_item=len(raters),
            name=name,
            run=before if one == dataset else None,
        )
        for one, raters, name in (
            (dataset, [alice, people.ann], "Before"),
            (copies, [alice], "The copy before"),
        )
    )
    for queue, users in ((labelled, (alice, people.ann)), (elsewhere, (alice,))):
        for user in users:
            while (review := queues.next_review(queue, user, now=timezone.now())) is not None:
                _answer(review, met=met or "Belgium" not in review.item.submission)
    item = dataset.items.get(key="bad")
    for author in (alice, people.ann):
        comments.write(item, by=author, text=f"I find it {'warm' if met else 'rude'}, @alice @ann.")
    adjudications.adjudicate(
        item,
        first.criteria.get(name="capital"),
        by=ed,
        verdict=Verdict.MET if met else Verdict.UNMET,
        cause="human_wrong",
        reason="As they say.",
    )
    second = _reworded(people, first)
    run = grade(factories.run(team, ed, dataset=dataset, rubric_version=second, name="After"), judge)
    probe = ReviewQueue.objects.get(label_decision__isnull=False, dataset=dataset)
    for other in dataset.items.exclude(pk=item.pk):
        _answer(queues.start_review(probe, other, alice), met=True)
    draft = queues.start_review(probe, item, alice)
    again = ReviewQueue.objects.get(label_decision__isnull=False, dataset=copies)
    queues.start_review(again, copies.items.get(), alice)
    RunTally.objects.update(beat_at=F("beat_at") - HOUR)
    own = Review.objects.filter(rater__user=alice)
    return ProbedWorld(
        first=first,
        second=second,
        dataset=dataset,
        before=before,
        run=run,
        labelled=labelled,
        probe=probe,
        earlier=own.get(queue=labelled, item=item),
        of_copy=own.get(queue=elsewhere),
        draft=draft,
    )


def _answer(review: Review, *, met: bool) -> None:
    for criterion in reviews.criteria_of(review):
        told = ("warm" if met else "rude") if criterion.kind == "choice" else ("MET" if met else "UNMET")
        usual = criterion.name not in ("capital", "tone")
        verdict = "UNMET" if usual else told
        reviews.save_verdict(review, criterion.pk, verdict=verdict, reason=f"It is {verdict}.")
    reviews.save_note(review, note=f"I say {'yes' if met else 'no'}.", flagged=True)
    reviews.submit(review, now=timezone.now())


def _reworded(people: Cast, first: RubricVersion) -> RubricVersion:
    """The next version: `capital` is probed with alice on all items, `tone` waits for a decision."""
    rubric = first.rubric
    assert rubric is not None
    rubric.refresh_from_db()
    capital, *others, tone = list(rubric.draft["criteria"])
    capital = {**capital, "requirement": "Names Paris as the capital of France."}
    draft = {**rubric.draft, "criteria": [capital, *others, {**tone, "requirement": "Is it friendly?"}]}
    rubrics.save_draft(rubric, draft=draft, revision=rubric.draft_revision)
    second = publish(
        rubric,
        by=people.ed,
        decisions={"capital": NewLabelDecision("probe", reason="Is it the same?")},
        opening={"capital": QueueWish(raters=[people.alice], size=4, seed=1)},
    )
    return RubricVersion.objects.prefetch_related("criteria").get(pk=second.pk)
