"""Known answers for 14 binary criteria judged by experts and by recorded LLM judges."""

import collections
import csv
import json
import os
import pathlib

import pytest

from rubricweb.engine.agreement import Ratings, alpha_nominal, compare_labels

FOLDER = os.environ.get("RUBRICWEB_REAL_DATA")
pytestmark = pytest.mark.skipif(
    not FOLDER, reason="RUBRICWEB_REAL_DATA is not set: point it at the folder that holds prepared/ttcw_*.*"
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
    assert found.balanced_accuracy.value == pytest.approx(0.5844, abs=5e-5)
    assert found.kappa.value == pytest.approx(0.0608, abs=5e-5)
    assert found.mcc.value == pytest.approx(0.1474, abs=5e-5)
    assert found.reference_met_rate.value == pytest.approx(0.1488, abs=5e-5)
    assert found.judged_met_rate.value == pytest.approx(0.7897, abs=5e-5)
