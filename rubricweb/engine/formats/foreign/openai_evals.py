"""OpenAI evals: samples (``input``, ``ideal``) with completions beside them, and recorded run logs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rubricweb.engine.errors import FaultList, join_place, shortened, shown
from rubricweb.engine.formats.dataset_values import ALIASES, MACHINES_KEY, DatasetHeader
from rubricweb.engine.formats.field_values import read_text
from rubricweb.engine.formats.foreign.translation import (
    ForeignRecords,
    Translation,
    child,
    is_our_own,
    one_reference,
)
from rubricweb.engine.formats.records import PlacedRecord
from rubricweb.engine.rubric import check_rubric

_OUTPUT_KEYS = ("sampled", *(alias for alias in ALIASES["submission"]))


def _is_sample(record: Mapping[str, Any]) -> bool:
    if "input" not in record or "ideal" not in record:
        return False
    if isinstance(record["ideal"], list):  # no file of ours has several references
        return True
    return not is_our_own(record) and not any(key in record for key in ALIASES["submission"])


def _is_log(record: Mapping[str, Any]) -> bool:
    spec = record.get("spec")
    return isinstance(spec, dict) and ("eval_name" in spec or "completion_fns" in spec)


def _translate_samples(records: list[PlacedRecord], faults: FaultList) -> Translation:
    """Samples become items where a completion stands beside ``ideal``; several ideals, one per line."""
    translated = []
    for record in records:
        output = next((record.data[key] for key in _OUTPUT_KEYS if record.data.get(key) is not None), None)
        if isinstance(output, list) and len(output) == 1:
            output = output[0]
        if not isinstance(output, str):
            faults.add(
                record.place,
                "a sample without its completion" if output is None else shown(output),
                "the completion beside the sample, as sampled or completion; or the log of a run",
            )
            continue
        rest = {k: v for k, v in record.data.items() if k not in ("input", "ideal", *_OUTPUT_KEYS)}
        item = {
            "id": rest.pop("id", None),
            "prompt": record.data.get("input"),
            "submission": output,
            "reference": one_reference(record.data.get("ideal"), join_place(record.place, "ideal"), faults),
            "metadata": rest,
        }
        translated.append(PlacedRecord(record.place, item))
    return Translation(records=tuple(translated))


def _translate_log(records: list[PlacedRecord], faults: FaultList) -> Translation:
    """Every ``sampling`` event is an item; a ``match`` event is a label by the rater named like the eval."""
    items: dict[str, PlacedRecord] = {}
    matches: dict[str, tuple[str, bool]] = {}
    calls: dict[str, int] = {}
    for record in records:
        sample = str(record.data.get("sample_id"))
        data = child(record.data, "data")
        if record.data.get("type") == "sampling":
            place = join_place(record.place, "data.sampled")
            sampled = data.get("sampled")
            sampled = sampled[0] if isinstance(sampled, list) and len(sampled) == 1 else sampled
            if not isinstance(sampled, str):
                faults.add(place, shown(sampled), "one completion")
                continue
            calls[sample] = calls.get(sample, 0) + 1
            id = sample if calls[sample] == 1 else f"{sample}-call-{calls[sample]}"
            item = {"id": id, "prompt": data.get("prompt"), "submission": sampled, "group": sample}
            items[id] = PlacedRecord(record.place, item)
        elif record.data.get("type") == "match":
            if not isinstance(data.get("correct"), bool):
                faults.add(
                    join_place(record.place, "data.correct"), shown(data.get("correct")), "true or false"
                )
                continue
            matches[sample] = (record.place, data["correct"])
            if sample in items:
                expected = join_place(record.place, "data.expected")
                items[sample].data["reference"] = one_reference(data.get("expected"), expected, faults)
    name = _name(records, faults)
    if not matches:
        return Translation(DatasetHeader(name=name), tuple(items.values()))
    for sample, (place, was_correct) in matches.items():
        if sample not in items:
            found = f"a match of {shortened(sample)!r}, whose completion is not in the log"
            faults.add(join_place(place, "sample_id"), found, "a match of a sample with a sampling event")
            continue
        items[sample].data["labels"] = {name: ["MET" if was_correct else "UNMET"]}
        items[sample].data[MACHINES_KEY] = [name]
    rubric = check_rubric(
        [{"name": "correct", "weight": 1, "requirement": "The answer is correct."}], faults, "rubric"
    )
    return Translation(DatasetHeader(name=name, rubric=rubric), tuple(items.values()))


def _name(records: list[PlacedRecord], faults: FaultList) -> str:
    """The eval's name, as the last record that has one says it."""
    place, said = "", ""
    for record in records:
        spec = child(record.data, "spec")
        key = next((key for key in ("eval_name", "base_eval") if spec.get(key)), None)
        if key is not None:
            place, said = join_place(record.place, f"spec.{key}"), str(spec[key])
    return read_text(said[:120].strip(), place, faults) or "eval"


OPENAI_EVALS_SAMPLES = ForeignRecords("OpenAI evals samples", _is_sample, _translate_samples)
OPENAI_EVALS_LOG = ForeignRecords("OpenAI evals run log", _is_log, _translate_log)
