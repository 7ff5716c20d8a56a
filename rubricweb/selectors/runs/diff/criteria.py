"""Which criteria of two runs are the same question, so that their answers can be held against each other."""

import json
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

from rubricweb.engine.rubric.identity import given_name
from rubricweb.models import Criterion, Run


@dataclass(frozen=True)
class MatchedCriteria:
    """Criteria of a run matched with those of its baseline.

    `pairs` are (the run's, the baseline's) in the run's order: the same row, or rows of two rubric versions
    that ask the same (requirement, kind, options, check) and have one id, else one name or none (C1, C2, …).
    The others are only in one run. Weight, guidance and place may differ within a pair, with one id the name.
    """

    pairs: tuple[tuple[Criterion, Criterion], ...]
    only_run: tuple[Criterion, ...]
    only_baseline: tuple[Criterion, ...]

    @classmethod
    def of(cls, run: Run, baseline: Run) -> "MatchedCriteria":
        """Of the versions the two runs graded by; none where every item brings its own rubric. One query."""
        wanted = {run.rubric_version_id, baseline.rubric_version_id} - {None}
        rows = list(Criterion.objects.filter(version__in=wanted).order_by("position")) if wanted else []
        return matched(
            [row for row in rows if row.version_id == run.rubric_version_id],
            [row for row in rows if row.version_id == baseline.rubric_version_id],
        )

    @property
    def of_run(self) -> tuple[Criterion, ...]:
        """All the run's criteria, in the order of its rubric."""
        mine = (*(criterion for criterion, _ in self.pairs), *self.only_run)
        return tuple(sorted(mine, key=lambda criterion: criterion.position))

    @property
    def of_baseline(self) -> tuple[Criterion, ...]:
        """All the baseline's criteria, in the order of its rubric."""
        theirs = (*(before for _, before in self.pairs), *self.only_baseline)
        return tuple(sorted(theirs, key=lambda criterion: criterion.position))

    @property
    def everything(self) -> tuple[Criterion, ...]:
        return tuple({criterion.pk: criterion for criterion in (*self.of_run, *self.of_baseline)}.values())

    def run_ids(self) -> dict[int, int]:
        """Criterion id in the baseline → that of the run's criterion that asks the same."""
        return {before.pk: criterion.pk for criterion, before in self.pairs}


def matched(run: Sequence[Criterion], baseline: Sequence[Criterion]) -> MatchedCriteria:
    """Each of the run's criteria with the baseline's that asks the same, if there is one: see `pairs`."""
    partners = _partners([one for one in run if one.uid], baseline, lambda one: one.uid)
    taken = {before.pk for before in partners.values()}
    others = [before for before in baseline if before.pk not in taken]
    partners |= _partners([one for one in run if one.pk not in partners], others, _name)
    taken = {before.pk for before in partners.values()}
    return MatchedCriteria(
        pairs=tuple((one, partners[one.pk]) for one in run if one.pk in partners),
        only_run=tuple(one for one in run if one.pk not in partners),
        only_baseline=tuple(before for before in baseline if before.pk not in taken),
    )


def name_before(criterion: Criterion, before: Criterion) -> str:
    """What the baseline calls a criterion, where somebody gave it that name and the run has another; else
    "".
    """
    return before.name if before.name != criterion.name and _name(before) else ""


def _partners(
    run: Sequence[Criterion], baseline: Sequence[Criterion], key: Callable[[Criterion], str | None]
) -> dict[int, Criterion]:
    """Id of the run's criterion → the first of the baseline's with the same key that asks the same."""
    known: dict[Hashable, list[Criterion]] = {}
    for before in baseline:
        known.setdefault((key(before), _question(before)), []).append(before)
    found = {}
    for criterion in run:
        same = known.get((key(criterion), _question(criterion)))
        if same:
            found[criterion.pk] = same.pop(0)
    return found


def _name(criterion: Criterion) -> str | None:
    """The name somebody gave it. C1, C2, … tell where it stands: without names the question decides."""
    return given_name({"name": criterion.name})


def _question(criterion: Criterion) -> tuple[str, ...]:
    """What is asked, apart from what the answer weighs: equal questions have comparable answers."""
    return (
        criterion.requirement,
        criterion.kind,
        json.dumps(criterion.options, sort_keys=True),
        criterion.scale_type,
        criterion.check_name,
        json.dumps(criterion.params, sort_keys=True),
    )
