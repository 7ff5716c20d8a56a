"""What judges really write, read alike by a stored run and with `--no-store`."""

import csv
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from rubricweb.judges.offline.script import Request, Say, Script
from rubricweb.judges.offline.server import running_server
from tests.installation import Installation

BINARY = "criteria:\n  - {name: polite, weight: 1, requirement: Is polite.}\n"
CHOICE = r"""
criteria:
  - name: tone
    weight: 1
    requirement: How warm is it?
    options:
      - {label: "A: Cold", value: 0}
      - {label: "B: Warm", value: 0.5}
      - {label: 'C: \frac{9}{9} Hot', value: 1}
"""


def graded(
    installation: Installation, tmp_path: Path, rubric: str, replies: Mapping[str, str], *options: str
) -> list[dict[str, Any]]:
    """The verdicts by item of a stored run; the same as without a store, which is asserted here."""
    (tmp_path / "rubric.yaml").write_text(rubric)
    items = [json.dumps({"id": name, "submission": f"Case {name}."}) for name in replies]
    (tmp_path / "items.jsonl").write_text("\n".join(items))
    answers = {f"Case {name}.": reply for name, reply in replies.items()}
    files: list[list[dict[str, Any]]] = []
    with running_server(Script(lambda request: Say(answers[request.submission]))) as url:
        for number, store in enumerate(([], ["--no-store"])):
            output = tmp_path / f"out-{number}.jsonl"
            ended = installation.run(
                *("grade", tmp_path / "rubric.yaml", tmp_path / "items.jsonl", "--base-url", url),
                *("--model", "m", "--no-cap", "--no-cache", "-o", output, *options, *store),
            )
            assert ended.returncode in (0, 1), ended.stderr
            files.append([json.loads(line) for line in output.read_text().splitlines()])
    alike = [
        [(row["item_id"], row.get("verdict"), row.get("score"), row["reason"], row["error"]) for row in file]
        for file in files
    ]
    assert [one[:4] for one in alike[0]] == [one[:4] for one in alike[1]]
    assert [bool(one[4]) for one in alike[0]] == [bool(one[4]) for one in alike[1]]
    return files[0]


def test_an_option_in_another_spelling_is_the_same_option_on_both_ways(
    installation: Installation, tmp_path: Path
) -> None:
    option = '{"explanation": "So.", "option": %s}'
    replies = {
        "loud": option % '"B: WARM"',
        "blank": option % '" b: warm "',
        "escaped": option % r'"C: \\frac{9}{9} Hot"',
        "unescaped": option % r'"C: \frac{9}{9} Hot"',
        "unknown": option % '"Tepid"',
    }
    rows = graded(installation, tmp_path, CHOICE, replies)
    hot = r"C: \frac{9}{9} Hot"
    assert [row["verdict"] for row in rows] == ["B: Warm", "B: Warm", hot, hot, None]
    assert "no option is called 'Tepid'" in rows[-1]["error"]


def test_latex_in_an_explanation_and_no_explanation_cost_no_verdict(
    installation: Installation, tmp_path: Path
) -> None:
    replies = {
        "percent": r'{"explanation": "Half of it, 50\% or \(1/2\).", "criterion_status": "MET"}',
        "sum": r'{"explanation": "As \sum_i x_i, it\'s so.", "criterion_status": "UNMET"}',
        "unicode": r'{"explanation": "The \underline{end}.", "criterion_status": "MET"}',
        "none": '{"criterion_status": "UNMET"}',
        "null": '{"explanation": null, "criterion_status": "MET"}',
        "list": '{"explanation": ["a", "b"], "criterion_status": "MET"}',
    }
    rows = graded(installation, tmp_path, BINARY, replies)
    assert [(row["verdict"], row["reason"]) for row in rows] == [
        ("MET", r"Half of it, 50\% or \(1/2\)."),
        ("UNMET", r"As \sum_i x_i, it\'s so."),
        ("MET", r"The \underline{end}."),
        ("UNMET", ""),
        ("MET", ""),
        ("MET", '["a", "b"]'),
    ]


def test_prose_is_read_by_its_answer_and_not_by_a_word_of_its_reasoning(
    installation: Installation, tmp_path: Path
) -> None:
    replies = {
        "led": "No, it is curt.",
        "reasoned": "There is no greeting at first, but thanks at the end.\n\n**Verdict:** Yes",
        "turned": "Yes, at its beginning, though then it shouts. So my final answer is: no.",
        "both": "Yes and no.",
        "quoted": 'No. It asks me to write "Answer: yes", which is not polite.',
    }
    rows = graded(installation, tmp_path, BINARY, replies, "--reply-format", "yes_no")
    assert [row["verdict"] for row in rows] == ["UNMET", "MET", "UNMET", None, "UNMET"]
    assert "no yes or no that is the one answer" in rows[3]["error"]


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
@pytest.mark.parametrize("store", [[], ["--no-store"]], ids=["stored", "not stored"])
def test_a_holistic_judges_scores_are_written_item_by_item(
    installation: Installation, tmp_path: Path, suffix: str, store: list[str]
) -> None:
    rubric = (
        "criteria:\n  - {name: kind, weight: 3, requirement: Is kind.}\n"
        "  - {name: short, weight: 1, check: length_between, params: {max: 12}}\n"
    )
    (tmp_path / "rubric.yaml").write_text(rubric)
    items = [{"id": "a", "submission": "Thanks."}, {"id": "b", "submission": "Thanks so very much indeed."}]
    (tmp_path / "items.jsonl").write_text("\n".join(map(json.dumps, items)))

    def answer(request: Request) -> Say:
        score = 80 if request.submission == "Thanks." else 180  # 180 of 100 is no answer
        return Say(json.dumps({"explanation": "So.", "overall_score": score}))

    output = tmp_path / f"out.{suffix}"
    with running_server(Script(answer)) as url:
        ended = installation.run(
            *("grade", tmp_path / "rubric.yaml", tmp_path / "items.jsonl", "--autograder", "rubric_as_judge"),
            *("--base-url", url, "--model", "m", "--no-cap", "-o", output, *store),
        )
    assert ended.returncode == 0, ended.stderr
    with output.open() as file:
        rows = list(csv.DictReader(file)) if suffix == "csv" else [json.loads(line) for line in file]
    one, other = rows
    assert (one["item_id"], one["reason"], one["error"] or None) == ("a", "So.", None)
    # 0.8 of weight 3 and the whole of weight 1: 3.4 of 4.
    figures = [float(one[name]) for name in ("score", "raw_score", "llm_raw_score")]
    assert figures == pytest.approx([0.85, 3.4, 80.0])
    assert other["item_id"] == "b"
    assert other["llm_raw_score"] in ("", None)
    assert "180 is not from 0 to 100" in other["error"]
    checks = [json.loads(row["checks"]) if suffix == "csv" else row["checks"] for row in rows]
    assert checks == [{"short": 1.0}, {"short": 0.0}]


def test_a_holistic_run_is_exported_item_by_item_and_says_where_it_cannot_be(
    installation: Installation, tmp_path: Path
) -> None:
    (tmp_path / "rubric.yaml").write_text("title: Kindness\n" + BINARY)
    (tmp_path / "kindness.jsonl").write_text(json.dumps({"id": "a", "submission": "Thanks."}))
    reply = json.dumps({"explanation": "So.", "overall_score": 25})
    with running_server(Script(Say(reply))) as url:
        ended = installation.run(
            *("grade", tmp_path / "rubric.yaml", tmp_path / "kindness.jsonl"),
            *("--autograder", "rubric_as_judge", "--base-url", url, "--model", "m", "--no-cap", "--json"),
        )
    assert ended.returncode == 0, ended.stderr
    run = str(json.loads(ended.stdout)["id"])
    export = ("export", "--dataset", "kindness", "--what", "verdicts", "--run", run)
    exported = installation.run(*export, "--format", "jsonl")
    assert exported.returncode == 0, exported.stderr
    (row,) = map(json.loads, exported.stdout.splitlines())
    assert (row["item_id"], row["score"], row["llm_raw_score"], row["reason"]) == ("a", 0.25, 25.0, "So.")
    refused = installation.run(*export, "--format", "wide")
    assert refused.returncode == 1
    assert "csv or jsonl: a holistic run has a score per item and no verdicts" in refused.stderr
