"""The table in which a rater answers several of their items."""

import re

import pytest
from django.urls import reverse

from rubricweb.models import Judgement, Review, ReviewQueue, ReviewState
from rubricweb.services.reviews import queue_changes
from tests import factories
from tests.factories import Cast

ITEMS = [{"id": f"item-{n}", "prompt": f"Question {n}?", "submission": f"Answer {n}."} for n in range(14)]


@pytest.fixture
def queue(people: Cast) -> ReviewQueue:
    """Fourteen items for ann or rae, one of them each, with the table on."""
    version = factories.version(people.team, people.ed)
    dataset = factories.dataset(people.team, people.ed, items=ITEMS)
    queue = factories.queue(
        people.team, people.ed, dataset=dataset, rubric_version=version, raters=[people.ann, people.rae]
    )
    queue_changes.edit_queue(queue, by=people.ed, grid=True)
    return queue


def test_items_are_reserved_as_on_their_own_page_and_never_for_two(people: Cast, sign_in, queue) -> None:
    address = reverse("queue_grid", args=[people.team.slug, queue.pk])
    ann, rae = sign_in(people.ann), sign_in(people.rae)
    assert ann.post(address).status_code == 302
    rae.post(address)
    rows = [page.content.decode().count("data-row=") for page in (ann.get(address), rae.get(address))]
    assert rows == [10, 4], "ten at a time, and what is left of fourteen"
    assert Review.objects.values("item").distinct().count() == 14
    assert Review.objects.filter(opened=True, holds_place=True).count() == 14


def test_a_row_is_submitted_and_the_table_stays(people: Cast, sign_in, queue) -> None:
    address = reverse("queue_grid", args=[people.team.slug, queue.pk])
    ann = sign_in(people.ann)
    ann.post(address)
    page = ann.get(address).content.decode()
    first = Review.objects.filter(rater__user=people.ann).earliest("started_at", "pk")
    cells = sorted(set(re.findall(rf'name="(verdict_\d+)" form="row-{first.pk}"', page)))
    assert len(cells) == 3
    submit = reverse("review_submit", args=[people.team.slug, first.pk])
    sent = ann.post(submit, {"next": "grid", "action": "submit"} | dict.fromkeys(cells, "MET"))
    assert sent["Location"] == address
    first.refresh_from_db()
    assert first.state == ReviewState.SUBMITTED
    assert ann.get(address).content.decode().count("data-row=") == 9
    assert Judgement.objects.filter(review=first, verdict="MET").count() == 3


def test_the_item_of_a_row_stands_beside_the_table(people: Cast, sign_in, queue) -> None:
    address = reverse("queue_grid", args=[people.team.slug, queue.pk])
    ann = sign_in(people.ann)
    ann.post(address)
    last = Review.objects.filter(rater__user=people.ann).latest("started_at", "pk")
    panel = ann.get(address, {"open": last.pk}, headers={"HX-Request": "true"}).content.decode()
    assert (
        last.item.submission.output in panel if hasattr(last.item.submission, "output") else "Answer" in panel
    )
    assert "<html" not in panel


def test_a_queue_without_it_says_so(people: Cast, sign_in, queue) -> None:
    queue_changes.edit_queue(queue, by=people.ed, grid=False)
    address = reverse("queue_grid", args=[people.team.slug, queue.pk])
    ann = sign_in(people.ann)
    assert "answered item by item" in ann.post(address, follow=True).content.decode()
    assert not Review.objects.exists()
