"""A grader that looks a question up before it asks, and writes down what it was answered."""

from __future__ import annotations

import copy
import functools
from typing import Any, TypeVar

from pydantic import BaseModel

from rubricweb.engine.autograders.base import Autograder, Prompt, Reading
from rubricweb.engine.autograders.generate import default_generate_fn
from rubricweb.engine.autograders.prompted import FailedCall, PromptedAutograder
from rubricweb.engine.errors import UnreadableReply
from rubricweb.engine.rubric import Rubric
from rubricweb.judges.evaluation.experiment import KeyedLines
from rubricweb.judges.evaluation.fingerprints import judge_digest, question_key

Grader = TypeVar("Grader", bound=Autograder)


def with_reply_cache(grader: Grader, replies: KeyedLines, judge: str, *, look: bool = True) -> Grader:
    """The grader, asking nothing that ``replies`` has an answer to; others than prompted ones as they are.

    Panels and cascades are left as they are: their repeats ask one question several times on purpose. Only a
    reply that answered everything it was asked is written down, so that a bad one is not met again. Without
    ``look`` everything is asked, and written down.
    """
    if not isinstance(grader, PromptedAutograder):
        return grader
    original: PromptedAutograder = grader
    asking = copy.copy(grader)
    digest = judge_digest(grader, judge)

    async def ask(prompt: Prompt, rubric: Rubric) -> Reading | FailedCall:
        key = question_key(digest, prompt)
        known = _read(original, prompt, replies.get(key), rubric) if look else None
        if known is not None:
            return known
        one, said = _overheard(original)
        outcome = await one.ask(prompt, rubric)
        if isinstance(outcome, Reading) and not outcome.missing and said:
            replies.put(key, _as_data(said[-1]))
        return outcome

    asking.ask = ask  # type: ignore[method-assign]  # of this copy alone
    return asking


def _overheard(grader: PromptedAutograder) -> tuple[PromptedAutograder, list[Any]]:
    """A copy of the grader for one question, and the list that its reply is put into."""
    generate = grader.generate_fn or default_generate_fn(grader.default_generate_fn_name)
    replies: list[Any] = []

    @functools.wraps(generate)  # what it declares, such as a schema, stays to be seen
    async def overheard(*given: Any, **named: Any) -> Any:
        reply = await generate(*given, **named)
        replies.append(reply)
        return reply

    one = copy.copy(grader)
    one.generate_fn = overheard
    return one, replies


def _read(grader: PromptedAutograder, prompt: Prompt, stored: Any, rubric: Rubric) -> Reading | None:
    if stored is None:
        return None
    try:
        return (
            grader.read(prompt, stored, rubric) if isinstance(stored, str) else grader.reading(prompt, stored)
        )
    except UnreadableReply:  # a file that somebody edited
        return None


def _as_data(reply: Any) -> Any:
    return reply.model_dump(mode="json") if isinstance(reply, BaseModel) else reply
