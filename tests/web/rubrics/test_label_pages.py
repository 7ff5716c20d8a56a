"""Labels under other words on the pages: chosen at publication, changed on the page of the version."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from rubricweb.models import Dataset, LabelDecision, ReviewQueue, RubricVersion
from rubricweb.services.rubrics import rubrics
from tests import factories
from tests.factories import Cast
from tests.worlds.versions import CRITERIA, NAMES, counting, graded, label

REWORDED = "Names Paris as the capital of France."
KINDER = [{"label": "bad", "value": 0}, {"label": "fair", "value": 0.5}, {"label": "kind", "value": 1}]


@pytest.fixture
def first(people: Cast) -> RubricVersion:
    return factories.version(people.team, people.ed, criteria=CRITERIA)


@pytest.fixture
def dataset(people: Cast) -> Dataset:
    return factories.dataset(people.team, people.ed)


@pytest.fixture
def queue(people: Cast, dataset: Dataset, first: RubricVersion) -> ReviewQueue:
    return label(people, dataset, first, "first")


def url(people: Cast, name: str, *args: object) -> str:
    return reverse(name, args=[people.team.slug, *args])


def text(response: Any) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", response.content.decode()).split())


def draft(version: RubricVersion, *changes: tuple[int, dict[str, Any]]) -> None:
    """Saves a draft in which criteria, by position, have other fields."""
    rubric = version.rubric
    assert rubric is not None
    rubric.refresh_from_db()
    criteria = list(rubric.draft["criteria"])
    for position, fields in changes:
        criteria[position] = {**criteria[position], **fields}
    rubrics.save_draft(rubric, draft={**rubric.draft, "criteria": criteria}, revision=rubric.draft_revision)


def test_publishing_shows_what_stands_on_the_words_before_and_takes_the_choice(
    people: Cast, sign_in: Callable[..., Client], first: RubricVersion, queue: ReviewQueue
) -> None:
    graded(people, queue.dataset, first)
    draft(first, (0, {"requirement": REWORDED}))
    ed, rubric = sign_in(people.ed), first.rubric
    assert rubric is not None
    page = text(ed.get(url(people, "rubric_publish", rubric.pk)))
    assert "Labels of “capital” 6 labels in 6 reviews were given to the words before." in page
    assert "asks at most 3 questions" in page
    assert "The answers to all other criteria are reused." in page
    rubric.refresh_from_db()
    answer = ed.post(
        url(people, "rubric_publish", rubric.pk),
        {"revision": rubric.draft_revision, "labels-0-kind": "carry", "labels-0-reason": "Only a comma."},
    )
    assert answer.status_code == 302
    second = rubric.versions.get(number=2)
    assert counting(queue, second) == NAMES
    rubric_page = text(ed.get(url(people, "rubric", rubric.pk)))
    assert "Decisions about labels" in rubric_page
    assert "v2 capital carry Only a comma. 6 Ed" in rubric_page


def test_options_are_mapped_one_by_one_and_nothing_typed_is_lost(
    people: Cast, sign_in: Callable[..., Client], first: RubricVersion, queue: ReviewQueue
) -> None:
    draft(first, (3, {"options": KINDER}))
    ed, rubric = sign_in(people.ed), first.rubric
    assert rubric is not None
    rubric.refresh_from_db()
    posted = {
        "revision": rubric.draft_revision,
        "note": "Kinder words",
        "labels-0-kind": "carry",
        "labels-0-reason": "New names.",
        "labels-0-option-0": "0",
    }
    refused = ed.post(url(people, "rubric_publish", rubric.pk), posted)
    assert refused.status_code == 422
    page = refused.content.decode()
    assert "options.plain: found nothing" in text(refused)
    assert 'value="New names."' in page
    assert 'value="Kinder words"' in page
    assert re.search(r'value="carry" checked', page)
    assert rubric.versions.count() == 1
    ed.post(
        url(people, "rubric_publish", rubric.pk),
        posted | {"labels-0-option-1": "1", "labels-0-option-2": "-"},
    )
    assert LabelDecision.objects.get().options == {
        "CANNOT_ASSESS": "CANNOT_ASSESS",
        "rude": "bad",
        "plain": "fair",
        "warm": None,
    }
    assert counting(queue, rubric.versions.get(number=2)) == NAMES


def test_what_waits_is_said_on_the_rubric_and_decided_on_the_version(
    people: Cast, sign_in: Callable[..., Client], first: RubricVersion, queue: ReviewQueue
) -> None:
    draft(first, (0, {"requirement": REWORDED}))
    rubric = first.rubric
    assert rubric is not None
    second = rubrics.publish(rubric, by=people.ed)
    uid = second.criteria.get(name="capital").uid
    viewer, ed = sign_in(people.bob), sign_in(people.ed)
    assert "Labels wait for a decision v2 asks 1 criterion in other words" in text(
        viewer.get(url(people, "rubric", rubric.pk))
    )
    seen = viewer.get(url(people, "rubric_version", rubric.pk, 2))
    assert "waits for a decision" in text(seen)
    assert "Save the decision" not in text(seen)
    address = url(people, "rubric_labels", rubric.pk, 2)
    assert viewer.post(address, {"about": uid}).status_code == 403
    assert ed.post(address, {"about": "nothing", "seen": ""}).status_code == 404
    assert ed.post(address, {"about": uid, "seen": "", "labels-0-kind": "probe"}).status_code == 302
    assert "Labels wait" not in text(ed.get(url(people, "rubric", rubric.pk)))
    # Who decides from a page that shows no decision yet is told of the one there is.
    late = ed.post(address, {"about": uid, "seen": "", "labels-0-kind": "carry"})
    assert late.status_code == 422
    assert "Somebody else has decided about these labels meanwhile." in text(late)
    current = LabelDecision.objects.get()
    assert ed.post(address, {"about": uid, "seen": current.pk, "labels-0-kind": "carry"}).status_code == 302
    assert counting(queue, second) == NAMES


def test_a_first_version_and_one_that_only_weighs_otherwise_ask_nothing(
    people: Cast, sign_in: Callable[..., Client], first: RubricVersion
) -> None:
    draft(first, (0, {"weight": 3}))
    rubric = first.rubric
    assert rubric is not None
    ed = sign_in(people.ed)
    assert "Labels under other words" not in text(ed.get(url(people, "rubric_publish", rubric.pk)))
    rubrics.publish(rubric, by=people.ed, decisions={})
    assert "Labels under other words" not in text(ed.get(url(people, "rubric_version", rubric.pk, 2)))
    assert not LabelDecision.objects.exists()
