"""Keys that were made from the content are shown to nobody: items are named by their words."""

import re

from django.urls import reverse

from rubricweb.selectors.datasets.titles import item_title
from tests import factories
from tests.factories import Cast

MADE = re.compile(r"auto-[0-9a-f]{16}")
ASKED = [
    {"system": f"{name}@v1", "prompt": f"{word}?", "submission": f"{word} by {name}"}
    for word in ("Rome", "Oslo")
    for name in ("warm", "cold")
]


def test_no_page_of_a_dataset_shows_a_made_key(people: Cast, sign_in) -> None:
    dataset = factories.dataset(people.team, people.ed, name="asked", items=ASKED)
    ed = sign_in(people.ed)
    item = dataset.items.select_related("case").first()
    assert MADE.match(item.key)
    assert MADE.match(item.case.key)
    for name, pk in (("dataset", dataset.pk), ("item", item.pk), ("case", item.case_id)):
        page = ed.get(reverse(name, args=[people.team.slug, pk]), follow=True).content.decode()
        assert "Rome" in page
        assert not MADE.search(page), name


def test_a_given_key_is_still_shown(people: Cast, sign_in) -> None:
    items = [{"id": "auto-pilot", "case_id": "q1", "system": "bot@v1", "submission": "Yes."}]
    dataset = factories.dataset(people.team, people.ed, name="given", items=items)
    item = dataset.items.get()
    page = sign_in(people.ed).get(reverse("item", args=[people.team.slug, item.pk])).content.decode()
    assert "Id auto-pilot" in page
    assert ">q1</a>" in page
    assert item_title(item, viewer=people.ed, team=people.team).key == "auto-pilot"
