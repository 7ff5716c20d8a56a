"""Splitting labelled items from the page of a dataset, and files of other programs in the import."""

import json
import re
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from django.utils import timezone

from rubricweb.models import Dataset, ReviewQueue
from rubricweb.services.exports import EXPORT_FORMATS
from rubricweb.services.reviews import queues, reviews
from tests import factories
from tests.factories import Cast

ITEMS = [{"id": str(number), "submission": f"Submission number {number}."} for number in range(8)]


def at(name: str, people: Cast, *ids: int) -> str:
    return reverse(name, args=[people.team.slug, *ids])


def read(client: Any, address: str) -> str:
    answer = client.get(address)
    assert answer.status_code == 200, answer.content.decode()[:2000]
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", answer.content.decode()))


@pytest.fixture
def queue(people: Cast) -> ReviewQueue:
    """Eight items, labelled by rae: MET on the even ones, UNMET on the odd ones."""
    version = factories.version(people.team, people.ed, criteria=factories.CRITERIA[:1])
    queue = factories.queue(
        people.team,
        people.ed,
        dataset=factories.dataset(people.team, people.ed, items=ITEMS, name="eight"),
        rubric_version=version,
        raters=[people.rae],
    )
    for item in queue.dataset.items.all():
        review = queues.start_review(queue, item, people.rae)
        for criterion in reviews.criteria_of(review):
            reviews.save_verdict(review, criterion.pk, verdict="UNMET" if int(item.key) % 2 else "MET")
        reviews.submit(review, now=timezone.now())
    return queue


def test_a_split_makes_two_sealed_halves_and_shows_how_labels_are_spread(
    people: Cast, sign_in, queue: ReviewQueue
) -> None:
    queues.close_queue(queue, by=people.ed)
    ed = sign_in(people.ed)
    assert "Split" in read(ed, at("dataset", people, queue.dataset_id))
    answer = ed.post(at("dataset_seal", people, queue.dataset_id), {"n_dev": "4", "seed": "1"})
    dev, test = Dataset.objects.get(sealed_as="dev"), Dataset.objects.get(sealed_as="test")
    assert answer["Location"] == at("dataset", people, dev.pk)
    page = read(sign_in(people.bob), answer["Location"])
    assert "4 for examples, 4 to test on, seed 1" in page
    assert dev.seal in page
    assert dev.seal_salt in page
    # Half of the eight are MET; four to each half, alike: two and two.
    assert "capital MET 2 2" in page
    assert "UNMET 2 2" in page
    assert "Test split" in read(sign_in(people.bob), at("dataset", people, test.pk))
    # alice is to review an item of the dev split blind: the other tells her nothing of its labels either.
    factories.queue(
        people.team,
        people.ed,
        dataset=dev,
        rubric_version=queue.rubric_version,
        raters=[people.alice],
        name="Blind",
    )
    hidden = read(sign_in(people.alice), at("dataset", people, test.pk))
    assert "How the labels are spread is hidden" in hidden
    for told in ("capital MET", "Largest difference", test.seal, test.seal_salt):
        assert told not in hidden
        assert told in read(sign_in(people.bob), at("dataset", people, test.pk))


def test_who_is_to_review_the_same_words_blind_is_told_so_on_the_form(
    people: Cast, sign_in, queue: ReviewQueue
) -> None:
    queues.close_queue(queue, by=people.ed)
    factories.queue(
        people.team,
        people.ed,
        dataset=queue.dataset,
        rubric_version=queue.rubric_version,
        raters=[people.alice],
        name="Blind",
    )
    answer = sign_in(people.alice).post(
        at("dataset_seal", people, queue.dataset_id), {"n_dev": "4", "seed": "1"}
    )
    assert answer.status_code == 422
    assert "are hidden from you" in answer.content.decode()
    assert not Dataset.objects.exclude(sealed_as="").exists()


@pytest.mark.parametrize("n_dev", ["0", "8", "many", ""])
def test_a_half_that_would_be_empty_is_refused_beside_its_field(
    people: Cast, sign_in, queue: ReviewQueue, n_dev: str
) -> None:
    queues.close_queue(queue, by=people.ed)
    sent = {"n_dev": n_dev, "seed": "0"}
    answer = sign_in(people.ed).post(at("dataset_seal", people, queue.dataset_id), sent)
    assert answer.status_code == 422
    assert answer.context["form"].errors.keys() == {"n_dev"}
    assert Dataset.objects.count() == 1


def test_an_open_blind_queue_is_said_to_be_in_the_way(people: Cast, sign_in, queue: ReviewQueue) -> None:
    sent = {"n_dev": "4", "seed": "0"}
    answer = sign_in(people.ed).post(at("dataset_seal", people, queue.dataset_id), sent)
    assert answer.status_code == 422
    assert "Close it first." in answer.content.decode()


def test_how_labels_are_spread_is_hidden_from_who_is_still_blind(
    people: Cast, sign_in, queue: ReviewQueue
) -> None:
    queues.close_queue(queue, by=people.ed)
    sign_in(people.ed).post(at("dataset_seal", people, queue.dataset_id), {"n_dev": "4", "seed": "1"})
    dev = Dataset.objects.get(sealed_as="dev")
    factories.queue(
        people.team,
        people.ed,
        dataset=dev,
        rubric_version=queue.rubric_version,
        raters=[people.ann],
        name="Blind",
    )
    page = read(sign_in(people.ann), at("dataset", people, dev.pk))
    assert "MET 2 2" not in page
    assert "hidden until you have submitted" in page
    assert "MET 2 2" in read(sign_in(people.bob), at("dataset", people, dev.pk))


def test_a_file_of_another_program_is_named_before_it_is_imported(people: Cast, sign_in) -> None:
    task = {
        "id": 7,
        "data": {"text": "Paris is the capital."},
        "annotations": [
            {
                "completed_by": 1,
                "result": [{"type": "choices", "value": {"choices": ["good"]}, "from_name": "q"}],
            }
        ],
    }
    file = SimpleUploadedFile("export.json", json.dumps([task]).encode())
    answer = sign_in(people.ed).post(at("dataset_import", people), {"file": file}, follow=True)
    page = answer.content.decode()
    assert answer.status_code == 200, page[:3000]
    assert "Recognised: " in page
    assert "Label Studio" in page.split("Recognised: ")[1][:60]


def test_exports_offer_every_format_there_is(people: Cast, sign_in, queue: ReviewQueue) -> None:
    page = sign_in(people.bob).get(at("exports", people)).content.decode()
    assert set(re.findall(r'name="format" value="(\w+)"', page)) == set(EXPORT_FORMATS)
