"""Panels by batch: members of one model that are asked in different ways, in one file."""

import json

import pytest

from rubricweb.judges.offline.script import Action, Request, Say
from rubricweb.models import JudgeEndpoint, Vote
from rubricweb.selectors.spending.spending import run_spending
from rubricweb.services.endpoints import endpoints
from rubricweb.services.grading.batches import schedule
from rubricweb.services.runs.panels import Panel, PanelMember
from tests.factories import Cast, WakeUps
from tests.services.grading.batches.scripted import MET, Clock, Judge, started, until_over

pytestmark = pytest.mark.django_db(transaction=True)

UNMET = MET.replace("MET", "UNMET")


class Opinions(Judge):
    """Says MET when asked at temperature 0, UNMET when asked at another."""

    def say(self, request: Request) -> Action:
        return Say(MET if request.body["temperature"] == 0 else UNMET)


@pytest.fixture
def script() -> Judge:
    return Opinions()


def test_members_of_a_panel_go_by_names_of_their_own_and_each_gets_its_own_vote(
    people: Cast, endpoint: JudgeEndpoint, script: Judge, clock: Clock
) -> None:
    warm = endpoints.add_endpoint(
        people.team,
        by=people.alice,
        name="warm",
        base_url=endpoint.base_url,
        model="m",
        batches=True,
        temperature=1.0,
    )
    members = [
        PanelMember(f"endpoint-{endpoint.pk}", name="cold"),
        PanelMember(f"endpoint-{warm.pk}", name="warm"),
    ]
    run = started(people, endpoint, panel=Panel(members, repeats=2))
    until_over(run, clock)
    # 3 items × 3 criteria × 2 members × 2 times.
    assert (run.batches.get().requests, script.count) == (36, 36)
    votes = Vote.objects.filter(run=run)
    said = [(judge, verdict) for judge, verdict in votes.values_list("judge", "verdict")]
    assert sorted(said) == [("cold", "MET")] * 18 + [("warm", "UNMET")] * 18
    for vote in votes.select_related("call"):
        assert vote.call is not None
        # Under its cache key no other member's answer stands.
        assert json.loads(vote.call.reply)["criterion_status"] == vote.verdict


def test_a_panels_batch_at_an_endpoint_that_was_removed_is_lost_for_every_member(
    people: Cast, endpoint: JudgeEndpoint, clock: Clock
) -> None:
    members = [PanelMember(endpoint.judge_id, name="one"), PanelMember(endpoint.judge_id, name="other")]
    run = started(people, endpoint, panel=Panel(members))
    schedule.advance(run.pk, now=clock, enqueue=WakeUps())
    endpoints.remove_endpoint(endpoint, by=people.alice, now=clock())
    clock.later()
    schedule.advance(run.pk, now=clock, enqueue=WakeUps())
    # 3 items × 3 criteria × 2 members.
    assert (run.batches.get().requests, run_spending(run, now=clock()).lost_calls) == (18, 18)
