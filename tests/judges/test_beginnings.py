"""Who goes ahead with a beginning that prompts share, who waits for it, and for how long."""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from rubricweb.engine.autograders import PerCriterionGrader, PerCriterionOneShotGrader
from rubricweb.engine.autograders.base import Prompt, Reading
from rubricweb.engine.autograders.examples.few_shot import Example
from rubricweb.engine.rubric import Criterion, Rubric
from rubricweb.engine.submission import Submission
from rubricweb.judges.base import JudgeConfig, Question, Reply
from rubricweb.judges.beginnings import KEPT_SECONDS, Beginning, Beginnings, Going, beginnings_of
from rubricweb.judges.client.reply_formats import CACHE_TRIALS, EndpointCapabilities
from rubricweb.judges.offline.script import Action, Hang, Request, Say, Script
from rubricweb.judges.pool import Answered, RequestQueue
from tests.waiting import wait_for

CONFIG = JudgeConfig("j", "http://localhost/v1", "m", input_usd_per_million=1.0, output_usd_per_million=1.0)
LONG = "word " * 2_000
RUBRIC = Rubric([Criterion(weight=1, requirement=f"Says thing number {n}.") for n in range(3)])


def asked(prompt: Prompt, key: object = "q", repeat: int = 0) -> Question:
    return Question(key, prompt, lambda text: Reading({}), repeat)


def questions(text: str = LONG, rubric: Rubric = RUBRIC) -> list[Question]:
    """One question about each of three criteria of this submission."""
    prompts = PerCriterionGrader().prompts(Submission(text), rubric)
    return [asked(prompt, f"{text[:8]} {n}") for n, prompt in enumerate(prompts)]


def answered(tokens: int | None = 100, cached: int = 0, **changed: Any) -> Reply:
    reply = Reply("q", None, None, "", "m", "text", 1, tokens, 1, None, 0.1)
    return replace(reply, cached_prompt_tokens=cached, **changed)


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def sent_to(capabilities: EndpointCapabilities | None = None) -> tuple[Beginnings[str], Clock]:
    clock = Clock()
    return Beginnings(capabilities or EndpointCapabilities(), clock), clock


# ── What is shared ───────────────────────────────────────────────────────────────────────────────


def test_questions_about_one_item_begin_alike_up_to_their_criterion() -> None:
    ours = questions()
    [first, second, third] = (beginnings_of(CONFIG, one) for one in ours)
    assert first == second == third
    [shared] = first
    assert ours[0].prompt.user[: shared.ends].endswith("</response>\n\n")
    # Four bytes are a token.
    assert shared.tokens == (len(ours[0].prompt.system) + shared.ends) // 4


def test_other_items_other_schemas_and_short_texts_share_nothing() -> None:
    ours = questions()[0]
    assert beginnings_of(CONFIG, questions(LONG + "more")[0]) != beginnings_of(CONFIG, ours)
    other = replace(ours, prompt=replace(ours.prompt, schema=PerCriterionOneShotGrader.schema))
    assert beginnings_of(CONFIG, other) != beginnings_of(CONFIG, ours)
    assert beginnings_of(CONFIG, questions("short")[0]) == ()


def test_a_judge_that_costs_nothing_has_nothing_to_save() -> None:
    free = replace(CONFIG, input_usd_per_million=0.0, output_usd_per_million=0.0)
    assert beginnings_of(free, questions()[0]) == ()


def test_questions_for_all_criteria_at_once_share_the_rubric_over_items_and_all_with_their_repeats() -> None:
    rubric = Rubric([Criterion(weight=1, requirement=f"{n} {LONG[:9_000]}") for n in range(2)])
    one, other = (
        PerCriterionOneShotGrader().prompts(Submission(f"{word} {LONG}"), rubric)[0] for word in ("a", "b")
    )
    about_one, about_other = beginnings_of(CONFIG, asked(one)), beginnings_of(CONFIG, asked(other))
    assert [len(about_one), len(about_other)] == [2, 2]
    assert about_one[0] == about_other[0]
    assert about_one[1] != about_other[1]
    assert beginnings_of(CONFIG, asked(one, repeat=1)) == about_one


def test_with_examples_a_criterion_is_shared_over_items() -> None:
    shown = {n: (Example("e", Submission(f"shown {n} {LONG}"), "MET"),) for n in range(2)}
    grader = PerCriterionGrader(examples=shown)
    rubric = Rubric([Criterion(weight=1, requirement=f"Says {n}.") for n in range(2)])
    [[a1, b1], [a2, b2]] = (grader.prompts(Submission(text), rubric) for text in ("one", "two"))
    of_a1, of_b1, of_a2, of_b2 = (beginnings_of(CONFIG, asked(prompt))[0] for prompt in (a1, b1, a2, b2))
    assert (of_a1, of_b1) == (of_a2, of_b2)
    assert of_a1 != of_b1
    assert a1.user[a1.shared :] == "<response>\none\n</response>"


# ── Who waits ────────────────────────────────────────────────────────────────────────────────────

ITEM = (Beginning(1, 2_000, 8_000),)


def test_the_first_goes_ahead_and_the_others_come_back_with_its_answer() -> None:
    sent, _ = sent_to()
    assert not sent.waits(ITEM, "first")
    going = sent.goes(ITEM)
    assert [sent.waits(ITEM, "second"), sent.waits(ITEM, "third")] == [True, True]
    assert sent.over(going, ITEM, answered()) == ["second", "third"]
    assert not sent.waits(ITEM, "second")
    assert sent.goes(ITEM) == Going((), cached_tokens=2_000)


def test_what_waits_comes_back_once() -> None:
    sent, _ = sent_to()
    going = sent.goes(ITEM)
    sent.waits(ITEM, "second")
    assert sent.has_begun(going) == ["second"]
    assert sent.over(going, ITEM, answered()) == []


def test_nobody_waits_again_after_the_first_failed() -> None:
    sent, _ = sent_to()
    sent.over(sent.goes(ITEM), ITEM, None)
    assert sent.goes(ITEM) == Going((), cached_tokens=0)
    assert not sent.waits(ITEM, "third")


def test_one_goes_ahead_anew_once_no_provider_keeps_it_any_more() -> None:
    sent, clock = sent_to()
    sent.over(sent.goes(ITEM), ITEM, answered())
    clock.now = KEPT_SECONDS - 1
    assert sent.goes(ITEM).leads == ()  # used again, and kept from now on
    clock.now += KEPT_SECONDS
    assert sent.goes(ITEM).leads == ITEM


def test_a_longer_beginning_is_waited_for_where_the_shorter_one_is_cached() -> None:
    rubric, item = Beginning(1, 2_000, 8_000), Beginning(2, 5_000, 20_000)
    sent, _ = sent_to()
    sent.over(sent.goes((rubric,)), (rubric,), answered())
    assert not sent.waits((rubric, item), "first repeat")
    assert sent.goes((rubric, item)) == Going((item,), cached_tokens=2_000)
    assert sent.waits((rubric, item), "second repeat")
    assert not sent.waits((rubric, Beginning(3, 5_000, 20_000)), "of another item")


def test_what_waits_can_be_taken_out() -> None:
    sent, _ = sent_to()
    going = sent.goes(ITEM)
    for thing in ("mine", "theirs"):
        sent.waits(ITEM, thing)
    assert sent.take_out(lambda thing: thing == "mine") == ["mine"]
    assert sent.over(going, ITEM, answered()) == ["theirs"]


def test_an_endpoint_that_never_reports_cached_tokens_is_waited_for_no_more() -> None:
    capabilities = EndpointCapabilities()
    sent, _ = sent_to(capabilities)
    sent.over(sent.goes(ITEM), ITEM, answered())
    for _ in range(CACHE_TRIALS):
        sent.over(sent.goes(ITEM), ITEM, answered(cached=0))
    # Of 2,000 tokens nothing was cached: only twice as many are tried again.
    assert capabilities.cached_from == 4_000
    another = (Beginning(9, 2_000, 8_000),)
    sent.goes(another)
    assert not sent.waits(another, "second")
    longer = (Beginning(10, 4_000, 16_000),)
    sent.goes(longer)
    assert sent.waits(longer, "second")


def test_one_answer_with_cached_tokens_among_the_trials_starts_them_anew() -> None:
    capabilities = EndpointCapabilities()
    for cached in [0] * (CACHE_TRIALS - 1) + [1_024] + [0] * (CACHE_TRIALS - 1):
        capabilities.learn_cached(2_000, cached)
    assert (capabilities.cached_from, capabilities.has_cached) == (1_024, True)
    assert EndpointCapabilities.load(capabilities.dump()).has_cached


def test_answers_that_do_not_say_what_they_used_and_those_of_a_fallback_teach_nothing() -> None:
    capabilities = EndpointCapabilities()
    sent, _ = sent_to(capabilities)
    sent.over(sent.goes(ITEM), ITEM, answered())
    for reply in (answered(None), answered(fallback=True)):
        sent.over(sent.goes(ITEM), ITEM, reply)
    assert capabilities.cache_misses == 0


# ── In the queue of requests ─────────────────────────────────────────────────────────────────────


@pytest.fixture
def queue(monkeypatch: pytest.MonkeyPatch) -> Iterator[RequestQueue]:
    """One whose held questions wait for the answer, however long it takes to begin."""
    monkeypatch.setattr("rubricweb.judges.beginnings.FIRST_TOKEN_SECONDS", 3600.0)
    made = RequestQueue()
    yield made
    made.close()


def taken(queue: RequestQueue, count: int) -> list[Answered]:
    found: list[Answered] = []
    wait_for(lambda: len(found) >= count, meanwhile=lambda: found.extend(queue.take(0.05)))
    return found


def hanging_first(met: str) -> Script:
    """It never answers its first request."""

    def answer(request: Request) -> Action:
        return Hang() if request.number == 1 else Say(met)

    return Script(answer)


def priced(config: Callable[..., JudgeConfig], url: str, **changed: Any) -> JudgeConfig:
    return config(url, input_usd_per_million=1.0, output_usd_per_million=1.0, **changed)


def test_what_waits_holds_up_nobody_else_and_takes_no_place(
    serve: Callable[..., str], config: Callable[..., JudgeConfig], met: str, queue: RequestQueue
) -> None:
    script = hanging_first(met)
    judge = priced(config, serve(script), concurrency=2, timeout_seconds=3600.0)
    queue.put(("team a", 1), judge, questions())
    wait_for(lambda: script.in_flight == 1 and queue.held(("team a", 1)) == 2)
    queue.put(("team a", 2), judge, questions("short"))
    queue.put(("team b", 3), judge, questions("small"))
    assert {one.queue_key[1] for one in taken(queue, 6)} == {2, 3}
    assert queue.held(("team a", 1)) == 2


@pytest.mark.parametrize("how", ["cancelled", "withdrawn"])
def test_what_waits_comes_back_unasked_when_its_queue_is_emptied(
    serve: Callable[..., str], config: Callable[..., JudgeConfig], met: str, queue: RequestQueue, how: str
) -> None:
    script = hanging_first(met)
    judge = priced(config, serve(script), timeout_seconds=3600.0)
    mine, theirs = ("team", 1), ("team", 2)
    queue.put(mine, judge, questions())
    wait_for(lambda: queue.held(mine) == 2)
    queue.put(theirs, judge, questions()[:1])
    wait_for(lambda: queue.held(theirs) == 1)
    if how == "withdrawn":
        queue.withdraw(mine)
        back = taken(queue, 2)
        assert [(one.reply, one.withdrawn) for one in back] == [(None, True)] * 2
    else:
        queue.cancel(mine, 0.0)
        # The two that waited, the one that was broken off, and the other run's: it waited for that one.
        back = taken(queue, 4)
        errors = [one.reply.error.kind for one in back if one.reply is not None and one.reply.error]
        assert errors == ["stopped"]
        assert sum(one.reply is None for one in back) == 2
        assert [one.reply.text for one in back if one.queue_key == theirs and one.reply] == [met]
    assert queue.held(mine) == 0
    assert script.count == (1 if how == "withdrawn" else 2)


def test_while_the_queue_is_paused_what_waited_goes_on_waiting(
    serve: Callable[..., str], config: Callable[..., JudgeConfig], met: str, queue: RequestQueue
) -> None:
    script = Script(Say(met, delay_seconds=0.3))
    queue.put(("team", 1), priced(config, serve(script)), questions())
    wait_for(lambda: script.in_flight == 1)
    queue.pause()
    assert len(taken(queue, 1)) == 1
    wait_for(lambda: queue.held(("team", 1)) == 0)
    assert script.count == 1
    queue.go_on()
    assert len(taken(queue, 2)) == 2


def test_nothing_begins_after_the_queue_was_closed(
    serve: Callable[..., str], config: Callable[..., JudgeConfig], met: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rubricweb.judges.beginnings.FIRST_TOKEN_SECONDS", 0.0)
    script = hanging_first(met)
    queue = RequestQueue()
    queue.put(("team", 1), priced(config, serve(script)), questions())
    wait_for(lambda: script.in_flight == 1)
    queue.close()
    wait_for(lambda: script.in_flight == 0)
    before = script.count
    time.sleep(0.5)  # when an answer to the first must have begun
    assert script.count == before
