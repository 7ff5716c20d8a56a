"""Judge against people on a table small enough to work out by hand."""

import json

import pytest

from rubricweb.engine.verdict import Verdict
from rubricweb.errors import Withheld
from rubricweb.models import ReviewQueue, Run, User
from rubricweb.selectors.adjudication import inbox
from rubricweb.selectors.comparison import comparison
from rubricweb.services import adjudications, exports
from tests import factories
from tests.factories import Cast
from tests.judging import InProcessJudge, grade

# Four items, one criterion. People (x, y, z) → majority; judge.
LABELS = {"1": "MET MET MET", "2": "MET MET UNMET", "3": "UNMET UNMET UNMET", "4": "UNMET MET UNMET"}
JUDGED = {"1": "MET", "2": "UNMET", "3": "UNMET", "4": "UNMET"}


@pytest.fixture
def graded(people: Cast):
    version = factories.version(
        people.team, people.ed, criteria=[{"name": "only", "weight": 1, "requirement": "Is right."}]
    )
    items = [{"id": key, "submission": f"Text {key}"} for key in LABELS]
    dataset = factories.dataset(people.team, people.ed, items=items)
    lines = ["item_id,criterion,rater,verdict,reason"]
    for key, verdicts in LABELS.items():
        lines += [
            f"{key},only,{rater},{verdict}," for rater, verdict in zip("xyz", verdicts.split(), strict=True)
        ]
    queue = factories.import_labels(
        dataset, version, by=people.ed, data="\n".join(lines).encode(), filename="labels.csv"
    )
    run = factories.run(people.team, people.ed, dataset=dataset, rubric_version=version)
    grade(run, InProcessJudge(lambda requirement, response: JUDGED[response.strip()[-1]]))
    return run, queue


def test_figures_are_those_worked_out_by_hand(people: Cast, graded) -> None:
    run, queue = graded
    found = comparison.compare(run, [queue], viewer=people.bob)
    # Truth MET MET UNMET UNMET, judge MET UNMET UNMET UNMET: the worked example of compare_labels.
    assert (found.units, found.judged, found.errors, found.coverage) == (4, 4, 0, 1.0)
    assert found.overall.n == 4
    assert found.overall.accuracy.value == pytest.approx(0.75)
    assert found.overall.figures["balanced_accuracy"].value == pytest.approx(0.75)
    assert found.overall.kappa.value == pytest.approx(0.5)
    assert found.overall.figures["mcc"].value == pytest.approx(0.5774, abs=1e-4)
    # α: 12 values, 6 MET, 6 UNMET; per unit disagreeing ordered pairs / (m − 1): 0, 4/2, 0, 4/2 → D_o = 4;
    # expected (144 − 72) / 11 = 6.545; α = 1 − 4 / 6.545 = 0.3889.
    assert found.human_alpha.value == pytest.approx(0.3889, abs=1e-4)
    assert found.human_alpha.n == 4
    assert found.raters == 3
    [row] = found.criteria
    assert row.pair.kappa.value == pytest.approx(0.5)


def waiting(people: Cast, run: Run, queue: ReviewQueue, viewer: User) -> list[inbox.InboxUnit]:
    where = inbox.scope(people.team, viewer, [queue], run)
    return inbox.shown(where, inbox.inbox(where))


def test_the_units_of_a_cell_are_those_its_number_counts(people: Cast, graded) -> None:
    run, queue = graded
    rows = waiting(people, run, queue, people.bob)
    assert [(row.item_key, row.kind) for row in rows] == [("2", "people differ"), ("4", "people differ")]
    assert rows[0].votes == (("MET", 2), ("UNMET", 1))
    cell = comparison.cell_units(run, [queue], judged="UNMET", truth="UNMET")
    keys = [run.dataset.items.get(pk=item_id).key for item_id, _ in cell]
    assert keys == ["3", "4"]


def test_an_adjudication_changes_the_truth_and_leaves_the_inbox(people: Cast, graded) -> None:
    run, queue = graded
    item, criterion = run.dataset.items.get(key="2"), run.rubric_version.criteria.get()
    adjudications.adjudicate(
        item, criterion, by=people.rae, verdict=Verdict.UNMET, cause="human_wrong", reason="Not there."
    )
    found = comparison.compare(run, [queue], viewer=people.bob)
    assert found.overall.accuracy.value == 1.0
    assert found.adjudicated == 1
    assert [row.item_key for row in waiting(people, run, queue, people.bob)] == ["4"]


def test_undefined_figures_are_none(people: Cast, graded) -> None:
    run, queue = graded
    nobody = comparison.compare(run, [], viewer=people.bob)
    assert nobody.overall.n == 0
    assert nobody.overall.kappa.value is None
    assert nobody.human_alpha.value is None
    assert nobody.coverage is None
    assert queue.state == "closed"


def test_a_blind_rater_gets_neither_figures_nor_rows_of_items_still_to_do(people: Cast, graded) -> None:
    run, labels = graded
    factories.queue(
        people.team,
        people.ed,
        dataset=run.dataset,
        rubric_version=run.rubric_version,
        raters=[people.ann],
        name="blind",
    )
    found = comparison.compare(run, [labels], viewer=people.ann)
    assert (found.units, found.hidden_items) == (0, 4)
    assert waiting(people, run, labels, people.ann) == []
    with pytest.raises(Withheld, match="verdicts of 4 items are left out"):
        exports.export(
            people.team,
            viewer=people.ann,
            what="verdicts",
            format="csv",
            dataset=run.dataset,
            queues=[labels],
            run=run,
        )


def exported(people: Cast, run: Run, queue, what: str, format: str) -> str:
    made = exports.export(
        people.team, viewer=people.bob, what=what, format=format, dataset=run.dataset, queues=[queue], run=run
    )
    return "".join(made.chunks)


def test_ground_truth_goes_out_as_an_autorubric_dataset(people: Cast, graded) -> None:
    run, queue = graded
    data = json.loads(exported(people, run, queue, "ground_truth", "autorubric"))
    assert data["name"] == "capital answers"
    assert [item["ground_truth"] for item in data["items"]] == [["MET"], ["MET"], ["UNMET"], ["UNMET"]]
    assert data["items"][1]["ground_truth_reasons"] == ["majority of 3"]


def test_verdicts_go_out_in_long_form_with_who_said_them(people: Cast, graded) -> None:
    run, queue = graded
    lines = exported(people, run, queue, "verdicts", "csv").splitlines()
    assert len(lines) == 1 + 4 * 3 + 4
    rows = [json.loads(line) for line in exported(people, run, queue, "verdicts", "jsonl").splitlines()]
    assert {row["rater_kind"] for row in rows} == {"human", "judge"}
    assert [row["verdict"] for row in rows if row["rater_kind"] == "judge"] == list(JUDGED.values())
