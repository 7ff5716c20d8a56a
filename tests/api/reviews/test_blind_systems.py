"""What a blind rater learns from the API, at the terminal and in files of who answered: nothing."""

import json
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from rubricweb.models import ReviewQueue, SystemVersion, User
from rubricweb.selectors.reviews.queue_plans import growing_queues
from rubricweb.selectors.reviews.queue_sources import Source
from rubricweb.services import comments
from rubricweb.services.datasets.answers import add_answers
from rubricweb.services.reviews import calibration, queues
from tests import factories
from tests.api.client import ApiClient, text_of
from tests.api.conftest import World
from tests.api.test_blinding import everything_readable, written
from tests.factories import Cast
from tests.worlds.blinding.two_systems import CRITERIA, row, systems_world
from tests.worlds.blinding.two_worlds import in_both_worlds, told_apart
from tests.worlds.sampled import label
from tests.worlds.systems import Versions, answer, versions

ASKED = (
    "?search=v4",
    "?search=c1-by-v3",
    "?sort=key",
    "?sort=-key",
    "?where=build%3Dv4",
    "?where=language%3Den",
)


def told(people: Cast, client: ApiClient, *, swapped: bool, only: Any = ()) -> dict[str, str]:
    """Everything the API tells of the answers to c1: run, answer and operation → its words."""
    world = systems_world(people, swapped=swapped)
    found: dict[str, str] = {}
    asked: set[str] = set()
    for run in world.runs:
        for item in (world.draft.item, world.beside):
            one = World(world.version, world.dataset, run, world.queue)
            answers = everything_readable(client, one, world.draft.pk, [item.key], only=only, asked=asked)
            found |= {
                f"{run} {item.submission} {place.replace(item.key, '')}": text
                for place, text in answers.items()
            }
    at = f"/datasets/{world.dataset.pk}/items"
    found |= {asked: text_of(client.call("GET", f"{at}{asked}")) for asked in ASKED}
    draft, queue = f"/reviews/{world.draft.pk}", f"/queues/{world.queue.pk}"
    capital = world.version.criteria.get()
    for method, path, body in (
        ("PATCH", draft, {"note": "x"}),
        ("PUT", f"{draft}/criteria/{capital.pk}", {"verdict": "MET"}),
        ("POST", f"{draft}/ahead", None),
        ("POST", f"{queue}/next", None),
        ("POST", f"{queue}/items/{world.draft.item_id}/start", None),
        ("POST", f"{queue}/items/{world.beside.pk}/start", None),
    ):
        found[f"{method} {path}"] = text_of(client.call(method, path, body))
    new = {"dataset_id": world.dataset.pk, "rubric_version_id": world.version.pk, "judge": "offline"}
    both = [world.draft.item_id, world.beside.pk]
    chosen = [{"item_ids": ids} for ids in (both, both[:1], both[1:])] + [{"sample": n} for n in (1, 3)]
    of_versions = [
        choice | {"systems": [f"assistant@{label}"]} for choice in [{}, *chosen] for label in ("v3", "v4")
    ]
    return found | written(client, new, [*chosen, *of_versions])


def test_no_answer_tells_a_blind_rater_who_answered(people: Cast, as_member: Any) -> None:
    """Two worlds that differ in which version gave which of two answers, one still to review."""
    alice = as_member(people.alice)
    found = in_both_worlds(lambda swapped: told(people, alice, swapped=swapped), at=timezone.now())
    differing = told_apart(*found)
    assert not differing, "\n".join(differing)


def test_who_does_not_rate_is_told_who_answered(people: Cast, as_member: Any) -> None:
    ed = as_member(people.ed)
    only = ["get_item", "list_items"]
    found = in_both_worlds(lambda swapped: told(people, ed, swapped=swapped, only=only), at=timezone.now())
    differing = "\n".join(told_apart(*found))
    for place in (
        "get_item",
        "list_items",
        "?search=v4",
        "?where=build%3Dv4",
        "POST /runs/plan",
        "POST /runs ",
    ):
        assert place in differing, place


def test_names_return_once_the_last_answer_to_the_case_is_submitted(people: Cast, as_member: Any) -> None:
    world, alice = systems_world(people, swapped=False), as_member(people.alice)
    items = [f"/items/{pk}" for pk in (world.draft.item_id, world.beside.pk)]
    names = [(one["key"], one["case_key"], one["system"], one["metadata"]) for one in map(alice.get, items)]
    assert names == [(None, None, None, {})] * 2
    # The answers to c2 are both submitted.
    done = alice.get(f"/items/{world.dataset.items.get(submission='c2 in other words').pk}")
    assert (done["key"], done["case_key"], done["system"]) == ("c2-by-v4", "c2", "assistant@v4")
    alice.send(
        "PUT", f"/reviews/{world.draft.pk}/criteria/{world.version.criteria.get().pk}", {"verdict": "MET"}
    )
    alice.send("POST", f"/reviews/{world.draft.pk}/submit")
    shown = [alice.get(item) for item in items]
    assert [one["key"] for one in shown] == ["c1-by-v4", "c1-by-v3"]
    assert [one["metadata"]["build"] for one in shown] == ["v4", "v3"]


@pytest.mark.parametrize("name", ["c1-by-v3", "c1-by-v4"])
def test_no_key_finds_an_item_for_a_blind_rater_at_the_terminal(
    people: Cast, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    from tests.commands.terminal import terminal_of

    systems_world(people, swapped=False)
    blind, other = (terminal_of(people.team, who, capsys) for who in (people.alice, people.ed))
    assert f"There is no item '{name}'" in blind("comments", "list", name).err
    assert other("comments", "list", name).code == 0


def test_no_command_or_bundle_tells_a_blind_rater_who_answered(
    people: Cast, capsys: pytest.CaptureFixture[str], as_member: Any
) -> None:
    from tests.commands.terminal import terminal_of

    terminal = terminal_of(people.team, people.alice, capsys)

    def said(swapped: bool) -> dict[str, str]:
        world = systems_world(people, swapped=swapped)
        commands: list[tuple[Any, ...]] = [
            *(("datasets", "items", "questions", *form) for form in ((), ("--json",), ("--search", "v4"))),
            *(("queues", what, *form) for what in ("list",) for form in ((), ("--json",))),
            *(("queues", "show", "Blind", *form) for form in ((), ("--json",))),
            ("comments", "list", f"id:{world.draft.item_id}"),
            ("comments", "list", f"id:{world.beside.pk}"),
            ("audit-log", "--limit", "500"),
            ("audit-log", "--limit", "500", "--json"),
            *(("runs", "show", run.pk, *form) for run in world.runs for form in ((), ("--json",))),
            *(
                ("export", "--what", what, "--format", form, "--dataset", "questions", "--queue", "Shared")
                for what, form in (("verdicts", "csv"), ("ground_truth", "jsonl"), ("bundle", "zip"))
            ),
        ]
        found = {}
        for command in commands:
            ended = terminal(*command)
            found[json.dumps(command)] = f"{ended.code} {ended.out} {ended.err}"
        return found

    found = in_both_worlds(said, at=timezone.now())
    assert not told_apart(*found), "\n".join(told_apart(*found))
    assert "0 " in found[0][json.dumps(("datasets", "items", "questions"))]


def test_board_audit_log_and_inbox_of_the_other_answers_name_none_of_them(
    people: Cast, capsys: pytest.CaptureFixture[str], as_member: Any, sign_in: Any
) -> None:
    """alice reviews one answer to each case, of either version: who gave the others tells who gave
    hers.
    """
    from tests.commands.terminal import terminal_of

    gave = {"c1": ("v3", "v4"), "c2": ("v4", "v3")}
    items = [
        row(case, which, version)
        for case, versions in gave.items()
        for which, version in zip(("mine", "other"), versions, strict=True)
    ]
    dataset = factories.dataset(people.team, people.ed, items=items, name="questions")
    version = factories.version(people.team, people.ed, criteria=CRITERIA)
    answers = {
        name: tuple(dataset.items.filter(submission__endswith=name).values_list("pk", flat=True))
        for name in ("mine", "other")
    }
    mine, others = (
        factories.queue(
            people.team,
            people.ed,
            dataset=dataset,
            rubric_version=version,
            raters=raters,
            raters_per_item=len(raters),
            name=name,
            source=Source(kind="items", item_ids=answers[name]),
        )
        for name, raters in (("mine", [people.alice]), ("other", [people.ann, people.rae]))
    )
    label(others, people.ann, 2, lambda item, name: "MET")
    label(others, people.rae, 2, lambda item, name: "UNMET")
    for key in ("c1-by-v4", "c2-by-v3"):
        comments.write(dataset.items.get(key=key), by=people.ed, text="Too short.")
    board = reverse("queue_agreement", args=[people.team.slug, others.pk])

    def told(who: User) -> tuple[int, list[str], list[str | None], list[str]]:
        client, terminal = as_member(who), terminal_of(people.team, who, capsys)
        shown = client.call("GET", f"/queues/{others.pk}/agreement")
        commands = [("agreement", others.pk), ("audit-log", "--kind", "item"), ("adjudication", "list")]
        commands += [("adjudication", "show", f"id:{pk}", "kind") for pk in answers["other"]]
        printed = [terminal(*command) for command in commands]
        return (
            shown.status_code,
            [one["label"] for one in client.get("/audit-log", kind="item")["items"]],
            [one["item_key"] for one in client.get("/adjudication")["items"]],
            [
                text_of(shown),
                sign_in(who).get(board, {"format": "csv"}).content.decode(),
                *(one.out + one.err for one in printed),
            ],
        )

    status, labels, listed, texts = told(people.alice)
    assert (status, labels, listed) == (403, [], [])
    assert not [text for text in texts if "-by-v" in text]
    label(mine, people.alice, 2, lambda item, name: "MET")
    for who in (people.alice, people.ed):
        status, labels, listed, texts = told(who)
        assert (status, labels) == (200, ["c2-by-v3", "c1-by-v4"])
        assert sorted(map(str, listed)) == ["c1-by-v4", "c2-by-v3"]
        assert all("c1-by-v4" in text for text in texts[:5])


def test_no_version_of_the_dataset_tells_whose_answers_came_with_it(
    people: Cast, as_member: Any, sign_in: Any
) -> None:
    dataset = factories.dataset(people.team, people.ed, items=[answer("v3", "c1")], name="questions")
    file = json.dumps({"case_id": "c1", "submission": "v4 c1"}).encode()
    add_answers(dataset, by=people.ed, data=file, filename="v4.jsonl", system="assistant@v4")
    version = factories.version(people.team, people.ed, criteria=CRITERIA)
    queue = factories.queue(
        people.team, people.ed, dataset=dataset, rubric_version=version, raters=[people.ann]
    )
    page, at = reverse("dataset", args=[people.team.slug, dataset.pk]), f"/datasets/{dataset.pk}"

    def told(who: User) -> tuple[list[str], list[Any], list[str], bool, bool, list[Any]]:
        client = as_member(who)
        audit_log = client.get("/audit-log", kind="dataset")
        return (
            [one["note"] for one in client.get(f"{at}/versions")],
            [client.get(f"/items/{item.pk}")["added_in"] for item in dataset.items.order_by("pk")],
            [one["excerpt"] for one in client.get(f"{at}/items", version="1")["items"]],
            "v4.jsonl" in sign_in(who).get(page).content.decode(),
            "v4.jsonl" in json.dumps(audit_log),
            [one["detail"].get("new_systems") for one in audit_log["items"]],
        )

    assert told(people.ann) == (["", ""], [None, None], [], False, False, [None, None])
    came = [["assistant@v4"], ["assistant@v3"]]
    known = (["v4.jsonl", "items.jsonl"], [1, 2], ["v3 c1"], True, True, came)
    assert told(people.ed) == known
    queues.close_queue(queue, by=people.ed)
    assert told(people.ann) == known


def with_known_labels(world: Versions, name: str, rater: User, *labels: str) -> ReviewQueue:
    """A blind queue for one person over the answers of these versions, whose labels are all settled."""
    systems = [SystemVersion.objects.get(label=label) for label in labels]
    return world.queue(raters=[rater], systems=systems, name=name)


def settle(world: Versions) -> None:
    lines = [
        f"{item.key},{name},ground truth,MET,"
        for item in world.dataset.items.all()
        for name in world.rubric_version.criteria.values_list("name", flat=True)
    ]
    data = "\n".join(["item_id,criterion,rater,verdict,reason", *lines]).encode()
    factories.import_labels(
        world.dataset, world.rubric_version, by=world.people.ed, data=data, filename="settled.csv"
    )


def test_gold_items_do_not_tell_an_editor_who_rates_elsewhere_who_answered(
    people: Cast, as_member: Any, capsys: pytest.CaptureFixture[str], sign_in
) -> None:
    # Whole commands are imported here alone, as above.
    from tests.commands.terminal import terminal_of

    world = versions(people)
    settle(world)
    queue = with_known_labels(world, "With gold", people.ann, "v3", "v4")
    items = world.dataset.items.filter(key__startswith="c1@").order_by("pk")
    calibration.mark_gold(queue, by=people.ed, item_ids=[item.pk for item in items])
    elsewhere = with_known_labels(world, "Elsewhere", people.ed, "v3", "v4")
    path = f"/queues/{queue.pk}/gold"
    assert [one["key"] for one in as_member(people.ed).get(path)["items"]] == [None, None]
    told = terminal_of(people.team, people.ed, capsys)("gold", "show", str(queue.pk)).out
    assert f"named id:{items[0].pk}, id:{items[1].pk}" in " ".join(told.split())
    page = sign_in(people.ed).post(
        reverse("queue_gold_mark", args=[people.team.slug, queue.pk]), {"keys": "c2@assistant@v3"}
    )
    assert "Not in With gold: c2@assistant@v3." in page.content.decode()
    queues.close_queue(elsewhere, by=people.alice)
    keys = ["c1@assistant@v3", "c1@assistant@v4"]
    assert [one["key"] for one in as_member(people.ed).get(path)["items"]] == keys


def test_nothing_an_editor_may_do_to_some_answers_tells_who_gave_those_they_review_blind(
    people: Cast, as_member: Any
) -> None:
    world = versions(people)
    settle(world)
    first, second = world.dataset.items.filter(key__startswith="c1@").order_by("pk")
    gold = with_known_labels(world, "With gold", people.ann, "v3")
    calibration.mark_gold(gold, by=people.ed, item_ids=[first.pk])
    elsewhere = with_known_labels(world, "Elsewhere", people.ed, "v3", "v4")
    ed, at = as_member(people.ed), f"/datasets/{world.dataset.pk}"
    one_version = {
        "name": "Of v4",
        "dataset_id": world.dataset.pk,
        "rubric_version_id": world.rubric_version.pk,
        "raters": ["ann"],
        "systems": ["assistant@v4"],
    }
    asked: list[tuple[str, str, dict[str, Any] | None]] = [
        ("POST", "/queues", one_version),
        ("DELETE", f"/queues/{gold.pk}/gold/{first.pk}", None),
    ]
    for item in (first, second):
        asked += [
            ("POST", f"{at}/retire", {"item_ids": [item.pk], "plan": True}),
            ("POST", f"{at}/retire", {"item_ids": [item.pk]}),
            ("POST", f"{at}/restore", {"item_ids": [item.pk], "plan": True}),
            ("PATCH", f"/items/{item.pk}", {"submission": "x", "plan": True}),
            ("PATCH", f"/items/{item.pk}", {"submission": "x"}),
            ("POST", f"/queues/{gold.pk}/gold", {"item_ids": [item.pk]}),
        ]
    for method, path, body in asked:
        assert ed.call(method, path, body).status_code == 403, (method, path, body)
    assert {one["attempt"] for one in ed.get(f"{at}/items")["items"]} == {None}
    assert ed.get(f"/queues/{gold.pk}/gold")["items"] == []
    [(new, foreign)] = [
        (row.new, row.foreign)
        for row in growing_queues(world.dataset, [second.pk], people.ed)
        if row.queue == gold
    ]
    assert (new, foreign) == (None, None)
    queues.close_queue(elsewhere, by=people.alice)
    assert {one["attempt"] for one in ed.get(f"{at}/items")["items"]} == {1}
    assert [one["id"] for one in ed.get(f"/queues/{gold.pk}/gold")["items"]] == [first.pk]
    assert ed.send("POST", f"{at}/retire", {"item_ids": [second.pk], "plan": True})["items"] == 1


def test_ones_own_calibration_names_an_answer_though_one_waits_in_a_queue_that_cannot_hide_its_version(
    people: Cast, as_member: Any
) -> None:
    world = versions(people)
    settle(world)
    queue = with_known_labels(world, "First", people.ann, "v3")
    with_known_labels(world, "Second", people.ann, "v4")
    calibration.mark_gold(queue, by=people.ed, item_ids=[world.dataset.items.get(key="c1@assistant@v3").pk])
    calibration.set_rules(queue, by=people.ed, calibration_items=1, pass_mark=None, extra_rater_below=None)
    ann = as_member(people.ann)
    draft = ann.send("POST", f"/queues/{queue.pk}/next")
    for one in draft["criteria"]:
        verdict = f"/reviews/{draft['id']}/criteria/{one['criterion']['id']}"
        ann.send("PUT", verdict, {"verdict": "MET"})
    ann.send("POST", f"/reviews/{draft['id']}/submit")
    told = ann.get(f"/queues/{queue.pk}/calibration")
    assert {one["item"]["key"] for one in told["answers"]} == {"c1@assistant@v3"}
