"""Many questions at once: bounds, stopping, closing, forking."""

import asyncio
import gc
import itertools
import multiprocessing
import threading
import warnings

import pytest

from rubricweb.judges.offline.script import Fail, Hang, Say, Script, ScriptRule
from rubricweb.judges.pool import ask_all, ask_one
from tests.waiting import PATIENCE_SECONDS, wait_for


def test_every_question_is_answered_under_its_own_key(serve, config, question):
    replies = list(ask_all(config(serve()), (question(number) for number in range(50))))
    assert sorted(reply.key for reply in replies) == list(range(50))
    assert all(reply.error is None for reply in replies)


def test_no_questions_are_no_replies(serve, config):
    assert list(ask_all(config(serve()), [])) == []


def test_requests_in_flight_are_bounded(serve, config, question, met):
    script = Script(Say(met, delay_seconds=0.02))
    assert len(list(ask_all(config(serve(script), concurrency=4), [question(n) for n in range(40)]))) == 40
    assert script.max_in_flight == 4


def test_questions_are_read_no_further_than_twice_the_concurrency_ahead(serve, config, question):
    read = []

    def endless():
        number = 0
        while True:
            read.append(number)
            yield question(number)
            number += 1

    replies = ask_all(config(serve(), concurrency=3), endless())
    for taken in range(1, 30):
        next(replies)
        assert len(read) <= taken + 2 * 3 - 1
    replies.close()


def test_one_failure_costs_one_question(serve, config, question):
    script = Script(rules=[ScriptRule([Fail(404)], submission="bad")])
    questions = [question(n, submission="a bad one" if n == 3 else "Paris") for n in range(8)]
    errors = {reply.key: reply.error for reply in ask_all(config(serve(script)), questions)}
    assert {key for key, error in errors.items() if error} == {3}


def test_closing_the_generator_cancels_what_is_outstanding(serve, config, question, met):
    script = Script(rules=[ScriptRule([Say(met)], submission="quick"), ScriptRule([Hang(3600)])])
    replies = ask_all(
        config(serve(script), concurrency=4),
        [question("quick", submission="quick"), *(question(n, submission="slow") for n in range(20))],
    )
    assert next(replies).key == "quick"
    wait_for(lambda: script.in_flight >= 3)
    replies.close()
    wait_for(lambda: script.in_flight == 0)
    assert script.count <= 1 + 4  # nothing queued was begun


def test_stop_ends_promptly_and_asking_again_continues(serve, config, question, met):
    script = Script(rules=[ScriptRule([Say(met)], submission="quick"), ScriptRule([Hang(3600)])])
    stop = threading.Event()
    read = []

    def questions():
        for number in range(1000):
            read.append(number)
            yield question(number, submission="quick" if number == 0 else "slow")

    replies = []
    for reply in ask_all(config(serve(script), concurrency=2), questions(), stop=stop):
        replies.append(reply)
        stop.set()
    assert replies[0].error is None
    assert {reply.error.kind for reply in replies[1:]} <= {"stopped"}
    assert all(reply.error.retryable for reply in replies[1:])
    assert len(replies) <= 1 + 2  # questions that were not begun yield nothing
    assert len(read) < 10


def test_stop_lets_a_request_in_flight_finish_within_its_grace(serve, config, question, met):
    stop, asked = threading.Event(), itertools.count(1)

    def answer(request):
        if next(asked) == 2:
            stop.set()
        return Say(met, delay_seconds=0.3)

    judge = config(serve(Script(answer)), concurrency=2, stop_grace_seconds=20)
    replies = list(ask_all(judge, (question(n) for n in range(100)), stop=stop))
    assert [reply.error for reply in replies] == [None, None]


def test_stop_ends_a_long_pause_at_once(serve, config, question):
    script = Script(Fail(503, headers={"Retry-After": "30"}))
    stop = threading.Event()
    threading.Timer(0.2, stop.set).start()
    (reply,) = ask_all(config(serve(script)), [question()], stop=stop)
    assert reply.error.kind == "stopped"


def test_stop_before_the_start_asks_nothing(serve, config, question):
    script, stop = Script(), threading.Event()
    stop.set()
    assert list(ask_all(config(serve(script)), [question()], stop=stop)) == []
    assert script.count == 0


def test_trouble_with_the_questions_themselves_is_raised(serve, config, question):
    def questions():
        yield question()
        raise LookupError("the rows are gone")

    with pytest.raises(LookupError, match="the rows are gone"):
        list(ask_all(config(serve()), questions()))


def test_connections_are_kept_warm_between_calls(serve, config, question):
    script = Script()
    judge = config(serve(script), concurrency=1)
    for _ in range(3):
        list(ask_all(judge, [question(n) for n in range(5)]))
    peers = {request.headers.get("Connection", "keep-alive") for request in script.requests}
    assert peers == {"keep-alive"}


def test_one_question_can_be_asked_from_any_event_loop(serve, config, question):
    judge = config(serve())
    for _ in range(2):  # each asyncio.run has a loop of its own
        reply = asyncio.run(ask_one(judge, question("async")))
        assert (reply.key, reply.error) == ("async", None)


def in_child(judge, questions, results):
    results.put([reply.key for reply in ask_all(judge, questions) if reply.error is None])


def test_a_forked_child_starts_its_own_clients(serve, config, question):
    judge = config(serve())
    assert len(list(ask_all(judge, [question("parent")]))) == 1  # the parent's loop and sockets exist now
    context = multiprocessing.get_context("fork")
    results = context.SimpleQueue()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # forking with threads is the point
        child = context.Process(target=in_child, args=(judge, [question("child")], results))
        child.start()
    child.join(PATIENCE_SECONDS)
    assert child.exitcode == 0
    assert results.get() == ["child"]
    gc.collect()
    assert len(list(ask_all(judge, [question("parent again")]))) == 1


def test_only_the_key_of_the_config_is_sent(serve, ask, monkeypatch):
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.setenv(name, "from-the-environment")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Secret: from-the-environment")
    script = Script()
    url = serve(script)
    ask(url)
    ask(url, api_key="sk-given")
    without, with_key = (request.headers for request in script.requests)
    assert "Authorization" not in without
    assert with_key["Authorization"] == "Bearer sk-given"
    for headers in (without, with_key):
        assert "from-the-environment" not in str(dict(headers))
