"""Lists kept under names: private or the team's, renamed, pinned, deleted, and what they lead to."""

import pytest
from django.test import Client
from django.urls import reverse

from rubricweb.models import Dataset, SavedView
from tests import factories
from tests.factories import Cast


@pytest.fixture
def dataset(people: Cast) -> Dataset:
    return factories.dataset(people.team, people.ed)


def at(people: Cast, name: str, *ids: int) -> str:
    return reverse(name, args=[people.team.slug, *ids])


def keep(client: Client, people: Cast, **sent: str) -> SavedView | None:
    client.post(at(people, "views"), {"kind": "runs", "query": "state=paused", "name": "Paused", **sent})
    return SavedView.objects.order_by("-pk").first()


def test_a_list_is_kept_and_found_again_without_its_page(people: Cast, sign_in, dataset: Dataset) -> None:
    ann, here = sign_in(people.ann), at(people, "dataset", dataset.pk)
    shown = ann.get(here, {"labels": "none", "cursor": ""}).content.decode()
    assert 'name="query" value="labels=none"' in shown
    view = keep(
        ann,
        people,
        kind="items",
        dataset=str(dataset.pk),
        query="?labels=none&cursor=abc&x=1",
        name="To label",
    )
    assert view is not None
    assert (view.query, view.shared, view.pinned) == ("labels=none", False, True)
    assert ann.get(at(people, "view", view.pk))["Location"] == f"{here}?labels=none"
    assert "To label" in ann.get(here).content.decode()
    # Nobody else sees it.
    rae = sign_in(people.rae)
    assert rae.get(at(people, "view", view.pk)).status_code == 404
    assert "To label" not in rae.get(here).content.decode() + rae.get(at(people, "views")).content.decode()


def test_editors_share_views_and_change_what_is_shared(people: Cast, sign_in) -> None:
    assert keep(sign_in(people.ann), people, shared="1") is None  # an annotator keeps none for the team
    ed, ann, alice = sign_in(people.ed), sign_in(people.ann), sign_in(people.alice)
    view = keep(ed, people, shared="1")
    assert view is not None
    there, change = at(people, "view", view.pk), at(people, "view_change", view.pk)
    assert ann.get(there).status_code == 302
    ann.post(change, {"action": "delete"})
    alice.post(change, {"action": "rename", "name": "On hold"})
    alice.post(change, {"action": "unpin"})
    view.refresh_from_db()
    assert (view.name, view.pinned) == ("On hold", False)
    assert "On hold" not in ann.get(at(people, "runs")).content.decode()
    ed.post(change, {"action": "unshare"})
    assert ann.get(there).status_code == 404
    ed.post(change, {"action": "delete"})
    assert not SavedView.objects.exists()


def test_a_name_is_taken_once_and_bad_input_changes_nothing(people: Cast, sign_in) -> None:
    ed = sign_in(people.ed)
    first = keep(ed, people)
    assert keep(ed, people, query="state=failed") == first
    assert keep(ed, people, name=" ") == first
    assert keep(ed, people, name="x" * 101) == first
    assert keep(ed, people, name="Items", kind="items") == first  # of which dataset?
    assert keep(ed, people, name="Else", kind="people") == first
    ed.post(at(people, "view_change", first.pk), {"action": "explode"})
    assert SavedView.objects.get() == first
