"""Tags of cases on pages: given to one case and to selected ones, shown, and lists narrowed by them."""

import re
from typing import Any

import pytest
from django.urls import reverse

from rubricweb.models import Case, Dataset
from rubricweb.selectors.datasets.tags import dataset_tags
from rubricweb.services.datasets.tags import tagging
from tests import factories
from tests.factories import Cast


@pytest.fixture
def dataset(people: Cast) -> Dataset:
    return factories.dataset(people.team, people.ed)


def at(name: str, people: Cast, *ids: int) -> str:
    return reverse(name, args=[people.team.slug, *ids])


def tags(dataset: Dataset) -> dict[str, tuple[str, ...]]:
    keys = dict(dataset.cases.values_list("pk", "key"))
    return {keys[pk]: found for pk, found in dataset_tags(dataset).items()}


def give(people: Cast, dataset: Dataset, **wanted: list[str]) -> None:
    for key, said in wanted.items():
        case = dataset.cases.get(key=key)
        tagging.change_tags(dataset, by=people.ed, add=said, case_ids=[case.pk])


def messages(response: Any) -> str:
    return " ".join(str(message) for message in response.context["messages"])


def test_a_case_is_tagged_on_its_page_and_on_that_of_an_answer(
    people: Cast, sign_in, dataset: Dataset
) -> None:
    ed, item = sign_in(people.ed), dataset.items.get(key="good")
    page, change = at("case", people, item.case_id), at("case_tags", people, item.case_id)
    assert ed.post(change, {"add": "Hard, billing"})["Location"] == page
    shown = ed.get(page).content.decode()
    assert 'aria-label="Remove hard"' in shown
    assert f"{at('dataset', people, dataset.pk)}?tag=billing" in shown
    back = ed.post(change, {"remove": "hard", "item": str(item.pk)})
    assert back["Location"] == at("item", people, item.pk)
    assert tags(dataset) == {"good": ("billing",)}
    of_item = sign_in(people.bob).get(back["Location"]).content.decode()
    assert ("?tag=billing" in of_item, "Add tags" in of_item) == (True, False)
    other = dataset.items.get(key="bad")
    assert ed.post(change, {"add": "x", "item": str(other.pk)})["Location"] == page


@pytest.mark.parametrize(
    ("sent", "why"),
    [
        ({"add": "x" * 61}, "at most 60"),
        ({"add": " , "}, "at least one to add or to remove"),
        ({"add": ", ".join(f"t{n}" for n in range(21))}, "at most 20"),
    ],
)
def test_a_wrong_tag_is_refused_in_words(
    people: Cast, sign_in, dataset: Dataset, sent: dict[str, str], why: str
) -> None:
    case = dataset.cases.get(key="good")
    answer = sign_in(people.ed).post(at("case_tags", people, case.pk), sent, follow=True)
    assert why in messages(answer)
    assert tags(dataset) == {}


def test_selected_items_are_tagged_whichever_page_of_the_list_they_are_on(
    people: Cast, sign_in, dataset: Dataset
) -> None:
    ed, item = sign_in(people.ed), dataset.items.get(key="good")
    assert 'value="tag"' in ed.get(at("dataset", people, dataset.pk)).content.decode()
    bobs = sign_in(people.bob).get(at("dataset", people, dataset.pk)).content.decode()
    assert 'value="tag"' not in bobs
    opened = ed.post(at("dataset_selection", people, dataset.pk), {"item": item.pk, "use": "tag"})
    asks = ed.get(opened["Location"]).content.decode()
    assert "Tag 1 case" in re.sub(r"\s+", " ", asks)
    selection = re.search(r'name="selection" value="([^"]+)"', asks)
    assert selection is not None
    sent = {"selection": selection[1]}
    wrong = ed.post(at("dataset_tags", people, dataset.pk), sent | {"add": "x", "remove": "x"})
    assert (wrong.status_code, wrong.context["form"].errors.keys()) == (422, {"remove"})
    nothing = ed.post(at("dataset_tags", people, dataset.pk), sent)
    assert nothing.status_code == 422
    made = ed.post(at("dataset_tags", people, dataset.pk), sent | {"add": "hard"}, follow=True)
    assert "1 case: added hard." in messages(made)
    everything = {"all": "1", "use": "tag"}
    opened = ed.post(at("dataset_selection", people, dataset.pk), everything)
    ed.post(opened["Location"], {"add": "german"})
    assert tags(dataset) == {
        "good": ("german", "hard"),
        "bad": ("german",),
        "empty-ish": ("german",),
    }
    without = ed.get(at("dataset_tags", people, dataset.pk), follow=True)
    assert "Select the items first." in messages(without)


def test_lists_and_all_that_match_are_narrowed_to_tags(people: Cast, sign_in, dataset: Dataset) -> None:
    ed, page = sign_in(people.ed), at("dataset", people, dataset.pk)
    assert 'name="tag"' not in ed.get(page).content.decode()
    give(people, dataset, good=["hard", "billing"], bad=["hard"])
    narrowed = ed.get(page, {"tag": ["hard"]})
    assert [row.key for row in narrowed.context["page"].rows] == ["good", "bad"]
    shown = narrowed.content.decode()
    assert '<input type="checkbox" name="tag" value="hard" checked>' in shown
    assert '<input type="hidden" name="tag" value="hard">' in shown
    both = ed.get(page, {"tag": ["hard", "billing"]})
    assert [row.key for row in both.context["page"].rows] == ["good"]
    part = ed.get(page, {"tag": "hard"}, headers={"HX-Request": "true"}).content.decode()
    assert ("Cases tagged" in part, "Show all" in part, "<html" in part) == (True, True, False)
    assert "No item matches" in ed.get(page, {"tag": "absent"}).content.decode()
    assert ed.get(page, {"tag": "x" * 61}).status_code == 400
    sent = {"all": "1", "tag": ["hard"]}
    factories.version(people.team, people.ed)
    again = ed.get(ed.post(at("dataset_selection", people, dataset.pk), sent | {"use": "run"})["Location"])
    assert "the 2 selected items" in again.content.decode()
    none = ed.post(at("dataset_selection", people, dataset.pk), {"all": "1", "tag": "absent", "use": "run"})
    assert none["Location"] == f"{page}?tag=absent"


def test_a_rater_who_is_to_review_blind_sees_no_tag(people: Cast, sign_in, dataset: Dataset) -> None:
    give(people, dataset, good=["v4-fails"])
    item = dataset.items.get(key="good")
    version = factories.version(people.team, people.ed)
    pages = [at("dataset", people, dataset.pk), at("item", people, item.pk), at("case", people, item.case_id)]
    before = [sign_in(people.rae).get(page).content.decode() for page in pages]
    assert [text.count("v4-fails") > 0 for text in before] == [True] * 3
    factories.queue(people.team, people.ed, dataset=dataset, rubric_version=version, raters=[people.rae])
    after = [sign_in(people.rae).get(page).content.decode() for page in pages]
    assert [text.count("v4-fails") for text in after] == [0] * 3
    narrowed = sign_in(people.rae).get(pages[0], {"tag": "v4-fails"})
    assert narrowed.context["page"].rows == ()
    assert Case.objects.get(pk=item.case_id).tags.count() == 1
