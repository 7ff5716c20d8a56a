"""Label Studio's JSON export: tasks with annotations, whose choices and ratings are raters' labels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from rubricweb.engine.errors import FaultList, join_place, shown
from rubricweb.engine.formats.dataset_values import ALIASES, MACHINES_KEY, DatasetHeader, plain_column
from rubricweb.engine.formats.foreign.translation import ForeignRecords, Translation, child, objects
from rubricweb.engine.formats.label_provenance import PROVENANCE_KEY
from rubricweb.engine.formats.records import PlacedRecord
from rubricweb.engine.rubric import check_rubric
from rubricweb.engine.verdict import Verdict

GROUND_TRUTH = "ground_truth"

_SAID = (GROUND_TRUTH, "ground_truth_reasons", PROVENANCE_KEY, "labels", "label_reasons", MACHINES_KEY)
"""Fields that are what the annotators said: columns of ``data`` called so are renamed."""

_REASONS = ("reason", "why", "rationale", "explanation", "justification", "comment")
"""What a control for texts is called, with the name of a question, that asks why."""

MIN_STARS = 5
"""Stars a rating is read against unless more were given: an export does not say how many there were."""


@dataclass(slots=True)
class _Question:
    """One control of the labelling form, and every answer it got."""

    kind: str
    answers: dict[str, None] = field(default_factory=dict)


_Text = tuple[str, str, str]
"""What somebody wrote: its place, the control's name, the text."""


def _is_task(record: Mapping[str, Any]) -> bool:
    return isinstance(record.get("data"), dict) and any(
        isinstance(record.get(key), list) for key in ("annotations", "completions", "predictions")
    )


def _translate(records: list[PlacedRecord], faults: FaultList) -> Translation:
    """Tasks become items, the columns of ``data`` their fields; every ``from_name`` is a criterion.

    Choices named MET, UNMET, CANNOT_ASSESS make a binary criterion, other choices a nominal one, stars an
    ordinal one. An export says nothing of weights or values, so what is not binary has weight 0: it is
    compared and shown, and moves no score until somebody edits the rubric. Skipped annotations are no labels.
    A text called like a question and a reason, ``polite_reason``, is the reason of that answer.
    """
    questions: dict[str, _Question] = {}
    written: list[tuple[dict[str, Any], str, list[_Text]]] = []
    translated = []
    has_submission = any(_has_submission(child(record.data, "data")) for record in records)
    for record in records:
        labels: dict[str, dict[str, str]] = {}
        machines: list[str] = []
        texts: dict[str, list[_Text]] = {}
        for place, rater, is_machine, results in _raters(record, faults):
            row, said = _answers(results, questions, faults)
            if not row:
                _leave_out(said, faults)
                continue
            if rater in labels:
                faults.add(place, f"a second annotation by {rater!r}", "one annotation per rater and task")
                continue
            labels[rater], texts[rater] = row, said
            machines += [rater] * is_machine
        item = {"id": record.data.get("id")} | _columns(
            child(record.data, "data"), text_is_submission=not has_submission
        )
        truth = labels.pop(GROUND_TRUTH, None)
        if truth:
            item["ground_truth"] = truth
        if labels:
            item["labels"] = labels
        if machines:
            item[MACHINES_KEY] = machines
        translated.append(PlacedRecord(record.place, item))
        written += [(item, rater, said) for rater, said in texts.items()]
    header, unread = _header(questions, faults)
    for record in translated if unread else ():
        _forget(record.data, unread)
    explained = _explained([name for name in questions if name not in unread])
    for item, rater, said in written:
        _explain(item, rater, said, explained, faults)
    return Translation(header, tuple(translated))


def _has_submission(given: Mapping[Any, Any]) -> bool:
    """Whether a column of ``data`` is called like a submission and holds a text to grade."""
    return any(
        plain_column(str(key)) in ALIASES["submission"] and _is_text_to_grade(value)
        for key, value in given.items()
    )


def _is_text_to_grade(value: Any) -> bool:
    if isinstance(value, dict) and set(value) <= {"thinking", "output"}:
        value = value.get("output")
    return isinstance(value, str) and bool(value.strip())


def _columns(given: Mapping[Any, Any], *, text_is_submission: bool) -> dict[str, Any]:
    """The columns of ``data`` under names by which each is read as what it is.

    The text is what is graded only where no task of the export has a submission: beside one it is a source.
    """
    moved = text_is_submission and "text" in given
    taken = (*_SAID, "submission") if moved else _SAID
    data: dict[str, Any] = {}
    for key, value in given.items():
        column = str(key)
        data[f"data_{column}" if plain_column(column) in taken else column] = value
    if moved:
        data["submission"] = data.pop("text")
    return data


def _forget(item: dict[str, Any], unread: frozenset[str]) -> None:
    """Takes the answers to questions that became no criterion out of an item."""
    rows = [row for row in (item.get(GROUND_TRUTH), *item.get("labels", {}).values()) if row]
    for row in rows:
        for name in unread & row.keys():
            del row[name]


def _explained(names: list[str]) -> dict[str, str]:
    """Name of a control → the question whose reasons it holds; a plain ``reason`` explains the only one."""
    found = {plain_column(f"{name}_{word}"): name for name in names for word in _REASONS}
    found |= {plain_column(f"{word}_{name}"): name for name in names for word in _REASONS}
    return found | dict.fromkeys(_REASONS, names[0]) if len(names) == 1 else found


def _explain(
    item: dict[str, Any],
    rater: str,
    texts: Iterable[_Text],
    explained: Mapping[str, str],
    faults: FaultList,
) -> None:
    """Puts what a rater wrote beside the answers it is plainly the reason of; other texts are left out."""
    settled = rater == GROUND_TRUTH
    row = item.get(GROUND_TRUTH, {}) if settled else item.get("labels", {}).get(rater, {})
    reasons: dict[str, str] = {}
    for place, name, text in texts:
        about = explained.get(plain_column(name), "")
        if about in row and about not in reasons:
            reasons[about] = text
        else:
            _leave_out([(place, name, text)], faults)
    if reasons and settled:
        item["ground_truth_reasons"] = reasons
    elif reasons:
        item.setdefault("label_reasons", {})[rater] = reasons


def _leave_out(texts: Iterable[_Text], faults: FaultList) -> None:
    for place, name, _ in texts:
        allowed = "the reason of an answer, called like its question, as in polite_reason"
        faults.add(place, f"a text for {name!r}", allowed)


def _raters(
    record: PlacedRecord, faults: FaultList
) -> Iterable[tuple[str, str, bool, list[tuple[str, dict[str, Any]]]]]:
    """Place, rater, whether it is a model's prediction, and results of everybody who answered."""
    for key in ("annotations", "completions"):
        here = join_place(record.place, key)
        for place, annotation in objects(record.data.get(key), here, faults):
            if annotation.get("was_cancelled"):
                continue
            results = objects(annotation.get("result"), join_place(place, "result"), faults)
            rater = GROUND_TRUTH if annotation.get("ground_truth") else _rater(annotation.get("completed_by"))
            yield place, rater, False, results
    here = join_place(record.place, "predictions")
    for place, prediction in objects(record.data.get("predictions"), here, faults):
        results = objects(prediction.get("result"), join_place(place, "result"), faults)
        yield place, f"model {prediction.get('model_version') or 'unnamed'}"[:120], True, results


def _rater(completed_by: Any) -> str:
    if isinstance(completed_by, dict):
        completed_by = completed_by.get("email") or completed_by.get("id")
    if isinstance(completed_by, str) and completed_by.strip():
        return completed_by.strip()[:120]
    return "annotator" if completed_by is None else f"annotator {completed_by}"[:120]


def _answers(
    results: list[tuple[str, dict[str, Any]]], questions: dict[str, _Question], faults: FaultList
) -> tuple[dict[str, str], list[_Text]]:
    """Question → answer, and what was written beside them; answers of other kinds are left out."""
    row: dict[str, str] = {}
    texts: list[_Text] = []
    for here, result in results:
        name, kind, value = str(result.get("from_name") or ""), result.get("type"), child(result, "value")
        if kind == "textarea" and name:
            text = _text(value.get("text"))
            texts += [(here, name, text)] if text else []
            continue
        if kind not in ("choices", "rating") or not name:
            to = f" to {name!r}" if name else ""
            faults.add(
                here, f"an answer of the type {str(kind)[:40]!r}{to}", "choices and ratings, called by a name"
            )
            continue
        answer = _answer(kind, value, here, faults)
        if answer is None:
            continue
        question = questions.setdefault(name, _Question(kind))
        if question.kind != kind or name in row:
            faults.add(here, f"a second answer to {name!r}", "one answer per question and annotation")
            continue
        question.answers[answer] = None
        row[name] = answer
    return row, texts


def _text(value: Any) -> str:
    """What stands in a field for text, line by line; an export has it as a list or as one text."""
    lines = value if isinstance(value, list) else [value]
    return "\n".join(line for line in lines if isinstance(line, str) and line.strip())


def _answer(kind: str, value: Mapping[str, Any], place: str, faults: FaultList) -> str | None:
    if kind == "rating":
        stars = value.get("rating")
        if isinstance(stars, bool) or not isinstance(stars, int) or not 1 <= stars <= 100:
            faults.add(
                join_place(place, "value.rating"), shown(stars), "a whole number of stars from 1 to 100"
            )
            return None
        return str(stars)
    choices = value.get("choices")
    if not isinstance(choices, list) or len(choices) != 1 or not isinstance(choices[0], str):
        found = f"{len(choices)} choices at once" if isinstance(choices, list) else shown(choices)
        faults.add(join_place(place, "value.choices"), found, "one choice")
        return None
    if not choices[0].strip():
        faults.add(join_place(place, "value.choices[0]"), "an empty text", "the choice's text")
        return None
    return choices[0].strip()


def _header(questions: Mapping[str, _Question], faults: FaultList) -> tuple[DatasetHeader, frozenset[str]]:
    """The rubric of the questions, and those that are left out of it."""
    criteria = []
    unread = set()
    for name, question in questions.items():
        criterion = _criterion(name, question)
        if criterion is None:
            unread.add(name)
            only = next(iter(question.answers))
            faults.add(
                join_place("annotations", name),
                f"only one choice ({shown(only)})",
                "at least two that differ",
            )
        else:
            criteria.append(criterion)
    if not criteria:
        return DatasetHeader(), frozenset(unread)
    rubric = check_rubric(criteria, faults, "annotations")
    return DatasetHeader(rubric=rubric, rubric_is_faulty=rubric is None), frozenset(unread)


def _criterion(name: str, question: _Question) -> dict[str, Any] | None:
    asked = name.replace("_", " ").strip().capitalize()
    criterion: dict[str, Any] = {"name": name, "requirement": asked}
    if question.kind == "rating":
        stars = max(MIN_STARS, *(int(answer) for answer in question.answers))
        options = [{"label": str(n), "value": round((n - 1) / (stars - 1), 6)} for n in range(1, stars + 1)]
        return criterion | {"weight": 0, "scale_type": "ordinal", "options": options}
    if all(_is_verdict(answer) for answer in question.answers):
        return criterion | {"weight": 1}
    distinct = {answer.casefold(): answer for answer in reversed(list(question.answers))}
    if len(distinct) < 2:
        return None
    options = [{"label": label, "value": 0.0} for label in sorted(distinct.values(), key=str.casefold)]
    return criterion | {"weight": 0, "scale_type": "nominal", "options": options}


def _is_verdict(answer: str) -> bool:
    try:
        Verdict.parse(answer)
    except ValueError:
        return False
    return True


LABEL_STUDIO = ForeignRecords("Label Studio export", _is_task, _translate)
