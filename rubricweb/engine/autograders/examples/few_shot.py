"""Examples for a judge, drawn from labelled items that are not among those it will grade."""

from __future__ import annotations

import hashlib
import json
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from rubricweb.engine.rubric import Criterion, Rubric
from rubricweb.engine.submission import Query, Submission
from rubricweb.engine.verdict import Verdict

OnOverlap: TypeAlias = Literal["refuse", "leave_out"]
"""What to do about a candidate that is among the items to be graded."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One labelled item an example may be drawn from.

    ``labels``: one per criterion of the rubric, in order: a Verdict (or its text) for a binary criterion, an
    option's label for a choice, None where nobody labelled it. ``reasons``: as many, or none at all.
    """

    item_id: str
    submission: Submission
    labels: tuple[str | None, ...]
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Example:
    """One verdict on one criterion, to be shown to a judge: MET, UNMET or an option's own label."""

    item_id: str
    submission: Submission
    label: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Examples:
    """What was drawn: examples by 0-based criterion index, criteria without any left out.

    ``left_out``: ids of the candidates that were to be graded themselves, in order. ``digest``: sha256 over
    the ids and contents shown, the same on every machine; two draws with one digest show the same items.
    """

    by_criterion: Mapping[int, tuple[Example, ...]]
    seed: int
    left_out: tuple[str, ...] = ()

    @property
    def item_ids(self) -> tuple[str, ...]:
        """Every item that is shown, once, in alphabetical order."""
        return tuple(sorted({example.item_id for example in self._all()}))

    @property
    def digest(self) -> str:
        shown = sorted({(example.item_id, content_digest(example.submission)) for example in self._all()})
        return _sha256(shown)

    def counts(self, criterion: int) -> dict[str, int]:
        """How many examples carry each label, for the criterion at this 0-based index."""
        labels = [example.label for example in self.by_criterion.get(criterion, ())]
        return {label: labels.count(label) for label in sorted(set(labels))}

    def _all(self) -> Iterable[Example]:
        return (example for examples in self.by_criterion.values() for example in examples)


class ExamplesOverlap(ValueError):
    """Examples were to be drawn from items that are to be graded; ``item_ids`` names the candidates."""

    def __init__(self, item_ids: Iterable[str]) -> None:
        self.item_ids = tuple(item_ids)
        listed = ", ".join(self.item_ids[:10]) + (" …" if len(self.item_ids) > 10 else "")
        super().__init__(
            f"{len(self.item_ids)} of the candidates are among the items to grade ({listed}); "
            "allowed: candidates with other ids and other texts"
        )


def draw_examples(
    rubric: Rubric,
    candidates: Sequence[Candidate],
    n: int,
    *,
    seed: int,
    exclude: Iterable[tuple[str, Submission]] = (),
    on_overlap: OnOverlap = "refuse",
) -> Examples:
    """Draw up to ``n`` examples for every binary and choice criterion, as even over its labels as can be.

    ``exclude``: id and submission of every item that will be graded. A candidate that shares an id or a text
    with one of them (see ``content_digest``) is refused with all others like it; ``leave_out`` passes over
    them instead. Abstentions (CANNOT_ASSESS, options marked ``na``) are not drawn, nor is one text twice for
    one criterion. Fewer than ``n`` come back when fewer are labelled.

    The draw follows ranks made by sha256 of seed, criterion and item: the order of the candidates, the
    machine and the process make no difference. Worked: 5 MET and 1 UNMET candidates, n = 4 → 3 MET, 1 UNMET.

    Raises Overlap, and ValueError for a negative ``n``, an id given twice, labels that do not match the
    rubric's length, or a label its criterion does not know.
    """
    if n < 0:
        raise ValueError(f"n is {n}; allowed: 0 or more examples per criterion")
    labelled = _checked(rubric, candidates)
    overlapping = _overlapping(candidates, exclude)
    if overlapping and on_overlap == "refuse":
        raise ExamplesOverlap(overlapping)
    drawn = {}
    for index, criterion in enumerate(rubric.criteria):
        pool = [
            Example(candidate.item_id, candidate.submission, label, _reason(candidate, index))
            for candidate, labels in labelled
            if (label := labels[index]) is not None and candidate.item_id not in overlapping
        ]
        chosen = _drawn_evenly(pool, n, f"{seed}\0{criterion.name}")
        if chosen:
            drawn[index] = chosen
    return Examples(drawn, seed, tuple(overlapping))


def content_digest(submission: Submission) -> str:
    """A hash (sha256, hexadecimal) of what was asked and answered, blind to white space and Unicode form.

    Two submissions with one digest count as the same item under whatever ids. Thinking and reference do not
    take part. ``"Paris. "`` and ``"Paris."`` are the same, ``"paris."`` is another.
    """
    return _sha256([_plain(query_text(submission.query)), _plain(submission.output)])


def query_text(query: Query | None) -> str:
    """The query as one text, a conversation turn by turn; "" when none was given."""
    if query is None or isinstance(query, str):
        return query or ""
    return "\n".join(f"{turn.get('role', 'unknown')}: {_turn_text(turn.get('content'))}" for turn in query)


def _checked(
    rubric: Rubric, candidates: Sequence[Candidate]
) -> list[tuple[Candidate, tuple[str | None, ...]]]:
    """The candidates with their labels in the rubric's own spelling, None for what cannot be shown."""
    checked, seen = [], set()
    for i, candidate in enumerate(candidates):
        if candidate.item_id in seen:
            raise ValueError(f"candidates[{i}]: the id {candidate.item_id!r} again; allowed: every id once")
        seen.add(candidate.item_id)
        for name, given in (("labels", candidate.labels), ("reasons", candidate.reasons)):
            if len(given) != len(rubric.criteria) and (given or name == "labels"):
                raise ValueError(
                    f"candidates[{i}].{name}: found {len(given)}; allowed: {len(rubric.criteria)}, "
                    "one per criterion"
                )
        labels = tuple(
            _label(criterion, label, f"candidates[{i}].labels[{k}]")
            for k, (criterion, label) in enumerate(zip(rubric.criteria, candidate.labels, strict=True))
        )
        checked.append((candidate, labels))
    return checked


def _label(criterion: Criterion, label: str | None, place: str) -> str | None:
    if label is None or criterion.kind == "check":
        return None
    try:
        if criterion.kind == "binary":
            verdict = Verdict.parse(label)
            return None if verdict is Verdict.CANNOT_ASSESS else verdict.value
        option = criterion.options[criterion.find_option_by_label(label)]
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from None
    return None if option.na else option.label


def _overlapping(
    candidates: Sequence[Candidate], exclude: Iterable[tuple[str, Submission]]
) -> dict[str, None]:
    """Ids of the candidates among the items to grade, in the order of the candidates."""
    ids, digests = set(), set()
    for item_id, submission in exclude:
        ids.add(item_id)
        digests.add(content_digest(submission))
    return {
        candidate.item_id: None
        for candidate in candidates
        if candidate.item_id in ids or content_digest(candidate.submission) in digests
    }


def _drawn_evenly(pool: Sequence[Example], n: int, salt: str) -> tuple[Example, ...]:
    """One example of each label in turn until there are ``n``; shown in an order that favours no label."""
    by_label: dict[str, list[Example]] = {}
    seen: set[str] = set()
    for example in sorted(pool, key=lambda example: _rank(salt, example.item_id)):
        digest = content_digest(example.submission)
        if digest not in seen:
            seen.add(digest)
            by_label.setdefault(example.label, []).append(example)
    turns = sorted(by_label, key=lambda label: _rank(salt, "label", label))
    longest = max((len(examples) for examples in by_label.values()), default=0)
    in_turn = [
        by_label[label][round_]
        for round_ in range(longest)
        for label in turns
        if round_ < len(by_label[label])
    ]
    return tuple(sorted(in_turn[:n], key=lambda example: _rank(salt, "place", example.item_id)))


def _reason(candidate: Candidate, index: int) -> str:
    return candidate.reasons[index] if candidate.reasons else ""


def _turn_text(content: object) -> str:
    return content if isinstance(content, str) else json.dumps(content, ensure_ascii=False, default=str)


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).split())


def _rank(*parts: str) -> str:
    return _sha256(list(parts))


def _sha256(value: object) -> str:
    return hashlib.sha256(json.dumps(value, ensure_ascii=True).encode()).hexdigest()
