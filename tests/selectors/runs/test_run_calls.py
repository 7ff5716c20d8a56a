"""What was said in a call: as it was sent, no more than the viewer may see, and until it is pruned."""

import json
import zlib
from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.test import override_settings
from django.utils import timezone

from rubricweb.errors import NotFound, Withheld
from rubricweb.judges.event_loop import close_clients
from rubricweb.judges.offline.script import Say, Script
from rubricweb.judges.offline.server import running_server
from rubricweb.models import Item, JudgeCall, Run, Team
from rubricweb.selectors.runs import calls as run_calls
from rubricweb.selectors.runs import reports
from rubricweb.services.endpoints import endpoints
from rubricweb.services.grading import session
from rubricweb.services.runs.few_shot import FewShot
from rubricweb.services.runs.panels import Panel, PanelMember
from rubricweb.services.teams import retention
from tests import factories
from tests.factories import Cast
from tests.judging import InProcessJudge, grade

KEY = "sk-very-secret-0123456789"
SECRET_HEADER = "gw-very-secret-987"
MET = '{"explanation": "It says so.", "criterion_status": "MET"}'


@pytest.fixture
def script() -> Script:
    return Script(Say(MET))


@pytest.fixture
def judge(people: Cast, script: Script) -> Iterator[str]:
    """The id of a judge that really answers, with a key and a header."""
    with override_settings(JUDGE_ALLOW_PRIVATE_HOSTS=True), running_server(script) as url:
        endpoint = endpoints.add_endpoint(
            people.team,
            by=people.alice,
            name="local",
            base_url=url,
            model="m-1",
            api_key=KEY,
            extra_headers={"X-Gateway-Key": SECRET_HEADER},
            reasoning_effort="low",
            input_usd_per_million=1.0,
            output_usd_per_million=1.0,
        )
        yield f"endpoint-{endpoint.pk}"
        close_clients()


def graded(people: Cast, judge: str, **options) -> Run:
    run = factories.run(
        people.team,
        people.ed,
        dataset=options.pop("dataset", None) or factories.dataset(people.team, people.ed),
        rubric_version=options.pop("version", None) or factories.version(people.team, people.ed),
        judge_id=judge,
        use_cache=True,
        **options,
    )
    session.grade(run.pk, now=timezone.now, only_this_run=True)
    run.refresh_from_db()
    assert run.state == "finished"
    return run


def item_of(run: Run, key: str = "good") -> Item:
    return run.dataset.items.get(key=key)


def opened(run: Run, viewer, key: str = "good") -> tuple[run_calls.CallInFull, ...]:
    return run_calls.calls_in_full(run, item_of(run, key), viewer=viewer).rows


def test_a_call_shows_the_very_body_that_was_sent_and_no_secret(
    people: Cast, judge: str, script: Script
) -> None:
    run = graded(people, judge)
    calls = opened(run, people.bob)
    sent = [request.body for request in script.requests]
    assert len(calls) == 3
    for call in calls:
        assert call.request in sent
        assert json.loads(call.body) == call.request
        assert call.request["reasoning_effort"] == "low"
        assert [message.role for message in call.messages] == ["system", "user"]
        assert call.messages[1].text == call.request["messages"][1]["content"]
        assert (call.judge, call.config.model, call.prompt) == ("local", "m-1", None)
        assert (call.call.reply, call.pruned_at, call.withheld) == (MET, None, False)
    stored = b"".join(zlib.decompress(bytes(call.call.request)) for call in calls).decode()
    for secret in (KEY, SECRET_HEADER):
        assert secret not in stored + json.dumps(run.judge.as_json())


def test_an_answer_used_again_names_the_call_it_comes_from_and_shows_its_request(
    people: Cast, judge: str, script: Script
) -> None:
    dataset, version = factories.dataset(people.team, people.ed), factories.version(people.team, people.ed)
    first = graded(people, judge, dataset=dataset, version=version)
    asked = script.count
    second = graded(people, judge, dataset=dataset, version=version)
    assert script.count == asked
    before, after = opened(first, people.bob), opened(second, people.bob)
    assert {call.call.cached_from_id for call in after} == {call.call.pk for call in before}
    for call in after:
        source = next(one for one in before if one.call.pk == call.call.cached_from_id)
        assert call.request == source.request
        assert (call.call.request, call.call.reply, call.call.cost_usd) == (None, MET, 0.0)


def test_a_pruned_call_says_when_and_is_not_rebuilt(people: Cast, judge: str) -> None:
    run = graded(people, judge)
    JudgeCall.objects.filter(run=run).update(created_at=timezone.now() - timedelta(days=3))
    Run.objects.filter(pk=run.pk).update(created_at=timezone.now() - timedelta(days=3))
    retention.change_retention(people.team, by=people.alice, days=2)
    before = timezone.now()
    retention.prune_all(now=timezone.now())
    for call in opened(run, people.bob):
        assert call.pruned_at is not None
        assert call.pruned_at >= before
        assert (call.request, call.prompt, call.messages, call.body) == (None, None, (), "")
        assert call.call.prompt_tokens == 100


def test_the_same_question_is_asked_again_once_its_call_is_pruned(
    people: Cast, judge: str, script: Script
) -> None:
    dataset, version = factories.dataset(people.team, people.ed), factories.version(people.team, people.ed)
    run = graded(people, judge, dataset=dataset, version=version)
    Run.objects.filter(pk=run.pk).update(created_at=timezone.now() - timedelta(days=3))
    JudgeCall.objects.filter(run=run).update(created_at=timezone.now() - timedelta(days=3))
    Team.objects.filter(pk=people.team.pk).update(keep_calls_days=2)
    assert retention.prune_all(now=timezone.now()) == 9
    graded(people, judge, dataset=dataset, version=version)
    # nine calls before, none of them known any more
    assert script.count == 18


def test_every_member_of_a_panel_is_named_with_what_the_run_froze_of_it(people: Cast, judge: str) -> None:
    run = graded(
        people, "", panel=Panel([PanelMember(judge, name="first"), PanelMember(judge, name="second")])
    )
    calls = opened(run, people.bob)
    assert sorted(call.judge for call in calls) == ["first"] * 3 + ["second"] * 3
    assert {call.config.model for call in calls} == {"m-1"}


def test_calls_are_withheld_from_who_reviews_the_item_blind(people: Cast, judge: str) -> None:
    run = graded(people, judge)
    factories.queue(
        people.team, people.ed, dataset=run.dataset, rubric_version=run.rubric_version, raters=[people.ann]
    )
    call = JudgeCall.objects.filter(run=run, item=item_of(run)).earliest("pk")
    with pytest.raises(Withheld):
        run_calls.call_in_full(run, item_of(run), call.pk, viewer=people.ann)
    with pytest.raises(Withheld):
        run_calls.calls_in_full(run, item_of(run), viewer=people.ann)
    assert run_calls.call_in_full(run, item_of(run), call.pk, viewer=people.bob).call == call


def test_examples_with_labels_stay_hidden_from_who_is_to_label_them_blind(people: Cast, judge: str) -> None:
    version = factories.version(people.team, people.ed)
    dev = factories.dataset(people.team, people.ed, name="dev", items=[{"id": "dev", "submission": "Rome."}])
    labels = b"item_id,criterion,rater,verdict,reason\ndev,capital,x,UNMET,SECRET-OF-A-PEER\n"
    factories.import_labels(dev, version, by=people.ed, data=labels, filename="labels.csv")
    run = graded(people, judge, version=version, few_shot_from=FewShot(dev))
    factories.queue(people.team, people.ed, dataset=dev, rubric_version=version, raters=[people.ann])
    JudgeCall.objects.filter(run=run).update(reasoning="SECRET-OF-A-PEER, I think")
    assert any("SECRET-OF-A-PEER" in call.body for call in opened(run, people.bob))
    for call in opened(run, people.ann):
        assert call.withheld
        shown = call.body + call.reasoning + "".join(message.text for message in call.messages)
        assert "SECRET-OF-A-PEER" not in shown


def test_a_call_is_found_under_its_own_run_and_item_only(people: Cast, judge: str) -> None:
    run = graded(people, judge)
    other = graded(people, judge, dataset=run.dataset, version=run.rubric_version)
    call = JudgeCall.objects.filter(run=run, item=item_of(run)).earliest("pk")
    for wrong_run, wrong_item, number in (
        (run, item_of(run, "bad"), call.pk),
        (other, item_of(run), call.pk),
        (run, item_of(run), 0),
        (run, item_of(run), 2**63),
    ):
        with pytest.raises(NotFound):
            run_calls.call_in_full(wrong_run, wrong_item, number, viewer=people.bob)


def test_the_report_on_an_item_loads_no_text_of_its_calls(
    people: Cast, judge: str, django_assert_num_queries
) -> None:
    run = graded(people, judge)
    report = reports.item_report(run, item_of(run), viewer=people.bob)
    assert report is not None
    calls = [result.call for result in report.criteria]
    assert all(call is not None for call in calls)
    for call in calls:
        assert call is not None
        assert call.get_deferred_fields() == set(run_calls.BODIES)
    with django_assert_num_queries(0):
        assert {result.judgement.call.model for result in report.criteria if result.judgement} == {"m-1"}


def test_calls_come_page_by_page(people: Cast) -> None:
    run = grade(
        factories.run(
            people.team,
            people.ed,
            dataset=factories.dataset(people.team, people.ed),
            rubric_version=factories.version(people.team, people.ed),
        ),
        InProcessJudge(lambda requirement, response: "MET"),
    )
    first = run_calls.calls_in_full(run, item_of(run), viewer=people.bob, size=2)
    second = run_calls.calls_in_full(run, item_of(run), viewer=people.bob, size=2, cursor=first.next_cursor)
    assert (len(first.rows), len(second.rows), second.next_cursor) == (2, 1, None)
    # Requests of this judge were not kept: they are rebuilt, whichever page they are on.
    assert all(call.prompt is not None for call in (*first.rows, *second.rows))
