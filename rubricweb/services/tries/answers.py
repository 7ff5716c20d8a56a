"""What a try tells, piece by piece: answers as they come, verdicts that are settled, the sum at the end."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rubricweb.engine.answer import Answer
from rubricweb.engine.autograders.base import Overall
from rubricweb.judges.base import JudgeError

TRIED, BEFORE = "tried", "before"
"""The sides of a try: what is tried, and the version that it is held against."""


@dataclass(frozen=True)
class TriedVerdict:
    """What was said of the criterion at `index`, from 0, in its rubric: an `answer`, or the `error` in its
    place.
    """

    index: int
    answer: Answer | None
    error: JudgeError | None = None


@dataclass(frozen=True)
class TriedReply:
    """What came of one question, as soon as it came.

    `verdicts` are of the criteria it was about, none where the judge gives one `overall` number. With a panel
    they are votes, and a `TriedResult` says what they come to. `text` is the reply as it came where it could
    not be read, "" else; `advice` what to do about the `error`. `request` is the body as it was sent; where
    the answer was known it is the one that would be. Tokens and cost are None where nobody knows them; the
    cost is 0 where it `is_known` from an earlier call or try. `seconds` runs from the first request.
    """

    side: str
    judge: str
    repeat: int
    verdicts: tuple[TriedVerdict, ...]
    overall: Overall | None
    is_vote: bool
    error: JudgeError | None
    advice: str
    text: str
    request: Mapping[str, Any]
    model: str
    fallback: bool
    prompt_tokens: int | None
    cached_prompt_tokens: int | None
    completion_tokens: int | None
    cost_usd: float | None
    seconds: float
    is_known: bool


@dataclass(frozen=True)
class TriedResult:
    """What a check says of a `criterion`, or what the votes on it come to, after `passed_on`: the stages of a
    cascade that did not settle it.
    """

    side: str
    by: str
    passed_on: tuple[str, ...]
    criterion: TriedVerdict


@dataclass(frozen=True)
class TriedSum:
    """One side when nothing more comes. `score` (0 to 1) and `passed` are None where scoring leaves them
    undefined or something is missing; `overall` is 0 to 100. `cost_usd` is None where the cost of an answer
    is not known. `unanswered` counts criteria without a verdict.
    """

    side: str
    score: float | None
    coverage: float | None
    passed: bool | None
    overall: float | None
    asked: int
    known: int
    unanswered: int
    prompt_tokens: int
    completion_tokens: int
    cost_usd: float | None


@dataclass(frozen=True)
class StillWaiting:
    """Nothing came for a second; who reads this is still there. `seconds` since the try began."""

    seconds: float


@dataclass(frozen=True)
class TryStopped:
    """Nothing more is asked, for this reason: time is up, or the money."""

    why: str


TryPiece = TriedReply | TriedResult | TriedSum | StillWaiting | TryStopped
