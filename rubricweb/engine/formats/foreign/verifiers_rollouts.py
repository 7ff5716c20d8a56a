"""Rollouts as verifiers saves them: prompt and completion as messages, answer, info, reward, metrics."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from rubricweb.engine.errors import FaultList, join_place, shown
from rubricweb.engine.formats.foreign.translation import (
    ForeignRecords,
    Translation,
    is_our_own,
    objects,
    one_reference,
    spoken,
    without_empty,
)
from rubricweb.engine.formats.records import PlacedRecord


def _is_rollout(record: Mapping[str, Any]) -> bool:
    if "prompt" not in record or "reward" not in record:
        return False
    # A text is a submission of ours too; a list of messages is none, whatever stands beside it.
    completion = record.get("completion")
    return isinstance(completion, list) or (isinstance(completion, str) and not is_our_own(record))


def _translate(records: list[PlacedRecord], faults: FaultList) -> Translation:
    """One item per rollout; rollouts of one example share its ``group``.

    A single assistant message is the submission, with its reasoning as thinking; a longer completion is kept
    whole as JSON text. Reward and metrics stay metadata: they are what was measured, not labels.
    """
    translated = []
    rollouts: dict[str, int] = {}
    for record in records:
        data = dict(record.data)
        before = faults.total
        submission, thinking = _completion(data.pop("completion", None), record.place, faults)
        if faults.total > before:
            continue
        item: dict[str, Any] = {"prompt": data.pop("prompt", None), "submission": submission}
        if thinking:
            item["thinking"] = thinking
        answer = data.pop("answer", None)
        item["reference"] = one_reference(answer, join_place(record.place, "answer"), faults)
        example = data.pop("example_id", None)
        if example is None:
            example = data.pop("id", None)
        if isinstance(example, str | int) and not isinstance(example, bool):
            key = str(example)
            rollouts[key] = rollouts.get(key, 0) + 1
            item["id"] = f"{key}-{rollouts[key]}"
            data["group"] = key
        translated.append(PlacedRecord(record.place, item | {"metadata": without_empty(data)}))
    return Translation(records=tuple(translated))


def _completion(value: Any, place: str, faults: FaultList) -> tuple[str | None, str | None]:
    here = join_place(place, "completion")
    if isinstance(value, str):
        return value, None
    if not isinstance(value, list):
        faults.add(here, shown(value), "the messages of the completion")
        return None, None
    messages = objects(value, here, faults)
    if len(messages) != 1:
        try:
            return json.dumps(value, ensure_ascii=False, allow_nan=False), None
        except (ValueError, RecursionError):
            faults.add(here, "messages that cannot be written as JSON", "plain messages")
            return None, None
    message = messages[0][1]
    text, thoughts = spoken(message.get("content"))
    reasoning = message.get("reasoning_content")
    return text, (reasoning if isinstance(reasoning, str) else thoughts) or None


VERIFIERS = ForeignRecords("verifiers rollouts", _is_rollout, _translate)
