"""`rubricweb compare` on a rubric whose criteria are of every kind."""

import json
from pathlib import Path

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
    found = json.loads(ended.stdout)
    capital, quality, short = found["criteria"]
    assert [row["kind"] for row in (capital, quality, short)] == ["binary", "choice", "check"]
    # The judge finds the first MET and Excellent, the second UNMET and Poor, which people call Fair.
    assert (found["n_binary"], found["overall"]["accuracy"]["value"]) == (2, 1.0)
    assert (quality["n"], quality["accuracy"]["value"], quality["adjacent_accuracy"]["value"]) == (
        2,
        0.5,
        1.0,
    )
    # 21 and 48 characters of at most 30.
    assert (short["n"], short["mean_value"]["value"]) == (0, 0.5)
    printed = installation.run("compare", str(run_id)).stdout
    assert "quality: ordered options, κ with quadratic weights" in printed
    assert "short: a check, 0.5000 on average." in printed
    assert "All criteria pools the 2 labels of binary criteria." in printed
