"""`rubricweb grade --no-store`: from files to a file, as it is where only the library is installed."""

import csv
import json
from pathlib import Path

import pytest

from rubricweb.judges.offline.script import Fail, Garbage, Lexical, Request, Say, Script
from rubricweb.judges.offline.server import running_server
from rubricweb.management import console

RUBRIC = """\
title: Capitals
pass_rule: {min_score: 0.1}
criteria:
  - {name: capital, weight: 10, group: Content, requirement: Names Paris as the capital.}
  - {name: concise, weight: 5, requirement: Is at most two sentences long.}
"""
ITEMS = [
    {"id": "good", "prompt": "What is the capital of France?", "submission": "Paris is the capital."},
    {"id": "bad", "prompt": "What is the capital of France?", "submission": "Lyon, I believe."},
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to stand in with a rubric and a dataset, and an environment that names no judge."""
    (tmp_path / "rubric.yaml").write_text(RUBRIC)
    (tmp_path / "answers.jsonl").write_text("\n".join(json.dumps(item) for item in ITEMS))
    monkeypatch.chdir(tmp_path)
    for name in ("OPENAI_BASE_URL", "OPENAI_MODEL", "OPENAI_API_KEY"):
        monkeypatch.setenv(name, "x")  # so that what the command sets is taken back
        monkeypatch.delenv(name)
    return tmp_path


def grade(*arguments: str) -> int:
    return console.main(["grade", "rubric.yaml", "answers.jsonl", "--no-store", *arguments])


def test_files_are_graded_into_a_file_by_the_offline_judge_and_nothing_is_stored(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert grade("-o", "verdicts.csv") == 0  # a query would be refused: this test has no database
    shown = capsys.readouterr()
    assert "offline judge (not an LLM)" in shown.err
    assert " ".join(shown.err.split()).count("It only compares words of the criterion") == 1
    assert "2 of 2 fully judged" in shown.out
    facts = dict(line.split(maxsplit=1) for line in shown.out.splitlines() if len(line.split()) > 1)
    assert "(95 % interval, 2 items)" in facts["mean"]
    assert "(95 % interval, 2 items)" in facts["Content"]
    assert facts["coverage"].strip() == "100%"
    assert facts["passed"].strip().startswith("50% [9%, 91%] of 2 items")  # Wilson of 1 in 2
    with (folder / "verdicts.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [(row["item_id"], row["criterion"]) for row in rows] == [
        *(("good", "capital"), ("good", "concise"), ("bad", "capital"), ("bad", "concise")),
    ]
    assert {row["rater"] for row in rows} == {"offline-lexical"}
    assert sorted(path.name for path in folder.iterdir()) == ["answers.jsonl", "rubric.yaml", "verdicts.csv"]


def test_a_mean_below_the_minimum_is_exit_code_100(folder: Path) -> None:
    assert grade("--min-score", "1.0") == 100


@pytest.mark.parametrize("score", ["nan", "inf", "70", "-0.1", "half"])
def test_a_minimum_that_is_no_score_is_refused_before_anybody_is_asked(
    folder: Path, capsys: pytest.CaptureFixture[str], score: str
) -> None:
    with pytest.raises(SystemExit) as ended:
        grade(f"--min-score={score}")
    assert ended.value.code == 2
    shown = capsys.readouterr()
    assert "argument --min-score: " in shown.err
    assert "Judge:" not in shown.err


def test_failed_items_are_said_with_how_to_ask_again_and_too_many_are_exit_code_100(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    met = json.dumps({"explanation": "So.", "criterion_status": "MET"})
    script = Script(lambda request: Fail(403) if "Lyon" in request.submission else Say(met))
    with running_server(script) as url:
        at = ("--base-url", url, "--model", "m", "--min-score", "0.5")
        assert grade(*at) == 0
        said = capsys.readouterr().err
        assert "1 item has errors: in no mean, pass rate or --min-score until retried." in said
        assert "with --name NAME the same command asks only for the rest" in said
        assert "--min-score is decided by the other 1 item; --max-errors says" in said
        assert grade(*at, "--max-errors", "1", "--name", "kept") == 0
        assert "Retry with: the same command.\n" in capsys.readouterr().err
        assert grade(*at, "--max-errors", "49%") == 100
        assert "1 of 2 items with errors are more than --max-errors 49%." in capsys.readouterr().err
    with running_server(Script(Fail(403))) as url:
        assert grade("--base-url", url, "--model", "m", "--max-errors", "2") == 1
    assert "No item could be fully judged." in capsys.readouterr().err


def versions(folder: Path) -> None:
    """Two system versions' answers to one case each, the second one twice."""
    rows = [("v1", 1, "Paris."), ("v2", 1, "Lyon."), ("v2", 2, "It is Lyon.")]
    items = [
        {"case_id": "france", "system": f"bot@{version}", "attempt": attempt, "submission": answer}
        for version, attempt, answer in rows
    ]
    (folder / "answers.jsonl").write_text("\n".join(map(json.dumps, items)))


def test_answers_of_several_system_versions_are_in_no_mean_together(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    versions(folder)
    assert grade() == 1
    said = capsys.readouterr().err
    assert "systems: found answers of 2 system versions (bot@v1, bot@v2); allowed: one of them" in said
    assert "Name one with --system." in said
    assert grade("--system", "bot@v3") == 1
    assert "a version with answers in answers.jsonl: bot@v1, bot@v2" in capsys.readouterr().err
    assert grade("--system", "bot@v1", "--system", "bot@v2") == 1
    assert "--system takes one version where nothing is stored" in capsys.readouterr().err


def test_one_version_is_graded_and_every_verdict_names_its_case(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    versions(folder)
    assert grade("--system", "bot@v2", "-o", "verdicts.csv") == 0
    assert "2 of 2 fully judged" in capsys.readouterr().out
    with (folder / "verdicts.csv").open() as file:
        rows = [(row["case_id"], row["system"], row["attempt"]) for row in csv.DictReader(file)]
    # Two criteria for each of the two attempts.
    assert rows == [("france", "bot@v2", "1")] * 2 + [("france", "bot@v2", "2")] * 2


def test_a_verdict_on_an_item_without_a_case_names_none(folder: Path) -> None:
    assert grade("-o", "verdicts.jsonl") == 0
    rows = map(json.loads, (folder / "verdicts.jsonl").read_text().splitlines())
    assert {(row["case_id"], row["system"], row["attempt"]) for row in rows} == {(None, None, None)}


def test_a_mean_that_misses_the_minimum_by_binary_rounding_reaches_it(folder: Path) -> None:
    criteria = [
        {"name": name, "weight": weight, "requirement": f"Is {name}."}
        for name, weight in (("kind", 0.7), ("brief", 0.1), ("rhymed", 0.2))
    ]
    (folder / "rubric.yaml").write_text(json.dumps({"title": "Tenths", "criteria": criteria}))

    def said(request: Request) -> Say:
        verdict = "UNMET" if "rhymed" in request.requirement else "MET"
        return Say(json.dumps({"explanation": "So.", "criterion_status": verdict}))

    with running_server(Script(said)) as url:
        # 0.7 + 0.1 is 0.7999999999999999 in binary.
        assert grade("--base-url", url, "--model", "m", "--min-score", "0.8") == 0
        assert grade("--base-url", url, "--model", "m", "--min-score", "0.81") == 100


def test_several_answers_to_a_case_count_as_one(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = {"paris": ["Paris is the capital.", "Paris.", "It is Paris."], "lyon": ["Lyon, I believe."]}
    rows = [
        {"case_id": case, "attempt": attempt, "prompt": f"The capital, {case}?", "submission": answer}
        for case, answers in words.items()
        for attempt, answer in enumerate(answers, 1)
    ]
    (folder / "answers.jsonl").write_text("\n".join(map(json.dumps, rows)))

    def said(request: Request) -> Say:
        verdict = "MET" if "Paris" in request.submission else "UNMET"
        return Say(json.dumps({"explanation": "So.", "criterion_status": verdict}))

    with running_server(Script(said)) as url:
        assert grade("--base-url", url, "--model", "m", "--min-score", "0.51") == 100
    shown = capsys.readouterr()
    # One case is right in each of three answers, the other in none.
    assert "The mean score 0.5000 is below" in shown.err
    assert ", 2 cases)" in " ".join(shown.out.split())


def test_a_named_one_is_resumed_and_asks_only_for_what_failed(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = {"Lyon"}
    script = Script(lambda request: Fail(403) if any(w in request.submission for w in broken) else Lexical())
    with running_server(script) as url:
        command = ("--base-url", url, "--model", "offline-lexical", "--name", "first")
        assert grade(*command) == 0  # there is a mean, over what was judged
        assert "1 of 2 fully judged" in capsys.readouterr().out
        broken.clear()
        assert grade(*command) == 0
        assert "2 of 2 fully judged" in capsys.readouterr().out
    lines = (folder / "experiments/first/items.jsonl").read_text().splitlines()
    assert [(json.loads(line)["item"], json.loads(line)["error"] is None) for line in lines] in (
        [("good", True), ("bad", False), ("bad", True)],
        [("bad", False), ("good", True), ("bad", True)],
    )


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--vote", "majority"], "--vote is for runs that are stored"),
        (["--judge", "endpoint-1"], "--judge is for runs that are stored"),
        (["--resume", "3"], "--resume is for runs that are stored"),
        (["--user", "alice"], "--user is for runs that are stored"),
        (["--json"], "--json is for runs that are stored"),
        (["--reply-format", "prose"], "reply_format is 'prose'"),
        (
            ["--reply-format", "yes_no", "--autograder", "one_shot"],
            "reply_format is 'yes_no'; allowed here: json",
        ),
        (["--autograder", "best"], "--autograder is best; allowed: per_criterion"),
        (["--base-url", "http://127.0.0.1:1/v1"], "--base-url needs --model"),
        (["-o", "verdicts.txt"], "must end in .csv or .jsonl"),
        (["-o", "nowhere/verdicts.csv"], "nowhere/verdicts.csv cannot be written: no such file or directory"),
        (["--name", "a/b"], "experiment_name is 'a/b'"),
        (["--abstention", "best"], "abstention is 'best'"),
    ],
)
def test_what_only_a_stored_run_can_do_is_refused_before_anybody_is_asked(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], why: str
) -> None:
    assert grade(*arguments) == 1
    assert why in capsys.readouterr().err


@pytest.mark.parametrize(
    ("rubric", "dataset", "why"),
    [
        ("id:3", "answers.jsonl", "id:3 is stored"),
        ("rubric.yaml", "missing.jsonl", "missing.jsonl cannot be read"),
        ("rubric.yaml", "broken.jsonl", "broken.jsonl, read as JSON Lines of items: 1 fault."),
        ("-", "answers.jsonl", "line 1: rubric"),
        ("rubric.yaml", "own.json", "brings rubrics of its own"),
    ],
)
def test_files_that_cannot_be_graded_are_refused_with_the_place(
    folder: Path, capsys: pytest.CaptureFixture[str], rubric: str, dataset: str, why: str
) -> None:
    (folder / "broken.jsonl").write_text('{"submission": ""}')
    own = [{"name": "other", "requirement": "Names Lyon"}]
    (folder / "own.json").write_text(
        json.dumps({"prompt": None, "rubric": own, "items": [{"submission": "x"}]})
    )
    assert console.main(["grade", rubric, dataset, "--no-store"]) == 1
    assert why in capsys.readouterr().err


def test_what_it_cost_is_said_where_nobody_was_asked_or_somebody_did_not_answer(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    met = json.dumps({"explanation": "So.", "criterion_status": "MET"})
    refused = Script(lambda request: Fail(403) if "Lyon" in request.submission else Say(met))
    with running_server(refused) as url:
        grade("--base-url", url, "--model", "gpt-5-mini")
    # 2 answers of 100 tokens at 0.25 a million and 10 at 2; the two that were refused cost nothing.
    assert "$0.0001" in _cost_row(capsys)
    unmetered = Garbage(json.dumps({"choices": [{"message": {"content": met}}]}))
    half = Script(lambda request: unmetered if "Lyon" in request.submission else Say(met))
    with running_server(half) as url:
        grade("--base-url", url, "--model", "gpt-5-mini")
    assert "$0.0001 and 2 calls of unknown cost" in _cost_row(capsys)
    check = {"name": "short", "weight": 1, "check": "length_between", "params": {"max": 40}}
    (folder / "rubric.yaml").write_text(json.dumps({"title": "Checks", "criteria": [check]}))
    assert grade() == 0
    assert "$0.0000" in _cost_row(capsys)


def _cost_row(capsys: pytest.CaptureFixture[str]) -> str:
    [row] = [line for line in capsys.readouterr().out.splitlines() if line.split()[:1] == ["cost"]]
    return " ".join(row.split())
