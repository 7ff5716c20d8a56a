"""Who gets into a team and how, tried by the victim's team and by those who want in."""

import re
from datetime import timedelta

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.totp.internal.auth import (
    TOTP,
    format_hotp_value,
    generate_totp_secret,
    hotp_value,
    yield_hotp_counters_from_time,
)
from django.core import mail
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from sesame.utils import get_query_string

from rubricweb.errors import Conflict
from rubricweb.models import Invitation, JournalEntry, Membership, Rater, Role, Team, User
from rubricweb.services.teams import invitations, teams
from rubricweb.services.teams.teams import digest
from tests.factories import Cast

CEO = "ceo@victim.example"
PASSWORD = "correct horse battery"


def invited(team: Team, who: str, by: User, **options: object) -> invitations.Invited:
    """An invitation whose link is the bare secret."""
    return invitations.invite(
        team, who, Role.EDITOR, by=by, now=timezone.now(), link=lambda secret: secret, **options
    )


def opened(client: Client, secret: str | None, **sent: str):
    """What the page behind the link answers to being looked at, or to a form."""
    if sent:
        return client.post(reverse("invitation"), {"token": secret, **sent})
    return client.get(reverse("invitation"), {"token": secret})


def is_in(team: Team, user: User) -> bool:
    return Membership.objects.filter(team=team, user=user).exists()


def new_account(username: str) -> dict[str, str]:
    return {"username": username, "name": "", "password": PASSWORD}


# ── By a claimed address ─────────────────────────────────────────────────────────────────────────


def test_a_claimed_address_changes_nothing_and_lets_nobody_in(people: Cast, sign_in) -> None:
    attacker = sign_in(people.charlie)
    attacker.post(reverse("account_email"), {"action_add": "", "email": CEO})
    attacker.post(reverse("account_email"), {"action_primary": "", "email": CEO})
    people.charlie.refresh_from_db()
    assert people.charlie.email != CEO
    answer = sign_in(people.alice).post(
        reverse("settings_members", args=[people.team.slug]), {"who": CEO, "role": Role.EDITOR.value}
    )
    assert "/invitation/?token=" in answer.content.decode()
    assert not is_in(people.team, people.charlie)
    assert attacker.get(reverse("dashboard", args=[people.team.slug])).status_code == 404


def test_an_address_stored_by_an_earlier_release_is_not_proven(people: Cast) -> None:
    User.objects.filter(pk=people.charlie.pk).update(email=CEO)
    link = invited(people.team, CEO, people.alice).link
    assert not is_in(people.team, people.charlie)
    # The real one comes with the link, though somebody else claims the address.
    opened(Client(), link, **new_account("ceo"))
    assert is_in(people.team, User.objects.get(username="ceo"))


def test_a_new_address_counts_once_its_owner_opened_the_mail_signed_in(people: Cast, sign_in) -> None:
    client = sign_in(people.charlie)
    client.post(reverse("account_email"), {"action_add": "", "email": "new@charlie.example"})
    [sent] = mail.outbox
    assert sent.to == ["new@charlie.example"]
    found = re.search(r"http://testserver(/accounts/confirm-email/\S+)", str(sent.body))
    assert found is not None
    stranger = Client()
    assert "Sign in first" in stranger.get(found[1]).content.decode()
    stranger.post(found[1])
    assert not EmailAddress.objects.filter(verified=True).exists()
    client.post(found[1])
    people.charlie.refresh_from_db()
    assert people.charlie.email == "new@charlie.example"
    assert EmailAddress.objects.get(user=people.charlie).verified


def test_the_page_of_the_address_says_what_is_proven(people: Cast, sign_in) -> None:
    client = sign_in(people.charlie)
    client.post(reverse("account_email"), {"action_add": "", "email": "new@charlie.example"})
    page = client.get(reverse("account_email")).content.decode()
    assert "Not proven yet" in page
    assert "new@charlie.example" in page
    assert "sends no mail" in page


def test_no_mail_is_said_to_be_sent_where_none_goes_out(people: Cast, sign_in, settings) -> None:
    client, page = sign_in(people.charlie), reverse("account_email")
    new = {"action_add": "", "email": "new@charlie.example"}
    said = client.post(page, new, follow=True).content.decode()
    assert "The link that proves new@charlie.example is in the log of this server." in said
    assert "email sent" not in said
    assert "Mail the link" not in said
    settings.SENDS_MAIL = True
    said = client.post(page, new | {"email": "newer@charlie.example"}, follow=True).content.decode()
    assert "The link that proves newer@charlie.example was mailed there." in said
    assert "Mail the link again" in said


def test_who_has_proven_no_address_sets_up_a_second_factor_and_may_change_the_address(
    people: Cast, sign_in
) -> None:
    client = sign_in(people.charlie)
    client.post(reverse("account_email"), {"action_add": "", "email": "new@charlie.example"})
    shown = client.get(reverse("mfa_activate_totp"), follow=True).content.decode()
    assert "until you have verified your email" not in shown
    TOTP.activate(people.charlie, generate_totp_secret())
    client.post(reverse("account_email"), {"action_add": "", "email": "newer@charlie.example"})
    assert EmailAddress.objects.filter(email="newer@charlie.example", verified=False).exists()


def test_an_invitation_waits_for_who_has_proven_the_address(people: Cast, sign_in) -> None:
    EmailAddress.objects.create(user=people.charlie, email=CEO, verified=True, primary=True)
    link = invited(people.team, CEO.upper(), people.alice).link
    dan = teams.create_person("dan")
    assert "another account" in opened(sign_in(dan), link, action="accept").content.decode()
    assert opened(Client(), link, **new_account("dan2")).status_code == 422
    assert not is_in(people.team, dan)
    assert opened(sign_in(people.charlie), link, action="accept").status_code == 302
    assert is_in(people.team, people.charlie)


# ── By a kept link ───────────────────────────────────────────────────────────────────────────────


def test_who_keeps_the_link_of_another_team_gets_into_that_team_alone(people: Cast) -> None:
    attackers_link = invited(people.other_team, CEO, people.charlie).link
    victims_link = invited(people.team, CEO, people.alice).link
    opened(Client(), attackers_link, **new_account("fake"))
    fake = User.objects.get(username="fake")
    assert (is_in(people.other_team, fake), is_in(people.team, fake)) == (True, False)
    assert not EmailAddress.objects.filter(user=fake, verified=True).exists()
    opened(Client(), victims_link, **new_account("ceo"))
    assert is_in(people.team, User.objects.get(username="ceo"))


def test_a_link_is_stored_as_a_digest_and_works_once(people: Cast, sign_in) -> None:
    link = invited(people.team, "somebody-new", people.alice).link
    assert Invitation.objects.get().digest == digest(str(link))
    newcomer = Client()
    answer = opened(newcomer, link, **new_account("somebody-new"))
    assert answer.status_code == 302
    assert newcomer.get(reverse("dashboard", args=[people.team.slug])).status_code == 200
    for again in (opened(Client(), link, **new_account("second")), opened(sign_in(people.charlie), link)):
        assert again.status_code == 400
        assert "no longer be used" in again.content.decode()
    assert not is_in(people.team, people.charlie)


def test_who_was_removed_has_kept_no_other_link(people: Cast, sign_in) -> None:
    EmailAddress.objects.create(user=people.charlie, email=CEO, verified=True, primary=True)
    kept = [invited(people.team, who, people.alice).link for who in (CEO, "Charlie@example.org")]
    joined = invited(people.team, "charlie", people.alice).link
    opened(sign_in(people.charlie), joined, action="accept")
    teams.remove_member(people.team.memberships.get(user=people.charlie), by=people.alice)
    for link in kept:
        assert opened(sign_in(people.charlie), link, action="accept").status_code == 400
    assert not is_in(people.team, people.charlie)
    zoe = unused_member(people)
    link = invitations.invite_to_sign_in(zoe, by=people.alice, now=timezone.now(), link=lambda one: one).link
    teams.remove_member(zoe, by=people.alice)
    assert opened(Client(), link).status_code == 400


def test_a_rater_from_a_file_with_ones_name_keeps_nobody_out(people: Cast) -> None:
    for name in ("Zoe Ray", "Zoe Ray (zoe)"):
        Rater.objects.create(team=people.team, name=name)
    link = invited(people.team, "zoe", people.alice).link
    assert opened(Client(), link, username="zoe", name="Zoe Ray", password=PASSWORD).status_code == 302
    assert Rater.objects.get(user__username="zoe").name == "Zoe Ray (zoe 2)"
    long = "z" * 150
    link = invited(people.team, long, people.alice).link
    assert opened(Client(), link, **new_account(long)).status_code == 302
    assert Rater.objects.get(user__username=long).name == "z" * 120


def test_an_opened_link_alone_lets_nobody_in(people: Cast, sign_in) -> None:
    link = invited(people.team, "charlie", people.alice).link
    assert opened(sign_in(people.charlie), link).status_code == 200
    assert not is_in(people.team, people.charlie)


@pytest.mark.parametrize("ending", ["expired", "withdrawn", "renewed", "invited again", "owner removed"])
def test_a_link_that_has_ended_lets_nobody_in(people: Cast, sign_in, ending: str) -> None:
    now = timezone.now()
    teams.change_role(people.team.memberships.get(user=people.ed), Role.OWNER, by=people.alice)
    asked = invited(people.team, "charlie", people.alice)
    if ending == "expired":
        Invitation.objects.update(expires_at=now - timedelta(seconds=1))
    elif ending == "withdrawn":
        invitations.withdraw(asked.invitation, by=people.ed, now=now)
    elif ending == "renewed":
        invitations.renew(asked.invitation, by=people.ed, now=now, link=str)
    elif ending == "invited again":
        invited(people.team, "CHARLIE", people.ed)
    else:
        teams.remove_member(people.team.memberships.get(user=people.alice), by=people.ed)
    assert opened(sign_in(people.charlie), asked.link, action="accept").status_code == 400
    assert not is_in(people.team, people.charlie)


def test_an_invitation_of_a_user_name_is_for_that_account_alone(people: Cast, sign_in) -> None:
    link = invited(people.team, "Charlie", people.alice).link
    thief = teams.create_person("thief")
    assert opened(sign_in(thief), link, action="accept").status_code == 422
    assert opened(Client(), link, **new_account("thief2")).status_code == 422
    assert not User.objects.filter(username="thief2").exists()
    opened(sign_in(people.charlie), link, action="accept")
    assert is_in(people.team, people.charlie)


# ── Sign-in links ────────────────────────────────────────────────────────────────────────────────


def unused_member(people: Cast) -> Membership:
    """Somebody an earlier release made an account for: in one team, never here."""
    return teams.add_member(people.team, teams.create_person("zoe"), Role.VIEWER, by=people.alice)


def test_an_owners_sign_in_link_sets_the_first_password_once(people: Cast, sign_in) -> None:
    membership = unused_member(people)
    page = sign_in(people.alice).post(
        reverse("settings_member", args=[people.team.slug, membership.user_id]), {"action": "link"}
    )
    found = re.search(r"/invitation/\?token=([\w-]+)", page.content.decode())
    assert found is not None
    zoe = Client()
    assert "Choose a password" in opened(zoe, found[1]).content.decode()
    assert opened(zoe, found[1], password="short").status_code == 422
    assert opened(zoe, found[1], password=PASSWORD).status_code == 302
    assert zoe.get(reverse("dashboard", args=[people.team.slug])).status_code == 200
    assert opened(Client(), found[1], password=PASSWORD).status_code == 400
    told = list(JournalEntry.objects.filter(team=people.team).values_list("verb", flat=True)[:2])
    assert told == ["used the sign-in link", "made a sign-in link for"]


@pytest.mark.parametrize("since", ["joined another team", "set a password"])
def test_an_owners_sign_in_link_ends_when_the_account_is_more_than_theirs(people: Cast, since: str) -> None:
    membership = unused_member(people)
    link = invitations.invite_to_sign_in(
        membership, by=people.alice, now=timezone.now(), link=lambda secret: secret
    ).link
    if since == "joined another team":
        teams.add_member(people.other_team, membership.user, Role.VIEWER, by=people.charlie)
    else:
        membership.user.set_password("her own words")
        membership.user.save()
    client = Client()
    opened(client, link, password=PASSWORD)
    assert client.get(reverse("dashboard", args=[people.team.slug])).status_code == 302
    membership.user.refresh_from_db()
    assert not membership.user.check_password(PASSWORD)


def test_a_sign_in_link_does_not_pass_by_the_second_factor(people: Cast) -> None:
    secret = generate_totp_secret()
    TOTP.activate(people.ann, secret)
    link = reverse("one_time_link") + get_query_string(people.ann)
    client = Client()
    answer = client.post(reverse("one_time_link"), {"token": link.partition("token=")[2]})
    assert answer["Location"] == reverse("mfa_authenticate")
    page = reverse("dashboard", args=[people.team.slug])
    assert client.get(page).status_code == 302
    again = Client().post(reverse("one_time_link"), {"token": link.partition("token=")[2]})
    assert again.status_code == 400
    code = format_hotp_value(hotp_value(secret, next(iter(yield_hotp_counters_from_time()))))
    client.post(reverse("mfa_authenticate"), {"code": code})
    assert client.get(page).status_code == 200


# ── By mail ──────────────────────────────────────────────────────────────────────────────────────


def test_a_mailed_link_goes_to_the_mailbox_alone_and_proves_the_address(
    people: Cast, sign_in, settings
) -> None:
    settings.SENDS_MAIL = True
    sent = {"who": CEO, "role": Role.EDITOR.value}
    answer = sign_in(people.alice).post(
        reverse("settings_members", args=[people.team.slug]), sent, follow=True
    )
    assert "on its way" in answer.content.decode()
    assert "token=" not in answer.content.decode()
    [message] = mail.outbox
    assert message.to == [CEO]
    link = re.search(r"token=([\w-]+)", str(message.body))
    assert link is not None
    opened(Client(), link[1], **new_account("ceo"))
    assert EmailAddress.objects.get(user__username="ceo").verified
    # Who has an account proves it as well, however they wrote it there.
    address = "Charlie@victim.example"
    EmailAddress.objects.create(user=people.charlie, email=address)
    User.objects.filter(pk=people.charlie.pk).update(email=address)
    invited(people.team, address, people.alice)
    opened(sign_in(people.charlie), str(mail.outbox[1].body).splitlines()[2], action="accept")
    proven = EmailAddress.objects.get(user=people.charlie)
    assert (proven.email, proven.verified, proven.primary) == (address.lower(), True, True)
    people.charlie.refresh_from_db()
    assert people.charlie.email == address.lower()


def test_a_link_handed_over_where_mail_is_set_up_proves_no_address(people: Cast, settings) -> None:
    settings.SENDS_MAIL = True
    link = invited(people.team, CEO, people.alice, hand_over=True).link
    assert not mail.outbox
    opened(Client(), link, **new_account("ceo"))
    assert User.objects.get(username="ceo").email == CEO
    assert not EmailAddress.objects.filter(verified=True).exists()


def test_a_mail_that_cannot_be_sent_is_said_and_the_invitation_waits(people: Cast, sign_in, settings) -> None:
    settings.SENDS_MAIL = True
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 9
    client = sign_in(people.alice)
    members = reverse("settings_members", args=[people.team.slug])
    answer = client.post(members, {"who": CEO, "role": Role.EDITOR.value})
    assert answer.status_code == 422
    assert "could not be sent" in answer.content.decode()
    waiting = Invitation.objects.get()
    page = reverse("settings_invitation", args=[people.team.slug, waiting.pk])
    assert "token=" in client.post(page, {"action": "link"}).content.decode()
    client.post(page, {"action": "withdraw"})
    waiting.refresh_from_db()
    assert waiting.withdrawn_at is not None


# ── What the pages show ──────────────────────────────────────────────────────────────────────────


def test_open_invitations_are_for_owners_to_see(people: Cast, sign_in) -> None:
    invited(people.team, CEO, people.alice)
    members = reverse("settings_members", args=[people.team.slug])
    assert CEO in sign_in(people.alice).get(members).content.decode()
    assert CEO not in sign_in(people.ed).get(members).content.decode()
    audit_log = sign_in(people.ed).get(reverse("settings_audit_log", args=[people.team.slug]))
    assert CEO not in audit_log.content.decode()


@pytest.mark.parametrize("taken", ["ann", "two words", "cfo@victim.example"])
def test_a_user_name_that_will_not_do_is_said_and_the_link_still_works(people: Cast, taken: str) -> None:
    link = invited(people.team, CEO, people.alice).link
    assert opened(Client(), link, **new_account(taken)).status_code == 422
    assert opened(Client(), link, **new_account("ceo")).status_code == 302


def test_no_new_link_is_made_for_what_was_accepted_meanwhile(people: Cast) -> None:
    now = timezone.now()
    asked = invited(people.team, "charlie", people.alice)
    read_before = Invitation.objects.get(pk=asked.invitation.pk)
    assert asked.link is not None
    invitations.accept(asked.link, user=people.charlie, now=now)
    with pytest.raises(Conflict, match="not open any more"):
        invitations.renew(read_before, by=people.alice, now=now, link=str)
    assert Invitation.objects.get().accepted_at == now


def test_an_owner_who_was_none_when_the_list_was_read_is_not_the_last_one_removed(people: Cast) -> None:
    read_before = people.team.memberships.get(user=people.ed)
    teams.change_role(people.team.memberships.get(user=people.ed), Role.OWNER, by=people.alice)
    teams.change_role(people.team.memberships.get(user=people.alice), Role.EDITOR, by=people.alice)
    with pytest.raises(Conflict, match="is the only owner"):
        teams.remove_member(read_before, by=people.alice)
