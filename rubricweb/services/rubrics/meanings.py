"""Which criteria of a rubric's versions are one question, so that labels of one count for the others."""

from collections import defaultdict
from typing import Any

from rubricweb.engine.rubric.identity import wording
from rubricweb.models import Criterion, Meaning, Rubric


def assign_meanings(rubric: Rubric) -> None:
    """Gives every criterion of the rubric's versions its meaning; those it has keep their rows.

    Versions are read oldest first. A criterion has the meaning of the last one with its uid whose question
    and guidelines were the same; words that come back rejoin what they meant before. Any other begins a new
    one.
    """
    chains: dict[str, list[Criterion]] = defaultdict(list)
    rows = Criterion.objects.filter(version__rubric=rubric).select_related("version")
    for row in rows.order_by("version__number", "position"):
        chains[row.uid].append(row)
    changed = []
    for uid, chain in chains.items():
        for members in _questions(chain):
            known = next((row.meaning_id for row in members if row.meaning_id is not None), None)
            meaning_id = known or Meaning.objects.create(rubric=rubric, uid=uid).pk
            for row in members:
                if row.meaning_id != meaning_id:
                    row.meaning_id = meaning_id
                    changed.append(row)
    Criterion.objects.bulk_update(changed, ["meaning"], batch_size=500)


def _questions(chain: list[Criterion]) -> list[list[Criterion]]:
    """The criteria of one uid, oldest first, by what they ask."""
    asked: dict[str, list[Criterion]] = {}
    for row in chain:
        asked.setdefault(repr(asks(row)), []).append(row)
    return list(asked.values())


def asks(row: Criterion) -> tuple[Any, ...]:
    """What somebody who answers the criterion reads: its wording and the guidelines above it."""
    entry = {
        "requirement": row.requirement,
        "guidance": row.guidance,
        "met_example": row.met_example,
        "unmet_example": row.unmet_example,
        "scale_type": row.scale_type,
        "options": row.options,
        "check": row.check_name,
        "params": row.params,
    }
    return (*wording(entry), " ".join(row.version.guidelines.split()))
