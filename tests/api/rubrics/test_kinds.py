"""Choices, checks and splits through the API."""

import pytest

from rubricweb.models import Dataset, RubricVersion
from tests import factories
from tests.api.client import ApiClient, upload
from tests.factories import Cast
from tests.judging import LabelJudge, grade

DRAFT = {
    "title": "Every kind",
    "criteria": [
        {
            "name": "tone",
            "weight": 2,
            "requirement": "How friendly is it?",
            "options": [
                {"label": "Rude", "value": 0.0},
                {"label": "Warm", "value": 1.0},
                {"label": "Not applicable", "na": True},
            ],
        },
        {
            "name": "short",
            "weight": 1,
            "check": "length_between",
            "params": {"unit": "words", "max": 5},
        },
    ],
    "pass_rule": {"min_score": 0.5},
    "length_penalty": {"free_budget": 100, "max_cap": 200},
}
ITEMS = "id,submission\n" + "".join(f"i{number},Text number {number}\n" for number in range(4))
LABELS = "item_id,criterion,rater,verdict\n" + "".join(
    f"i{number},tone,x,{'warm' if number % 2 else 'rude'}\n" for number in range(4)
)


@pytest.fixture
def ed(people: Cast, as_member) -> ApiClient:
    return as_member(people.ed)


@pytest.fixture
def version(ed: ApiClient):
    rubric = ed.send("POST", "/rubrics", DRAFT)
    assert rubric["draft"]["criteria"] == DRAFT["criteria"]
    return ed.send("POST", f"/rubrics/{rubric['id']}/publish")


@pytest.fixture
def dataset(ed: ApiClient):
    return ed.send("POST", "/datasets/import", files={"file": upload(ITEMS, "i.csv"), "name": "Texts"})


def test_options_checks_and_rules_come_out_as_they_went_in(ed: ApiClient, version) -> None:
    tone, short = version["criteria"]
    assert (tone["kind"], tone["scale_type"], tone["check"]) == ("choice", "ordinal", None)
    assert tone["options"] == [
        {"label": "Rude", "value": 0.0, "na": False},
        {"label": "Warm", "value": 1.0, "na": False},
        {"label": "Not applicable", "value": 0.0, "na": True},
    ]
    assert (short["kind"], short["check"], short["options"]) == ("check", "length_between", [])
    assert short["params"]["max"] == 5
    assert short["requirement"]  # a check describes itself
    assert version["pass_rule"] == {"min_score": 0.5, "min_criterion": None}
    assert version["length_penalty"] == {
        "free_budget": 100,
        "max_cap": 200,
        "penalty_at_cap": 0.5,
        "exponent": 1.6,
        "counts": "ALL",
    }


def test_checks_are_listed_with_the_schema_of_their_parameters(ed: ApiClient) -> None:
    rows = {row["name"]: row for row in ed.get("/checks")["items"]}
    assert {"length_between", "matches_regex", "contains_keywords"} <= set(rows)
    assert set(rows["length_between"]["params"]["properties"]) == {"unit", "min", "max"}
    assert rows["length_between"]["description"]


def test_lint_names_rule_place_and_words(ed: ApiClient) -> None:
    draft = {
        "title": "T",
        "criteria": [{"name": "error", "weight": 5, "requirement": "Contains a factual error."}],
    }
    rubric = ed.send("POST", "/rubrics", draft)
    found = ed.get(f"/rubrics/{rubric['id']}/lint")["items"]
    [mismatch] = [one for one in found if one["rule"] == "weight_sign_mismatch"]
    assert (mismatch["criterion"], mismatch["severity"]) == (0, "warning")
    start, end = mismatch["span"]
    assert "Contains a factual error."[start:end] == "Contains a factual error"
    assert mismatch["explanation"]
    version = ed.send("POST", f"/rubrics/{rubric['id']}/publish")
    assert ed.get(f"/rubric-versions/{version['id']}/lint")["items"] == found


def test_a_review_is_answered_by_options_and_shows_checks_as_measured(
    ed: ApiClient, people: Cast, as_member, version, dataset
) -> None:
    queue = ed.send(
        "POST",
        "/queues",
        {"name": "Q", "dataset_id": dataset["id"], "rubric_version_id": version["id"], "raters": ["ann"]},
    )
    ann = as_member(people.ann)
    review = ann.send("POST", f"/queues/{queue['id']}/next")
    tone, short = review["criteria"]
    assert tone["measured"] is None
    assert (short["measured"]["value"], short["verdict"]) == (1.0, None)
    path = f"/reviews/{review['id']}/criteria"
    [fault] = ann.refused(422, "PUT", f"{path}/{tone['criterion']['id']}", {"verdict": "MET"})["faults"]
    assert (fault["place"], fault["allowed"]) == ("verdict", "Rude, Warm, Not applicable")
    ann.refused(422, "PUT", f"{path}/{short['criterion']['id']}", {"verdict": "MET"})
    saved = ann.send("PUT", f"{path}/{tone['criterion']['id']}", {"verdict": "warm"})
    assert saved["criteria"][0]["verdict"] == "Warm"
    assert ann.send("POST", f"/reviews/{review['id']}/submit")["state"] == "submitted"


def test_a_labelled_dataset_is_split_in_two_sealed_ones(ed: ApiClient, version, dataset) -> None:
    ed.send(
        "POST",
        f"/datasets/{dataset['id']}/labels",
        files={"file": upload(LABELS, "l.csv"), "rubric_version_id": version["id"]},
    )
    made = ed.send("POST", f"/datasets/{dataset['id']}/seal", {"n_dev": 2, "seed": 4})
    for name in ("dev", "test"):
        half = made[name]
        assert (half["name"], half["sealed_as"], half["item_count"]) == (f"Texts ({name})", name, 2)
        assert half["split_of_id"] == dataset["id"]
        # Two warm and two rude: one of each on both sides.
        assert half["split_report"]["labels"] == [
            {"criterion": "tone", "label": "Rude", "dev": 1, "test": 1},
            {"criterion": "tone", "label": "Warm", "dev": 1, "test": 1},
        ]
        assert ed.get(f"/datasets/{half['id']}") == half
    ed.refused(409, "POST", f"/datasets/{dataset['id']}/seal", {"n_dev": 2})
    [fault] = ed.refused(422, "POST", f"/datasets/{dataset['id']}/seal", {"n_dev": 4})["faults"]
    assert fault["place"] == "n_dev"


def test_a_splits_counts_of_labels_are_withheld_from_blind_raters(
    ed: ApiClient, people: Cast, as_member, version, dataset
) -> None:
    ed.send(
        "POST",
        f"/datasets/{dataset['id']}/labels",
        files={"file": upload(LABELS, "l.csv"), "rubric_version_id": version["id"]},
    )
    half = ed.send("POST", f"/datasets/{dataset['id']}/seal", {"n_dev": 2})["test"]
    body = {"name": "Q", "dataset_id": half["id"], "rubric_version_id": version["id"], "raters": ["ann"]}
    ed.send("POST", "/queues", body)
    assert as_member(people.ann).get(f"/datasets/{half['id']}")["split_report"] is None
    assert as_member(people.bob).get(f"/datasets/{half['id']}")["split_report"] == half["split_report"]


def test_a_comparison_answers_each_criterion_by_its_kind(
    ed: ApiClient, people: Cast, version, dataset
) -> None:
    queue = ed.send(
        "POST",
        f"/datasets/{dataset['id']}/labels",
        files={"file": upload(LABELS, "l.csv"), "rubric_version_id": version["id"]},
    )["queue"]
    run = factories.run(
        people.team,
        people.ed,
        dataset=Dataset.objects.get(pk=dataset["id"]),
        rubric_version=RubricVersion.objects.get(pk=version["id"]),
    )
    grade(run, LabelJudge(lambda judge, requirement, response: "Warm"))
    shown = ed.get(f"/runs/{run.pk}/comparison", queue=queue["id"])
    tone, short = shown["criteria"]
    # People: rude, warm, rude, warm; the judge: warm throughout.
    assert (shown["n_binary"], shown["overall"]["n"], shown["units"]) == (0, 0, 4)
    assert (tone["agreement"], tone["mean_value"], tone["value_bias"]) == (None, None, 0.5)
    assert tone["options"]["levels"] == ["Rude", "Warm"]
    assert tone["options"]["confusion"] == [[0, 2], [0, 2]]
    assert tone["options"]["accuracy"]["value"] == 0.5
    assert tone["options"]["adjacent_accuracy"]["value"] is None  # of two steps all are neighbours
    assert (short["agreement"], short["options"], short["mean_value"]["value"]) == (None, None, 1.0)
    # Scores of people (2·0 + 1)/3 and 3/3 in turn, of the judge 1.
    assert shown["scores"]["bias"]["value"] == pytest.approx((2 / 3 + 0 + 2 / 3 + 0) / 4)
    assert shown["mean_score"]["labelled"]["value"] == pytest.approx(2 / 3)
    cell = {"truth": "Rude", "judged": "Warm", "criterion": tone["criterion"]["id"]}
    rows = ed.get("/adjudication", run=run.pk, queue=queue["id"], **cell)["items"]
    assert [(row["item_key"], row["stands"], row["judged"]) for row in rows] == [
        ("i0", "Rude", ["Warm"]),
        ("i2", "Rude", ["Warm"]),
    ]
