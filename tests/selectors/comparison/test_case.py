"""Every answer to a case, with what the newest run and people said of it."""

import pytest
from django.utils import timezone

from rubricweb.errors import Withheld
from rubricweb.models import Case, ReviewQueue, User
from rubricweb.selectors.comparison.case import CaseAnswers, case_answers
from rubricweb.selectors.datasets.cases import words_of
from rubricweb.services.datasets.changes import corrections, retirement
from rubricweb.services.datasets.changes.corrections import Correction
from rubricweb.services.reviews import queues, reviews
from tests import factories
from tests.factories import Cast
from tests.judging import InProcessJudge, grade
from tests.worlds.systems import Versions, answer, versions


@pytest.fixture
def world(people: Cast) -> Versions:
    return versions(people, answer("v4", "c1", submission="v4 c1 again", attempt=2))


def case(world: Versions, key: str) -> Case:
    return Case.objects.select_related("dataset__team").get(dataset=world.dataset, key=key)


def queue(world: Versions, **options: object) -> ReviewQueue:
    return world.queue(**options)


def label(queue: ReviewQueue, rater: User, key: str, fact: str, kind: str) -> None:
    review = queues.start_review(queue, queue.dataset.items.get(key=key), rater)
    for criterion, verdict in zip(reviews.criteria_of(review), (fact, kind), strict=True):
        reviews.save_verdict(review, criterion.pk, verdict=verdict, reason="seen")
    reviews.submit(review, now=timezone.now())


def said(found: CaseAnswers) -> list[tuple[str, int, float | None, list[tuple[str, str | None, str | None]]]]:
    return [
        (
            str(one.item.system_version),
            one.item.attempt,
            one.grading.score if one.grading else None,
            [
                (criterion.name, judged.verdict if judged else None, label.verdict if label else None)
                for criterion, judged, label in one.criteria
            ],
        )
        for one in found.answers
    ]


def test_each_answer_stands_with_its_newest_verdicts_and_its_labels(world: Versions) -> None:
    world.run_over("v3")
    world.run_over("v3", name="again")
    world.run_over("v4")
    labelled = queue(world, blind="none")
    label(labelled, world.people.ann, "c1@assistant@v3", "UNMET", "MET")
    found = case_answers(case(world, "c1"), viewer=world.people.bob)
    assert said(found) == [
        ("assistant@v3", 1, 1.0, [("fact", "MET", "UNMET"), ("kind", "MET", "MET")]),
        ("assistant@v4", 1, 0.25, [("fact", "UNMET", None), ("kind", "MET", None)]),
        ("assistant@v4", 2, 1.0, [("fact", "MET", None), ("kind", "MET", None)]),
    ]
    assert [one.grading.run.name for one in found.answers if one.grading] == [
        "again",
        "run of v4",
        "run of v4",
    ]
    assert found.graded_alike


def test_answers_that_were_not_graded_alike_are_said_to_be_so(world: Versions, people: Cast) -> None:
    world.run_over("v3")
    criteria = [{"name": "x", "weight": 1.0, "requirement": "Is x."}]
    other = factories.version(people.team, people.ed, criteria=criteria)
    grade(world.planned("v4", rubric_version=other), InProcessJudge(lambda *_: "MET"))
    assert not case_answers(case(world, "c1"), viewer=people.bob).graded_alike


def test_a_case_without_runs_has_its_answers_and_pages_of_them(world: Versions, people: Cast) -> None:
    first = case_answers(case(world, "c1"), viewer=people.bob, size=2)
    rest = case_answers(case(world, "c1"), viewer=people.bob, size=2, cursor=first.next_cursor)
    assert [row[:3] for row in said(first) + said(rest)] == [
        ("assistant@v3", 1, None),
        ("assistant@v4", 1, None),
        ("assistant@v4", 2, None),
    ]
    assert rest.next_cursor is None


def test_retired_answers_and_those_to_earlier_words_are_there(world: Versions, people: Cast) -> None:
    corrections.correct_case(case(world, "c2"), Correction(prompt="What is it?"), by=people.ed)
    gone = world.dataset.items.get(key="c2@assistant@v3")
    retirement.retire(world.dataset, [gone.pk], by=people.ed)
    asked = case(world, "c2")
    found = case_answers(asked, viewer=people.bob)
    assert (words_of(asked).to_engine().query, asked.wording) == ("What is it?", 2)
    assert [(one.is_current, one.item.wording) for one in found.answers] == [(False, 1), (True, 1)]


def test_answers_are_withheld_until_the_last_of_them_is_submitted(world: Versions, people: Cast) -> None:
    blind = queue(world)
    for key in ("c1@assistant@v3", "c1@assistant@v4"):
        with pytest.raises(Withheld, match="in an open blind queue"):
            case_answers(case(world, "c1"), viewer=people.ann)
        label(blind, people.ann, key, "MET", "MET")
    with pytest.raises(Withheld):
        case_answers(case(world, "c1"), viewer=people.ann)
    label(blind, people.ann, world.dataset.items.get(attempt=2).key, "MET", "MET")
    assert len(case_answers(case(world, "c1"), viewer=people.ann).answers) == 3


def test_the_number_of_queries_does_not_grow_with_the_answers(
    world: Versions, people: Cast, django_assert_max_num_queries
) -> None:
    world.run_over("v3")
    world.run_over("v4")
    labelled = queue(world, blind="none")
    for item in world.dataset.items.filter(case__key="c1"):
        label(labelled, people.ann, item.key, "MET", "UNMET")
    asked = case(world, "c1")
    with django_assert_max_num_queries(22) as one:
        case_answers(asked, viewer=people.bob, size=1)
    with django_assert_max_num_queries(len(one)):
        case_answers(asked, viewer=people.bob)
