"""Reviews of rubrics with options and checks, at the interface a browser uses."""

import re
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from rubricweb.models import Criterion, Judgement, Review, ReviewQueue, ReviewState
from rubricweb.services.reviews import queues, reviews
from tests import factories
from tests.factories import Cast

JSON = {"Accept": "application/json"}
CRITERIA: list[dict[str, Any]] = [
    {"name": "capital", "weight": 10, "requirement": "Names Paris."},
    {
        "name": "depth",
        "weight": 5,
        "requirement": "How deep is it?",
        "guidance": "Look for *reasons*.",
        "met_example": "It says why.",
        "options": [
            {"label": 'Thin & "flat"', "value": 0},
            {"label": "Fair", "value": 0.5},
            {"label": "Nothing to rate", "na": True},
            {"label": "Deep", "value": 1},
        ],
    },
    {
        "name": "tone",
        "weight": -2,
        "requirement": "Which tone has it?",
        "scale_type": "nominal",
        "options": [{"label": "warm", "value": 0}, {"label": "cold", "value": 1}],
    },
    {"name": "short", "weight": 1, "check": "length_between", "params": {"max": 31}},
]


@pytest.fixture
def queue(people: Cast) -> ReviewQueue:
    return factories.queue(
        people.team,
        people.alice,
        dataset=factories.dataset(people.team, people.alice),
        rubric_version=factories.version(people.team, people.alice, criteria=CRITERIA),
        raters=[people.ann, people.rae],
        raters_per_item=2,
    )


@pytest.fixture
def review(people: Cast, queue: ReviewQueue) -> Review:
    started = queues.next_review(queue, people.ann, now=timezone.now())
    assert started is not None
    return started


def url(name: str, people: Cast, *ids: int) -> str:
    return reverse(name, args=[people.team.slug, *ids])


def criteria(review: Review) -> dict[str, Criterion]:
    return {criterion.name: criterion for criterion in reviews.criteria_of(review)}


def form_of(review: Review, **labels: str) -> dict[str, str]:
    found = criteria(review)
    answers = {"capital": "MET", "depth": "Deep", "tone": "warm"} | labels
    return {f"verdict_{found[name].pk}": label for name, label in answers.items()} | {"action": "submit"}


def article(html: str, criterion: Criterion) -> str:
    found = re.search(rf'<article[^>]*id="criterion-{criterion.pk}".*?</article>', html, re.DOTALL)
    assert found is not None
    return found.group(0)


def submitted(people: Cast, queue: ReviewQueue, user: Any, **labels: str) -> Review:
    """The item "good", submitted by `user`."""
    one = queues.start_review(queue, queue.dataset.items.get(key="good"), user)
    for name, label in ({"capital": "MET", "depth": "Deep", "tone": "warm"} | labels).items():
        reviews.save_verdict(one, criteria(one)[name].pk, verdict=label)
    reviews.submit(one, now=timezone.now())
    return one


# ── The sheet ────────────────────────────────────────────────────────────────────────────────────


def test_options_are_a_list_of_radio_buttons_with_their_keys(people: Cast, sign_in, review: Review) -> None:
    page = sign_in(people.ann).get(url("review", people, review.pk)).content.decode()
    depth = criteria(review)["depth"]
    shown = article(page, depth)
    radios = re.findall(rf'name="verdict_{depth.pk}" value="([^"]*)" data-review-key="([^"]*)"', shown)
    assert radios == [
        ("Thin &amp; &quot;flat&quot;", "1"),
        ("Fair", "2"),
        ("Deep", "3"),
        ("Nothing to rate", "4 c"),  # what abstains stands last, and answers to c as well
    ]
    assert "<em>reasons</em>" in shown
    assert "It says why." in shown


def test_a_check_is_shown_as_already_answered_and_asks_nothing(people: Cast, sign_in, review: Review) -> None:
    page = sign_in(people.ann).get(url("review", people, review.pk)).content.decode()
    short = criteria(review)["short"]
    shown = article(page, short)
    assert "1.00" in shown  # "Paris is the capital of France." has 31 characters, the most that is allowed
    assert "31 characters" in shown
    assert "<input" not in shown
    assert "data-criterion=" not in shown
    assert "0</span> of 3" in page  # four criteria, three of them asked


def test_a_crashed_check_says_why_and_the_sheet_still_opens(people: Cast, sign_in) -> None:
    broken = [*CRITERIA[:1], {"name": "like it", "weight": 1, "check": "matches_reference"}]
    queue = factories.queue(
        people.team,
        people.alice,
        dataset=factories.dataset(people.team, people.alice),
        rubric_version=factories.version(people.team, people.alice, criteria=broken),
        raters=[people.ann],
    )
    review = queues.next_review(queue, people.ann, now=timezone.now())
    assert review is not None
    page = sign_in(people.ann).get(url("review", people, review.pk)).content.decode()
    assert "has no reference" in article(page, criteria(review)["like it"])


def test_one_option_is_saved_as_the_rubric_writes_it(people: Cast, sign_in, review: Review) -> None:
    depth = criteria(review)["depth"]
    answer = sign_in(people.ann).post(
        url("review_verdict", people, review.pk, depth.pk),
        {"verdict": " deep ", "reason": "It says why."},
        headers=JSON,
    )
    assert answer.json() == {"saved": True}
    assert Judgement.objects.get(review=review).verdict == "Deep"


@pytest.mark.parametrize(("name", "label"), [("depth", "MET"), ("capital", "Deep"), ("short", "MET")])
def test_a_label_of_another_kind_is_refused_naming_what_is_allowed(
    people: Cast, sign_in, review: Review, name: str, label: str
) -> None:
    criterion = criteria(review)[name]
    answer = sign_in(people.ann).post(
        url("review_verdict", people, review.pk, criterion.pk), {"verdict": label}, headers=JSON
    )
    assert answer.status_code == 422
    allowed = {"depth": "Fair", "capital": "MET, UNMET or CANNOT_ASSESS", "short": "is a check"}
    assert allowed[name] in answer.json()["message"]
    assert not Judgement.objects.filter(review=review).exists()


def test_the_form_without_script_takes_options_and_submits(people: Cast, sign_in, review: Review) -> None:
    sign_in(people.ann).post(
        url("review_submit", people, review.pk), form_of(review, depth='Thin & "flat"', tone="cold")
    )
    review.refresh_from_db()
    assert review.state == ReviewState.SUBMITTED
    stored = dict(Judgement.objects.filter(review=review).values_list("criterion__name", "verdict"))
    assert stored == {"capital": "MET", "depth": 'Thin & "flat"', "tone": "cold"}


def test_a_form_with_an_unknown_option_keeps_everything_else_that_was_typed(
    people: Cast, sign_in, review: Review
) -> None:
    depth = criteria(review)["depth"]
    sent = form_of(review, depth="Bottomless") | {f"reason_{depth.pk}": "Typed with care."}
    answer = sign_in(people.ann).post(url("review_submit", people, review.pk), sent)
    page = answer.content.decode()
    assert answer.status_code == 422
    assert "Bottomless" in page
    assert "Typed with care." in article(page, depth)
    assert re.search(r'value="warm"[^>]* checked', page)
    assert "checked" not in article(page, depth)


def test_a_missing_option_is_named_and_a_check_never_is(people: Cast, sign_in, review: Review) -> None:
    sent = form_of(review)
    del sent[f"verdict_{criteria(review)['tone'].pk}"]
    answer = sign_in(people.ann).post(url("review_submit", people, review.pk), sent, headers=JSON)
    assert answer.json()["missing"] == [criteria(review)["tone"].pk]


# ── After submitting ─────────────────────────────────────────────────────────────────────────────


def test_reveal_shows_options_side_by_side_with_their_distance(people: Cast, sign_in, queue) -> None:
    submitted(people, queue, people.rae, depth='Thin & "flat"', tone="cold")
    mine = submitted(people, queue, people.ann, depth="Deep", tone="warm")
    page = sign_in(people.ann).get(url("review_reveal", people, mine.pk)).content.decode()
    depth, tone = criteria(mine)["depth"], criteria(mine)["tone"]
    assert "2 steps apart" in article(page, depth)  # the first and the third of three scored options
    assert "Thin &amp; &quot;flat&quot;" in article(page, depth)
    assert "steps apart" not in article(page, tone)  # nominal options have no distance
    assert "1 of 3" in page  # the same on capital only; the check counts for nobody


def test_reveal_measures_the_checks_too(people: Cast, sign_in, queue: ReviewQueue) -> None:
    submitted(people, queue, people.rae)
    mine = submitted(people, queue, people.ann)
    page = sign_in(people.ann).get(url("review_reveal", people, mine.pk)).content.decode()
    assert "31 characters" in article(page, criteria(mine)["short"])
