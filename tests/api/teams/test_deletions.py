"""Deleting for good by the API."""

import json
from typing import Any

from django.utils import timezone

from rubricweb.models import JournalEntry, Judgement, ReviewQueue
from rubricweb.services.datasets.changes import retirement
from rubricweb.services.deletions import deletions
from rubricweb.services.reviews import queues
from tests import factories
from tests.api.client import ApiClient, text_of
from tests.api.conftest import World
from tests.factories import Cast


def test_the_api_plans_deletes_and_says_how_far_it_is(people: Cast, as_member) -> None:
    dataset = factories.dataset(people.team, people.ed, name="Night build")
    alice = as_member(people.alice)
    plan = alice.get(f"/datasets/{dataset.pk}/deletion")
    assert (plan["kind"], plan["counts"], plan["refused"]) == ("dataset", {"cases": 3, "items": 3}, "")
    alice.refused(422, "DELETE", f"/datasets/{dataset.pk}", {"name": "night"})
    response = alice.call("DELETE", f"/datasets/{dataset.pk}", {"name": "Night build"})
    assert response.status_code == 202
    found = response.json()
    assert (found["state"], found["share"]) == ("waiting", 0.0)
    alice.refused(404, "GET", f"/datasets/{dataset.pk}")
    assert alice.get("/datasets")["items"] == []
    deletions.work(found["id"], worker="here:1", now=timezone.now)
    found = alice.get(f"/deletions/{found['id']}")
    assert (found["state"], found["share"], found["name"]) == ("done", 1.0, "Night build")
    assert alice.get("/deletions")["items"] == [found]
    assert JournalEntry.objects.filter(verb="deleted", target_label="Night build").exists()


def test_a_team_is_renamed_and_deleted_and_its_tokens_stop(people: Cast, as_member) -> None:
    alice = as_member(people.alice)
    assert alice.send("PATCH", "/team", {"name": "Capitals"})["name"] == "Capitals"
    as_member(people.ed).refused(403, "PATCH", "/team", {"name": "Mine"})
    assert alice.get("/team/deletion")["counts"] == {"members": 5, "tokens": 2}
    response = alice.call("DELETE", "/team", {"name": "Capitals"})
    assert response.status_code == 202
    assert alice.call("GET", "/team").status_code == 401


def test_systems_are_listed_renamed_and_kept_while_they_have_answers(people: Cast, as_member) -> None:
    answers = [{"case_id": "q", "system": "assistant@v1", "submission": "Paris."}]
    factories.dataset(people.team, people.ed, items=answers)
    ed, alice = as_member(people.ed), as_member(people.alice)
    [system] = ed.get("/systems")["items"]
    [version] = system["versions"]
    assert (system["name"], version["name"], version["items"]) == ("assistant", "assistant@v1", 1)
    assert ed.send("PATCH", f"/systems/{system['id']}", {"name": "helper"})["name"] == "helper"
    changed = ed.send("PATCH", f"/system-versions/{version['id']}", {"label": "v2"})
    assert changed == {"id": version["id"], "name": "helper@v2"}
    alice.refused(409, "DELETE", f"/systems/{system['id']}", {"name": "helper"})
    assert "has answers of it" in alice.get(f"/system-versions/{version['id']}/deletion")["refused"]


def close_queues(people: Cast) -> None:
    for queue in ReviewQueue.objects.all():
        queues.close_queue(queue, by=people.ed)


def delete(client: ApiClient, path: str) -> dict[str, Any]:
    """The deletion that waits for a worker."""
    response = client.call("DELETE", path, {"name": client.get(f"{path}/deletion")["name"]})
    assert response.status_code == 202, response.content
    return dict(response.json())


def test_decisions_by_a_deleted_rubric_are_out_of_sight_before_a_worker_comes(
    people: Cast, as_member, world: World
) -> None:
    alice, bob = as_member(people.alice), as_member(people.bob)
    item, criterion = world.dataset.items.get(key="good"), world.version.criteria.get(name="capital")
    decision = {"verdict": "UNMET", "cause": "judge_wrong", "reason": "Nobody may read this."}
    alice.send("PUT", f"/items/{item.pk}/criteria/{criterion.pk}/adjudication", decision)
    close_queues(people)
    kept = factories.queue(
        people.team,
        people.ed,
        dataset=world.dataset,
        rubric_version=factories.version(people.team, people.ed),
        raters=[people.ann],
        name="kept",
    )
    review = as_member(people.ann).send("POST", f"/queues/{kept.pk}/next")
    for question in review["criteria"]:
        answer = f"/reviews/{review['id']}/criteria/{question['criterion']['id']}"
        as_member(people.ann).send("PUT", answer, {"verdict": "MET"})
    as_member(people.ann).send("POST", f"/reviews/{review['id']}/submit")
    close_queues(people)

    def told() -> str:
        bundle = {"dataset": world.dataset.pk, "queue": kept.pk, "what": "verdicts", "format": "bundle"}
        answers = (
            bob.call("GET", f"/items/{item.pk}/ground-truth"),
            bob.call("GET", f"/cases/{item.case_id}"),
            bob.call("GET", "/exports", query=bundle),
        )
        assert {answer.status_code for answer in answers} == {200}
        return "".join(map(text_of, answers))

    assert told().count("Nobody may read this.") == 3
    [decided] = bob.get("/adjudication", cause="judge_wrong")["items"]
    assert decided["criterion"]["id"] == criterion.pk
    delete(alice, f"/rubrics/{world.version.rubric_id}")
    assert "Nobody may read this." not in told()
    assert bob.get("/adjudication", cause="judge_wrong")["items"] == []


def test_nothing_is_exported_by_a_deleted_rubric(people: Cast, as_member, world: World) -> None:
    """What was decided is exported without queues, by the rubric it was decided by."""
    alice = as_member(people.alice)
    item, criterion = world.dataset.items.get(key="good"), world.version.criteria.get(name="capital")
    decision = {"verdict": "UNMET", "cause": "judge_wrong"}
    alice.send("PUT", f"/items/{item.pk}/criteria/{criterion.pk}/adjudication", decision)
    close_queues(people)
    delete(alice, f"/queues/{world.queue.pk}")
    asked = {"dataset": world.dataset.pk, "what": "ground_truth", "format": "yaml"}
    assert criterion.requirement in text_of(alice.call("GET", "/exports", query=asked))
    delete(alice, f"/rubrics/{world.version.rubric_id}")
    assert criterion.requirement not in text_of(alice.call("GET", "/exports", query=asked))


def test_a_comment_tells_no_verdict_of_a_deleted_run_nor_a_deleted_criterion(
    people: Cast, as_member, world: World
) -> None:
    alice, bob = as_member(people.alice), as_member(people.bob)
    close_queues(people)
    verdict = Judgement.objects.get(run=world.run, item__key="good", criterion__name="capital")
    thread = f"/items/{verdict.item_id}/comments"
    made = alice.send("POST", thread, {"text": "Sure?", "judgement_id": verdict.pk})
    assert made["verdict"] == "MET"
    delete(alice, f"/runs/{world.run.pk}")
    [listed] = bob.get(thread)["items"]
    assert listed == bob.get(f"/comments/{made['id']}")
    assert listed == made | {"judgement_id": None, "verdict": None}
    delete(alice, f"/rubrics/{world.version.rubric_id}")
    assert bob.get(f"/comments/{made['id']}") == listed | {"criterion_id": None}


def test_a_version_whose_answers_are_all_retired_is_deleted_with_them(people: Cast, as_member) -> None:
    of_one = {"system": "assistant@v1", "submission": "So."}
    rows = [of_one | {"case_id": key, "prompt": f"{key}?"} for key in "xy"]
    dataset = factories.dataset(people.team, people.ed, items=rows)
    forgotten = [{"case_id": key, "system": "assistant", "submission": f"{key}!"} for key in "xy"]
    forgotten.append({"case_id": "z", "system": "assistant", "submission": "z"})
    data = "\n".join(map(json.dumps, forgotten))
    factories.add_items(dataset, by=people.ed, data=data.encode(), filename="v2.jsonl")
    alice = as_member(people.alice)
    [system] = alice.get("/systems")["items"]
    version = next(one for one in system["versions"] if one["name"] == "assistant")
    at = f"/system-versions/{version['id']}"
    alice.refused(409, "DELETE", at, {"name": "assistant"})
    answers = dataset.items.filter(system_version=version["id"])
    retirement.retire(dataset, list(answers.values_list("pk", flat=True)), by=people.ed)
    planned = alice.get(f"{at}/deletion")
    assert (planned["refused"], planned["counts"]) == ("", {"items": 3})
    assert alice.call("DELETE", at, {"name": "assistant"}).status_code == 202
    assert [one["name"] for one in alice.get("/systems")["items"][0]["versions"]] == ["assistant@v1"]
    assert sorted(dataset.items.values_list("case__key", flat=True)) == ["x", "y"]
    # The case that nobody else answers went along: its key is free.
    assert sorted(dataset.cases.values_list("key", flat=True)) == ["x", "y"]


def test_retired_answers_with_reviews_keep_their_version(people: Cast, as_member) -> None:
    version = factories.version(people.team, people.ed, criteria=factories.CRITERIA[:1])
    rows = [{"case_id": "x", "prompt": "x?", "system": "assistant@v1", "submission": "x"}]
    dataset = factories.dataset(people.team, people.ed, items=rows)
    queue = factories.queue(
        people.team, people.ed, dataset=dataset, rubric_version=version, raters=[people.ann]
    )
    queues.start_review(queue, dataset.items.get(), people.ann)
    retirement.retire(dataset, [dataset.items.get().pk], by=people.ed)
    alice = as_member(people.alice)
    [system] = alice.get("/systems")["items"]
    at = f"/system-versions/{system['versions'][0]['id']}"
    assert "Its retired answers have 1 review" in alice.get(f"{at}/deletion")["refused"]
    alice.refused(409, "DELETE", at, {"name": "assistant@v1"})
    assert dataset.items.count() == 1
