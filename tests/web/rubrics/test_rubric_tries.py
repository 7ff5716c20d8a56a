"""A rubric's draft tried with a judge of the team, in the editor."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from rubricweb.models import JudgeTry
from rubricweb.services.endpoints import endpoints
from rubricweb.services.grading import session
from tests import factories
from tests.factories import Cast
from tests.trying import TryWorld, try_world
from tests.web.rubrics.test_rubric_editor import as_posted

LINES = {"Accept": "application/x-ndjson"}


@pytest.fixture
def world(people: Cast) -> Iterator[TryWorld]:
    with try_world(people) as made:
        yield made


def url(world: TryWorld, name: str = "rubric_try") -> str:
    return reverse(name, args=[world.people.team.slug, world.rubric.rubric_id])


def typed(world: TryWorld, client: Any, **more: str) -> dict[str, str]:
    posted = as_posted(client.get(url(world, "rubric_edit")).context["form"])
    return posted | {"try_judge": "support-judge@v1"} | more


def test_a_judge_of_the_team_is_chosen_where_there_is_one(world: TryWorld, sign_in, settings) -> None:
    settings.OFFLINE_JUDGE_URL = "http://127.0.0.1:9/v1"
    page = sign_in(world.people.ed).get(url(world, "rubric_edit"))
    words = [word for word, _ in page.context["try_judges"]]
    assert (page.context["try_judge"], words[0], words[-1]) == (
        "support-judge@v1",
        "support-judge@v1",
        "offline",
    )
    assert len(words) == 4
    for endpoint in endpoints.endpoints_of(world.people.team):
        endpoints.remove_endpoint(endpoint, by=world.people.alice, now=timezone.now())
    world.first.judge.archived_at = timezone.now()
    world.first.judge.save()
    page = sign_in(world.people.ed).get(url(world, "rubric_edit"))
    assert page.context["try_judge"] == "offline"


def test_the_draft_as_typed_is_asked_about_and_a_run_of_it_asks_nothing_again(
    world: TryWorld, sign_in
) -> None:
    client = sign_in(world.people.ed)
    posted = typed(world, client)
    answer = client.post(url(world), posted, headers=LINES)
    lines = [json.loads(line) for line in b"".join(answer.streaming_content).splitlines()]
    assert {f"try-tried-{index}" for index in range(3)} < {line["place"] for line in lines}
    assert world.script.count == 3
    run = factories.run(
        world.people.team,
        world.people.ed,
        dataset=world.dataset,
        rubric_version=world.rubric,
        judge_id="support-judge@v1",
        use_cache=True,
        item_ids=[world.item.pk],
    )
    session.grade(run.pk, now=timezone.now, only_this_run=True)
    assert world.script.count == 3
    # Another wording is another question: one is asked.
    posted["criteria-0-requirement"] = "Names Paris as the capital, and nothing else."
    b"".join(client.post(url(world), posted, headers=LINES).streaming_content)
    assert world.script.count == 4


def test_without_scripts_the_editor_comes_back_with_the_answers(world: TryWorld, sign_in) -> None:
    client = sign_in(world.people.ed)
    posted = typed(world, client, try_submission="Paris, surely.", try_judge="offline")
    posted["try_judge"] = f"endpoint-{endpoints.endpoints_of(world.people.team)[0].pk}"
    page = client.post(url(world), posted)
    assert page.status_code == 200
    assert "It is MET." in page.content.decode()
    assert "Paris, surely." in page.content.decode()
    row = JudgeTry.objects.get()
    assert (row.judge, row.item) == (None, None)


@pytest.mark.parametrize(
    ("change", "status", "words"),
    [
        ({"criteria-0-requirement": ""}, 422, "has faults"),
        ({"try_judge": "support-judge@v9"}, 404, "no such version"),
        ({"try_judge": "endpoint-999999"}, 422, "There is no judge"),
    ],
)
def test_what_cannot_be_tried_is_told(
    world: TryWorld, sign_in, change: dict[str, str], status: int, words: str
) -> None:
    client = sign_in(world.people.ed)
    posted = typed(world, client) | change
    answer = client.post(url(world), posted, headers=LINES)
    assert (answer.status_code, words in answer.json()["message"]) == (status, True)
    page = client.post(url(world), posted)
    assert (page.status_code, words in page.content.decode()) == (status, True)
    assert world.script.count == 0


def test_an_item_of_a_dataset_is_picked_or_the_next_one(world: TryWorld, sign_in) -> None:
    client = sign_in(world.people.ed)
    posted = typed(world, client) | {"try_dataset": str(world.dataset.pk)}
    keys, after = [], ""
    for said in ("", "", "empty-ish"):
        sent = posted | {"try_item": said, "try_after": after}
        lines = b"".join(client.post(url(world), sent, headers=LINES).streaming_content).splitlines()
        after = json.loads(lines[0])["after"]
        keys.append(JudgeTry.objects.last().item.key)
    assert keys == ["good", "bad", "empty-ish"]
    answer = client.post(url(world), posted | {"try_item": "nobody"}, headers=LINES)
    assert (answer.status_code, "the id of an item" in answer.json()["message"]) == (422, True)
    assert client.post(url(world), posted | {"try_dataset": "999999"}, headers=LINES).status_code == 404


def test_the_offline_judge_answers_the_script_at_once(world: TryWorld, sign_in, settings) -> None:
    settings.OFFLINE_JUDGE_URL = "http://127.0.0.1:9/v1"
    client = sign_in(world.people.ed)
    answer = client.post(url(world), typed(world, client, try_judge="offline"), headers=LINES)
    line = json.loads(answer.content)
    assert line["place"] == "try-result"
    assert "offline judge (not an LLM)" in line["html"]
    assert not JudgeTry.objects.exists()


def test_who_reviews_the_sample_item_blind_is_refused(world: TryWorld, sign_in) -> None:
    factories.queue(
        world.people.team,
        world.people.alice,
        dataset=world.dataset,
        rubric_version=world.rubric,
        raters=[world.people.ed],
    )
    client = sign_in(world.people.ed)
    answer = client.post(url(world), typed(world, client), headers=LINES)
    assert answer.status_code == 403
    assert world.script.count == 0
