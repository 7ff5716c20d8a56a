"""Links to people without an account: what they show, to whom, until when, and what is never in them."""

import re
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from rubricweb.errors import Withheld
from rubricweb.models import JournalEntry, QueueState, ReviewQueue, Run, SharedKind, SharedLink
from rubricweb.services.deletions import deletions
from rubricweb.services.reviews import queues
from rubricweb.services.shared.throttles import OPENINGS_PER_MINUTE
from rubricweb.services.sharing import links as sharing
from rubricweb.services.sharing.pages import Shown
from rubricweb.services.teams import teams
from tests import factories
from tests.factories import Cast
from tests.judging import InProcessJudge, grade
from tests.worlds.attempts import labelled_by_two, stricter_run
from tests.worlds.remembered import remembered


@dataclass
class World:
    """Two graded runs over one dataset, the first labelled by two people."""

    run: Run
    queue: ReviewQueue
    stricter: Run


@pytest.fixture
def world(people: Cast) -> World:
    def made() -> World:
        run, queue = labelled_by_two(people, name="Attempts")
        return World(run, queue, stricter_run(people, run))

    cache.clear()
    return remembered(("shared links", people.team.pk), made)


def shown(world: World, kind: str) -> Shown:
    if kind == "comparison":
        return Shown(SharedKind.COMPARISON, run_id=world.run.pk, queue_ids=(world.queue.pk,))
    if kind == "run-diff":
        return Shown(SharedKind.RUN_DIFF, run_id=world.stricter.pk, baseline_id=world.run.pk)
    return Shown(SharedKind.DASHBOARD, dataset_id=world.run.dataset_id)


def made(people: Cast, what: Shown, **given: Any) -> tuple[SharedLink, str]:
    given = {"title": "For the board", "days": 7, "by": people.alice, "now": timezone.now()} | given
    return sharing.share(people.team, what, **given)


def opened(secret: str) -> Any:
    return Client().get(reverse("shared", args=[secret]))


SENTENCES = {
    "comparison": "This judge",
    "run-diff": "Stricter",
    "dashboard": "scores 0.",
}


@pytest.mark.parametrize("kind", SharedKind.values)
def test_a_link_shows_figures_to_people_without_an_account_and_nothing_of_items(
    people: Cast, world: World, kind: str
) -> None:
    _, secret = made(people, shown(world, kind))
    answer = opened(secret)
    page = answer.content.decode()
    assert answer.status_code == 200
    assert "For the board" in page
    assert SENTENCES[kind] in page
    for told in ("right warm", "wrong curt", "Question a", "Ann", "Rae", "alice"):
        assert told not in page
    # One way in, for members; all else are files of the page.
    inside = set(re.findall(r'<a [^>]*href="([^"]*)"', page)) - {"#main"}
    assert len(inside) == 1
    assert inside.pop().startswith(f"/t/{people.team.slug}/")
    assert "csrf" not in page


def test_an_answer_sets_no_cookie_and_is_kept_by_nobody(people: Cast, world: World) -> None:
    _, secret = made(people, shown(world, "dashboard"))
    for answer in (opened(secret), opened("never-made")):
        assert not answer.cookies
        assert answer["Cache-Control"] == "no-store"
        assert answer["Referrer-Policy"] == "no-referrer"
        assert answer["X-Robots-Tag"] == "noindex, nofollow"
        assert "noindex" in answer.content.decode()


def test_what_it_shows_stays_as_it_was(people: Cast, world: World) -> None:
    _, secret = made(people, shown(world, "run-diff"))
    before = opened(secret).content
    Run.objects.filter(pk=world.stricter.pk).update(name="Called otherwise")
    world.run.dataset.name = "Called otherwise"
    world.run.dataset.save()
    assert opened(secret).content == before


def test_unknown_ended_and_revoked_links_answer_alike(people: Cast, world: World) -> None:
    what = shown(world, "dashboard")
    _, ended = made(people, what, days=1, now=timezone.now() - timedelta(days=1, minutes=1))
    link, revoked = made(people, what)
    sharing.revoke(link, by=people.alice, now=timezone.now())
    gone = [opened(secret) for secret in ("never-made", ended, revoked, "x" * 500)]
    assert [answer.status_code for answer in gone] == [404] * 4
    assert len({answer.content for answer in gone}) == 1
    assert people.team.name not in gone[0].content.decode()


def test_only_a_digest_of_the_secret_is_stored(people: Cast, world: World) -> None:
    link, secret = made(people, shown(world, "dashboard"))
    assert len(secret) >= 43  # 256 bits in base 64
    row = SharedLink.objects.filter(pk=link.pk).values().get()
    assert secret not in str(row)
    assert secret not in str(list(JournalEntry.objects.values()))
    assert row["digest"] == teams.digest(secret)


def test_making_the_first_opening_and_revoking_stand_in_the_audit_log(people: Cast, world: World) -> None:
    link, secret = made(people, shown(world, "dashboard"))
    opened(secret), opened(secret)
    Client().head(reverse("shared", args=[secret]))  # a preview looks whether it is there
    sharing.revoke(link, by=people.alice, now=timezone.now())
    sharing.revoke(link, by=people.alice, now=timezone.now())
    lines = JournalEntry.objects.filter(target_kind="sharedlink").order_by("pk")
    assert [(line.verb, line.actor, line.detail) for line in lines] == [
        ("shared", people.alice, {"days": 7}),
        ("first opened", None, {}),
        ("revoked", people.alice, {"opened": 2}),
    ]


def test_nothing_is_shared_or_shown_while_anybody_is_to_review_it_blind(people: Cast, world: World) -> None:
    links = [made(people, shown(world, kind))[1] for kind in SharedKind.values]
    queue = factories.queue(
        people.team,
        people.ed,
        dataset=world.run.dataset,
        rubric_version=world.run.rubric_version,
        raters=[people.rae],
        name="Second look",
    )
    assert queue.blind != "none"
    for secret in links:
        answer = opened(secret)
        assert answer.status_code == 200
        page = answer.content.decode()
        assert "Not shown at the moment" in page
        assert "For the board" not in page
        assert "Attempts" not in page
    for kind in SharedKind.values:
        with pytest.raises(Withheld, match=r"still to review answers of (Attempts|Stricter) blind"):
            made(people, shown(world, kind))
    queues.close_queue(queue, by=people.alice)
    assert ReviewQueue.objects.get(pk=queue.pk).state == QueueState.CLOSED
    assert all("For the board" in opened(secret).content.decode() for secret in links)


@pytest.mark.parametrize("what", ["run", "queue", "dataset", "rubric", "team"])
def test_with_what_it_is_of_the_link_goes_at_once(people: Cast, world: World, what: str) -> None:
    _, secret = made(people, shown(world, "comparison"))
    queues.close_queue(world.queue, by=people.alice)
    version = world.run.rubric_version
    assert version is not None
    row: Any = {
        "run": world.run,
        "queue": world.queue,
        "dataset": world.run.dataset,
        "rubric": version.rubric,
        "team": people.team,
    }[what]
    deletions.delete(row, str(row), by=people.alice, now=timezone.now(), enqueue=None)
    assert not SharedLink.objects.exists()
    assert opened(secret).status_code == 404


def test_of_very_many_criteria_the_first_hundred_are_shown_and_that_is_said(people: Cast) -> None:
    criteria = [{"name": f"c{n}", "weight": 1, "requirement": f"Is {n}."} for n in range(130)]
    version = factories.version(people.team, people.ed, criteria=criteria)
    dataset = factories.dataset(people.team, people.ed)
    runs = [
        factories.run(people.team, people.ed, dataset=dataset, rubric_version=version, name=name)
        for name in ("x" * 200, "y" * 200)
    ]
    for run in runs:
        grade(run, InProcessJudge(lambda requirement, response: "MET"))
    what = Shown(SharedKind.RUN_DIFF, run_id=runs[1].pk, baseline_id=runs[0].pk)
    link, secret = made(people, what, title="")
    assert [len(table.rows) for table in link.page.tables] == [1, 100]
    page = opened(secret).content.decode()
    assert "the first 100 of 130" in page
    assert len(link.title) == 120
    assert len(page) < 200_000


def test_words_of_people_are_shown_as_words(people: Cast, world: World) -> None:
    Run.objects.filter(pk=world.run.pk).update(name="<script>alert(1)</script>")
    _, secret = made(people, shown(world, "comparison"), title='"><img src=x onerror=alert(1)>')
    page = opened(secret).content.decode()
    assert "<script>alert" not in page
    assert "<img" not in page
    assert "&lt;script&gt;" in page


def test_more_than_sixty_openings_a_minute_from_one_network_wait(people: Cast, world: World) -> None:
    _, secret = made(people, shown(world, "dashboard"))
    minute = timezone.now().replace(second=30)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rubricweb.web.teams.shared_page.now", lambda: minute)
        assert {opened("guess").status_code for _ in range(OPENINGS_PER_MINUTE)} == {404}
        answer = opened(secret)
    assert (answer.status_code, answer["Retry-After"]) == (429, "30")
    cache.clear()


# ── Under Settings ───────────────────────────────────────────────────────────────────────────────


def test_an_owner_sees_what_will_be_shared_makes_the_link_once_and_revokes_it(
    people: Cast, world: World, sign_in
) -> None:
    client = sign_in(people.alice)
    compare = reverse("compare", args=[people.team.slug])
    menu = client.get(f"{compare}?run={world.run.pk}").content.decode()
    address = re.search(r'href="([^"]*shared-links/new/[^"]*)"', menu)
    assert address is not None
    share = address[1].replace("&amp;", "&")
    page = client.get(share).content.decode()
    assert "This judge" in page
    assert client.post(share, {"title": "", "days": "7"}).status_code == 422
    assert client.post(share, {"title": "Board", "days": "3"}).status_code == 422
    shown_once = client.post(share, {"title": "Board", "days": "30"}).content.decode()
    url = re.search(r'id="shared-url">http://testserver(/shared/[^<]+)<', shown_once)
    assert url is not None
    assert Client().get(url[1]).status_code == 200
    settings = reverse("settings_shared_links", args=[people.team.slug])
    listed = client.get(settings).content.decode()
    assert "Board" in listed
    assert url[1] not in listed
    link = SharedLink.objects.get()
    revoke = reverse("settings_shared_link_revoke", args=[people.team.slug, link.pk])
    assert client.post(revoke, follow=True).status_code == 200
    assert Client().get(url[1]).status_code == 404
    assert "revoked" in client.get(settings).content.decode()


def test_others_than_owners_find_no_way_to_share(people: Cast, world: World, sign_in) -> None:
    client = sign_in(people.ed)
    compare = client.get(f"{reverse('compare', args=[people.team.slug])}?run={world.run.pk}")
    assert "shared-links" not in compare.content.decode()


def test_an_archived_team_shares_nothing_new_and_its_links_can_be_revoked(
    people: Cast, world: World, sign_in
) -> None:
    link, secret = made(people, shown(world, "dashboard"))
    queues.close_queue(world.queue, by=people.alice)
    teams.change_team(people.team, by=people.alice, now=timezone.now(), name=None, archived=True)
    client = sign_in(people.alice)
    assert opened(secret).status_code == 200
    assert client.post(reverse("share", args=[people.team.slug]), {"days": "7"}).status_code == 409
    client.post(reverse("settings_shared_link_revoke", args=[people.team.slug, link.pk]))
    assert opened(secret).status_code == 404
