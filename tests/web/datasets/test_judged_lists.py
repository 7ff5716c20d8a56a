"""Lists of items narrowed by labels, scores and errors; what they tell of items still to review blind."""

import re
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from rubricweb.engine.verdict import Verdict
from rubricweb.models import Dataset, Rater, Run, User
from rubricweb.services.reviews import queues, reviews
from tests import factories
from tests.factories import Cast
from tests.judging import InProcessJudge, grade
from tests.worlds.blinding.two_worlds import copies_world, in_both_worlds, told_apart

ONE = [{"name": "capital", "weight": 1.0, "requirement": "Names Paris."}]


@pytest.fixture
def world(people: Cast) -> tuple[Dataset, Run]:
    """Five items, judged 1, 1, 0, 0 and 0; ann labelled a and b, rae b and c, and nobody d and e."""
    items = [{"id": key, "submission": f"{key} {'good' if key in 'ab' else 'bad'}"} for key in "abcde"]
    dataset = factories.dataset(people.team, people.ed, items=items)
    version = factories.version(people.team, people.ed, criteria=ONE)
    run = factories.run(people.team, people.ed, dataset=dataset, rubric_version=version)
    grade(run, InProcessJudge(lambda _, response: "MET" if "good" in response else "UNMET"))
    queue = factories.queue(
        people.team,
        people.ed,
        dataset=dataset,
        rubric_version=version,
        raters=[people.ann, people.rae],
        raters_per_item=2,
    )
    for rater, keys in ((people.ann, "ab"), (people.rae, "bc")):
        for key in keys:
            review = queues.start_review(queue, dataset.items.get(key=key), rater)
            for criterion in reviews.criteria_of(review):
                reviews.save_verdict(review, criterion.pk, verdict=Verdict.MET, reason="")
            reviews.submit(review, now=timezone.now())
    return dataset, run


def keys(client: Any, people: Cast, dataset: Dataset, **asked: Any) -> str:
    answer = client.get(reverse("dataset", args=[people.team.slug, dataset.pk]), asked)
    assert answer.status_code == 200, answer.content.decode()
    return "".join(row.key for row in answer.context["page"].rows)


@pytest.mark.parametrize(
    ("asked", "shown"),
    [
        ({"labels": "none"}, "de"),
        ({"labels": "some"}, "abc"),
        ({"labels": "1"}, "ac"),
        ({"labels": "2"}, "b"),
        ({"labels": "3"}, ""),
        ({"score_from": "0.5"}, "ab"),
        ({"score_to": "0.5", "labels": "none"}, "de"),
        ({"errors": "no", "score_from": "0", "score_to": "0"}, "cde"),
        ({"errors": "yes"}, ""),
    ],
)
def test_items_are_narrowed_by_what_was_said_of_them(
    people: Cast, sign_in, world: tuple[Dataset, Run], asked: dict[str, str], shown: str
) -> None:
    assert keys(sign_in(people.ed), people, world[0], **asked) == shown


def test_items_are_narrowed_by_who_labelled_them_and_all_of_them_are_taken_along(
    people: Cast, sign_in, world: tuple[Dataset, Run]
) -> None:
    dataset, _ = world
    ed, rae = sign_in(people.ed), Rater.objects.get(user=people.rae)
    asked = {"by": rae.pk, "score_from": 0.5}
    assert keys(ed, people, dataset, **asked) == "b"
    select = reverse("dataset_selection", args=[people.team.slug, dataset.pk])
    page = ed.post(select, {**asked, "all": "1", "use": "queue"}, follow=True)
    assert "the selected item" in page.content.decode()
    # The score stands in the list in the place of its characters.
    shown = ed.get(reverse("dataset", args=[people.team.slug, dataset.pk])).content.decode()
    assert ("Characters" in shown, shown.count('data-label="Score"')) == (False, 5)


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ({"labels": "many"}, "none, some, 1, 2, 3"),
        ({"score_from": "x"}, "a number"),
        ({"by": "999999"}, "somebody who labels"),
        ({"run": "999999"}, "a run of the team"),
        ({"errors": "maybe"}, "yes, no"),
    ],
)
def test_a_filter_that_is_not_in_the_list_is_refused(
    people: Cast, sign_in, world: tuple[Dataset, Run], asked: dict[str, str], why: str
) -> None:
    answer = sign_in(people.ed).get(reverse("dataset", args=[people.team.slug, world[0].pk]), asked)
    assert (answer.status_code, why in answer.content.decode()) == (400, True)


def test_a_blind_rater_learns_nothing_by_narrowing(people: Cast, sign_in, world: tuple[Dataset, Run]) -> None:
    """ann is still to review c, d and e: they are on no narrowed list, whatever was said of them."""
    dataset, _ = world
    ann = sign_in(people.ann)
    assert keys(ann, people, dataset, labels="none") == ""
    assert keys(ann, people, dataset, labels="some") == "ab"
    assert keys(ann, people, dataset, score_to="0.5") == ""
    assert keys(ann, people, dataset) == "abcde"
    shown = ann.get(reverse("dataset", args=[people.team.slug, dataset.pk])).content.decode()
    assert len(re.findall(r'data-label="Score"><a', re.sub(r"\s*\n\s*", "", shown))) == 2


def test_two_worlds_that_differ_in_a_verdict_are_narrowed_alike(people: Cast, sign_in) -> None:
    questions = [
        {"score_from": "0.5"},
        {"score_to": "0.5"},
        {"labels": "some"},
        {"labels": "none"},
        {"errors": "no"},
    ]

    def pages(person: User, met: bool) -> dict[str, str]:
        copies_world(people, met=met)
        client = sign_in(person)
        return {
            f"{one.pk} {asked}": " ".join(
                str(row.pk)
                for row in client.get(reverse("dataset", args=[people.team.slug, one.pk]), asked)
                .context["page"]
                .rows
            )
            for one in people.team.datasets.all()
            for asked in questions
        }

    blind = told_apart(*in_both_worlds(lambda met: pages(people.alice, met), at=timezone.now()))
    assert not blind, "\n".join(blind)
    assert told_apart(*in_both_worlds(lambda met: pages(people.ed, met), at=timezone.now()))
