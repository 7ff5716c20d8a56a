"""How often a judge flips by itself, as votes of panels and repeats show it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from rubricweb.engine.agreement import Figure
from rubricweb.engine.agreement.raters.repeats import flip_rate_of
from rubricweb.models import Run, Vote
from rubricweb.selectors.runs.diff.answers import LabelNumbers, LabelValues
from rubricweb.selectors.runs.diff.criteria import MatchedCriteria
from rubricweb.selectors.shared.columns import Bools, Ints, columns, ints

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
    partners: MatchedCriteria,
    worth: Mapping[int, LabelValues],
    hidden: set[int],
    confidence: float,
) -> dict[int, Noise]:
    """Id of the run's criterion → noise, for those with votes; abstentions and errors are no votes.

    No query unless one of the runs has a panel, else one.
    """
    voting = [one.pk for one in (run, baseline) if one.panel is not None]
    if not voting:
        return {}
    votes = _votes(run, voting, partners, worth, hidden)
    source: Source = "repeats" if votes.repeats.any() else "members"
    found = {}
    for criterion, before in partners.pairs:
        of_it = votes.taken(votes.criteria == np.where(votes.of_run, criterion.pk, before.pk))
        if len(of_it.items):
            found[criterion.pk] = _noise(of_it, source, confidence)
    return found


@dataclass(frozen=True, eq=False)
class _Votes:
    """Arrays with a place per vote; judges and labels by number."""

    of_run: Bools
    items: Ints
    criteria: Ints
    judges: Ints
    repeats: Ints
    labels: Ints

    def taken(self, kept: Bools) -> "_Votes":
        return _Votes(*(getattr(self, name)[kept] for name in self.__dataclass_fields__))


def _votes(
    run: Run,
    voting: Sequence[int],
    partners: MatchedCriteria,
    worth: Mapping[int, LabelValues],
    hidden: set[int],
) -> _Votes:
    """Votes that have a value, on criteria of the run and those of the baseline that it was asked too."""
    judges, labels = LabelNumbers(), LabelNumbers()
    rows = Vote.objects.filter(run__in=voting, verdict__isnull=False).order_by()
    run_ids, *others = columns(
        rows.values_list("run_id", "item_id", "criterion_id", "judge", "repeat", "verdict"),
        *(ints, ints, ints, judges.of, ints, labels.of),
    )
    votes = _Votes(run_ids == run.pk, *others)
    kept = np.zeros(len(run_ids), dtype=np.bool_)
    for pk, one in worth.items():
        at = votes.criteria == pk
        values = labels.values_by_number(one, votes.labels[at])
        kept[at] = ~np.isnan(values[votes.labels[at]])
    kept &= votes.of_run | np.isin(votes.criteria, ints(list(partners.run_ids())))
    return votes.taken(kept & ~np.isin(votes.items, ints(list(hidden))))


def _noise(votes: _Votes, source: Source, confidence: float) -> Noise:
    """Repeats of a judge, or the judges of a panel, answer one question several times."""
    asked = votes.items * 2 + votes.of_run
    judges = int(votes.judges.max()) + 1 if source == "repeats" else 1
    if source == "repeats":
        asked = asked * judges + votes.judges
    questions, place = np.unique(asked, return_inverse=True)
    labels, label = np.unique(votes.labels, return_inverse=True)
    counts = np.bincount(place * len(labels) + label, minlength=len(questions) * len(labels))
    counts = counts.reshape(len(questions), len(labels))
    return Noise(flip_rate_of(counts, questions // (2 * judges), confidence), source)
