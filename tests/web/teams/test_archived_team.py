"""An archived team on pages: everything is read, nothing is changed, and owners restore it."""

from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from rubricweb.models import JournalEntry, Membership, Role, Team
from rubricweb.services.reviews import queue_changes
from rubricweb.services.shared import archiving
from rubricweb.services.teams import invitations
from rubricweb.web.urls import team_urls
from tests.factories import Cast
from tests.web.test_access import address
from tests.worlds.furnished import Furnished, at_rest

GONE_ON = {
    *("settings_archive", "settings_rename", "settings_delete"),
    *("settings_judge_remove", "settings_shared_link_revoke"),
    # Removal and withdrawal alone: see below.
    *("settings_member", "settings_invitation"),
}
"""Changes an owner makes in an archived team: back, its name, away with it, and access taken away."""


@pytest.fixture
def people(furnished: Furnished) -> Cast:
    """The furnished team, archived by its owner once nothing is under way."""
    people = at_rest(furnished)
    archiving.archive(people.team, by=people.alice, now=timezone.now())
    return people


def test_every_page_is_read_and_none_changes_more_than_a_viewer_may(
    furnished: Furnished, people: Cast, sign_in
) -> None:
    alice, slug = sign_in(people.alice), people.team.slug
    lines = JournalEntry.objects.filter(team=people.team).count()
    refused = set()
    for pattern in team_urls:
        url, view = address(pattern, slug, furnished.ours), pattern.callback
        status = alice.get(url).status_code
        personal = "review_id" in str(pattern.pattern)
        assert status in {200, 302, 405} | ({403, 404} if personal else set()), (pattern.name, status)
        if view.post_role > Role.VIEWER and pattern.name not in GONE_ON:
            answer = alice.post(url)
            assert answer.status_code == 409, (pattern.name, answer.status_code)
            assert "is archived: it can be read and exported" in answer.content.decode()
            refused.add(pattern.name)
    assert {"run_new", "queue_new", "dataset_import", "review_submit", "settings_members"} <= refused
    assert JournalEntry.objects.filter(team=people.team).count() == lines


def test_a_role_that_is_too_low_and_a_stranger_hear_what_they_always_heard(people: Cast, sign_in) -> None:
    url = reverse("run_new", args=[people.team.slug])
    assert sign_in(people.bob).post(url).status_code == 403
    assert sign_in(people.charlie).post(url).status_code == 404
    for person, status in ((people.ed, 403), (people.bob, 403), (people.charlie, 404)):
        assert (
            sign_in(person).post(reverse("settings_archive", args=[people.team.slug])).status_code == status
        )


def test_access_is_still_taken_away_and_none_is_given(furnished: Furnished, people: Cast, sign_in) -> None:
    alice, slug, ours = sign_in(people.alice), people.team.slug, furnished.ours
    member = reverse("settings_member", args=[slug, people.ann.pk])
    for action in ({"role": Role.OWNER}, {"action": "link"}):
        assert alice.post(member, action).status_code == 409
    invitation = reverse("settings_invitation", args=[slug, ours["invitation_id"]])
    assert alice.post(invitation, {"action": "link"}).status_code == 409
    page = alice.get(reverse("settings_members", args=[slug])).content.decode()
    assert "Withdraw" in page
    assert "Invite a person" not in page
    assert alice.post(invitation, {"action": "withdraw"}).status_code == 302
    assert alice.post(member, {"action": "remove"}).status_code == 302
    assert not Membership.objects.filter(team=people.team, user=people.ann).exists()
    remove = reverse("settings_judge_remove", args=[slug, ours["endpoint_id"]])
    assert alice.post(remove).status_code == 302
    assert people.team.endpoints.get(pk=ours["endpoint_id"]).sealed_key == ""


def test_pages_say_so_and_offer_nothing_that_would_be_refused(
    furnished: Furnished, people: Cast, sign_in
) -> None:
    slug = people.team.slug
    restore = reverse("settings_archive", args=[slug])
    for person, may_restore in ((people.alice, True), (people.ed, False)):
        reader = sign_in(person)
        for name, *ids in (
            ("dashboard",),
            ("runs",),
            ("datasets",),
            ("rubrics",),
            ("queues",),
            ("run", furnished.ours["run_id"]),
            ("dataset", furnished.ours["dataset_id"]),
            ("queue", furnished.ours["queue_id"]),
        ):
            page = reader.get(reverse(name, args=[slug, *ids])).content.decode()
            assert "This team is archived" in page, name
            assert (restore in page) == may_restore, name
            for address_of in ("run_new", "dataset_import", "rubric_new", "queue_new"):
                assert reverse(address_of, args=[slug]) not in page, (name, address_of)
    # What a list says without its page, as it does to a search.
    part = sign_in(people.ed).get(
        reverse("rubrics", args=[slug]), {"q": "none"}, headers={"HX-Request": "true"}
    )
    assert reverse("rubric_new", args=[slug]) not in part.content.decode()


def test_its_export_is_downloaded(furnished: Furnished, people: Cast, sign_in) -> None:
    ours = furnished.ours
    asked: dict[str, Any] = {"dataset": ours["dataset_id"], "run": ours["run_id"], "what": "verdicts"}
    asked["format"] = "csv"
    answer = sign_in(people.bob).get(reverse("export_download", args=[people.team.slug]), asked)
    assert answer.status_code == 200
    assert b"MET" in b"".join(answer.streaming_content)


def test_the_front_page_and_the_switcher_leave_it_out_until_it_is_asked_for(people: Cast, sign_in) -> None:
    ed = sign_in(people.ed)
    dashboard = reverse("dashboard", args=[people.team.slug])
    # It is ed's only team.
    page = ed.get("/").content.decode()
    assert "Archived teams" in page
    assert dashboard in page
    assert "Back to those not archived" not in page
    Membership.objects.create(team=people.other_team, user=people.ed, role=Role.VIEWER)
    other = reverse("dashboard", args=[people.other_team.slug])
    assert ed.get(dashboard).status_code == 200
    assert ed.get("/")["Location"] == other
    page = ed.get(other).content.decode()
    assert dashboard not in page
    assert "Archived (1)" in page
    page = ed.get("/?archived=1").content.decode()
    assert dashboard in page
    assert "Back to those not archived" in page


def test_an_owner_archives_and_restores_it_on_its_page(furnished: Furnished, people: Cast, sign_in) -> None:
    alice, slug = sign_in(people.alice), people.team.slug
    url = reverse("settings_archive", args=[slug])
    assert url in alice.get(reverse("settings", args=[slug])).content.decode()
    page = alice.post(url, {"action": "restore"}, follow=True).content.decode()
    assert "Capital quality is open again." in page
    assert "This team is archived" not in page
    assert alice.post(reverse("run_pause", args=[slug, furnished.ours["run_id"]])).status_code == 302
    page = alice.post(url, {"action": "archive"}, follow=True).content.decode()
    assert "Capital quality is archived: nothing in it changes." in page
    assert alice.post(url, {"action": "x"}).status_code == 400
    assert Team.objects.get(pk=people.team.pk).archived_at is not None


def test_archiving_is_refused_while_something_is_under_way(
    furnished: Furnished, people: Cast, sign_in
) -> None:
    alice, url = sign_in(people.alice), reverse("settings_archive", args=[people.team.slug])
    alice.post(url, {"action": "restore"})
    queue_changes.reopen_queue(people.team.queues.get(), by=people.alice)
    answer = alice.post(url, {"action": "archive"})
    assert answer.status_code == 409
    assert "The review queue First look is open: close it first." in answer.content.decode()
    assert Team.objects.get(pk=people.team.pk).archived_at is None


def test_an_invitation_into_it_is_refused_with_the_reason(people: Cast, sign_in) -> None:
    secret = invitations.invite(
        people.team, "charlie", Role.VIEWER, by=people.alice, now=timezone.now(), link=lambda secret: secret
    ).link
    answer = sign_in(people.charlie).post(reverse("invitation"), {"token": secret, "action": "accept"})
    assert answer.status_code == 422
    assert "is archived" in answer.content.decode()
