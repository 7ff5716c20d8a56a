"""Known answers for binary criteria judged by experts, and for ordered ones, both with recorded judges."""

import collections
import csv
import json
import math
import os
import pathlib

import numpy as np
import pytest

from rubricweb.engine.agreement import (
    Labelling,
    OptionScale,
    Ratings,
    alpha_nominal,
    alpha_ordinal,
    compare_labels,
    compare_options,
    compare_scores,
    estimate_people_mean,
    fleiss_kappa,
    human_ceiling,
)
from tests.engine.agreement.oracles import krippendorff, scipy_stats, sklearn_metrics

FOLDER = os.environ.get("RUBRICWEB_REAL_DATA")
pytestmark = pytest.mark.skipif(
    not FOLDER,
    reason="RUBRICWEB_REAL_DATA is not set: point it at the folder that holds prepared/ and llm_rubric/",
)


@pytest.fixture(scope="module")
def expert_rows():
    path = pathlib.Path(FOLDER) / "prepared" / "ttcw_labels.csv"
    with path.open(newline="") as file:
        return [
            ((row["item_id"], row["criterion"]), row["rater"], row["verdict"]) for row in csv.DictReader(file)
        ]


def test_alpha_of_the_experts(expert_rows):
    figure = alpha_nominal(Ratings.from_triples(expert_rows, cluster_of=lambda unit: unit[0]))
    assert figure.n == 504
    assert figure.value == pytest.approx(0.1416, abs=5e-5)
    assert figure.low < figure.value < figure.high


def test_a_recorded_judge_against_the_majority_of_experts(expert_rows):
    votes = collections.defaultdict(list)
    for unit, _, verdict in expert_rows:
        votes[unit].append(verdict)
    majority = {unit: max(("MET", "UNMET"), key=verdicts.count) for unit, verdicts in votes.items()}
    replies = (pathlib.Path(FOLDER) / "prepared" / "ttcw_recorded_judges.jsonl").read_text().splitlines()
    judged = {
        (record["item_id"], record["criterion"]): record["verdict"]
        for record in map(json.loads, replies)
        if record["judge"] == "gpt4"
    }
    units = list(majority)
    found = compare_labels(
        [majority[unit] for unit in units], [judged.get(unit) for unit in units], [unit[0] for unit in units]
    )
    assert (found.n, found.missing, found.abstained) == (504, 0, 0)
    assert found.accuracy.value == pytest.approx(0.3393, abs=5e-5)
    assert found.figures["balanced_accuracy"].value == pytest.approx(0.5844, abs=5e-5)
    assert found.kappa.value == pytest.approx(0.0608, abs=5e-5)
    assert found.figures["mcc"].value == pytest.approx(0.1474, abs=5e-5)


def test_fleiss_kappa_of_the_experts(expert_rows):
    """Eleven experts, three per unit: who sits in which seat does not matter."""
    figure = fleiss_kappa(Ratings.from_triples(expert_rows, cluster_of=lambda unit: unit[0]))
    assert (figure.n, figure.value) == (504, pytest.approx(0.1410, abs=5e-5))


def test_the_ceiling_of_the_experts_is_low_too(expert_rows):
    found = human_ceiling(Ratings.from_triples(expert_rows, cluster_of=lambda unit: unit[0]))
    assert found.n == 504
    # Three verdicts per unit, so a share of equal pairs is 1 or 1/3.
    votes = collections.defaultdict(list)
    for unit, _, verdict in expert_rows:
        votes[unit].append(verdict)
    unanimous = sum(len(set(verdicts)) == 1 for verdicts in votes.values())
    assert found.pair_accuracy.value == pytest.approx((unanimous + (504 - unanimous) / 3) / 504)
    assert found.kappa.low < found.kappa.value < 0.3


def test_labels_of_a_third_of_the_stories_correct_a_generous_judge(expert_rows):
    votes = collections.defaultdict(list)
    for unit, _, verdict in expert_rows:
        votes[unit].append(verdict == "MET")
    path = pathlib.Path(FOLDER) / "prepared" / "ttcw_recorded_judges.jsonl"
    judged = {
        (record["item_id"], record["criterion"]): record["verdict"]
        for record in map(json.loads, path.read_text().splitlines())
        if record["judge"] == "gpt4"
    }
    units = sorted(votes)
    stories = sorted({item for item, _ in units})[::3]
    machine = [float(judged[unit] == "MET") for unit in units]
    everywhere = len(stories) / len({item for item, _ in units})
    found = estimate_people_mean(
        machine,
        [float(sum(votes[unit]) > 1) if unit[0] in stories else math.nan for unit in units],
        [everywhere] * len(units),
        Labelling(cases=[unit[0] for unit in units]),
        population="these items",
    )
    # The judge says MET on 0.7897 of all; people, by majority, on 0.1488.
    assert sum(machine) / len(machine) == pytest.approx(0.7897, abs=5e-5)
    assert found.low < 0.1488 < found.high < 0.7897


QUESTIONS = ("Q0", "Q3", "Q7")


@pytest.fixture(scope="module")
def conversation_rows():
    """(question, dialogue, annotator) → "1" … "4" or "0"; an annotator's last answer stands."""
    path = pathlib.Path(FOLDER) / "llm_rubric" / "human_judges_synth_all_FIXED_ANON.tsv"
    with path.open(newline="") as file:
        return {
            (question, row["text_id"], row["annotator_id"]): str(int(float(row[question] or 0)))
            for row in csv.DictReader(file, delimiter="\t")
            for question in QUESTIONS
        }


@pytest.mark.parametrize(("question", "expected"), [("Q0", 0.044), ("Q3", 0.315), ("Q7", 0.118)])
def test_ordinal_alpha_of_people_on_conversations(conversation_rows, question, expected):
    answers = {
        (dialogue, who): label
        for (asked, dialogue, who), label in conversation_rows.items()
        if asked == question
    }
    ratings = Ratings.from_triples(
        [(dialogue, who, label) for (dialogue, who), label in answers.items()], levels="1234", gaps="0"
    )
    figure = alpha_ordinal(ratings)
    assert figure.value == pytest.approx(expected, abs=5e-4)
    assert figure.low < figure.value < figure.high
    table = np.where(ratings.codes < 0, np.nan, ratings.codes)
    oracle = krippendorff.alpha(table, level_of_measurement="ordinal")
    assert figure.value == pytest.approx(oracle, abs=1e-12)


def test_a_recorded_judges_options_and_expected_scores_against_people():
    folder = pathlib.Path(FOLDER) / "llm_rubric"
    with (folder / "human_judges_real_convs_FIXED_ANON.tsv").open(newline="") as file:
        people = {row["text_id"]: row["Q0"] for row in csv.DictReader(file, delimiter="\t")}
    with (folder / "gpt-3.5-turbo-16k_real_evaluations_FIXED.tsv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file, delimiter="\t") if row["criterion"] == "Q0"]
    said = {row["text_id"]: row["sample_llm"] for row in rows}
    expected = {
        row["text_id"]: sum(level * float(row[f"answer{level}_prob"]) for level in range(1, 5))
        for row in rows
    }
    both = [text for text in people if people[text] != "0" and text in said]
    one, other = [int(people[text]) for text in both], [int(said[text]) for text in both]

    found = compare_options(
        [people[text] for text in people],
        [said.get(text) for text in people],
        list(people),
        OptionScale("1234", "ordinal", gaps="0"),
    )
    assert found.n == len(both)
    np.testing.assert_array_equal(
        found.confusion, sklearn_metrics.confusion_matrix(one, other, labels=range(1, 5))
    )
    kappa = sklearn_metrics.cohen_kappa_score(one, other, weights="quadratic", labels=range(1, 5))
    assert found.quadratic_kappa.value == pytest.approx(kappa)
    assert found.figures["steps_apart"].value == pytest.approx(np.abs(np.subtract(one, other)).mean())

    judged = [expected[text] for text in both]
    scores = compare_scores(one, judged)
    assert scores.rmse.value == pytest.approx(sklearn_metrics.root_mean_squared_error(one, judged))
    assert scores.pearson.value == pytest.approx(scipy_stats.pearsonr(one, judged)[0])
    assert scores.spearman.value == pytest.approx(scipy_stats.spearmanr(one, judged)[0])
    assert scores.kendall.value == pytest.approx(scipy_stats.kendalltau(one, judged)[0])
    assert scores.bias_t.p == pytest.approx(scipy_stats.ttest_rel(judged, one).pvalue, abs=1e-9)
