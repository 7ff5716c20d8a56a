"""A judge tried on one submission: what comes, in which order, what it costs, and what is left of it."""

import json
from collections.abc import Iterator

import pytest
from django.utils import timezone

from rubricweb import engine
from rubricweb.errors import Busy, Conflict, Invalid, Withheld
from rubricweb.judges.offline.script import Drop, Fail, Hang, Say, Script, ScriptRule
from rubricweb.models import Item, JudgeCall, Judgement, JudgeTry, Run, RunTally, TriedCall
from rubricweb.selectors.spending.month_figures import month_figures
from rubricweb.selectors.spending.spending import month_spending
from rubricweb.services.endpoints import endpoints
from rubricweb.services.grading import session
from rubricweb.services.runs.budgets import change_monthly_budget
from rubricweb.services.shared import archiving
from rubricweb.services.teams import retention
from rubricweb.services.tries import tries
from rubricweb.services.tries.answers import TriedReply, TriedResult, TriedSum, TryStopped
from rubricweb.services.tries.subject import subject_of
from tests import factories
from tests.factories import Cast
from tests.trying import STRICT, TryWorld, says, try_world
from tests.waiting import wait_for
from tests.worlds.halves import halves

ALL_MET = json.dumps(
    {
        "criteria_evaluations": [
            {"criterion_number": number, "explanation": "There.", "criterion_status": "MET"}
            for number in (1, 2, 3)
        ]
    }
)
OVERALL = json.dumps({"explanation": "As a whole.", "overall_score": 80})


@pytest.fixture
def world(people: Cast) -> Iterator[TryWorld]:
    with try_world(people) as made:
        yield made


def use(world: TryWorld, *actions, **options) -> None:
    """From now on the server answers so."""
    script = Script(*actions, **options)
    script.requests = world.script.requests
    world.script.take = script.take  # type: ignore[method-assign]  # the server has the first script


def said(replies: list[TriedReply]) -> list[tuple[str, str]]:
    return sorted(
        (f"{one.side} {verdict.index}", str(verdict.answer.verdict) if verdict.answer else verdict.error.kind)
        for one in replies
        for verdict in one.verdicts
    )


# ── What comes ───────────────────────────────────────────────────────────────────────────────────


def test_each_answer_comes_with_its_reason_tokens_cost_and_what_was_sent(world: TryWorld) -> None:
    pieces = world.tried()
    replies = world.replies(pieces)
    assert said(replies) == [("tried 0", "MET"), ("tried 1", "UNMET"), ("tried 2", "UNMET")]
    one = next(reply for reply in replies if reply.verdicts[0].index == 0)
    assert one.verdicts[0].answer.reason == "It is MET."
    assert (one.prompt_tokens, one.completion_tokens, one.is_known, one.model) == (100, 10, False, "m-1")
    assert one.cost_usd == pytest.approx(0.0003)  # 100 × 2 + 10 × 10 dollars a million
    system, user = one.request["messages"]
    assert "MET" in system["content"]
    assert "Paris is the capital of France." in user["content"]
    assert one.request["response_format"]["type"] == "json_schema"
    assert "sk-x" not in json.dumps(one.request)
    total = pieces[-1]
    assert isinstance(total, TriedSum)
    # MET of 10, UNMET of 5 and of -15: 10 of 15.
    assert total.score == pytest.approx(2 / 3)
    assert (total.asked, total.known, total.unanswered) == (3, 0, 0)
    assert total.cost_usd == pytest.approx(0.0009)


def test_an_answer_is_told_before_the_next_one_has_come(world: TryWorld) -> None:
    slow = ScriptRule([Hang()], requirement="two sentences")
    use(world, says, rules=[slow])
    trying = world.begin()
    told = []
    for piece in trying:
        if isinstance(piece, TriedReply):
            told.append(piece.verdicts[0].index)
        if len(told) == 2:
            break
    trying.close()
    assert sorted(told) == [0, 2]


def test_a_run_that_follows_asks_nothing_again(world: TryWorld) -> None:
    world.tried()
    assert world.script.count == 3
    run = factories.run(
        world.people.team,
        world.people.ed,
        dataset=world.dataset,
        rubric_version=world.rubric,
        judge_id="support-judge@v1",
        use_cache=True,
        item_ids=[world.item.pk],
    )
    session.grade(run.pk, now=timezone.now, only_this_run=True)
    assert Run.objects.get(pk=run.pk).state == "finished"
    assert world.script.count == 3
    calls = JudgeCall.objects.filter(run=run)
    assert {(call.attempts, call.cost_usd, call.cached_from_id) for call in calls} == {(0, 0.0, None)}
    assert all(call.request for call in calls)
    assert RunTally.objects.get(run=run).cached == 3
    assert sorted(Judgement.objects.filter(run=run).values_list("verdict", flat=True)) == [
        "MET",
        "UNMET",
        "UNMET",
    ]


def test_what_a_run_asked_is_known_in_a_try(world: TryWorld) -> None:
    run = factories.run(
        world.people.team,
        world.people.ed,
        dataset=world.dataset,
        rubric_version=world.rubric,
        judge_id="support-judge@v1",
    )
    session.grade(run.pk, now=timezone.now, only_this_run=True)
    asked = world.script.count
    pieces = world.tried()
    assert world.script.count == asked == 9
    assert {(reply.is_known, reply.cost_usd) for reply in world.replies(pieces)} == {(True, 0.0)}
    assert (pieces[-1].asked, pieces[-1].known, pieces[-1].cost_usd) == (0, 3, 0)
    assert not RunTally.objects.filter(run=None).exists()


def test_the_version_before_stands_beside_and_the_same_question_is_asked_once(world: TryWorld) -> None:
    world.tried()
    pieces = world.tried(world.strict(), before=world.first.definition)
    replies = world.replies(pieces)
    assert len(said(replies)) == 6
    assert {(reply.side, reply.is_known) for reply in replies} == {("tried", False), ("before", True)}
    assert world.script.count == 6
    assert any("Be strict." in str(request.body) for request in world.script.requests)
    # Words for criteria with options are no words of these: all questions are the same.
    same = world.definition(wording={"instructions": {"with_options": STRICT}})
    pieces = world.tried(same, before=world.first.definition)
    assert (len(world.replies(pieces)), world.script.count) == (6, 6)
    row = JudgeTry.objects.last()
    assert (row.digest, row.beside_digest) == (same.digest, world.first.digest)


def test_of_equal_questions_of_both_sides_one_is_sent(world: TryWorld) -> None:
    same = world.definition(wording={"instructions": {"with_options": STRICT}})
    pieces = world.tried(same, before=world.first.definition)
    assert len(said(world.replies(pieces))) == 6
    assert world.script.count == 3
    assert [piece.known for piece in pieces if isinstance(piece, TriedSum)] == [0, 3]


# ── Every way of asking ──────────────────────────────────────────────────────────────────────────


def test_all_at_once_arrives_together(world: TryWorld) -> None:
    use(world, Say(ALL_MET))
    [reply] = world.replies(world.tried(world.definition(autograder="one_shot")))
    assert [(one.index, str(one.answer.verdict)) for one in reply.verdicts] == [
        (0, "MET"),
        (1, "MET"),
        (2, "MET"),
    ]


def test_one_number_for_all(world: TryWorld) -> None:
    use(world, Say(OVERALL))
    pieces = world.tried(world.definition(autograder="rubric_as_judge"))
    [reply] = world.replies(pieces)
    assert (reply.overall.score, reply.overall.reason, reply.verdicts) == (80, "As a whole.", ())
    assert (pieces[-1].overall, pieces[-1].score, pieces[-1].unanswered) == (80, None, 0)


def test_a_panel_votes_and_the_verdict_follows(world: TryWorld) -> None:
    members = [{"endpoint": "small", "name": "a"}, {"endpoint": "big", "name": "b"}]
    panel = world.definition(members=members, voting={"rule": "unanimous", "repeats": (2,)})
    pieces = world.tried(panel)
    assert world.script.count == 12
    assert all(reply.is_vote for reply in world.replies(pieces))
    results = [piece for piece in pieces if isinstance(piece, TriedResult)]
    assert sorted((one.criterion.index, str(one.criterion.answer.verdict)) for one in results) == [
        (0, "MET"),
        (1, "UNMET"),
        (2, "UNMET"),
    ]


def test_a_cascade_asks_its_next_stage_where_the_first_abstains(world: TryWorld) -> None:
    def unsure(request) -> Say:
        if request.body["model"] == "m-1" and "Paris as the capital" in request.requirement:
            return Say('{"explanation": "Who knows.", "criterion_status": "CANNOT_ASSESS"}')
        return says(request)

    use(world, unsure)
    members = [{"endpoint": "small"}, {"endpoint": "big", "stage": 1}]
    cascade = world.definition(members=members, voting={"repeats": (1, 1), "escalate_on": ("abstention",)})
    pieces = world.tried(cascade)
    assert world.script.count == 4
    [first] = [piece for piece in pieces if isinstance(piece, TriedResult) and piece.passed_on]
    assert (first.criterion.index, str(first.criterion.answer.verdict)) == (0, "MET")


def test_examples_are_shown_of_a_published_rubric_and_of_a_draft(world: TryWorld) -> None:
    criterion = world.rubric.criteria.get(position=0)
    example = {
        "uid": criterion.uid,
        "requirement": criterion.requirement,
        "label": "MET",
        "key": "elsewhere",
        "output": "It is Paris, of course.",
    }
    shown = world.definition(examples=(example,))
    world.tried(shown)
    assert sum("It is Paris, of course." in str(one.body) for one in world.script.requests) == 1
    rubric = world.rubric.to_engine()
    pieces = world.tried(shown, version=None, draft=rubric, rubric_id=world.rubric.rubric_id)
    assert world.script.count == 3  # the draft asks as its published version does
    assert all(reply.is_known for reply in world.replies(pieces))


def test_options_are_shown_in_the_order_of_a_run(people: Cast) -> None:
    criteria = [
        {
            "name": "tone",
            "weight": 1,
            "requirement": "How polite?",
            "options": [
                {"label": label, "value": value}
                for label, value in (("rude", 0), ("kind", 1), ("mixed", 0.5))
            ],
        }
    ]
    answer = json.dumps({"explanation": "So.", "option": "kind"})
    with try_world(people, Script(Say(answer))) as world:
        rubric = factories.version(people.team, people.ed, title="Tone", criteria=criteria)
        [reply] = world.replies(world.tried(version=rubric))
        assert reply.verdicts[0].answer.option == "kind"
        run = factories.run(
            people.team,
            people.ed,
            dataset=world.dataset,
            rubric_version=rubric,
            judge_id="support-judge",
            use_cache=True,
            item_ids=[world.item.pk],
        )
        session.grade(run.pk, now=timezone.now, only_this_run=True)
        assert world.script.count == 1


def test_checks_answer_for_themselves(world: TryWorld) -> None:
    criteria = [
        {"name": "paris", "weight": 1, "check": "contains_keywords", "params": {"keywords": ["Paris"]}},
        *factories.CRITERIA[:1],
    ]
    rubric = factories.version(world.people.team, world.people.ed, title="Checked", criteria=criteria)
    pieces = world.tried(version=rubric)
    first = pieces[0]
    assert isinstance(first, TriedResult)
    assert (first.by, first.criterion.index, first.criterion.answer.value) == ("check", 0, 1.0)
    assert world.script.count == 1
    assert pieces[-1].score == 1.0


# ── What goes wrong ──────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("action", "kind"),
    [
        (Fail(401, "Incorrect API key provided"), "unauthorized"),
        (Fail(404, "no such model"), "not_found"),
        (Say(None, refusal="No."), "refused"),
    ],
)
def test_a_failure_is_named_with_what_to_do(world: TryWorld, action, kind: str) -> None:
    use(world, action)
    pieces = world.tried()
    replies = world.replies(pieces)
    assert {reply.error.kind for reply in replies} == {kind}
    assert all(reply.advice for reply in replies)
    assert (pieces[-1].score, pieces[-1].unanswered) == (None, 3)
    assert not TriedCall.objects.exists()


def test_an_unreadable_reply_is_shown_as_it_came(world: TryWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    use(world, Say("Perhaps, perhaps not."))
    replies = world.replies(world.tried())
    assert {(reply.error.kind, reply.text) for reply in replies} == {
        ("unreadable_reply", "Perhaps, perhaps not.")
    }
    # Every attempt is billed: of each question 100 in and 10 out a time.
    asked = world.script.count
    assert month_spending(world.people.team, now=timezone.now()).spent_usd == pytest.approx(asked * 0.0003)


def test_a_slow_judge_is_not_waited_for_beyond_the_limit(
    world: TryWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tries, "SECONDS", 0.0)
    monkeypatch.setattr(tries, "BEAT_SECONDS", 0.05)
    monkeypatch.setattr(tries, "GRACE_SECONDS", 0.05)
    use(world, Hang())
    pieces = world.tried()
    assert any(isinstance(piece, TryStopped) and "longer" in piece.why for piece in pieces)
    assert {reply.error.kind for reply in world.replies(pieces)} <= {"stopped"}
    assert pieces[-1].unanswered == 3
    tally = RunTally.objects.get(run=None)
    assert (tally.at_risk_calls, tally.reserved_usd) == (0, 0.0)
    assert tally.lost_calls == 3


def test_who_leaves_stops_the_asking_and_gives_the_place_back(
    world: TryWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tries, "GRACE_SECONDS", 0.05)
    use(world, says, rules=[ScriptRule([Hang()], requirement="two sentences")])
    for _ in range(tries.AT_ONCE + 1):
        trying = world.begin()
        next(trying)
        wait_for(lambda: world.script.in_flight == 1)  # the one that hangs was sent
        trying.close()
        wait_for(lambda: world.script.in_flight == 0)
    tally = RunTally.objects.filter(run=None).last()
    assert (tally.at_risk_calls, tally.reserved_usd) == (0, 0.0)
    assert tally.lost_calls >= 1


def test_a_try_that_is_never_read_gives_its_place_back(world: TryWorld) -> None:
    for _ in range(tries.AT_ONCE + 1):
        world.begin().close()
    assert world.script.count == 0


def test_a_server_that_is_not_there(world: TryWorld) -> None:
    use(world, Drop())
    assert {reply.error.kind for reply in world.replies(world.tried())} == {"connection"}


# ── Limits and money ─────────────────────────────────────────────────────────────────────────────


def test_only_so_many_tries_at_once_and_a_minute(world: TryWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    open_ones = [world.begin() for _ in range(tries.AT_ONCE)]
    with pytest.raises(Busy, match="are being tried here"):
        world.begin()
    for one in open_ones:
        one.close()
    for _ in range(tries.PER_MINUTE - tries.AT_ONCE):
        world.begin().close()
    with pytest.raises(Busy, match=r"10 times within a minute"):
        world.begin()
    JudgeTry.objects.update(created_at=timezone.now() - timezone.timedelta(minutes=2))
    world.begin().close()


def test_what_tries_cost_is_the_teams_and_its_budget_holds(world: TryWorld) -> None:
    team, now = world.people.team, timezone.now()
    world.tried()
    assert month_spending(team, now=now).spent_usd == pytest.approx(0.0009)
    change_monthly_budget(team, by=world.people.alice, monthly_budget_usd=0.001)
    pieces = world.tried(world.strict())
    [stopped] = [piece for piece in pieces if isinstance(piece, TryStopped)]
    assert "would pass the team's budget of $0.001" in stopped.why
    assert world.script.count == 3
    [line] = month_figures(team, viewer=world.people.alice, now=now).runs
    assert (line.run, line.of_tries, line.calls, line.cost_usd) == (None, True, 3, pytest.approx(0.0009))
    # What is known costs nothing.
    assert len(world.replies(world.tried())) == 3


def test_without_a_price_no_budget_can_hold_it(world: TryWorld) -> None:
    endpoints.add_endpoint(
        world.people.team,
        by=world.people.alice,
        name="local",
        base_url=endpoints.endpoints_of(world.people.team)[0].base_url,
        model="nobody-knows",
    )
    local = world.definition(members=[{"endpoint": "local"}])
    assert len(world.replies(world.tried(local))) == 3
    change_monthly_budget(world.people.team, by=world.people.alice, monthly_budget_usd=5.0)
    world.item.dataset.items.update(submission="Another one.")
    [stopped] = [piece for piece in world.tried(local) if isinstance(piece, TryStopped)]
    assert "no price" in stopped.why


def test_what_was_answered_goes_with_what_the_team_keeps(world: TryWorld) -> None:
    world.tried()
    retention.change_retention(world.people.team, by=world.people.alice, days=30)
    retention.prune(world.people.team, now=timezone.now())
    assert TriedCall.objects.count() == 3
    retention.prune(world.people.team, now=timezone.now() + timezone.timedelta(days=31))
    assert not TriedCall.objects.exists()
    assert JudgeTry.objects.count() == 1


# ── What is refused ──────────────────────────────────────────────────────────────────────────────


def test_it_is_written_down_who_tried_what_on_which_item(world: TryWorld) -> None:
    world.tried()
    row = JudgeTry.objects.get(judge=world.first.judge, item=world.item)
    assert (row.user, row.digest, row.team) == (world.people.ed, world.first.digest, world.people.team)
    world.tried(item=None, pasted=engine.Submission(output="Paris, I think."))
    assert JudgeTry.objects.last().item is None


def test_who_is_still_to_review_blind_tries_nothing_of_it(world: TryWorld) -> None:
    factories.queue(
        world.people.team,
        world.people.alice,
        dataset=world.dataset,
        rubric_version=world.rubric,
        raters=[world.people.ed],
    )
    with pytest.raises(Withheld):
        world.begin()
    for output in (world.item.submission, f" {world.item.submission}\r\n"):
        with pytest.raises(Withheld, match="still to review blind"):
            world.begin(item=None, pasted=engine.Submission(output=output))
    # Stored with lines of Windows and an end of its own, pasted in part or as people copy it.
    long = "Paris is the capital of France,\r\nand it has been for a thousand years.  \r\n"
    Item.objects.filter(pk=world.item.pk).update(submission=long)
    for output in (long, long.replace("\r\n", "\n").strip(), long[:60]):
        with pytest.raises(Withheld, match="still to review blind"):
            world.begin(item=None, pasted=engine.Submission(output=output))
    assert world.script.count == 0
    world.begin(item=None, pasted=engine.Submission(output="Something else.\x00\ud800")).close()
    assert len(world.replies(world.tried(by=world.people.alice))) == 3


def test_the_test_half_stays_unseen(world: TryWorld) -> None:
    split = halves(world.people)
    sealed = split.dataset.items.filter(case__half="test").first()
    dev = split.dataset.items.filter(case__half="dev").first()
    with pytest.raises(Conflict, match="test split"):
        world.begin(item=sealed, version=split.version)
    world.begin(item=dev, version=split.version).close()


def test_an_archived_endpoint_is_refused(world: TryWorld) -> None:
    for endpoint in endpoints.endpoints_of(world.people.team):
        archiving.archive(endpoint, by=world.people.alice, now=timezone.now())
    with pytest.raises(Conflict, match="archived"):
        world.begin()


def test_an_archived_judge_is_refused(world: TryWorld) -> None:
    archiving.archive(world.first.judge, by=world.people.ed, now=timezone.now())
    world.first.judge.refresh_from_db()
    with pytest.raises(Conflict, match="archived"):
        world.begin()


@pytest.mark.parametrize(
    ("given", "place"),
    [
        ({"item": None}, "item"),
        ({"item": None, "pasted": engine.Submission(output="  ")}, "item"),
        ({"version": None}, "rubric"),
        ({"item": None, "pasted": engine.Submission(output="x" * 2_000_001)}, "item"),
    ],
)
def test_what_is_missing_is_named(world: TryWorld, given: dict, place: str) -> None:
    with pytest.raises(Invalid) as refused:
        world.begin(**given)
    assert [fault.place for fault in refused.value.faults] == [place]


def test_an_items_own_rubric_wins_as_in_a_run(world: TryWorld) -> None:
    own = [{"name": "own", "weight": 1, "requirement": "Names Paris as the capital, its own way."}]
    items = [{**factories.ITEMS[0], "id": "brings", "rubric": own}]
    dataset = factories.dataset(world.people.team, world.people.ed, name="own", items=items)
    item = dataset.items.get()
    subject = subject_of(world.people.team, viewer=world.people.ed, item=item, version=world.rubric)
    assert [criterion.name for criterion in subject.rubric.criteria] == ["own"]
    assert len(world.replies(world.tried(item=item))) == 1
