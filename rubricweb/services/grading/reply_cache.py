"""Answers a team has paid for already, found by what was asked."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from uuid import UUID

from django.db.models import Min

from rubricweb.models import JudgeCall, Judgement, Vote
from rubricweb.selectors.runs.planning.stored_replies import KEYS_PER_QUERY, answered, batches


@dataclass(frozen=True, slots=True)
class CachedReply:
    """What was answered to the very same question: `call_id` is the row it came with.

    `model` is what the endpoint said answered, `rung` the form it was asked for (see
    `judges.client.reply_formats`), `reasoning` what the model thought, "" where it did not say, and
    `fallback` whether the fallback model answered. `confidences` are those of the criteria it was asked
    about, in their order in the rubric; () where they were not looked up.
    """

    call_id: int
    text: str
    model: str
    rung: str
    reasoning: str
    fallback: bool = False
    confidences: tuple[float | None, ...] = ()


def known(team_id: int, keys: Iterable[UUID]) -> dict[UUID, CachedReply]:
    """The team's stored answer to each of these questions, as `judges.content.content_key` names them.

    Keys without an answer are missing. Other teams' calls are never looked at, nor are calls that ended in an
    error or whose reply was pruned; of several answers the first one given counts. One query per 500
    different keys.
    """
    found: dict[UUID, CachedReply] = {}
    for some in batches(dict.fromkeys(keys)):
        first = answered(team_id, some).values("content_key").annotate(first=Min("pk")).values("first")
        rows = JudgeCall.objects.filter(pk__in=first).order_by()
        for key, call_id, text, model, rung, reasoning, fallback in rows.values_list(
            "content_key", "pk", "reply", "model", "rung", "reasoning", "fallback"
        ):
            assert key is not None, "asked for by key"
            found[key] = CachedReply(call_id, text, model, rung, reasoning, fallback)
    return found


def with_confidences(found: Mapping[UUID, CachedReply]) -> dict[UUID, CachedReply]:
    """The same answers with how sure the judge was by the probabilities of its tokens, which no text tells.

    Two queries per 500 answers.
    """
    given: defaultdict[int, list[float | None]] = defaultdict(list)
    calls = [reply.call_id for reply in found.values()]
    for start in range(0, len(calls), KEYS_PER_QUERY):
        some = calls[start : start + KEYS_PER_QUERY]
        for model in (Judgement, Vote):
            rows = model.objects.filter(call_id__in=some).order_by("criterion__position")
            for call_id, confidence in rows.values_list("call_id", "confidence"):
                given[call_id].append(confidence)
    return {key: replace(reply, confidences=tuple(given[reply.call_id])) for key, reply in found.items()}
