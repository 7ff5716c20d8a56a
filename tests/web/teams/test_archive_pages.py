"""Renaming, archiving and restoring on pages, by the API and at the terminal."""

import pytest
from django.urls import reverse
from django.utils import timezone

from rubricweb.models import Dataset, Run, System
from rubricweb.services.endpoints import endpoints
from rubricweb.services.runs import lifecycle
from rubricweb.services.shared import archiving
from tests import factories
from tests.commands.terminal import terminal_of
from tests.factories import Cast, cast

pytestmark = pytest.mark.django_db


@pytest.fixture
def people() -> Cast:
    return cast()


@pytest.fixture
def dataset(people: Cast) -> Dataset:
    return factories.dataset(people.team, people.ed)


def test_an_editor_renames_archives_and_restores_a_dataset(people: Cast, sign_in, dataset: Dataset) -> None:
    ed, slug = sign_in(people.ed), people.team.slug
    manage = reverse("manage", args=[slug, "dataset", dataset.pk])
    assert manage in ed.get(reverse("dataset", args=[slug, dataset.pk])).content.decode()
    page = ed.post(manage, {"action": "rename", "name": "Night build"}, follow=True).content.decode()
    assert "It is called Night build now." in page
    page = ed.post(manage, {"action": "archive"}, follow=True).content.decode()
    assert "Night build is archived." in page
    shelf = ed.get(reverse("datasets", args=[slug])).content.decode()
    assert "Night build" not in shelf
    assert "Archived (1)" in shelf
    assert "Night build" in ed.get(reverse("datasets", args=[slug]) + "?archived=1").content.decode()
    ed.post(manage, {"action": "restore"})
    assert "Night build" in ed.get(reverse("datasets", args=[slug])).content.decode()


def test_a_refused_name_is_shown_beside_what_was_typed(people: Cast, sign_in, dataset: Dataset) -> None:
    factories.dataset(people.team, people.ed, name="other")
    manage = reverse("manage", args=[people.team.slug, "dataset", dataset.pk])
    page = sign_in(people.ed).post(manage, {"action": "rename", "name": "other"})
    assert page.status_code == 422
    assert "already has a dataset called" in page.content.decode()
    assert 'value="other"' in page.content.decode()


@pytest.mark.parametrize("kind", ["team", "item", "x"])
def test_other_kinds_have_no_such_page(people: Cast, sign_in, dataset: Dataset, kind: str) -> None:
    address = reverse("manage", args=[people.team.slug, kind, dataset.pk])
    assert sign_in(people.ed).get(address).status_code == 404


def test_the_terminal_renames_archives_and_restores(
    people: Cast, dataset: Dataset, capsys: pytest.CaptureFixture[str]
) -> None:
    terminal = terminal_of(people.team, people.ed, capsys)
    assert terminal("rename", "dataset", dataset.name, "Night build").out == "It is called Night build now.\n"
    assert "Night build is archived." in terminal("archive", "dataset", "Night build").out
    dataset.refresh_from_db()
    assert dataset.archived_at is not None
    terminal("archive", "dataset", dataset.pk, "--restore")
    dataset.refresh_from_db()
    assert dataset.archived_at is None
    assert terminal("archive", "run", "x").code == 1


def test_an_editor_archives_a_system_and_its_versions_leave_every_chooser(people: Cast, sign_in) -> None:
    rows = [
        {"case_id": "c1", "system": f"{system}@v1", "prompt": "Capital?", "submission": f"{system}: Paris"}
        for system in ("assistant", "helper", "rival")
    ]
    dataset = factories.dataset(people.team, people.ed, items=rows, name="three systems")
    factories.version(people.team, people.ed)
    ed, slug = sign_in(people.ed), people.team.slug
    system = System.objects.get(name="rival")
    manage, about = reverse("manage", args=[slug, "system", system.pk]), {"dataset": dataset.pk}
    choosers = [
        (reverse("run_new", args=[slug]), about, "rival@v1 (1 answer)"),
        (reverse("queue_new", args=[slug]), about, "rival@v1 (1 answer)"),
        (reverse("dataset", args=[slug, dataset.pk]), {}, '<option value="rival@v1"'),
    ]

    def offered() -> list[bool]:
        return [words in ed.get(url, query).content.decode() for url, query, words in choosers]

    assert offered() == [True, True, True]
    page = ed.get(manage).content.decode()
    assert "no answers of it are added" in page
    assert "rival is archived." in ed.post(manage, {"action": "archive"}, follow=True).content.decode()
    assert offered() == [False, False, False]
    # Its answers are counted on the page of the dataset as before.
    assert "rival@v1" in ed.get(reverse("dataset", args=[slug, dataset.pk])).content.decode()
    systems = reverse("systems", args=[slug])
    page = ed.get(systems).content.decode()
    assert "Archived (1)" in page
    assert manage not in page
    assert manage in ed.get(systems, {"archived": "1"}).content.decode()
    # The form that was open before is refused with what is right.
    version = system.versions.get()
    answer = ed.post(
        reverse("run_new", args=[slug]), about | {"systems": [version.pk], "judge": "offline", "sent": "on"}
    )
    assert answer.status_code == 422
    ed.post(manage, {"action": "restore"})
    assert offered() == [True, True, True]
    assert sign_in(people.rae).post(manage, {"action": "archive"}).status_code == 403


def test_where_one_version_is_left_the_form_names_it_and_starts_and_tries_a_run_over_it(
    people: Cast, sign_in
) -> None:
    version = factories.version(people.team, people.ed)
    rows = [
        {"case_id": "c1", "system": system, "prompt": "Capital?", "submission": f"{system}: Paris"}
        for system in ("assistant@v1", "rival@v1")
    ]
    dataset = factories.dataset(people.team, people.ed, items=rows, name="two systems")
    archiving.archive(System.objects.get(name="rival"), by=people.ed, now=timezone.now())
    ed, url = sign_in(people.ed), reverse("run_new", args=[people.team.slug])
    page = ed.get(url, {"dataset": dataset.pk}).content.decode()
    assert "assistant@v1 (1 answer)" in page
    assert "rival" not in page
    chosen = {
        "dataset": dataset.pk,
        "rubric_version": version.pk,
        "autograder": "per_criterion",
        "reply_format": "json",
        "judge": "offline",
        "sent": "on",
    }
    for button in ({}, {"try": "3"}):
        assert ed.post(url, chosen | button).status_code == 302
    assert [(str(run.system_version), run.run_items.count()) for run in Run.objects.all()] == [
        ("assistant@v1", 1),
        ("assistant@v1", 1),
    ]


def test_a_run_over_an_archived_system_says_so_when_it_is_run_again(people: Cast, sign_in) -> None:
    version = factories.version(people.team, people.ed)
    row = {"case_id": "c1", "system": "rival@v1", "prompt": "Capital?", "submission": "Paris"}
    dataset = factories.dataset(people.team, people.ed, items=[row], name="one system")
    run = factories.run(people.team, people.ed, dataset=dataset, rubric_version=version)
    lifecycle.cancel_run(run, by=people.ed, now=timezone.now())
    archiving.archive(System.objects.get(name="rival"), by=people.ed, now=timezone.now())
    page = sign_in(people.ed).get(reverse("run_new", args=[people.team.slug]), {"again": run.pk})
    assert "The system rival is archived: restore it first" in page.content.decode()


def test_an_owner_archives_and_restores_an_endpoint(people: Cast, sign_in) -> None:
    endpoint = endpoints.add_endpoint(
        people.team, by=people.alice, name="House model", base_url="http://127.0.0.1:9/v1", model="m"
    )
    alice, slug = sign_in(people.alice), people.team.slug
    judges = reverse("settings_judges", args=[slug])
    own = reverse("settings_judge", args=[slug, endpoint.pk])
    archive = reverse("settings_judge_archive", args=[slug, endpoint.pk])
    assert archive in alice.get(own).content.decode()
    page = alice.post(archive, {"action": "archive"}, follow=True).content.decode()
    assert "House model is archived." in page
    assert own not in page
    assert "Archived (1)" in page
    page = alice.get(judges, {"archived": "1"}).content.decode()
    assert own in page
    assert reverse("settings_judge_test", args=[slug]) not in page
    assert "House model" not in alice.get(reverse("run_new", args=[slug])).content.decode()
    assert "Restore" in alice.get(own).content.decode()
    assert sign_in(people.ed).post(archive, {"action": "restore"}).status_code == 403
    page = alice.post(archive, {"action": "restore"}, follow=True).content.decode()
    assert own in page
    assert "Archived (" not in page
    assert alice.post(archive).status_code == 400
    endpoints.remove_endpoint(endpoint, by=people.alice, now=timezone.now())
    assert alice.post(archive, {"action": "archive"}).status_code == 404
