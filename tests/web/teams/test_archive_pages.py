"""Renaming, archiving and restoring on pages, by the API and at the terminal."""

import pytest
from django.urls import reverse

from rubricweb.models import Dataset
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
