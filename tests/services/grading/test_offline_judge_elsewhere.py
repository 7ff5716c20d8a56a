"""A worker that does not know where the offline judge answers leaves its runs to those that do."""

from typing import Any

import pytest
from django.utils import timezone

from rubricweb import tasks
from rubricweb.errors import Conflict
from rubricweb.models import JudgeCall, Run, RunEvent, RunItem, RunState
from rubricweb.services.endpoints import endpoints
from rubricweb.services.grading import session as grading
from rubricweb.services.runs import lifecycle, panels
from tests import factories
from tests.factories import Cast, WakeUps
from tests.judging import InProcessJudge

ADDRESS = "http://127.0.0.1:9/v1"


@pytest.fixture
def run(people: Cast) -> Run:
    return started(people)


def started(people: Cast, **options: Any) -> Run:
    lines = [{"id": f"{n}", "submission": f"Text {n}."} for n in range(3)]
    return factories.run(
        people.team,
        people.ed,
        dataset=factories.dataset(people.team, people.ed, name=f"of {Run.objects.count()}", items=lines),
        rubric_version=factories.version(people.team, people.ed),
        **options,
    )


def session(run: Run) -> list[int]:
    return grading.grade(run.pk, now=timezone.now, queue=InProcessJudge(lambda *_: "MET").line)


def left_to_others(run: Run) -> list[str]:
    return list(RunEvent.objects.filter(run=run, kind="left_to_others").values_list("message", flat=True))


def test_it_holds_nothing_of_such_a_run_and_says_so_once(run: Run, settings) -> None:
    settings.OFFLINE_JUDGE_URL = ""
    assert (session(run), session(run)) == ([], [])  # nobody is woken for it again
    run.refresh_from_db()
    assert (run.state, run.stop_reason) == (RunState.RUNNING, "")
    assert not RunItem.objects.filter(run=run, leased_until__isnull=False).exists()
    assert not JudgeCall.objects.exists()
    [said] = left_to_others(run)
    assert "OFFLINE_JUDGE_URL" in said

    settings.OFFLINE_JUDGE_URL = ADDRESS
    session(run)
    run.refresh_from_db()
    assert run.state == RunState.FINISHED


def test_it_wakes_nobody_for_such_a_run(run: Run, settings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.OFFLINE_JUDGE_URL = ""
    woken: list[int] = []
    monkeypatch.setattr(tasks, "notify", woken.append)
    tasks.grade(run.pk)
    assert woken == []


def test_it_grades_what_others_ask_beside_such_a_run(run: Run, people: Cast, settings) -> None:
    endpoint = endpoints.add_endpoint(
        people.team, by=people.alice, name="mine", base_url="https://judge.example/v1", model="m"
    )
    other = started(people, judge_id=endpoint.judge_id)
    settings.OFFLINE_JUDGE_URL = ""
    assert session(run) == []
    for one, state in ((run, RunState.RUNNING), (other, RunState.FINISHED)):
        one.refresh_from_db()
        assert one.state == state
    assert left_to_others(other) == []


def test_a_panel_with_the_offline_judge_is_left_alone_whole(people: Cast, settings) -> None:
    endpoint = endpoints.add_endpoint(
        people.team, by=people.alice, name="mine", base_url="https://judge.example/v1", model="m"
    )
    members = [panels.PanelMember(endpoint.judge_id), panels.PanelMember(endpoints.OFFLINE)]
    run = started(people, judge_id="", panel=panels.Panel(members))
    settings.OFFLINE_JUDGE_URL = ""
    assert session(run) == []
    assert not JudgeCall.objects.exists()
    assert len(left_to_others(run)) == 1


def test_it_is_said_again_once_the_run_was_resumed(run: Run, people: Cast, settings) -> None:
    settings.OFFLINE_JUDGE_URL = ""
    session(run)
    lifecycle.pause_run(run, by=people.ed)
    lifecycle.resume_run(run, by=people.ed, enqueue=WakeUps())
    session(run)
    assert len(left_to_others(run)) == 2


def test_who_has_to_ask_it_all_the_same_is_told_which_setting_is_missing(run: Run, settings) -> None:
    settings.OFFLINE_JUDGE_URL = ""
    with pytest.raises(Conflict, match=r"^The offline judge cannot be asked from here: OFFLINE_JUDGE_URL is"):
        endpoints.loaded(run)
