"""Which criteria of a rubric's versions are one question, so that labels of one count for the others."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from rubricweb.models import Criterion, Meaning, Rubric
from rubricweb.selectors.rubrics.wordings import Wording, wordings


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
    changed = []
    for uid, of_uid in wordings(rubric).items():
        kept: set[int] = set()
        for asked in _criterion_meanings(of_uid):
            meaning = _meaning(rubric, uid, asked, kept)
            for row in asked.members:
                if row.meaning_id != meaning.pk:
                    row.meaning = meaning
                    changed.append(row)
    Criterion.objects.bulk_update(changed, ["meaning"], batch_size=500)
    Meaning.objects.filter(rubric=rubric, criteria=None).delete()


def _meaning(rubric: Rubric, uid: str, asked: CriterionMeaning, kept: set[int]) -> Meaning:
    """The row of a meaning: one its criteria have already and no other meaning took, else a new one."""
    known = (row.meaning for row in asked.members if row.meaning is not None and row.meaning.pk not in kept)
    meaning = next(known, None) or Meaning(rubric=rubric, uid=uid)
    source = asked.source.meaning if asked.source is not None else None
    if meaning.pk is None or (meaning.source_id, meaning.option_map) != (
        source and source.pk,
        asked.option_map,
    ):
        meaning.source, meaning.option_map = source, asked.option_map
        meaning.save()
    kept.add(meaning.pk)
    asked.meaning = meaning
    return meaning


def _criterion_meanings(of_uid: Sequence[Wording]) -> list[CriterionMeaning]:
    """The wordings of one criterion by what they mean; a meaning that takes labels of another follows it."""
    found: dict[Wording, CriterionMeaning] = {}
    for wording in of_uid:
        before, decision = wording.before, wording.decision
        if before is None or decision is None:
            meaning = CriterionMeaning()
        elif decision.options is None:
            # Carried as they are: the words ask what those before them do.
            meaning = found[before]
        else:
            meaning = CriterionMeaning(source=found[before], option_map=decision.options)
        meaning.members += wording.members
        found[wording] = meaning
    return list(dict.fromkeys(found.values()))
