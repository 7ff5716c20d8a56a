"""The published parsers' base: what a completion says, as text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

Message: TypeAlias = Mapping[str, Any]
"""One chat message: ``{"role": "assistant", "content": "…"}``; content may also be a list of parts."""

Messages: TypeAlias = Sequence[Message] | str
"""A list of chat messages, oldest first, or one plain text."""


class Parser:
    """Passes text through; the parser of a rubric that names none.

    ``extract_fn`` is applied to what was found, such as ``boxed_answer``; the default changes nothing.
    """

    def __init__(self, extract_fn: Callable[[str], Any] | None = None) -> None:
        self.extract_fn: Callable[[str], Any] = extract_fn or _unchanged

    def parse(self, text: str) -> Any:
        """What the text holds: here the text itself, through ``extract_fn``."""
        return self.extract_fn(text)

    def parse_answer(self, completion: Messages) -> Any:
        """What the last assistant message of a completion (or a plain text) holds.

        None when no assistant message is there: a completion without a word is not an empty answer.
        """
        texts = assistant_texts(completion)
        return self.parse(texts[-1]) if texts else None


def assistant_texts(completion: Messages) -> list[str]:
    """The texts of the assistant's messages, oldest first; a plain text is one of them."""
    if isinstance(completion, str):
        return [completion]
    return [text_of(message) for message in completion if role_of(message) == "assistant"]


def text_of(message: Message | object) -> str:
    """A message's text, its text parts joined by line breaks; ``""`` when it has none (a call of a tool).

    Messages may be mappings or objects with the same fields. ``{"content": [{"type": "text", "text": "a"},
    {"type": "text", "text": "b"}]}`` gives ``"a\\nb"``.
    """
    content = _field(message, "content")
    if content is None:
        return ""
    parts = [content] if isinstance(content, str) else list(content)
    texts = [part if isinstance(part, str) else _field(part, "text") for part in parts]
    return "\n".join(text for text in texts if isinstance(text, str))


def role_of(message: Message | object) -> str | None:
    """Who speaks, such as ``"user"`` or ``"assistant"``; None when the message does not say."""
    role = _field(message, "role")
    return role if isinstance(role, str) else None


def _field(message: object, name: str) -> Any:
    return message.get(name) if isinstance(message, Mapping) else getattr(message, name, None)


def _unchanged(text: str) -> str:
    return text
