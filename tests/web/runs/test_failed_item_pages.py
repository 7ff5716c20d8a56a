"""What pages show of items with errors: the error and the retry, and no place among the others."""

import csv
import io
import re

import pytest
from django.urls import reverse

from rubricweb.judges.base import JudgeError
from rubricweb.models import Run, RunItem
from rubricweb.selectors.runs.log import run_log
from rubricweb.services.runs import lifecycle
from rubricweb.services.runs.events import note
from tests import factories
from tests.factories import Cast
from tests.judging import InProcessJudge, grade
from tests.worlds.blinding.two_worlds import cascade_world
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


def test_the_log_says_beside_its_title_that_items_failed(people: Cast, sign_in, run: Run) -> None:
    assert "finished, 1 with errors" in page_of(sign_in(people.bob), "run_log", people, run.pk)


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


# ── A run that is finished is not a success ──────────────────────────────────────────────────────


def words_of(page: str) -> str:
    return " ".join(re.sub(r"<[^>]*>", " ", page).split())


def main_buttons(page: str) -> list[str]:
    """What the buttons of the page itself say that stand out; the dialogs are behind it."""
    buttons = re.findall(
        r"button--primary[^>]*>(.*?)</(?:a|button)>", page.partition("</main>")[0], re.DOTALL
    )
    return [words_of(words) for words in buttons]


def broken_run(people: Cast) -> Run:
    """Every call failed, over three items that people have labelled: three criteria each, nine errors."""
    dataset, version = factories.dataset(people.team, people.ed), factories.version(people.team, people.ed)
    labels = b"item_id,criterion,rater,verdict,reason\ngood,capital,x,MET,\n"
    factories.import_labels(dataset, version, by=people.ed, data=labels, filename="labels.csv")
    run = factories.run(people.team, people.ed, dataset=dataset, rubric_version=version, name="Broken")
    return grade(
        run, InProcessJudge(lambda requirement, response: JudgeError("bad_request", "No such model"))
    )


def test_a_finished_run_with_errors_says_so_in_its_badge_and_its_log(people: Cast, sign_in, run: Run) -> None:
    client = sign_in(people.ed)
    badge = (
        '<span class="badge badge--warning"><span class="dot dot--warning"></span>finished, 1 with errors<'
    )
    for name, ids in (("run", [run.pk]), ("runs", [])):
        page = page_of(client, name, people, *ids)
        assert badge in page
        assert "badge--success" not in page
    assert "Every item is graded, 1 of them with errors." in page_of(client, "run", people, run.pk)
    retried(run, people)
    page = page_of(client, "run", people, run.pk)
    assert "Every item is graded." in page
    for name, ids in (("run", [run.pk]), ("runs", [])):
        assert '<span class="dot dot--success"></span>finished<' in page_of(client, name, people, *ids)


def test_what_failed_and_the_retry_stand_above_the_results_once(people: Cast, sign_in, run: Run) -> None:
    page = page_of(sign_in(people.ed), "run", people, run.pk)
    above, _, below = page.partition('aria-label="Results"')
    assert "notice--warning" in above
    # Four criteria ask the judge, of the one item that failed.
    said = words_of(above)
    assert "4 verdicts failed bad_request The endpoint refused the request" in said
    assert "HTTP 400: content policy" in said
    assert [words_of(part).count("Retry 4 errors") for part in (above, below)] == [1, 0]
    assert "Retry 4 errors" not in words_of(page_of(sign_in(people.bob), "run", people, run.pk))
    # What is asked for alone, as after going back to the page, has it too.
    swapped = sign_in(people.ed).get(
        reverse("run", args=[people.team.slug, run.pk]), headers={"HX-Request": "true"}
    )
    assert "4 verdicts failed" in words_of(swapped.content.decode())


def test_where_nothing_was_scored_the_retry_is_the_next_step(people: Cast, sign_in) -> None:
    broken = broken_run(people)
    client = sign_in(people.ed)
    page = page_of(client, "run", people, broken.pk)
    assert "9 verdicts failed: no item has a score" in words_of(page)
    assert "notice--error" in page
    assert main_buttons(page) == ["Retry 9 errors"]
    lifecycle.resume_run(broken, by=people.ed, enqueue=factories.WakeUps())
    grade(broken, InProcessJudge(lambda requirement, response: "MET"))
    page = page_of(client, "run", people, broken.pk)
    assert main_buttons(page) == ["Read the lowest"]
    assert "verdicts failed" not in page


def test_the_log_does_not_count_the_errors_of_a_run_whose_calls_are_withheld(people: Cast) -> None:
    world = cascade_world(people, unsure=False)
    note(world.runs[0].pk, "finished", "Every item is graded, 2 of them with errors.")
    lines = [line.message for line in run_log(world.runs[0], viewer=people.alice).rows]
    assert "What was said is withheld while you review blind." in lines
    assert not any("with errors" in line for line in lines)
