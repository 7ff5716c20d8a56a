"""promptfoo: result files, and configurations whose tests bring their outputs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from rubricweb.engine.errors import FaultList, InvalidText, join_place, shown
from rubricweb.engine.formats.dataset_values import MACHINES_KEY, DatasetHeader
from rubricweb.engine.formats.field_values import canonical, is_chat_text, read_text
from rubricweb.engine.formats.foreign.promptfoo_asserts import Fields, criteria_of, rendered
from rubricweb.engine.formats.foreign.translation import (
    ForeignDocument,
    Translation,
    child,
    objects,
    without_empty,
)
from rubricweb.engine.formats.records import PlacedRecord
from rubricweb.engine.parsers.json_text import parse_json
from rubricweb.engine.rubric import check_rubric

RATER = "promptfoo"
"""The rater's name for what promptfoo's own graders said about graded assertions."""


def _is_promptfoo(whole: Mapping[Any, Any]) -> bool:
    if "tests" in whole and ("prompts" in whole or "providers" in whole):
        return True
    results = whole.get("results")
    return isinstance(results, dict) and isinstance(results.get("results"), list)


def _translate(whole: Mapping[Any, Any], faults: FaultList) -> Translation:
    """Rows of a result file, or tests with a ``providerOutput``, become items; assertions their rubric.

    One rubric for the dataset where all tests ask the same, else one per item; a test's ``threshold`` is its
    pass rule. Configurations without outputs hold nothing to grade and are refused by test.
    """
    document = {str(key): value for key, value in whole.items()}
    if "results" in document:
        rows = objects(child(document, "results").get("results"), "results.results", faults)
        translated = [_row(row, place, faults) for place, row in rows]
    else:
        translated = _tests(document, faults)
    description = document.get("description")
    said = description.strip()[:200] if isinstance(description, str) else None
    name = read_text(said, "description", faults) or ""
    return _shared([record for record in translated if record is not None], name, faults)


def _tests(document: Mapping[str, Any], faults: FaultList) -> list[PlacedRecord | None]:
    tests = document.get("tests")
    if isinstance(tests, str):
        faults.add(
            "tests", f"a reference ({shown(tests)})", "the tests themselves: nothing is fetched or run"
        )
        return []
    default = child(document, "defaultTest")
    prompts = document.get("prompts")
    template = prompts[0] if isinstance(prompts, list) and len(prompts) == 1 else prompts
    found: list[PlacedRecord | None] = []
    for place, test in objects(tests, "tests", faults):
        before = faults.total
        merged = dict(default) | test
        merged["vars"] = {**child(default, "vars"), **child(test, "vars")}
        for key, options in (("options", child(merged, "options")), ("", merged)):
            if options.get("transform"):
                here = join_place(place, join_place(key, "transform"))
                faults.add(here, "code", "outputs as they are: nothing is run")
        variables = _variables(merged, place, faults)
        criteria = criteria_of(default.get("assert"), variables, "defaultTest.assert", faults)
        criteria += criteria_of(test.get("assert"), variables, join_place(place, "assert"), faults)
        output = test.get("providerOutput")
        if output is None:
            allowed = "the output to grade, or a result file (promptfoo eval --output results.json)"
            faults.add(join_place(place, "providerOutput"), "nothing", allowed)
            continue
        item = {"submission": _output(output), "description": test.get("description")}
        if isinstance(template, str):
            item["prompt"] = _chat(rendered(template, variables, "prompts[0]", faults))
        item |= {"metadata": without_empty({"vars": variables, **child(test, "metadata")})}
        item |= _rubric(criteria, merged.get("threshold"))
        found.append(PlacedRecord(place, item) if faults.total == before else None)
    return found


def _row(row: Mapping[str, Any], place: str, faults: FaultList) -> PlacedRecord | None:
    before = faults.total
    test = child(row, "testCase")
    variables = {str(key): value for key, value in (child(row, "vars") or child(test, "vars")).items()}
    here = join_place(place, "testCase.assert")
    criteria = criteria_of(test.get("assert"), variables, here, faults)
    output = child(row, "response").get("output")
    if output is None:
        error = row.get("error")
        found = f"a failed call ({shown(error)})" if isinstance(error, str) else "no output"
        faults.add(join_place(place, "response.output"), found, "rows with an output: leave the others out")
    item = {
        "submission": _output(output),
        "prompt": _chat(child(row, "prompt").get("raw")),
        "description": test.get("description"),
        "id": row.get("id"),
    }
    provider = row.get("provider")
    provider = provider.get("id") if isinstance(provider, dict) else provider
    item["metadata"] = without_empty({"vars": variables, "provider": provider, "score": row.get("score")})
    if isinstance(row.get("testIdx"), int):
        item["metadata"]["group"] = f"test {row['testIdx']}"
    if faults.total > before:
        return None
    # An item whose grades cannot be read is an item all the same: the grades alone are left out.
    labels, reasons = _labels(row, place, criteria, faults)
    if labels:
        item |= {"labels": {RATER: labels}, "label_reasons": {RATER: reasons}, MACHINES_KEY: [RATER]}
    item |= _rubric(criteria, test.get("threshold"))
    return PlacedRecord(place, item)


def _labels(
    row: Mapping[str, Any], place: str, criteria: list[Fields], faults: FaultList
) -> tuple[dict[str, str], dict[str, str]]:
    """What promptfoo's graders said, where its results stand one for one beside the assertions.

    Those of text comparisons are not read: they become checks, which say it anew.
    """
    parts = child(row, "gradingResult").get("componentResults")
    labels: dict[str, str] = {}
    reasons: dict[str, str] = {}
    if parts is None:
        return labels, reasons
    here = join_place(place, "gradingResult.componentResults")
    if not isinstance(parts, list) or len(parts) != len(criteria):
        found = f"{len(parts)} grades of" if isinstance(parts, list) else f"{shown(parts)} for"
        faults.add(here, f"{found} {len(criteria)} assertions", "one grade per assertion, in their order")
        return labels, reasons
    for number, (part, criterion) in enumerate(zip(parts, criteria, strict=True)):
        if "check" in criterion:
            continue
        passed = part.get("pass") if isinstance(part, dict) else None
        if not isinstance(passed, bool):
            faults.add(f"{here}[{number}].pass", shown(passed), "true or false")
            continue
        weight = criterion["weight"]
        forbidding = isinstance(weight, int | float) and weight < 0
        labels[criterion["name"]] = "MET" if passed is not forbidding else "UNMET"
        if isinstance(part.get("reason"), str):
            reasons[criterion["name"]] = part["reason"]
    return labels, reasons


def _variables(test: Mapping[str, Any], place: str, faults: FaultList) -> dict[str, Any]:
    variables = {str(key): value for key, value in child(test, "vars").items()}
    for name, value in variables.items():
        if isinstance(value, str) and value.startswith("file://"):
            here = join_place(place, f"vars.{name}")
            faults.add(here, f"a reference ({shown(value)})", "the text itself: nothing is fetched or run")
    return variables


def _rubric(criteria: list[Fields], threshold: Any) -> Fields:
    if not criteria:
        return {}
    names: set[str] = set()
    for criterion in criteria:  # the default test's assertions and the test's own are named apart
        name, number = criterion["name"], 1
        while criterion["name"].casefold() in names:
            number += 1
            criterion["name"] = f"{name} ({number})"
        names.add(criterion["name"].casefold())
    rubric: Fields = {"criteria": criteria}
    return {"rubric": rubric | ({} if threshold is None else {"pass_rule": {"min_score": threshold}})}


def _shared(records: list[PlacedRecord], name: str, faults: FaultList) -> Translation:
    texts = set()
    for record in records:
        try:
            texts.add(canonical(record.data.get("rubric")))
        except (ValueError, TypeError, RecursionError):  # TypeError: keys of several types, in YAML
            return Translation(DatasetHeader(name=name), tuple(records))
    if len(texts) != 1 or texts == {"null"}:
        return Translation(DatasetHeader(name=name), tuple(records))
    rubric = check_rubric(records[0].data["rubric"], faults, join_place(records[0].place, "assert"))
    for record in records:
        record.data.pop("rubric", None)
    return Translation(
        DatasetHeader(name=name, rubric=rubric, rubric_is_faulty=rubric is None), tuple(records)
    )


def _output(output: Any) -> Any:
    if output is None or isinstance(output, str):
        return output
    try:
        return json.dumps(output, ensure_ascii=False, allow_nan=False)
    except (ValueError, RecursionError):
        return output


def _chat(prompt: Any) -> Any:
    if not isinstance(prompt, str) or not is_chat_text(prompt):
        return prompt
    try:
        return parse_json(prompt)
    except InvalidText:
        return prompt


PROMPTFOO = ForeignDocument("promptfoo tests", _is_promptfoo, _translate)
