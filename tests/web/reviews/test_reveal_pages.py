"""The page after submitting: keep, change or unclear, with and without script."""

import html
import re

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from rubricweb.engine.verdict import Verdict
from rubricweb.models import Review, Revision
from rubricweb.services.reviews import queues, reviews
from tests import factories
from tests.factories import Cast
from tests.judging import InProcessJudge, grade

HTMX = {"HX-Request": "true"}


@pytest.fixture
def review(people: Cast) -> Review:
    """ann said UNMET three times, the judge of the queue's run MET."""
    version = factories.version(people.team, people.ed)
    data = factories.dataset(people.team, people.ed)
    run = factories.run(people.team, people.ed, dataset=data, rubric_version=version)
    grade(run, InProcessJudge(lambda requirement, response: "MET"))
    queue = factories.queue(
        people.team, people.ed, dataset=data, rubric_version=version, raters=[people.ann], run=run
    )
    review = queues.start_review(queue, data.items.get(key="good"), people.ann)
    for criterion in version.criteria.all():
        reviews.save_verdict(review, criterion.pk, verdict=Verdict.UNMET)
    reviews.submit(review, now=timezone.now())
    return review


def address(people: Cast, review: Review, name: str, *more: int) -> str:
    return reverse(name, args=[people.team.slug, review.pk, *more])


def say(people: Cast, client: Client, review: Review, name: str, headers=None, **said: str):
    criterion = review.queue.rubric_version.criteria.get(name=name)
    return client.post(address(people, review, "review_revision", criterion.pk), said, headers=headers or {})


def text(answer) -> str:
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", answer.content.decode())))


def opened(answer) -> list[str]:
    """The names of the criteria that are open for keys."""
    return re.findall(
        r'class="criterion is-active".*?criterion__name"[^>]*>([^<]+)<', answer.content.decode(), re.DOTALL
    )


def test_each_criterion_somebody_differs_on_asks_for_a_word(people, sign_in, review) -> None:
    ann = sign_in(people.ann)
    page = ann.get(address(people, review, "review_reveal"))
    assert "3 disagreements" in text(page)
    assert opened(page) == ["capital"]
    answer = say(people, ann, review, "capital", choice="keep")
    assert answer.status_code == 302
    page = ann.get(answer["Location"])
    assert "2 disagreements" in text(page)
    assert opened(page) == ["concise"]


@pytest.mark.parametrize("criterion_id", [0, 2**63, 10**30])
def test_a_criterion_that_is_not_there_is_not_found(people, sign_in, review, criterion_id: int) -> None:
    url = address(people, review, "review_revision", criterion_id)
    assert sign_in(people.ann).post(url, {"choice": "keep"}).status_code == 404
    assert not Revision.objects.exists()


def test_htmx_is_answered_with_the_criteria_alone(people, sign_in, review) -> None:
    answer = say(people, sign_in(people.ann), review, "capital", HTMX, choice="unclear", reason="Which one?")
    assert answer.status_code == 200
    assert "<html" not in answer.content.decode()
    assert "rubric unclear" in text(answer)
    assert Revision.objects.get().reason == "Which one?"


def test_changing_without_a_reason_shows_the_form_as_it_was_typed(people, sign_in, review) -> None:
    ann = sign_in(people.ann)
    answer = say(people, ann, review, "concise", choice="change", verdict="MET")
    assert answer.status_code == 422
    assert "Say why you change your verdict." in text(answer)
    assert opened(answer) == ["concise"]
    assert re.search(r'value="MET" data-reveal-key="m" checked', answer.content.decode())
    answer = say(people, ann, review, "concise", choice="change", verdict="MET", reason="One sentence.")
    assert answer.status_code == 302
    page = text(ann.get(answer["Location"]))
    assert "After seeing the others: One sentence." in page
    assert Revision.objects.get().verdict == "MET"


def test_all_that_are_left_are_kept_at_once(people, sign_in, review) -> None:
    ann = sign_in(people.ann)
    say(people, ann, review, "capital", choice="unclear")
    ann.post(address(people, review, "review_keep"))
    assert sorted(Revision.objects.values_list("choice", flat=True)) == ["keep", "keep", "unclear"]
    page = text(ann.get(address(people, review, "review_reveal")))
    assert "Somebody differs from you" not in page
    assert "Say something else" in page


def test_a_closed_queue_says_so_and_offers_nothing(people, sign_in, review) -> None:
    ann = sign_in(people.ann)
    queues.close_queue(review.queue, by=people.ed)
    answer = say(people, ann, review, "capital", choice="keep")
    assert answer.status_code == 409
    assert "The queue is closed" in text(answer)
    assert "revision/" not in answer.content.decode()
    assert not Revision.objects.exists()


def test_a_peer_who_changed_is_shown_with_both_labels(people, sign_in, review) -> None:
    say(people, sign_in(people.ann), review, "capital", choice="change", verdict="MET", reason="Seen it.")
    review.queue.raters.add(people.team.raters.get_or_create(user=people.rae, defaults={"name": "Rae"})[0])
    review.queue.queue_items.update(wanted=2, room=1)
    hers = queues.start_review(review.queue, review.item, people.rae)
    for criterion in review.queue.rubric_version.criteria.all():
        reviews.save_verdict(hers, criterion.pk, verdict=Verdict.MET)
    rae = sign_in(people.rae)
    assert rae.get(address(people, hers, "review_reveal")).status_code == 302  # not submitted yet
    assert say(people, rae, hers, "capital", choice="keep").status_code == 403
    reviews.submit(hers, now=timezone.now())
    page = text(rae.get(address(people, hers, "review_reveal")))
    assert re.search(r"Ann\s+Unmet\s+now\s+Met", page), page


def test_nobody_revises_another_persons_review(people, sign_in, review) -> None:
    for user in (people.alice, people.rae):
        assert say(people, sign_in(user), review, "capital", choice="keep").status_code == 404


@pytest.fixture
def draft(people: Cast) -> Review:
    """ann's draft over the one item, where the judge said MET three times: two answers like it, one not."""
    version = factories.version(people.team, people.ed)
    data = factories.dataset(people.team, people.ed)
    run = factories.run(people.team, people.ed, dataset=data, rubric_version=version)
    grade(run, InProcessJudge(lambda requirement, response: "MET"))
    queue = factories.queue(
        people.team, people.ed, dataset=data, rubric_version=version, raters=[people.ann], run=run
    )
    review = queues.start_review(queue, data.items.get(key="good"), people.ann)
    for criterion, said in zip(version.criteria.all(), ("UNMET", "MET", "MET"), strict=True):
        reviews.save_verdict(review, criterion.pk, verdict=said)
    return review


def test_what_differed_passes_as_a_note_on_the_way_to_the_next_item(people, sign_in, draft) -> None:
    ann, revealed = sign_in(people.ann), address(people, draft, "review_reveal")
    submitted = ann.post(address(people, draft, "review_submit"), headers={"Accept": "application/json"})
    assert submitted.json()["location"] != revealed
    words, link = submitted.json()["differs"]
    assert words.endswith(": 1 of 3 differs from the judge")
    assert link == revealed


def test_without_a_script_the_note_stands_on_the_next_page(people, sign_in, draft) -> None:
    ann = sign_in(people.ann)
    page = ann.post(address(people, draft, "review_submit"), follow=True)
    assert "1 of 3 differs from the judge. See and answer" in text(page)
    assert address(people, draft, "review_reveal") in page.content.decode()


def test_nothing_is_noted_while_another_queue_hides_the_item(people, sign_in, draft) -> None:
    """ann is to review the item blind in a second queue as well: what the judge said stays hidden."""
    queue = draft.queue
    factories.queue(
        people.team,
        people.ed,
        dataset=queue.dataset,
        rubric_version=queue.rubric_version,
        raters=[people.ann],
        name="Again",
    )
    submitted = sign_in(people.ann).post(
        address(people, draft, "review_submit"), headers={"Accept": "application/json"}
    )
    assert "differs" not in submitted.json()
