"""What a program or model said in a file is shown as a machine's, and is in no figure about people."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from rubricweb.engine.autograders import PerCriterionGrader
from rubricweb.engine.formats.datasets.files import preview, read_dataset
from rubricweb.engine.formats.label_files import LabelChoices
from rubricweb.engine.formats.labels.exact import read_labels
from rubricweb.errors import Conflict, Invalid
from rubricweb.models import Criterion, Dataset, Item, Rater, Review, ReviewQueue, Run, Vote
from rubricweb.selectors.adjudication import inbox
from rubricweb.selectors.comparison import comparison
from rubricweb.selectors.comparison.item import item_comparison
from rubricweb.selectors.datasets.imports import imported_raters
from rubricweb.selectors.exports import exports
from rubricweb.selectors.exports.ground_truth import ground_truth_items, settled_labels
from rubricweb.selectors.exports.label_lineage import counted_labels
from rubricweb.selectors.labels import comparable, ground_truth, label_evidence
from rubricweb.selectors.labels.provenance import provenances
from rubricweb.selectors.labels.queue_labels import queue_labels
from rubricweb.selectors.reviews import revision_rates
from rubricweb.selectors.rubrics.todo import rubric_todo
from rubricweb.selectors.runs.planning.judge_history import histories
from rubricweb.services import adjudications, label_files
from rubricweb.services.datasets import raters, splits
from rubricweb.services.runs import few_shot
from rubricweb.services.runs.few_shot import FewShot
from rubricweb.services.teams import teams
from tests import factories
from tests.api.client import ApiClient
from tests.factories import Cast
from tests.judging import InProcessJudge, grade

LABEL_STUDIO = [
    {
        "id": number,
        "data": {"text": f"Answer {number}"},
        "annotations": [
            {"completed_by": who, "result": [
                {"from_name": "polite", "to_name": "text", "type": "choices", "value": {"choices": [label]}}
            ]}
            for who, label in (("ann@example.org", "MET"), ("ben@example.org", "MET" if number else "UNMET"))
        ],
        "predictions": [
            {"model_version": "v1", "result": [
                {"from_name": "polite", "to_name": "text", "type": "choices", "value": {"choices": ["UNMET"]}}
            ]}
        ],
    }
    for number in range(6)
]  # fmt: skip
INSPECT = {
    "eval": {"task": "sums"},
    "status": "success",
    "samples": [
        {
            "id": 1,
            "epoch": 1,
            "input": "2+2?",
            "output": {"completion": "4"},
            "scores": {"match": {"value": "C"}},
        }
    ],
}
PROMPTFOO = {
    "results": {
        "version": 3,
        "results": [
            {
                "vars": {},
                "prompt": {"raw": "Greet.", "label": "Greet."},
                "response": {"output": "Bonjour"},
                "testCase": {"assert": [{"type": "llm-rubric", "value": "Is French"}]},
                "gradingResult": {
                    "pass": True,
                    "componentResults": [
                        {
                            "pass": True,
                            "reason": "It is.",
                            "assertion": {"type": "llm-rubric", "value": "Is French"},
                        }
                    ],
                },
            }
        ],
    }
}
EVALS = "\n".join(
    json.dumps(line)
    for line in (
        {"spec": {"eval_name": "capitals", "completion_fns": ["small"]}},
        {"sample_id": "c.0", "type": "sampling", "data": {"prompt": "Capital?", "sampled": ["Paris"]}},
        {"sample_id": "c.0", "type": "match", "data": {"correct": True, "expected": "Paris"}},
    )
)
FOREIGN = {
    "tasks.json": (json.dumps(LABEL_STUDIO), "model v1"),
    "log.json": (json.dumps(INSPECT), "inspect"),
    "results.json": (json.dumps(PROMPTFOO), "promptfoo"),
    "events.jsonl": (EVALS, "capitals"),
}


@pytest.fixture
def imported(people: Cast) -> Dataset:
    """Six answers, labelled by two people (who differ on the first) and, all against them, by a model."""
    data = json.dumps(LABEL_STUDIO).encode()
    return factories.import_dataset(people.team, by=people.ed, data=data, filename="tasks.json", name="tasks")


@pytest.fixture
def run(people: Cast, imported: Dataset) -> Run:
    planned = factories.run(people.team, people.ed, dataset=imported, rubric_version=imported.rubric_version)
    return grade(planned, InProcessJudge(lambda requirement, response: "MET"))


@pytest.mark.parametrize("filename", FOREIGN)
def test_grades_of_programs_in_foreign_files_are_a_machines(filename: str) -> None:
    text, machine = FOREIGN[filename]
    file = read_dataset(text.encode(), filename=filename)
    kinds = {label.rater: label.rater_kind for label in file.labels}
    assert kinds.pop(machine) == "machine"
    assert set(kinds.values()) <= {"human"}
    assert preview(text.encode(), filename).machine_raters == (machine,)


def test_our_own_dataset_files_name_machines_and_refuse_names_without_labels() -> None:
    item = {"submission": "4", "rubric": [{"requirement": "Says 4."}], "labels": {"gpt": ["MET"]}}
    named = read_dataset(json.dumps([item | {"machine_raters": ["gpt"]}]).encode(), filename="a.json")
    assert [label.rater_kind for label in named.labels] == ["machine"]
    with pytest.raises(ValueError, match="machine_raters"):
        read_dataset(json.dumps([item | {"machine_raters": ["gtp"]}]).encode(), filename="a.json")


def test_a_label_file_says_line_by_line_who_gave_a_label() -> None:
    head = "item_id,criterion,rater,verdict,rater_kind\n"
    lines = head + "a,C1,sam,MET,human\na,C1,sam,UNMET,judge\na,C1,gt,MET,settled\na,C1,kim,MET,\n"
    found = read_labels(lines.encode(), filename="l.csv")
    # "sam" twice is no double label: a person, and a judge of that name.
    assert [label.rater_kind for label in found] == ["human", "machine", "settled", "human"]
    assert read_labels(lines.encode(), filename="l.csv", rater_kind="machine")[3].rater_kind == "machine"
    with pytest.raises(ValueError, match="line 2: rater_kind"):
        read_labels((head + "a,C1,sam,MET,robot\n").encode(), filename="l.csv")


def figures(people: Cast, run: Run) -> dict[str, Any]:
    """Every figure about people, by name."""
    queues = list(comparable.labelled_queues(run.dataset_id, team=people.team))
    [queue] = queues
    board = queue_labels(queue)
    scope = inbox.scope(people.team, viewer=people.rae)
    compared = comparison.compare(run, queues, viewer=people.bob)
    export = ground_truth_items(run.dataset, settled_labels(queues))
    assert run.rubric_version is not None
    return {
        "labels": ground_truth.labels(queues, final=True),
        "truth": ground_truth.ground_truth(queues),
        "provenance": provenances(queues),
        "raters of the board": (board.raters, board.said.tolist()),
        "inbox": inbox.inbox(scope),
        "compared": (
            compared.overall,
            compared.raters,
            compared.units,
            compared.ceiling,
            compared.human_alpha,
        ),
        "evidence": label_evidence.label_evidence(run.rubric_version, people.team, viewer=people.ed),
        "exported": list(export),
    }


def test_no_figure_about_people_is_another_without_the_machine(people: Cast, run: Run) -> None:
    with_machine = figures(people, run)
    assert with_machine["compared"][1] == 2  # ann and ben
    Run.objects.filter(rater__kind="machine").delete()
    without = figures(people, run)
    for name, value in without.items():
        assert with_machine[name] == value, name


def test_nothing_made_of_peoples_labels_is_another_without_the_machine(people: Cast, run: Run) -> None:
    item, criterion = decided(run)
    adjudications.adjudicate(
        item, criterion, by=people.rae, verdict="MET", cause="rubric_unclear", reason="Both are right."
    )
    for judge, verdict in (("a", "MET"), ("b", "UNMET")):
        Vote.objects.create(run=run, item=item, criterion=criterion, judge=judge, verdict=verdict)
    with_machine = made_of_labels(people, run)
    assert all(with_machine.values())
    decision = item.adjudications.get()
    assert [one["rater"] for one in decision.labels if not one["is_judge"]] == [
        "ann@example.org",
        "ben@example.org",
    ]
    assert [row.unclear for row in with_machine["to-do list"]] == [1]
    Run.objects.filter(rater__kind="machine").delete()
    adjudications.withdraw(item, criterion, by=people.rae)
    adjudications.adjudicate(
        item, criterion, by=people.rae, verdict="MET", cause="rubric_unclear", reason="Both are right."
    )
    assert item.adjudications.get().labels == decision.labels
    without = made_of_labels(people, run)
    for name, value in without.items():
        assert with_machine[name] == value, name


def decided(run: Run) -> tuple[Item, Criterion]:
    """The unit on which the two people differ."""
    assert run.rubric_version is not None
    return run.dataset.items.get(key="0"), run.rubric_version.criteria.get()


def made_of_labels(people: Cast, run: Run) -> dict[str, Any]:
    """What people's labels are turned into, by name: examples, work on a rubric, what a judge is known by."""
    assert run.rubric_version is not None
    assert run.rubric_version.rubric is not None
    judge = run.judge.config
    other = Dataset.objects.filter(team=people.team, name="to grade").first() or factories.dataset(
        people.team, people.ed, name="to grade", items=[{"id": "new", "submission": "Quite another text."}]
    )
    shown = few_shot.snapshot(
        FewShot(run.dataset, n=3, seed=1),
        graded=other.items.current(),
        rubric_version=run.rubric_version,
        grader=PerCriterionGrader(),
        viewer=people.ed,
    )
    scope = inbox.scope(people.team, viewer=people.rae)
    return {
        "examples": shown,
        "to-do list": rubric_todo(run.rubric_version.rubric, viewer=people.ed),
        "history of the judge": histories(people.team, {"judge": judge}, viewer=people.ed),
        "flips": inbox.inbox(scope, kind="judge flips", decided=True),
        "revision rates": revision_rates.revision_rates(
            run, list(comparable.labelled_queues(run.dataset_id, team=people.team)), viewer=people.ed
        ),
    }


def test_a_dataset_that_only_machines_labelled_counts_as_labelled_by_nobody(people: Cast) -> None:
    dataset = factories.import_dataset(
        people.team, by=people.ed, data=json.dumps(INSPECT).encode(), filename="log.json", name="log"
    )
    assert not comparable.labelled_queues(dataset.pk, team=people.team).exists()
    with pytest.raises(Invalid, match="Nobody has labelled"):
        splits.split_dataset(dataset, n_dev=1, by=people.ed)


def test_machine_labels_stay_visible_as_such(people: Cast, run: Run, sign_in: Callable[..., Client]) -> None:
    queues = list(comparable.labelled_queues(run.dataset_id, team=people.team))
    rows = list(exports.verdict_rows(run.dataset, queues, run, counted_labels(queues, run)))
    kinds = {(row.rater, row.rater_kind, row.imported) for row in rows if row.rater_kind != "judge"}
    assert kinds == {("ann@example.org", "human", True), ("ben@example.org", "human", True)}
    imported = Run.objects.get(dataset=run.dataset, rater__isnull=False)
    of_file = list(exports.verdict_rows(run.dataset, [], imported, counted_labels([], imported)))
    assert {(row.rater, row.rater_kind, row.imported, row.origin) for row in of_file} == {
        ("model v1", "machine", True, "machine_imported")
    }
    assert {row.imported for row in rows if row.rater_kind == "judge"} == {None}
    item = run.dataset.items.order_by("position")[0]
    [criterion] = item_comparison(item, run, queues, viewer=people.bob).criteria
    assert [answer.name for answer in criterion.judges if answer.verdict == "UNMET"] == ["model v1"]
    assert {answer.origin for answer in criterion.people} == {"person_imported"}
    assert {answer.name: answer.origin for answer in criterion.judges} == {
        "model v1": "machine_imported",
        run.judge.name: None,
    }
    page = (
        sign_in(people.bob).get(reverse("dataset", args=[people.team.slug, run.dataset_id])).content.decode()
    )
    assert "a machine, imported, in a run of its own" in " ".join(page.split())


def test_halves_of_a_split_keep_machines_apart_and_say_what_came_in_a_file(
    people: Cast, imported: Dataset
) -> None:
    half = splits.split_dataset(imported, n_dev=3, by=people.ed).dev
    assert {(one.name, one.rater_kind) for one in imported_raters(half)} == {
        ("ann@example.org", "human"),
        ("ben@example.org", "human"),
        ("model v1", "machine"),
    }
    own = factories.dataset(people.team, people.ed, name="own")
    version = factories.version(people.team, people.ed)
    queue = factories.queue(people.team, people.ed, dataset=own, rubric_version=version, raters=[people.ann])
    assert not Review.objects.filter(queue=queue, imported=True).exists()


def test_a_person_and_a_machine_of_one_name_are_two_raters(people: Cast, imported: Dataset) -> None:
    lines = "item_id,criterion,rater,verdict\n1,polite,ann@example.org,UNMET\n"
    label_files.import_label_file(
        imported,
        imported.rubric_version,
        by=people.ed,
        data=lines.encode(),
        filename="m.csv",
        choices=LabelChoices(rater_kind="machine"),
    )
    assert set(Rater.objects.filter(name="ann@example.org").values_list("kind", flat=True)) == {
        "human",
        "machine",
    }
    said = ground_truth.labels(list(ReviewQueue.objects.filter(dataset=imported)))
    assert {label for by_rater in said.values() for label in by_rater.values()} == {"MET", "UNMET"}
    assert sum("UNMET" in by_rater.values() for by_rater in said.values()) == 1  # ben's on the first


# ── Whom a file left open ────────────────────────────────────────────────────────────────────────


def test_a_rater_of_a_file_can_be_said_to_be_a_machine(
    people: Cast, imported: Dataset, sign_in: Callable[..., Client]
) -> None:
    ben = Rater.objects.get(name="ben@example.org")
    address = reverse("rater_kind", args=[people.team.slug, imported.pk, ben.pk])
    assert sign_in(people.rae).post(address, {"rater_kind": "machine"}).status_code == 403
    sign_in(people.ed).post(address, {"rater_kind": "machine"})
    [queue] = comparable.labelled_queues(imported.pk, team=people.team)
    assert {len(by_rater) for by_rater in ground_truth.labels([queue]).values()} == {1}
    sign_in(people.ed).post(address, {"rater_kind": "human"})
    assert {len(by_rater) for by_rater in ground_truth.labels([queue]).values()} == {2}


def test_who_labelled_here_is_a_person(people: Cast) -> None:
    member = people.team.raters.create(name="someone")
    raters.change_kind(member, "machine", by=people.ed)
    mine = people.team.raters.filter(user=people.ann).first() or people.team.raters.create(
        name="ann", user=people.ann
    )
    with pytest.raises(Conflict, match="labels here as a person"):
        raters.change_kind(mine, "machine", by=people.ed)
    with pytest.raises(Invalid, match="human, machine, settled"):
        raters.change_kind(member, "robot", by=people.ed)


def test_the_label_form_and_the_api_take_who_gave_the_labels(
    people: Cast, imported: Dataset, sign_in: Callable[..., Client]
) -> None:
    lines = b"item_id,criterion,rater,verdict\n1,polite,gpt,UNMET\n"
    browser = sign_in(people.ed)
    checked = browser.post(
        reverse("labels_import", args=[people.team.slug, imported.pk]),
        {
            "file": SimpleUploadedFile("gpt.csv", lines),
            "rubric_version": imported.rubric_version_id,
            "rater_kind": "machine",
        },
    )
    browser.post(checked.headers["Location"])
    assert Rater.objects.get(name="gpt").kind == "machine"
    _, secret = teams.create_token(
        people.team.memberships.get(user=people.ed), name="ci", may_write=True, days=1, now=timezone.now()
    )
    client = ApiClient(secret)
    client.call(
        "POST",
        f"/datasets/{imported.pk}/labels",
        files={
            "file": SimpleUploadedFile("again.csv", lines.replace(b"gpt", b"claude")),
            "rater_kind": "machine",
        },
    )
    listed = client.call("GET", f"/datasets/{imported.pk}/raters").json()
    assert {row["name"]: row["rater_kind"] for row in listed} == {
        "ann@example.org": "human",
        "ben@example.org": "human",
        "claude": "machine",
        "gpt": "machine",
        "model v1": "machine",
    }
    [ben] = [row["id"] for row in listed if row["name"].startswith("ben")]
    answered = client.call("PATCH", f"/datasets/{imported.pk}/raters/{ben}", {"rater_kind": "machine"}).json()
    assert {row["name"] for row in answered if row["rater_kind"] == "human"} == {"ann@example.org"}
