"""Pages say what people would say of all items, or why the labels do not tell it and which would."""

import re

from django.urls import reverse

from rubricweb.engine.number_format import interval_text
from rubricweb.models import ReviewQueue
from rubricweb.selectors.comparison.people_means import estimate_of
from rubricweb.selectors.reviews.queue_sources import Source
from rubricweb.services import adjudications
from tests.factories import Cast
from tests.worlds.sampled import graded, label, numbered, opened, three_worst

REFUSED = (
    "3 of 24 items are labelled, and they are no random sample: "
    "the items of “First look” were not drawn at random."
)


def text(response) -> str:
    found = re.search(r"<main.*?</main>", response.content.decode(), re.DOTALL)
    assert found is not None
    return " ".join(re.sub(r"<[^>]+>", " ", found[0]).split()).replace(" .", ".")


def compare(people: Cast, run) -> str:
    return f"{reverse('compare', args=[people.team.slug])}?run={run.pk}"


def test_three_worst_items_are_refused_with_the_reason_on_compare_run_and_dashboard(
    people: Cast, sign_in
) -> None:
    run, _ = three_worst(people)
    bob = sign_in(people.bob)
    for address in (
        compare(people, run),
        reverse("run", args=[people.team.slug, run.pk]),
        reverse("dashboard", args=[people.team.slug]),
    ):
        page = text(bob.get(address))
        assert REFUSED in page
        assert "Have 20 items labelled that are drawn at random" in page
        assert "An editor can open such a queue." in page  # bob only views


def test_the_button_opens_exactly_the_queue_that_would_do(people: Cast, sign_in) -> None:
    run, _ = three_worst(people)
    ed = sign_in(people.ed)
    page = ed.get(compare(people, run)).content.decode()
    found = re.search(r'href="([^"]+)">Open a random queue of 20<', page)
    assert found is not None
    form = ed.get(found[1].replace("&amp;", "&")).context["form"]
    sent = {name: form[name].value() for name in form.fields if form[name].value() is not None}
    assert (sent["kind"], sent["size"]) == ("sample", "20")
    sent["raters"] = [str(people.ann.pk)]
    made = ed.post(reverse("queue_new", args=[people.team.slug]), sent)
    assert made.status_code == 302
    queue = ReviewQueue.objects.get(name=f"Random sample for run {run.pk}")
    assert (queue.order, queue.dataset, queue.rubric_version) == ("drawn", run.dataset, run.rubric_version)
    assert queue.queue_items.count() == 20
    # Twenty labels later the page tells what people would say; the dashboard and the run do, too.
    label(queue, people.ann, 20, lambda item, name: "MET" if name == "kind" else "UNMET")
    for address in (compare(people, run), reverse("run", args=[people.team.slug, run.pk])):
        page = text(ed.get(address))
        assert "no random sample" not in page
        assert "the 24 items of capital answers" in page


def test_the_page_names_population_losses_and_labels_outside_the_sample(people: Cast, sign_in) -> None:
    run = graded(people, numbered(40), lambda requirement, text: "MET")
    picked = opened(people, run, Source("filter", search="Text 3"), name="Picked")
    sample = opened(people, run, Source("sample", size=20, search="Text", seed=4), raters=[people.rae])
    label(picked, people.ann, 10, lambda item, name: "MET")
    label(sample, people.rae, 17, lambda item, name: "UNMET" if name == "kind" else "MET")
    label(sample, people.rae, 3, lambda item, name: "CANNOT_ASSESS")
    page = text(sign_in(people.bob).get(compare(people, run)))
    assert "what people would say of the 40 items of capital answers" in page
    estimate = estimate_of(run, [picked, sample], viewer=people.bob)
    these, like_these = estimate.these, estimate.like_these
    assert these is not None
    assert like_these is not None
    losses = (
        f"{these.missing} items that people were asked about have no answer: with all of them at the bottom "
        "or the top the interval would be"
    )
    of_these, of_like = (interval_text(one.worst, one.best) for one in (these, like_these))
    assert of_these != of_like
    assert f"{losses} {of_these} of these items and {of_like} of cases like these." in page
    assert "outside the sample do not count" in page


def test_cards_of_people_s_mean_give_the_bounds_of_the_population_they_name(people: Cast, sign_in) -> None:
    run = graded(people, numbered(40), lambda requirement, text: "MET")
    sample = opened(people, run, Source("sample", size=20, seed=4))
    label(sample, people.ann, 16, lambda item, name: "UNMET" if name == "kind" else "MET")
    label(sample, people.ann, 4, lambda item, name: "CANNOT_ASSESS")
    found = estimate_of(run, [sample], viewer=people.bob).like_these
    assert found is not None
    assert found.missing == 4  # of 20, above a tenth
    bob = sign_in(people.bob)
    for address in (
        reverse("run", args=[people.team.slug, run.pk]),
        reverse("dashboard", args=[people.team.slug]),
    ):
        assert (
            "4 items that people were asked about have no answer: with all of them at the bottom or the top "
            f"the interval of cases like these would be {interval_text(found.worst, found.best)}."
        ) in text(bob.get(address))


def test_below_twenty_labels_a_pilot_is_asked_for_and_not_said_to_be_enough(people: Cast, sign_in) -> None:
    run = graded(people, numbered(40), lambda requirement, text: "MET")
    sample = opened(people, run, Source("sample", size=30, seed=4))
    label(sample, people.ann, 19, lambda item, name: "UNMET" if name == "kind" else "MET")
    bob, first = sign_in(people.bob), "Label 20 random items first: fewer tell too little of the spread."
    page = text(bob.get(compare(people, run)))
    assert first in page
    assert "random labels in all" not in page
    label(sample, people.ann, 1, lambda item, name: "MET")
    assert first not in text(bob.get(compare(people, run)))


def test_no_further_labels_are_asked_for_where_all_of_a_few_items_have_one(people: Cast, sign_in) -> None:
    run = graded(people, numbered(6), lambda requirement, text: "MET")
    label(opened(people, run, Source("all")), people.ann, 6, lambda item, name: "MET")
    page = text(sign_in(people.bob).get(compare(people, run)))
    assert "People were asked about every item." in page
    assert "random items first" not in page


def test_where_people_were_overruled_bias_and_means_say_which_answers_they_are_of(
    people: Cast, sign_in
) -> None:
    run = graded(people, numbered(6), lambda requirement, text: "MET")
    queue = opened(people, run, Source("all"))
    label(queue, people.ann, 6, lambda item, name: "UNMET" if name == "brief" else "MET")
    bob = sign_in(people.bob)
    # People 0.5 on each item, the judge 1.
    page = text(bob.get(compare(people, run)))
    assert "Bias judge less people 0.50" in page
    assert "before adjudication 0.50" not in page
    item, brief = run.dataset.items.get(key="00"), run.rubric_version.criteria.get(name="brief")
    adjudications.adjudicate(item, brief, by=people.rae, verdict="MET", cause="human_wrong", reason="It is.")
    # The truth of one of twelve units is MET now, which accuracy counts. What people said stays what it was.
    page = text(bob.get(compare(people, run)))
    assert "Bias judge less people; before adjudication 0.50" in page
    assert "People say MET 50%" in page
    assert "where the decision replaces people’s verdict in accuracy and κ" in page
    labelled = "People, labelled items only plain mean, tells of these alone; before adjudication lowest 0.50"
    assert f"{labelled} 0.50" in page
    assert "People, of these items open is who was asked; before adjudication 0.50" in page


def test_items_nobody_drew_are_not_called_drawn_where_one_has_no_answer(people: Cast, sign_in) -> None:
    run = graded(people, numbered(20), lambda requirement, text: "MET")
    queue = opened(people, run, Source("all"))
    label(queue, people.ann, 1, lambda item, name: "CANNOT_ASSESS")
    label(queue, people.ann, 19, lambda item, name: "UNMET" if name == "kind" else "MET")
    bob = sign_in(people.bob)
    page = text(bob.get(compare(people, run)))
    assert "People were asked about every item." in page
    assert "1 item that people were asked about has no answer." in page
    card = text(bob.get(reverse("run", args=[people.team.slug, run.pk])))
    assert "From 19 labelled of the 20 items of capital answers, all of which people were asked about" in card
    assert "drawn at random" not in page + card


def test_with_everything_labelled_it_is_open_who_was_asked(people: Cast, sign_in) -> None:
    run = graded(people, numbered(4), lambda requirement, text: "MET")
    queue = opened(people, run, Source(), raters=[people.ann, people.rae, people.ed], raters_per_item=3)
    bob = sign_in(people.bob)
    for rater, met in ((people.ann, ("kind", "brief")), (people.rae, ("kind",))):
        label(queue, rater, 4, lambda item, name, met=met: "MET" if name in met else "UNMET")
    row = "People, of these items open is who was asked"
    two = text(bob.get(compare(people, run)))
    assert f"{row} 0.75 " in two  # and no interval
    assert (
        "What other raters would say cannot be told: it takes three people or more who rated about as many "
        "items each."
    ) in two
    label(queue, people.ed, 4, lambda item, name: "UNMET")
    # Means of 1, ½ and 0: ½ ± 4.3027·√(¼/3), cut at the ends of the scale.
    three = text(bob.get(compare(people, run)))
    assert f"{row} 0.50 [0.00, 1.00]" in three
    assert "What other raters would say" not in three


def test_three_people_tell_how_others_would_differ_and_one_does_not(people: Cast, sign_in) -> None:
    run = graded(people, numbered(24), lambda requirement, text: "MET")
    bob = sign_in(people.bob)
    alone = opened(people, run, Source("sample", size=20, seed=4), raters=[people.ann], name="Alone")
    label(alone, people.ann, 20, lambda item, name: "MET" if name == "kind" else "UNMET")
    page = text(bob.get(compare(people, run)))
    assert "People, of this one rater" in page
    assert "to tell how other people would differ takes three or more who label about as many" in page
    assert "of this one rater" in text(bob.get(reverse("run", args=[people.team.slug, run.pk])))

    raters = [people.ann, people.rae, people.ed]
    together = opened(people, run, Source("sample", size=20, seed=5), raters=raters, raters_per_item=3)
    for rater, met in zip(raters, (("kind", "brief"), ("kind",), ()), strict=True):
        label(together, rater, 20, lambda item, name, met=met: "MET" if name in met else "UNMET")
    like_these = estimate_of(run, [together], viewer=people.bob).like_these
    assert like_these is not None
    assert (like_these.raters, like_these.of_raters) == (3, "")
    # Own means 1, ½ and 0: s² = ¼, /3 = 1/12 with about two degrees of freedom: all of the scale.
    assert (like_these.low, like_these.high) == (0, 1)
    page = text(bob.get(f"{compare(people, run)}&queue={together.pk}"))
    assert "People, of cases like these" in page
    assert "items and people taken as a sample" in page
