"""Exports that were made of a dataset, and whether a decision about labels they used holds still."""

from dataclasses import dataclass
from datetime import datetime

from rubricweb.engine.formats import CONTENTS
from rubricweb.models import Dataset, JournalEntry, LabelDecision, User
from rubricweb.selectors.blinding import hidden_of
from rubricweb.selectors.exports.label_lineage import decision_name

SHOWN = 10


@dataclass(frozen=True)
class ExportedDecision:
    """A decision by which an export counts labels of earlier words.

    `criterion` is "" for all that were not reworded themselves; `version` the number of the version that
    changed the words; `replaced_at` when somebody decided otherwise, None while it holds.
    """

    id: int
    name: str
    criterion: str
    version: int
    replaced_at: datetime | None


@dataclass(frozen=True)
class RecordedExport:
    """One export as the audit log has it; `by` is a user name, None of a person who is no more.

    `dataset_version` is None of an export of before datasets had versions.
    """

    at: datetime
    by: str | None
    what: str
    format: str
    decisions: tuple[ExportedDecision, ...]
    dataset_version: int | None

    @property
    def title(self) -> str:
        """What it holds, in words."""
        return CONTENTS.get(self.what, self.what)


def recorded_exports(dataset: Dataset, *, viewer: User, most: int = SHOWN) -> list[RecordedExport]:
    """The newest exports of the dataset, newest first.

    By which decisions those of others count is not told somebody who is still to review some of its items
    blind: it tells that there are labels of those words.
    """
    blind = bool(hidden_of(viewer, dataset.team, dataset.pk))
    rows = JournalEntry.objects.filter(
        team=dataset.team_id, verb="exported", target_kind="dataset", target_id=dataset.pk
    )
    lines = list(rows.select_related("actor")[:most])
    used = {
        line.pk: [] if blind and line.actor_id != viewer.pk else line.detail.get("label_decisions", [])
        for line in lines
    }
    ids = {pk for several in used.values() for pk in several}
    known = LabelDecision.objects.select_related("version", "criterion").in_bulk(ids)
    return [
        RecordedExport(
            at=line.at,
            by=line.actor.username if line.actor else None,
            what=line.detail.get("what", ""),
            format=line.detail.get("format", ""),
            decisions=tuple(_exported(known[pk]) for pk in used[line.pk] if pk in known),
            dataset_version=line.detail.get("dataset_version"),
        )
        for line in lines
    ]


def _exported(row: LabelDecision) -> ExportedDecision:
    return ExportedDecision(
        id=row.pk,
        name=decision_name(row),
        criterion=row.criterion.name if row.criterion else "",
        version=row.version.number or 0,
        replaced_at=row.superseded_at,
    )
