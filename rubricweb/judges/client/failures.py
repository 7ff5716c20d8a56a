"""What a failed attempt means: the error to report, and whether and when to try again."""

from __future__ import annotations

import datetime
import email.utils
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus

from rubricweb.judges.base import JudgeError

MAX_QUOTED = 200
"""Characters of a provider's own message that may be shown."""


@dataclass(frozen=True, slots=True)
class AttemptFailure:
    """A failed attempt. `again`: another may help; `after_seconds`: the pause the endpoint asked for."""

    error: JudgeError
    again: bool
    after_seconds: float | None = None


def status_failure(
    status: int, body: object, headers: Mapping[str, str], secrets: Sequence[str]
) -> AttemptFailure:
    """Judge an HTTP error status by the retry rules: 408, 409, 425, 429 and 5xx are tried again, no other is.

    A 429 that says the quota is used up is final: no pause brings it back.
    """
    kind, again = _KINDS.get(status) or (("server_error", True) if status >= 500 else ("bad_request", False))
    code = _error_field(body, "code")
    if status == HTTPStatus.TOO_MANY_REQUESTS and code == "insufficient_quota":
        again = False
    if status == HTTPStatus.BAD_REQUEST and code in _REFUSAL_CODES:
        kind = "refused"
    if is_about_key(status, body):
        kind = "unauthorized"
    if 300 <= status < 400:
        return AttemptFailure(
            JudgeError(
                "blocked_address", f"the endpoint redirects (HTTP {status}); redirects are not followed"
            ),
            again=False,
        )
    said = provider_message(body, secrets)
    message = f"HTTP {status} {_phrase(status)}".rstrip() + (f": {said}" if said else "")
    return AttemptFailure(JudgeError(kind, message), again, retry_after(headers) if again else None)


def is_about_key(status: int, body: object) -> bool:
    """Whether an endpoint refuses for want of an API key: 401, or what LiteLLM without a database says with
    400 of a key that is not its own.
    """
    return status == HTTPStatus.UNAUTHORIZED or (
        status == HTTPStatus.BAD_REQUEST and _error_field(body, "type") == "no_db_connection"
    )


FALLBACK_KINDS = frozenset(
    {"refused", "truncated", "bad_request", "not_found", "forbidden", "unreadable_reply"}
)
"""Errors of a model that another model at the same address may not run into.

They are final, or (unreadable_reply) lasted through all attempts. Not among them: what concerns the endpoint
as a whole (unauthorized, rate_limited, server_error, timeout, connection, blocked_address), where the other
model would fare no better and the same one may later; missing_criterion, whose partial answer stands; and
stopped.
"""


def looks_like_refusal(text: str) -> bool:
    """Whether a reply that could not be read declines in plain words.

    Only its beginning counts, and only where nothing was found to read: a judge that declines to assess says
    so in the form asked for.
    """
    return _DECLINING_WORDS.match(text.lstrip()[:MAX_QUOTED]) is not None


def provider_message(body: object, secrets: Sequence[str]) -> str:
    """The provider's error message in at most 200 characters on one line; "" when the body has none.

    Nothing else of a remote body is ever shown, and nothing that repeats one of `secrets`: the API key, or
    what extra headers say.
    """
    message = _error_field(body, "message") or _error_field(body, "detail")
    if not message and isinstance(body, dict) and isinstance(body.get("error"), str):
        message = body["error"]
    return quoted_without(secrets, message)


def quoted_without(secrets: Sequence[str], text: str) -> str:
    """A foreign text as `quoted` gives it, withheld as a whole where it repeats one of `secrets`."""
    if any(secret in text for secret in secrets):
        return "(its message repeats the API key or an extra header and is withheld)"
    return quoted(text)


def quoted(text: str) -> str:
    """A foreign text on one line of at most 200 characters, all of which UTF-8 can spell."""
    start = text[: 4 * MAX_QUOTED].encode("utf-8", "replace").decode()
    line = re.sub(r"[\s\x00-\x1f\x7f]+", " ", start).strip()
    return line if len(line) <= MAX_QUOTED else line[: MAX_QUOTED - 1] + "…"


def retry_after(headers: Mapping[str, str], now: datetime.datetime | None = None) -> float | None:
    """Seconds the endpoint asks to wait: `retry-after-ms`, or `Retry-After` in seconds or as an HTTP date.

    None when absent or unreadable; a date in the past is 0. `Retry-After: Fri, 20 Nov 2026 10:00:30 GMT` at
    10:00:00 is 30.
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after")
    seconds = _number(value)
    if seconds is not None or value is None:
        return seconds
    try:
        moment = email.utils.parsedate_to_datetime(value)
    except (ValueError, OverflowError):  # a year or an hour no calendar has
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=datetime.UTC)
    return max(0.0, (moment - (now or datetime.datetime.now(datetime.UTC))).total_seconds())


_KINDS: dict[int, tuple[str, bool]] = {
    HTTPStatus.UNAUTHORIZED: ("unauthorized", False),
    HTTPStatus.PAYMENT_REQUIRED: ("forbidden", False),
    HTTPStatus.FORBIDDEN: ("forbidden", False),
    HTTPStatus.NOT_FOUND: ("not_found", False),
    HTTPStatus.REQUEST_TIMEOUT: ("timeout", True),
    HTTPStatus.CONFLICT: ("server_error", True),
    HTTPStatus.TOO_EARLY: ("server_error", True),
    HTTPStatus.TOO_MANY_REQUESTS: ("rate_limited", True),
}
_DECLINING_WORDS = re.compile(
    r"\W*(?:i(?:'|\u2019)?m (?:really |very )?sorry|sorry|i apologi[sz]e|unfortunately)?\W*(?:but )?"
    r"i(?: am|'m|\u2019m)?(?: really)? "
    r"(?:cannot|can(?:'|\u2019)t|won(?:'|\u2019)t|will not|unable to|not able to|must decline|must refuse)\b",
    re.IGNORECASE,
)
_REFUSAL_CODES = frozenset({"content_filter", "content_policy_violation"})


def _number(text: str | None) -> float | None:
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if 0 <= number < float("inf") else None


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""


def _error_field(body: object, name: str) -> str:
    error = body.get("error", body) if isinstance(body, dict) else None
    value = error.get(name) if isinstance(error, dict) else None
    return value if isinstance(value, str) else ""
