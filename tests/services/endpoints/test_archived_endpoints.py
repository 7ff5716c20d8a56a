"""Archiving an endpoint: no new run asks it, its key and its runs stay."""

import pytest
from django.utils import timezone

from rubricweb.errors import Conflict, Invalid
from rubricweb.models import Dataset, JournalEntry, JudgeEndpoint, RubricVersion, Run
from rubricweb.services.endpoints import endpoints, prices
from rubricweb.services.endpoints.trials import try_judge
from rubricweb.services.runs import lifecycle
from rubricweb.services.runs.panels import Panel, PanelMember
from rubricweb.services.runs.starting import RunOptions
from rubricweb.services.shared import archiving
from tests import factories
from tests.factories import Cast
from tests.judging import InProcessJudge, grade

pytestmark = pytest.mark.django_db


@pytest.fixture
def endpoint(people: Cast) -> JudgeEndpoint:
    return endpoints.add_endpoint(
        people.team,
        by=people.alice,
        name="House model",
        base_url="http://127.0.0.1:9/v1",
        model="house-1",
        api_key="sk-1",
    )


@pytest.fixture
def version(people: Cast) -> RubricVersion:
    return factories.version(people.team, people.ed)


@pytest.fixture
def dataset(people: Cast) -> Dataset:
    return factories.dataset(people.team, people.ed)


@pytest.fixture
def run(people: Cast, endpoint: JudgeEndpoint, dataset: Dataset, version: RubricVersion) -> Run:
    return factories.run(
        people.team, people.ed, dataset=dataset, rubric_version=version, judge_id=endpoint.judge_id
    )


def archive(people: Cast, endpoint: JudgeEndpoint) -> None:
    archiving.archive(endpoint, by=people.alice, now=timezone.now())


def graded(run: Run) -> Run:
    return grade(run, InProcessJudge(lambda requirement, response: "MET"))


def test_an_archived_endpoint_leaves_judges_and_prices_keeps_its_key_and_comes_back(
    people: Cast, endpoint: JudgeEndpoint
) -> None:
    kept = endpoint.sealed_key
    archive(people, endpoint)
    assert endpoint.judge_id not in endpoints.judges_of(people.team)
    assert endpoints.endpoints_of(people.team) == []
    assert endpoints.endpoints_of(people.team, archived=True) == [endpoint]
    assert list(endpoints.archived_judges(people.team)) == [endpoint.judge_id]
    assert prices.list_for(people.team) == []
    assert endpoint.sealed_key == kept != ""
    archiving.restore(endpoint, by=people.alice)
    assert endpoint.judge_id in endpoints.judges_of(people.team)
    assert endpoints.judge_to_ask(people.team, endpoint.judge_id).api_key == "sk-1"
    lines = JournalEntry.objects.filter(target_kind="judgeendpoint").order_by("pk")
    assert [(line.verb, line.actor) for line in lines] == [
        ("added", people.alice),
        ("archived", people.alice),
        ("restored", people.alice),
    ]


def test_a_run_that_asks_it_keeps_it_from_being_archived_and_is_named(
    people: Cast, endpoint: JudgeEndpoint, run: Run
) -> None:
    with pytest.raises(Conflict, match=f"Run {run.pk} is running: cancel it first"):
        archive(people, endpoint)
    graded(run)
    archive(people, endpoint)
    assert endpoint.archived_at is not None
    assert run.run_items.exclude(score=None).count() == 3


def test_so_does_a_run_whose_panel_it_is_in(
    people: Cast, endpoint: JudgeEndpoint, dataset: Dataset, version: RubricVersion
) -> None:
    panel = Panel(members=(PanelMember("offline"), PanelMember(endpoint.judge_id)))
    run = factories.run(
        people.team, people.ed, dataset=dataset, rubric_version=version, judge_id="", panel=panel
    )
    assert run.endpoint_id is None
    with pytest.raises(Conflict, match=f"Run {run.pk} is running"):
        archive(people, endpoint)


def test_new_runs_panels_tests_and_plans_with_it_are_refused(
    people: Cast, endpoint: JudgeEndpoint, dataset: Dataset, version: RubricVersion
) -> None:
    frozen = endpoints.choose_judge(people.team, endpoint.judge_id)
    archive(people, endpoint)
    refused = "The endpoint House model is archived: restore it first, or choose another."
    asked: list[RunOptions] = [
        RunOptions(judge_id=endpoint.judge_id),
        # As a run that is started again brings its judge along.
        RunOptions(judge_id=endpoint.judge_id, judge=frozen),
        RunOptions(panel=Panel(members=(PanelMember("offline"), PanelMember(endpoint.judge_id)))),
    ]
    for options in asked:
        with pytest.raises(Conflict, match=refused):
            lifecycle.start_run(
                people.team,
                by=people.ed,
                dataset=dataset,
                rubric_version=version,
                enqueue=factories.WakeUps(),
                options=options,
                no_cap=True,
            )
    with pytest.raises(Conflict, match=refused):
        try_judge(people.team, endpoint.judge_id, by=people.alice, now=timezone.now())
    assert not Run.objects.exists()


@pytest.mark.parametrize("judge_id", ["endpoint-" + "9" * 30, "endpoint-²", "endpoint-", "endpoint-999"])
def test_a_judge_that_cannot_be_is_unknown_and_not_archived(people: Cast, judge_id: str) -> None:
    with pytest.raises(Invalid, match="There is no judge"):
        endpoints.choose_judge(people.team, judge_id)


def test_its_ended_runs_are_not_gone_on_with_before_it_is_restored(
    people: Cast, endpoint: JudgeEndpoint, run: Run
) -> None:
    lifecycle.cancel_run(run, by=people.ed, now=timezone.now())
    archive(people, endpoint)
    with pytest.raises(Conflict, match="is archived: restore it first"):
        lifecycle.resume_run(run, by=people.ed, enqueue=factories.WakeUps())
    run.refresh_from_db()
    assert run.state == "cancelled"
    archiving.restore(endpoint, by=people.alice)
    assert lifecycle.resume_run(run, by=people.ed, enqueue=factories.WakeUps()) == 3


def test_its_name_stays_taken_and_it_can_be_renamed_and_removed(
    people: Cast, endpoint: JudgeEndpoint
) -> None:
    archive(people, endpoint)
    again = {"name": "House model", "base_url": "http://127.0.0.1:9/v1", "model": "house-2"}
    with pytest.raises(Conflict, match="already has an endpoint called 'House model'"):
        endpoints.add_endpoint(people.team, by=people.alice, **again)
    renamed = endpoints.edit_endpoint(endpoint, by=people.alice, name="Old model")
    assert (renamed.name, renamed.archived_at is None) == ("Old model", False)
    endpoints.add_endpoint(people.team, by=people.alice, **again)
    endpoints.remove_endpoint(renamed, by=people.alice, now=timezone.now())
    assert endpoints.endpoints_of(people.team, archived=True) == []


def test_archiving_and_editing_are_one_change(people: Cast, endpoint: JudgeEndpoint, run: Run) -> None:
    with pytest.raises(Conflict):
        endpoints.change_endpoint(
            endpoint, by=people.alice, now=timezone.now(), name="Old model", archived=True
        )
    endpoint.refresh_from_db()
    assert (endpoint.name, endpoint.archived_at) == ("House model", None)
