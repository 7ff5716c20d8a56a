"""Replies of models that think aloud first."""

from __future__ import annotations

import re

_THINKING = re.compile(r"\A\s*<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)


def without_thinking(reply: str) -> str:
    """The reply after its leading ``<think>…</think>`` block, or the reply itself when it has none.

    ``"<think>MET?</think>UNMET"`` gives ``"UNMET"``. A block that is never closed gives ``""``: the reply
    was cut off while the model was still weighing, and a draft is no answer.
    """
    return _THINKING.sub("", reply, count=1)
