"""Which criteria of a rubric's versions are one question, so that labels of one count for the others."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

from rubricweb.models import Criterion, LabelDecision, LabelDecisionKind, Meaning, Rubric


@dataclass(eq=False)
class CriterionMeaning:
    """What some criteria of one uid ask; labels of `source` count for it through `option_map`."""

    members: list[Criterion] = field(default_factory=list)
    source: "CriterionMeaning | None" = None
    option_map: Mapping[str, str | None] | None = None
    meaning: Meaning | None = None


def assign_meanings(rubric: Rubric) -> None:
    """Gives every criterion of the rubric's versions its meaning; those it has keep their rows.

    Versions are read oldest first. A criterion has the meaning of the last one with its uid whose question
    and guidelines were the same; words that come back rejoin what they meant before. Other words have the
    meaning of the words before where that was decided (see `LabelDecision`), else they begin a new one.
    """
    chains: dict[str, list[Criterion]] = defaultdict(list)
    rows = Criterion.objects.filter(version__rubric=rubric).select_related("version", "meaning")
    for row in rows.order_by("version__number", "position"):
        chains[row.uid].append(row)
    current = LabelDecision.objects.filter(version__rubric=rubric, superseded_at=None)
    decided = {(one.version_id, one.criterion_id): one for one in current}
    changed = []
    for uid, chain in chains.items():
        kept: set[int] = set()
        for question in _questions(chain, decided):
            meaning = _meaning(rubric, uid, question, kept)
            for row in question.members:
                if row.meaning_id != meaning.pk:
                    row.meaning = meaning
                    changed.append(row)
    Criterion.objects.bulk_update(changed, ["meaning"], batch_size=500)
    Meaning.objects.filter(rubric=rubric, criteria=None).delete()


def _meaning(rubric: Rubric, uid: str, question: CriterionMeaning, kept: set[int]) -> Meaning:
    """The row of a question: one its criteria have already and no other question took, else a new one."""
    known = (
        row.meaning for row in question.members if row.meaning is not None and row.meaning.pk not in kept
    )
    meaning = next(known, None) or Meaning(rubric=rubric, uid=uid)
    source = question.source.meaning if question.source is not None else None
    if meaning.pk is None or (meaning.source_id, meaning.option_map) != (
        source and source.pk,
        question.option_map,
    ):
        meaning.source, meaning.option_map = source, question.option_map
        meaning.save()
    kept.add(meaning.pk)
    question.meaning = meaning
    return meaning


def _questions(
    chain: list[Criterion], decided: Mapping[tuple[int, int | None], LabelDecision]
) -> list[CriterionMeaning]:
    """The criteria of one uid, oldest first, by what they ask; a question comes after its source."""
    by_words: dict[str, CriterionMeaning] = {}
    found: list[CriterionMeaning] = []
    previous: tuple[Criterion, CriterionMeaning] | None = None
    for row in chain:
        words = repr(row.asks)
        question = by_words.get(words)
        if question is None:
            question = _carried(row, previous, decided)
            by_words[words] = question
            if question not in found:
                found.append(question)
        question.members.append(row)
        previous = row, question
    return found


def _carried(
    row: Criterion,
    previous: tuple[Criterion, CriterionMeaning] | None,
    decided: Mapping[tuple[int, int | None], LabelDecision],
) -> CriterionMeaning:
    """The question before where labels are carried from it as they are, else a new one."""
    if previous is None:
        return CriterionMeaning()
    earlier, question = previous
    own = decided.get((row.version_id, row.pk))
    if own is None and row.question == earlier.question:
        own = decided.get((row.version_id, None))
    if own is None or own.kind != LabelDecisionKind.CARRY:
        return CriterionMeaning()
    if own.options is None:
        return question
    return CriterionMeaning(source=question, option_map=own.options)
