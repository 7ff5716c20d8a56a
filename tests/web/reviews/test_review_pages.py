"""Queues and reviews at the interface a browser uses, with and without its script."""

import re
from datetime import timedelta
from html import unescape

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from rubricweb.engine.verdict import Verdict
from rubricweb.judges.base import JudgeError
from rubricweb.models import Dataset, Judgement, Review, ReviewQueue, ReviewState, RubricVersion, User
from rubricweb.services.reviews import queue_changes, queues, reviews
from tests import factories
from tests.factories import Cast
from tests.judging import InProcessJudge, grade

JSON = {"Accept": "application/json"}


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


@pytest.fixture
def review(people: Cast, queue: ReviewQueue) -> Review:
    started = queues.next_review(queue, people.ann, now=timezone.now())
    assert started is not None
    return started


def url(name: str, people: Cast, *ids: int) -> str:
    return reverse(name, args=[people.team.slug, *ids])


def form_of(review: Review, verdict: str = "MET", **more: str) -> dict[str, str]:
    """The whole form with one verdict on every criterion."""
    answers = {f"verdict_{criterion.pk}": verdict for criterion in reviews.criteria_of(review)}
    return answers | {"action": "submit"} | more


def answer_all(review: Review, verdict: Verdict = Verdict.MET) -> None:
    for criterion in reviews.criteria_of(review):
        reviews.save_verdict(review, criterion.pk, verdict=verdict)


# ── Queues ───────────────────────────────────────────────────────────────────────────────────────


def test_an_empty_list_tells_an_editor_how_to_begin(people: Cast, sign_in) -> None:
    assert "New queue" in sign_in(people.ed).get(url("queues", people)).content.decode()
    assert "New queue" not in sign_in(people.ann).get(url("queues", people)).content.decode()


def test_a_rater_finds_their_queue_with_what_is_left(people: Cast, sign_in, queue: ReviewQueue) -> None:
    page = sign_in(people.ann).get(url("queues", people)).content.decode()
    assert queue.name in page
    assert url("review_next", people, queue.pk) in page
    assert (
        url("review_next", people, queue.pk)
        not in sign_in(people.bob).get(url("queues", people)).content.decode()
    )


def test_the_list_costs_the_same_queries_however_many_queues(
    people: Cast, sign_in, queue: ReviewQueue, dataset, version, django_assert_max_num_queries
) -> None:
    for number in range(6):
        factories.queue(
            people.team,
            people.alice,
            dataset=dataset,
            rubric_version=version,
            raters=[people.ann],
            name=f"Q{number}",
        )
    client = sign_in(people.ann)
    client.get(url("queues", people))
    # session, user, membership, teams, endpoints; 4 for the number on the navigation; 6 for the list
    with django_assert_max_num_queries(18):
        client.get(url("queues", people))


def test_the_navigation_counts_what_waits_and_stops_at_99(people: Cast, sign_in, version) -> None:
    items = [{"id": f"i{number}", "submission": f"Answer {number}."} for number in range(60)]
    found = []
    for name in ("first", "second"):
        data = factories.dataset(people.team, people.alice, name=name, items=items)
        found.append(
            factories.queue(
                people.team,
                people.alice,
                dataset=data,
                rubric_version=version,
                raters=[people.ann, people.rae],
                raters_per_item=2,
                name=name,
            )
        )
    client = sign_in(people.ann)

    def waiting() -> str:
        [link] = [one for one in client.get(url("queues", people)).context["nav"] if one["label"] == "Review"]
        return str(link["count"])

    assert waiting() == "99+"  # 60 + 60
    for _ in range(20):
        review = queues.next_review(found[0], people.ann, now=timezone.now())
        assert review is not None
        answer_all(review)
        reviews.submit(review, now=timezone.now())
    assert waiting() == "99+"  # 40 + 60: the same 20 items wait for rae, and not for ann
    draft = queues.next_review(found[1], people.ann, now=timezone.now())
    assert waiting() == "99+"  # the draft and 40 + 59
    assert draft is not None
    reviews.skip(draft, reason="Not mine.")
    assert waiting() == "99"  # 40 + 59: what was skipped waits for others
    queues.close_queue(found[1], by=people.alice)
    assert waiting() == "40"
    queues.close_queue(found[0], by=people.alice)
    assert waiting() == ""


def test_an_editor_opens_a_queue(people: Cast, sign_in, dataset: Dataset, version: RubricVersion) -> None:
    sent = {
        "name": "Round one",
        "dataset": dataset.pk,
        "rubric_version": version.pk,
        "raters": [people.ann.pk, people.rae.pk],
        "raters_per_item": 2,
        "blind": "both",
        "instructions": "Read *twice*.",
    }
    answer = sign_in(people.ed).post(url("queue_new", people), sent)
    made = ReviewQueue.objects.get(name="Round one")
    assert answer["Location"] == url("queue", people, made.pk)
    assert (made.blind, made.raters_per_item, made.raters.count()) == ("both", 2, 2)
    page = sign_in(people.bob).get(answer["Location"]).content.decode()
    assert "<em>twice</em>" in page


def test_a_refused_queue_keeps_what_was_typed_and_says_where(
    people: Cast, sign_in, queue: ReviewQueue, dataset: Dataset, version: RubricVersion
) -> None:
    sent = {
        "name": queue.name,
        "dataset": dataset.pk,
        "rubric_version": version.pk,
        "raters": [people.ann.pk],
        "raters_per_item": 1,
        "instructions": "kept as typed",
    }
    answer = sign_in(people.ed).post(url("queue_new", people), sent)
    assert answer.status_code == 422
    assert answer.context["form"].errors["name"]
    assert "kept as typed" in answer.content.decode()
    answer = sign_in(people.ed).post(url("queue_new", people), sent | {"name": "New", "raters_per_item": 3})
    assert list(answer.context["form"].errors) == ["raters_per_item"]
    answer = sign_in(people.ed).post(url("queue_new", people), sent | {"name": "New", "rubric_version": ""})
    assert list(answer.context["form"].errors) == ["rubric_version"]
    answer = sign_in(people.ed).post(
        url("queue_new", people), sent | {"name": "New", "raters": [people.bob.pk]}
    )
    assert list(answer.context["form"].errors) == ["raters"]


def test_a_run_over_another_dataset_cannot_be_revealed(people: Cast, sign_in, dataset, version) -> None:
    other = factories.dataset(people.team, people.alice, name="other")
    run = factories.run(people.team, people.alice, dataset=other, rubric_version=version)
    sent = {
        "name": "Q",
        "dataset": dataset.pk,
        "rubric_version": version.pk,
        "raters": [people.ann.pk],
        "raters_per_item": 1,
        "run": run.pk,
    }
    answer = sign_in(people.ed).post(url("queue_new", people), sent)
    assert (answer.status_code, list(answer.context["form"].errors)) == (422, ["run"])


def test_the_new_queue_form_starts_from_where_one_came(people: Cast, sign_in, dataset, version) -> None:
    page = (
        sign_in(people.ed)
        .get(f"{url('queue_new', people)}?dataset={dataset.pk}&run=nonsense")
        .content.decode()
    )
    assert f'<option value="{dataset.pk}" selected>' in page


@pytest.mark.parametrize("start", ["Infinity", "1e400", "null", '"x"'])
def test_evidence_at_no_place_is_refused_by_name(people: Cast, sign_in, review: Review, start: str) -> None:
    criterion = reviews.criteria_of(review).first()
    evidence = f'[{{"field": "submission", "start": {start}, "end": 1, "text": "x"}}]'
    address = url("review_verdict", people, review.pk, criterion.pk)
    refused = sign_in(people.ann).post(address, {"verdict": "MET", "evidence": evidence}, headers=JSON)
    assert refused.status_code == 422
    assert "evidence" in refused.json()["message"]
    assert not review.judgements.exists()


def test_closing_a_queue_keeps_the_draft_readable_but_not_changeable(
    people: Cast, sign_in, queue: ReviewQueue, review: Review
) -> None:
    criterion = reviews.criteria_of(review).first()
    reviews.save_verdict(review, criterion.pk, verdict=Verdict.MET, reason="as I wrote it")
    assert sign_in(people.ann).post(url("queue_close", people, queue.pk)).status_code == 403
    assert sign_in(people.ed).post(url("queue_close", people, queue.pk)).status_code == 302
    page = sign_in(people.ann).get(url("review", people, review.pk)).content.decode()
    assert "as I wrote it" in page
    assert "The queue is closed" in page
    saved = sign_in(people.ann).post(
        url("review_verdict", people, review.pk, criterion.pk), {"verdict": "UNMET"}, headers=JSON
    )
    assert saved.status_code == 409
    assert "closed" in saved.json()["message"]


@pytest.mark.parametrize(
    ("happens", "why"),
    [
        ("paused", "The queue is paused; your draft is kept and can go on when the queue does."),
        ("taken out", "You are no longer a rater of this queue; your draft is kept"),
    ],
)
def test_who_cannot_go_on_reads_their_draft_and_why(
    people: Cast, sign_in, queue: ReviewQueue, review: Review, happens: str, why: str
) -> None:
    criterion = reviews.criteria_of(review).first()
    reviews.save_verdict(review, criterion.pk, verdict=Verdict.MET, reason="as I wrote it")
    ann = sign_in(people.ann)
    page = ann.get(url("review", people, review.pk)).content.decode()
    assert (page.count('<fieldset class="verdicts" disabled>'), "data-heartbeat" in page) == (0, True)
    if happens == "paused":
        queue_changes.pause_queue(queue, by=people.ed)
    else:
        queue_changes.reassign_queue(queue, by=people.ed, remove=[people.ann])
    page = ann.get(url("review", people, review.pk)).content.decode()
    assert why in page
    assert "as I wrote it" in page
    # All three criteria are locked, and nothing is left to press.
    assert (page.count('<fieldset class="verdicts" disabled>'), "data-heartbeat" in page) == (3, False)
    assert 'value="submit"' not in page
    assert f'href="{url("queue", people, queue.pk)}">Back to the queue</a>' in page


def test_a_script_is_told_in_a_sentence_why_it_is_refused(people: Cast, sign_in, review: Review) -> None:
    note = url("review_note", people, review.pk)
    refused = sign_in(people.rae).post(note, {"note": "Mine?"}, headers=JSON)
    assert (refused.status_code, "no such review" in refused.json()["message"]) == (404, True)
    refused = sign_in(people.bob).post(note, {"note": "Mine?"}, headers=JSON)
    assert (refused.status_code, "needs an annotator" in refused.json()["message"]) == (403, True)
    assert "text/html" in sign_in(people.bob).post(note, {"note": "Mine?"})["Content-Type"]


def test_the_queue_leads_to_accepting_whoever_may_adjudicate(
    people: Cast, sign_in, queue: ReviewQueue
) -> None:
    """Reviewers and above, not annotators and viewers."""
    shown = {
        user.username: url("queue_accept", people, queue.pk)
        in sign_in(user).get(url("queue", people, queue.pk)).content.decode()
        for user in people.members.values()
    }
    assert shown == {"alice": True, "ed": True, "rae": True, "ann": False, "bob": False}


# ── Going from item to item ──────────────────────────────────────────────────────────────────────


def test_next_opens_the_draft_again_until_it_is_submitted(people: Cast, sign_in, queue: ReviewQueue) -> None:
    client = sign_in(people.ann)
    first = client.post(url("review_next", people, queue.pk))["Location"]
    assert client.post(url("review_next", people, queue.pk))["Location"] == first
    assert client.get(first).status_code == 200


def test_after_the_last_item_it_says_all_done(people: Cast, sign_in, queue: ReviewQueue) -> None:
    client = sign_in(people.ann)
    for _ in range(3):
        location = client.post(url("review_next", people, queue.pk))["Location"]
        review = Review.objects.get(pk=int(location.rstrip("/").rpartition("/")[2]))
        location = client.post(url("review_submit", people, review.pk), form_of(review))["Location"]
    assert location == url("review_next", people, queue.pk)  # nobody else's verdicts to reveal: straight on
    assert "All done" in client.get(location).content.decode()
    assert Review.objects.filter(state=ReviewState.SUBMITTED).count() == 3


def test_somebody_who_is_no_rater_is_sent_back_with_the_reason(
    people: Cast, sign_in, queue: ReviewQueue
) -> None:
    answer = sign_in(people.ed).post(url("review_next", people, queue.pk), follow=True)
    assert "You are not one of the raters" in answer.content.decode()


def test_an_item_that_is_full_is_not_started_again(
    people: Cast, sign_in, queue: ReviewQueue, review: Review
) -> None:
    answer = sign_in(people.rae).post(url("review_start", people, queue.pk, review.item_id), follow=True)
    assert "already has its 1 raters" in answer.content.decode()


def test_the_rail_lists_my_items_and_not_those_others_took(people: Cast, sign_in, review: Review) -> None:
    theirs = queues.next_review(review.queue, people.rae, now=timezone.now())
    assert theirs is not None
    page = sign_in(people.ann).get(url("review", people, review.pk)).content.decode()
    rail = page.partition('<ol class="rail"')[2].partition("</ol>")[0]
    assert review.item.submission in rail
    assert theirs.item.submission not in rail


def test_the_rail_says_how_far_i_am_whatever_others_did(
    people: Cast, sign_in, dataset: Dataset, version: RubricVersion
) -> None:
    queue = factories.queue(
        people.team,
        people.alice,
        dataset=dataset,
        rubric_version=version,
        raters=[people.ann, people.rae],
        raters_per_item=2,
    )
    client = sign_in(people.ann)

    def said(review: Review) -> str:
        page = client.get(url("review", people, review.pk), follow=True).content.decode()
        numbers = re.findall(r'data-rail-(submitted|left)="(\d+)"', page)
        return " ".join(f"{number} {name}" for name, number in numbers)

    def begin(person: User) -> Review:
        review = queues.next_review(queue, person, now=timezone.now())
        assert review is not None
        return review

    def finish(review: Review) -> None:
        answer_all(review)
        reviews.submit(review, now=timezone.now())

    first = begin(people.ann)
    assert said(first) == "0 submitted 3 left"  # the draft and two more
    finish(first)
    assert said(first) == "1 submitted 2 left"  # its second place is free, for rae only
    finish(begin(people.rae))
    assert said(first) == "1 submitted 2 left"
    second = begin(people.ann)
    reviews.skip(second, reason="Not mine.")
    assert said(second) == "1 submitted 1 left"  # both places of what was skipped are free, for others
    queues.close_queue(queue, by=people.alice)
    assert said(first) == "1 submitted 0 left"


# ── The sheet ────────────────────────────────────────────────────────────────────────────────────


def test_the_sheet_shows_everything_a_rater_needs(people: Cast, sign_in, review: Review) -> None:
    page = sign_in(people.ann).get(url("review", people, review.pk)).content.decode()
    for words in ("What is the capital of France?", "Paris is the capital", "Names Paris as the capital."):
        assert words in page
    assert "Penalty: <strong>Error present</strong> lowers the score." in page
    assert "−15" in page


def test_the_sheet_costs_a_fixed_number_of_queries(
    people: Cast, sign_in, review: Review, django_assert_max_num_queries
) -> None:
    client = sign_in(people.ann)
    client.get(url("review", people, review.pk))
    with django_assert_max_num_queries(25):
        client.get(url("review", people, review.pk))


def test_a_verdict_is_saved_at_once_changed_and_taken_back(people: Cast, sign_in, review: Review) -> None:
    client, criterion = sign_in(people.ann), reviews.criteria_of(review).first()
    address = url("review_verdict", people, review.pk, criterion.pk)
    for verdict in ("MET", "UNMET"):
        assert client.post(address, {"verdict": verdict, "reason": "why"}, headers=JSON).json() == {
            "saved": True
        }
        stored = Judgement.objects.get(review=review)
        assert (stored.verdict, stored.reason) == (verdict, "why")
    client.post(address, {"verdict": "", "reason": "why"}, headers=JSON)
    assert not Judgement.objects.filter(review=review).exists()


def test_a_reason_sent_alone_leaves_the_verdict_and_is_refused_without_one(
    people: Cast, sign_in, review: Review
) -> None:
    first, second = reviews.criteria_of(review)[:2]
    client = sign_in(people.ann)
    client.post(url("review_verdict", people, review.pk, first.pk), {"verdict": "MET", "reason": "before"})
    sent = {"reason": "after"}
    assert (
        client.post(url("review_verdict", people, review.pk, first.pk), sent, headers=JSON).status_code < 400
    )
    kept = review.judgements.get(criterion=first)
    assert (kept.verdict, kept.reason) == ("MET", "after")
    refused = client.post(url("review_verdict", people, review.pk, second.pk), sent, headers=JSON)
    assert refused.status_code == 422
    assert "choose one for it" in refused.content.decode()
    assert not review.judgements.filter(criterion=second).exists()


def test_an_unknown_verdict_is_refused(people: Cast, sign_in, review: Review) -> None:
    criterion = reviews.criteria_of(review).first()
    answer = sign_in(people.ann).post(
        url("review_verdict", people, review.pk, criterion.pk), {"verdict": "PERHAPS"}, headers=JSON
    )
    assert answer.status_code == 422
    assert "MET, UNMET or CANNOT_ASSESS" in answer.json()["message"]


def test_a_criterion_of_another_rubric_is_not_found(people: Cast, sign_in, review: Review) -> None:
    other = factories.version(people.team, people.alice, title="Another").criteria.first()
    address = url("review_verdict", people, review.pk, other.pk)
    assert sign_in(people.ann).post(address, {"verdict": "MET"}, headers=JSON).status_code == 404


def test_note_and_flag_are_saved_apart(people: Cast, sign_in, review: Review) -> None:
    client, address = sign_in(people.ann), url("review_note", people, review.pk)
    client.post(address, {"note": "odd one"}, headers=JSON)
    client.post(address, {"flagged": "1"}, headers=JSON)
    review.refresh_from_db()
    assert (review.note, review.flagged) == ("odd one", True)
    client.post(address, {"flagged": "0"})
    review.refresh_from_db()
    assert (review.note, review.flagged) == ("odd one", False)


def test_without_script_the_whole_form_is_saved_as_a_draft(people: Cast, sign_in, review: Review) -> None:
    first = reviews.criteria_of(review).order_by("position")[0]
    sent = {f"verdict_{first.pk}": "MET", f"reason_{first.pk}": "line\r\nline", "note": "n", "action": "save"}
    answer = sign_in(people.ann).post(url("review_submit", people, review.pk), sent)
    assert answer["Location"] == url("review", people, review.pk)
    review.refresh_from_db()
    assert (review.state, review.note) == (ReviewState.DRAFT, "n")
    assert Judgement.objects.get(review=review).reason == "line\nline"


def test_a_reason_without_a_verdict_is_handed_back_not_lost(people: Cast, sign_in, review: Review) -> None:
    criterion = reviews.criteria_of(review).first()
    sent = {f"reason_{criterion.pk}": "a thought in progress", "action": "save"}
    answer = sign_in(people.ann).post(url("review_submit", people, review.pk), sent)
    assert answer.status_code == 422
    assert "a thought in progress" in answer.content.decode()


def test_submitting_too_early_names_what_is_missing_and_keeps_the_rest(
    people: Cast, sign_in, review: Review
) -> None:
    first, second, third = reviews.criteria_of(review).order_by("position")
    sent = {f"verdict_{first.pk}": "MET", f"reason_{second.pk}": "half a thought", "action": "submit"}
    client = sign_in(people.ann)
    answer = client.post(url("review_submit", people, review.pk), sent)
    page = answer.content.decode()
    assert answer.status_code == 422
    assert "2 criteria still need a verdict." in page
    assert f'href="#criterion-{second.pk}"' in page
    assert "half a thought" in page
    assert page.count("data-first-focus") == 1
    answer = client.post(url("review_submit", people, review.pk), sent, headers=JSON)
    assert (answer.status_code, answer.json()["missing"]) == (422, [second.pk, third.pk])
    review.refresh_from_db()
    assert review.state == ReviewState.DRAFT


def test_a_submit_sent_twice_goes_on_but_another_answer_is_a_conflict(
    people: Cast, sign_in, review: Review
) -> None:
    client, address = sign_in(people.ann), url("review_submit", people, review.pk)
    assert "location" in client.post(address, form_of(review), headers=JSON).json()
    assert "location" in client.post(address, form_of(review), headers=JSON).json()
    changed = form_of(review, "UNMET", note="kept")
    answer = client.post(address, changed, headers=JSON)
    assert answer.status_code == 409
    assert "already submitted" in answer.json()["message"]
    without_script = client.post(address, changed)
    assert without_script.status_code == 409
    assert 'value="UNMET"' in without_script.content.decode()
    assert set(Judgement.objects.filter(review=review).values_list("verdict", flat=True)) == {"MET"}


def known_in(page: str) -> dict[str, str]:
    """What the form of a page says it has seen, to be sent with it."""
    return {
        name: unescape(value)
        for name, value in re.findall(r'<input type="hidden" name="(known_\w+)" value="([^"]*)"', page)
    }


def test_a_form_from_an_older_page_replaces_no_newer_answer_until_it_is_sent_again(
    people: Cast, sign_in, review: Review
) -> None:
    """The older page shows MET everywhere; another tab then answers two criteria and writes a note."""
    answer_all(review)
    client, address = sign_in(people.ann), url("review_submit", people, review.pk)
    older = known_in(client.get(url("review", people, review.pk)).content.decode())
    untouched = {"known_note": older["known_note"]}
    first, second, third = reviews.criteria_of(review).order_by("position")
    reviews.save_verdict(review, first.pk, verdict="UNMET", reason="It says\nLyon.")
    reviews.save_verdict(review, second.pk, verdict="MET", reason="Two words.")
    reviews.save_note(review, note="An odd answer.")

    refused = client.post(address, form_of(review) | older, headers=JSON)
    assert refused.status_code == 409
    assert refused.json()["elsewhere"] == {
        str(one.pk): url("review_verdict", people, review.pk, one.pk) for one in (first, second)
    }
    page = client.post(address, form_of(review) | older)
    assert page.status_code == 409
    assert f"{first.name} was answered elsewhere meanwhile: UNMET." in page.content.decode()
    kept = Judgement.objects.filter(review=review).order_by("criterion__position")
    assert list(kept.values_list("verdict", "reason")) == [
        ("UNMET", "It says\nLyon."),
        ("MET", "Two words."),
        ("MET", ""),
    ]

    newer = known_in(page.content.decode())
    assert newer[f"known_{third.pk}"] == older[f"known_{third.pk}"]
    assert client.post(address, form_of(review, note="") | newer | untouched).status_code == 302
    assert set(kept.values_list("verdict", "reason")) == {("MET", "")}
    review.refresh_from_db()
    assert (review.state, review.note) == (ReviewState.SUBMITTED, "An odd answer.")


def test_a_page_that_was_refused_for_what_is_missing_can_be_sent_again(
    people: Cast, sign_in, review: Review
) -> None:
    """Its answers were stored all the same, so that they are known to it, also after a change."""
    client, address = sign_in(people.ann), url("review_submit", people, review.pk)
    known = known_in(client.get(url("review", people, review.pk)).content.decode())
    ReviewQueue.objects.filter(pk=review.queue_id).update(rationale="always")
    page = client.post(address, form_of(review) | known)
    assert page.status_code == 422
    reasons = {f"reason_{one.pk}": "It\r\ndoes." for one in reviews.criteria_of(review)}
    sent = form_of(review) | reasons | known_in(page.content.decode())
    assert client.post(address, sent).status_code == 302


@pytest.mark.parametrize("known", ["UNMET", "null", "[]", '{"verdict": "MET"}', '{"verdict": 1}'])
def test_what_a_page_cannot_have_seen_counts_as_unknown(
    people: Cast, sign_in, review: Review, known: str
) -> None:
    criterion = reviews.criteria_of(review)[0]
    reviews.save_verdict(review, criterion.pk, verdict="MET")
    sent = {"verdict": "CANNOT_ASSESS", "known": known}
    address = url("review_verdict", people, review.pk, criterion.pk)
    assert sign_in(people.ann).post(address, sent, headers=JSON).status_code == 409


def test_bare_labels_that_waited_on_a_device_over_an_upgrade_are_known(
    people: Cast, sign_in, review: Review
) -> None:
    criterion = reviews.criteria_of(review)[0]
    client, address = sign_in(people.ann), url("review_verdict", people, review.pk, criterion.pk)
    for known in ("", ["", "MET"]):
        sent = {"verdict": "MET", "known": known, "reason": "It does."}
        assert client.post(address, sent, headers=JSON).status_code == 200
    sent = {"verdict": "UNMET", "known": ["", "MET"]}
    assert client.post(address, sent, headers=JSON).status_code == 200


def test_what_was_fetched_ahead_is_given_back_until_somebody_opened_it(
    people: Cast, sign_in, review: Review
) -> None:
    client = sign_in(people.ann)
    taken = client.post(url("review_prefetch", people, review.pk)).json()
    assert client.get(taken["url"], headers={"X-Prefetch": "1"}).status_code == 200
    assert client.post(taken["back"]).json() == {"given_back": True}

    taken = client.post(url("review_prefetch", people, review.pk)).json()
    assert client.get(taken["url"], headers={"X-Prefetch": "1"}).status_code == 200
    assert client.get(taken["url"]).status_code == 200
    assert client.post(taken["back"]).json() == {"given_back": False}
    assert client.get(taken["url"]).status_code == 200


def test_a_submitted_review_opens_as_its_reveal(people: Cast, sign_in, review: Review) -> None:
    answer_all(review)
    reviews.submit(review, now=timezone.now())
    answer = sign_in(people.ann).get(url("review", people, review.pk))
    assert answer["Location"] == url("review_reveal", people, review.pk)


def test_skipping_needs_a_reason_and_can_be_taken_up_again(people: Cast, sign_in, review: Review) -> None:
    client, address = sign_in(people.ann), url("review_skip", people, review.pk)
    assert client.get(address).status_code == 200
    refused = client.post(address, {"reason": "  "})
    assert refused.status_code == 422
    assert "Say in a few words" in refused.content.decode()
    reviews.save_note(review, note="Cut off in the middle.")
    assert client.post(address, {"reason": "not my field"}).status_code == 302
    page = client.get(url("review", people, review.pk)).content.decode()
    assert "You skipped this item" in page
    assert "not my field" in page
    of_queue = sign_in(people.alice).get(url("queue", people, review.queue_id)).content.decode()
    assert "not my field" in of_queue
    assert "Cut off in the middle." in of_queue
    assert client.post(url("review_start", people, review.queue_id, review.item_id)).status_code == 302
    page = client.get(url("review", people, review.pk)).content.decode()
    assert ">Cut off in the middle.</textarea>" in page
    review.refresh_from_db()
    assert review.state == ReviewState.DRAFT


def test_a_usual_reason_skips_by_its_number(people: Cast, sign_in, review: Review) -> None:
    client = sign_in(people.ann)
    page = client.get(url("review", people, review.pk)).content.decode()
    [third] = re.findall(r'name="usual" value="([^"]+)"[^>]*data-skip-key="3"', page)
    assert (
        client.post(url("review_skip", people, review.pk), {"usual": third, "reason": ""}).status_code == 302
    )
    review.refresh_from_db()
    assert review.skip_reason == third == "Not a real answer"


def test_who_skips_without_a_note_is_listed_with_the_reason(people: Cast, sign_in, review: Review) -> None:
    reviews.skip(review, reason="Mine.")
    assert "Mine." in sign_in(people.alice).get(url("queue", people, review.queue_id)).content.decode()


def test_what_people_and_models_wrote_is_escaped(people: Cast, sign_in, version: RubricVersion) -> None:
    nasty = "<script>alert(1)</script><img src=x onerror=alert(2)>"
    broken = '[{"role": "user", "content": "cut \\ud83d"}]'  # half of a surrogate pair
    item = {"id": "x", "prompt": nasty, "submission": nasty, "thinking": broken}
    data = factories.dataset(people.team, people.alice, name="nasty", items=[item])
    queue = factories.queue(
        people.team,
        people.alice,
        dataset=data,
        rubric_version=version,
        raters=[people.ann],
        name="<b>queue</b>",
        instructions=nasty,
    )
    review = queues.next_review(queue, people.ann, now=timezone.now())
    assert review is not None
    criterion = reviews.criteria_of(review).first()
    reviews.save_verdict(review, criterion.pk, verdict=Verdict.MET, reason=nasty)
    for page in (url("review", people, review.pk), url("queue", people, queue.pk), url("queues", people)):
        text = sign_in(people.ann).get(page).content.decode()
        assert "<script>alert" not in text
        assert "<img" not in text
        assert "<b>queue" not in text
    shown = sign_in(people.ann).get(url("review", people, review.pk))
    assert shown.context["quotable"]["thinking"] == broken
    assert "cut \\ud83d" in shown.content.decode()


# ── The reveal ───────────────────────────────────────────────────────────────────────────────────


def test_the_reveal_sets_me_judge_and_peer_side_by_side(people: Cast, sign_in, dataset, version) -> None:
    run = factories.run(people.team, people.alice, dataset=dataset, rubric_version=version)

    def says(requirement: str, response: str) -> str | JudgeError:
        if "two sentences" in requirement:
            return JudgeError("timeout", "no answer")
        return "MET" if "capital" in requirement else "UNMET"

    grade(run, InProcessJudge(says))
    queue = factories.queue(
        people.team,
        people.alice,
        dataset=dataset,
        rubric_version=version,
        raters=[people.ann, people.rae],
        raters_per_item=2,
        run=run,
        name="Both",
    )
    mine = queues.next_review(queue, people.ann, now=timezone.now())
    assert mine is not None
    theirs = queues.start_review(queue, mine.item, people.rae)
    answer_all(theirs, Verdict.UNMET)
    reviews.submit(theirs, now=timezone.now())
    client = sign_in(people.ann)
    compare = form_of(mine) | {"action": "compare"}
    location = client.post(url("review_submit", people, mine.pk), compare, headers=JSON).json()["location"]
    assert location == url("review_reveal", people, mine.pk)
    # Sent again by the button that goes on it goes on, to a review of the next item.
    again = client.post(url("review_submit", people, mine.pk), form_of(mine), headers=JSON).json()["location"]
    following = Review.objects.get(queue=queue, rater__user=people.ann, state=ReviewState.DRAFT)
    assert again == url("review", people, following.pk)
    answer = client.get(location)
    # the judge: like me on "capital", failed on "concise", unlike me on "wrong_country"; Rae: never like me
    found = {(one.name, one.is_judge, one.same, one.both, one.errors) for one in answer.context["agreement"]}
    assert found == {("offline judge (not an LLM)", True, 1, 2, 1), ("Rae", False, 0, 3, 0)}
    page = answer.content.decode()
    assert "No verdict: timeout" in page
    assert page.count("versus__side is-different") == 4
    assert url("review_next", people, queue.pk) in page
    # You, then the judge, then the others.
    assert page.index(">You</h3>") < page.index("offline judge (not an LLM)</h3>") < page.index("Rae</h3>")
    queue_changes.reassign_queue(queue, by=people.ed, add=[people.ed], remove=[people.ann])
    page = client.get(location).content.decode()
    assert url("review_next", people, queue.pk) not in page
    assert "Back to the queue" in page


def test_a_check_is_nobody_one_agrees_with(people: Cast, sign_in, dataset) -> None:
    check = {"name": "brief", "weight": 1, "check": "length_between", "params": {"max": 99}}
    criteria = [factories.CRITERIA[0], check]
    version = factories.version(people.team, people.alice, criteria=criteria, title="With a check")
    run = factories.run(people.team, people.alice, dataset=dataset, rubric_version=version)
    grade(run, InProcessJudge(lambda requirement, response: "MET"))
    queue = factories.queue(
        people.team,
        people.alice,
        dataset=dataset,
        rubric_version=version,
        raters=[people.ann],
        run=run,
    )
    review = queues.next_review(queue, people.ann, now=timezone.now())
    assert review is not None
    reviews.save_verdict(review, reviews.criteria_of(review).get(name="capital").pk, verdict=Verdict.MET)
    reviews.submit(review, now=timezone.now())
    answer = sign_in(people.ann).get(url("review_reveal", people, review.pk))
    assert [(one.name, one.same, one.both) for one in answer.context["agreement"]] == [
        ("offline judge (not an LLM)", 1, 1)
    ]


def test_keys_can_be_read_about_on_the_page(people: Cast, sign_in, review: Review) -> None:
    page = sign_in(people.ann).get(url("review", people, review.pk)).content.decode()
    assert "Undo the last verdict" in page
    assert "Keep all that are left" in page
    assert "data-single-keys" in page


def test_nobody_signed_out_reaches_a_review(people: Cast, review: Review) -> None:
    assert Client().get(url("review", people, review.pk)).status_code == 302


def test_somebody_who_only_looked_keeps_nobody_from_the_item(people: Cast, sign_in, review: Review) -> None:
    """Ann opened the item and answered nothing; half an hour later Rae may take it, and Ann still may too."""
    start = url("review_start", people, review.queue_id, review.item_id)
    Review.objects.filter(pk=review.pk).update(held_until=timezone.now() - timedelta(minutes=1))
    assert sign_in(people.rae).post(start)["Location"] != url("queue", people, review.queue_id)
    assert sign_in(people.ann).get(url("review", people, review.pk)).status_code == 200


def test_a_draft_with_an_answer_keeps_its_place_however_old(people: Cast, sign_in, review: Review) -> None:
    answer_all(review)
    Review.objects.filter(pk=review.pk).update(started_at=timezone.now() - timedelta(days=9))
    start = url("review_start", people, review.queue_id, review.item_id)
    assert sign_in(people.rae).post(start)["Location"] == url("queue", people, review.queue_id)
