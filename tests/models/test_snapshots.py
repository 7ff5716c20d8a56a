"""What a run keeps of its judge, panel and examples: stored as ever, read strictly."""

import json
from typing import Any

import pytest
from django.core import serializers
from django.db import connection

from rubricweb.judges.base import JudgeConfig
from rubricweb.models import (
    CascadeSnapshot,
    ExampleSnapshot,
    FewShotSnapshot,
    JudgeSnapshot,
    MemberSnapshot,
    PanelSnapshot,
    Run,
)
from tests import factories
from tests.factories import Cast

CONFIG = JudgeConfig("first", "https://judge.example/v1", "m-1", api_key="sk-1", seed=7)
JUDGE = JudgeSnapshot.of("endpoint-3", CONFIG)
PANEL = PanelSnapshot(
    members=(MemberSnapshot("first", 2.0, 0, JUDGE), MemberSnapshot("second", 1.0, 1, JUDGE)),
    rule={"binary": "majority"},
    repeats=1,
    quorum=0.5,
    cascade=CascadeSnapshot((1, 3), ("disagreement",), None),
)
SHOWN = FewShotSnapshot(4, None, (8, 9), 2, 11, "sha256:ab", (ExampleSnapshot(1, 8, "MET", "It is named."),))


@pytest.fixture
def run(people: Cast) -> Run:
    dataset, version = factories.dataset(people.team, people.ed), factories.version(people.team, people.ed)
    return factories.run(people.team, people.ed, dataset=dataset, rubric_version=version)


def keep(run: Run, **columns: Any) -> Run:
    """The run with these columns, read again."""
    Run.objects.filter(pk=run.pk).update(**columns)
    return Run.objects.get(pk=run.pk)


def column(run: Run, name: str) -> Any:
    """What stands in the table, as any other program would read it."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {name} FROM rubricweb_run WHERE id = %s", [run.pk])
        return json.loads(cursor.fetchone()[0])


def test_what_is_stored_is_what_was_stored_before_there_were_types(run: Run) -> None:
    keep(run, judge=PANEL.as_judge(), panel=PANEL, few_shot=SHOWN)
    assert column(run, "judge") == {"id": "panel", "name": "cascade of 2 stages", "model": "m-1, m-1"}
    panel = column(run, "panel")
    assert panel.keys() == {"members", "rule", "repeats", "quorum", "cascade"}
    assert panel["cascade"] == {"repeats": [1, 3], "escalate_on": ["disagreement"], "min_confidence": None}
    first = panel["members"][0]
    assert first.keys() == {"name", "weight", "stage", "judge"}
    assert first["judge"].items() >= {"id": "endpoint-3", "name": "first", "model": "m-1", "seed": 7}.items()
    assert not first["judge"].keys() & {"api_key", "extra_headers", "config"}
    assert column(run, "few_shot") == {
        "dataset_id": 4,
        "queue_id": None,
        "item_ids": [8, 9],
        "n": 2,
        "seed": 11,
        "digest": "sha256:ab",
        "examples": [{"criterion": 1, "item": 8, "label": "MET", "reason": "It is named."}],
    }


def test_what_was_stored_is_read_as_it_was(run: Run) -> None:
    read = keep(run, judge=JUDGE, panel=PANEL, few_shot=SHOWN)
    assert (read.judge, read.panel, read.few_shot) == (JUDGE, PANEL, SHOWN)
    assert Run.objects.values_list("judge__name", "panel__cascade__repeats").get() == ("first", [1, 3])
    assert [one.name for one in read.asked_judges] == ["first", "first"]
    assert read.votes_per_criterion == (1, 3)


def test_a_run_that_is_dumped_and_loaded_is_the_same(run: Run) -> None:
    keep(run, judge=JUDGE, panel=PANEL, few_shot=SHOWN)
    dumped = serializers.serialize("json", Run.objects.all())
    Run.objects.update(panel=None, few_shot=None)
    [loaded] = serializers.deserialize("json", dumped)
    loaded.save()
    read = Run.objects.get()
    assert (read.judge, read.panel, read.few_shot) == (JUDGE, PANEL, SHOWN)


@pytest.mark.parametrize(
    ("name", "stored", "fault"),
    [
        ("judge", {"id": "offline", "name": "first"}, "Run: judge.model: Field required"),
        (
            "judge",
            {"id": "a", "name": "b", "model": "c", "base_url": "d", "heat": 1},
            "heat: a judge has",
        ),
        ("judge", {**JUDGE.as_json(), "api_key": "sk-1"}, "api_key: a judge has no such setting, or keeps"),
        ("judge", {**JUDGE.as_json(), "seed": "7"}, "seed: found '7'; allowed: a whole number of 64 bits"),
        (
            "judge",
            {**JUDGE.as_json(), "concurrency": 0},
            "JudgeConfig.concurrency is 0; allowed is 1 or more",
        ),
        ("panel", {"members": []}, "Run: panel.rule: Field required; panel.repeats: Field required"),
        ("panel", {"members": [{"name": "a"}]}, "panel.members.0.weight: Field required"),
        ("few_shot", {"dataset_id": "4"}, "few_shot.dataset_id: Input should be a valid integer"),
        ("few_shot", {"half": 1}, "few_shot.half: Unexpected keyword argument"),
    ],
)
def test_what_cannot_be_read_is_named(run: Run, name: str, stored: Any, fault: str) -> None:
    with pytest.raises(ValueError) as refused:  # what it says is asserted
        keep(run, **{name: stored})
    assert fault in str(refused.value)
    assert "sk-1" not in str(refused.value)
