"""How sure a judge was reaches the rows, and comes back with an answer that is used again."""

from typing import Any

import pytest
from django.utils import timezone

from rubricweb.judges.base import JudgeConfig
from rubricweb.judges.event_loop import close_clients
from rubricweb.judges.offline.script import Script
from rubricweb.judges.offline.server import running_server
from rubricweb.models import JudgeCall, Judgement, Run, Vote
from rubricweb.services.grading import session
from rubricweb.services.runs.panels import Panel, PanelMember
from tests import factories
from tests.factories import Cast
from tests.judges.completion import completion, token

pytestmark = pytest.mark.django_db

TOKENS = [
    token('{"explanation": "There.", "criterion_status": "', 1.0),
    token("MET", 0.75, UN=0.25),
    token('"}', 1.0),
]
SURE = completion("".join(each["token"] for each in TOKENS), logprobs={"content": TOKENS})
CRITERIA = [{"weight": 1.0, "requirement": "Names Paris."}]


def graded_twice(people: Cast, **options: Any) -> tuple[Run, Run]:
    options["dataset"] = factories.dataset(people.team, people.ed, items=[{"id": "i", "submission": "Paris"}])
    options["rubric_version"] = factories.version(people.team, people.ed, criteria=CRITERIA)

    def graded() -> Run:
        started = factories.run(people.team, people.ed, use_cache=True, **options)
        while session.grade(started.pk, now=timezone.now, only_this_run=True):
            pass
        return started

    return graded(), graded()


def judge(url: str) -> JudgeConfig:
    return JudgeConfig(name="j", base_url=url, model="m", allow_private_hosts=True, logprobs=True)


def test_a_verdict_keeps_its_confidence_though_its_reply_does_not_tell_it(people: Cast) -> None:
    script = Script(SURE)
    with running_server(script) as url:
        first, again = graded_twice(people, judge_id="command-line", judge=judge(url))
        close_clients()
    assert script.count == 1
    assert JudgeCall.objects.get(run=again).cached_from == JudgeCall.objects.get(run=first)
    for run in (first, again):
        assert Judgement.objects.get(run=run).confidence == pytest.approx(0.75)  # 0.75 / (0.75 + 0.25)


def test_a_panels_votes_do_too(people: Cast) -> None:
    script = Script(SURE)
    with running_server(script) as url:
        panel = Panel([PanelMember("command-line", config=judge(url))], repeats=3)
        _, again = graded_twice(people, judge_id="", panel=panel)
        close_clients()
    assert script.count == 3
    assert (
        list(Vote.objects.filter(run=again).values_list("confidence", flat=True)) == [pytest.approx(0.75)] * 3
    )
