"""What a draft keeps of its file and the editor does not show: it stays in one hidden field of the form."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rubricweb.engine.errors import InvalidText
from rubricweb.engine.parsers.json_text import parse_json
from rubricweb.errors import Invalid
from rubricweb.services.rubrics.drafts import is_draft

_KEYS = ("id", "description", "sections")


def packed(draft: Mapping[str, Any]) -> str:
    """Id, description and sections of a draft as one text, with the groups its criteria had; "" for none."""
    kept = {key: draft[key] for key in _KEYS if draft.get(key)}
    if "sections" in kept:
        entries = [entry for entry in draft.get("criteria") or () if isinstance(entry, Mapping)]
        kept["groups"] = sorted({str(entry["group"]).strip() for entry in entries if entry.get("group")})
    return json.dumps(kept, ensure_ascii=False) if kept else ""


def unpacked(text: str, groups: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """The same for the draft as it is now; `groups` are those of each criterion, before and now.

    A section has the new name of its first criterion where none has the old one; it goes with its last one.
    What had no criteria before stays. Raises Invalid for a text that `packed` does not write.
    """
    if not text:
        return {}
    try:
        kept = parse_json(text)
    except InvalidText as error:
        raise Invalid("What the form keeps of the rubric's file cannot be read.", error.faults) from error
    before = kept.pop("groups", []) if isinstance(kept, dict) else []
    known = isinstance(kept, dict) and kept.keys() <= set(_KEYS) and isinstance(before, list)
    if not known or not is_draft(kept):
        raise Invalid("What the form keeps of the rubric's file is not what it was given: reload the page.")
    if sections := list(_sections_now(kept.get("sections") or [], before, groups)):
        return {**kept, "sections": sections}
    return {key: value for key, value in kept.items() if key != "sections"}


def _sections_now(
    sections: Sequence[Mapping[str, Any]], before: Sequence[Any], groups: Sequence[tuple[str, str]]
) -> Iterator[Mapping[str, Any]]:
    titles = [str(section.get("title") or section.get("id") or "").strip() for section in sections]
    taken, now = set(titles), {group for _, group in groups}
    for section, title in zip(sections, titles, strict=True):
        if title in now or title not in before:
            yield section
            continue
        renamed = next((group for earlier, group in groups if earlier == title), "")
        if renamed and renamed not in taken:
            taken.add(renamed)
            yield {**section, "title": renamed}
