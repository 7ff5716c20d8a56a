"""The units people labelled, and why each is worth a look: what the lists of the inbox are made of."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from django.db.models import F, Max, Min, Q, QuerySet

from rubricweb.engine.verdict import Verdict
from rubricweb.models import (
    Adjudication,
    Cause,
    Criterion,
    Item,
    Judgement,
    ReviewQueue,
    Revision,
    RevisionChoice,
    Run,
    Team,
    User,
    Vote,
    in_reviews,
)
from rubricweb.selectors.blinding import hidden_of
from rubricweb.selectors.labels import people
from rubricweb.selectors.labels.adjudications import judge_runs_for_queues
from rubricweb.selectors.labels.by_kind import option_gaps
from rubricweb.selectors.labels.comparable import labelled_queues, queues_to_compare
from rubricweb.selectors.labels.ground_truth import (
    Unit,
    answers_of_other_systems,
    people_first,
    reviewed_items,
)
from rubricweb.selectors.labels.people import PersonLabel

KINDS = ("people differ", "judge differs", "judge flips", "cannot assess")
"""Why a unit is looked at, the most telling first.

People differ: their final labels are not the same. Judge differs: people agree, the judge says otherwise.
Judge flips: the votes of a panel or the repeats of a run are not the same. Cannot assess: at least two of
people and judges abstained, one of them a person.
"""

UNIT = ("item_id", "criterion_id")
ABSTENTIONS = frozenset({str(Verdict.CANNOT_ASSESS)})


@dataclass(frozen=True)
class Scope:
    """Which queues an inbox is about, and the runs whose judges stand beside their people.

    `of_run`: a run was asked for, so that answers of system versions it is not about are in no list.
    `everything`: neither a run nor a queue was asked for: what is labelled in history alone is left out.
    """

    team: Team
    viewer: User
    queues: tuple[ReviewQueue, ...]
    runs: tuple[Run, ...]
    of_run: bool = False
    everything: bool = False

    @property
    def history(self) -> list[ReviewQueue]:
        """The queues of the past whose disagreements are left out."""
        return [queue for queue in self.queues if queue.history] if self.everything else []

    @property
    def dataset_ids(self) -> set[int]:
        return {queue.dataset_id for queue in self.queues}

    @cached_property
    def hidden(self) -> frozenset[int]:
        """The items of these datasets the viewer is still to review blind; read once."""
        return frozenset().union(*(hidden_of(self.viewer, self.team, pk) for pk in self.dataset_ids))


def scope(team: Team, viewer: User, queues: Sequence[ReviewQueue] = (), run: Run | None = None) -> Scope:
    """These queues, or all of the team that people labelled; settled labels of files only where nobody did.

    With a run, its judge alone stands beside people, and that of runs started with it, in the queues over its
    dataset; without queues, in those it is compared with.
    """
    if run is not None:
        compared = queues_to_compare(run, queues)
        return Scope(team, viewer, tuple(compared), tuple(run.launched_with), of_run=True)
    everything = not queues
    queues = queues or people_first(list(labelled_queues(team=team)))
    runs = tuple(judge_runs_for_queues(team, queues))
    return Scope(team, viewer, tuple(queues), runs, everything=everything)


class UnitLabels(NamedTuple):
    """People's final labels of one unit: how many, the first and last by alphabet, how many CANNOT_ASSESS."""

    item_id: int
    criterion_id: int
    n: int
    least: str
    most: str
    cannot: int

    @property
    def unit(self) -> Unit:
        return (self.item_id, self.criterion_id)

    @property
    def is_one(self) -> bool:
        """Whether all gave the same."""
        return self.least == self.most


def people_labels(
    where: Scope, items: Collection[int] | None = None, *, detailed: bool = False
) -> list[PersonLabel]:
    """Submitted labels of people, and what a file settled where there are none."""
    return people.people_labels(where.queues, runs=where.runs, items=items, detailed=detailed)


def judge_labels(where: Scope) -> QuerySet[Judgement]:
    """What judges said of the items people labelled: runs may be a hundred times as big."""
    return Judgement.objects.filter(
        run__in=where.runs, repeat=0, verdict__isnull=False, item__in=reviewed_items(where.queues)
    )


def unit_labels(where: Scope, *, also_in: Sequence[ReviewQueue] = ()) -> list[UnitLabels]:
    """What people said on every labelled unit, by item and criterion; in further queues as well."""
    labels: dict[Unit, list[str]] = defaultdict(list)
    for label in people.people_labels(where.queues, runs=where.runs, also_in=also_in):
        labels[label.unit].append(label.final)
    cannot = Verdict.CANNOT_ASSESS.value
    return [
        UnitLabels(*unit, len(all_), min(all_), max(all_), all_.count(cannot))
        for unit, all_ in labels.items()
    ]


def unit_kinds(where: Scope) -> dict[Unit, tuple[str, ...]]:
    """Every labelled unit somebody differs on, or nobody can assess, with its reasons in order of KINDS."""
    if not where.queues:
        return {}
    judged: dict[Unit, set[str]] = defaultdict(set)
    for item_id, criterion_id, label in judge_labels(where).values_list(*UNIT, "verdict"):
        judged[item_id, criterion_id].add(label)
    flips = _flips(where)
    gaps = abstaining_options(where)
    elsewhere = answers_of_other_systems(where.runs, where.queues) if where.of_run else frozenset()
    found = {}
    for row in unit_labels(where):
        if row.item_id in elsewhere:
            continue
        said, of = judged[row.unit], gaps.get(row.criterion_id, ABSTENTIONS)
        abstained = row.n * (row.least in of) if row.is_one else row.cannot
        holds = (
            not row.is_one,
            row.is_one and bool(said - {row.least}),
            row.unit in flips,
            abstained > 0 and abstained + len(said & of) > 1,
        )
        kinds = tuple(kind for kind, is_so in zip(KINDS, holds, strict=True) if is_so)
        if kinds:
            found[row.unit] = kinds
    return found


def _flips(where: Scope) -> set[Unit]:
    """Units of labelled items on which a judge asked several times, or a panel, did not say the same."""
    found: set[Unit] = set()
    for rows in (Vote.objects, Judgement.objects):
        answers = rows.filter(
            run__in=where.runs, verdict__isnull=False, item__in=reviewed_items(where.queues)
        ).order_by()
        several = answers.values("run_id", *UNIT).annotate(least=Min("verdict"), most=Max("verdict"))
        found.update(several.filter(least__lt=F("most")).values_list(*UNIT))
    return found


def abstaining_options(where: Scope) -> dict[int, frozenset[str]]:
    """Criterion id → the labels that abstain, of the choices in the scope."""
    versions = {queue.rubric_version_id for queue in where.queues}
    versions |= {run.rubric_version_id for run in where.runs}
    own = Item.objects.filter(dataset__in=where.dataset_ids, rubric_version__isnull=False)
    choices = Criterion.objects.filter(
        Q(version__in=versions - {None}) | Q(version__in=own.order_by().values("rubric_version")),
        kind="choice",
    )
    return {criterion.pk: frozenset(option_gaps(criterion)) for criterion in choices}


def of_the_past(where: Scope, units: Collection[Unit]) -> set[Unit]:
    """Those of these units that were labelled in history alone: nobody is to settle them."""
    if not where.history:
        return set()
    present = [queue for queue in where.queues if not queue.history]
    return set(units) - people.labelled_units(present, read_with=where.queues, runs=where.runs)


def decided_units(where: Scope) -> set[Unit]:
    return set(people.decisions(where.queues, runs=where.runs))


def units_of_cause(where: Scope, cause: str) -> set[Unit]:
    """Units decided for a cause; for an unclear rubric also those a person found so after the reveal."""
    decided = Adjudication.objects.undeleted().filter(item__dataset__team=where.team, cause=cause)
    rows = list(decided.values_list(*UNIT, "item__dataset_id"))
    if cause == Cause.RUBRIC_UNCLEAR:
        revisions = Revision.objects.filter(
            in_reviews("judgement__", queue__team=where.team), choice=RevisionChoice.UNCLEAR
        )
        columns = ("judgement__item_id", "judgement__criterion_id", "judgement__item__dataset_id")
        rows += revisions.values_list(*columns)
    read = people.readings(where.queues, runs=where.runs)
    return {(item_id, read[dataset_id].criterion(criterion_id)) for item_id, criterion_id, dataset_id in rows}
