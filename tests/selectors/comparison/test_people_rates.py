"""People's rate of every criterion, and which items figures of labels describe."""

from typing import Any

import pytest
from django.utils import timezone

from rubricweb.models import Item, Run
from rubricweb.selectors import dashboard
from rubricweb.selectors.comparison import comparison
from rubricweb.selectors.dashboard import PassRate
from rubricweb.selectors.reviews.queue_sources import Source
from rubricweb.selectors.reviews.sampling import DescribedItems
from rubricweb.services.reviews import queues, reviews
from tests import factories
from tests.factories import Cast
from tests.judging import LabelJudge, grade
from tests.worlds.sampled import graded, label, numbered, opened, three_worst


def rates(people: Cast) -> dict[str, PassRate]:
    board = dashboard.dashboard(people.team, people.bob)
    return {str(row.criterion.name): row for row in board.pass_rates}


def imported(people: Cast, run: Run, *rows: str) -> None:
    factories.import_labels(
        run.dataset,
        run.rubric_version,
        by=people.ed,
        data="\n".join(["item_id,criterion,rater,verdict", *rows]).encode(),
        filename="labels.csv",
    )


def describes(people: Cast, run: Run, *chosen: Any) -> DescribedItems:
    found = comparison.compare(run, chosen, viewer=people.bob).describes
    assert found is not None
    return found


def test_an_item_with_more_raters_weighs_no_more(people: Cast) -> None:
    run = graded(people, numbered(6), lambda requirement, text: "MET")
    said = [("00", "x", "MET"), ("00", "y", "UNMET"), ("00", "z", "UNMET"), ("01", "x", "MET")]
    abstained = [("01", "y", "CANNOT_ASSESS"), ("02", "x", "CANNOT_ASSESS")]
    imported(people, run, *(f"{item},kind,{rater},{verdict}" for item, rater, verdict in [*said, *abstained]))
    kind = rates(people)["kind"]
    # (1/3 + 1) / 2 over the two items that somebody could assess; all four labels together would be 1/2.
    assert (kind.people.value, kind.people.n) == (pytest.approx(2 / 3), 2)
    # Labels of a file are no random sample.
    assert (kind.people.low, kind.people.high) == (None, None)
    assert kind.judge.value == 1


def test_a_choice_counts_the_mean_value_of_an_items_raters(people: Cast) -> None:
    options = [
        {"label": "Cold", "value": 0.0},
        {"label": "Mild", "value": 0.5},
        {"label": "Warm", "value": 1.0},
        {"label": "None", "value": 0.0, "na": True},
    ]
    criteria = [{"name": "tone", "weight": 1.0, "requirement": "Is it?", "options": options}]
    run = factories.run(
        people.team,
        people.ed,
        dataset=factories.dataset(people.team, people.ed, items=numbered(5)),
        rubric_version=factories.version(people.team, people.ed, criteria=criteria),
    )
    grade(run, LabelJudge(lambda name, requirement, response: "Warm"))
    imported(people, run, "00,tone,x,Cold", "00,tone,y,Mild", "01,tone,x,Warm", "02,tone,x,None")
    # (1/4 + 1) / 2; "None" says that it does not apply.
    tone = rates(people)["tone"].people
    assert (tone.value, tone.n) == (0.625, 2)


def test_a_rate_lies_between_the_worst_option_and_the_best(people: Cast) -> None:
    """Options worth ½ and 1: three of three are the best, Wilson's 3 / (3 + 3.8415) = 0.4385 of the way."""
    options = [{"label": "Mild", "value": 0.5}, {"label": "Warm", "value": 1.0}]
    criteria = [{"name": "tone", "weight": 1.0, "requirement": "Is it?", "options": options}]
    run = factories.run(
        people.team,
        people.ed,
        dataset=factories.dataset(people.team, people.ed, items=numbered(3)),
        rubric_version=factories.version(people.team, people.ed, criteria=criteria),
    )
    grade(run, LabelJudge(lambda name, requirement, response: "Warm"))
    label(opened(people, run, Source()), people.ann, 3, lambda item, name: "Warm")
    tone = rates(people)["tone"]
    for found in (tone.people, tone.judge):
        assert (found.low, found.high) == (pytest.approx(0.5 + 0.5 * 0.4385, abs=1e-4), 1.0)


@pytest.mark.parametrize("done", [3, 5, 8])
def test_labels_of_a_stratified_draw_weigh_by_it(people: Cast, done: int) -> None:
    """Strata of 12 and 4 items, 4 drawn of each. Only the 4 are brief to people: 4/16 = 0.25 by Hájek,
    however many of each are done, where the plain mean of all eight is 0.5.
    """
    run = graded(
        people, numbered(16, lambda at: {"type": "b" if at >= 12 else "a"}), lambda requirement, text: "MET"
    )
    queue = opened(people, run, Source("sample", size=8, strata_metadata="type", seed=2))
    label(
        queue,
        people.ann,
        done,
        lambda item, name: "UNMET" if item.metadata["type"] == "a" and name == "brief" else "MET",
    )
    brief = rates(people)["brief"].people
    assert (brief.value, brief.n) == (pytest.approx(0.25), done)
    assert brief.low is not None
    assert brief.high is not None
    assert brief.low < 0.25 < brief.high
    board = dashboard.dashboard(people.team, people.bob)
    assert board.agreement is not None
    assert board.agreement.rates_describe is not None
    part = "the whole random draw" if done == 8 else "the completed beginning of a random draw"
    assert board.agreement.rates_describe.sentence == (
        f"These figures describe the 16 items of capital answers; they rest on {done} labelled of {done} "
        f"items, {part}, each weighed by its chance."
    )


def test_unanswered_items_of_a_draw_are_told_by_the_two_extremes(people: Cast) -> None:
    """Of 20 drawn of 40 three could not be assessed: above a tenth. People say MET of the other 17."""
    run = graded(people, numbered(40), lambda requirement, text: "MET")
    queue = opened(people, run, Source("sample", size=20, seed=3))
    label(queue, people.ann, 3, lambda item, name: "CANNOT_ASSESS")
    label(queue, people.ann, 17, lambda item, name: "MET")
    kind = rates(people)["kind"]
    assert (kind.people.value, kind.people.n, kind.missing) == (1, 17, 3)
    assert kind.bounds is not None
    assert kind.people.low is not None
    assert kind.bounds[0] < kind.people.low
    assert kind.bounds[1] == 1


# ── Which items figures describe in which each label counts once ─────────────────────────────────


def test_picked_items_describe_themselves(people: Cast) -> None:
    found = describes(people, *three_worst(people))
    assert found.code == "labelled_items"
    assert found.sentence == (
        "These figures describe 3 labelled items alone, which are no random sample: the items of “First "
        "look” were not drawn at random."
    )


def test_a_draw_of_equal_chances_describes_all_items_from_its_beginning_on(people: Cast) -> None:
    run = graded(people, numbered(20), lambda requirement, text: "MET")
    queue = opened(people, run, Source("sample", size=10, seed=1))
    label(queue, people.ann, 4, lambda item, name: "MET")
    review = queues.next_review(queue, people.ann, now=timezone.now())
    assert review is not None
    reviews.skip(review, reason="no idea")
    label(queue, people.ann, 1, lambda item, name: "MET")
    begun = describes(people, run, queue)
    assert begun.code == "random_draw"
    assert begun.sentence == (
        "These figures describe the 20 items of capital answers; they rest on 5 labelled of 6 items, the "
        "completed beginning of a random draw."
    )
    label(queue, people.ann, 4, lambda item, name: "MET")
    assert "9 labelled of 10 items, the whole random draw." in describes(people, run, queue).sentence


def test_unequal_chances_leave_unweighted_figures_to_the_labelled_items(people: Cast) -> None:
    run = graded(
        people, numbered(16, lambda at: {"type": "b" if at >= 12 else "a"}), lambda requirement, text: "MET"
    )
    queue = opened(people, run, Source("sample", size=8, strata_metadata="type", seed=2))
    label(queue, people.ann, 8, lambda item, name: "MET")
    found = describes(people, run, queue)
    assert found == DescribedItems(
        "labelled_items",
        "These figures describe 8 labelled items alone: they were drawn with unequal chances, and here each "
        "label counts once.",
    )


def test_a_label_besides_the_draw_leaves_them_to_the_labelled_items(people: Cast) -> None:
    run = graded(people, numbered(20), lambda requirement, text: "MET")
    queue = opened(people, run, Source("sample", size=5, seed=1))
    keys = label(queue, people.ann, 5, lambda item, name: "MET")
    other = Item.objects.filter(dataset=run.dataset).exclude(key__in=keys).earliest("pk")
    picked = opened(people, run, Source("items", item_ids=(other.pk,)), name="Picked")
    label(picked, people.ann, 1, lambda item, name: "MET")
    assert describes(people, run, queue, picked).sentence == (
        "These figures describe 6 labelled items alone: 1 of them is no part of the random draw."
    )


def test_every_item_asked_about_is_no_sample(people: Cast) -> None:
    run = graded(people, numbered(3), lambda requirement, text: "MET")
    queue = opened(people, run, Source(), order="informative")
    label(queue, people.ann, 3, lambda item, name: "MET")
    found = describes(people, run, queue)
    assert found.code == "every_item"
    assert found.sentence == (
        "These figures describe the 3 items of capital answers: people were asked about every one and "
        "labelled 3."
    )
