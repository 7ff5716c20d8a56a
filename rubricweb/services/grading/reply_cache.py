"""Answers a team has paid for already, found by what was asked."""

import json
import zlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from django.db.models import Min

from rubricweb.engine.autograders.base import Reading
from rubricweb.engine.errors import UnreadableReply
from rubricweb.judges.base import Question, Reply
from rubricweb.models import JudgeCall, Judgement, Vote
from rubricweb.selectors.runs.planning.stored_replies import (
    KEYS_PER_QUERY,
    answered_calls,
    batches,
    tried_calls,
)


@dataclass(frozen=True, slots=True)
class CachedReply:
    """What was answered to the very same question: `call_id` is the row of the run it came with, None where
    it came in a try; `request` is then the body that was sent.

    `model` is what the endpoint said answered, `rung` the form it was asked for (see
    `judges.client.reply_formats`), `reasoning` what the model thought, "" where it did not say, and
    `fallback` whether the fallback model answered. `confidences` are those of the criteria it was asked
    about, in their order in the rubric; () where they were not looked up.
    """

    call_id: int | None
    text: str
    model: str
    rung: str
    reasoning: str
    fallback: bool = False
    confidences: tuple[float | None, ...] = ()
    request: Mapping[str, Any] | None = None


def known(team_id: int, keys: Iterable[UUID]) -> dict[UUID, CachedReply]:
    """The team's stored answer to each of these questions, as `judges.content.content_key` names them.

    Keys without an answer are missing. Other teams' calls are never looked at, nor are calls that ended in an
    error or whose reply was pruned; of several answers the first one of a run counts, else the first that
    came in a try. Two queries per 500 different keys.
    """
    found: dict[UUID, CachedReply] = {}
    for some in batches(dict.fromkeys(keys)):
        found |= _tried(team_id, some)
        first = answered_calls(team_id, some).values("content_key").annotate(first=Min("pk")).values("first")
        rows = JudgeCall.objects.filter(pk__in=first).order_by()
        for key, call_id, text, model, rung, reasoning, fallback in rows.values_list(
            "content_key", "pk", "reply", "model", "rung", "reasoning", "fallback"
        ):
            assert key is not None, "asked for by key"
            found[key] = CachedReply(call_id, text, model, rung, reasoning, fallback)
    return found


def _tried(team_id: int, keys: Sequence[UUID]) -> dict[UUID, CachedReply]:
    """What was answered in tries."""
    return {
        one.content_key: CachedReply(
            None,
            one.reply,
            one.model,
            one.rung,
            one.reasoning,
            one.fallback,
            tuple(one.confidences),
            None if one.request is None else json.loads(zlib.decompress(one.request)),
        )
        for one in tried_calls(team_id, keys).order_by("-pk")
    }


def with_confidences(found: Mapping[UUID, CachedReply]) -> dict[UUID, CachedReply]:
    """The same answers with how sure the judge was by the probabilities of its tokens, which no text tells.

    Two queries per 500 answers.
    """
    given: defaultdict[int, list[float | None]] = defaultdict(list)
    calls = [reply.call_id for reply in found.values() if reply.call_id is not None]
    for start in range(0, len(calls), KEYS_PER_QUERY):
        some = calls[start : start + KEYS_PER_QUERY]
        for model in (Judgement, Vote):
            rows = model.objects.filter(call_id__in=some).order_by("criterion__position")
            for call_id, confidence in rows.values_list("call_id", "confidence"):
                given[call_id].append(confidence)
    return {
        key: reply
        if reply.call_id is None  # a try keeps them beside its text
        else replace(reply, confidences=tuple(given[reply.call_id]))
        for key, reply in found.items()
    }


def read_again(question: Question, cached: CachedReply) -> Reply | None:
    """The stored answer as the reply to this question; None when it can no longer be read as one."""
    try:
        reading = question.read(cached.text)
    except (UnreadableReply, ValueError, RecursionError):
        return None
    if reading.missing:
        return None
    return Reply(
        key=question.key,
        reading=_as_sure_as_then(reading, cached),
        error=None,
        text=cached.text,
        model=cached.model,
        rung=cached.rung,
        attempts=0,
        prompt_tokens=None,
        completion_tokens=None,
        cost_usd=0.0,
        latency_seconds=0.0,
        reasoning=cached.reasoning,
        fallback=cached.fallback,
        request=cached.request,
        is_known=True,
        cached_from=cached.call_id,
    )


def as_cached(reply: Reply, call_id: int | None) -> CachedReply:
    """What was just answered, for those who asked the very same meanwhile."""
    answers = sorted(reply.reading.answers.items()) if reply.reading else ()
    sure = tuple(answer.confidence for _, answer in answers)
    return CachedReply(call_id, reply.text, reply.model, reply.rung, reply.reasoning, reply.fallback, sure)


def _as_sure_as_then(reading: Reading, cached: CachedReply) -> Reading:
    """The reading with the confidences that token probabilities gave when the answer was new."""
    if len(cached.confidences) != len(reading.answers) or not any(cached.confidences):
        return reading
    answers = {
        index: answer if answer.confidence is not None else replace(answer, confidence=confidence)
        for (index, answer), confidence in zip(
            sorted(reading.answers.items()), cached.confidences, strict=True
        )
    }
    return replace(reading, answers=answers)
