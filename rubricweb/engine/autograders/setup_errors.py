"""Which exceptions say that the judge is set up wrongly: they are raised, and no result stands in for them.

A judge's failure is data: one criterion without an answer. A wrong set-up fails every question alike, and as
data it would look like a submission that nobody could judge.
"""

from __future__ import annotations

import os
import re
from http import HTTPStatus

from rubricweb.engine.errors import ConfigurationError

_WRONG_CODE = (NameError, ImportError, SyntaxError, NotImplementedError)
_REPLY_SHAPES = (type(None), str, bytes, bool, int, float, list, dict, tuple)
# How Python words a call that does not fit its function, and a value that cannot be awaited or sent.
_WRONG_CALL = re.compile(
    r"(?:required|unexpected|multiple values for|takes .*) .*argument|not callable|'await' expression"
    r"|not JSON serializable"
)
# How the clients of OpenAI, Anthropic and Google say that no key was given. Only at the beginning: an error
# of the function's own may quote the reply.
_NO_KEY = re.compile(
    r"The api_key client option must be set|\"?Could not resolve authentication method"
    r"|Missing key inputs argument"
)


def is_setup_error(error: Exception) -> bool:
    """Whether an exception of a generate function is about its code or configuration, whatever was asked.

    So are ConfigurationError, a name or module that is not there, a call with wrong arguments, a setting that
    the environment lacks, an attribute that an object of a class of its own has not, a missing or refused API
    key (401) and an address or model that does not exist (404). A reply in another shape than expected, such
    as None where a text was wanted, is the judge's failure; so is everything about the network.
    """
    if isinstance(error, (ConfigurationError, *_WRONG_CODE)):
        return True
    if isinstance(error, AttributeError):
        return not isinstance(error.obj, _REPLY_SHAPES)
    if isinstance(error, KeyError):
        return _raised_by_environ(error)
    if isinstance(error, TypeError) and _WRONG_CALL.search(str(error)):
        return True
    status = _http_status(error)
    if status is not None:
        return status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.NOT_FOUND)
    return _NO_KEY.match(str(error)) is not None


def _raised_by_environ(error: KeyError) -> bool:
    """Whether ``os.environ["…"]`` raised it, and not a reply without that key."""
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    return frame is not None and frame.tb_frame.f_code is type(os.environ).__getitem__.__code__


def _http_status(error: Exception) -> int | None:
    """The HTTP status that the error of a client library carries."""
    for holder in (error, getattr(error, "response", None)):
        status = getattr(holder, "status_code", None)
        if isinstance(status, int):
            return status
    return None
