"""Items and units selected in a list: added to queues, graded again, exported."""

import json
import re
from typing import Any

import pytest
from django.urls import reverse

from rubricweb.models import Dataset, Item, ReviewQueue, RubricVersion, Run
from rubricweb.selectors.reviews.queue_sources import Source
from tests import factories
from tests.factories import Cast
from tests.judging import InProcessJudge, grade
from tests.worlds.versions import label


@pytest.fixture
def version(people: Cast) -> RubricVersion:
    return factories.version(people.team, people.alice)


@pytest.fixture
def dataset(people: Cast) -> Dataset:
    return factories.dataset(people.team, people.alice)


@pytest.fixture
def items(dataset: Dataset) -> list[Item]:
    return list(dataset.items.order_by("position"))


def url(name: str, people: Cast, *ids: int) -> str:
    return reverse(name, args=[people.team.slug, *ids])


def text(response: Any) -> str:
    return " ".join(response.content.decode().split())


def selection_in(address: str) -> str:
    found = re.search(r"selection=([0-9a-f]{32})", address)
    assert found, address
    return found[1]


def test_selected_items_go_into_a_queue_there_is(
    people: Cast, sign_in, dataset: Dataset, version: RubricVersion, items: list[Item]
) -> None:
    queue = factories.queue(
        people.team,
        people.alice,
        dataset=dataset,
        rubric_version=version,
        raters=[people.ann, people.rae],
        source=Source(kind="items", item_ids=(items[0].pk,)),
    )
    ed = sign_in(people.ed)
    chosen = {"item": [items[0].pk, items[1].pk], "use": "queue"}
    answer = ed.post(url("dataset_selection", people, dataset.pk), chosen)
    page = text(ed.get(answer["Location"]))
    assert "Add the 2 selected items to a review queue" in page
    assert "1 of 2" in page  # one of them is in it already
    sent = {"selection": selection_in(answer["Location"]), "kind": "items"}
    ed.post(url("queue_extend", people, queue.pk), sent)
    assert set(queue.queue_items.values_list("item", flat=True)) == {items[0].pk, items[1].pk}


def test_selected_items_open_a_new_queue(
    people: Cast, sign_in, dataset: Dataset, version: RubricVersion, items: list[Item]
) -> None:
    ed = sign_in(people.ed)
    chosen = {"item": items[1].pk, "use": "queue"}
    address = ed.post(url("dataset_selection", people, dataset.pk), chosen)["Location"]
    form = ed.get(url("queue_new", people), {"selection": selection_in(address)})
    assert "The selected item" in text(form)
    sent = {
        "selection": selection_in(address),
        "name": "One",
        "dataset": dataset.pk,
        "rubric_version": version.pk,
        "kind": "items",
        "everyone": "on",
        "raters_per_item": 1,
    }
    ed.post(url("queue_new", people), sent)
    made = ReviewQueue.objects.get(name="One")
    assert list(made.queue_items.values_list("item", flat=True)) == [items[1].pk]


def test_all_that_match_a_search_are_selected_on_every_page(
    people: Cast, sign_in, dataset: Dataset, items: list[Item]
) -> None:
    found = [item for item in items if "Belgium" in item.submission]
    assert 0 < len(found) < len(items)
    ed = sign_in(people.ed)
    chosen = {"all": "1", "q": "Belgium", "use": "queue"}
    answer = ed.post(url("dataset_selection", people, dataset.pk), chosen)
    counted = "the selected item" if len(found) == 1 else f"the {len(found)} selected items"
    assert f"Add {counted} to a review queue" in text(ed.get(answer["Location"]))


@pytest.fixture
def graded(people: Cast, dataset: Dataset, version: RubricVersion) -> Run:
    run = factories.run(people.team, people.alice, dataset=dataset, rubric_version=version)
    grade(run, InProcessJudge(lambda requirement, response: "MET"))
    return run


def test_selected_items_of_a_run_are_graded_again_with_its_settings(
    people: Cast, sign_in, graded: Run, items: list[Item]
) -> None:
    ed = sign_in(people.ed)
    chosen = {"item": [items[0].pk, items[1].pk], "sort": "score", "use": "run"}
    answer = ed.post(url("run_selection", people, graded.pk), chosen)
    page = text(ed.get(answer["Location"]))
    assert "over the 2 selected items." in page
    assert "Only the 2 selected items of it will be graded." in page
    sent = {
        "selection": selection_in(answer["Location"]),
        "sent": "True",
        "dataset": graded.dataset_id,
        "rubric_version": graded.rubric_version_id,
        "judge": graded.judge.id,
        "autograder": "per_criterion",
        "reply_format": "json",
        "normalize": "on",
        "no_cap": "on",
    }
    made = ed.post(url("run_new", people), sent)
    assert made.status_code == 302, text(made)
    again = Run.objects.exclude(pk=graded.pk).get()
    assert set(again.run_items.values_list("item", flat=True)) == {items[0].pk, items[1].pk}


def test_all_items_of_a_run_are_those_its_list_has(people: Cast, sign_in, graded: Run) -> None:
    ed = sign_in(people.ed)
    chosen = {"all": "1", "sort": "errors", "use": "queue"}
    answer = ed.post(url("run_selection", people, graded.pk), chosen)
    assert f"Add the {graded.run_items.count()} selected items" in text(ed.get(answer["Location"]))


@pytest.fixture
def disputed(people: Cast, dataset: Dataset, version: RubricVersion, graded: Run) -> ReviewQueue:
    """People said UNMET of everything on every item, where the judge says MET."""
    return label(people, dataset, version, "Labels", dict.fromkeys(names(version), "UNMET"))


def names(version: RubricVersion) -> list[str]:
    return list(version.criteria.values_list("name", flat=True))


def test_selected_disagreements_open_a_queue_about_their_criteria_alone(
    people: Cast, sign_in, disputed: ReviewQueue, version: RubricVersion, items: list[Item]
) -> None:
    criterion = version.criteria.order_by("position")[1]
    ed = sign_in(people.ed)
    inbox = text(ed.get(url("adjudication", people)))
    assert f'value="{items[0].pk}-{criterion.pk}"' in inbox
    chosen = {"unit": f"{items[0].pk}-{criterion.pk}", "use": "queue"}
    answer = ed.post(url("adjudication_selection", people), chosen)
    form = text(ed.get(url("queue_new", people), {"selection": selection_in(answer["Location"])}))
    ticked = re.findall(r'name="criteria" value="(\d+)"[^>]* checked', form)
    assert ticked == [str(criterion.pk)]


def test_what_cannot_be_used_goes_back_to_the_list_and_says_why(
    people: Cast, sign_in, dataset: Dataset, items: list[Item]
) -> None:
    ed = sign_in(people.ed)
    nothing = ed.post(url("dataset_selection", people, dataset.pk), {"use": "queue"}, follow=True)
    assert "Select 1 to 10,000 items; none is selected yet." in text(nothing)
    assert nothing.redirect_chain[-1][0] == url("dataset", people, dataset.pk)
    other = factories.dataset(people.team, people.alice, name="Other").items.first()
    several = {"item": [items[0].pk, other.pk], "use": "run"}
    answer = ed.post(url("dataset_selection", people, dataset.pk), several, follow=True)
    assert "The selected items are of 2 datasets: select items of one." in text(answer)
    wrong = ed.post(url("dataset_selection", people, dataset.pk), {"item": items[0].pk, "use": "paint"})
    assert wrong.status_code == 400
    assert "queue, run, export" in text(wrong)
    theirs = factories.dataset(people.other_team, people.charlie).items.first()
    stolen = ed.post(url("dataset_selection", people, dataset.pk), {"item": theirs.pk, "use": "run"})
    assert stolen.status_code == 404


def test_a_selection_is_of_the_browser_that_made_it(
    people: Cast, sign_in, dataset: Dataset, items: list[Item]
) -> None:
    chosen = {"item": items[0].pk, "use": "queue"}
    address = sign_in(people.ed).post(url("dataset_selection", people, dataset.pk), chosen)["Location"]
    assert sign_in(people.alice).get(address).status_code == 404


def test_selected_items_alone_are_exported(
    people: Cast, sign_in, dataset: Dataset, disputed: ReviewQueue, items: list[Item]
) -> None:
    viewer = sign_in(people.bob)
    chosen = {"item": [items[0].pk, items[2].pk], "use": "export"}
    address = viewer.post(url("dataset_selection", people, dataset.pk), chosen)["Location"]
    assert "Only the 2 selected items." in text(viewer.get(address))
    asked = {
        "dataset": dataset.pk,
        "selection": selection_in(address),
        "queues": disputed.pk,
        "format": "jsonl",
    }
    for what in ("ground_truth", "verdicts"):
        answer = viewer.get(url("export_download", people), asked | {"what": what})
        rows = [json.loads(line) for line in b"".join(answer).decode().splitlines()]
        assert {row.get("id") or row["item_id"] for row in rows} == {items[0].key, items[2].key}
    refused = viewer.get(url("export_download", people), asked | {"what": "verdicts", "format": "bundle"})
    assert (refused.status_code, "a bundle holds the whole dataset" in text(refused)) == (422, True)


def test_a_viewer_may_only_export_what_they_selected(
    people: Cast, sign_in, dataset: Dataset, items: list[Item]
) -> None:
    viewer = sign_in(people.bob)
    page = text(viewer.get(url("dataset", people, dataset.pk)))
    assert 'name="use" value="export"' in page
    assert 'name="use" value="queue"' not in page
    chosen = {"item": items[0].pk, "use": "queue"}
    address = viewer.post(url("dataset_selection", people, dataset.pk), chosen)["Location"]
    assert viewer.get(address).status_code == 403
