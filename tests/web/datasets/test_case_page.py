"""The page of a case: its words, and every answer to it."""

from typing import Any

import pytest
from django.urls import reverse

from rubricweb.models import Case
from rubricweb.services.datasets import splits
from rubricweb.services.datasets.changes import corrections, retirement
from rubricweb.services.datasets.changes.corrections import Correction
from tests import factories
from tests.factories import Cast
from tests.worlds.systems import Versions, versions
from tests.worlds.versions import label


@pytest.fixture
def world(people: Cast) -> Versions:
    found = versions(people)
    found.run_over("v3")
    found.run_over("v4")
    return found


@pytest.fixture
def case(world: Versions) -> Case:
    return Case.objects.get(dataset=world.dataset, key="c1")


def page(client: Any, people: Cast, case: Case) -> str:
    return client.get(reverse("case", args=[people.team.slug, case.pk])).content.decode()


def test_the_page_shows_the_words_asked_and_all_answers(people: Cast, sign_in, case: Case) -> None:
    shown = page(sign_in(people.bob), people, case)
    assert [word in shown for word in ("Question c1?", "assistant@v3", "assistant@v4", "v3 c1", "v4 c1")] == [
        True
    ] * 5
    assert "Correct the words" not in shown
    assert "Correct the words" in page(sign_in(people.ed), people, case)
    of_item = sign_in(people.bob).get(
        reverse("item", args=[people.team.slug, case.items.order_by("pk")[0].pk])
    )
    assert reverse("case", args=[people.team.slug, case.pk]) in of_item.content.decode()


def test_a_case_nobody_answered_and_one_of_others(people: Cast, sign_in, case: Case) -> None:
    assert "not found" in page(sign_in(people.charlie), people, case).lower()
    retirement.retire(case.dataset, list(case.items.values_list("pk", flat=True)), by=people.ed)
    assert page(sign_in(people.bob), people, case).count("retired") >= 2


def test_a_sealed_copy_of_a_corrected_case_has_a_page(people: Cast, sign_in) -> None:
    dataset = factories.dataset(people.team, people.ed)
    label(people, dataset, factories.version(people.team, people.ed), "Labels")
    corrections.correct_case(dataset.cases.get(key="good"), Correction(prompt="Which city?"), by=people.ed)
    half = splits.split_dataset(dataset, n_dev=1, by=people.ed)
    copy = Case.objects.get(key="good", dataset__in=[half.dev, half.test])
    bob = sign_in(people.bob)
    assert "these are its words number 2" in page(bob, people, copy)
    assert "Which city?" in page(bob, people, copy)
    copy.texts.all().delete()  # as halves of earlier releases are
    assert "Corrected" not in page(bob, people, copy)
    assert copy.items.get().prompt in page(bob, people, copy)
