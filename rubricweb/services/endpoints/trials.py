"""One tiny question to a judge, to see whether and how it answers before a run depends on it."""

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction

from rubricweb import engine
from rubricweb.engine.autograders import PerCriterionGrader
from rubricweb.errors import Conflict
from rubricweb.judges.base import JudgeConfig, JudgeError, Question, Reply
from rubricweb.judges.pool import ask_all
from rubricweb.models import TESTED, JournalEntry, Team, User
from rubricweb.services.endpoints import endpoints
from rubricweb.services.shared.journal import record

SECONDS = 30.0
"""What the whole trial may take; less one grace period for a request in flight."""

PER_MINUTE = 5
"""Trials a team may make in a minute: they are live calls, and somebody's money."""

EXPECTED = "MET"
_RUBRIC = engine.Rubric(
    [engine.Criterion(name="capital", weight=1.0, requirement="Names Paris as the capital of France.")]
)
_SUBMISSION = engine.Submission(
    output="Paris is the capital of France.", query="What is the capital of France?"
)
_REASONING_SHOWN = 300

ADVICE: Mapping[str, str] = {
    "timeout": (
        "Is the model loaded, and is the address right? A model that needs this long may be given more time "
        "with JUDGE_TIMEOUT_SECONDS, or less to think with a lower reasoning effort."
    ),
    "connection": "Check host and port, and that the server is running and reachable from this machine.",
    "rate_limited": (
        "Wait, or check the plan's quota with the provider. Requests and tokens per minute can be entered "
        "with the judge, so that runs stay below them."
    ),
    "server_error": "The provider has trouble, or the model cannot be served. Try again in a while.",
    "bad_request": (
        "Read the provider's words: often a parameter this model does not take. Leave sampling, reasoning "
        "effort and token probabilities empty and try again."
    ),
    "unauthorized": "Enter the API key again; perhaps it belongs to another provider, or was revoked.",
    "forbidden": "Check with the provider what this key may do, and that the account is paid up.",
    "not_found": "Check the model's name, and that the base URL ends before /chat/completions, often in /v1.",
    "refused": "This model declines even a question about a capital: try another one.",
    "truncated": "Raise or clear the output limit: a model that reasons spends it before it answers.",
    "unreadable_reply": (
        "The model answers, but in no form that can be read. A larger model, or a server that supports "
        "structured output, will do better."
    ),
    "missing_criterion": "The model leaves out what it was asked about: try another one.",
    "unreadable_batch": "Ask the provider for the batch's file of answers, or ask live.",
    "blocked_address": (
        "Only public addresses may be called. The operator can allow private ones with "
        "JUDGE_ALLOW_PRIVATE_HOSTS=1."
    ),
    "stopped": "Is the model loaded, and is the address right? It gave no answer in the time a trial has.",
}
"""What to do about every kind of error."""

AskAll = Callable[..., Iterator[Reply]]


@dataclass(frozen=True)
class Trial:
    """What came of one question to a judge.

    `reached` is whether anything answered at the address, None when nothing did in time. `verdict` is None
    without an answer that could be read; it should be `EXPECTED`. `rung` is the form of reply that was asked
    for last (see `judges/client/reply_formats.py`). `confidence` comes of token probabilities, None where
    none came; `reasoning` is the beginning of what the model thought aloud. Cost is None without prices.
    `log` tells what was decided on the way. Without an answer `error` says why and `advice` what to do.
    """

    judge: str
    asked_model: str
    seconds: float
    reached: bool | None
    verdict: str | None = None
    reason: str = ""
    model: str = ""
    rung: str = ""
    attempts: int = 0
    prompt_tokens: int | None = None
    cached_prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost_usd: float | None = None
    wanted_logprobs: bool = False
    confidence: float | None = None
    reasoning: str = ""
    fallback: bool = False
    log: tuple[str, ...] = ()
    error: JudgeError | None = None
    advice: str = ""

    @property
    def works(self) -> bool:
        """Whether runs can be graded with it."""
        return self.error is None and self.verdict is not None

    @property
    def as_expected(self) -> bool:
        """Whether it also got this easy one right."""
        return self.verdict == EXPECTED


def try_judge(
    team: Team, judge_id: str, *, by: User, now: datetime, ask: AskAll = ask_all, seconds: float = SECONDS
) -> Trial:
    """Asks the judge one question, live and within `seconds`, and says how that went; no failure raises.

    Written to the audit log before it is asked. Raises Invalid for a judge the team does not have, Conflict
    when the team has made `PER_MINUTE` trials within the last minute.
    """
    config = endpoints.judge_to_ask(team, judge_id)
    _take_turn(team, by, config.name, now)
    grader = PerCriterionGrader()
    [prompt] = grader.prompts(_SUBMISSION, _RUBRIC)
    question = Question("trial", prompt, lambda text: grader.read(prompt, text, _RUBRIC))
    return _trial_of(config, _asked(_in_time(config, seconds), question, ask, seconds), seconds)


def _take_turn(team: Team, by: User, name: str, now: datetime) -> None:
    """One at a time per team, so that a crowd cannot slip through between counting and writing down."""
    with transaction.atomic():
        Team.objects.select_for_update().get(pk=team.pk)
        since = now - timedelta(minutes=1)
        trials = JournalEntry.objects.filter(team=team, verb=TESTED).order_by("-id")
        latest = [at for at in trials.values_list("at", flat=True)[:PER_MINUTE] if at > since]
        if len(latest) >= PER_MINUTE:
            wait = 1 + int((min(latest) - since).total_seconds())
            raise Conflict(
                f"Judges of this team were tested {len(latest)} times within a minute. Try again in {wait} s."
            )
        record(team, by, TESTED, None, judge=name)


def _in_time(config: JudgeConfig, seconds: float) -> JudgeConfig:
    """Less patient than a run: one attempt and a second one, within the time."""
    return replace(
        config,
        timeout_seconds=min(config.timeout_seconds, seconds - 2 * config.stop_grace_seconds),
        max_attempts=min(config.max_attempts, 2),
        max_wait_seconds=seconds / 3,
    )


def _asked(config: JudgeConfig, question: Question, ask: AskAll, seconds: float) -> Reply | None:
    """The reply; None when none came before the time was over."""
    stop = threading.Event()
    timer = threading.Timer(seconds - config.stop_grace_seconds, stop.set)
    timer.daemon = True
    timer.start()
    questions: Iterable[Question] = [question]
    try:
        return next(iter(ask(config, questions, stop=stop)), None)
    finally:
        timer.cancel()


def _trial_of(config: JudgeConfig, reply: Reply | None, seconds: float) -> Trial:
    if reply is None:
        nothing = JudgeError("stopped", f"no answer within {seconds:g} s")
        return Trial(config.name, config.model, seconds, None, error=nothing, advice=ADVICE["stopped"])
    said: dict[str, Any] = {}
    if reply.reading is not None and (answer := reply.reading.answers.get(0)) is not None:
        said = {
            "verdict": str(answer.verdict.value) if answer.verdict else None,
            "reason": answer.reason,
            "confidence": answer.confidence,
        }
    error = reply.error
    if error is not None and error.kind == "stopped":
        error = JudgeError("stopped", f"no answer within {seconds:g} s")
    return Trial(
        judge=config.name,
        asked_model=config.model,
        seconds=reply.latency_seconds,
        reached=_reached(reply),
        model=reply.model,
        rung=reply.rung,
        attempts=reply.attempts,
        prompt_tokens=reply.prompt_tokens,
        cached_prompt_tokens=reply.cached_prompt_tokens,
        completion_tokens=reply.completion_tokens,
        cost_usd=reply.cost_usd,
        wanted_logprobs=config.sampling.logprobs,
        reasoning=reply.reasoning[:_REASONING_SHOWN],
        fallback=reply.fallback,
        log=reply.log,
        error=error,
        advice=ADVICE[error.kind] if error else "",
        **said,
    )


def _reached(reply: Reply) -> bool | None:
    kind = reply.error.kind if reply.error else None
    if kind in ("connection", "blocked_address"):
        return False
    return None if kind in ("timeout", "stopped") else True
