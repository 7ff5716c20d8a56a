"""Runs and queues for tests of what labels say of all items: two criteria of one weight, scores 0, ½, 1."""

from collections.abc import Callable, Mapping
from typing import Any

from django.utils import timezone

from rubricweb.models import Item, ReviewQueue, Run, User
from rubricweb.selectors.reviews.queue_sources import Source
from rubricweb.services.reviews import queues, reviews
from tests import factories
from tests.factories import Cast
from tests.judging import InProcessJudge, grade

HALVES = [{"name": name, "weight": 1.0, "requirement": f"Is {name}."} for name in ("kind", "brief")]
Say = Callable[[Item, str], str]


def graded(people: Cast, items: list[dict[str, Any]], say: Callable[[str, str], str]) -> Run:
    """A run over these items by two criteria of one weight: scores are 0, ½ and 1."""
    version = factories.version(people.team, people.ed, criteria=HALVES)
    dataset = factories.dataset(people.team, people.ed, items=items)
    run = factories.run(people.team, people.ed, dataset=dataset, rubric_version=version)
    return grade(run, InProcessJudge(say))


def opened(people: Cast, run: Run, source: Source, **more: Any) -> ReviewQueue:
    more.setdefault("raters", [people.ann])
    return factories.queue(
        people.team,
        people.ed,
        dataset=run.dataset,
        rubric_version=run.rubric_version,
        source=source,
        **more,
    )


def label(queue: ReviewQueue, user: User, count: int, say: Say) -> list[str]:
    """Labels the next items of a queue; their keys."""
    done = []
    for _ in range(count):
        review = queues.next_review(queue, user, now=timezone.now())
        assert review is not None
        for criterion in reviews.criteria_of(review).exclude(kind="check"):
            reviews.save_verdict(review, criterion.pk, verdict=say(review.item, str(criterion.name)))
        reviews.submit(review, now=timezone.now())
        done.append(review.item.key)
    return done


def numbered(count: int, metadata: Callable[[int], Mapping[str, Any]] | None = None) -> list[dict[str, Any]]:
    return [
        {"id": f"{at:02}", "submission": f"Text {at:02}.", "metadata": dict(metadata(at) if metadata else {})}
        for at in range(count)
    ]


def three_worst(people: Cast) -> tuple[Run, ReviewQueue]:
    """24 items; the judge gives 0, 1 and 2 a half and the others 1, 0.9375 on average. ann says the same of
    the three worst, picked by hand, and has seen no other.
    """
    worst = ("00", "01", "02")

    def said(requirement: str, response: str) -> str:
        return "UNMET" if "brief" in requirement and response[5:7] in worst else "MET"

    run = graded(people, numbered(24), said)
    ids = tuple(Item.objects.filter(dataset=run.dataset, key__in=worst).values_list("pk", flat=True))
    queue = opened(people, run, Source("items", item_ids=ids))
    label(queue, people.ann, 3, lambda item, name: "UNMET" if name == "brief" else "MET")
    return run, queue
