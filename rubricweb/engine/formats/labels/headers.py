"""Names of columns: what the header of a table of labels says of its column."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from rubricweb.engine.formats.label_files import MAX_KEYS
from rubricweb.engine.parsers.plain_text import folded

ALIASES: dict[str, tuple[str, ...]] = {
    "item_id": (
        "item id", "item key", "id", "item", "key", "example id", "example", "sample id", "sample",
        "response id", "submission id", "answer id", "text id", "doc id", "document id", "story id",
        "dialogue id", "dialog id", "conversation id", "record id", "row id", "case id", "task id",
        "question id", "prompt id", "uid", "uuid",
    ),
    "criterion": (
        "criterion", "criterion name", "criterion id", "criteria", "dimension", "aspect", "metric",
        "question", "question id", "attribute", "category", "rubric", "rubric item", "test", "test name",
    ),
    "rater": (
        "rater", "rater id", "annotator", "annotator id", "labeler", "labeler id", "labeller", "labeller id",
        "worker", "worker id", "reviewer", "reviewer id", "expert", "expert id", "expert idx", "evaluator",
        "evaluator id", "assessor", "grader", "coder", "judge", "user", "user id", "completed by", "who",
    ),
    "verdict": (
        "verdict", "label", "binary verdict", "rating", "score", "answer", "judgement", "judgment", "grade",
        "vote", "decision", "choice", "value", "response", "annotation", "result",
    ),
    "reason": (
        "reason", "rationale", "explanation", "justification", "comment", "comments", "note", "notes",
        "feedback", "why", "critique", "remark", "remarks",
    ),
    "final_verdict": ("final verdict",),
    "final_reason": ("final reason",),
    "rater_kind": ("rater kind", "rater type", "annotator type", "annotator kind", "kind"),
    "case_id": (
        "case id", "case", "case key", "question id", "prompt id", "task id", "example id", "item id", "item",
        "id", "key", "question", "prompt", "task", "example",
    ),
    "system": (
        "system", "system version", "model", "model name", "model id", "variant", "assistant", "version",
        "build", "source",
    ),
    "attempt": ("attempt", "attempt number", "trial", "epoch", "sample", "sample number"),
}  # fmt: skip
"""Per field the names its column may have, best first, as ``plain`` writes them."""

OWN_NAMES = {
    "item_id": ("item id", "item key", "item", "id", "key"),
    "criterion": ("criterion", "criteria", "criterion name"),
}
"""Names that say the field whatever the column holds."""

LABEL_WORDS = frozenset(("verdict", "label", "rating", "score", "grade", "answer", "judgement", "judgment"))
REASON_WORDS = frozenset(ALIASES["reason"])
RATER_WORDS = frozenset(name.removesuffix(" id") for name in ALIASES["rater"]) - {"who", "completed by"}

FINAL = " (final)"
"""What stands behind the name of a criterion in the column of final labels."""

_MARKS = ":/._-|"
_MAX_HEADER = 2 * MAX_KEYS["criterion"] + MAX_KEYS["rater"]
"""Longer headers are a name and nothing else."""


def plain(name: str) -> str:
    """A name as it is compared: ``Narrative_Ending`` and ``narrative ending`` are the same."""
    return folded(re.sub(r"[\s_\-]+", " ", name))


class CriterionNames:
    """The names of criteria, found whatever their case and spaces; where that fits several, only exactly.

    A criterion is found by its id as well, ``ids`` being (id, name); what names one and is the id of another
    is the name. An id of several names, in rubrics that items bring, is none.
    """

    def __init__(self, names: Iterable[str], ids: Iterable[tuple[str | None, str]] = ()) -> None:
        self.names = tuple(dict.fromkeys(names))
        self._ids: dict[str, str | None] = {}
        for id, name in ids:
            if id:
                key = folded(id)
                self._ids[key] = name if self._ids.get(key, name) == name else None
        self._written = {name: name for name in self.names}
        self._exact = {folded(name): name for name in self.names}
        self._loose: dict[str, str | None] = {}
        for name in self.names:
            self._loose[plain(name)] = None if plain(name) in self._loose else name

    def find(self, text: str) -> str | None:
        """The name this text stands for."""
        return (
            self._written.get(text)
            or self._exact.get(folded(text))
            or self._loose.get(plain(text))
            or self._ids.get(folded(text))
        )


@dataclass(frozen=True, slots=True)
class LabelColumn:
    """What a column holds: labels, final labels or reasons on a criterion, by a rater; empty where the row
    says it.
    """

    criterion: str = ""
    rater: str = ""
    is_reason: bool = False
    is_final: bool = False


def read_header(text: str, names: CriterionNames) -> LabelColumn | None:
    """What a header with a criterion's name says; None for one without.

    ``polite``, ``polite_score`` and ``polite (criterion)`` are labels on polite, ``polite (final)`` what was
    said after the reveal, ``polite reason`` their reasons, ``ann: polite`` and ``polite_ann`` labels by
    ann, ``ann: polite (final)`` what ann said after the reveal.
    """
    text = text.strip()
    if len(text) > _MAX_HEADER:
        return None
    whole = _whole(text, names)
    if whole is not None:
        return whole
    if text.endswith(FINAL):
        first = text.removesuffix(FINAL)
        final = _whole(first, names) or _pair(first, names)
        if final is not None:
            return replace(final, is_final=True)
    for rest in without(text, REASON_WORDS):
        inner = _whole(rest, names) or _pair(rest, names)
        if inner is not None:
            return replace(inner, is_reason=True)
    return _pair(text, names)


def read_rater_header(text: str) -> LabelColumn:
    """What a header with nothing but a rater's name says: ``ann``, ``ann (final)`` or ``ann reason``."""
    text = text.strip()
    if text.endswith(FINAL):
        return LabelColumn(rater=text.removesuffix(FINAL).strip(), is_final=True)
    rest = next(without(text, REASON_WORDS), None)
    return LabelColumn(rater=text) if rest is None else LabelColumn(rater=rest, is_reason=True)


def _whole(text: str, names: CriterionNames) -> LabelColumn | None:
    for candidate in (text, text.removesuffix("(criterion)"), *without(text, LABEL_WORDS)):
        own = names.find(candidate)
        if own is not None:
            return LabelColumn(own)
    return None


def _pair(text: str, names: CriterionNames) -> LabelColumn | None:
    for candidate in (text, *without(text, LABEL_WORDS)):
        for left, right in _cuts(candidate, _MARKS):
            for criterion, rater in ((right, left), (left, right)):
                own = names.find(criterion)
                if own is not None and len(rater) <= MAX_KEYS["rater"]:
                    return LabelColumn(own, rater)
    return None


def without(text: str, words: frozenset[str]) -> Iterator[str]:
    """The text without one of these words before or behind it."""
    for left, right in _cuts(text, _MARKS + " "):
        if plain(right) in words:
            yield left
        elif plain(left) in words:
            yield right
    bracket = re.fullmatch(r"(.+?)\s*\(([^()]+)\)", text)
    if bracket and plain(bracket[2]) in words:
        yield bracket[1]


def _cuts(text: str, marks: str) -> Iterator[tuple[str, str]]:
    for place, mark in enumerate(text):
        if mark in marks:
            left, right = text[:place].strip(marks + " "), text[place + 1 :].strip(marks + " ")
            if left and right:
                yield left, right
