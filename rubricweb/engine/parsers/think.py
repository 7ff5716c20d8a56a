"""Replies of models that think aloud first."""

from __future__ import annotations

import re
from typing import Any

from rubricweb.engine.parsers.completion import Parser

_THINKING = re.compile(r"\A\s*<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
_CUT_OFF = re.compile(r"\A\s*<think>")
_END = "</think>"


def without_thinking(reply: str) -> str:
    """The reply after its leading ``<think>…</think>`` block, or the reply itself when it has none.

    ``"<think>MET?</think>UNMET"`` gives ``"UNMET"``. A block that is never closed gives ``""``: the reply
    was cut off while the model was still weighing, and a draft is no answer.
    """
    return _THINKING.sub("", reply, count=1)


class ThinkParser(Parser):
    """Reads what stands after the last ``</think>``, for models that always think aloud.

    ``"<think>2+2</think> 4"`` gives ``"4"``; a text without ``</think>`` gives ``""``: nothing in it was
    meant as the answer.
    """

    def parse(self, text: str) -> Any:
        """The text after the last ``</think>``, stripped, through ``extract_fn``."""
        _, end, answer = text.rpartition(_END)
        return self.extract_fn(answer.strip() if end else "")


class MaybeThinkParser(Parser):
    """Reads what stands after the last ``</think>``, or the whole text of a model that did not think aloud.

    ``"4"`` and ``"<think>2+2</think> 4"`` both give ``"4"``. A ``<think>`` that is never closed gives
    ``""``: the text was cut off before its answer.
    """

    def parse(self, text: str) -> Any:
        """The text without its thinking, stripped, through ``extract_fn``."""
        _, end, answer = text.rpartition(_END)
        cut_off = not end and _CUT_OFF.match(text) is not None
        return self.extract_fn("" if cut_off else answer.strip())
