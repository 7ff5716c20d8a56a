"""What lint found, in the words and with the links of the editor."""

import re
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rubricweb import engine
from rubricweb.engine.errors import Fault
from rubricweb.engine.lint import RULES, CriterionEvidence, Finding, lint, lint_data, lint_draft
from rubricweb.engine.parsers.yaml_lines import lines_of
from rubricweb.services.rubrics.drafts import as_one_list

SEVERITIES = ("error", "warning", "hint")
MAX_PLACED = 256_000
"""In a longer source nothing is placed: finding lines takes ten times as long as reading."""
_LINE = re.compile(r"line (\d+)(?:, column \d+)?:? ?")
AROUND = 60
"""Characters shown on each side of the words that a finding marks."""


@dataclass(frozen=True)
class RowLink:
    """A row of the form as links name it: its anchor, its number from 1, and what to call it."""

    anchor: str
    number: int
    label: str


@dataclass(frozen=True)
class LintNote:
    """One finding: what it says, why it matters, and which rows of the form it is about.

    `position` is the criterion's place from 0, None for the rubric as a whole; `row` its row and `others`
    further rows. `before`, `marked` and `after` are the words to blame in their sentence, empty when no
    words are.
    """

    severity: str
    title: str
    message: str
    suggestion: str
    explanation: str
    position: int | None
    row: "RowLink | None" = None
    others: "tuple[RowLink, ...]" = ()
    before: str = ""
    marked: str = ""
    after: str = ""


def notes(draft: dict[str, Any], rows: Sequence[RowLink]) -> list[LintNote]:
    """What can be said about a draft of these rows: warnings before hints, each in the order of the rows."""
    found = [_note(finding, draft, rows) for finding in lint_draft(draft)]
    return sorted(found, key=lambda note: note.severity != "warning")


def version_notes(content: engine.Rubric, evidence: Sequence[CriterionEvidence]) -> list[LintNote]:
    """What can be said about a published rubric: of its text and of its labels, warnings before hints."""
    rows = [
        RowLink(f"criterion-{number}", number, str(name))
        for number, name in enumerate(content.names, start=1)
    ]
    plain = content.to_dict()
    found = [_note(one, plain, rows) for one in (*lint_data(content, evidence), *lint(content))]
    return sorted(found, key=lambda note: note.severity != "warning")


@dataclass(frozen=True)
class SourceMark:
    """What is said of a line of a rubric's source, from 1: an "error", a "warning" or a "hint"."""

    line: int
    severity: str
    text: str


def source_marks(text: str, draft: Mapping[str, Any], faults: Iterable[Fault]) -> list[SourceMark]:
    """Faults and lint at the lines of a source; `draft` is what it says, {} while it cannot be read.

    A fault names its line (``line 3: criteria[0].weight``) or a place of the text; what has neither is about
    the whole, on line 1.
    """
    if len(text) > MAX_PLACED:
        return []
    faults, findings = list(faults), lint_draft(as_one_list(draft)) if draft else []
    places = _places(draft)
    at = ["" if one.criterion is None else places[one.criterion] for one in findings]
    lines = lines_of(text, {*(fault.place for fault in faults), *at})
    marks = [
        SourceMark(
            int(said[1]) if (said := _LINE.match(fault.place)) else lines.get(fault.place, 1),
            "error",
            f"{_LINE.sub('', fault.place)}: {fault.found}. Allowed: {fault.allowed}.",
        )
        for fault in faults
    ]
    marks += [
        SourceMark(lines.get(place, 1), one.severity, f"{one.message} {one.suggestion}")
        for place, one in zip(at, findings, strict=True)
    ]
    return sorted(marks, key=lambda mark: (mark.line, SEVERITIES.index(mark.severity)))


def _places(draft: Mapping[str, Any]) -> list[str]:
    """Where each criterion stands in a file, in order."""
    sections = [one for one in draft.get("sections") or () if isinstance(one, Mapping)]
    if any(one.get("criteria") for one in sections):
        return [
            f"sections[{number}].criteria[{place}]"
            for number, one in enumerate(sections)
            for place in range(len(one.get("criteria") or ()))
        ]
    return [f"criteria[{place}]" for place in range(len(draft.get("criteria") or ()))]


def digest(notes: Sequence[LintNote]) -> str:
    """A short text that changes when the notes do, so that a page can leave alone what is the same."""
    return f"{zlib.crc32(repr(notes).encode()):08x}"


def _note(finding: Finding, draft: dict[str, Any], rows: Sequence[RowLink]) -> LintNote:
    rule = RULES[finding.rule]
    before = marked = after = ""
    if finding.span is not None and finding.criterion is not None:
        text, (start, end) = str(draft["criteria"][finding.criterion].get("requirement", "")), finding.span
        before, marked, after = text[:start], text[start:end], text[end:]
        before = before if len(before) <= AROUND else f"…{before[-AROUND:]}"
        after = after if len(after) <= AROUND else f"{after[:AROUND]}…"
    return LintNote(
        severity=finding.severity,
        title=rule.title,
        message=finding.message,
        suggestion=finding.suggestion,
        explanation=rule.explanation,
        position=finding.criterion,
        row=None if finding.criterion is None else rows[finding.criterion],
        others=tuple(rows[position] for position in finding.others),
        before=before,
        marked=marked,
        after=after,
    )
