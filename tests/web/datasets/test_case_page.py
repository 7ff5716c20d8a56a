"""The page of a case: its words, and every answer to it."""

from typing import Any

import pytest
from django.urls import reverse

from rubricweb.models import Case, Item
from rubricweb.services.datasets import splits
from rubricweb.services.datasets.changes import corrections, retirement
from rubricweb.services.datasets.changes.corrections import Correction
from rubricweb.web.datasets.case_answer import MOST_CHANGED, answer_diff
from tests import factories
from tests.factories import Cast
from tests.worlds.systems import Versions, versions
from tests.worlds.versions import graded, label


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


def test_the_best_answer_is_named_and_a_criterion_opens_with_its_reasons(
    people: Cast, sign_in, world: Versions, case: Case
) -> None:
    bob = sign_in(people.bob)
    shown = page(bob, people, case)
    # v3 has both criteria, v4 lacks the fact: 4 of 4 and 1 of 4 points.
    assert "assistant@v3 does best on this case: 1.00, then 0.25." in shown
    assert "People have labelled none of these verdicts." in shown
    assert shown.count("Has the fact.") == 0
    fact = world.rubric_version.criteria.get(name="fact")
    url = reverse("case", args=[people.team.slug, case.pk])
    opened = bob.get(url, {"criterion": fact.pk}).content.decode()
    assert opened.count("Has the fact.") == 1
    assert 'aria-expanded="true"' in opened
    assert bob.get(url, {"criterion": "x"}).status_code == 400


def test_one_goes_on_to_the_next_case_and_back(people: Cast, sign_in, world: Versions, case: Case) -> None:
    bob, ids = sign_in(people.bob), sorted(world.dataset.cases.values_list("pk", flat=True))
    first, second = (reverse("case", args=[people.team.slug, pk]) for pk in ids[:2])
    start = bob.get(first).content.decode()
    assert f'href="{second}" rel="next"' in start
    assert 'rel="prev"' not in start
    assert f'href="{first}" rel="prev"' in bob.get(second).content.decode()


def test_where_judge_and_people_differ_is_said_and_leads_to_a_decision(people: Cast, sign_in) -> None:
    dataset = factories.dataset(people.team, people.ed)
    version = factories.version(people.team, people.ed)
    graded(people, dataset, version)  # everything is met
    label(people, dataset, version, "Labels", {"concise": "UNMET"})
    shown = page(sign_in(people.rae), people, dataset.cases.get(key="good"))
    assert "They differ on 1 of 3 verdicts: concise." in shown
    item = Item.objects.get(dataset=dataset, key="good")
    unit = reverse(
        "adjudication_unit", args=[people.team.slug, item.pk, version.criteria.get(name="concise").pk]
    )
    assert f'href="{unit}"' in shown
    assert unit not in page(sign_in(people.bob), people, dataset.cases.get(key="good"))


def test_two_answers_are_compared_word_by_word_unless_most_differs(
    people: Cast, sign_in, world: Versions, case: Case
) -> None:
    older, newer = case.items.order_by("pk")
    words = "The capital of France is Paris, and it has been so for a long time."
    for item, text in ((older, words), (newer, words.replace("long", "very long"))):
        Item.objects.filter(pk=item.pk).update(submission=text)
    assert "<ins" in page(sign_in(people.bob), people, case)
    Item.objects.filter(pk=newer.pk).update(submission="Something else altogether.")
    shown = page(sign_in(people.bob), people, case)
    assert "<ins" not in shown
    assert f"More than {MOST_CHANGED:.0%} of the words differ" in shown
    assert answer_diff([], None, None) is None
