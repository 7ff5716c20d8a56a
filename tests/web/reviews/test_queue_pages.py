"""Making and changing queues in a browser, with nothing but forms."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from rubricweb.models import Dataset, Review, ReviewQueue, Role, RubricVersion
from rubricweb.selectors.reviews.queue_sources import Source
from rubricweb.selectors.reviews.queues import queues as listed
from rubricweb.services.datasets.changes import retirement
from rubricweb.services.reviews import queue_changes, queues
from rubricweb.services.teams import teams
from tests import factories
from tests.factories import Cast
from tests.web.problems import problems


@pytest.fixture
def version(people: Cast) -> RubricVersion:
    return factories.version(people.team, people.alice)


@pytest.fixture
def dataset(people: Cast) -> Dataset:
    return factories.dataset(people.team, people.alice)


@pytest.fixture
def queue(people: Cast, dataset: Dataset, version: RubricVersion) -> ReviewQueue:
    return factories.queue(
        people.team, people.alice, dataset=dataset, rubric_version=version, raters=[people.ann, people.rae]
    )


def url(name: str, people: Cast, *ids: int) -> str:
    return reverse(name, args=[people.team.slug, *ids])


def asked(dataset: Dataset, version: RubricVersion, **more: Any) -> dict[str, Any]:
    """The form of a new queue as it is sent with its defaults."""
    return {
        "name": "Doubtful",
        "dataset": dataset.pk,
        "rubric_version": version.pk,
        "kind": "all",
        "raters_per_item": 1,
        "blind": "both",
        "order": "dataset",
        "needs_reason": "never",
        "hold_minutes": 30,
    } | more


def text(response: Any) -> str:
    return " ".join(response.content.decode().split())


def test_an_editor_opens_a_queue_of_items_that_match_for_the_whole_team(
    people: Cast, sign_in, dataset: Dataset, version: RubricVersion
) -> None:
    sent = asked(dataset, version, kind="filter", search="Belgium", everyone="on", order="shuffled")
    ed: Client = sign_in(people.ed)
    answer = ed.post(url("queue_new", people), sent)
    made = ReviewQueue.objects.get(name="Doubtful")
    assert answer["Location"] == url("queue", people, made.pk)
    page = text(ed.get(answer["Location"]))
    assert "Items with “Belgium”." in page
    assert "the whole team, future members too" in page
    assert (made.raters.count(), made.queue_items.count(), made.order) == (4, 1, "shuffled")


def test_what_a_queue_comes_to_is_said_before_it_is_opened(
    people: Cast, sign_in, dataset: Dataset, version: RubricVersion
) -> None:
    sent = asked(dataset, version, name="", kind="sample", size=2, raters_per_item=3, action="plan")
    answer = sign_in(people.ed).post(url("queue_new", people), sent)
    assert answer.status_code == 200
    page = text(answer)
    assert '<dt>Items</dt><dd class="num">2</dd>' in page
    assert '<dt>Reviews</dt><dd class="num">6</dd>' in page
    assert "2 of 3 items, each with probability 0.6667" in page
    assert not ReviewQueue.objects.exists()


# ── About some criteria ──────────────────────────────────────────────────────────────────────────


def of(version: RubricVersion, *names: str) -> list[int]:
    return [version.criteria.get(name=name).pk for name in names]


def test_the_criteria_of_the_chosen_rubric_are_offered_by_group_and_all_chosen(
    people: Cast, sign_in, dataset: Dataset, version: RubricVersion
) -> None:
    ed = sign_in(people.ed)
    address = url("queue_new", people) + f"?rubric_version={version.pk}"
    page, part = text(ed.get(address)), text(ed.get(address, headers={"HX-Request": "true"}))
    assert "<html" in page
    assert "<html" not in part
    for answer in (page, part):
        offered = re.findall(r'name="criteria" value="(\d+)" checked', answer)
        # Facts first, for it comes first in the rubric: capital, wrong_country; then Style: concise.
        assert [int(pk) for pk in offered] == of(version, "capital", "wrong_country", "concise")
        assert re.findall(r'role="group" aria-label="(\w+)"', answer) == ["Facts", "Style"]


def test_a_queue_about_some_criteria_says_so_wherever_it_is_shown(
    people: Cast, sign_in, dataset: Dataset, version: RubricVersion
) -> None:
    chosen = of(version, "wrong_country", "capital")
    sent = asked(dataset, version, everyone="on", criteria=chosen, criteria_of=version.pk)
    ed = sign_in(people.ed)
    planned = text(ed.post(url("queue_new", people), sent | {"action": "plan"}))
    assert '<dt>Criteria</dt><dd class="num">2</dd><dt>Answers</dt><dd class="num">6</dd>' in planned
    # The choice stands on the page again.
    assert planned.count('name="criteria"') == 3
    assert len(re.findall(r'name="criteria" value="\d+" checked', planned)) == 2
    page = text(ed.post(url("queue_new", people), sent, follow=True))
    assert '<dt>Criteria</dt><dd class="wrap-anywhere">capital, wrong_country</dd>' in page
    assert "2 criteria" in text(ed.get(url("queues", people)))


def test_a_form_that_showed_all_criteria_ticked_limits_nothing(
    people: Cast, sign_in, dataset: Dataset, version: RubricVersion
) -> None:
    chosen = of(version, "capital", "concise", "wrong_country")
    sent = asked(dataset, version, everyone="on", criteria=chosen, criteria_of=version.pk)
    page = text(sign_in(people.ed).post(url("queue_new", people), sent, follow=True))
    assert not ReviewQueue.objects.get().criteria.exists()
    assert '<dt>Criteria</dt><dd class="wrap-anywhere">all</dd>' in page


def test_criteria_of_another_rubric_than_the_one_now_chosen_are_refused_and_its_own_are_shown(
    people: Cast, sign_in, dataset: Dataset, version: RubricVersion
) -> None:
    """As without scripts: the rubric is changed, and the criteria below stay those of the one before."""
    other = factories.version(people.team, people.ed, title="Other")
    seen = {"criteria": of(version, "capital"), "criteria_of": version.pk}
    sent = asked(dataset, other, everyone="on", **seen)
    answer = sign_in(people.ed).post(url("queue_new", people), sent)
    assert answer.status_code == 422
    assert "The rubric was changed: look at what people are asked about now." in text(answer)
    assert f'name="criteria_of" value="{other.pk}"' in text(answer)
    assert len(re.findall(r'name="criteria" value="\d+" checked', text(answer))) == 3


@pytest.mark.parametrize(
    ("criteria", "words"),
    [
        ([], "Choose at least one criterion."),
        (["x"], "Select a valid choice"),
        ([9_999_999], "These are not criteria of Capitals v1 that people can be asked about."),
    ],
)
def test_wrong_criteria_are_refused_beside_them(
    people: Cast, sign_in, dataset: Dataset, version: RubricVersion, criteria: list[Any], words: str
) -> None:
    sent = asked(dataset, version, everyone="on", criteria=criteria, criteria_of=version.pk)
    answer = sign_in(people.ed).post(url("queue_new", people), sent)
    assert answer.status_code == 422
    assert words in text(answer)
    assert problems(answer) == ["Criteria"]
    assert not ReviewQueue.objects.exists()


def test_what_is_wrong_with_a_group_of_choices_is_said_with_its_name(
    people: Cast, sign_in, dataset: Dataset, version: RubricVersion
) -> None:
    answer = text(sign_in(people.ed).post(url("queue_new", people), asked(dataset, version)))
    assert re.search(
        r'<ul class="field__errors" id="id_raters_error">\s*<li>Choose at least one person', answer
    )
    (opening,) = re.findall(r"<fieldset[^>]*id_raters_error[^>]*>", answer)
    assert 'aria-describedby="id_raters_error"' in opening


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({}, "Choose at least one person to review."),
        ({"everyone": "on", "kind": "filter"}, "Say what the items match"),
        ({"everyone": "on", "kind": "sample", "size": 9}, "A sample has from 1 to 3 items, not 9."),
        ({"everyone": "on", "kind": "run"}, "Choose the run whose judge is to be looked at."),
        ({"everyone": "on", "raters_per_item": 5}, "5 raters per item need at least that many people"),
        ({"everyone": "on", "name": "First look"}, "already has a queue called"),
    ],
)
def test_a_refused_queue_keeps_what_was_typed(
    people: Cast,
    sign_in,
    queue: ReviewQueue,
    dataset: Dataset,
    version: RubricVersion,
    change: dict[str, Any],
    words: str,
) -> None:
    sent = asked(dataset, version, instructions="Be kind.", **change)
    answer = sign_in(people.ed).post(url("queue_new", people), sent)
    assert answer.status_code == 422
    assert words in text(answer).replace("&#x27;", "'")
    assert "Be kind." in text(answer)
    assert all(problems(answer))
    assert ReviewQueue.objects.count() == 1


def test_a_queue_is_paused_and_goes_on(people: Cast, sign_in, queue: ReviewQueue) -> None:
    ed, ann = sign_in(people.ed), sign_in(people.ann)
    answer = ed.post(url("queue_pause", people, queue.pk), follow=True)
    assert "nothing is handed out or saved until it is resumed" in text(answer)
    assert url("queue_resume", people, queue.pk) in text(answer)
    assert url("review_next", people, queue.pk) not in text(ann.get(url("queue", people, queue.pk)))
    assert "Paused" in text(ann.get(url("queues", people)))
    ed.post(url("queue_resume", people, queue.pk))
    assert url("review_next", people, queue.pk) in text(ann.get(url("queue", people, queue.pk)))


def test_people_are_changed_with_their_boxes(people: Cast, sign_in, queue: ReviewQueue) -> None:
    draft = queues.next_review(queue, people.ann, now=timezone.now())
    assert draft is not None
    ed = sign_in(people.ed)
    page = text(ed.get(url("queue_change", people, queue.pk)))
    assert page.count("checked") >= 2
    sent = {"raters": [people.rae.pk, people.ed.pk], "seen": seen_people(page)}
    answer = ed.post(url("queue_people", people, queue.pk), sent, follow=True)
    assert "Ann <small" in text(answer)  # taken out, and still there with the draft
    assert set(queue.raters.values_list("name", flat=True)) == {"Rae", "Ed"}
    mine = sign_in(people.ann).get(url("review", people, draft.pk))
    assert mine.status_code == 200
    assert Review.objects.get(pk=draft.pk).holds_place is False
    seen = seen_people(text(ed.get(url("queue_change", people, queue.pk))))
    refused = ed.post(url("queue_people", people, queue.pk), {"raters": [], "seen": seen})
    assert refused.status_code == 422
    assert "0 would be left" in text(refused)
    assert seen_people(text(refused)) == seen


def seen_people(page: str) -> str:
    """What the form about people sends of those it showed."""
    return re.findall(r'<input type="hidden" name="seen" value="([^"]*)"', page)[0]


def test_an_older_page_of_people_undoes_nothing_that_others_changed_meanwhile(
    people: Cast, sign_in, queue: ReviewQueue
) -> None:
    """Ed's page shows Ann and Rae; Alice puts herself in and takes Rae out, then Ed ticks himself."""
    ed, address = sign_in(people.ed), url("queue_people", people, queue.pk)
    page = text(ed.get(url("queue_change", people, queue.pk)))
    queue_changes.reassign_queue(queue, by=people.alice, add=[people.alice], remove=[people.rae])
    draft = queues.next_review(queue, people.alice, now=timezone.now())
    assert draft is not None
    sent = {"raters": [people.ann.pk, people.rae.pk, people.ed.pk], "seen": seen_people(page)}
    ed.post(address, sent)
    assert set(queue.raters.values_list("name", flat=True)) == {"Ann", "Alice", "Ed"}
    assert Review.objects.get(pk=draft.pk).holds_place
    queue_changes.reassign_queue(queue, by=people.alice, everyone=True)
    ed.post(address, sent)
    queue.refresh_from_db()
    assert queue.everyone
    # The other form of that page: Alice writes instructions meanwhile, Ed another name.
    shown = dict(re.findall(r'name="(initial-[a-z_]+)" value="([^"]*)"', page))
    assert shown["initial-name"] == queue.name
    queue_changes.edit_queue(queue, by=people.alice, instructions="Be kind.")
    texts = {"name": "Renamed", "hold_minutes": shown["initial-hold_minutes"], "instructions": ""}
    ed.post(url("queue_edit", people, queue.pk), shown | texts)
    queue.refresh_from_db()
    assert (queue.name, queue.instructions) == ("Renamed", "Be kind.")


def test_items_and_raters_are_added(people: Cast, sign_in, dataset: Dataset, version: RubricVersion) -> None:
    ed = sign_in(people.ed)
    sent = asked(dataset, version, kind="filter", search="Belgium", raters=[people.ann.pk, people.rae.pk])
    ed.post(url("queue_new", people), sent)
    queue = ReviewQueue.objects.get()
    answer = ed.post(url("queue_extend", people, queue.pk), {"kind": "all"}, follow=True)
    assert "2 items added" in text(answer)
    again = ed.post(url("queue_extend", people, queue.pk), {"kind": "all"})
    assert "nothing was added" in text(again)
    assert again.status_code == 422
    answer = ed.post(url("queue_raters", people, queue.pk), {"raters_per_item": 2}, follow=True)
    assert "2 people have each item" in text(answer)
    refused = ed.post(url("queue_raters", people, queue.pk), {"raters_per_item": 1})
    assert "only become more" in text(refused)


def test_a_form_sent_twice_draws_once_and_a_new_page_draws_anew(
    people: Cast, sign_in, version: RubricVersion
) -> None:
    ed, items = sign_in(people.ed), [{"id": f"{at}", "submission": f"Text {at}."} for at in range(40)]
    dataset = factories.dataset(people.team, people.ed, items=items)
    queue = factories.queue(
        people.team,
        people.ed,
        dataset=dataset,
        rubric_version=version,
        raters=[people.ann],
        source=Source(kind="items", item_ids=(dataset.items.all()[0].pk,)),
    )

    def form() -> dict[str, str]:
        page = ed.get(url("queue_change", people, queue.pk)).content.decode()
        [seed] = re.findall(r'name="seed" value="(\d+)"', page)
        return {"kind": "sample", "size": "5", "seed": seed}

    first = form()
    answers = [ed.post(url("queue_extend", people, queue.pk), first) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [302, 422]
    assert "nothing was added" in text(answers[1])
    assert queue.draws.count() == 1
    assert ed.post(url("queue_extend", people, queue.pk), form()).status_code == 302
    assert queue.draws.count() == 2


def test_a_queue_is_renamed_closed_and_opened_again(people: Cast, sign_in, queue: ReviewQueue) -> None:
    ed = sign_in(people.ed)
    words = {"name": "Second look", "hold_minutes": 10, "instructions": "Slowly."}
    assert "Second look" in text(ed.post(url("queue_edit", people, queue.pk), words, follow=True))
    closed = text(ed.post(url("queue_close", people, queue.pk), follow=True))
    assert url("queue_reopen", people, queue.pk) in closed
    assert url("queue_change", people, queue.pk) not in closed
    assert "more than may review" not in closed
    for rater in (people.ann, people.rae):
        teams.change_role(people.team.memberships.get(user=rater), Role.VIEWER, by=people.alice)
    opened = text(ed.post(url("queue_reopen", people, queue.pk), follow=True))
    assert url("queue_pause", people, queue.pk) in opened
    assert "Each item is for 1 person, 1 more than may review in this queue." in " ".join(opened.split())
    assert url("queue_pause", people, queue.pk) not in text(
        sign_in(people.ann).get(url("queue", people, queue.pk))
    )


@pytest.mark.parametrize("retired", [True, False])
def test_a_draft_that_can_be_submitted_no_more_is_not_left_for_its_rater(
    people: Cast, sign_in, dataset: Dataset, version: RubricVersion, retired: bool
) -> None:
    """Ann's only item is retired, or released and then somebody else's."""
    queue = factories.queue(
        people.team,
        people.alice,
        dataset=dataset,
        rubric_version=version,
        raters=[people.ann, people.rae],
        source=Source("filter", search="Belgium"),
    )
    now = timezone.now()
    draft = queues.next_review(queue, people.ann, now=now)
    assert draft is not None
    ann = sign_in(people.ann)

    def told(name: str, pk: int) -> tuple[int, str]:
        page = ann.get(url(name, people, pk))
        [link] = [one for one in page.context["nav"] if one["label"] == "Review"]
        return page.context["progress"].mine_left, str(link["count"])

    assert told("queue", queue.pk) == (1, "1")
    assert told("review", draft.pk) == (1, ""), "whoever reviews sees no counts around the item"
    if retired:
        retirement.retire(dataset, [draft.item_id], by=people.alice, note="")
    else:
        theirs = queues.next_review(queue, people.rae, now=now + timedelta(days=1))
        assert theirs is not None
        # Until rae submits it, ann's draft has no place and her item no room.
        assert told("queue", queue.pk) == (0, "")
    assert told("queue", queue.pk) == told("review", draft.pk) == (0, "")
    assert "Nothing is left for you here" in text(ann.get(url("queue", people, queue.pk)))
    assert "All done" in text(ann.get(url("review_next", people, queue.pk)))


def test_fifty_queues_are_listed_with_few_queries(
    people: Cast, dataset: Dataset, version: RubricVersion, django_assert_max_num_queries
) -> None:
    for number in range(50):
        factories.queue(
            people.team,
            people.alice,
            dataset=dataset,
            rubric_version=version,
            raters=[people.ann],
            name=f"Q{number}",
        )
    with django_assert_max_num_queries(8):
        assert len(listed(people.team, people.ann)) == 50


def test_what_order_extra_raters_and_reopening_give_away_is_said_beside_the_option(
    people: Cast, sign_in
) -> None:
    version = factories.version(people.team, people.ed)
    dataset = factories.dataset(people.team, people.ed)
    queue = factories.queue(
        people.team, people.ed, dataset=dataset, rubric_version=version, raters=[people.ann]
    )
    client, slug = sign_in(people.ed), people.team.slug

    def page(name: str, *ids: int) -> str:
        return str(client.get(reverse(name, args=[slug, *ids])).content.decode())

    assert "may then guess that early items are difficult" in page("queue_new")
    assert "may guess that the others differed" in page("queue_gold", queue.pk)
    assert "cannot undo what its raters saw" in page("queue", queue.pk)
    client.post(reverse("queue_close", args=[slug, queue.pk]))
    assert "may not be blind" in page("queue", queue.pk)


def test_a_new_queue_offers_the_people_who_were_asked_last(
    people: Cast, sign_in, dataset: Dataset, version: RubricVersion
) -> None:
    ed = sign_in(people.ed)
    other = factories.dataset(people.team, people.ed, name="Other")

    def ticked() -> set[object]:
        form = ed.get(url("queue_new", people) + f"?dataset={dataset.pk}").context["form"]
        chosen = set(map(str, form["raters"].value()))
        return {name for name in ("alice", "ed", "rae", "ann") if str(getattr(people, name).pk) in chosen}

    # Nobody was asked yet: the reviewer and the annotator, no editor and no owner.
    assert ticked() == {"rae", "ann"}
    for one, raters in ((dataset, [people.ann, people.alice]), (other, [people.rae])):
        factories.queue(
            people.team, people.ed, dataset=one, rubric_version=version, raters=raters, name=one.name
        )
    assert ticked() == {"ann", "alice"}
