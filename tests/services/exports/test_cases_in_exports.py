"""Files that are handed out say which case an item answers, and for which system version, to who may know."""

import csv
import io
import json
from typing import Any

import pytest
from django.utils import timezone

from rubricweb.models import ReviewQueue, User
from rubricweb.selectors.reviews.queue_sources import Source
from rubricweb.services.datasets.halves import drawing
from rubricweb.services.exports import export
from rubricweb.services.reviews import queues, reviews
from tests.factories import Cast
from tests.worlds.systems import Versions, answer, versions


@pytest.fixture
def world(people: Cast) -> Versions:
    again = answer("v4", "c1", submission="v4 c1 again", attempt=2)
    return versions(people, again, {"id": "alone", "prompt": "Question?", "submission": "alone"})


@pytest.fixture
def shared(world: Versions) -> ReviewQueue:
    """ann has labelled c1 of v3 and of v4, and the item that is its own case, not blind."""
    queue = opened(world, world.people.ann, blind="none", name="Shared")
    for item in world.dataset.items.filter(submission__in=("v3 c1", "v4 c1", "v4 c1 again", "alone")):
        review = queues.start_review(queue, item, world.people.ann)
        for criterion in reviews.criteria_of(review):
            reviews.save_verdict(review, criterion.pk, verdict="MET")
        reviews.submit(review, now=timezone.now())
    return queue


def opened(world: Versions, rater: User, **options: Any) -> ReviewQueue:
    return world.queue(raters=[rater], **options)


def text(world: Versions, viewer: User, shared: ReviewQueue, *, what: str, format: str) -> str:
    made = export(
        world.people.team, viewer=viewer, what=what, format=format, dataset=world.dataset, queues=[shared]
    )
    return "".join(map(str, made.chunks))


def cases(rows: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    found = [(row["item_id"], row["case_id"], row["system"], row["attempt"]) for row in rows]
    return sorted(set(found), key=lambda row: row[0])


def test_every_row_says_its_case_system_and_attempt(world: Versions, shared: ReviewQueue) -> None:
    told = text(world, world.people.bob, shared, what="verdicts", format="jsonl")
    assert cases([json.loads(line) for line in told.splitlines()]) == [
        ("alone", None, None, None),
        ("c1@assistant@v3", "c1", "assistant@v3", 1),
        ("c1@assistant@v4", "c1", "assistant@v4", 1),
        ("c1@assistant@v4#2", "c1", "assistant@v4", 2),
    ]
    for what in ("verdicts", "ground_truth"):
        told = text(world, world.people.bob, shared, what=what, format="csv")
        rows = list(csv.DictReader(io.StringIO(told)))
        later = ("final_verdict", "final_reason", "criterion_id", "rubric", "judge_version")
        columns = [name for name in rows[0] if name not in later]
        assert columns[-4:] == ["case_id", "system", "attempt", "split"]
        assert cases(rows) == [
            ("alone", "", "", ""),
            ("c1@assistant@v3", "c1", "assistant@v3", "1"),
            ("c1@assistant@v4", "c1", "assistant@v4", "1"),
            ("c1@assistant@v4#2", "c1", "assistant@v4", "2"),
        ]


def test_no_answer_to_a_case_is_named_while_one_of_them_is_hidden(
    world: Versions, shared: ReviewQueue
) -> None:
    """rae is to review v4's first answer to c1, and one of v3: the others to c1 would tell whose it is."""
    blind = [world.dataset.items.get(submission=words).pk for words in ("v4 c1", "v3 c2")]
    opened(world, world.people.rae, source=Source(kind="items", item_ids=tuple(blind)))
    for what, format in (("verdicts", "csv"), ("ground_truth", "csv"), ("ground_truth", "jsonl")):
        told = text(world, world.people.rae, shared, what=what, format=format)
        assert "assistant" not in told
        assert "alone" in told
        named = {line.split(",")[0] for line in told.splitlines()} if format == "csv" else set()
        assert format != "csv" or named == {"item_id", "alone"}


def test_files_say_in_which_half_a_case_is(world: Versions, shared: ReviewQueue) -> None:
    people = world.people
    drawing.split_cases(world.dataset, n_dev=3, by=people.ed)
    halves = dict(world.dataset.items.values_list("key", "case__half"))
    assert set(halves.values()) == {"dev", "test"}
    for what in ("verdicts", "ground_truth"):
        rows = list(csv.DictReader(io.StringIO(text(world, people.ed, shared, what=what, format="csv"))))
        assert len({row["item_id"] for row in rows}) == 4
        assert all(row["split"] == halves[row["item_id"]] for row in rows)
