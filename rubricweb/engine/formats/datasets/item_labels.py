"""Labels inside items: one per criterion, checked against the rubric in force."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rubricweb.engine.errors import FaultList, join_place, nearest, shown
from rubricweb.engine.formats.dataset_values import LabelRow
from rubricweb.engine.formats.field_values import read_text
from rubricweb.engine.parsers.plain_text import folded, unstorable
from rubricweb.engine.rubric import Criterion, Rubric
from rubricweb.engine.verdict import ALLOWED_VERDICTS, Verdict

MAX_RATER = 120
"""Characters of a rater's name."""


def read_label(criterion: Criterion | None, value: Any) -> str | None:
    """One label as it is stored: a Verdict, or the option's label as the rubric spells it; None is a gap.

    Labels match as `folded`. Without a criterion (no rubric yet) verdicts only. Raises
    ValueError with what is allowed as its text: nobody labels a check, which is computed.
    """
    if value is None:
        return None
    if criterion is not None and criterion.is_check:
        raise ValueError("null: a check is computed from the submission, nobody labels it")
    if criterion is not None and criterion.is_multi_choice:
        if isinstance(value, str):
            try:
                return criterion.options[criterion.find_option_by_label(value)].label
            except ValueError:
                pass
        raise ValueError(f"{', '.join(option.label for option in criterion.options)} or null")
    if isinstance(value, str):
        try:
            return Verdict.parse(value)
        except ValueError:
            pass
    raise ValueError(f"{ALLOWED_VERDICTS} or null")


def read_label_row(value: Any, rubric: Rubric | None, place: str, faults: FaultList) -> LabelRow | None:
    """Labels as a list with one entry per criterion, or as an object of criterion names; None when neither.

    A criterion the object leaves out is a gap. Faults are placed ``labels[1]`` or ``labels.name``.
    """
    if isinstance(value, Mapping) and rubric is not None:
        return _named_labels(value, rubric, place, faults)
    if not isinstance(value, list | tuple):
        faults.add(place, shown(value), "a list of labels or null, one per criterion")
        return None
    criteria: list[Criterion | None] = [None] * len(value)
    if rubric is not None:
        criteria = list(rubric.criteria)
        if len(value) != len(criteria):
            faults.add(place, f"{len(value)} labels", f"{len(criteria)}, one per criterion")
    labels = [
        _placed(criterion, label, f"{place}[{i}]", faults)
        for i, (criterion, label) in enumerate(zip(criteria, value, strict=False))
    ]
    return tuple(labels)


def read_rater_rows(value: Any, rubric: Rubric | None, place: str, faults: FaultList) -> dict[str, LabelRow]:
    """Labels by rater: an object of rater names, each with labels as ``read_label_row`` takes them."""
    rows: dict[str, LabelRow] = {}
    for rater, given in _by_rater(value, place, faults).items():
        row = read_label_row(given, rubric, join_place(place, rater), faults)
        if row is not None:
            rows[rater] = row
    return rows


def read_reason_row(
    value: Any, row: LabelRow | None, rubric: Rubric | None, place: str, faults: FaultList
) -> LabelRow | None:
    """Reasons beside the labels they explain: a list of the same length, or an object of criterion names.

    A reason where no label stands is refused: nothing would keep it.
    """
    if isinstance(value, Mapping) and rubric is not None:
        reasons: list[str | None] = [None] * len(rubric.criteria)
        given = list(_by_criterion(value, rubric, place, faults))
    elif isinstance(value, list | tuple):
        reasons = [None] * len(value)
        given = [(i, f"{place}[{i}]", reason) for i, reason in enumerate(value)]
    else:
        faults.add(place, shown(value), "a list of texts or null, one per criterion")
        return None
    for position, here, reason in given:
        reasons[position] = text = read_text(reason, here, faults)
        if text and text.strip() and row is not None and row[position : position + 1] == (None,):
            faults.add(here, f"a reason without a label ({shown(text)})", "a label it explains, or null")
    if row is None:
        faults.add(place, "reasons without labels", "reasons beside the labels they explain")
    elif len(reasons) != len(row):
        faults.add(place, f"{len(reasons)} reasons", f"{len(row)}, one per label")
    return tuple(reasons)


def read_rater_reasons(
    value: Any, rows: Mapping[str, LabelRow], rubric: Rubric | None, place: str, faults: FaultList
) -> dict[str, LabelRow]:
    """Reasons by rater, for raters who have labels."""
    found: dict[str, LabelRow] = {}
    for rater, given in _by_rater(value, place, faults).items():
        reasons = read_reason_row(given, rows.get(rater), rubric, join_place(place, rater), faults)
        if reasons is not None:
            found[rater] = reasons
    return found


def read_machine_raters(
    value: Any, rows: Mapping[str, LabelRow], place: str, faults: FaultList
) -> tuple[str, ...]:
    """Those raters among the labels who are programs or models: a list of their names; none when missing."""
    if value is None:
        return ()
    if not isinstance(value, list | tuple) or not all(isinstance(rater, str) for rater in value):
        faults.add(place, shown(value), "a list of raters' names")
        return ()
    named = {rater.strip() for rater in value}
    for rater in sorted(named - rows.keys()):
        faults.add(place, f"{shown(rater)}, who has no labels here", "raters named in labels")
    return tuple(rater for rater in rows if rater in named)


def _named_labels(value: Mapping[Any, Any], rubric: Rubric, place: str, faults: FaultList) -> LabelRow:
    labels: list[str | None] = [None] * len(rubric.criteria)
    for position, here, label in _by_criterion(value, rubric, place, faults):
        labels[position] = _placed(rubric.criteria[position], label, here, faults)
    return tuple(labels)


def _by_criterion(
    value: Mapping[Any, Any], rubric: Rubric, place: str, faults: FaultList
) -> Iterator[tuple[int, str, Any]]:
    """The position, the place and the value of each criterion that an object of criterion names has."""
    positions = {folded(name): i for i, name in enumerate(rubric.names)}
    seen: set[int] = set()
    for key, given in value.items():
        here = join_place(place, str(key))
        position = positions.get(folded(str(key)))
        if position is None:
            faults.add(here, "an unknown criterion", nearest(str(key), rubric.names))
        elif position in seen:
            faults.add(here, "this criterion twice", "each criterion once")
        else:
            seen.add(position)
            yield position, here, given


def _placed(criterion: Criterion | None, label: Any, place: str, faults: FaultList) -> str | None:
    try:
        return read_label(criterion, label)
    except ValueError as error:
        faults.add(place, shown(label), str(error))
        return None


def _by_rater(value: Any, place: str, faults: FaultList) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        faults.add(place, shown(value), "an object of raters, each with a list of labels")
        return {}
    found: dict[str, Any] = {}
    for key, given in value.items():
        rater = str(key).strip()
        if not rater or len(rater) > MAX_RATER or unstorable(rater):
            faults.add(place, f"a rater named {shown(str(key))}", f"a text of at most {MAX_RATER} characters")
        elif rater in found:
            faults.add(place, f"the rater {shown(rater)} twice", "each rater once")
        else:
            found[rater] = given
    return found
