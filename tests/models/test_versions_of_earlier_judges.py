"""Runs from before judges had versions get the version that asks as they did, and nothing of them moves."""

from importlib import import_module

import pytest
from django.apps import apps
from django.db import connection

from rubricweb.judges.offline import lexical
from rubricweb.models import Judge, JudgeCall, JudgeVersion, Run
from rubricweb.selectors.runs.over_time import score_series
from rubricweb.services.judges.definitions import resolved
from rubricweb.services.runs.few_shot import FewShot
from rubricweb.services.runs.panels import Panel, PanelMember
from tests import factories
from tests.factories import Cast
from tests.judging import LabelJudge, grade

pytestmark = pytest.mark.django_db

CRITERIA = [
    {"name": "paris", "weight": 1.0, "requirement": "Names Paris."},
    {"name": "short", "weight": 1.0, "requirement": "Is short."},
]
LABELS = b"item_id,criterion,rater,verdict\nx,paris,ann,UNMET\nx,short,ann,MET\n"
make_versions = import_module("rubricweb.migrations.0071_versions_of_earlier_judges").make_versions


def judge() -> LabelJudge:
    return LabelJudge(lambda name, requirement, response: "MET")


@pytest.fixture
def earlier(people: Cast) -> list[Run]:
    """Runs of a single judge, twice; of another way of asking; of a panel; with examples; and of no judge."""
    team, ed = people.team, people.ed
    data = factories.dataset(team, ed, items=[{"id": "a", "submission": "Paris."}])
    version = factories.version(team, ed, criteria=CRITERIA)
    labelled = factories.dataset(
        team, ed, name="Labelled", items=[{"id": "x", "submission": "Rome is long."}]
    )
    factories.import_labels(labelled, version, by=ed, data=LABELS, filename="labels.csv")
    panel = Panel([PanelMember("offline", name="one"), PanelMember("offline", name="two")])
    asked = [
        {},
        {},
        {"autograder": "one_shot"},
        {"judge_id": "", "panel": panel},
        {"few_shot_from": FewShot(labelled)},
    ]
    runs = [
        grade(
            factories.run(team, ed, dataset=data, rubric_version=version, use_cache=True, **options), judge()
        )
        for options in asked
    ]
    check = {"name": "brief", "weight": 1.0, "check": "length_between", "params": {"unit": "words", "max": 9}}
    checks = factories.version(team, ed, title="Checks", criteria=[check])
    runs.append(grade(factories.run(team, ed, dataset=data, rubric_version=checks, judge_id=""), judge()))
    return runs


def drawn(people: Cast) -> tuple[score_series.Series, ...]:
    finished = score_series.finished_runs(Run.objects.all())
    return score_series.series_of(people.team, finished, frozenset(), frozenset())


def test_earlier_runs_get_a_version_and_nothing_else_of_them_moves(people: Cast, earlier: list[Run]) -> None:
    given = [run.judge_version.digest if run.judge_version else None for run in earlier]
    Run.objects.update(judge_version=None)
    JudgeVersion.objects.all().delete()
    Judge.objects.all().delete()
    before = list(Run.objects.order_by("pk").values())
    series = drawn(people)
    for _ in range(2):  # the second time there is nothing left to do
        make_versions(apps, connection.schema_editor())
        made = list(Run.objects.order_by("pk").select_related("judge_version__judge"))
        assert [run.judge_version.digest if run.judge_version else None for run in made] == given
        assert JudgeVersion.objects.count() == 4
    assert [str(run.judge_version) for run in made] == [
        "offline-judge-not-an-llm-criterion-by-criterion@v1",
        "offline-judge-not-an-llm-criterion-by-criterion@v1",
        "offline-judge-not-an-llm-all-at-once@v1",
        "one-two-criterion-by-criterion@v1",
        # With examples it is another version of the same judge.
        "offline-judge-not-an-llm-criterion-by-criterion@v2",
        "None",
    ]
    assert made[0].judge_version.created_at == made[0].created_at
    assert Judge.objects.get(slug="offline-judge-not-an-llm-criterion-by-criterion").current.number == 2
    for run in made[:5]:
        assert resolved(people.team, run.judge_version.definition) == (run.judge, run.panel)
    after = [{**row, "judge_version_id": None} for row in Run.objects.order_by("pk").values()]
    assert after == before
    assert drawn(people) == series


def test_a_run_by_a_version_of_an_earlier_judge_asks_nothing_again(people: Cast, earlier: list[Run]) -> None:
    Run.objects.update(judge_version=None)
    JudgeVersion.objects.all().delete()
    Judge.objects.all().delete()
    make_versions(apps, connection.schema_editor())
    for first in Run.objects.exclude(judge_version=None).select_related("judge_version__judge"):
        asked = judge()
        again = factories.run(
            people.team,
            people.ed,
            dataset=first.dataset,
            rubric_version=first.rubric_version,
            judge_id=str(first.judge_version),
            use_cache=True,
        )
        grade(again, asked)
        assert asked.asked == []
        calls = JudgeCall.objects.filter(run=again)
        assert calls.exists()
        assert not calls.filter(cached_from=None).exists()
        assert again.judge.model == first.judge.model
    assert lexical.MODEL in {run.judge.model for run in Run.objects.all()}
