"""Deleting for good by the API."""

from typing import Any

from django.utils import timezone

from rubricweb.models import JournalEntry, Judgement, ReviewQueue
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
