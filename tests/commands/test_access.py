"""Every command that acts for a member: asked by every role, by a stranger, and with another team's rows."""

import argparse
from collections.abc import Iterator
from typing import Any

import pytest

from rubricweb.management import console
from rubricweb.models import Role
from tests.factories import Cast
from tests.worlds.furnished import Furnished

Path = tuple[str, ...]

# What the operator does, who is nobody's member; the folder and the database are theirs.
OPERATORS = {
    *(("serve",), ("sign-in-link",), ("remove-second-factor",)),
    *(("create-team",), ("load-demo",), ("manage",)),
    *(("endpoints", "reencrypt"), ("prices", "check")),
}

UNIT = "{item} {criterion}"
COMMANDS: dict[Path, tuple[Role, str]] = {
    ("grade",): (Role.EDITOR, "{version} {dataset}"),
    ("rubrics", "list"): (Role.VIEWER, ""),
    ("rubrics", "versions"): (Role.VIEWER, "{rubric}"),
    ("rubrics", "show"): (Role.VIEWER, "{version}"),
    ("labels", "changes"): (Role.VIEWER, "{version}"),
    ("labels", "decide"): (Role.EDITOR, "{version} capital carry"),
    ("labels", "open-queue"): (Role.EDITOR, "{version} capital"),
    ("rubrics", "restore"): (Role.EDITOR, "{version}"),
    ("rubrics", "starters"): (Role.VIEWER, ""),
    ("rubrics", "new"): (Role.EDITOR, "--starter summary"),
    ("rubrics", "copy"): (Role.EDITOR, "{version}"),
    ("datasets", "list"): (Role.VIEWER, ""),
    ("datasets", "items"): (Role.VIEWER, "{dataset_name}"),
    ("datasets", "add-answers"): (Role.EDITOR, "{dataset_name} missing.jsonl --system a@1"),
    ("datasets", "case"): (Role.VIEWER, "{dataset_name} {case}"),
    ("datasets", "columns"): (Role.VIEWER, "{dataset_name}"),
    ("datasets", "import"): (Role.EDITOR, "missing.jsonl"),
    ("datasets", "versions"): (Role.VIEWER, "{dataset_name}"),
    ("datasets", "split"): (Role.VIEWER, "{dataset_name}"),
    ("datasets", "tag"): (Role.VIEWER, "{dataset_name}"),
    ("datasets", "retire"): (Role.EDITOR, "{dataset_name} --item {item}"),
    ("datasets", "restore"): (Role.EDITOR, "{dataset_name} --item missing"),
    ("datasets", "combine"): (Role.EDITOR, "{dataset_name} missing --name Both --plan"),
    ("datasets", "combinations"): (Role.EDITOR, ""),
    ("datasets", "combination-runs"): (Role.EDITOR, "{combination}"),
    ("datasets", "cancel-combination"): (Role.EDITOR, "{combination}"),
    ("datasets", "correct"): (Role.EDITOR, "{dataset_name} --item {item}"),
    ("datasets", "seal"): (Role.EDITOR, "{dataset_name} --dev 1"),
    ("datasets", "raters"): (Role.VIEWER, "{dataset_name}"),
    ("datasets", "rater-kind"): (Role.EDITOR, "{dataset_name} ann human"),
    ("datasets", "rater-member"): (Role.EDITOR, "{dataset_name} ann bob"),
    ("datasets", "undo"): (Role.EDITOR, "{dataset_name} --plan"),
    ("import-rubric",): (Role.EDITOR, "missing.yaml"),
    ("import-dataset",): (Role.EDITOR, "missing.jsonl"),
    ("add-items",): (Role.EDITOR, "missing.jsonl --dataset {dataset_name}"),
    ("import-labels",): (Role.EDITOR, "missing.csv --dataset {dataset_name}"),
    ("export",): (Role.VIEWER, "--dataset {dataset_name}"),
    ("compare",): (Role.VIEWER, "{run}"),
    ("agreement",): (Role.VIEWER, "{queue}"),
    ("runs", "list"): (Role.VIEWER, ""),
    ("runs", "compare"): (Role.VIEWER, "{run} {again}"),
    ("runs", "show"): (Role.VIEWER, "{run}"),
    ("runs", "log"): (Role.VIEWER, "{run}"),
    ("runs", "watch"): (Role.VIEWER, "{run}"),
    ("runs", "pause"): (Role.EDITOR, "{run}"),
    ("runs", "resume"): (Role.EDITOR, "{run}"),
    ("runs", "cancel"): (Role.EDITOR, "{run}"),
    ("runs", "retry"): (Role.EDITOR, "{run}"),
    ("runs", "extend"): (Role.EDITOR, "{run}"),
    ("runs", "budget"): (Role.EDITOR, "{run} 5"),
    ("runs", "prune"): (Role.OWNER, ""),
    ("queues", "list"): (Role.VIEWER, ""),
    ("queues", "show"): (Role.VIEWER, "{queue}"),
    ("queues", "new"): (Role.EDITOR, "New --dataset {dataset_name} --everyone"),
    ("queues", "edit"): (Role.EDITOR, "{queue} --hold 5"),
    ("queues", "pause"): (Role.EDITOR, "{queue}"),
    ("queues", "resume"): (Role.EDITOR, "{queue}"),
    ("queues", "close"): (Role.EDITOR, "{queue}"),
    ("queues", "reopen"): (Role.EDITOR, "{queue}"),
    ("queues", "extend"): (Role.EDITOR, "{queue}"),
    ("queues", "sent-back"): (Role.ANNOTATOR, "{queue}"),
    ("queues", "send-back"): (Role.REVIEWER, "{review} --note Hm."),
    ("queues", "send-again"): (Role.ANNOTATOR, "{review}"),
    ("queues", "reassign"): (Role.EDITOR, "{queue} --everyone yes"),
    ("gold", "show"): (Role.EDITOR, "{queue}"),
    ("gold", "mark"): (Role.EDITOR, "{queue} --at-random 1"),
    ("gold", "unmark"): (Role.EDITOR, "{queue}"),
    ("gold", "rules"): (Role.EDITOR, "{queue} --first 0"),
    ("gold", "let-on"): (Role.EDITOR, "{queue} {person}"),
    ("gold", "try-again"): (Role.EDITOR, "{queue} {person}"),
    ("gold", "end-pause"): (Role.EDITOR, "{queue} {person}"),
    ("adjudication", "list"): (Role.VIEWER, ""),
    ("adjudication", "show"): (Role.VIEWER, UNIT),
    ("adjudication", "decide"): (Role.REVIEWER, UNIT + " MET --cause judge_wrong"),
    ("adjudication", "withdraw"): (Role.REVIEWER, UNIT),
    ("adjudication", "agreed"): (Role.REVIEWER, "{queue}"),
    ("adjudication", "accept"): (Role.REVIEWER, "{queue}"),
    ("adjudication", "truth"): (Role.VIEWER, "{item}"),
    ("comments", "list"): (Role.VIEWER, "{item}"),
    ("comments", "add"): (Role.ANNOTATOR, "{item} Hm."),
    ("comments", "edit"): (Role.ANNOTATOR, "{comment} Hm."),
    ("comments", "resolve"): (Role.ANNOTATOR, "{comment}"),
    ("comments", "reopen"): (Role.ANNOTATOR, "{comment}"),
    ("comments", "remove"): (Role.ANNOTATOR, "{comment}"),
    ("endpoints", "list"): (Role.VIEWER, ""),
    ("endpoints", "find"): (Role.OWNER, ""),
    ("endpoints", "models"): (Role.OWNER, "{endpoint}"),
    ("endpoints", "show"): (Role.VIEWER, "{endpoint}"),
    ("endpoints", "add"): (Role.OWNER, "new --base-url https://judge.example/v1 --model m"),
    ("endpoints", "edit"): (Role.OWNER, "{endpoint} --temperature 1"),
    ("endpoints", "test"): (Role.OWNER, "{endpoint}"),
    ("endpoints", "remove"): (Role.OWNER, "{endpoint}"),
    ("judges", "list"): (Role.VIEWER, ""),
    ("judges", "show"): (Role.VIEWER, "{judge}"),
    ("judges", "diff"): (Role.VIEWER, "{judge}@v1 {judge}"),
    ("judges", "export"): (Role.VIEWER, "{judge}@v1"),
    ("judges", "import"): (Role.EDITOR, "missing.yaml"),
    ("judges", "edit"): (Role.EDITOR, "{judge} --note Hm."),
    ("judges", "use"): (Role.EDITOR, "{judge}@v1"),
    ("judges", "try"): (Role.EDITOR, "{judge} --dataset {dataset_name} --rubric id:999999"),
    ("judges", "archive"): (Role.EDITOR, "{judge}"),
    ("judges", "restore"): (Role.EDITOR, "{judge}"),
    ("judge", "list"): (Role.VIEWER, ""),
    ("judge", "test"): (Role.OWNER, "{endpoint}"),
    ("prices", "list"): (Role.VIEWER, ""),
    ("prices", "set"): (Role.OWNER, "m --input 1 --output 1"),
    ("prices", "remove"): (Role.OWNER, "m"),
    ("spending", "show"): (Role.VIEWER, ""),
    ("spending", "cap"): (Role.OWNER, "5"),
    ("retention", "show"): (Role.VIEWER, ""),
    ("retention", "set"): (Role.OWNER, "5"),
    ("lint",): (Role.VIEWER, "{version}"),
    ("members", "list"): (Role.VIEWER, ""),
    ("members", "invite"): (Role.OWNER, "somebody-new"),
    ("members", "invitations"): (Role.OWNER, ""),
    ("members", "withdraw"): (Role.OWNER, "a-newcomer"),
    ("members", "role"): (Role.OWNER, "{person} viewer"),
    ("members", "link"): (Role.OWNER, "{person}"),
    ("members", "remove"): (Role.OWNER, "{person}"),
    ("tokens", "list"): (Role.VIEWER, ""),
    ("tokens", "new"): (Role.VIEWER, "ci"),
    ("tokens", "revoke"): (Role.VIEWER, "{token}"),
    ("search",): (Role.VIEWER, "capital"),
    ("shared-links", "list"): (Role.OWNER, ""),
    ("shared-links", "new"): (Role.OWNER, "dashboard"),
    ("shared-links", "revoke"): (Role.OWNER, "{shared_link}"),
    ("rename",): (Role.EDITOR, "dataset {dataset_name} new-name"),
    ("archive",): (Role.EDITOR, "run {run}"),
    ("delete",): (Role.OWNER, "run {run} --plan"),
    ("deletions",): (Role.OWNER, ""),
    ("audit-log",): (Role.VIEWER, ""),
}
NAMING = {path: case for path, case in COMMANDS.items() if "{" in case[1]}
TOO_LOW = "; this needs a"


@pytest.fixture
def people(furnished: Furnished) -> Cast:
    return furnished.people


def leaves(parser: argparse.ArgumentParser, *path: str) -> Iterator[Path]:
    """Every command and action there is."""
    rooms = [one for one in parser._actions if isinstance(one, argparse._SubParsersAction)]
    if not rooms:
        yield path
    for room in rooms:
        for name, below in room.choices.items():
            yield from leaves(below, *path, name)


def names(ids: dict[str, Any]) -> dict[str, Any]:
    """Rows as the command line names them."""
    return {
        "rubric": ids["rubric_id"],
        "version": f"id:{ids['rubric_id']}",
        "dataset": f"id:{ids['dataset_id']}",
        "dataset_name": ids["dataset_id"],
        "run": ids["run_id"],
        "again": ids["baseline_id"],
        "queue": ids["queue_id"],
        "item": f"id:{ids['item_id']}",
        "case": f"id:{ids['case_id']}",
        "combination": ids["combination_id"],
        "criterion": f"id:{ids['criterion_id']}",
        "comment": ids["comment_id"],
        "judge": ids["judge_slug"],
        "endpoint": f"endpoint-{ids['endpoint_id']}",
        "token": ids["token_id"],
        "review": ids["review_id"],
        "shared_link": ids["link_id"],
        "person": "charlie",
    }


def test_every_command_is_in_the_tests_below() -> None:
    assert set(leaves(console.parser())) == set(COMMANDS) | OPERATORS


@pytest.mark.parametrize(("path", "case"), COMMANDS.items(), ids=map(" ".join, COMMANDS))
def test_every_command_keeps_its_roles(path: Path, case: Any, people: Cast, at_terminal) -> None:
    role, arguments = case
    # Ids nobody has: who is let in learns that there is nothing, who is not learns only that.
    said = arguments.format(**names(dict.fromkeys(IDS, 10**9))).split()
    for has, person in people.members.items():
        ended = at_terminal(person)(*path, *said)
        assert (TOO_LOW in ended.err) == (has < role), f"{has.label}: {ended}"
        assert ended.code in ((1,) if has < role else (0, 1)), ended
        assert not (has < role and ended.out)
    ended = at_terminal(people.charlie)(*path, *said)
    assert (ended.code, ended.out) == (1, "")
    assert "There is no such team" in ended.err


IDS = (
    *("rubric_id", "dataset_id", "run_id", "baseline_id", "queue_id", "item_id", "criterion_id"),
    *("comment_id", "endpoint_id", "token_id", "link_id", "case_id", "combination_id", "judge_slug"),
    "review_id",
)


@pytest.mark.parametrize(("path", "case"), NAMING.items(), ids=map(" ".join, NAMING))
def test_another_teams_rows_are_not_found(
    path: Path, case: Any, furnished: Furnished, people: Cast, at_terminal
) -> None:
    said = case[1].format(**names(furnished.theirs)).split()
    ended = at_terminal(people.alice)(*path, *said)
    assert (ended.code, ended.out) == (1, ""), ended
    assert any(words in ended.err for words in ("There is no", "cannot be read", "has no token")), ended.err
    assert "sk-secret-key" not in ended.err
