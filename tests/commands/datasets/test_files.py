"""Importing, comparing and exporting at the terminal."""

import csv
import io
import json
from pathlib import Path

import pytest

from rubricweb.engine.formats.bundle.bundle import read_bundle
from tests.installation import Installation

RUBRIC = {
    "title": "Capitals",
    "criteria": [
        {"name": "capital", "weight": 10, "requirement": "Names Paris as the capital."},
        {"name": "concise", "weight": 5, "requirement": "Is about Paris."},
    ],
}
ITEMS = [{"id": name, "submission": f"Paris is the capital, says {name}."} for name in ("a", "b", "c", "d")]
# Two people on four items: on "capital" both say MET, MET, UNMET, UNMET; on "concise" always MET.
LABELS = [
    (item, criterion, rater, verdict)
    for rater in ("ann", "noor")
    for item, capital in zip("abcd", ("MET", "MET", "UNMET", "UNMET"), strict=True)
    for criterion, verdict in (("capital", capital), ("concise", "MET"))
]


def write(path: Path, items: list[dict[str, str]]) -> Path:
    path.write_text("\n".join(json.dumps(item) for item in items))
    return path


@pytest.fixture(scope="module")
def compared(installation: Installation, tmp_path_factory: pytest.TempPathFactory) -> Installation:
    """Four items graded by a judge that finds everything MET, and labelled by two people."""
    folder = tmp_path_factory.mktemp("compared")
    rubric = folder / "rubric.json"
    rubric.write_text(json.dumps(RUBRIC))
    labels = folder / "labels.csv"
    rows = "\n".join(",".join(label) + "," for label in LABELS)
    labels.write_text(f"item_id,criterion,rater,verdict,reason\n{rows}\n")
    items = write(folder / "answers.jsonl", ITEMS)
    for arguments in (
        ["grade", rubric, items],
        ["import-labels", labels, "--dataset", "answers", "--rubric", rubric, "--name", "two people"],
    ):
        ended = installation.run(*arguments)
        assert ended.returncode == 0, ended.stderr
    return installation


def test_compare_prints_the_figures_of_the_stored_verdicts(compared: Installation) -> None:
    [(run_id,)] = compared.query("SELECT max(id) FROM rubricweb_run")
    judged = dict(
        compared.query(
            "SELECT i.key || '/' || c.name, j.verdict FROM rubricweb_judgement j "
            "JOIN rubricweb_item i ON i.id = j.item_id JOIN rubricweb_criterion c ON c.id = j.criterion_id "
            f"WHERE j.run_id = {run_id}"
        )
    )
    people = {f"{item}/{criterion}": verdict for item, criterion, rater, verdict in LABELS if rater == "ann"}
    agreed = sum(judged[unit] == verdict for unit, verdict in people.items())

    ended = compared.run("compare", str(run_id), "--json")
    assert ended.returncode == 0, ended.stderr
    found = json.loads(ended.stdout)
    assert found["raters"] == 2
    assert found["overall"]["n"] == 8
    assert found["overall"]["accuracy"]["value"] == pytest.approx(agreed / 8)
    assert [row["criterion"]["name"] for row in found["criteria"]] == ["capital", "concise"]
    assert found["criteria"][0]["human_alpha"]["value"] == 1.0  # the two people never differ on it
    concise = found["criteria"][1]["agreement"]
    assert concise["kappa"]["value"] is None  # everybody says MET: nothing to agree about

    printed = compared.run("compare", str(run_id), "--queue", "two people").stdout
    assert f"{agreed / 8:.2f}" in printed
    for heading in ("accuracy", "balanced acc.", "κ", "MCC", "people's α", "coverage", "errors"):
        assert heading in printed


def test_compare_with_an_unknown_queue_lists_the_known_ones(compared: Installation) -> None:
    ended = compared.run("compare", "1", "--queue", "three people")
    assert ended.returncode == 1
    assert "There is no review queue 'three people'" in ended.stderr
    assert "(two people)" in ended.stderr


def test_export_writes_ground_truth_to_standard_output_and_to_a_file(
    compared: Installation, tmp_path: Path
) -> None:
    ended = compared.run("export", "--dataset", "answers")
    assert ended.returncode == 0, ended.stderr
    rows = list(csv.DictReader(io.StringIO(ended.stdout)))
    assert [(row["item_id"], row["verdict"]) for row in rows if row["criterion"] == "capital"] == [
        ("a", "MET"),
        ("b", "MET"),
        ("c", "UNMET"),
        ("d", "UNMET"),
    ]
    path = tmp_path / "truth.json"
    ended = compared.run("export", "--dataset", "answers", "--format", "autorubric", "-o", path)
    assert ended.returncode == 0, ended.stderr
    assert json.loads(path.read_text())["items"][0]["ground_truth"] == ["MET", "MET"]


def test_export_holds_judge_and_people_in_one_list(compared: Installation) -> None:
    ended = compared.run(
        *("export", "--dataset", "answers", "--what", "verdicts", "--format", "jsonl"),
        *("--run", "1", "--queue", "two people"),
    )
    assert ended.returncode == 0, ended.stderr
    rows = [json.loads(line) for line in ended.stdout.splitlines()]
    assert len(rows) == len(LABELS) + 8


def test_export_of_a_run_takes_all_labels_of_the_dataset_where_no_queue_is_named(
    compared: Installation, tmp_path: Path
) -> None:
    path = tmp_path / "everything.zip"
    asked = ("export", "--dataset", "answers", "--what", "verdicts", "--run", "1")
    ended = compared.run(*asked, "--format", "bundle", "-o", path)
    assert ended.returncode == 0, ended.stderr
    bundle = read_bundle(path.read_bytes())
    people = [row for row in bundle.judgements if row.rater_kind == "human"]
    # The judge answered both criteria of all four items.
    assert (len(people), len(bundle.judgements)) == (len(LABELS), len(LABELS) + 8)
    assert bundle.agreement is not None
    listed = csv.DictReader(compared.run(*asked).stdout.splitlines())
    assert {row["rater"] for row in listed if row["rater_kind"] == "human"} == {"ann", "noor"}


def test_labels_of_a_machine_are_no_peoples_labels(compared: Installation, tmp_path: Path) -> None:
    file = tmp_path / "model.csv"
    file.write_text("item_id,criterion,rater,verdict\na,capital,gpt,UNMET\n")
    stored = compared.run(
        "import-labels", file, "--dataset", "answers", "--rubric", "id:1", "--rater-kind", "machine"
    )
    assert stored.returncode == 0, stored.stderr
    run = compared.number("SELECT id FROM rubricweb_run WHERE rater_id IS NOT NULL")
    assert f"Stored the grades of gpt as imported run {run}, gpt from model.csv" in stored.stderr
    asked = ("export", "--dataset", "answers", "--what", "verdicts", "--format", "csv")
    exported = compared.run(*asked, "--run", str(run), "--queue", "two people")
    kinds = {(row["rater"], row["origin"]) for row in csv.DictReader(exported.stdout.splitlines())}
    assert ("gpt", "machine_imported") in kinds
    assert {origin for rater, origin in kinds if rater != "gpt"} == {"person_imported"}
    refused = compared.run("runs", "resume", str(run))
    assert (refused.returncode, "was imported: its grades came in a file" in refused.stderr) == (1, True)
    listed = compared.run("runs", "list")
    assert [line for line in listed.stdout.splitlines() if "imported" in line]


def test_export_of_something_unknown_leaves_no_file(compared: Installation, tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    ended = compared.run("export", "--dataset", "answers", "--what", "secrets", "-o", path)
    assert ended.returncode == 1
    assert "Allowed: ground_truth, verdicts" in ended.stderr
    assert list(tmp_path.iterdir()) == []


def test_changed_files_are_stored_beside_the_old_ones(compared: Installation, tmp_path: Path) -> None:
    """The same dataset is found again, a changed one is numbered; a changed rubric is the next version."""
    rubric = tmp_path / "rubric.json"
    rubric.write_text(json.dumps(RUBRIC))
    assert "Already there: Capitals v1" in compared.run("import-rubric", rubric).stderr
    changed = {**RUBRIC, "criteria": [{**RUBRIC["criteria"][0], "weight": 11}, RUBRIC["criteria"][1]]}  # type: ignore[dict-item, index]  # plain JSON
    rubric.write_text(json.dumps(changed))
    assert "Published Capitals v2" in compared.run("import-rubric", rubric).stderr

    same = write(tmp_path / "answers.jsonl", ITEMS)
    assert "Already there: answers" in compared.run("import-dataset", same).stderr
    other = write(tmp_path / "answers.jsonl", [*ITEMS, {"id": "e", "submission": "Lyon."}])
    assert "Stored answers (2)" in compared.run("import-dataset", other).stderr
    assert "Already there: answers (2)" in compared.run("import-dataset", other).stderr
    assert compared.number("SELECT count(*) FROM rubricweb_dataset") == 2


def test_a_dataset_file_answered_by_one_version(compared: Installation, tmp_path: Path) -> None:
    rows = [{"id": "q1", "submission": "Rome."}, {"id": "q2", "submission": "Oslo."}]
    path = write(tmp_path / "replies.jsonl", rows)
    of_version = ("import-dataset", path, "--system", "assistant@v3")
    assert "Stored replies (" in compared.run(*of_version).stderr
    assert "Already there: replies (" in compared.run(*of_version).stderr
    assert compared.number("SELECT count(*) FROM rubricweb_systemversion WHERE label = 'v3'") == 1
    # Of another version, or of none, they are another dataset.
    assert "Stored replies (2)" in compared.run(*of_version[:-1], "assistant@v4").stderr
    assert "Stored replies (3)" in compared.run("import-dataset", path).stderr
    refused = compared.run(*of_version[:-1], "@v3")
    assert (refused.returncode, "a system and its version, as assistant@v" in refused.stderr) == (1, True)


def test_a_faulty_dataset_is_refused_line_by_line(compared: Installation, tmp_path: Path) -> None:
    path = tmp_path / "twice.jsonl"
    path.write_text('{"id": "x", "submission": "one"}\n{"id": "x", "submission": "two"}\n')
    ended = compared.run("import-dataset", path)
    assert ended.returncode == 1
    assert "twice.jsonl, read as JSON Lines of items: 1 fault, nothing was imported." in ended.stderr
    assert "line 2" in ended.stderr
    assert compared.number("SELECT count(*) FROM rubricweb_dataset WHERE name = 'twice'") == 0


def test_with_two_teams_a_command_asks_which(compared: Installation) -> None:
    assert compared.run("create-team", "Second", "--owner", "alice").returncode == 0
    ended = compared.run("export", "--dataset", "answers")
    assert ended.returncode == 1
    assert "say which with --team. Known: capitals, second" in ended.stderr
    assert compared.run("export", "--dataset", "answers", "--team", "capitals").returncode == 0


def test_a_sign_in_link_names_the_site_and_an_unknown_person_nobody(compared: Installation) -> None:
    ended = compared.run("sign-in-link", "alice", SITE_URL="https://rubrics.example.org")
    assert ended.stdout.startswith("https://rubrics.example.org/sign-in/?token=")
    ended = compared.run("sign-in-link", "mallory")
    assert ended.returncode == 1
    assert "There is nobody called 'mallory'. Known: alice." in ended.stderr


def test_a_refused_label_file_leaves_no_rubric_behind(compared: Installation, tmp_path: Path) -> None:
    rubric, labels = tmp_path / "other.json", tmp_path / "labels.csv"
    rubric.write_text(json.dumps(RUBRIC | {"title": "Not to be kept"}))
    labels.write_text("item_id,criterion,rater,verdict,reason\na,capital,ann,MAYBE,\n")
    where = ("--dataset", "answers", "--rubric", rubric, "--team", "capitals")
    before = compared.number("SELECT count(*) FROM rubricweb_rubric")
    ended = compared.run("import-labels", labels, *where)
    assert ended.returncode == 1
    assert "nothing was imported" in ended.stderr
    assert "Rubric:" not in ended.stderr
    assert compared.number("SELECT count(*) FROM rubricweb_rubric") == before
    labels.write_text("item_id,criterion,rater,verdict,reason\na,capital,ann,MET,\n")
    mended = compared.run("import-labels", labels, *where, "--name", "m")
    assert "Rubric: Not to be kept v1" in mended.stderr
    assert compared.number("SELECT count(*) FROM rubricweb_rubric") == before + 1
