"""The items or cases of two runs that are in no difference, counted by the reason."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from rubricweb.models import Case
from rubricweb.selectors.datasets.titles import named_cases
from rubricweb.selectors.runs.diff.items import ItemChanges
from rubricweb.selectors.shared.columns import Bools, Ints

NAMED = 20
"""So many cases without a pair are named."""


@dataclass(frozen=True)
class NamedCases:
    """So many rows of the list of changes, and the first of their cases by key and by `names` for people.

    Where a run has answers to a case in several words, each wording is a row: `n` can be more than there are
    keys. Items, and answers to cases of which the other run judged other answers, have no keys.
    """

    n: int
    keys: tuple[str, ...]
    names: tuple[str, ...] = ()

    @property
    def has_more(self) -> bool:
        """Whether there are cases beyond those named."""
        return len(self.keys) == NAMED and self.n > NAMED


@dataclass(frozen=True)
class CasesWithoutPair:
    """Why items or cases are in no difference: one run alone judged them, both did but in other words, or one
    of the two has no score. Together they are those that are `unpaired`.
    """

    only_run: NamedCases
    only_baseline: NamedCases
    reworded: NamedCases
    unscored: int

    @property
    def n(self) -> int:
        """Those that stand on one side alone."""
        return self.only_run.n + self.only_baseline.n + self.reworded.n


def cases_without_pair(changes: ItemChanges) -> CasesWithoutPair:
    """The unpaired of `changes` by their reason. Two queries where cases are named, else none.

    Worked: the run answers c1 and c2, and c3 in its second words; the baseline c1 without a score, c3 in its
    first words, and c4 → c2 in the run alone, c4 in the baseline alone, 2 reworded (c3 twice), 1 unscored.
    """
    in_run, in_baseline = changes.run.there, changes.baseline.there
    unscored = in_run & in_baseline & np.isnan(changes.differences)
    # A run that judged other versions too has answers of those to cases both have: no case is missing.
    if changes.by == "item" or changes.paired.only_shared:
        only = (int((in_run & ~in_baseline).sum()), int((in_baseline & ~in_run).sum()))
        of_run, of_baseline, none = (NamedCases(n, ()) for n in (*only, 0))
        return CasesWithoutPair(of_run, of_baseline, none, int(unscored.sum()))
    paired = changes.paired
    cases = np.zeros(len(paired), dtype=np.int64)
    for side in (paired.run, paired.baseline):
        cases[side.units] = side.cases
    cases = cases[changes.units]
    answered_by_both = np.intersect1d(paired.run.cases, paired.baseline.cases)
    reworded = (in_run != in_baseline) & np.isin(cases, answered_by_both)
    of_run, of_baseline, of_both = _named(
        cases, [in_run & ~in_baseline & ~reworded, in_baseline & ~in_run & ~reworded, reworded]
    )
    return CasesWithoutPair(of_run, of_baseline, of_both, int(unscored.sum()))


def _named(cases: Ints, chosen: Iterable[Bools]) -> list[NamedCases]:
    """The cases of each choice of rows. Two queries at most."""
    found = [(int(rows.sum()), np.unique(cases[rows])[:NAMED].tolist()) for rows in chosen]
    keys = dict(Case.objects.filter(pk__in=[pk for _, pks in found for pk in pks]).values_list("pk", "key"))
    names = named_cases(keys.items())
    return [
        NamedCases(n, tuple(sorted(keys[pk] for pk in pks)), tuple(sorted(names[pk] for pk in pks)))
        for n, pks in found
    ]
