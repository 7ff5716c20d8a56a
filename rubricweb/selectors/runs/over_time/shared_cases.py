"""Runs over versions of one system, each by its mean over the cases that all the versions answered."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from rubricweb.engine.agreement.intervals import Figure
from rubricweb.engine.agreement.scores.means import mean_figure
from rubricweb.engine.agreement.scores.pairing import case_means, unit_means
from rubricweb.models import FULLY_JUDGED, Run, RunItem
from rubricweb.selectors.shared.cases import case_numbers
from rubricweb.selectors.shared.columns import columns, floats, ints
from rubricweb.selectors.shared.score_ends import NORMALISED, raw_score_ends

ANSWERS = 100_000
"""Of more answers nobody waits for the sums; two versions are then compared on a page of their own."""


@dataclass(frozen=True)
class SharedCases:
    """What the newest runs over each version of a system have in common.

    `cases` is how many cases all of them answered in the same words and have a score on, `every` how many any
    of them has. `means` has, by run, the mean over those cases with its interval, several answers to a case
    as one; runs without a score on each of them are not in it. `why_not` says why nothing was worked out.
    """

    cases: int = 0
    every: int = 0
    means: Mapping[int, Figure] = field(default_factory=dict)
    why_not: str = ""


def shared_cases(runs: Sequence[Run]) -> SharedCases:
    """Over the cases shared by the newest of these runs of each version. One query, of raw scores three.

    Worked: v1 has 1 and 0 on cases a and b, v2 has 0.5 on a and 1 on c → one shared case of three, means 1
    and 0.5.
    """
    answers = sum(run.summary.items for run in runs)
    if answers > ANSWERS:
        return SharedCases(
            why_not=f"their {answers:,} answers are too many to be read here; compare two of the runs instead"
        )
    newest = {run.system_version_id: run.pk for run in sorted(runs, key=lambda run: run.pk)}
    rows = RunItem.objects.filter(FULLY_JUDGED, run__in=runs, score__isnull=False).order_by()
    read = rows.values_list("run_id", "item__case_id", "item__wording", "score")
    run_ids, cases, wordings, scores = columns(read, ints, ints, ints, floats)
    # Runs share a case in certain words; a mean counts the case once, whatever words of it they share.
    units, first, places = np.unique(case_numbers(cases, wordings), return_index=True, return_inverse=True)
    case_of = cases[first]
    means = {
        run.pk: unit_means(scores[mine], places[mine], len(units))
        for run in runs
        for mine in [run_ids == run.pk]
    }
    shared = ~np.isnan([means[run_id] for run_id in newest.values()]).any(axis=0)
    if not shared.any():
        return SharedCases(every=len(np.unique(case_of)))
    raw = [run for run in runs if not run.normalize]
    ends = raw_score_ends(raw) if raw else {}
    return SharedCases(
        cases=len(np.unique(case_of[shared])),
        every=len(np.unique(case_of)),
        means={
            run_id: mean_figure(
                case_means(of_run[shared], case_of[shared]).tolist(), limits=ends.get(run_id, NORMALISED)
            )
            for run_id, of_run in means.items()
            if not np.isnan(of_run[shared]).any()
        },
    )
