"""Team settings and one-time links at the interface a browser uses."""

import re

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from sesame.utils import get_query_string

from rubricweb.models import ApiToken, Membership, Role, User
from rubricweb.services.teams import invitations, teams
from tests import factories
from tests.factories import Cast


def url(name: str, people: Cast, *ids: int) -> str:
    return reverse(name, args=[people.team.slug, *ids])


def role_of(people: Cast, user: User) -> str | None:
    membership = Membership.objects.filter(team=people.team, user=user).first()
    return membership.get_role_display() if membership else None


# ── Overview and members ─────────────────────────────────────────────────────────────────────────


def test_every_member_sees_the_overview_and_only_owners_manage(people: Cast, sign_in) -> None:
    for person in people.members.values():
        page = sign_in(person).get(url("settings", people)).content.decode()
        assert "offline judge (not an LLM)" in page
        assert ("Manage" in page) == (person == people.alice)


def test_members_are_listed_with_their_roles_and_no_forms_for_others(people: Cast, sign_in) -> None:
    page = sign_in(people.ed).get(url("settings_members", people)).content.decode()
    assert "Ann" in page
    assert "annotator" in page
    assert 'name="role"' not in page
    assert "ann@example.org" not in page


def test_the_member_list_costs_the_same_queries_however_many(
    people: Cast, sign_in, django_assert_max_num_queries
) -> None:
    for number in range(8):
        teams.add_member(people.team, teams.create_person(f"p{number}"), Role.VIEWER, by=people.alice)
        invitations.invite(
            people.team, f"new{number}", Role.VIEWER, by=people.alice, now=timezone.now(), link=str
        )
    client = sign_in(people.alice)
    client.get(url("settings_members", people))
    with django_assert_max_num_queries(10):
        client.get(url("settings_members", people))


def test_a_one_time_link_of_the_operator_works_once(people: Cast) -> None:
    nia = teams.create_person("nia")
    teams.add_member(people.team, nia, Role.ANNOTATOR, by=people.alice)
    link = reverse("one_time_link") + get_query_string(nia)
    newcomer = Client()
    assert "Sign in" in newcomer.get(link).content.decode()  # a preview that follows it uses nothing up
    assert newcomer.get(link).wsgi_request.user.is_anonymous
    token = link.partition("token=")[2]
    assert newcomer.post(reverse("one_time_link"), {"token": token})["Location"] == "/"
    assert newcomer.get(url("settings", people)).status_code == 200
    again = Client().post(reverse("one_time_link"), {"token": token})
    assert again.status_code == 400
    assert "rubricweb sign-in-link" in again.content.decode()


def test_a_link_is_shown_once_and_kept_in_no_cache(people: Cast, sign_in) -> None:
    client = sign_in(people.alice)
    answer = client.post(url("settings_members", people), {"who": "nia@example.org", "role": 20})
    link = re.search(r"http://testserver/invitation/\?token=[\w-]+", answer.content.decode())
    assert link is not None
    assert "no-store" in answer["Cache-Control"]
    assert link[0] not in client.get(url("settings_members", people)).content.decode()


def test_two_people_with_the_same_mail_name_are_offered_different_user_names(people: Cast, sign_in) -> None:
    offered = []
    for domain in ("a.example", "b.example"):
        page = sign_in(people.alice).post(
            url("settings_members", people), {"who": f"sam@{domain}", "role": 10}
        )
        link = re.search(r"/invitation/\?token=[\w-]+", page.content.decode())
        assert link is not None
        offered.append(Client().get(link[0]).context["form"]["username"].value())
        teams.create_person(offered[-1])
    assert offered == ["sam", "sam2"]


def test_a_refused_person_stays_in_the_form(people: Cast, sign_in) -> None:
    client = sign_in(people.alice)
    for who, why in (("ann", "already in"), ("two words", "valid username"), ("x@", "email")):
        answer = client.post(url("settings_members", people), {"who": who, "role": 20})
        assert answer.status_code == 422
        assert answer.context["form"].errors["who"]
        assert why in answer.content.decode()
        assert f'value="{who}"' in answer.content.decode()


def test_an_owner_changes_roles_and_removes_people(people: Cast, sign_in) -> None:
    client = sign_in(people.alice)
    address = url("settings_member", people, people.ann.pk)
    client.post(address, {"action": "role", "role": Role.EDITOR.value})
    assert role_of(people, people.ann) == "editor"
    assert client.post(address, {"action": "role", "role": 99}).status_code == 422
    client.post(address, {"action": "remove"})
    assert role_of(people, people.ann) is None
    assert sign_in(people.ann).get(url("settings", people)).status_code == 404


@pytest.mark.parametrize("sent", [{"action": "remove"}, {"action": "role", "role": Role.VIEWER.value}])
def test_the_last_owner_stays(people: Cast, sign_in, sent: dict[str, object]) -> None:
    answer = sign_in(people.alice).post(url("settings_member", people, people.alice.pk), sent)
    assert answer.status_code == 422
    assert "only owner" in answer.content.decode()
    assert role_of(people, people.alice) == "owner"


def test_an_owner_may_leave_once_there_is_another(people: Cast, sign_in) -> None:
    client = sign_in(people.alice)
    client.post(url("settings_member", people, people.ed.pk), {"role": Role.OWNER.value})
    answer = client.post(url("settings_member", people, people.alice.pk), {"action": "remove"})
    assert answer["Location"] == "/"
    assert role_of(people, people.alice) is None


# ── API tokens ───────────────────────────────────────────────────────────────────────────────────


def test_a_token_is_shown_once_and_stored_as_a_digest(people: Cast, sign_in) -> None:
    client = sign_in(people.ann)
    sent = {"name": "laptop", "may_write": "write", "days": 30}
    page = client.post(url("settings_tokens", people), sent).content.decode()
    found = re.search(r"rw_[\w-]{40,}", page)
    assert found is not None
    token = ApiToken.objects.get(name="laptop")
    assert (token.user, token.may_write, token.digest) == (people.ann, True, teams.digest(found[0]))
    assert found[0] not in client.get(url("settings_tokens", people)).content.decode()


@pytest.mark.parametrize("days", [0, 367, "many"])
def test_a_token_that_lives_too_long_is_refused(people: Cast, sign_in, days: object) -> None:
    answer = sign_in(people.ann).post(
        url("settings_tokens", people), {"name": "laptop", "may_write": "read", "days": days}
    )
    assert (answer.status_code, list(answer.context["form"].errors)) == (422, ["days"])
    assert not ApiToken.objects.exists()


def test_one_revokes_ones_own_tokens_only(people: Cast, sign_in) -> None:
    membership = people.team.memberships.get(user=people.ann)
    token, _ = teams.create_token(
        membership, name="nightly export", may_write=False, days=1, now=timezone.now()
    )
    address = url("settings_token_revoke", people, token.pk)
    assert sign_in(people.alice).post(address).status_code == 404
    assert "nightly export" not in sign_in(people.alice).get(url("settings_tokens", people)).content.decode()
    assert sign_in(people.ann).post(address).status_code == 302
    token.refresh_from_db()
    assert token.revoked_at is not None


# ── Audit log and links ────────────────────────────────────────────────────────────────────────────


def test_the_audit_log_says_who_did_what_page_by_page(people: Cast, sign_in) -> None:
    for number in range(60):
        factories.dataset(people.team, people.ed, name=f"data {number}", items=factories.ITEMS[:1])
    client = sign_in(people.bob)
    first = client.get(url("settings_audit_log", people))
    assert "Ed</strong> imported" in first.content.decode()
    cursor = first.context["page"].next_cursor
    second = client.get(url("settings_audit_log", people), {"cursor": cursor})
    assert {line.target_id for line in first.context["page"].rows}.isdisjoint(
        line.target_id for line in second.context["page"].rows if line.kind == "dataset"
    )
    assert client.get(url("settings_audit_log", people), {"cursor": "garbage"}).status_code == 400


def test_the_audit_log_costs_the_same_queries_however_long(
    people: Cast, sign_in, django_assert_max_num_queries
) -> None:
    for number in range(20):
        factories.dataset(people.team, people.ed, name=f"data {number}", items=factories.ITEMS[:1])
    client = sign_in(people.bob)
    client.get(url("settings_audit_log", people))
    with django_assert_max_num_queries(11):
        client.get(url("settings_audit_log", people))


def test_a_link_without_its_token_says_so(db: None) -> None:
    assert "incomplete" in Client().get(reverse("one_time_link")).content.decode()


def test_the_banner_leads_owners_alone_to_the_page_of_judges(people: Cast, sign_in) -> None:
    judges = reverse("settings_judges", args=[people.team.slug])
    for user in people.members.values():
        page = sign_in(user).get(reverse("dashboard", args=[people.team.slug])).content.decode()
        banner = page[page.index('class="banner') :].partition("</div>")[0]
        assert (f'href="{judges}"' in banner) is (user == people.alice)
        assert ("An owner can add a model." in banner) is (user != people.alice)
