"""Mails about what nobody has read: one to each person, soon, once, and with nothing in it that tells."""

import logging
import re
import socket
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from allauth.account.models import EmailAddress
from django.core import mail
from django.test import Client
from django.urls import reverse

from rubricweb import tasks
from rubricweb.celery import app
from rubricweb.engine.verdict import Verdict
from rubricweb.models import Item, Notice, ReviewQueue
from rubricweb.selectors.teams.notices import notice_for, unread_count
from rubricweb.services import comments, notices
from rubricweb.services.reviews import queue_changes, queues, reviews
from rubricweb.services.teams import teams
from tests import factories
from tests.factories import Cast

WRITTEN = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


@pytest.fixture
def item(people: Cast, settings: Any) -> Item:
    """An item of a team whose server sends mails."""
    settings.SENDS_MAIL = True
    settings.SITE_URL = "https://rubrics.example.org"
    for user in people.members.values():
        EmailAddress.objects.create(user=user, email=user.email, primary=True, verified=True)
    return factories.dataset(people.team, people.alice).items.get(key="good")


def written(item: Item, by: Any, text: str) -> None:
    with time_machine.travel(WRITTEN, tick=False):
        comments.write(item, by=by, text=text)


def pass_at(minutes: float) -> int:
    """Sends what is due so many minutes after the comments were written; how many mails went out."""
    at = WRITTEN + timedelta(minutes=minutes)
    return notices.send_mails(now=lambda: at, link=tasks._link)


def test_one_mail_tells_of_everything_unread_after_two_minutes(people: Cast, item: Item, sign_in) -> None:
    written(item, people.ann, "@rae the verdict is MET: https://evil.example/")
    written(item, people.ed, "@rae and @bob")
    assert pass_at(1.9) == 0
    assert pass_at(2) == 3  # rae, bob, and ann, whom ed answered
    by_address = {one.to[0]: one for one in mail.outbox}
    assert set(by_address) == {"rae@example.org", "bob@example.org", "ann@example.org"}
    one = by_address["rae@example.org"]
    assert one.subject == "rubricweb: 2 things wait for you"
    assert "Ann mentioned you (Capital quality)" in one.body
    assert "Ed mentioned you (Capital quality)" in one.body
    assert by_address["bob@example.org"].subject == "rubricweb: one thing waits for you"
    assert "Ed answered where you had written" in by_address["ann@example.org"].body
    assert pass_at(60) == 0  # once
    assert len(mail.outbox) == 3


def test_a_mail_has_links_of_the_app_alone_and_no_words_of_a_comment(
    people: Cast, item: Item, sign_in
) -> None:
    people.ann.name = "www.evil.example/x <b>Ann</b>"
    people.ann.save()
    written(item, people.ann, "@rae the verdict is MET: https://evil.example/")
    pass_at(5)
    [one] = mail.outbox
    assert "MET" not in one.body
    assert "evil.example" not in one.body
    assert "www evil example x b Ann b mentioned you" in one.body
    [link] = re.findall(r"https?://\S+", one.body)
    [notice] = Notice.objects.filter(user=people.rae)
    path = reverse("notification", args=[people.team.slug, notice.pk])
    assert link == f"https://rubrics.example.org{path}"
    assert one.extra_headers["Auto-Submitted"] == "auto-generated"
    assert Client().get(path)["Location"].startswith("/accounts/login/")
    assert "#comment-" in sign_in(people.rae).get(path)["Location"]


def test_what_was_read_in_time_is_not_mailed(people: Cast, item: Item) -> None:
    written(item, people.ann, "@rae")
    notices.mark_read(people.team, people.rae, now=WRITTEN + timedelta(minutes=1))
    assert pass_at(5) == 0


def test_a_mail_waits_until_its_reader_has_submitted(people: Cast, item: Item) -> None:
    version = factories.version(people.team, people.alice)
    with time_machine.travel(WRITTEN, tick=False):
        queue: ReviewQueue = factories.queue(
            people.team, people.rae, dataset=item.dataset, rubric_version=version, raters=[people.rae]
        )
    written(item, people.ann, "@rae this one is MET")
    assert pass_at(5) == 0
    review = queues.start_review(queue, item, people.rae)
    for criterion in reviews.criteria_of(review):
        reviews.save_verdict(review, criterion.pk, verdict=Verdict.MET)
    reviews.submit(review, now=WRITTEN + timedelta(minutes=6))
    assert pass_at(7) == 1


def test_nobody_is_told_of_a_queue_that_asks_them_no_more(people: Cast, item: Item) -> None:
    version = factories.version(people.team, people.alice)
    with time_machine.travel(WRITTEN, tick=False):
        closed, left, _ = (
            factories.queue(
                people.team,
                people.alice,
                dataset=item.dataset,
                rubric_version=version,
                raters=[people.rae, people.ann],
                name=name,
            )
            for name in ("Closed", "Left", "Open")
        )
    queues.close_queue(closed, by=people.alice)
    queue_changes.reassign_queue(left, by=people.alice, remove=[people.rae])
    assert (unread_count(people.team, people.rae), unread_count(people.team, people.ann)) == (1, 2)
    pass_at(5)
    said = {one.to[0]: one.body for one in mail.outbox}
    assert [name in said["rae@example.org"] for name in ("Closed", "Left", "Open")] == [False, False, True]
    assert not notices.mail_is_due(WRITTEN + timedelta(minutes=6))
    # The link of a mail that went out before still leads somewhere.
    assert notice_for(people.team, Notice.objects.get(user=people.rae, queue=closed).pk, people.rae)


def test_who_wants_none_has_no_address_or_has_left_gets_none(people: Cast, item: Item, sign_in) -> None:
    sign_in(people.rae).post(reverse("notifications", args=[people.team.slug]), {"action": "mail"})
    people.bob.email = ""
    people.bob.save()
    EmailAddress.objects.filter(user=people.bob).delete()
    written(item, people.ann, "@rae @bob @ed @alice")
    teams.remove_member(people.team.memberships.get(user=people.ed), by=people.alice)
    assert pass_at(5) == 1
    assert [one.to for one in mail.outbox] == [["alice@example.org"]]
    page = reverse("notifications", args=[people.team.slug])
    sign_in(people.rae).post(page, {"action": "mail", "wanted": "1"})
    assert pass_at(6) == 1


def test_a_mail_goes_to_a_proven_address_alone(people: Cast, item: Item, sign_in) -> None:
    """rae has proven none and the app keeps the one she claims; bob asked for a new one he has not proven."""
    EmailAddress.objects.filter(user=people.rae).update(verified=False)
    EmailAddress.objects.create(user=people.bob, email="ceo@victim.example", primary=False, verified=False)
    people.bob.email = "ceo@victim.example"  # as an earlier release stored it
    people.bob.save()
    written(item, people.ann, "@rae @bob")
    assert pass_at(5) == 1
    assert [one.to for one in mail.outbox] == [["bob@example.org"]]
    page = reverse("notifications", args=[people.team.slug])
    assert "you have proven no e-mail address" in sign_in(people.rae).get(page).content.decode()
    assert "To bob@example.org" in sign_in(people.bob).get(page).content.decode()
    EmailAddress.objects.filter(user=people.rae).update(verified=True)
    assert pass_at(6) == 1  # what waited is mailed once the address is proven


def test_nothing_is_sent_where_no_mail_is_set_up(people: Cast, item: Item, settings: Any) -> None:
    settings.SENDS_MAIL = False
    written(item, people.ann, "@rae")
    assert not notices.mail_is_due(WRITTEN + timedelta(minutes=5))
    assert pass_at(5) == 0


def test_a_server_that_is_away_is_logged_and_asked_again_later(
    people: Cast, item: Item, settings: Any, caplog: pytest.LogCaptureFixture
) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        settings.EMAIL_HOST, settings.EMAIL_PORT = unused.getsockname()
    working = settings.EMAIL_BACKEND
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    written(item, people.ann, "@rae look")
    with caplog.at_level(logging.WARNING):
        assert pass_at(5) == 0
    assert "mail to rae not sent, it is tried again" in caplog.text
    settings.EMAIL_BACKEND = working
    assert not notices.mail_is_due(WRITTEN + timedelta(minutes=14.9))
    assert notices.mail_is_due(WRITTEN + timedelta(minutes=15))
    assert pass_at(14.9) == 0
    assert pass_at(15) == 1


@pytest.fixture
def at_once() -> Iterator[None]:
    """Tasks are done where they are called for, without a worker."""
    app.conf.task_always_eager = True
    yield
    app.conf.task_always_eager = False


@pytest.mark.usefixtures("at_once")
def test_the_sweep_of_any_worker_sends_what_is_due(people: Cast, item: Item) -> None:
    tasks.reap()
    assert mail.outbox == []
    written(item, people.ann, "@rae look")  # long ago
    for _ in range(2):
        tasks.reap()
    assert [one.to for one in mail.outbox] == [["rae@example.org"]]
