"""Traces as verifiers 0.4 saves them: an episode a line, whose traces hold messages as nodes of a graph."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from rubricweb.engine.errors import FaultList, join_place, shown
from rubricweb.engine.formats.foreign.translation import (
    ForeignRecords,
    Translation,
    child,
    objects,
    one_reference,
    spoken,
    without_empty,
)
from rubricweb.engine.formats.records import PlacedRecord

_NO_ANSWER = "traces with an answer: run them again, or leave them out"
_KEPT = ("id", "metrics", "info", "stop_condition", "is_timeout")
"""What of a trace stays metadata as it is; tokens, tools, calls and times are passed over."""


def _is_episode(record: Mapping[str, Any]) -> bool:
    """An episode with traces, or one trace by itself."""
    if not isinstance(child(record, "task").get("data"), dict):
        return False
    return isinstance(record.get("traces"), list) or isinstance(record.get("nodes"), list)


def _translate(records: list[PlacedRecord], faults: FaultList) -> Translation:
    """One item per trace; traces of one task share its ``group``.

    The path to the last message is read. An answer of one message is the submission, with its reasoning as
    thinking; a longer one is kept whole as JSON text, unless the trace says what its agent replied. Rewards
    and metrics stay metadata: they are what was measured, not labels.
    """
    translated = []
    rollouts: dict[str, int] = {}
    for record in records:
        given = record.data.get("traces")
        traces = [(record.place, dict(record.data))] if given is None else []
        traces += objects(given, join_place(record.place, "traces"), faults)
        if not traces:
            faults.add(join_place(record.place, "traces"), "an episode without traces", _NO_ANSWER)
        for place, trace in traces:
            before = faults.total
            item = _item(trace, child(record.data, "task"), place, rollouts, faults)
            if faults.total == before:
                translated.append(PlacedRecord(place, item))
    return Translation(records=tuple(translated))


def _item(
    trace: Mapping[str, Any],
    dispatched: Mapping[str, Any],
    place: str,
    rollouts: dict[str, int],
    faults: FaultList,
) -> dict[str, Any]:
    task = child(trace, "task") or dispatched
    data = child(task, "data")
    before, after = _messages(trace, place, faults)
    submission, thinking = _answer(trace, after, place, faults)
    item: dict[str, Any] = {"prompt": _prompt(data, before), "submission": submission}
    if thinking:
        item["thinking"] = thinking
    item["reference"] = one_reference(data.get("answer"), join_place(place, "task.data.answer"), faults)
    named = (data.get("id"), data.get("idx"), task.get("key"), task.get("hash"))
    key = next((str(one) for one in named if isinstance(one, str | int) and str(one).strip()), None)
    metadata = {name: trace.get(name) for name in _KEPT}
    metadata["trace_id"] = metadata.pop("id")
    if key is not None:
        rollouts[key] = rollouts.get(key, 0) + 1
        item["id"] = f"{key}-{rollouts[key]}"
        metadata["group"] = key
    metadata["task"] = data.get("name")
    metadata["agent"] = child(trace, "agent").get("name")
    metadata["model"] = child(child(trace, "agent"), "config").get("model")
    metadata["reward"], metadata["rewards"] = _rewards(trace)
    metadata["errors"] = [
        {"type": error.get("type"), "message": error.get("message")}
        for _, error in objects(trace.get("errors"), join_place(place, "errors"), faults)
    ]
    return item | {"metadata": without_empty(metadata)}


def _messages(
    trace: Mapping[str, Any], place: str, faults: FaultList
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The messages before the first that was sampled, and from there, on the path to the last node."""
    nodes = [node for _, node in objects(trace.get("nodes"), join_place(place, "nodes"), faults)]
    path: list[Mapping[str, Any]] = []
    at: Any = len(nodes) - 1 if nodes else None
    while isinstance(at, int) and 0 <= at < len(nodes) and len(path) < len(nodes):
        path.append(nodes[at])
        at = nodes[at].get("parent")
    path.reverse()
    first = next((n for n, node in enumerate(path) if node.get("sampled") is True), len(path))
    messages = [_spoken_message(child(node, "message")) for node in path]
    return messages[:first], messages[first:]


def _spoken_message(message: Mapping[str, Any]) -> dict[str, Any]:
    """A message without what only a provider reads."""
    return {key: value for key, value in message.items() if value is not None and key != "provider_state"}


def _prompt(data: Mapping[str, Any], before: list[dict[str, Any]]) -> Any:
    """As the task has it, with its system prompt; else what was said before the first answer."""
    prompt, system = data.get("prompt"), data.get("system_prompt")
    if prompt is None:
        return before or None
    if not isinstance(system, str) or not system.strip():
        return prompt
    turns = prompt if isinstance(prompt, list) else [{"role": "user", "content": prompt}]
    return [{"role": "system", "content": system}, *turns]


def _answer(
    trace: Mapping[str, Any], after: list[dict[str, Any]], place: str, faults: FaultList
) -> tuple[str | None, str]:
    reply = trace.get("root_reply")
    if isinstance(reply, str) and reply.strip():
        return reply, ""
    if len(after) == 1:
        text, thoughts = spoken(after[0].get("content"))
        reasoning = after[0].get("reasoning_content")
        if text.strip():
            return text, reasoning if isinstance(reasoning, str) else thoughts
    if len(after) > 1:
        try:
            return json.dumps(after, ensure_ascii=False, allow_nan=False), ""
        except (ValueError, RecursionError):
            faults.add(
                join_place(place, "nodes"), "messages that cannot be written as JSON", "plain messages"
            )
            return None, ""
    errors = trace.get("errors")
    last = errors[-1] if isinstance(errors, list) and errors else None
    why = f" ({shown(last.get('message'))})" if isinstance(last, dict) and last.get("message") else ""
    faults.add(join_place(place, "nodes"), f"a trace without an answer{why}", _NO_ANSWER)
    return None, ""


def _rewards(trace: Mapping[str, Any]) -> tuple[float | None, dict[str, Any]]:
    """What the trace was rewarded with, the sum of score × weight, and the score of each."""
    scores: dict[str, Any] = {}
    total = 0.0
    for name, reward in child(trace, "rewards").items():
        score, weight = child({"": reward}, "").get("score"), child({"": reward}, "").get("weight", 1.0)
        if all(isinstance(one, int | float) and math.isfinite(one) for one in (score, weight)):
            scores[str(name)] = score
            total += score * weight
    return (total if scores else None), scores


VERIFIERS_TRACES = ForeignRecords("verifiers traces", _is_episode, _translate)
