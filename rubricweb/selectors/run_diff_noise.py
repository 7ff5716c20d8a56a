"""How often a judge flips by itself, as votes of panels and repeats show it."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from rubricweb.engine.agreement import Figure, Ratings, flip_rate
from rubricweb.models import Run, Vote
from rubricweb.selectors.run_diff_answers import Worth
from rubricweb.selectors.run_diff_criteria import Partners

Source = Literal["repeats", "members"]


@dataclass(frozen=True)
class Noise:
    """The chance that two votes on the same question differ, over both runs.

    `source` "repeats": of the same judge asked again. "members": of different judges of a panel, where none
    was asked again; they differ by more than chance, so this errs on the high side.
    """

    flip_rate: Figure
    source: Source


def noise(
    run: Run,
    baseline: Run,
    partners: Partners,
    worth: Mapping[int, Worth],
    hidden: set[int],
    *,
    resamples: int = 1000,
    seed: int = 0,
) -> dict[int, Noise]:
    """Id of the run's criterion → noise, for those with votes; abstentions and errors are no votes.

    No query unless one of the runs has a panel, else one.
    """
    voting = [one.pk for one in (run, baseline) if one.panel is not None]
    if not voting:
        return {}
    run_ids = partners.run_ids()
    votes: dict[int, list[tuple[int, int, str, int, str]]] = defaultdict(list)
    rows = Vote.objects.filter(run__in=voting, verdict__isnull=False).order_by("item_id", "pk")
    for run_id, item_id, criterion_id, judge, repeat, label in rows.values_list(
        "run_id", "item_id", "criterion_id", "judge", "repeat", "verdict"
    ):
        if item_id in hidden or criterion_id not in worth:
            continue
        if worth[criterion_id].of(str(label)).value is None:
            continue
        own = criterion_id if run_id == run.pk else run_ids.get(criterion_id)
        if own is not None:
            votes[own].append((item_id, run_id, judge, repeat, str(label)))
    source: Source = (
        "repeats" if any(vote[3] > 0 for found in votes.values() for vote in found) else "members"
    )
    return {
        criterion_id: Noise(flip_rate(_ratings(found, source), resamples=resamples, seed=seed), source)
        for criterion_id, found in votes.items()
    }


def _ratings(votes: list[tuple[int, int, str, int, str]], source: Source) -> Ratings:
    """Repeats of a judge, or the judges of a panel, stand where raters do."""
    return Ratings.from_triples(
        (
            ((item_id, run_id, judge), str(repeat), label)
            if source == "repeats"
            else ((item_id, run_id, ""), judge, label)
            for item_id, run_id, judge, repeat, label in votes
        ),
        cluster_of=lambda unit: unit[0] if isinstance(unit, tuple) else unit,
    )
