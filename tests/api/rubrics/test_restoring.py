"""Any version as the draft again, or as a rubric of its own: service, page, API and terminal."""

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from rubricweb.errors import Conflict
from rubricweb.models import JournalEntry, Rubric, RubricVersion, User
from rubricweb.services.rubrics import rubrics
from tests import factories
from tests.api.client import ApiClient
from tests.commands.terminal import terminal_of
from tests.factories import Cast
from tests.worlds.versions import changed, counting, label, said


@pytest.fixture
def first(people: Cast) -> RubricVersion:
    return factories.version(people.team, people.ed)


@pytest.fixture
def second(first: RubricVersion) -> RubricVersion:
    assert first.rubric is not None
    return changed(first.rubric, said(requirement="Names the capital of France.", name="city"))


def test_a_restored_version_is_published_as_the_next_one_and_its_labels_count(
    people: Cast, first: RubricVersion, second: RubricVersion
) -> None:
    queue = label(people, factories.dataset(people.team, people.ed), first, "first")
    rubric = first.rubric
    assert rubric is not None
    rubric.refresh_from_db()
    rubrics.restore(first, by=people.ed, revision=rubric.draft_revision)
    third = rubrics.publish(rubric, by=people.ed)
    assert third.number == 3
    assert third.to_engine() == first.to_engine()
    assert counting(queue, third) == {"capital", "concise", "wrong_country"}
    assert JournalEntry.objects.filter(verb="restored").count() == 1
    with pytest.raises(Conflict, match="Ed saved this draft meanwhile"):
        rubrics.restore(second, by=people.ed, revision=0)


def test_default_names_do_not_become_given_ones_in_a_draft_from_a_version(people: Cast) -> None:
    data = b"title: Unnamed\ncriteria:\n- requirement: Names it.\n- {name: short, requirement: Is short.}\n"
    version = rubrics.import_rubric(people.team, by=people.ed, data=data, filename="unnamed.yaml")
    assert list(version.criteria.values_list("name", flat=True)) == ["C1", "short"]
    assert version.rubric is not None
    drafts = [version.rubric.draft, rubrics.copy(version, by=people.ed).draft]
    revision = version.rubric.draft_revision
    drafts.append(rubrics.restore(version, by=people.ed, revision=revision).draft)
    for draft in drafts:
        assert [entry.get("name") for entry in draft["criteria"]] == [None, "short"]
    # Moved, the unnamed one is the second, and no name given to it by accident stands in the way.
    draft["criteria"].reverse()
    moved = rubrics.save_draft(version.rubric, draft=draft, revision=version.rubric.draft_revision)
    assert [one.name for one in rubrics.publish(moved, by=people.ed).to_engine().criteria] == ["short", "C2"]


def test_a_copy_keeps_ids_and_shares_no_labels(people: Cast, first: RubricVersion) -> None:
    queue = label(people, factories.dataset(people.team, people.ed), first, "first")
    made = rubrics.copy(first, by=people.ed)
    assert made.title == "Capitals (copy)"
    version = rubrics.publish(made, by=people.ed)
    uids = [list(one.criteria.values_list("uid", flat=True)) for one in (version, first)]
    assert uids[0] == uids[1]
    assert counting(queue, version) == set()


def test_pages_api_and_terminal_do_the_same(
    people: Cast,
    sign_in: Callable[..., Client],
    as_member: Callable[[User], ApiClient],
    capsys: pytest.CaptureFixture[str],
    first: RubricVersion,
    second: RubricVersion,
) -> None:
    rubric = first.rubric
    assert rubric is not None
    ed, api, run = sign_in(people.ed), as_member(people.ed), terminal_of(people.team, people.ed, capsys)

    def page(name: str) -> str:
        return reverse(name, args=[people.team.slug, rubric.pk, 1])

    def drafted() -> str:
        rubric.refresh_from_db()
        return str(rubric.draft["criteria"][0]["name"])

    assert ed.post(page("rubric_restore"), {"revision": "0"}).status_code == 422
    assert drafted() == "city"
    assert ed.post(page("rubric_restore"), {"revision": str(rubric.draft_revision)}).status_code == 302
    assert drafted() == "capital"
    path = f"/rubric-versions/{second.pk}"
    assert api.send("POST", f"{path}/restore", {"revision": rubric.draft_revision})["id"] == rubric.pk
    assert drafted() == "city"
    api.refused(409, "POST", f"{path}/restore", {"revision": 0})
    assert run("rubrics", "restore", f"id:{first.pk}").code == 0
    assert drafted() == "capital"
    ed.post(page("rubric_copy"))
    api.send("POST", f"{path}/copy", {"title": "Mine"})
    assert run("rubrics", "copy", f"id:{first.pk}", "--title", "Third").err.startswith("Third is rubric ")
    assert set(Rubric.objects.exclude(pk=rubric.pk).values_list("title", flat=True)) == {
        "Capitals (copy)",
        "Mine",
        "Third",
    }
    viewer = sign_in(people.bob)
    assert viewer.post(page("rubric_restore")).status_code == 403
    assert viewer.post(page("rubric_copy")).status_code == 403
