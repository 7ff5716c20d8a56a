"""What pages show of items with errors: the error and the retry, and no place among the others."""

import csv
import io

import pytest
from django.urls import reverse

from rubricweb.models import Run, RunItem
from tests.factories import Cast
from tests.worlds.failing import failing_run, retried

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(people: Cast) -> Run:
    return failing_run(people)


def page_of(client, name: str, people: Cast, *ids: int, **asked: str) -> str:
    return client.get(reverse(name, args=[people.team.slug, *ids]), asked).content.decode()


def test_the_run_page_says_of_how_many_items_its_mean_is_and_offers_the_retry(
    people: Cast, sign_in, run: Run
) -> None:
    page = page_of(sign_in(people.ed), "run", people, run.pk)
    # 20/33 over the three; see tests/worlds/failing.py.
    assert '<dd class="stat__value"><span class="figure">0.61<' in page
    assert '<a href="#failed-items">3 of 4 fully judged</a>' in page
    failed = page.split('id="items"')[0].split('id="failed-items"')[1]
    # Below the items are the workers and the log, which name what they did last.
    ranked = page.split('id="items"')[1].split("run-live")[0]
    assert "one" in ranked
    assert "four" in failed
    assert "Retry it" in failed
    assert "four" not in ranked
    assert "Retry it" not in page_of(sign_in(people.bob), "run", people, run.pk)


def test_in_the_order_of_the_dataset_a_failed_item_is_marked(people: Cast, sign_in, run: Run) -> None:
    page = page_of(sign_in(people.bob), "run", people, run.pk, sort="position")
    assert page.count("not fully judged") == 1


def test_the_item_shows_its_errors_and_that_it_counts_nowhere(people: Cast, sign_in, run: Run) -> None:
    failed = RunItem.objects.get(run=run, item__key="four")
    page = page_of(sign_in(people.bob), "run_item", people, run.pk, failed.item_id)
    assert "HTTP 400: content policy" in page
    assert "in no mean or ranking until retried" in page


def test_the_list_and_the_dashboard_say_it_beside_the_mean_and_link_to_the_items(
    people: Cast, sign_in, run: Run
) -> None:
    client = sign_in(people.bob)
    link = f'href="{reverse("run", args=[people.team.slug, run.pk])}#failed-items"'
    for name in ("runs", "dashboard"):
        page = page_of(client, name, people)
        assert "0.61 <" in page
        assert "3 of 4 fully judged" in page
        assert link in page
    [row] = csv.DictReader(io.StringIO(page_of(client, "dashboard", people, format="csv")))
    assert float(row["mean_score"]) == pytest.approx(20 / 33)
    assert (row["items"], row["scored"], row["fully_judged"]) == ("4", "3", "3")


def test_once_retried_nothing_is_said_of_failures(people: Cast, sign_in, run: Run) -> None:
    retried(run, people)
    client = sign_in(people.bob)
    assert "of 4 fully judged" not in page_of(client, "run", people, run.pk)
    assert "of 4 fully judged" not in page_of(client, "runs", people)


def test_the_mean_of_every_group_is_on_the_run_and_on_the_dashboard(people: Cast, sign_in, run: Run) -> None:
    client = sign_in(people.bob)
    for name, ids in (("run", [run.pk]), ("dashboard", [])):
        card = page_of(client, name, people, *ids).split('id="group-means-title"')[1].split("</section>")[0]
        # Facts 2/3 and Tone 1/3 over three items: see tests/selectors/runs/test_group_means.py.
        assert ["Facts" in card, "Tone" in card, "No group" in card] == [True] * 3
        assert ["0.67" in card, "0.33" in card, card.count("3 items")] == [True, True, 3]
