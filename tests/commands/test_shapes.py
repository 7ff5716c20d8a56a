"""With `--json` a command prints what the API answers to the same question."""

import argparse

import pytest

from rubricweb.api.adjudication import schemas as adjudication
from rubricweb.api.cases import tag_schemas
from rubricweb.api.comparison import agreement_board_schemas as agreement
from rubricweb.api.comparison import schemas as comparison
from rubricweb.api.datasets import combination_schemas as combinations
from rubricweb.api.datasets import schemas as datasets
from rubricweb.api.datasets import split_schemas
from rubricweb.api.datasets import version_schemas as dataset_versions
from rubricweb.api.deletions import schemas as deletion_schemas
from rubricweb.api.endpoints import schemas as endpoints
from rubricweb.api.judges import schemas as judges
from rubricweb.api.reviews import calibration_schemas as calibration
from rubricweb.api.reviews import comment_schemas as comments
from rubricweb.api.reviews import queue_schemas as queues
from rubricweb.api.rubrics import schemas as rubrics
from rubricweb.api.runs import schemas as runs
from rubricweb.api.runs import watching_schemas as watching
from rubricweb.api.runs.diff import schemas as diff
from rubricweb.api.search import schemas as search
from rubricweb.api.spending import schemas as spending
from rubricweb.api.teams import schemas as teams
from rubricweb.api.teams import shared_link_schemas
from rubricweb.management import console
from tests.commands.shapes import misfits
from tests.commands.test_access import UNIT, leaves, names
from tests.factories import Cast
from tests.worlds.furnished import Furnished

# The words of a command → the schema, and whether it prints an object a line.
PRINTED = {
    "search capital": (search.SearchHit, True),
    "rubrics list": (rubrics.RubricInList, True),
    "rubrics starters": (rubrics.Starter, True),
    "rubrics versions {rubric}": (rubrics.VersionInList, True),
    "rubrics show {version}": (rubrics.RubricVersion, False),
    "datasets list": (datasets.DatasetInList, True),
    "datasets items {dataset_name}": (datasets.ItemInList, True),
    "datasets versions {dataset_name}": (dataset_versions.DatasetVersion, True),
    "datasets combinations": (combinations.Combination, True),
    "datasets split {dataset_name}": (split_schemas.DatasetSplit, False),
    "datasets tag {dataset_name} --item {item} --add hard": (tag_schemas.TagChange, False),
    "datasets retire {dataset_name} --item {item} --plan": (dataset_versions.ChangePlan, False),
    "runs list": (runs.Run, True),
    "runs compare {run} {again}": (comparison.RunTable, False),
    "runs show {run}": (runs.RunInFull, False),
    "runs log {run}": (watching.RunEvent, True),
    "runs watch {run}": (watching.Progress, True),
    "judge list": (runs.PricedJudge, True),
    "judges list": (judges.NamedJudgeInList, True),
    "judges show {judge}": (judges.JudgeVersion, False),
    "judges diff {judge}@v1 {judge}": (judges.JudgeDiff, False),
    "judges edit {judge} --note Hm.": (judges.NamedJudgeInList, False),
    "judges use {judge}@v1": (judges.NamedJudgeInList, False),
    "queues list": (queues.QueueInList, True),
    "queues show {queue}": (queues.QueueInFull, False),
    "queues edit {queue} --hold 5": (queues.QueueInFull, False),
    "gold show {queue}": (calibration.Gold, False),
    "gold rules {queue} --first 0": (calibration.Gold, False),
    "agreement {queue}": (agreement.AgreementBoard, False),
    "adjudication truth {item}": (adjudication.GroundTruthOfItem, False),
    f"adjudication show {UNIT}": (adjudication.Unit, False),
    f"adjudication decide {UNIT} MET --cause judge_wrong": (adjudication.Adjudication, False),
    f"adjudication withdraw {UNIT}": (adjudication.Unit, False),
    "adjudication agreed {queue}": (adjudication.Agreed, False),
    "adjudication accept {queue}": (adjudication.Accepted, False),
    "comments list {item}": (comments.Comment, True),
    "comments add {item} Hm.": (comments.Comment, False),
    "endpoints list": (endpoints.Endpoint, True),
    "endpoints show {endpoint}": (endpoints.Endpoint, False),
    "endpoints add new --base-url https://judge.example/v1 --model m": (endpoints.Endpoint, False),
    "endpoints edit {endpoint} --temperature 1": (endpoints.Endpoint, False),
    "prices list": (spending.PriceLine, True),
    "spending show": (spending.Spending, False),
    "retention show": (spending.Retention, False),
    "members list": (teams.Member, True),
    "members role bob viewer": (teams.Member, True),
    "members invitations": (teams.Invitation, True),
    "members invite somebody-new@example.org --hand-over": (teams.HandedInvitation, False),
    "shared-links list": (shared_link_schemas.Link, True),
    "deletions": (deletion_schemas.Deletion, True),
    "delete run {run} --plan": (deletion_schemas.DeletionPlan, False),
    "audit-log": (teams.AuditLogEntry, True),
    "compare {run} --with {baseline}": (diff.RunDiffWithItems, False),
}
# Printed by the same lines of code as one above, or held to its schema where there is something to print:
# tests/commands/datasets/test_rooms_of_data.py, adjudication/, comparison/ and teams/ beside this file.
ELSEWHERE = {
    "shared-links new",  # tests/commands/teams/test_shared_links.py
    *("gold mark", "gold unmark", "gold let-on", "gold try-again", "comments edit", "members link"),
    *("gold end-pause", "queues sent-back"),  # tests/commands/reviews/test_queues.py
    *("datasets raters", "datasets rater-kind", "import-labels", "adjudication list", "compare"),
    *("endpoints test", "judge test"),
    *("endpoints find", "endpoints models"),  # tests/commands/teams/test_endpoints.py
    "datasets add-answers",  # tests/commands/datasets/test_rooms_of_data.py
    "datasets columns",  # tests/commands/datasets/test_columns.py
    "datasets import",  # tests/commands/datasets/test_background_imports.py
    "datasets case",  # tests/commands/datasets/test_cases.py
    # tests/commands/datasets/test_combining.py
    *("datasets combine", "datasets combination-runs", "datasets cancel-combination"),
    "datasets correct",  # tests/commands/datasets/test_retirement.py
    *("datasets rater-member", "datasets undo"),  # tests/api/datasets
    "datasets restore",  # tests/commands/datasets/test_retirement.py
    "datasets seal",  # tests/commands/datasets/test_rooms_of_data.py
    *("labels changes", "labels decide", "labels open-queue"),  # tests/api/rubrics/test_label_decisions.py
    "judges import",  # tests/commands/judges/test_judges.py
    "judges try",  # tests/commands/judges/test_judge_tries.py
    "export",  # tests/services/exports/test_label_lineage.py
    "grade",  # tests/commands/runs/test_failed_items.py
}
# In shapes of their own, because no operation answers the same.
OTHERWISE = {
    *("tokens list", "tokens new"),  # a token can neither make nor list tokens
    "endpoints reencrypt",  # for who runs the server, about all teams
    "prices check",  # for who maintains the shipped list, about no team
    "lint",  # the API's findings, and beside them the review by a judge, which no operation asks for
}


@pytest.fixture
def people(furnished: Furnished) -> Cast:
    return furnished.people


def takes_json(parser: argparse.ArgumentParser, *path: str) -> bool:
    for name in path:
        [room] = [one for one in parser._actions if isinstance(one, argparse._SubParsersAction)]
        parser = room.choices[name]
    return any("--json" in action.option_strings for action in parser._actions)


def test_every_command_that_prints_json_is_named_above() -> None:
    parser = console.parser()
    found = {" ".join(path) for path in leaves(parser) if takes_json(parser, *path)}
    held = {name for name in found if any(f"{said} ".startswith(f"{name} ") for said in PRINTED)}
    assert found == held | ELSEWHERE | OTHERWISE


@pytest.mark.parametrize("said", PRINTED)
def test_a_command_prints_what_the_api_answers(said: str, furnished: Furnished, at_terminal) -> None:
    shape, many = PRINTED[said]
    people = furnished.people
    is_comparison = said.startswith("compare")
    person = people.rae if said.startswith(("adjudication", "agreement")) else people.alice
    if is_comparison:
        person = people.bob  # from alice, who reviews, every item is hidden
    asked = said.format(**names(furnished.ours), baseline=furnished.ours["baseline_id"]).split()
    ended = at_terminal(person)(*asked, "--json")
    assert ended.code == int(is_comparison), ended  # the baseline of this world has no score yet
    if said != "prices list":  # no judge of this world has a model that is listed
        assert ended.out
    assert misfits(shape, ended.out, many=many) == []
