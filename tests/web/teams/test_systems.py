"""Systems and their versions: renamed, and deleted where nothing answers any more."""

import pytest
from django.urls import reverse
from django.utils import timezone

from rubricweb.models import Dataset, DeletionState, Item, JournalEntry, System, SystemVersion
from rubricweb.services.deletions import deletions
from tests import factories
from tests.commands.terminal import terminal_of
from tests.factories import Cast, cast

pytestmark = pytest.mark.django_db
ANSWERS = [
    {"case_id": f"q{n}", "system": f"assistant@v{v}", "submission": f"{n} by {v}"}
    for n in (1, 2)
    for v in (1, 2)
]


@pytest.fixture
def people() -> Cast:
    return cast()


@pytest.fixture
def dataset(people: Cast) -> Dataset:
    return factories.dataset(people.team, people.ed, items=ANSWERS)


@pytest.fixture
def version(dataset: Dataset) -> SystemVersion:
    return SystemVersion.objects.select_related("system__team").get(label="v2")


def manage(people: Cast, row: System | SystemVersion) -> str:
    kind = "system" if isinstance(row, System) else "system-version"
    return reverse("manage", args=[people.team.slug, kind, row.pk])


def test_an_editor_renames_a_system_and_a_version_and_items_keep_their_ids(
    people: Cast, version: SystemVersion, sign_in
) -> None:
    keys = set(Item.objects.values_list("key", flat=True))
    ed = sign_in(people.ed)
    listed = ed.get(reverse("systems", args=[people.team.slug])).content.decode()
    assert manage(people, version) in listed
    assert manage(people, version.system) in listed
    told = ed.post(manage(people, version.system), {"action": "rename", "name": "helper"}, follow=True)
    assert "It is called helper now." in told.content.decode()
    told = ed.post(manage(people, version), {"action": "rename", "name": "v2.1"}, follow=True)
    assert "It is called helper@v2.1 now." in told.content.decode()
    assert set(Item.objects.values_list("key", flat=True)) == keys
    line = JournalEntry.objects.latest("pk")
    assert (line.verb, line.target_label, line.detail) == ("renamed", "helper@v2.1", {"before": "helper@v2"})


@pytest.mark.parametrize("name", ["", "a/b", "a@b", "x" * 101])
def test_what_is_no_name_of_a_system_is_refused(
    people: Cast, version: SystemVersion, sign_in, name: str
) -> None:
    answer = sign_in(people.ed).post(manage(people, version.system), {"action": "rename", "name": name})
    assert answer.status_code == 422
    version.system.refresh_from_db()
    assert version.system.name == "assistant"


def test_a_label_that_is_taken_is_refused(people: Cast, version: SystemVersion, sign_in) -> None:
    answer = sign_in(people.ed).post(manage(people, version), {"action": "rename", "name": "v1"})
    assert answer.status_code == 422
    assert "already has a version" in answer.content.decode()


def test_a_system_with_answers_is_not_deleted_and_one_without_is(
    people: Cast, dataset: Dataset, version: SystemVersion, sign_in
) -> None:
    alice, slug = sign_in(people.alice), people.team.slug
    page = reverse("delete", args=[slug, "system", version.system_id])
    assert f"The dataset {dataset} has answers of it" in alice.get(page).content.decode()
    assert alice.post(page, {"name": "assistant"}).status_code == 422
    gone = deletions.delete(dataset, str(dataset), by=people.alice, now=timezone.now(), enqueue=None)
    assert "Its answers are still being removed" in alice.get(page).content.decode()
    deletions.work(gone.pk, worker="here:1", now=timezone.now)
    one = deletions.delete(version, "assistant@v2", by=people.alice, now=timezone.now(), enqueue=None)
    assert [str(left) for left in version.system.versions.all()] == ["assistant@v1"]
    assert deletions.work(one.pk, worker="here:1", now=timezone.now).state == DeletionState.DONE
    assert "1 system version" in alice.get(page).content.decode()
    alice.post(page, {"name": "assistant"})
    assert not System.objects.filter(team=people.team, name="assistant").exists()


def test_the_terminal_renames_and_deletes_them(
    people: Cast, version: SystemVersion, capsys: pytest.CaptureFixture[str]
) -> None:
    terminal = terminal_of(people.team, people.alice, capsys)
    assert (
        terminal("rename", "system-version", "assistant@v2", "v3").out == "It is called assistant@v3 now.\n"
    )
    assert terminal("rename", "system", "assistant", "helper").out == "It is called helper now.\n"
    assert "has answers of it" in terminal("delete", "system", "helper", "--plan").out
    refused = terminal("delete", "system-version", "helper@v3", "--yes-delete", "helper@v3")
    assert (refused.code, "has answers of it" in refused.err) == (1, True)
