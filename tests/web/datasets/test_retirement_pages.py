"""Retiring and restoring items from the list of a dataset and from an item's page."""

import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from rubricweb.models import Dataset
from rubricweb.services.datasets.changes import retirement
from tests import factories
from tests.factories import Cast


@pytest.fixture
def dataset(people: Cast) -> Dataset:
    return factories.dataset(people.team, people.ed)


def at(name: str, people: Cast, *ids: int) -> str:
    return reverse(name, args=[people.team.slug, *ids])


def text(response: Any) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", response.content.decode()))


def test_selected_items_are_retired_after_a_look_at_what_stands_behind_them(
    people: Cast, sign_in, dataset: Dataset
) -> None:
    version = factories.version(people.team, people.ed)
    factories.queue(people.team, people.ed, dataset=dataset, rubric_version=version, raters=[people.ann])
    ed = sign_in(people.ed)
    ids = list(dataset.items.exclude(key="bad").values_list("pk", flat=True))
    sent = {"item": ids, "use": "retire"}
    address = ed.post(at("dataset_selection", people, dataset.pk), sent)["Location"]
    page = ed.get(address)
    assert "Retire 2 items" in text(page)
    assert "2 reviews open, withdrawn" in text(page)
    [kept] = re.findall(r'name="selection" value="(\w+)"', page.content.decode())
    done = ed.post(
        at("dataset_retire", people, dataset.pk), {"selection": kept, "note": "old ones"}, follow=True
    )
    assert "Retired 2 items: version 2 of capital answers." in text(done)
    assert "old ones" in text(done)
    assert "2 retired items" in text(done)
    assert list(dataset.items.current().values_list("key", flat=True)) == ["bad"]


def test_all_retired_items_are_restored_from_their_list(people: Cast, sign_in, dataset: Dataset) -> None:
    ids = list(dataset.items.values_list("pk", flat=True))
    retirement.retire(dataset, ids, by=people.ed)
    ed = sign_in(people.ed)
    assert "This dataset is empty" in text(ed.get(at("dataset", people, dataset.pk)))
    listed = ed.get(at("dataset", people, dataset.pk), {"version": "retired"})
    assert "Restore" in text(listed)
    sent = {"all": "1", "version": "retired", "use": "restore"}
    address = ed.post(at("dataset_selection", people, dataset.pk), sent)["Location"]
    [kept] = re.findall(r'name="selection" value="(\w+)"', ed.get(address).content.decode())
    ed.post(at("dataset_restore", people, dataset.pk), {"selection": kept})
    assert dataset.items.current().count() == 3


def test_an_items_page_says_that_it_is_retired_and_offers_to_restore_it(
    people: Cast, sign_in, dataset: Dataset
) -> None:
    item, ed = dataset.items.get(key="bad"), sign_in(people.ed)
    assert "?item=" in ed.get(at("item", people, item.pk)).content.decode()
    ed.post(at("dataset_retire", people, dataset.pk), {"item": item.pk})
    assert "Retired in version 2" in text(ed.get(at("item", people, item.pk)))
    assert "Retired in version 2" in text(sign_in(people.bob).get(at("item", people, item.pk)))
    ed.post(at("dataset_restore", people, dataset.pk), {"item": item.pk})
    assert "Retired in version" not in text(ed.get(at("item", people, item.pk)))


def test_a_taken_place_is_said_and_offers_nothing(people: Cast, sign_in, dataset: Dataset) -> None:
    item = dataset.items.get(key="bad")
    retirement.retire(dataset, [item.pk], by=people.ed)
    item.pk, item.retired_in = None, 2147483647
    item.save()
    gone = dataset.items.exclude(retired_in=2147483647).get()
    page = sign_in(people.ed).get(at("dataset_restore", people, dataset.pk), {"item": gone.pk})
    assert f"1 item whose place another item has: id:{gone.pk}" in text(page)
    assert 'type="submit">Restore' not in page.content.decode()


def test_past_versions_list_what_they_held(people: Cast, sign_in, dataset: Dataset) -> None:
    retirement.retire(dataset, [dataset.items.get(key="bad").pk], by=people.ed)
    bob = sign_in(people.bob)
    now, then = (text(bob.get(at("dataset", people, dataset.pk), query)) for query in ({}, {"version": "1"}))
    assert "Items of version 1." in then
    words = dataset.items.get(key="bad").submission[:20]
    assert (words in now, words in then) == (False, True)
    assert bob.get(at("dataset", people, dataset.pk), {"version": "9"}).status_code in (400, 422)


def test_an_answer_is_corrected_and_each_page_leads_to_the_other(
    people: Cast, sign_in, dataset: Dataset
) -> None:
    item, ed = dataset.items.get(key="bad"), sign_in(people.ed)
    address = at("item_correct", people, item.pk)
    page = ed.get(address)
    assert item.submission in page.content.decode()
    words = {"submission": item.submission, "prompt": item.prompt, "reference": item.reference or ""}
    assert "other words" in text(ed.post(address, words))  # nothing is changed
    done = ed.post(address, words | {"submission": "It is Paris.", "note": "typo"}, follow=True)
    assert "Corrected: version 2 of capital answers." in text(done)
    assert "Corrects what was there before version 2" in text(done)
    before = ed.get(at("item", people, item.pk))
    assert "Corrected in version 2" in text(before)
    assert "See the right words" in text(before)
    assert "Only current items" in text(ed.get(address, follow=True))


def test_the_words_of_a_case_are_corrected_for_later_answers(people: Cast, sign_in, dataset: Dataset) -> None:
    item, ed = dataset.items.get(key="bad"), sign_in(people.ed)
    address = at("case_correct", people, item.case_id)
    assert "1 answer kept, with the words before" in text(ed.get(address))
    done = ed.post(address, {"prompt": "Which city?", "reference": "Paris", "note": ""}, follow=True)
    assert "Corrected: version 2 of capital answers." in text(done)
    assert "Answers earlier words of its case" in text(ed.get(at("item", people, item.pk)))
    assert sign_in(people.ann).get(address).status_code == 403


def opened(client: Client, address: str) -> dict[str, Any]:
    """What a form holds that somebody opened and changed nothing of."""
    form = client.get(address).context["form"]
    return {name: form[name].value() or "" for name in form.fields}


def test_a_correction_of_somebody_else_is_not_undone(people: Cast, sign_in, dataset: Dataset) -> None:
    item = dataset.items.get(key="bad")
    address = at("case_correct", people, item.case_id)
    ed, alice = sign_in(people.ed), sign_in(people.alice)
    seen = opened(ed, address)
    alice.post(address, seen | {"prompt": "Which city is it?"})
    refused = ed.post(address, seen | {"reference": "Paris, of course"})
    assert refused.status_code == 422
    assert "The words of the case were corrected since you opened this" in text(refused)
    assert "Paris, of course" in refused.content.decode()
    assert item.case.texts.get().prompt == "Which city is it?"
    ed.post(address, opened(ed, address) | {"reference": "Paris"})
    assert item.case.texts.values_list("prompt", "reference").last() == ("Which city is it?", "Paris")


def test_what_was_typed_while_somebody_corrected_the_answer_is_kept(
    people: Cast, sign_in, dataset: Dataset
) -> None:
    item = dataset.items.get(key="bad")
    address = at("item_correct", people, item.pk)
    ed, alice = sign_in(people.ed), sign_in(people.alice)
    seen = opened(ed, address)
    alice.post(address, seen | {"submission": "Paris."})
    refused = ed.post(address, seen | {"submission": "It is Paris.", "prompt": "Which city?"})
    assert refused.status_code == 422
    assert f"The item id:{item.pk} was retired in version 2" in text(refused)
    assert [typed in refused.content.decode() for typed in ("It is Paris.", "Which city?")] == [True, True]
    assert dataset.items.current().get(key="bad").submission == "Paris."
    assert f'href="{at("item", people, item.pk)}" target="_blank"' in refused.content.decode()


def redrawn(response: Any) -> dict[str, Any]:
    """What the form holds that came back."""
    form = response.context["form"]
    return {name: form[name].value() or "" for name in form.fields}


def test_words_that_were_corrected_meanwhile_are_shown_and_can_be_saved_over(
    people: Cast, sign_in, dataset: Dataset
) -> None:
    case = dataset.items.get(key="bad").case
    address = at("case_correct", people, case.pk)
    ed, alice = sign_in(people.ed), sign_in(people.alice)
    seen = opened(ed, address)
    alice.post(address, seen | {"prompt": "Which city?", "reference": "Paris <b>"})
    refused = ed.post(address, seen | {"reference": "Paris\r\nit is", "note": "why"})
    assert "The words there are now Reference Paris &lt;b&gt; What you typed" in text(refused)
    # What ed did not touch is not put back to what it was before alice.
    sent = redrawn(refused)
    assert sent == {"wording": "2", "prompt": "Which city?", "reference": "Paris\r\nit is", "note": "why"}
    alice.post(address, opened(alice, address) | {"reference": ""})
    again = ed.post(address, sent)
    assert again.status_code == 422
    assert "The words there are now Reference: none What you typed" in text(again)
    done = ed.post(address, redrawn(again), follow=True)
    assert "Corrected: version 4 of capital answers." in text(done)
    last = case.texts.latest("number")
    assert (last.prompt, last.reference) == ("Which city?", "Paris\nit is")


def test_an_answer_whose_case_was_corrected_meanwhile_can_be_saved(
    people: Cast, sign_in, dataset: Dataset
) -> None:
    item = dataset.items.get(key="bad")
    address = at("item_correct", people, item.pk)
    ed, alice = sign_in(people.ed), sign_in(people.alice)
    seen = opened(ed, address)
    of_case = at("case_correct", people, item.case_id)
    alice.post(of_case, opened(alice, of_case) | {"prompt": "Which city?", "reference": "Paris"})
    refused = ed.post(address, seen | {"submission": "It is Paris.", "prompt": "Where?"})
    assert refused.status_code == 422
    assert "The words there are now Prompt Which city? What you typed" in text(refused)
    ed.post(address, redrawn(refused))
    new = dataset.items.current().get(key="bad")
    assert (new.submission, new.prompt, new.reference) == ("It is Paris.", "Where?", "Paris")


def test_an_answer_to_earlier_words_is_corrected_with_those_there_are_now_in_view(
    people: Cast, sign_in, dataset: Dataset
) -> None:
    item = dataset.items.get(key="bad")
    address, of_case = at("item_correct", people, item.pk), at("case_correct", people, item.case_id)
    ed, alice = sign_in(people.ed), sign_in(people.alice)
    alice.post(of_case, opened(alice, of_case) | {"prompt": "Which city?"})
    seen = opened(ed, address)
    assert (seen["prompt"], seen["wording"]) == ("Which city?", 2)
    assert "The answer was given to earlier words of its case." in text(ed.get(address))
    ed.post(address, seen | {"reference": "Paris, of course"})
    new = dataset.items.current().get(key="bad")
    assert (new.prompt, new.reference) == ("Which city?", "Paris, of course")


def test_the_answer_alone_keeps_the_earlier_words_it_was_given_to(
    people: Cast, sign_in, dataset: Dataset
) -> None:
    item = dataset.items.get(key="bad")
    address, of_case = at("item_correct", people, item.pk), at("case_correct", people, item.case_id)
    ed, alice = sign_in(people.ed), sign_in(people.alice)
    before = opened(ed, address)
    alice.post(of_case, opened(alice, of_case) | {"prompt": "Which city?"})
    # Opened before or after the correction of the case: nobody changed the answer.
    for seen, answer in ((before, "Paris."), (None, "It is Paris.")):
        current = at("item_correct", people, dataset.items.current().get(key="bad").pk)
        ed.post(current, (seen or opened(ed, current)) | {"submission": answer})
        new = dataset.items.current().get(key="bad")
        assert (new.submission, new.prompt) == (answer, item.prompt)


def test_the_words_before_come_back_with_the_answer_that_was_given_to_them(
    people: Cast, sign_in, dataset: Dataset
) -> None:
    item = dataset.items.get(key="bad")
    address, of_case = at("item_correct", people, item.pk), at("case_correct", people, item.case_id)
    ed, alice = sign_in(people.ed), sign_in(people.alice)
    alice.post(of_case, opened(alice, of_case) | {"prompt": "Which town?"})
    seen = opened(ed, address)
    assert seen["prompt"] == "Which town?"
    done = ed.post(address, seen | {"prompt": item.prompt}, follow=True)
    assert "Corrected: version 3 of capital answers." in text(done)
    assert item.case.texts.latest("number").prompt == item.prompt
    new = dataset.items.current().get(key="bad")
    assert (new.submission, new.prompt, new.wording) == (item.submission, item.prompt, 3)
    # Typed once more they are the words there are.
    again = ed.post(at("item_correct", people, new.pk), opened(ed, at("item_correct", people, new.pk)))
    assert (again.status_code, "the words there are" in text(again)) == (422, True)


def test_the_words_before_can_be_typed_again_over_somebody_elses(
    people: Cast, sign_in, dataset: Dataset
) -> None:
    item = dataset.items.get(key="bad")
    address, of_case = at("item_correct", people, item.pk), at("case_correct", people, item.case_id)
    ed, alice = sign_in(people.ed), sign_in(people.alice)
    seen = opened(ed, address)
    alice.post(of_case, opened(alice, of_case) | {"prompt": "Which city?"})
    refused = ed.post(address, seen | {"reference": "Paris"})
    assert redrawn(refused)["prompt"] == "Which city?"
    # A second correction meanwhile: the prompt in the form is still alice's, and nothing that ed typed.
    alice.post(of_case, opened(alice, of_case) | {"prompt": "Which city is it?"})
    again = ed.post(address, redrawn(refused))
    assert [label for label, _ in again.context["words_now"]] == ["Reference"]
    assert redrawn(again)["prompt"] == "Which city is it?"
    ed.post(address, redrawn(again) | {"prompt": item.prompt})
    new = dataset.items.current().get(key="bad")
    assert (new.prompt, new.reference) == (item.prompt, "Paris")


@pytest.mark.parametrize("wording", ["", "0", "3", "-1", "x", "9" * 30])
def test_words_a_form_never_had_are_those_there_are_now(
    people: Cast, sign_in, dataset: Dataset, wording: str
) -> None:
    item = dataset.items.get(key="bad")
    ed = sign_in(people.ed)
    for address in (at("item_correct", people, item.pk), at("case_correct", people, item.case_id)):
        sent = opened(ed, address) | {"wording": wording, "reference": "Paris"}
        assert ed.post(address, sent).status_code in (302, 422)


def test_words_of_a_case_that_others_answer_by_now_are_not_dropped(people: Cast, sign_in) -> None:
    rows = [{"case_id": "c", "system": "a@1", "prompt": "P?", "submission": "S."}]
    cases = factories.dataset(people.team, people.ed, items=rows, name="cases")
    ed = sign_in(people.ed)
    address = at("item_correct", people, cases.items.get().pk)
    seen = opened(ed, address)
    more = b'{"case_id": "c", "system": "a@2", "submission": "T."}'
    factories.add_items(cases, by=people.alice, data=more, filename="more.jsonl")
    refused = ed.post(address, seen | {"submission": "Said.", "prompt": "Please?"})
    assert refused.status_code == 422
    assert "Other answers share the case" in text(refused)
    assert [typed in refused.content.decode() for typed in ("Said.", "Please?")] == [True, True]
    assert cases.items.count() == 2
    # The answer alone can be corrected.
    ed.post(address, seen | {"submission": "Said."})
    assert cases.items.current().filter(submission="Said.", prompt="P?").exists()
