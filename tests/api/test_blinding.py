"""What a blind rater learns from the API before submitting: nothing, wherever they look."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from rubricweb.engine.formats import EXPORT_FORMATS
from rubricweb.engine.verdict import Verdict
from rubricweb.models import ACCEPTED, JournalEntry, ReviewQueue, Role, RubricVersion, Run
from rubricweb.selectors.blinding import hidden_items
from rubricweb.services import adjudications, comments
from rubricweb.services.datasets.splits import split_dataset
from rubricweb.services.reviews import queues
from rubricweb.services.shared.journal import record
from rubricweb.services.teams import retention
from tests import factories
from tests.api.client import ApiClient, operations, text_of
from tests.api.conftest import World, by_the_book
from tests.api.reviews.test_reviews import answer
from tests.api.test_access import address, request_for
from tests.factories import Cast
from tests.judging import InProcessJudge, grade
from tests.worlds.blinding.two_worlds import (
    CascadeWorld,
    cascade_world,
    copies_world,
    in_both_worlds,
    told_apart,
)
from tests.worlds.remembered import remembered

JUDGE_SAYS = "SECRET-OF-THE-JUDGE"
PEER_SAYS = "SECRET-OF-A-PEER"
DECIDED = "SECRET-DECISION"
WRITTEN = "SECRET-IN-A-COMMENT"
MARKERS = (JUDGE_SAYS, PEER_SAYS, DECIDED, WRITTEN)
READS = [(path, operation) for method, path, operation in operations() if method == "GET"]


@pytest.fixture
def blind(people: Cast, as_member, world: World) -> World:
    """alice, who may do everything, rates blind beside ed; judge, peer and adjudicator have had their say."""
    return remembered(("blind", world.run.pk), lambda: make_blind(people, as_member, world))


def make_blind(people: Cast, as_member, world: World) -> World:
    queue = factories.queue(
        people.team,
        people.ed,
        dataset=world.dataset,
        rubric_version=world.version,
        raters=[people.alice, people.ed],
        raters_per_item=2,
        run=world.run,
        name="Blind",
    )
    run = grade(
        factories.run(people.team, people.ed, dataset=world.dataset, rubric_version=world.version),
        InProcessJudge(
            lambda requirement, response: (
                '{"explanation": "'
                + JUDGE_SAYS
                + '", "criterion_status": "'
                + by_the_book(requirement, response)
                + '"}'
            )
        ),
    )
    queue.run = run
    queue.save()
    ed = as_member(people.ed)
    for _ in range(3):
        review = answer(ed, ed.send("POST", f"/queues/{queue.pk}/next"))
        for question in review["criteria"]:
            path = f"/reviews/{review['id']}/criteria/{question['criterion']['id']}"
            ed.send("PUT", path, {"verdict": "UNMET", "reason": PEER_SAYS})
        ed.send("POST", f"/reviews/{review['id']}/submit")
    for item in world.dataset.items.all():
        for criterion in world.version.criteria.all():
            adjudications.adjudicate(
                item,
                criterion,
                by=people.ed,
                verdict=Verdict.MET,
                cause="human_wrong",
                reason=DECIDED,
            )
        comments.write(item, by=people.ed, text=f"{WRITTEN} @alice")
    return World(world.version, world.dataset, run, queue)


def judge_ids(run: Run) -> dict[str, int]:
    """The version of its judge, by all names that operations have for one."""
    version = run.judge_version
    of_version = dict.fromkeys(("judge_version_id", "baseline_version_id"), version.pk if version else 0)
    return of_version | {"judge_id": version.judge_id if version else 0}


def everything_readable(
    client: ApiClient,
    world: World,
    review_id: int,
    keys: Sequence[str] = ("good", "bad", "empty-ish"),
    *,
    about: str = "",
    only: Sequence[str] = (),
    asked: set[str] | None = None,
) -> dict[str, str]:
    """Every GET operation, of each of these items where there is one, in every form: name → its answer.

    With `about`, the name of an id, those alone that are asked with it; with `only`, these operations alone.
    What was `asked` before is not asked again: it is added to, and may be that of an earlier call.
    """
    found: dict[str, str] = {}
    asked = set() if asked is None else asked
    import_id = factories.refused_import(world.dataset.team, world.dataset.created_by).pk
    for item in world.dataset.items.filter(key__in=keys):
        ids = {
            "rubric_id": world.version.rubric_id,
            "version_id": world.version.pk,
            "dataset_id": world.dataset.pk,
            "import_id": import_id,
            "combination_id": 0,
            "item_id": item.pk,
            "case_id": item.case_id,
            "run_id": world.run.pk,
            "baseline_id": getattr(world.dataset.runs.exclude(pk=world.run.pk).first(), "pk", 0),
            "queue_id": world.queue.pk,
            "rater_id": world.queue.raters.all()[0].pk,
            "review_id": review_id,
            "criterion_id": world.version.criteria.all()[0].pk,
            "comment_id": getattr(item.comments.first(), "pk", 0),
            "view_id": 0,
            "deletion_id": 0,
            "system_id": 0,
            "system_version_id": 0,
            "endpoint_id": 0,
            **judge_ids(world.run),
        }
        for path, operation in READS:
            if only and operation.operation_id not in only:
                continue
            for query in queries(operation, ids):
                if about and f"{about}}}" not in path and ids[about] not in query.values():
                    continue
                question = f"{address(path, ids)} {query}"
                if question in asked:
                    continue
                asked.add(question)
                response = client.call("GET", address(path, ids), query=query)
                found[f"{operation.operation_id} {item.key} {query}"] = text_of(response)
    return found


def written(
    client: ApiClient,
    new: dict[str, Any],
    choices: Sequence[dict[str, Any]],
    *,
    runs: Sequence[Run] = (),
    item_ids: Sequence[int] = (),
) -> dict[str, str]:
    """What planning and starting runs and launches as `new` with each of the `choices` answers, and resuming
    these runs, also for some items alone, and setting their budget: run, operation and body → its words.
    """
    asked = [
        ("", "POST", path, new | choice)
        for choice in choices
        for path in ("/runs/plan", "/runs", "/launches")
    ]
    again = [{"item_ids": [pk]} for pk in item_ids]
    for run in runs:
        # Last what changes the run, so that the others find it as it was.
        for body in (*again, {"error_kinds": ["timeout"]}, {"error_kinds": []}, {}):
            asked.append((f"{run} ", "POST", f"/runs/{run.pk}/resume", body))
        asked.append((f"{run} ", "PUT", f"/runs/{run.pk}/budget", {"budget_usd": 40.0}))
    return {
        f"{run}{method} {path} {body}": text_of(client.call(method, path, body))
        for run, method, path, body in asked
    }


def queries(operation: Any, ids: dict[str, int]) -> list[dict[str, Any]]:
    query = request_for(operation, ids).get("query", {})
    if operation.operation_id == "export":
        return [
            query | {"what": what, "format": form, "run": ids["run_id"]}
            for what in ("verdicts", "ground_truth")
            for form in EXPORT_FORMATS
        ]
    if operation.operation_id == "list_run_items":
        return [{"sort": sort} for sort in ("score", "-score", "position", "errors")]
    if operation.operation_id == "list_audit_log":
        return [{}, {"kind": "item"}, {"actor": "ed"}]
    if operation.operation_id == "list_to_adjudicate":
        cell = query | {"judged": "MET", "truth": "MET"}
        return [{}, query, query | {"include_decided": "true"}, {"cause": "human_wrong"}, cell]
    return [query]


def test_nothing_of_the_others_is_readable_before_submitting(people: Cast, as_member, blind: World) -> None:
    alice = as_member(people.alice)
    draft = alice.send("POST", f"/queues/{blind.queue.pk}/next")
    for place, text in everything_readable(alice, blind, draft["id"]).items():
        for marker in MARKERS:
            assert not factories.tells(text, marker), place
    # An answer to a write must not tell either.
    for question in draft["criteria"]:
        path = f"/reviews/{draft['id']}/criteria/{question['criterion']['id']}"
        response = alice.call("PUT", path, {"verdict": "MET"})
        assert not any(marker in text_of(response) for marker in MARKERS)


@pytest.fixture
def telling(people: Cast) -> World:
    """Two runs over a single item, whose score gives its verdicts away, and a blind queue of alice's."""
    version = factories.version(people.team, people.ed, criteria=factories.TELLING)
    dataset = factories.dataset(people.team, people.ed, items=factories.ITEMS[:1])
    judge = InProcessJudge(lambda requirement, response: "MET")
    _, run = (
        grade(factories.run(people.team, people.ed, dataset=dataset, rubric_version=version), judge)
        for _ in range(2)
    )
    queue = factories.queue(
        people.team, people.ed, dataset=dataset, rubric_version=version, raters=[people.alice]
    )
    return World(version, dataset, run, queue)


def test_no_figure_of_a_run_tells_the_score_of_an_item_still_to_review(
    people: Cast, as_member, telling: World
) -> None:
    alice = as_member(people.alice)
    draft = alice.send("POST", f"/queues/{telling.queue.pk}/next")
    for place, text in everything_readable(alice, telling, draft["id"]).items():
        assert not factories.tells(text, factories.TELLING_SCORE), place
    listed = alice.get("/runs")["items"]
    assert [(run["summary"], run["withheld"]) for run in listed] == [(None, True)] * 2
    run = alice.get(f"/runs/{telling.run.pk}")
    assert (run["score"]["value"], run["score"]["n"], run["hidden_items"]) == (None, 0, 1)
    answer(alice, draft)
    alice.send("POST", f"/reviews/{draft['id']}/submit")
    for reader in (alice, as_member(people.bob)):
        run = reader.get("/runs")["items"][0]
        assert str(run["summary"]["score"]["value"]).startswith(factories.TELLING_SCORE)
        assert not run["withheld"]


def test_items_still_to_review_are_left_out_or_withheld(people: Cast, as_member, blind: World) -> None:
    alice = as_member(people.alice)
    for path, asked in (
        (f"/runs/{blind.run.pk}/items", {}),
        ("/adjudication", {"run": blind.run.pk, "queue": blind.queue.pk}),
    ):
        found = alice.get(path, **asked)
        says = "3 items: you are still to review them blind"
        assert found["left_out"] == [{"why": "to_review_blind", "items": 3, "says": says}], path
        assert found["items"] == [], path
    comparison = alice.get(f"/runs/{blind.run.pk}/comparison", queue=blind.queue.pk)
    assert (comparison["hidden_items"], comparison["units"]) == (3, 0)
    assert [rate["met"] for rate in alice.get(f"/runs/{blind.run.pk}")["criteria"]] == [0, 0, 0]
    assert not [
        entry for entry in alice.get("/audit-log", limit=200)["items"] if entry["verb"] == "adjudicated"
    ]
    item = blind.dataset.items.get(key="good")
    problem = alice.refused(403, "GET", f"/runs/{blind.run.pk}/items/{item.pk}")
    assert problem["type"] == "urn:rubricweb:problem:withheld"
    query = {"what": "verdicts", "format": "csv", "dataset": blind.dataset.pk, "run": blind.run.pk}
    assert alice.refused(403, "GET", "/exports", query=query)["type"].endswith("withheld")


def test_how_many_units_all_agreed_on_is_not_told_a_blind_rater(
    people: Cast, as_member, blind: World
) -> None:
    record(people.team, people.ed, ACCEPTED, blind.queue, decisions=7)
    for reader, told in ((people.alice, None), (people.bob, 7)):
        [line] = [one for one in as_member(reader).get("/audit-log")["items"] if one["verb"] == ACCEPTED]
        assert line["detail"].get("decisions") == told


def test_deciding_tells_nothing_to_a_blind_rater(people: Cast, as_member, blind: World) -> None:
    item = blind.dataset.items.get(key="good")
    criterion = blind.version.criteria.all()[0]
    problem = as_member(people.alice).refused(
        403,
        "PUT",
        f"/items/{item.pk}/criteria/{criterion.pk}/adjudication",
        {"verdict": "MET", "cause": "judge_wrong"},
    )
    assert problem["type"] == "urn:rubricweb:problem:withheld"
    assert "UNMET" not in problem["detail"]


def test_who_is_to_review_blind_looks_at_no_names(people: Cast, as_member, blind: World) -> None:
    item, criterion = blind.dataset.items.get(key="good"), blind.version.criteria.all()[0]
    alice = as_member(people.alice)
    for path in (f"/items/{item.pk}/criteria/{criterion.pk}/adjudication", f"/items/{item.pk}/ground-truth"):
        assert alice.refused(403, "POST", f"{path}/names")["type"].endswith("withheld")
    assert not JournalEntry.objects.filter(verb="looked at the names on").exists()


def test_submitting_reveals_this_item_and_no_other(people: Cast, as_member, blind: World) -> None:
    alice = as_member(people.alice)
    draft = answer(alice, alice.send("POST", f"/queues/{blind.queue.pk}/next"))
    assert alice.refused(403, "GET", f"/reviews/{draft['id']}/reveal")["type"].endswith("withheld")
    alice.send("POST", f"/reviews/{draft['id']}/submit")
    reveal = alice.get(f"/reviews/{draft['id']}/reveal")
    for row in reveal["criteria"]:
        assert row["mine"] == "MET"
        said = {(answer["is_judge"], answer["reason"]) for answer in row["others"]}
        assert said == {(True, JUDGE_SAYS), (False, PEER_SAYS)}
        assert (row["decided"], row["by_adjudication"], row["disagrees"]) == ("MET", True, True)
    report = alice.get(f"/runs/{blind.run.pk}/items/{draft['item']['id']}")
    assert {verdict["reason"] for verdict in report["verdicts"]} == {JUDGE_SAYS}
    listed = [row["item_id"] for row in alice.get(f"/runs/{blind.run.pk}/items")["items"]]
    assert listed == [draft["item"]["id"]]
    for item in blind.dataset.items.exclude(pk=draft["item"]["id"]):
        alice.refused(403, "GET", f"/runs/{blind.run.pk}/items/{item.pk}")


def test_who_rates_nothing_sees_everything(people: Cast, as_member, blind: World) -> None:
    bob = as_member(people.bob)
    assert people.members[Role.VIEWER] == people.bob
    assert len(bob.get(f"/runs/{blind.run.pk}/items")["items"]) == 3
    query = {"what": "verdicts", "format": "jsonl", "dataset": blind.dataset.pk, "run": blind.run.pk}
    assert JUDGE_SAYS in text_of(bob.call("GET", "/exports", query=query))


def test_closing_the_queue_ends_the_blinding(people: Cast, as_member, blind: World) -> None:
    alice = as_member(people.alice)
    alice.send("POST", f"/queues/{blind.queue.pk}/close")
    assert len(alice.get(f"/runs/{blind.run.pk}/items")["items"]) == 3


@dataclass(frozen=True)
class Halves:
    """A labelled dataset and its two halves, each graded by a judge that tells its secret."""

    version: RubricVersion
    whole: Run
    dev: Run
    test: Run


@pytest.fixture
def halves(people: Cast) -> Halves:
    version = factories.version(people.team, people.ed)
    dataset = factories.dataset(people.team, people.ed)
    labels = "item_id,criterion,rater,verdict,reason\n" + "".join(
        f"{item.key},capital,{rater},MET,{PEER_SAYS}\n" for item in dataset.items.all() for rater in "xy"
    )
    factories.import_labels(dataset, version, by=people.ed, data=labels.encode(), filename="labels.csv")
    split = split_dataset(dataset, n_dev=1, by=people.ed)
    judge = InProcessJudge(
        lambda requirement, response: '{"explanation": "' + JUDGE_SAYS + '", "criterion_status": "MET"}'
    )
    whole, dev, test = (
        grade(factories.run(people.team, people.ed, dataset=one, rubric_version=version), judge)
        for one in (dataset, split.dev, split.test)
    )
    return Halves(version, whole, dev, test)


def blind_queue(people: Cast, halves: Halves, run: Run) -> ReviewQueue:
    return factories.queue(
        people.team,
        people.ed,
        dataset=run.dataset,
        rubric_version=halves.version,
        raters=[people.alice],
        name="Blind",
    )


def keys(client: ApiClient, run: Run) -> set[str]:
    """The items of a run whose reports this person can list, and open."""
    listed = {row["key"] for row in client.get(f"/runs/{run.pk}/items")["items"]}
    for item in run.dataset.items.all():
        path = f"/runs/{run.pk}/items/{item.pk}"
        if item.key in listed:
            assert JUDGE_SAYS in text_of(client.call("GET", path))
        else:
            assert client.refused(403, "GET", path)["type"].endswith("withheld")
    return listed


def test_who_rates_the_original_blind_reads_nothing_in_its_halves(
    people: Cast, as_member, halves: Halves
) -> None:
    alice = as_member(people.alice)
    everything = {run: keys(alice, run) for run in (halves.dev, halves.test)}
    assert sorted(len(found) for found in everything.values()) == [1, 2]
    queue = blind_queue(people, halves, halves.whole)
    for run in (halves.dev, halves.test):
        assert keys(alice, run) == set()
        query = {"what": "verdicts", "format": "wide", "dataset": run.dataset_id, "run": run.pk}
        assert alice.refused(403, "GET", "/exports", query=query)["type"].endswith("withheld")
        assert alice.get(f"/datasets/{run.dataset_id}")["split_report"] is None
    draft = answer(alice, alice.send("POST", f"/queues/{queue.pk}/next"))
    done = alice.send("POST", f"/reviews/{draft['id']}/submit")
    assert keys(alice, halves.dev) | keys(alice, halves.test) == {done["item"]["key"]}


def test_one_half_tells_nothing_of_labels_that_are_hidden_in_the_other(
    people: Cast, as_member, halves: Halves
) -> None:
    blind_queue(people, halves, halves.dev)
    told = ("split_report", "seal", "seal_salt")
    for run in (halves.dev, halves.test):
        path = f"/datasets/{run.dataset_id}"
        assert [as_member(people.alice).get(path)[name] for name in told] == [None, None, None]
        assert None not in [as_member(people.bob).get(path)[name] for name in told]
    whole = f"/datasets/{halves.whole.dataset_id}/seal"
    assert as_member(people.alice).refused(403, "POST", whole, {"n_dev": 2})["type"].endswith("withheld")


def test_who_rates_a_half_blind_reads_the_original_of_the_other_half_only(
    people: Cast, as_member, halves: Halves
) -> None:
    alice = as_member(people.alice)
    other_half = keys(alice, halves.test)
    blind_queue(people, halves, halves.dev)
    assert keys(alice, halves.dev) == set()
    assert keys(alice, halves.whole) == other_half
    assert keys(alice, halves.test) == other_half
    assert keys(as_member(people.bob), halves.whole) > other_half


def test_hidden_items_are_one_query_and_of_one_item_its_copies_are_found_by_their_words(
    people: Cast, halves: Halves, django_assert_num_queries
) -> None:
    blind_queue(people, halves, halves.whole)
    hidden = hidden_items(people.alice, people.team)
    with django_assert_num_queries(1):
        assert len(hidden) == 6
    if connection.vendor == "sqlite":
        plan = hidden_items(people.alice, people.team, item=halves.whole.dataset.items.all()[0].pk).explain()
        assert "USING INDEX item_content_hash" in plan
        assert "SCAN U" not in plan


# ── What a cascade asked tells what its first judge said ─────────────────────────────────────────


def cascade_answers(
    people: Cast, client: ApiClient, *, unsure: bool, only: Sequence[str] = ()
) -> dict[str, str]:
    """Everything the API, or `only` these operations, tell in one of the two worlds: operation and run →
    answer.
    """
    world = cascade_world(people, unsure=unsure)
    draft = queues.start_review(world.blind, world.dataset.items.get(key="empty-ish"), people.alice)
    found = {"plan": text_of(client.call("POST", "/runs/plan", new_run(world)))}
    asked: set[str] = set()
    for run in world.runs:
        one = World(world.version, world.dataset, run, world.blind)
        about = "" if run == world.cascade else "run_id"
        answers = everything_readable(
            client, one, draft.pk, ["empty-ish"], about=about, only=only, asked=asked
        )
        for place, text in answers.items():
            # Lines of all logs are numbered together, by the database.
            without_ids = re.sub(r'"id": ?\d+', "", text) if "list_run_events" in place else text
            found[f"{run} {place}"] = without_ids
    if not only or "write" in only:
        item_ids = list(world.dataset.items.values_list("pk", flat=True))
        choices = [{}, {"judge": "offline", "item_ids": item_ids[:1]}]
        found |= written(client, new_run(world), choices, runs=world.runs, item_ids=item_ids)
    people.team.keep_calls_days = 1
    retention.prune(people.team, now=timezone.now() + timedelta(days=2))
    found |= {path: text_of(client.call("GET", path)) for path in ("/audit-log", "/retention")}
    return found


# ── The same words elsewhere ─────────────────────────────────────────────────────────────────────


def copies_answers(people: Cast, client: ApiClient, *, met: bool, only: Sequence[str] = ()) -> dict[str, str]:
    """Everything the API, or `only` these operations, tell of words in several places: item and operation →
    answer.
    """
    world = copies_world(people, met=met)
    found: dict[str, str] = {}
    asked: set[str] = set()
    for run, item in world.places:
        one = World(world.version, item.dataset, run, world.queue)
        answers = everything_readable(client, one, world.draft.pk, [item.key], only=only, asked=asked)
        found |= {f"{item} {place}": text for place, text in answers.items()}
    return found


def test_no_answer_tells_a_blind_rater_what_was_said_of_the_same_words(people: Cast, as_member) -> None:
    """Two worlds that differ in one verdict on words still to review: in their queue, a second time in that
    dataset, and in a subset. The rater owns the team.
    """
    alice = as_member(people.alice)
    told = told_apart(*in_both_worlds(lambda met: copies_answers(people, alice, met=met), at=timezone.now()))
    assert not told, "\n".join(told)


def test_who_does_not_rate_is_told_what_was_said_of_the_same_words(people: Cast, as_member) -> None:
    ed = as_member(people.ed)
    found = in_both_worlds(
        lambda met: copies_answers(people, ed, met=met, only=["get_report"]), at=timezone.now()
    )
    told = told_apart(*found)
    for key in ("bad again", "of the subset"):
        assert [line for line in told if line.startswith(f"{key} get_report")], key


def new_run(world: CascadeWorld) -> dict[str, Any]:
    return {"dataset_id": world.dataset.pk, "rubric_version_id": world.version.pk, "judge": world.large}


def test_no_answer_tells_a_blind_rater_whether_a_cascade_went_on(people: Cast, as_member) -> None:
    """Two worlds that differ in a verdict on an item still to review, and in what was asked for its sake,
    answer the same: calls, cost, errors, the log, the month, what earlier answers were used again.
    """
    alice = as_member(people.alice)
    told = told_apart(*in_both_worlds(lambda unsure: cascade_answers(people, alice, unsure=unsure)))
    assert not told, "\n".join(told)


def test_who_does_not_rate_is_told_what_a_cascade_asked(people: Cast, as_member) -> None:
    ed = as_member(people.ed)
    only = ["get_run", "get_progress", "list_run_events", "list_runs", "get_spending", "write"]
    found = in_both_worlds(lambda unsure: cascade_answers(people, ed, unsure=unsure, only=only))
    places = [line.split(": ")[0] for line in told_apart(*found)]
    runs = ("Cascade", "Broken", "Paused", "Again")
    expected = [f"{run} {name}" for run in runs for name in ("get_run", "get_progress")]
    expected += ["plan", "Paused list_run_events", "Cascade list_runs", "Cascade get_spending", "/retention"]
    expected += ["Broken POST"]
    assert not [name for name in expected if not any(place.startswith(name) for place in places)]


def test_a_cascades_progress_is_withheld_but_for_items_until_one_has_reviewed(
    people: Cast, as_member
) -> None:
    world = cascade_world(people, unsure=True)
    alice, path = as_member(people.alice), f"/runs/{world.cascade.pk}/progress"
    seen = alice.get(path)
    assert (seen["withheld"], seen["graded"], seen["items"], seen["share"]) == (True, 3, 3, 1.0)
    untold = ("calls", "cached", "attempts", "prompt_tokens", "completion_tokens", "cost_usd", "unpriced")
    untold += ("held_usd",)
    assert {seen[name] for name in (*untold, "errors", "errored", "verdicts", "month_usd")} == {None}
    for _ in range(3):
        review = answer(alice, alice.send("POST", f"/queues/{world.blind.pk}/next"))
        alice.send("POST", f"/reviews/{review['id']}/submit")
    seen = alice.get(path)
    # Three criteria of three items; the first judge was unsure of all three criteria of two items.
    assert (seen["withheld"], seen["verdicts"], seen["calls"]) == (False, 9, 15)
    assert seen["cost_usd"] == pytest.approx(0.015)
