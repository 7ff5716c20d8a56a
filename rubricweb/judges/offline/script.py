"""A scripted judge: what the test double answers, and what it was asked.

A script is a list of actions taken in turn, one per request, or a function from the request to an action. The
last action repeats. Rules single out requests by what their prompt holds; every rule takes its own actions in
turn.

    Script(Fail(429, headers={"Retry-After": "1"}), Lexical())
    Script(rules=[Rule([Hang()], submission="slow one")])
    Script(lambda request: Say("Yes, it does."))
"""

from __future__ import annotations

import html
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, TypeAlias

from rubricweb.judges.client.reply_formats import JSON_OBJECT, JSON_OBJECT_SCHEMA, JSON_SCHEMA, TEXT
from rubricweb.judges.offline.questions import NotAQuestion, read_request

CHARACTERS_PER_TOKEN = 4


@dataclass(frozen=True, slots=True)
class Lexical:
    """Answer as the lexical judge does."""

    delay_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Say:
    """Answer with this text; with `refusal`, decline in these words instead. None counts as no content."""

    text: str | None
    delay_seconds: float = 0.0
    finish_reason: str = "stop"
    refusal: str | None = None
    prompt_tokens: int = 100
    completion_tokens: int = 10


@dataclass(frozen=True, slots=True)
class Fail:
    """Answer with an HTTP error whose body is `body`, or OpenAI's error object made of the other fields."""

    status: int
    message: str = "the script says so"
    code: str | None = None
    param: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str | None = None
    delay_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Garbage:
    """Answer 200 with a body that is no chat completion."""

    body: str = "<html>proxy error</html>"
    delay_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Hang:
    """Answer nothing until the client goes away or the time is over, then close the connection."""

    seconds: float = 600.0


@dataclass(frozen=True, slots=True)
class Drop:
    """Close the connection without an answer."""


Action: TypeAlias = Lexical | Say | Fail | Garbage | Hang | Drop


def refusal(text: str = "I cannot help with that.") -> Say:
    """The model declines."""
    return Say(None, refusal=text)


def truncated(text: str = '{"explanation": "It beg') -> Say:
    """The model runs into its output limit."""
    return Say(text, finish_reason="length")


def rate_limited(retry_after: str) -> Fail:
    """429 with this Retry-After: seconds or an HTTP date."""
    return Fail(429, "slow down", headers={"Retry-After": retry_after})


@dataclass(frozen=True, slots=True)
class Request:
    """One request as the server saw it; `submission` and `requirement` are "" for a prompt not of ours.

    `number` counts all requests from 1; `rung` is the form of reply asked for, as in
    `rubricweb.judges.client.reply_formats`.
    """

    number: int
    body: Mapping[str, Any]
    headers: Mapping[str, str]
    rung: str
    submission: str
    requirement: str


class PromptCache:
    """The cache of prompt beginnings of a provider, and what it billed.

    Four characters are a token. A prompt is in it from the moment its answer begins, which is after
    `first_token_share` of the time the answer takes. What a later prompt has in common with one of them is
    `cached`, in whole steps and if it is long enough. With `marked_only` a beginning is kept up to a mark
    (`cache_control`) and found by a mark at the same place. The schema stands before the prompt.
    """

    def __init__(
        self,
        *,
        least_tokens: int = 1024,
        step_tokens: int = 128,
        first_token_share: float = 0.5,
        marked_only: bool = False,
    ) -> None:
        self._least_tokens = least_tokens
        self._step = step_tokens * CHARACTERS_PER_TOKEN
        self._marked_only = marked_only
        self._kept: set[int] = set()
        self.first_token_share = first_token_share
        self.bills: list[PromptBill] = []

    def bill(self, body: Mapping[str, Any]) -> PromptBill:
        """Books a prompt that comes in."""
        text, marks = _prompt_text(body)
        found = 0
        for end, key in self._beginnings(text, marks):
            if key in self._kept:
                found = end // CHARACTERS_PER_TOKEN
            elif not self._marked_only:
                break
        cached = found if found >= self._least_tokens else 0
        self.bills.append(PromptBill(len(text) // CHARACTERS_PER_TOKEN, cached))
        return self.bills[-1]

    def fill(self, body: Mapping[str, Any]) -> None:
        """The answer to this prompt begins."""
        self._kept.update(key for _, key in self._beginnings(*_prompt_text(body)))

    def _beginnings(self, text: str, marks: Sequence[int]) -> Iterator[tuple[int, int]]:
        """Where a beginning of this prompt may end, and the key of it."""
        if self._marked_only:
            yield from ((mark, hash(text[:mark])) for mark in marks)
            return
        key = 0
        for end in range(self._step, len(text) + 1, self._step):
            key = hash((key, text[end - self._step : end]))
            yield end, key


@dataclass(frozen=True, slots=True)
class PromptBill:
    """Tokens of one prompt, and how many of them were in the cache."""

    tokens: int
    cached: int

    @property
    def paid(self) -> float:
        """Tokens paid for, where a cached one costs a tenth."""
        return self.tokens - 0.9 * self.cached


Answerer: TypeAlias = Callable[[Request], Action]


@dataclass(slots=True)
class ScriptRule:
    """Actions for the requests whose submission and requirement contain these texts ("" fits all)."""

    actions: Sequence[Action]
    submission: str = ""
    requirement: str = ""
    taken: int = 0

    def fits(self, request: Request) -> bool:
        """Whether this rule answers the request."""
        return self.submission in request.submission and self.requirement in request.requirement


@dataclass(frozen=True, slots=True)
class Recording:
    """A raw reply that a real judge once gave to this question."""

    submission: str
    requirement: str
    reply: str


class Script:
    """What to answer, and a record of what was asked; safe to read from other threads while it runs.

    `actions` is one function, or actions taken in turn. `rules` come first, in order. `refused_rungs` maps a
    rung to the HTTP status with which the server refuses it, as many servers do. Without any of these the
    lexical judge answers. `recordings` answer questions with the same submission and requirement (compared by
    their letters and digits only); a question that none fits then fails with 404. With a `prompt_cache` the
    usage of answers is what it bills.
    """

    def __init__(
        self,
        *actions: Action | Answerer,
        rules: Iterable[ScriptRule] = (),
        recordings: Iterable[Recording] = (),
        refused_rungs: Mapping[str, int] | None = None,
        prompt_cache: PromptCache | None = None,
    ) -> None:
        self._lock = threading.Lock()
        self._answerer = next((action for action in actions if callable(action)), None)
        self._actions = [action for action in actions if not callable(action)]
        self._rules = list(rules)
        self._recordings = {_key(found.submission, found.requirement): found.reply for found in recordings}
        self._refused_rungs = dict(refused_rungs or {})
        self._in_flight = 0
        self.prompt_cache = prompt_cache
        self.requests: list[Request] = []
        self.max_in_flight = 0

    @property
    def count(self) -> int:
        """Requests seen so far."""
        return len(self.requests)

    @property
    def in_flight(self) -> int:
        """Requests being answered now."""
        return self._in_flight

    def take(self, body: Mapping[str, Any], headers: Mapping[str, str]) -> Action:
        """Record a request and decide its answer."""
        with self._lock:
            request = _request(len(self.requests) + 1, body, headers)
            self.requests.append(request)
            return self._decide(request)

    def entered(self) -> None:
        """A request came in."""
        with self._lock:
            self._in_flight += 1
            self.max_in_flight = max(self.max_in_flight, self._in_flight)

    def left(self) -> None:
        """A request was answered, or its client went away."""
        with self._lock:
            self._in_flight -= 1

    def _decide(self, request: Request) -> Action:
        if request.rung in self._refused_rungs:
            status = self._refused_rungs[request.rung]
            message = f"response_format of this type is not supported: {request.rung}"
            return Fail(status, message if status < 500 else "internal error")
        for rule in self._rules:
            if rule.fits(request):
                rule.taken += 1
                return rule.actions[min(rule.taken, len(rule.actions)) - 1]
        if self._recordings:
            reply = self._recordings.get(_key(request.submission, request.requirement))
            return Fail(404, "no recorded reply to this question") if reply is None else Say(reply)
        if self._answerer is not None:
            return self._answerer(request)
        return self._actions[min(request.number, len(self._actions)) - 1] if self._actions else Lexical()


_ACTIONS: dict[str, type[Action]] = {
    "lexical": Lexical,
    "say": Say,
    "fail": Fail,
    "garbage": Garbage,
    "hang": Hang,
    "drop": Drop,
}


def read_script(data: Mapping[str, Any]) -> Script:
    """A script from plain data, as the control endpoint takes it.

    `{"actions": [{"kind": "fail", "status": 500}, {"kind": "lexical"}], "rules": [{"submission": "…",
    "requirement": "…", "actions": […]}], "recordings": [{"submission", "requirement", "reply"}],
    "refused_rungs": {"json_schema": 500}}`, each part optional. Raises ValueError naming what is wrong.
    """
    unknown = set(data) - {"actions", "rules", "recordings", "refused_rungs"}
    if unknown:
        raise ValueError(
            f"unknown keys {sorted(unknown)}; allowed are actions, rules, recordings, refused_rungs"
        )
    try:
        return Script(
            *(_action(action) for action in data.get("actions", ())),
            rules=[
                ScriptRule(
                    [_action(action) for action in rule["actions"]],
                    rule.get("submission", ""),
                    rule.get("requirement", ""),
                )
                for rule in data.get("rules", ())
            ],
            recordings=[Recording(**recording) for recording in data.get("recordings", ())],
            refused_rungs=data.get("refused_rungs"),
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"not a script: {error!r}") from None


def _action(data: Mapping[str, Any]) -> Action:
    given = dict(data)
    kind = _ACTIONS.get(str(given.pop("kind", None)))
    if kind is None:
        raise ValueError(f"action kind is {data.get('kind')!r}; allowed are {', '.join(_ACTIONS)}")
    unknown = set(given) - {known.name for known in fields(kind)}
    if unknown:
        raise ValueError(f"action {data.get('kind')!r} has no {', '.join(sorted(unknown))}")
    return kind(**given)


def _request(number: int, body: Mapping[str, Any], headers: Mapping[str, str]) -> Request:
    try:
        asked = read_request(body)
        submission = asked.response
        requirement = "\n".join(criterion.requirement for criterion in asked.criteria)
    except NotAQuestion:
        submission = requirement = ""
    return Request(number, body, headers, _rung(body.get("response_format")), submission, requirement)


def _prompt_text(body: Mapping[str, Any]) -> tuple[str, list[int]]:
    """All of a prompt in the order in which providers compare it, and where its marks stand."""
    text, marks = f"{body.get('response_format')}", []
    for message in body.get("messages") or ():
        content = message.get("content")
        for part in content if isinstance(content, list) else [{"text": content}]:
            text += str(part.get("text"))
            if "cache_control" in part:
                marks.append(len(text))
    return text, marks


def _rung(wanted: object) -> str:
    if not isinstance(wanted, Mapping) or wanted.get("type") == "text":
        return TEXT
    if wanted.get("type") == "json_schema":
        return JSON_SCHEMA
    return JSON_OBJECT_SCHEMA if "schema" in wanted else JSON_OBJECT


def _key(submission: str, requirement: str) -> tuple[str, str]:
    """What prompts may change in a text, its white space, brackets and entities, makes no difference."""
    return _letters(submission), _letters(requirement)


def _letters(text: str) -> str:
    return re.sub(r"[\W_]+", "", html.unescape(text)).casefold()
