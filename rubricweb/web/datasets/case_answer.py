"""What the page of a case shows first: who answered it best, where judge and people differ, and what two
answers differ in.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from rubricweb.engine.number_format import counted, number
from rubricweb.engine.rubric.words import Segment, word_diff
from rubricweb.models import Criterion, Judgement
from rubricweb.selectors.comparison.case import CaseAnswer, CaseAnswers
from rubricweb.selectors.labels.provenance import Provenance

MOST_CHANGED = 0.6
"""Share of two texts above which their differing words are not marked: little would be left unmarked."""

NAMED = 3
"""Criteria that the sentence names at most."""


@dataclass(frozen=True)
class CaseCell:
    """What was said of one criterion about one answer: by the judge, and what stands by people."""

    answer: CaseAnswer
    judge: Judgement | None
    people: Provenance | None

    @property
    def name(self) -> str:
        return answer_name(self.answer)

    @property
    def are_both(self) -> bool:
        return bool(self.judge and self.judge.verdict and self.people and self.people.verdict)

    @property
    def differ(self) -> bool:
        return self.are_both and self.judge.verdict != self.people.verdict  # type: ignore[union-attr]  # both


@dataclass(frozen=True)
class CaseRow:
    """A criterion with a cell for every answer, in their order."""

    criterion: Criterion
    cells: tuple[CaseCell, ...]
    is_open: bool

    @property
    def differ(self) -> int:
        return sum(cell.differ for cell in self.cells)


@dataclass(frozen=True)
class CaseSummary:
    """The badge with its look, the sentence, a line below, and the first cell to decide, None without one."""

    look: str
    badge: str
    sentence: str
    why: str
    differ: int
    first: tuple[int, int] | None


@dataclass(frozen=True)
class AnswerDiff:
    """Two answers word by word: `segments` are empty where more than `MOST_CHANGED` of the words differ."""

    before: CaseAnswer
    after: CaseAnswer
    segments: tuple[Segment, ...]


def answer_name(answer: CaseAnswer) -> str:
    """ "assistant@v3", "assistant@v3, attempt 2", or its id where it is of no system."""
    item = answer.item
    name = str(getattr(item, "system", "") or "") or f"answer {item.pk}"
    return f"{name}, attempt {item.attempt}" if item.attempt > 1 else name


def case_rows(answers: Sequence[CaseAnswer], opened: int | None) -> list[CaseRow]:
    """Criteria by answers, those first on which judge and people differ most; then in the rubric's order.

    Versions of a rubric share a row where they ask the same in the same words. `opened` is the id of a
    criterion.
    """
    criteria: dict[tuple[str, str], Criterion] = {}
    said: dict[tuple[str, str], dict[int, CaseCell]] = {}
    for answer in answers:
        for criterion, judge, people in answer.criteria:
            key = (criterion.uid, criterion.requirement)
            criteria[key] = criterion
            said.setdefault(key, {})[answer.item.pk] = CaseCell(answer, judge, people)
    rows = [
        CaseRow(
            criterion,
            tuple(said[key].get(one.item.pk, CaseCell(one, None, None)) for one in answers),
            criterion.pk == opened,
        )
        for key, criterion in criteria.items()
    ]
    return sorted(rows, key=lambda row: (-row.differ, row.criterion.position))


def case_summary(found: CaseAnswers, rows: Sequence[CaseRow]) -> CaseSummary:
    """The answer to "how is this case answered": by score, where all were graded alike; then by people."""
    cells = [(row, cell) for row in rows for cell in row.cells]
    apart = [(row, cell) for row, cell in cells if cell.differ]
    both = sum(cell.are_both for _, cell in cells)
    names = list(dict.fromkeys(row.criterion.title for row, _ in apart))
    if apart:
        look, badge = "undecided", "Judge and people differ"
        more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
        why = f"They differ on {len(apart)} of {counted(both, 'verdict')}: {', '.join(names[:NAMED])}{more}."
    elif both:
        look, badge = "better", "Judge and people agree"
        why = f"On {'the one verdict' if both == 1 else f'all {both} verdicts'} that both gave."
    else:
        look, badge, why = "undecided", "No labels to compare", "People have labelled none of these verdicts."
    first = (apart[0][1].answer.item.pk, apart[0][0].criterion.pk) if apart else None
    return CaseSummary(look, badge, _by_score(found), why if found.answers else "", len(apart), first)


def _by_score(found: CaseAnswers) -> str:
    scored = [
        (answer_name(one), one.grading.score)
        for one in found.answers
        if one.grading is not None and one.grading.score is not None and one.is_current
    ]
    if not found.answers:
        return "Nobody has answered this case yet."
    if not scored:
        return f"{counted(len(found.answers), 'answer')}, none with a score yet."
    if len(scored) == 1:
        return f"{scored[0][0]} scores {number(scored[0][1], 2)} on this case."
    if not found.graded_alike:
        return "These answers were not graded alike, so their scores do not rank them."
    best = max(score for _, score in scored)
    leading = [name for name, score in scored if number(score, 2) == number(best, 2)]
    if len(leading) == len(scored):
        return f"All {len(scored)} answers score {number(best, 2)} on this case."
    second = max(score for name, score in scored if name not in leading)
    does = "does" if len(leading) == 1 else "do"
    return f"{' and '.join(leading)} {does} best on this case: {number(best, 2)}, then {number(second, 2)}."


def answer_diff(answers: Sequence[CaseAnswer], before: int | None, after: int | None) -> AnswerDiff | None:
    """What the answer `after` says otherwise than `before`, both ids of items.

    Without them, or where they are not among these, the last two that are not retired; None of fewer.
    """
    by_id = {one.item.pk: one for one in answers}
    current = [one for one in answers if one.is_current]
    if before in by_id and after in by_id and before != after:
        older, newer = by_id[before], by_id[after]
    elif len(current) >= 2:
        older, newer = current[-2:]
    else:
        return None
    segments = word_diff(older.item.submission, newer.item.submission)
    total = len(older.item.submission) + len(newer.item.submission)
    changed = sum(len(one.text) for one in segments if one.kind != "same")
    return AnswerDiff(older, newer, () if changed > MOST_CHANGED * total else segments)
