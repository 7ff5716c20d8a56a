"""Inspect logs in their JSON form: samples with what was answered, and scores as labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rubricweb.engine.errors import FaultList, join_place, shown
from rubricweb.engine.formats.dataset_values import MACHINES_KEY, DatasetHeader
from rubricweb.engine.formats.field_values import read_prompt, read_text
from rubricweb.engine.formats.foreign.translation import (
    ForeignDocument,
    Translation,
    child,
    objects,
    one_reference,
    spoken,
    without_empty,
)
from rubricweb.engine.formats.records import PlacedRecord
from rubricweb.engine.rubric import check_rubric

RATER = "inspect"
"""The rater's name for what a log's scorers said; each scorer is a criterion."""

_GRADES = {"C": "Correct", "P": "Partially correct", "I": "Incorrect", "N": "No answer"}
_VALUES = {"Correct": 1.0, "Partially correct": 0.5, "Incorrect": 0.0, "No answer": 0.0}
_AS_VERDICTS = {"C": "MET", "I": "UNMET"}


def _is_log(whole: Mapping[Any, Any]) -> bool:
    return isinstance(whole.get("eval"), dict) and ("samples" in whole or "status" in whole)


def _translate(whole: Mapping[Any, Any], faults: FaultList) -> Translation:
    """Samples become items, numbered by epoch; scorers that say C, I, P or N become criteria.

    A scorer that only says C and I is binary, one that also says P or N a choice of four. Other values
    (numbers, objects) are kept as metadata ``scores``.
    """
    if whole.get("samples") is None:
        faults.add("samples", "a log without samples", "a log written with its samples")
        return Translation()
    samples = objects(whole["samples"], "samples", faults)
    grades = _grades_by_scorer(samples)
    header = _header(child({str(k): v for k, v in whole.items()}, "eval"), grades, faults)
    records = []
    for place, sample in samples:
        before = faults.total
        item = _item(sample, place, grades, faults)
        if faults.total == before:
            records.append(PlacedRecord(place, item))
    return Translation(header, tuple(records))


def _grades_by_scorer(samples: list[tuple[str, dict[str, Any]]]) -> dict[str, set[str]]:
    """The letters each scorer gave, for those scorers that gave nothing but letters."""
    found: dict[str, set[str]] = {}
    others: set[str] = set()
    for _, sample in samples:
        for scorer, score in child(sample, "scores").items():
            value = score.get("value") if isinstance(score, dict) else None
            if isinstance(value, str) and value in _GRADES:
                found.setdefault(str(scorer), set()).add(value)
            else:
                others.add(str(scorer))
    return {scorer: letters for scorer, letters in found.items() if scorer not in others}


def _header(about: Mapping[str, Any], grades: Mapping[str, set[str]], faults: FaultList) -> DatasetHeader:
    task = about.get("task")
    name = task[:200].strip() if isinstance(task, str) else ""
    if not grades:
        return DatasetHeader(name=read_text(name, "eval.task", faults) or "")
    rubric = check_rubric(
        [_criterion(scorer, letters) for scorer, letters in grades.items()], faults, "scores"
    )
    return DatasetHeader(
        name=read_text(name, "eval.task", faults) or "", rubric=rubric, rubric_is_faulty=rubric is None
    )


def _criterion(scorer: str, letters: set[str]) -> dict[str, Any]:
    criterion = {"name": scorer, "weight": 1, "requirement": f"The answer is correct, as {scorer} checks it."}
    if letters <= set(_AS_VERDICTS):
        return criterion
    options = [{"label": label, "value": value} for label, value in _VALUES.items()]
    return criterion | {"scale_type": "ordinal", "options": options}


def _item(
    sample: Mapping[str, Any], place: str, grades: Mapping[str, set[str]], faults: FaultList
) -> dict[str, Any]:
    attachments = child(sample, "attachments")
    submission, thinking = _answer(sample, place, attachments, faults)
    item: dict[str, Any] = {"prompt": _resolved(sample.get("input"), attachments), "submission": submission}
    read_prompt(item["prompt"], join_place(place, "input"), faults)
    item["reference"] = one_reference(sample.get("target"), join_place(place, "target"), faults)
    if thinking:
        item["thinking"] = thinking
    id, epoch = sample.get("id"), sample.get("epoch")
    if isinstance(id, str | int) and not isinstance(id, bool):
        item["id"] = id if epoch in (None, 1) else f"{id}-epoch-{epoch}"
        item["group"] = str(id)
    labels, reasons, others = _labels(sample, grades)
    if labels:
        item["labels"] = {RATER: labels}
        item["label_reasons"] = {RATER: reasons}
        item[MACHINES_KEY] = [RATER]
    ours = {"scores": others, "epoch": epoch}
    given = {
        f"sample_{key}" if key in item or key in ours else key: value
        for key, value in child(sample, "metadata").items()
    }
    item["metadata"] = without_empty(given | ours)
    return item


def _answer(
    sample: Mapping[str, Any], place: str, attachments: Mapping[str, Any], faults: FaultList
) -> tuple[str | None, str]:
    output = child(sample, "output")
    choices = output.get("choices")
    first = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
    text, thinking = spoken(_resolved(child(first, "message").get("content"), attachments))
    completion = _resolved(output.get("completion"), attachments)
    submission = text or completion
    if isinstance(submission, str) and submission.strip():
        return submission, thinking
    error = child(sample, "error").get("message")
    found = f"a failed sample ({shown(error)})" if isinstance(error, str) else "an empty completion"
    faults.add(
        join_place(place, "output"), found, "samples with an output: retry the eval, or leave them out"
    )
    return None, ""


def _labels(
    sample: Mapping[str, Any], grades: Mapping[str, set[str]]
) -> tuple[dict[str, str], dict[str, str], dict[str, Any]]:
    labels: dict[str, str] = {}
    reasons: dict[str, str] = {}
    others: dict[str, Any] = {}
    for key, score in child(sample, "scores").items():
        scorer = str(key)
        value = score.get("value") if isinstance(score, dict) else score
        if scorer not in grades:
            others[scorer] = value
            continue
        letters = grades[scorer]
        labels[scorer] = _AS_VERDICTS[str(value)] if letters <= set(_AS_VERDICTS) else _GRADES[str(value)]
        if isinstance(score.get("explanation"), str):
            reasons[scorer] = score["explanation"]
    return labels, reasons, others


def _resolved(value: Any, attachments: Mapping[str, Any], depth: int = 0) -> Any:
    """Long texts stand elsewhere in a log, as ``attachment://<hash>``."""
    if isinstance(value, str) and value.startswith("attachment://"):
        return attachments.get(value.removeprefix("attachment://"), value)
    if depth < 10 and isinstance(value, list):
        return [_resolved(inner, attachments, depth + 1) for inner in value]
    if depth < 10 and isinstance(value, dict):
        return {key: _resolved(inner, attachments, depth + 1) for key, inner in value.items()}
    return value


INSPECT_LOG = ForeignDocument("Inspect log", _is_log, _translate)
