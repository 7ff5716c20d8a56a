"""`rubricweb compare` on a rubric whose criteria are of every kind."""

import json
from pathlib import Path

from rubricweb.api.comparison.schemas import Comparison
from tests.commands.shapes import misfits
from tests.installation import Installation

RUBRIC = """\
title: Kinds
criteria:
  - {name: capital, weight: 10, requirement: Names Paris as the capital.}
  - name: quality
    weight: 5
    requirement: How well does it name Paris?
    options: [{label: Poor, value: 0}, {label: Fair, value: 0.5}, {label: Excellent, value: 1}]
  - {name: short, weight: 2, check: length_between, params: {max: 30}}
"""
ITEMS = [
    {"id": "good", "submission": "Paris is the capital."},
    {"id": "bad", "submission": "Lyon, I believe, but I would have to look it up."},
]
LABELS = """\
item_id,criterion,rater,verdict,reason
good,capital,ann,MET,
bad,capital,ann,UNMET,
good,quality,ann,Excellent,
bad,quality,ann,Fair,
"""


def test_every_kind_has_the_figures_it_allows(installation: Installation, tmp_path: Path) -> None:
    rubric, items, labels = tmp_path / "r.yaml", tmp_path / "kinds.jsonl", tmp_path / "l.csv"
    rubric.write_text(RUBRIC)
    items.write_text("\n".join(json.dumps(item) for item in ITEMS))
    labels.write_text(LABELS)
    assert installation.run("grade", rubric, items, "--judge", "offline").returncode == 0
    imported = installation.run("import-labels", labels, "--dataset", "kinds", "--rubric", rubric)
    assert imported.returncode == 0, imported.stderr
    [(run_id,)] = installation.query("SELECT max(id) FROM rubricweb_run")
    ended = installation.run("compare", str(run_id), "--json")
    assert ended.returncode == 0, ended.stderr
    assert misfits(Comparison, ended.stdout) == []
    found = json.loads(ended.stdout)
    capital, quality, short = found["criteria"]
    kinds = [row["criterion"]["kind"] for row in (capital, quality, short)]
    assert kinds == ["binary", "choice", "check"]
    # The judge finds the first MET and Excellent, the second UNMET and Poor, which people call Fair.
    assert (found["n_binary"], found["overall"]["accuracy"]["value"]) == (2, 1.0)
    options = quality["options"]
    assert (options["n"], options["accuracy"]["value"], options["adjacent_accuracy"]["value"]) == (
        2,
        0.5,
        1.0,
    )
    # 21 and 48 characters of at most 30.
    assert (short["agreement"], short["mean_value"]["value"]) == (None, 0.5)
    printed = installation.run("compare", str(run_id)).stdout
    assert "quality: ordered options, κ with quadratic weights" in printed
    assert "short: a check, 0.50" in printed
    assert "All criteria pools the 2 labels of binary criteria." in printed


def test_labels_of_chosen_items_do_not_speak_for_all_and_the_command_that_helps_is_told(
    installation: Installation, tmp_path: Path
) -> None:
    rubric, items, labels = tmp_path / "r.yaml", tmp_path / "worst.jsonl", tmp_path / "worst.csv"
    rubric.write_text(RUBRIC)
    items.write_text("\n".join(json.dumps(item) for item in ITEMS))
    labels.write_text("\n".join(LABELS.splitlines()[0:1] + [x for x in LABELS.splitlines() if "bad," in x]))
    assert installation.run("grade", rubric, items, "--judge", "offline").returncode == 0
    imported = installation.run("import-labels", labels, "--dataset", "worst", "--rubric", rubric)
    assert imported.returncode == 0, imported.stderr
    [(run_id, version_id, dataset_id)] = installation.query(
        "SELECT id, rubric_version_id, dataset_id FROM rubricweb_run ORDER BY id DESC LIMIT 1"
    )
    said = installation.run("compare", str(run_id))
    assert said.returncode == 0, said.stderr
    words = " ".join(said.stdout.split())
    assert "1 of 2 items is labelled, and it is no random sample: the labels of" in words
    assert "came in a file. Such labels describe their own items only." in words
    assert (
        f"rubricweb queues new 'Random sample for run {run_id}' --dataset {dataset_id} "
        f"--rubric id:{version_id} --sample 2 --rater USER" in words
    )
    alone = "These figures describe 1 labelled item alone, which is no random sample: the labels of"
    assert alone in words
    answer = json.loads(installation.run("compare", str(run_id), "--json").stdout)
    assert answer["describes"]["sentence"] in words
    score = answer["mean_score"]
    assert (score["these"], score["unavailable"]["code"]) == (None, "not_a_random_sample")


def test_a_version_nobody_labelled_is_told_apart_and_ends_with_1(
    installation: Installation, tmp_path: Path
) -> None:
    rubric, items, labels = tmp_path / "r.yaml", tmp_path / "versions.jsonl", tmp_path / "old.csv"
    rubric.write_text(RUBRIC.replace("Kinds", "Old kinds"))
    items.write_text("\n".join(json.dumps(item) for item in ITEMS))
    labels.write_text(LABELS)
    assert installation.run("grade", rubric, items, "--judge", "offline").returncode == 0
    imported = installation.run("import-labels", labels, "--dataset", "versions", "--rubric", rubric)
    assert imported.returncode == 0, imported.stderr
    rubric.write_text(RUBRIC.replace("Kinds", "New kinds"))
    assert installation.run("grade", rubric, items, "--judge", "offline").returncode == 0
    [(run_id,)] = installation.query("SELECT max(id) FROM rubricweb_run")
    said = installation.run("compare", str(run_id))
    words = " ".join(said.stdout.split())
    assert said.returncode == 1
    assert "by Old kinds v1; " in words
    assert "graded by New kinds v1, whose criteria nobody labelled." in words
    assert "Compare a run that graded by Old kinds v1" in words
    asked = installation.run("compare", str(run_id), "--json")
    assert asked.returncode == 1
    assert json.loads(asked.stdout)["unavailable"]["code"] == "labels_on_another_version"
