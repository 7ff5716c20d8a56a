"""Deleting for good on pages and at the terminal."""

import pytest
from django.urls import reverse
from django.utils import timezone

from rubricweb.models import Dataset, Deletion, DeletionState
from rubricweb.services.deletions import deletions
from tests import factories
from tests.commands.terminal import terminal_of
from tests.factories import Cast, cast

pytestmark = pytest.mark.django_db


@pytest.fixture
def people() -> Cast:
    return cast()


@pytest.fixture
def dataset(people: Cast) -> Dataset:
    return factories.dataset(people.team, people.ed, name="Night build")


def page_of(people: Cast, dataset: Dataset) -> str:
    return reverse("delete", args=[people.team.slug, "dataset", dataset.pk])


def test_an_owner_sees_what_goes_types_its_name_and_watches(people: Cast, sign_in, dataset: Dataset) -> None:
    alice, slug = sign_in(people.alice), people.team.slug
    manage = alice.get(reverse("manage", args=[slug, "dataset", dataset.pk])).content.decode()
    assert page_of(people, dataset) in manage
    preview = alice.get(page_of(people, dataset)).content.decode()
    for words in ("3 items", "3 cases", "The lines of the audit log.", "There is no way back"):
        assert words in preview
    told = alice.post(page_of(people, dataset), {"name": "Night build"}, follow=True).content.decode()
    assert "Night build is deleted." in told
    assert "waiting for a worker" in told
    assert alice.get(reverse("dataset", args=[slug, dataset.pk])).status_code == 404
    deletions.work(Deletion.objects.get().pk, worker="here:1", now=timezone.now)
    htmx = {"headers": {"HX-Request": "true"}}
    listed = alice.get(reverse("settings_deletions", args=[slug]), **htmx)
    assert listed.status_code == 286  # htmx stops asking
    assert "removed" in listed.content.decode()


def test_another_name_deletes_nothing(people: Cast, sign_in, dataset: Dataset) -> None:
    page = sign_in(people.alice).post(page_of(people, dataset), {"name": "night build"})
    assert page.status_code == 422
    assert "its name, &#x27;Night build&#x27;" in page.content.decode()
    assert people.team.datasets.exists()


def test_what_is_in_use_has_no_form(people: Cast, sign_in, dataset: Dataset) -> None:
    version = factories.version(people.team, people.ed)
    run = factories.run(people.team, people.ed, dataset=dataset, rubric_version=version)
    page = sign_in(people.alice).get(page_of(people, dataset)).content.decode()
    assert f"{run} is running: cancel it first" in page
    assert 'name="name"' not in page
    page = sign_in(people.alice).post(page_of(people, dataset), {"name": "Night build"})
    assert page.status_code == 422


def test_an_editor_is_not_offered_it(people: Cast, sign_in, dataset: Dataset) -> None:
    ed, slug = sign_in(people.ed), people.team.slug
    assert "Delete" not in ed.get(reverse("manage", args=[slug, "dataset", dataset.pk])).content.decode()
    assert ed.get(page_of(people, dataset)).status_code == 403


def test_the_terminal_plans_and_deletes(
    people: Cast, dataset: Dataset, capsys: pytest.CaptureFixture[str]
) -> None:
    terminal = terminal_of(people.team, people.alice, capsys)
    planned = terminal("delete", "dataset", "Night build", "--plan").out
    assert planned.splitlines() == [
        "dataset Night build",
        "  goes: 3 cases",
        "  goes: 3 items",
        "  stays: The lines of the audit log.",
    ]
    refused = terminal("delete", "dataset", "Night build")
    assert refused.code == 1
    assert "its name, 'Night build'" in refused.err
    ended = terminal("delete", "dataset", "Night build", "--yes-delete", "Night build")
    assert (ended.code, ended.out) == (0, "All of dataset Night build is removed.\n")
    assert "Night build" in terminal("deletions").out
    assert not Dataset.objects.exists()


def test_an_owner_renames_the_team_and_deletes_it(people: Cast, sign_in, dataset: Dataset) -> None:
    alice, slug = sign_in(people.alice), people.team.slug
    rename = reverse("settings_rename", args=[slug])
    assert rename in alice.get(reverse("settings", args=[slug])).content.decode()
    told = alice.post(rename, {"name": " Capitals of Europe "}, follow=True).content.decode()
    assert "The team is called Capitals of Europe now." in told
    assert alice.post(rename, {"name": " "}).status_code == 422
    delete = reverse("settings_delete", args=[slug])
    preview = alice.get(delete).content.decode()
    for words in ("1 dataset", "5 memberships", "The accounts of its members."):
        assert words in preview
    assert alice.post(delete, {"name": "Capital quality"}).status_code == 422
    told = alice.post(delete, {"name": "Capitals of Europe"}, follow=True)
    assert "Capitals of Europe is deleted." in told.content.decode()
    assert alice.get(reverse("dashboard", args=[slug])).status_code == 404
    people.alice.refresh_from_db()
    assert sign_in(people.ed).get(delete).status_code == 404


def test_the_terminal_renames_and_deletes_a_team_by_its_address(
    people: Cast, capsys: pytest.CaptureFixture[str]
) -> None:
    terminal = terminal_of(people.team, people.alice, capsys)
    assert terminal("rename", "team", "capitals", "Capitals").out == "It is called Capitals now.\n"
    assert "the address of Capitals" in terminal("delete", "team", "another", "--plan").err
    ended = terminal("delete", "team", "capitals", "--yes-delete", "Capitals")
    assert (ended.code, ended.out) == (0, "All of team Capitals is removed.\n")


def test_a_deletion_that_failed_says_why(people: Cast, dataset: Dataset, sign_in) -> None:
    found = deletions.delete(dataset, "Night build", by=people.alice, now=timezone.now(), enqueue=None)
    Deletion.objects.filter(pk=found.pk).update(state=DeletionState.FAILED, message="Out of luck.")
    page = sign_in(people.alice).get(reverse("settings_deletions", args=[people.team.slug]))
    assert "Out of luck." in page.content.decode()
