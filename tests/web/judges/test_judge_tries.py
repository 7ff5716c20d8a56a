"""Trying a judge in a browser: on its page, and as it is worded in its form."""

import json
import re
from collections.abc import Iterator
from html import unescape
from typing import Any

import pytest
from django.urls import reverse

from rubricweb.judges.offline.script import Fail, Script
from rubricweb.models import JudgeTry, JudgeVersion
from rubricweb.services.judges import versions
from rubricweb.services.runs.budgets import change_monthly_budget
from rubricweb.services.tries import tries
from tests import factories
from tests.factories import Cast
from tests.judging import LabelJudge, grade
from tests.trying import STRICT, TryWorld, try_world
from tests.web.judges.test_judge_editing import fields

LINES = {"Accept": "application/x-ndjson"}


@pytest.fixture
def world(people: Cast) -> Iterator[TryWorld]:
    with try_world(people) as made:
        yield made


def url(name: str, world: TryWorld, *ids: int) -> str:
    return reverse(name, args=[world.people.team.slug, *ids])


def text(answer: Any) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", answer.content.decode())).split())


def asked(world: TryWorld, **more: Any) -> dict[str, Any]:
    """What the fields of the card hold when somebody presses Try."""
    return {
        "action": "try",
        "version": 1,
        "try_rubric": world.rubric.pk,
        "try_dataset": world.dataset.pk,
        "try_which": "next",
        **more,
    }


def lines_of(answer: Any) -> list[dict[str, Any]]:
    assert answer["Content-Type"] == "application/x-ndjson"
    return [json.loads(line) for line in b"".join(answer.streaming_content).splitlines()]


def worded(world: TryWorld, client: Any, **more: Any) -> dict[str, Any]:
    """What a browser sends of the form of the judge's next version, its words changed."""
    sent = fields(client.get(url("judge_edit", world, world.first.judge_id)))
    return sent | {"text_without_options": STRICT} | asked(world) | more


# ── On the page of a judge ───────────────────────────────────────────────────────────────────────


def test_the_page_tries_a_version_without_scripts(world: TryWorld, sign_in) -> None:
    client = sign_in(world.people.ed)
    page = client.get(url("judge", world, world.first.judge_id))
    assert page.context["try_form"].fields["try_rubric"].initial == world.rubric
    answer = client.post(url("judge_try", world, world.first.judge_id), asked(world))
    assert answer.status_code == 200
    shown = text(answer)
    for said in (
        "It is MET.",
        "It is UNMET.",
        "100 + 10 tokens",
        "$0.0003",
        "score 0.667",
        "3 asked, 0 known",
    ):
        assert said in shown
    # The prompt as it was sent stands there too.
    assert "Names Paris as the capital." in shown
    assert "sk-x" not in answer.content.decode()


def test_the_script_gets_each_answer_as_it_comes(world: TryWorld, sign_in) -> None:
    client = sign_in(world.people.ed)
    answer = client.post(url("judge_try", world, world.first.judge_id), asked(world), headers=LINES)
    lines = lines_of(answer)
    assert (lines[0]["place"], lines[0]["after"]) == ("try-result", world.item.pk)
    assert lines[0]["html"].count("waiting…") == 3
    cells = [line for line in lines if line["place"].startswith("try-tried-")]
    assert sorted(line["place"] for line in cells) == ["try-tried-0", "try-tried-1", "try-tried-2"]
    assert all("It is" in line["html"] for line in cells)
    assert "score 0.667" in " ".join(lines[-1]["html"].split())
    # The same again is known.
    again = client.post(url("judge_try", world, world.first.judge_id), asked(world), headers=LINES)
    assert b"known from before" in b"".join(again.streaming_content)
    assert world.script.count == 3


def test_next_goes_on_from_the_item_before_and_begins_again(world: TryWorld, sign_in) -> None:
    client = sign_in(world.people.ed)
    keys, after = [], ""
    for _ in range(4):
        more = {"try_after": after} if after else {}
        sent = asked(world, **more)
        after = lines_of(client.post(url("judge_try", world, world.first.judge_id), sent, headers=LINES))[0][
            "after"
        ]
        keys.append(JudgeTry.objects.last().item.key)
    assert keys == ["good", "bad", "empty-ish", "good"]


@pytest.mark.parametrize("said", ["bad", "#{pk}", "{pk}"])
def test_an_item_is_picked_by_its_id_or_number(world: TryWorld, sign_in, said: str) -> None:
    bad = world.dataset.items.get(key="bad")
    sent = asked(world, try_which="item", try_item=said.format(pk=bad.pk))
    sign_in(world.people.ed).post(url("judge_try", world, world.first.judge_id), sent)
    assert JudgeTry.objects.get().item == bad


@pytest.mark.parametrize(
    ("more", "field", "words"),
    [
        ({"try_which": "item", "try_item": "nowhere"}, "try_item", "the id of an item"),
        ({"try_which": "item"}, "try_item", "Found nothing"),
        ({"try_dataset": ""}, "try_dataset", "no dataset"),
        ({"try_rubric": ""}, "try_rubric", "no rubric"),
        ({"try_which": "pasted"}, "try_item", "no submission"),
        ({"try_dataset": "999999"}, "try_dataset", "valid choice"),
        ({"try_which": "sideways"}, "try_which", "valid choice"),
    ],
)
def test_what_is_missing_stands_at_its_field(
    world: TryWorld, sign_in, more: dict[str, str], field: str, words: str
) -> None:
    answer = sign_in(world.people.ed).post(
        url("judge_try", world, world.first.judge_id), asked(world, **more)
    )
    assert answer.status_code == 422
    assert words in answer.context["try_form"].errors[field][0]
    assert world.script.count == 0


def test_one_it_got_wrong(world: TryWorld, sign_in) -> None:
    client = sign_in(world.people.ed)
    page = client.get(url("judge", world, world.first.judge_id))
    assert "wrong" not in dict(page.context["try_form"].fields["try_which"].choices)
    run = factories.run(
        world.people.team,
        world.people.ed,
        dataset=world.dataset,
        rubric_version=world.rubric,
        judge_id="support-judge@v1",
    )
    grade(run, LabelJudge(lambda name, requirement, response: "MET"))
    rows = [
        f"{key},capital,x,{verdict}"
        for key, verdict in (("good", "MET"), ("bad", "UNMET"), ("empty-ish", "UNMET"))
    ]
    labels = "\n".join(["item_id,criterion,rater,verdict", *rows]).encode()
    factories.import_labels(world.dataset, world.rubric, data=labels, filename="l.csv", by=world.people.ed)
    after, keys = "", []
    for _ in range(3):
        sent = asked(world, try_which="wrong") | ({"try_after": after} if after else {})
        answer = client.post(url("judge_try", world, world.first.judge_id), sent, headers=LINES)
        after = lines_of(answer)[0]["after"]
        keys.append(JudgeTry.objects.last().item.key)
    assert keys == ["bad", "empty-ish", "bad"]


def test_a_blind_rater_learns_nothing(world: TryWorld, sign_in) -> None:
    run = factories.run(
        world.people.team,
        world.people.alice,
        dataset=world.dataset,
        rubric_version=world.rubric,
        judge_id="support-judge@v1",
    )
    grade(run, LabelJudge(lambda name, requirement, response: "MET"))
    factories.queue(
        world.people.team,
        world.people.alice,
        dataset=world.dataset,
        rubric_version=world.rubric,
        raters=[world.people.ed],
    )
    client = sign_in(world.people.ed)
    page = client.get(url("judge", world, world.first.judge_id))
    assert "wrong" not in dict(page.context["try_form"].fields["try_which"].choices)
    for more in (
        {},
        {"try_which": "wrong"},
        {"try_which": "item", "try_item": "good"},
        {"try_which": "pasted", "try_submission": world.item.submission},
    ):
        for headers in ({}, LINES):
            answer = client.post(
                url("judge_try", world, world.first.judge_id), asked(world, **more), headers=headers
            )
            assert answer.status_code in (403, 409, 422)
            assert "tried" not in (answer.context or {})
            assert "judge says" not in text(answer)
    assert world.script.count == 0
    assert not JudgeTry.objects.exists()


def test_who_may_not_edit_tries_nothing(world: TryWorld, sign_in) -> None:
    for person, status in ((world.people.rae, 403), (world.people.bob, 403), (world.people.charlie, 404)):
        answer = sign_in(person).post(url("judge_try", world, world.first.judge_id), asked(world))
        assert answer.status_code == status
    page = sign_in(world.people.bob).get(url("judge", world, world.first.judge_id))
    assert "try_form" not in page.context
    assert sign_in(world.people.ed).post(url("judge_try", world, 999999), asked(world)).status_code == 404
    other = factories.version(world.people.other_team, world.people.charlie, title="Theirs")
    answer = sign_in(world.people.ed).post(
        url("judge_try", world, world.first.judge_id), asked(world, try_rubric=other.pk)
    )
    assert answer.status_code == 422


def test_too_many_tries_are_told_so(world: TryWorld, sign_in, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tries, "PER_MINUTE", 1)
    client = sign_in(world.people.ed)
    address = url("judge_try", world, world.first.judge_id)
    assert client.post(address, asked(world)).status_code == 200
    answer = client.post(address, asked(world), headers=LINES)
    assert (answer.status_code, "within a minute" in answer.json()["message"]) == (429, True)
    refused = client.post(address, asked(world))
    assert (refused.status_code, "within a minute" in text(refused)) == (429, True)


def test_a_budget_that_is_used_up_stands_above_the_answers(world: TryWorld, sign_in) -> None:
    change_monthly_budget(world.people.team, by=world.people.alice, monthly_budget_usd=0.0001)
    answer = sign_in(world.people.ed).post(url("judge_try", world, world.first.judge_id), asked(world))
    shown = text(answer)
    assert "Nothing more is asked" in shown
    assert "would pass the team's budget" in shown
    assert world.script.count == 0


def test_an_error_is_shown_with_what_to_do(people: Cast, sign_in) -> None:
    with try_world(people, Script(Fail(401, "Incorrect API key provided"))) as world:
        shown = text(sign_in(people.ed).post(url("judge_try", world, world.first.judge_id), asked(world)))
    assert "unauthorized" in shown
    assert "Enter the API key again" in shown
    assert "3 without an answer" in shown


def test_without_a_rubric_the_card_says_what_is_missing(people: Cast, sign_in) -> None:
    with try_world(people) as world:
        world.rubric.rubric.archived_at = world.rubric.published_at
        world.rubric.rubric.save()
        page = sign_in(people.ed).get(url("judge", world, world.first.judge_id))
    assert "No rubric yet" in text(page)


# ── In the form of its next version ──────────────────────────────────────────────────────────────


def test_the_form_tries_what_is_typed_beside_the_version_it_began_with(world: TryWorld, sign_in) -> None:
    client = sign_in(world.people.ed)
    client.post(url("judge_try", world, world.first.judge_id), asked(world))
    address = url("judge_edit", world, world.first.judge_id)
    answer = client.post(address, worded(world, client))
    assert answer.status_code == 200
    shown = text(answer)
    assert "As typed" in shown
    assert "support-judge@v1" in shown
    assert shown.count("known from before") == 3  # the version's answers
    assert world.script.count == 6
    assert sum("Be strict." in str(one.body) for one in world.script.requests) == 3
    # Nothing was kept, and what was typed still stands there.
    assert JudgeVersion.objects.count() == 1
    assert answer.context["form"]["text_without_options"].value() == STRICT
    row = JudgeTry.objects.last()
    assert (row.judge, row.beside_digest) == (world.first.judge, world.first.digest)
    assert row.digest != world.first.digest


def test_the_form_streams_both_columns(world: TryWorld, sign_in) -> None:
    client = sign_in(world.people.ed)
    address = url("judge_edit", world, world.first.judge_id)
    lines = lines_of(client.post(address, worded(world, client), headers=LINES))
    places = {line["place"] for line in lines}
    assert {f"try-{side}-{index}" for side in ("tried", "before") for index in range(3)} < places


def test_what_cannot_be_asked_as_it_is_typed_names_its_field(world: TryWorld, sign_in) -> None:
    client = sign_in(world.people.ed)
    address = url("judge_edit", world, world.first.judge_id)
    wrong = worded(world, client, text_without_options="No frame at all.")
    answer = client.post(address, wrong)
    assert answer.status_code == 422
    assert "text_without_options" in answer.context["form"].errors
    streamed = client.post(address, wrong, headers=LINES)
    assert streamed.status_code == 422
    assert "frame" in streamed.json()["message"]
    turned = worded(world, client, way="one_shot json")
    answer = client.post(address, turned, headers=LINES)
    assert (answer.status_code, "Show its texts" in answer.json()["message"]) == (422, True)
    assert client.post(address, turned).context["turned"]  # the page shows them at once
    hot = worded(world, client, **{"member0-temperature": "9"})
    answer = client.post(address, hot, headers=LINES)
    assert (answer.status_code, "Temperature" in answer.json()["message"]) == (422, True)
    assert world.script.count == 0


def test_a_new_judge_is_tried_before_it_is_kept(world: TryWorld, sign_in) -> None:
    client = sign_in(world.people.ed)
    model = next(iter(page_models(client, world)))
    address = f"{url('judge_new', world)}?name=Fresh&model={model}&way=per_criterion+json"
    answer = client.post(address, fields(client.get(address)) | asked(world))
    assert "It is MET." in text(answer)
    assert JudgeVersion.objects.count() == 1
    assert JudgeTry.objects.get().judge is None


def page_models(client: Any, world: TryWorld) -> dict[str, Any]:
    return client.get(url("judge_new", world)).context["models"]


def test_a_judge_with_examples_is_not_tried_by_who_still_reviews_blind(world: TryWorld, sign_in) -> None:
    criterion = world.rubric.criteria.get(position=0)
    shown = world.definition(
        examples=(
            {
                "uid": criterion.uid,
                "requirement": criterion.requirement,
                "label": "MET",
                "key": "x",
                "output": "Paris.",
            },
        )
    )
    kept = versions.keep_version(
        world.first.judge, shown, by=world.people.ed, parent=world.first, note="With an example."
    )
    elsewhere = factories.dataset(
        world.people.team, world.people.ed, name="other", items=[{"id": "o", "submission": "Other words."}]
    )
    factories.queue(
        world.people.team,
        world.people.alice,
        dataset=elsewhere,
        rubric_version=world.rubric,
        raters=[world.people.ed],
    )
    client = sign_in(world.people.ed)
    assert "try_form" not in client.get(url("judge", world, kept.judge_id)).context
    answer = client.post(url("judge_try", world, kept.judge_id), asked(world, version=2))
    assert answer.status_code == 403
    assert world.script.count == 0
