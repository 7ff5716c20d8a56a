"""Existing labels through the API and at the terminal: the same object, the same refusals."""

import json
from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from rubricweb.api.rubrics.label_schemas import LabelChange
from rubricweb.models import Dataset, ReviewQueue, RubricVersion, User
from tests import factories
from tests.api.client import ApiClient
from tests.commands.terminal import Terminal, terminal_of
from tests.factories import Cast
from tests.worlds.versions import CRITERIA, NAMES, counting, graded, label


@pytest.fixture
def ed(people: Cast, as_member: Callable[[User], ApiClient]) -> ApiClient:
    return as_member(people.ed)


@pytest.fixture
def at_terminal(people: Cast, capsys: pytest.CaptureFixture[str]) -> Callable[[User], Terminal]:
    return lambda user: terminal_of(people.team, user, capsys)


@pytest.fixture
def first(people: Cast) -> RubricVersion:
    return factories.version(people.team, people.ed, criteria=CRITERIA)


@pytest.fixture
def queue(people: Cast, first: RubricVersion) -> ReviewQueue:
    dataset: Dataset = factories.dataset(people.team, people.ed)
    return label(people, dataset, first, "first")


def reworded(ed: ApiClient, first: RubricVersion) -> str:
    """A draft that asks two criteria in other words; the path of the rubric."""
    path = f"/rubrics/{first.rubric_id}"
    draft = ed.get(path)["draft"]
    draft["criteria"][0]["requirement"] = "Names Paris as the capital of France."
    draft["criteria"][1]["requirement"] = "Is at most two short sentences."
    ed.send("PUT", f"{path}/draft", {"revision": 0, "draft": draft})
    return path


def test_what_stands_on_the_words_before_is_said_and_decided_at_publication(
    people: Cast, ed: ApiClient, first: RubricVersion, queue: ReviewQueue
) -> None:
    graded(people, queue.dataset, first)
    path = reworded(ed, first)
    found = ed.get(f"{path}/label-changes")
    assert (found["waiting"], found["regrading_calls"]) == (2, 6)
    capital, concise = found["changes"]
    assert (capital["name"], capital["labels"], capital["criterion_id"]) == ("capital", 6, None)
    stale = {"revision": 0, "label_decisions": {capital["uid"]: {"kind": "carry"}}}
    ed.refused(409, "POST", f"{path}/publish", stale)
    body = {"revision": 1, "label_decisions": {capital["uid"]: {"kind": "carry", "reason": "The same."}}}
    version = ed.send("POST", f"{path}/publish", body)
    second = RubricVersion.objects.get(pk=version["id"])
    assert [one["uid"] for one in version["criteria"]] == list(first.criteria.values_list("uid", flat=True))
    assert counting(queue, second) == NAMES - {"concise"}
    decided = ed.get(f"/rubric-versions/{second.pk}/label-changes")
    assert decided["waiting"] == 1
    assert decided["changes"][0]["decision"]["kind"] == "carry"
    assert decided["changes"][0]["decision"]["decided_by"] == "ed"
    here, about = f"/rubric-versions/{second.pk}/label-decisions", {"uid": concise["uid"]}
    done = ed.send("PUT", here, about | {"kind": "carry"})
    assert done["decision"]["evidence"] == {"labels": 6, "reviews": 6, "decisions": 0}
    ed.refused(409, "PUT", here, about | {"kind": "later"})
    ed.send("PUT", here, about | {"kind": "later", "seen": done["decision"]["id"]})
    assert counting(queue, second) == NAMES - {"concise"}


def test_a_criterion_put_back_without_its_id_is_asked_about_or_has_its_labels(
    ed: ApiClient, first: RubricVersion, queue: ReviewQueue
) -> None:
    path = f"/rubrics/{first.rubric_id}"

    def save(*criteria: object) -> None:
        found = ed.get(path)
        draft = {"title": found["title"], "criteria": list(criteria)}
        ed.send("PUT", f"{path}/draft", {"revision": found["draft_revision"], "draft": draft})

    capital, *others = CRITERIA
    save(*others)
    ed.send("POST", f"{path}/publish", {})
    save({**capital, "requirement": "Names Paris as the capital of France."}, *others)
    [asked] = ed.get(f"{path}/label-changes")["changes"]
    assert (asked["name"], asked["labels"]) == ("capital", 6)
    save(*CRITERIA)
    assert ed.get(f"{path}/label-changes")["changes"] == []
    third = ed.send("POST", f"{path}/publish", {})
    assert counting(queue, RubricVersion.objects.get(pk=third["id"])) == NAMES


def test_a_decision_about_what_was_not_reworded_is_refused_with_its_place(
    ed: ApiClient, first: RubricVersion, queue: ReviewQueue
) -> None:
    path = reworded(ed, first)
    third = first.criteria.get(name="wrong_country").uid
    problem = ed.refused(422, "POST", f"{path}/publish", {"label_decisions": {third: {"kind": "carry"}}})
    assert problem["faults"][0]["place"] == f"decisions.{third}"
    assert len(ed.get(f"{path}/versions")["items"]) == 1


def test_the_terminal_lists_and_decides_the_same(
    people: Cast,
    ed: ApiClient,
    first: RubricVersion,
    queue: ReviewQueue,
    at_terminal: Callable[[User], Terminal],
) -> None:
    path = reworded(ed, first)
    version = ed.send("POST", f"{path}/publish")
    run = at_terminal(people.ed)
    listed = run("labels", "changes", f"id:{version['id']}", "--json")
    printed = [json.loads(line) for line in listed.out.splitlines()]
    assert printed == ed.get(f"/rubric-versions/{version['id']}/label-changes")["changes"]
    assert all(set(one) == set(LabelChange.model_fields) for one in printed)
    table = run("labels", "changes", f"id:{version['id']}")
    assert "waits" in table.out
    done = run("labels", "decide", f"id:{version['id']}", "capital", "carry", "--reason", "The same.")
    assert (done.code, done.err) == (0, "capital: carry, 6 labels.\n")
    second = RubricVersion.objects.get(pk=version["id"])
    assert counting(queue, second) == NAMES - {"concise"}
    unknown = run("labels", "decide", f"id:{version['id']}", "wrong_country", "carry")
    assert unknown.code != 0
    assert "'wrong_country', which Capitals v2 does not ask in other words" in unknown.err
    viewer = at_terminal(people.bob)("labels", "decide", f"id:{version['id']}", "concise", "carry")
    assert viewer.code != 0
    assert counting(queue, second) == NAMES - {"concise"}


def test_who_is_still_to_review_blind_learns_of_no_label(
    people: Cast,
    sign_in: Callable[..., Client],
    as_member: Callable[[User], ApiClient],
    ed: ApiClient,
    first: RubricVersion,
    queue: ReviewQueue,
) -> None:
    path = reworded(ed, first)
    raters = [people.ed]
    factories.queue(people.team, people.alice, dataset=queue.dataset, rubric_version=first, raters=raters)

    def page(user: User, name: str, *args: object) -> str:
        address = reverse(name, args=[people.team.slug, first.rubric_id, *args])
        return " ".join(sign_in(user).get(address).content.decode().split())

    seen = page(people.ed, "rubric_publish")
    assert "Labels of items you are still to review blind are not counted here." in seen
    assert "No labels you may know of were given to the words before." in seen
    assert "6 labels" not in seen
    assert "6 labels" in page(people.alice, "rubric_publish")
    assert {one["labels"] for one in ed.get(f"{path}/label-changes")["changes"]} == {0}
    version = ed.send("POST", f"{path}/publish")
    assert "6 labels" not in page(people.ed, "rubric_version", 2)
    here = f"/rubric-versions/{version['id']}"
    [capital, _] = ed.get(f"{here}/label-changes")["changes"]
    assert (capital["labels"], capital["reviews"]) == (0, 0)
    done = ed.send("PUT", f"{here}/label-decisions", {"uid": capital["uid"], "kind": "probe"})
    assert (done["labels"], done["reviews"]) == (0, 0)
    # Nor by what was written down when it was decided, until nothing waits for them.
    assert done["decision"]["evidence"] == {"labels": None, "reviews": None, "decisions": None}
    assert '<td data-label="Labels before">withheld</td>' in page(people.ed, "rubric")
    noted = ed.get("/audit-log")["items"][0]
    assert noted["detail"] == {"criterion": "capital", "decision": "probe"}
    assert '<td data-label="Labels before">6</td>' in page(people.alice, "rubric")
    seen_by_alice = as_member(people.alice).get(f"{here}/label-changes")["changes"][0]
    assert seen_by_alice["labels"] == 6
    assert seen_by_alice["decision"]["evidence"] == {"labels": 6, "reviews": 6, "decisions": 0}


@pytest.fixture
def by_members(people: Cast, first: RubricVersion) -> ReviewQueue:
    """Three items labelled by ann and rae, who are members."""
    dataset = factories.dataset(people.team, people.ed)
    lines = [
        {"item_id": item.key, "criterion": one.name, "rater": rater, "verdict": verdict}
        for item in dataset.items.all()
        for one in first.criteria.all()
        for verdict in ["plain" if one.kind == "choice" else "MET"]
        for rater in ("ann", "rae")
    ]
    data = "\n".join(map(json.dumps, lines)).encode()
    return factories.import_labels(dataset, first, by=people.ed, data=data, filename="labels.jsonl")


def test_queues_of_decisions_are_opened_once_and_followed(
    people: Cast,
    ed: ApiClient,
    as_member: Callable[[User], ApiClient],
    first: RubricVersion,
    by_members: ReviewQueue,
) -> None:
    path = reworded(ed, first)
    [capital, concise] = ed.get(f"{path}/label-changes")["changes"]
    asked = {"kind": "probe", "queue": {"size": 4}}
    body = {"revision": 1, "label_decisions": {capital["uid"]: asked}}
    problem = ed.refused(422, "POST", f"{path}/publish", body)
    assert problem["faults"][0]["place"] == f"decisions.{capital['uid']}.queue.size"
    assert problem["faults"][0]["allowed"] == "1 to 3: so many have labels under the words before"
    assert len(ed.get(f"{path}/versions")["items"]) == 1
    asked["queue"] = {"size": 3, "seed": 9, "raters": ["rae", "nobody"]}
    problem = ed.refused(422, "POST", f"{path}/publish", body)
    assert problem["faults"][0]["place"] == f"label_decisions.{capital['uid']}.queue.raters[1]"
    asked["queue"] = {"size": 3, "seed": 9, "raters": ["rae"]}
    version = ed.send("POST", f"{path}/publish", body)
    here = f"/rubric-versions/{version['id']}"
    [probed, waiting] = ed.get(f"{here}/label-changes")["changes"]
    assert [(one["items"], one["wanted"], one["submitted"]) for one in probed["queues"]] == [(3, 3, 0)]
    assert (probed["probe"]["asked"], probed["probe"]["answered"], probed["probe"]["seed"]) == (3, 0, 9)
    assert probed["probe"]["agreement"]["value"] is None
    assert ed.get(f"/queues/{probed['queues'][0]['id']}")["blind"] == "self"
    assert (waiting["queues"], waiting["probe"]) == ([], None)
    # Who is asked sees how far it is, and no figure.
    rae = as_member(people.rae).get(f"{here}/label-changes")["changes"][0]["probe"]
    assert (rae["withheld"], rae["usual"]["value"], probed["probe"]["withheld"]) == (True, None, False)

    decided = ed.send("PUT", f"{here}/label-decisions", {"uid": concise["uid"], "kind": "label_again"})
    assert decided["queues"] == []
    opening = {"uid": concise["uid"], "seen": decided["decision"]["id"]}
    for user in (people.bob, people.ann, people.rae):
        as_member(user).refused(403, "POST", f"{here}/label-queues", opening)
    ed.refused(409, "POST", f"{here}/label-queues", opening | {"seen": decided["decision"]["id"] - 1})
    ed.refused(422, "POST", f"{here}/label-queues", opening | {"size": 3})
    ed.refused(422, "POST", f"{here}/label-queues", opening | {"raters": ["bob", "ann"]})
    first_time, second_time = (ed.send("POST", f"{here}/label-queues", opening) for _ in range(2))
    assert first_time == second_time
    assert [(one["items"], one["wanted"]) for one in first_time["queues"]] == [(3, 6)]

    # Carried, nobody needs the probe any more: its queue is closed, and the answer says which.
    carrying = {"uid": capital["uid"], "kind": "carry", "seen": probed["decision"]["id"]}
    carried = ed.send("PUT", f"{here}/label-decisions", carrying)
    assert [(one["name"], one["state"]) for one in carried["closed"]] == [("Probe: capital (v2)", "closed")]
    ed.refused(422, "POST", f"{here}/label-queues", opening | {"raters_per_item": 0})


def test_the_terminal_opens_the_same_queues(
    people: Cast,
    ed: ApiClient,
    first: RubricVersion,
    by_members: ReviewQueue,
    at_terminal: Callable[[User], Terminal],
) -> None:
    version = ed.send("POST", f"{reworded(ed, first)}/publish")
    named, run = f"id:{version['id']}", at_terminal(people.ed)
    none = run("labels", "open-queue", named, "capital")
    assert none.code != 0
    assert "Nothing is decided about capital yet" in none.err
    lone = run("labels", "decide", named, "capital", "probe", "--size", "3")
    assert lone.code != 0
    assert "allowed: these with --open-queue" in lone.err
    many = run("labels", "decide", named, "capital", "probe", "--open-queue")
    assert "a probe of 12 items" in many.err
    done = run("labels", "decide", named, "capital", "probe", "--open-queue", "--size", "3", "--seed", "9")
    assert "Probe: capital (v2): 0 of 3 reviews." in done.err
    assert "0 of 3 answered so far" in done.err
    again = run("labels", "open-queue", named, "capital", "--json")
    assert json.loads(again.out) == ed.get(f"/rubric-versions/{version['id']}/label-changes")["changes"][0]
    assert ReviewQueue.objects.filter(label_decision__isnull=False).count() == 1
    listed = run("labels", "changes", named)
    assert "0 of 3" in listed.out
    one_each = ("label_again", "--open-queue", "--raters-per-item", "1")
    replaced = run("labels", "decide", named, "capital", *one_each)
    assert "Closed queue" in replaced.err
    assert "Probe: capital (v2), of the decision before: 0 of 3 reviews." in replaced.err
    assert "Label again: capital (v2): 0 of 3 reviews." in replaced.err
    assert at_terminal(people.ann)("labels", "open-queue", named, "capital").code != 0
