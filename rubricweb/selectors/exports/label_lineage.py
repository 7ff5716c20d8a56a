"""By what a label in an export counts: the version it was given to and the decisions that carried it here."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Q

from rubricweb.engine.formats.label_provenance import NOT_COUNTED, SAME_WORDS, UsedDecision
from rubricweb.models import (
    Criterion,
    Judgement,
    LabelDecision,
    ReviewQueue,
    Rubric,
    Run,
)
from rubricweb.selectors.exports.read_criteria import ReadCriteria, read_criteria, versions_read_by
from rubricweb.selectors.labels.people import decisions, people_labels
from rubricweb.selectors.rubrics.wordings import Wording, decisions_between, wordings

GivenAndRead = tuple[int, int]
"""(the criterion a label was given to, the criterion it counts for), by id."""


@dataclass(frozen=True)
class LabelLineage:
    """Why a label counts for a criterion: the version it was given to, None for an item's own rubric, and the
    decisions that carried it on, none where the wording is the same.
    """

    rubric_version: int | None
    decisions: tuple[LabelDecision, ...] = ()

    @property
    def counts_by(self) -> str:
        return ", ".join(map(decision_name, self.decisions)) or SAME_WORDS


def decision_name(decision: LabelDecision) -> str:
    """`carry 12`: its kind and id."""
    return f"{decision.kind} {decision.pk}"


def label_lineages(wanted: Collection[GivenAndRead]) -> dict[GivenAndRead, LabelLineage]:
    """The lineage of each pair, as decisions stand now. One query, and two for each reworded rubric."""
    ids = {pk for pair in wanted for pk in pair}
    rows = Criterion.objects.filter(pk__in=ids).select_related("version__rubric")
    version_of = {row.pk: row.version for row in rows}
    carried = [pair for pair in wanted if pair[0] != pair[1]]
    rubrics = {version_of[given_to].rubric for given_to, _ in carried} - {None}
    wording_of: dict[int, Wording] = {}
    for rubric in rubrics:
        assert isinstance(rubric, Rubric)  # items' own rubrics have one version, so nothing is carried there
        for several in wordings(rubric).values():
            wording_of |= {row.pk: wording for wording in several for row in wording.members}
    return {
        (given_to, read): LabelLineage(
            version_of[given_to].number,
            () if given_to == read else tuple(decisions_between(wording_of[given_to], wording_of[read])),
        )
        for given_to, read in wanted
    }


def used_decisions(lineages: Iterable[LabelLineage]) -> tuple[UsedDecision, ...]:
    """The decisions of these, each once, oldest first, as files hold them. One query."""
    ids = {decision.pk for lineage in lineages for decision in lineage.decisions}
    rows = LabelDecision.objects.filter(pk__in=ids).order_by("pk")
    return tuple(
        UsedDecision(
            id=row.pk,
            kind=row.kind,
            rubric=row.version.title,
            criterion=row.criterion.name if row.criterion else None,
            uid=row.criterion.uid if row.criterion else None,
            to_version=row.version.number or 0,
            options=row.options,
            reason=row.reason,
            decided_by=row.decided_by.username if row.decided_by else None,
            decided_at=row.decided_at.isoformat(),
        )
        for row in rows.select_related("version", "criterion", "decided_by")
    )


@dataclass(frozen=True)
class CountedLabels:
    """Which of people's labels and decisions count for the version an export is read by, and by what.

    By the id of their judgement, or of their adjudication: what is not there does not count. `criteria` says
    as which criterion each verdict is read, whether it counts or not.
    """

    labels: Mapping[int, LabelLineage]
    adjudications: Mapping[int, LabelLineage]
    decisions: tuple[UsedDecision, ...]
    criteria: ReadCriteria

    def counts_by(self, row: Judgement) -> str | None:
        """By what a person's label counts; None for a judge's answer, which is for its own words alone."""
        if row.review is None:
            return None
        lineage = self.labels.get(row.pk)
        return NOT_COUNTED if lineage is None else lineage.counts_by


def counted_labels(
    queues: Sequence[ReviewQueue], run: Run | None, *, withheld: Collection[int] = ()
) -> CountedLabels:
    """Read by the run's version, else the newest of the queues; of queues with several rubrics each by its
    own. None of items `withheld`, by id.
    """
    runs = [run] if run is not None else []
    said = [one for one in people_labels(queues, runs=runs) if one.item_id not in withheld]
    settled = {unit: one for unit, one in decisions(queues, runs=runs).items() if unit[0] not in withheld}
    ids = {one.criterion_id for one in said} | {unit[1] for unit in settled}
    asked_there = Q(version__in=versions_read_by(queues, run)) | Q(version__rubric__isnull=True)
    asked = set(Criterion.objects.filter(asked_there, pk__in=ids).values_list("pk", flat=True))
    labels = {one.judgement_id: (one.given_to, one.criterion_id) for one in said if one.criterion_id in asked}
    adjudications = {
        one.adjudication_id: (one.given_to, read) for (_, read), one in settled.items() if read in asked
    }
    lineages = label_lineages({*labels.values(), *adjudications.values()})
    return CountedLabels(
        {pk: lineages[pair] for pk, pair in labels.items()},
        {pk: lineages[pair] for pk, pair in adjudications.items()},
        used_decisions(lineages.values()),
        read_criteria(queues, run, labelled={one.criterion_id for one in said}),
    )
