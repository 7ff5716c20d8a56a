"""Which criteria of two runs are the same question, so that their answers can be held against each other."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from rubricweb.models import Criterion, Run


@dataclass(frozen=True)
class MatchedCriteria:
    """Criteria of a run matched with those of its baseline.

    `pairs` are (the run's, the baseline's) in the run's order: the same row, or rows of two rubric versions
    that ask the same (name, requirement, kind, options, check). The others are only in one run. Weight and
    guidance may differ within a pair.
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
    """Each of the run's criteria with the baseline's that asks the same, if there is one."""
    before = {_question(criterion): criterion for criterion in baseline}
    pairs = [(criterion, before[_question(criterion)]) for criterion in run if _question(criterion) in before]
    taken_run = {criterion.pk for criterion, _ in pairs}
    taken_baseline = {criterion.pk for _, criterion in pairs}
    return MatchedCriteria(
        pairs=tuple(pairs),
        only_run=tuple(criterion for criterion in run if criterion.pk not in taken_run),
        only_baseline=tuple(criterion for criterion in baseline if criterion.pk not in taken_baseline),
    )


def _question(criterion: Criterion) -> tuple[str, ...]:
    """What is asked, apart from what the answer weighs: equal questions have comparable answers."""
    return (
        criterion.name,
        criterion.requirement,
        criterion.kind,
        json.dumps(criterion.options, sort_keys=True),
        criterion.scale_type,
        criterion.check_name,
        json.dumps(criterion.params, sort_keys=True),
    )
