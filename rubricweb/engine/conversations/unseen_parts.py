"""Pictures, sounds and files within a conversation: a text stands in for each, and never its base64."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from rubricweb.engine.number_format import counted
from rubricweb.engine.submission import Query

# The types of parts that OpenAI, Anthropic and Google name what is no text.
_KINDS = {
    "image_url": "image",
    "input_image": "image",
    "image": "image",
    "input_audio": "audio",
    "audio": "audio",
    "audio_url": "audio",
    "video": "video",
    "video_url": "video",
    "input_file": "file",
    "file": "file",
    "document": "file",
}
_TYPE_KEYS = ("media_type", "mime_type", "mimeType", "format")
# In prose only what is long enough to be a file; a part that says what it is may be short.
_BASE64 = r"[A-Za-z0-9+/_=-]"
_DATA_URL = re.compile(
    rf"data:(?P<type>[\w.+-]+/[\w.+-]+)?(?:;[\w.+-]+=[^;,\s]{{1,100}}){{0,5}};base64,{_BASE64}*"
)
_LONG_DATA_URL = re.compile(_DATA_URL.pattern.removesuffix("*") + "{200,}")
_ONLY_BASE64 = re.compile(rf"(?:{_BASE64}|\s){{64,}}")


def without_data(text: str) -> str:
    """The text with a placeholder for every long data URL, such as a picture within Markdown."""
    return _LONG_DATA_URL.sub(_stands_in, text) if ";base64," in text else text


def as_text(part: object) -> str:
    """A part of a message that is no text: a placeholder for one that brings data, else its JSON.

    ``{"type": "image_url", "image_url": {"url": "data:image/png;base64,…"}}`` of 1 MB gives ``[image:
    image/png, 1.0 MB, not shown to the judge]``.
    """
    found: list[str] = []
    rest = _replaced(part, found)
    kind = _kind(part)
    if found and kind:
        return f"[{kind}: {found[0].removeprefix('[')}"
    return json.dumps(rest, ensure_ascii=False, default=str)


def unseen_parts(query: Query | None) -> int:
    """How many pictures, sounds and files a prompt holds that no judge is shown, those at an address too."""
    if query is None:
        return 0
    if isinstance(query, str):
        return len(_LONG_DATA_URL.findall(query)) if ";base64," in query else 0
    count = 0
    for turn in query:
        content = turn.get("content")
        for part in content if isinstance(content, list | tuple) else [content]:
            if isinstance(part, str):
                count += unseen_parts(part)
            else:
                count += bool(_kind(part)) or _holds_data(part)
        count += sum(_holds_data(value) for key, value in turn.items() if key not in ("role", "content"))
    return count


def unseen_words(items: int, among: str = "") -> str:
    """In how many items' prompts such parts are, in a sentence; "" where in none. ``among`` says of which."""
    if not items:
        return ""
    return (
        f"Judges are not shown the pictures, sounds and files in the prompts of {counted(items, 'item')}"
        f"{among}: a placeholder such as [image: image/png, 1.0 MB, not shown to the judge] stands for each."
    )


def _kind(part: object) -> str:
    return _KINDS.get(str(part.get("type")), "") if isinstance(part, Mapping) else ""


def _holds_data(value: object) -> bool:
    found: list[str] = []
    _replaced(value, found)
    return bool(found)


def _replaced(value: Any, found: list[str]) -> Any:
    """The value with placeholders for data, which are put into ``found`` as well."""
    if isinstance(value, str):
        if (url := _DATA_URL.match(value)) is None:
            return without_data(value)
        found.append(_stands_in(url))
        return found[-1]
    if isinstance(value, Mapping):
        declared = next((str(value[key]) for key in _TYPE_KEYS if isinstance(value.get(key), str)), "")
        data = value.get("data")
        if declared and isinstance(data, str) and _ONLY_BASE64.fullmatch(data):
            found.append(_placeholder(declared, len(data)))
            return {**value, "data": found[-1]}
        return {key: _replaced(inner, found) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_replaced(inner, found) for inner in value]
    return value


def _stands_in(url: re.Match[str]) -> str:
    return _placeholder(url["type"] or "data", len(url.group()) - url.group().index(",") - 1)


def _placeholder(media_type: str, characters: int) -> str:
    """Four characters of base64 are three bytes."""
    size = characters * 3 / 4
    for unit in ("B", "kB"):
        if size < 1000:
            return f"[{media_type}, {size:.0f} {unit}, not shown to the judge]"
        size /= 1000
    return f"[{media_type}, {size:.1f} MB, not shown to the judge]"
