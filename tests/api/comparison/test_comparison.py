"""Judge against people through the API, and the files that are handed out."""

import csv
import io
import json

import pytest

from rubricweb.models import ReviewQueue
from rubricweb.selectors.reviews.queue_sources import Source
from tests import factories
from tests.api.client import ApiClient, text_of
from tests.api.conftest import World
from tests.api.reviews.test_reviews import answer
from tests.factories import ITEMS, Cast
from tests.judging import InProcessJudge, grade
from tests.worlds.attempts import labelled_by_two
from tests.worlds.remembered import remembered
from tests.worlds.sampled import graded, label, numbered, opened, three_worst
from tests.worlds.versions import changed, said


@pytest.fixture
def labelled(people: Cast, as_member, world: World) -> World:
    """ann says MET to everything, rae UNMET to the capital of the first item and MET otherwise."""
    return remembered(("labelled", world.run.pk, world.queue.pk), lambda: label_all(people, as_member, world))


def label_all(people: Cast, as_member, world: World) -> World:
    good = world.dataset.items.get(key="good")
    for rater in (people.ann, people.rae):
        client = as_member(rater)
        for _ in ITEMS:
            review = answer(client, client.send("POST", f"/queues/{world.queue.pk}/next"))
            if rater == people.rae and review["item"]["id"] == good.pk:
                path = f"/reviews/{review['id']}/criteria/{review['criteria'][0]['criterion']['id']}"
                client.send("PUT", path, {"verdict": "UNMET"})
            client.send("POST", f"/reviews/{review['id']}/submit")
    return world


@pytest.fixture
def bob(people: Cast, as_member) -> ApiClient:
    return as_member(people.bob)


def test_a_comparison_holds_the_judge_against_the_majority(bob: ApiClient, labelled: World) -> None:
    shown = bob.get(f"/runs/{labelled.run.pk}/comparison", queue=labelled.queue.pk)
    # Nine units, one tied. On the other eight people said MET, the judge on five of them:
    # good concise; bad capital, concise, wrong_country; empty-ish concise.
    assert (shown["units"], shown["undecided"], shown["judged"], shown["errors"]) == (8, 1, 8, 0)
    assert (shown["raters"], shown["coverage"], shown["queue_ids"]) == (2, 1.0, [labelled.queue.pk])
    assert (shown["items"], shown["ceiling"]["items"]) == (3, 3)
    assert shown["verdict"]["sentence"] == "This judge may be as good as a person. 3 items cannot tell."
    overall = shown["overall"]
    # Pooled by effect: wrong_country is a penalty, whose MET by people hurt on all three; the judge's on one.
    assert overall["confusion"] == {"met_met": 4, "met_unmet": 1, "unmet_met": 2, "unmet_unmet": 1}
    assert overall["accuracy"]["value"] == pytest.approx(5 / 8)
    assert overall["accuracy"]["n"] == 8
    assert set(overall["accuracy"]) == {"value", "low", "high", "n", "small", "reason"}
    assert overall["balanced_accuracy"]["value"] == pytest.approx((4 / 5 + 1 / 3) / 2)
    # Weights 10, 5 and −15: one capital missed, two errors not seen; the capital people are tied on is ½ to
    # them and MET to the judge. Of 3·10 + 3·5 + 3·15 in all.
    assert shown["bias"]["value"] == pytest.approx((-10 + 2 * 15 + 5) / 90)
    assert [row["bias"]["value"] for row in shown["criteria"]] == pytest.approx([-1 / 6, 0, 2 / 3])
    assert [(row["undecided"], row["tied_share"]) for row in shown["criteria"]] == [
        (1, 1 / 3),
        (0, 0),
        (0, 0),
    ]
    # By effect people help on 2½ of 3 capitals, 3 of concise and no error; the judge on 2, 3 and 2.
    assert shown["rates"]["people"]["value"] == pytest.approx(5.5 / 9)
    assert shown["rates"]["judge"]["value"] == pytest.approx(7 / 9)
    assert shown["criteria"][0]["rates"]["people"]["value"] == pytest.approx(2.5 / 3)
    assert shown["leaning"] in ("", "lenient")
    assert [row["criterion"]["name"] for row in shown["criteria"]] == ["capital", "concise", "wrong_country"]


def test_a_queue_to_compare_with_is_a_number(bob: ApiClient, labelled: World) -> None:
    path = f"/runs/{labelled.run.pk}/comparison"
    [fault] = bob.refused(422, "GET", path, query={"queue": "x"})["faults"]
    assert fault["place"] == "query.queue[0]"


def test_without_queues_those_with_labels_are_compared(bob: ApiClient, labelled: World) -> None:
    path = f"/runs/{labelled.run.pk}/comparison"
    assert bob.get(path) == bob.get(path, queue=labelled.queue.pk)


def test_a_run_that_nobody_labelled_is_answered_with_what_to_do(bob: ApiClient, world: World) -> None:
    shown = bob.get(f"/runs/{world.run.pk}/comparison")
    assert (shown["queue_ids"], shown["units"], shown["overall"]["n"]) == ([], 0, 0)
    assert shown["unavailable"]["code"] == "no_labels"


def test_disagreements_are_narrowed_and_decided(people: Cast, as_member, labelled: World) -> None:
    rae = as_member(people.rae)
    query = {"run": labelled.run.pk, "queue": labelled.queue.pk}
    rows = rae.get("/adjudication", **query)["items"]
    assert [row["kinds"] for row in rows] == [["people differ"]] + [["judge differs"]] * 3
    tied = rows[0]
    assert (tied["item_key"], tied["criterion"]["name"], tied["stands"]) == ("good", "capital", None)
    assert {(vote["verdict"], vote["count"]) for vote in tied["votes"]} == {("MET", 1), ("UNMET", 1)}
    assert len(rae.get("/adjudication", **query, kind="judge differs")["items"]) == 3
    cell = rae.get("/adjudication", **query, judged="UNMET", truth="MET")["items"]
    [fault] = [rae.refused(422, "GET", "/adjudication", query=query | {"judged": "MET"})["detail"]]
    assert fault == "A cell of the confusion matrix is named by run, judged and truth together."
    # Of all criteria together a cell goes by the effect: not the two errors that only people see.
    assert [row["criterion"]["name"] for row in cell] == ["capital"]
    assert len(rae.get("/adjudication", **query, criterion=tied["criterion"]["id"])["items"]) == 2

    path = f"/items/{tied['item_id']}/criteria/{tied['criterion']['id']}/adjudication"
    decision = {"verdict": "MET", "cause": "human_wrong", "reason": "It says so."}
    decided = rae.send("PUT", path, decision)
    assert (decided["decided_by"], decided["verdict"], decided["cause"]) == ("rae", "MET", "human_wrong")
    assert len(rae.get("/adjudication", **query)["items"]) == 3
    assert len(rae.get("/adjudication", **query, include_decided="true")["items"]) == 4


def test_deciding_against_the_majority_takes_a_reason(people: Cast, as_member, labelled: World) -> None:
    rae = as_member(people.rae)
    item = labelled.dataset.items.get(key="bad")
    criterion = labelled.version.criteria.get(name="capital")
    path = f"/items/{item.pk}/criteria/{criterion.pk}/adjudication"
    problem = rae.refused(422, "PUT", path, {"verdict": "UNMET", "cause": "human_wrong"})
    assert "reason" in problem["detail"]
    rae.send("PUT", path, {"verdict": "UNMET", "cause": "human_wrong", "reason": "It lies in France."})
    [fault] = rae.refused(422, "PUT", path, {"verdict": "MET", "cause": "mood"})["faults"]
    assert (fault["place"], "'rubric_unclear'" in fault["allowed"]) == ("cause", True)


def test_a_criterion_of_another_rubric_is_not_of_an_item_that_brings_its_own(
    people: Cast, as_member, labelled: World
) -> None:
    item = labelled.dataset.items.get(key="good")
    item.rubric_version = labelled.version
    item.save()
    rae = as_member(people.rae)
    rae.refused(
        404,
        "PUT",
        f"/items/{item.pk}/criteria/{10**6}/adjudication",
        {"verdict": "MET", "cause": "judge_wrong"},
    )


def test_ground_truth_and_verdicts_are_exported_in_every_format(bob: ApiClient, labelled: World) -> None:
    query = {"dataset": labelled.dataset.pk, "queue": labelled.queue.pk}
    response = bob.call(
        "GET", "/exports", query=query | {"what": "verdicts", "format": "csv"} | {"run": labelled.run.pk}
    )
    assert response["Content-Type"] == "text/csv; charset=utf-8"
    assert response["Content-Disposition"] == "attachment; filename*=UTF-8''capital-answers-verdicts.csv"
    rows = list(csv.DictReader(io.StringIO(b"".join(response.streaming_content).decode())))
    assert len(rows) == 27  # nine units by two people and a judge
    lines = bob.call("GET", "/exports", query=query | {"what": "verdicts", "format": "jsonl"})
    assert len([json.loads(line) for line in b"".join(lines.streaming_content).splitlines()]) == 18
    truth = bob.call("GET", "/exports", query=query | {"what": "ground_truth", "format": "autorubric"})
    data = json.loads(b"".join(truth.streaming_content))
    assert [len(item["ground_truth"]) for item in data["items"]] == [3, 3, 3]


@pytest.mark.parametrize(
    "change",
    [{"what": "secrets"}, {"format": "exe"}, {"format": "autorubric"}, {"dataset": ""}, {"queue": "x"}],
)
def test_an_export_that_makes_no_sense_is_refused(bob: ApiClient, labelled: World, change) -> None:
    query = {"what": "verdicts", "format": "csv", "dataset": labelled.dataset.pk, "queue": labelled.queue.pk}
    assert bob.refused(422, "GET", "/exports", query=query | change)["detail"]


def test_an_export_of_nothing_is_refused(bob: ApiClient, labelled: World) -> None:
    query = {"what": "verdicts", "format": "csv", "dataset": labelled.dataset.pk}
    assert "Choose a run" in bob.refused(422, "GET", "/exports", query=query)["detail"]


def test_an_export_is_a_file_and_says_so(bob: ApiClient, labelled: World) -> None:
    query = {"what": "verdicts", "format": "csv", "dataset": labelled.dataset.pk, "queue": labelled.queue.pk}
    text = text_of(bob.call("GET", "/exports", query=query))
    assert "attachment" in text
    assert "nosniff" in text


def test_an_export_may_be_limited_to_items(people: Cast, bob: ApiClient, labelled: World) -> None:
    item = labelled.dataset.items.order_by("position")[1]
    query = {"what": "verdicts", "format": "jsonl", "dataset": labelled.dataset.pk, "run": labelled.run.pk}
    lines = bob.call("GET", "/exports", query=query | {"item": item.pk})
    rows = [json.loads(line) for line in b"".join(lines.streaming_content).splitlines()]
    assert {row["item_id"] for row in rows} == {item.key}
    whole = bob.refused(422, "GET", "/exports", query=query | {"format": "bundle", "item": item.pk})
    assert "a bundle holds the whole dataset" in whole["detail"]
    theirs = factories.dataset(people.other_team, people.charlie).items.first()
    bob.refused(404, "GET", "/exports", query=query | {"item": theirs.pk})


def test_three_worst_items_are_refused_with_the_queue_that_would_do(as_member, people: Cast) -> None:
    run, queue = three_worst(people)
    ed = as_member(people.ed)
    answer = ed.get(f"/runs/{run.pk}/comparison", queue=queue.pk)
    assert answer["describes"]["code"] == "labelled_items"
    assert answer["describes"]["sentence"].startswith("These figures describe 3 labelled items alone")
    found = answer["mean_score"]
    assert (found["these"], found["like_these"]) == (None, None)
    # The three people labelled: a half each. All 24 by the judge: (3 · ½ + 21) / 24.
    assert (found["labelled"]["value"], found["judged"]["value"]) == (0.5, 0.9375)
    unavailable = found["unavailable"]
    assert unavailable["code"] == "not_a_random_sample"
    assert unavailable["why"].startswith("3 of 24 items are labelled, and they are no random sample")
    made = ed.send("POST", "/queues", unavailable["sample"] | {"raters": ["ann"]})
    assert made["order"] == "drawn"
    drawn = ReviewQueue.objects.get(pk=made["id"])
    label(drawn, people.ann, 20, lambda item, name: "MET" if name == "kind" else "UNMET")
    answer = ed.get(f"/runs/{run.pk}/comparison", queue=drawn.pk)
    found = answer["mean_score"]
    assert answer["describes"]["code"] == "random_draw"
    assert (answer["unavailable"], found["unavailable"]) == (None, None)
    assert (found["these"]["value"], found["these"]["n"], found["these"]["population_size"]) == (0.5, 20, 24)
    assert found["population"] == "the 24 items of capital answers"


def test_the_queue_that_would_do_is_posted_as_it_is_answered(as_member, people: Cast) -> None:
    run, queue = three_worst(people)
    ed = as_member(people.ed)
    sample = ed.get(f"/runs/{run.pk}/comparison", queue=queue.pk)["mean_score"]["unavailable"]["sample"]
    made = ed.send("POST", "/queues", sample)
    assert (made["name"], made["order"], made["everyone"]) == (sample["name"], "drawn", False)
    # All but bob, who is a viewer.
    raters = ReviewQueue.objects.get(pk=made["id"]).raters.values_list("user__username", flat=True)
    assert sorted(raters) == sorted(sample["raters"]) == ["alice", "ann", "ed", "rae"]


def test_picked_labels_of_a_reworded_criterion_make_no_census(as_member, people: Cast) -> None:
    """24 items labelled by the first version; of the next one's *brief* the three worst alone."""
    run = graded(people, numbered(24), lambda requirement, text: "MET")
    everything = opened(people, run, Source())
    label(everything, people.ann, 24, lambda item, name: "MET")
    assert run.rubric_version is not None
    assert run.rubric_version.rubric is not None
    second = changed(run.rubric_version.rubric, said(requirement="Is brief: two sentences."), position=1)
    newer = factories.run(people.team, people.ed, dataset=run.dataset, rubric_version=second)
    grade(newer, InProcessJudge(lambda requirement, text: "MET"))
    ids = tuple(run.dataset.items.order_by("position").values_list("pk", flat=True))[:3]
    picked = opened(people, newer, Source("items", item_ids=ids), name="Worst", criteria=["brief"])
    label(picked, people.ann, 3, lambda item, name: "UNMET")
    answer = as_member(people.bob).get(f"/runs/{newer.pk}/comparison?queue={everything.pk}&queue={picked.pk}")
    assert answer["describes"]["code"] == "labelled_items"
    found = answer["mean_score"]
    assert (found["is_census"], found["these"], found["like_these"]) == (False, None, None)
    # MET and UNMET on each of the three.
    assert (found["labelled"]["value"], found["labelled"]["n"]) == (0.5, 3)
    assert found["unavailable"]["code"] == "not_a_random_sample"
    assert (
        "“First look” does not ask about all of these criteria in the same words"
        in (found["unavailable"]["why"])
    )


def test_labels_on_another_version_are_said_to_be_so(as_member, people: Cast) -> None:
    run, queue = three_worst(people)
    other = factories.version(people.team, people.ed, title="Other")
    newer = grade(
        factories.run(people.team, people.ed, dataset=run.dataset, rubric_version=other),
        InProcessJudge(lambda requirement, response: "MET"),
    )
    found = as_member(people.bob).get(f"/runs/{newer.pk}/comparison", queue=queue.pk)
    # Three items by two criteria of the first rubric.
    assert (found["overall"]["n"], found["units"], found["on_other_versions"]) == (0, 0, 6)
    assert found["unavailable"]["code"] == "labels_on_another_version"
    assert "graded by Other v1, whose criteria nobody labelled." in found["unavailable"]["why"]
    assert found["unavailable"]["sample"]["rubric_version_id"] == other.pk


def test_people_were_asked_about_every_item_also_where_one_has_no_answer(
    people: Cast, bob: ApiClient
) -> None:
    run = graded(people, numbered(20), lambda requirement, text: "MET")
    queue = opened(people, run, Source("all"))
    label(queue, people.ann, 1, lambda item, name: "CANNOT_ASSESS")
    label(queue, people.ann, 18, lambda item, name: "MET")
    assert not bob.get(f"/runs/{run.pk}/comparison", queue=queue.pk)["mean_score"]["is_census"]
    label(queue, people.ann, 1, lambda item, name: "MET")
    score = bob.get(f"/runs/{run.pk}/comparison", queue=queue.pk)["mean_score"]
    assert (score["is_census"], score["these"]["n"], score["these"]["missing"]) == (True, 19, 1)
    # Of fewer than 20 labels: they are what to label first, not what tells the mean.
    assert score["needed"] == {
        "labels": 20,
        "cases": None,
        "reason": "Label 20 random items first: fewer tell too little of the spread.",
    }


def test_beside_each_plain_mean_stands_its_low_end(people: Cast, bob: ApiClient, as_member) -> None:
    """By tests/worlds/attempts.py: people's lowest score is 0 and 17/24 do not pass, of the judge's 5/12."""
    run, _ = labelled_by_two(people)
    found = bob.get(f"/runs/{run.pk}/comparison")["mean_score"]
    assert (found["labelled"]["lowest"], found["labelled"]["below_bar"]) == (0.0, pytest.approx(17 / 24))
    for name in ("judged_labelled", "judged"):
        assert (found[name]["lowest"], found[name]["below_bar"]) == (0.0, pytest.approx(5 / 12))
    # What is hidden from somebody is in no low end.
    opened(people, run, Source(), raters=[people.ed], name="Blind")
    hidden = as_member(people.ed).get(f"/runs/{run.pk}/comparison")["mean_score"]
    for name in ("labelled", "judged_labelled", "judged"):
        assert (hidden[name]["value"], hidden[name]["lowest"], hidden[name]["below_bar"]) == (None,) * 3
