"""What two runs are paired by: the items that both judged, or the cases that both have answers to."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
from django.db.models import Case, Count, Q, QuerySet, TextField, Value, When

from rubricweb.engine.agreement.scores.pairing import Unit, paired_units, unit_means
from rubricweb.errors import Invalid
from rubricweb.models import Item, Run, RunItem, SystemVersion
from rubricweb.selectors.runs.diff.answers import CriterionAnswersOfRun
from rubricweb.selectors.shared.cases import ANY_WORDING, case_numbers, has_repeated_cases
from rubricweb.selectors.shared.columns import Bools, Floats, Ints, columns, floats, ints, present


class ItemGrade(NamedTuple):
    """What one run has on one item, or on a case over its attempts.

    `score` is on the scale the runs are compared on, None without one and where a verdict failed. Of a case
    score and coverage are means over the answers that have one, `errors` a sum, and it `is_graded` once all
    its `answers` are.
    """

    rubric_version_id: int
    score: float | None
    coverage: float | None
    errors: int
    is_graded: bool
    answers: int = 1


@dataclass(frozen=True, eq=False)
class ItemGrades:
    """What one run has on items or cases: `ItemGrade` as arrays, with 0 `answers` where it has none.

    `passed` is 1 or 0 by the rubric's pass rule, of a case the share of its answers that pass, NaN where the
    rule has no word on it and where there is no score.
    """

    answers: Ints
    rubric_versions: Ints
    scores: Floats
    coverages: Floats
    errors: Ints
    graded: Bools
    passed: Floats

    @property
    def there(self) -> Bools:
        return self.answers > 0

    def at(self, place: int) -> ItemGrade | None:
        if not self.answers[place]:
            return None
        return ItemGrade(
            int(self.rubric_versions[place]),
            _number(self.scores[place]),
            _number(self.coverages[place]),
            int(self.errors[place]),
            bool(self.graded[place]),
            int(self.answers[place]),
        )

    def take(self, places: Ints | Bools | slice) -> "ItemGrades":
        """Those at these places."""
        return ItemGrades(*(getattr(self, name)[places] for name in self.__dataclass_fields__))


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


@dataclass(frozen=True, eq=False)
class SideItems:
    """The items of one run, ids ascending, what it has on them, and the unit each belongs to.

    `cases` are their cases where the runs are paired by case, empty otherwise.
    """

    item_ids: Ints
    units: Ints
    cases: Ints
    grades: ItemGrades

    def items_of(self, unit: int) -> tuple[int, ...]:
        """The items of one unit: an item, or the attempts at a case."""
        order, units = self._by_unit
        start, end = np.searchsorted(units, [unit, unit + 1])
        return tuple(self.item_ids[order[start:end]].tolist())

    def grades_by_unit(self, units: int) -> ItemGrades:
        """(units,): each unit's attempts as one."""
        grades, places = self.grades, self.units
        answers = np.bincount(places, minlength=units)
        versions = np.zeros(units, dtype=np.int64)
        versions[places[::-1]] = grades.rubric_versions[::-1]  # that of the first of several
        ungraded = np.bincount(places, weights=~grades.graded, minlength=units)
        return ItemGrades(
            answers,
            versions,
            unit_means(grades.scores, places, units),
            unit_means(grades.coverages, places, units),
            np.bincount(places, weights=grades.errors, minlength=units).astype(np.int64),
            (answers > 0) & (ungraded == 0),
            unit_means(grades.passed, places, units),
        )

    def answers_by_unit(self, answers: CriterionAnswersOfRun, units: int) -> CriterionAnswersOfRun:
        """What was said to one criterion with a place per unit.

        Of a case with several answers the value is their mean; the label is the one they share, or else a
        number below 0 that is the same for the same mean. It failed only where nothing else was said.
        """
        places = self.units
        values = unit_means(answers.values, places, units)
        labels = unit_means(answers.labels, places, units)
        if len(places) and np.bincount(places).max() > 1:
            squares = unit_means(answers.labels**2, places, units)
            mixed = squares - labels**2 > 1e-9 * np.maximum(1.0, squares)
            labels[mixed] = -1.0 - np.nan_to_num(values[mixed])
        failures = np.bincount(places[answers.failed], minlength=units) > 0
        return CriterionAnswersOfRun(labels, values, failures & np.isnan(labels), answers.errors)

    @property
    def repeats_units(self) -> bool:
        """Whether a unit has several items: attempts at a case."""
        return len(np.unique(self.units)) < len(self.units)

    @cached_property
    def _by_unit(self) -> tuple[Ints, Ints]:
        order = np.argsort(self.units, kind="stable")
        return order, self.units[order]


@dataclass(frozen=True, eq=False)
class PairedRuns:
    """A run and its baseline as units with two sides: every item of either, or every case with its words.

    A case is one unit over all words of it that both sides answered; answers to words that the other side was
    not asked are units of their own, and paired with none. `item_ids`
    has an item for each unit by which it is named, the run's where it has one. `hidden` units are left out,
    with all that either run has on them: the viewer is still to review an answer of theirs blind. `systems`
    are the system versions of the two, "" where answers to the same items are paired or no system is named.
    With `only_shared` answers a case is what both judged of it, and what one alone judged is another unit.
    """

    by: Unit
    only_shared: bool
    systems: tuple[str, str]
    item_ids: Ints
    run: SideItems
    baseline: SideItems
    hidden: int

    def __len__(self) -> int:
        return len(self.item_ids)


def paired_runs(run: Run, baseline: Run, hidden: set[int], *, field: str) -> PairedRuns:
    """The two runs by item where they have an item in common, else by case where they have a case in common.

    By case too where cases have several attempts: those are alike, and counted one by one they would make
    chance look like a change. `field` is the score they are compared on, `hidden` are items the viewer may
    not see. A few queries, however many items. Raises Invalid where cases are needed and a run has answers of
    several versions: they are no attempts of one.
    """
    both = run, baseline
    answers = _answers_by_case(run, baseline)
    if answers == "all":
        sides, keys = _by_case(both, field)
        return _paired("case", (run.system, baseline.system), sides, keys, hidden)
    if answers == "shared":
        sides, keys = _by_case(both, field)
        return _paired("case", ("", ""), sides, _keys_of_shared(sides, keys), hidden, only_shared=True)
    sides = [_read(one, field) for one in both]
    keys = [side.item_ids for side in sides]
    if not len(np.intersect1d(keys[0], keys[1], assume_unique=True)):
        by_case, cases = _by_case(both, field)
        if len(np.intersect1d(by_case[0].cases, by_case[1].cases)):
            systems = _system_of(run), _system_of(baseline)
            return _paired("case", systems, by_case, cases, hidden)
    return _paired("item", ("", ""), sides, keys, hidden)


def unit_of(item: Item, run: Run, baseline: Run) -> tuple[Unit, Q]:
    """What `paired_runs` pairs the two by, and which of their rows are in the unit of this item."""
    answers = _answers_by_case(run, baseline)
    rows, others = (RunItem.objects.filter(run=one).order_by() for one in (run, baseline))
    shared = rows.filter(item__in=others.values("item"))
    of_case = Q(item__case=item.case_id)
    in_its_words = of_case & Q(item__wording=item.wording)
    if answers == "shared":
        both_have = Q(item__in=shared.values("item"))
        if shared.filter(item=item).exists():
            return "case", of_case & both_have
        return "case", in_its_words & ~both_have & Q(run__run_items__item=item)
    if answers == "none":
        cases = rows.filter(item__case__in=others.values("item__case"))
        if shared.exists() or not cases.exists():
            return "item", Q(item=item)
    asked, asked_before = (
        set(each.filter(of_case).values_list("item__wording", flat=True)) for each in (rows, others)
    )
    if item.wording in (wordings := asked & asked_before):
        return "case", of_case & Q(item__wording__in=wordings)
    return "case", in_its_words


def _answers_by_case(run: Run, baseline: Run) -> Literal["all", "shared", "none"]:
    """Which answers to a case count as one: all of a run, those both judged, or none, each by itself.

    All of them where both runs are about the same system versions, or each about one. Of other versions the
    answers to one case are no attempts of each other: where the lists of versions differ only what both
    judged is averaged, if that has several answers to a case.
    """
    versions = {run.system_version_id, baseline.system_version_id}
    if None not in versions and len(versions) == 2:
        return "all"  # of two versions, which can share no item
    if not (has_repeated_cases(run) or has_repeated_cases(baseline)):
        return "none"
    if _versions_of(run) == _versions_of(baseline):
        return "all"
    others = RunItem.objects.filter(run=baseline).order_by().values("item")
    shared = RunItem.objects.filter(run=run, item__in=others).order_by()
    of_cases = shared.values("item__case_id").annotate(answers=Count("pk"))
    return "shared" if of_cases.filter(answers__gt=1).exists() else "none"


def _paired(
    by: Unit,
    systems: tuple[str, str],
    sides: list[SideItems],
    keys: list[Ints],
    hidden: set[int],
    *,
    only_shared: bool = False,
) -> PairedRuns:
    """The units of both sides, without those of which an item is hidden."""
    units = paired_units(*keys)
    not_shown = ints(list(hidden))
    left_out = np.zeros(len(units.keys), dtype=np.bool_)
    for side, places in zip(sides, (units.one, units.other), strict=True):
        left_out[places[np.isin(side.item_ids, not_shown)]] = True
    number = np.cumsum(~left_out) - 1
    shown = []
    for side, places in zip(sides, (units.one, units.other), strict=True):
        kept = ~left_out[places]
        cases = side.cases[kept] if by == "case" else side.cases
        shown.append(SideItems(side.item_ids[kept], number[places[kept]], cases, side.grades.take(kept)))
    names = np.zeros(int((~left_out).sum()), dtype=np.int64)
    for side in reversed(shown):
        names[side.units[::-1]] = side.item_ids[::-1]
    return PairedRuns(by, only_shared, systems, names, shown[0], shown[1], int(left_out.sum()))


def _by_case(runs: tuple[Run, Run], field: str) -> tuple[list[SideItems], list[Ints]]:
    """Both sides with the cases of their items, and a number for the unit of each item.

    That is its case where the other side answered the same words of it, else the case in these words.
    """
    sides, asked = [], []
    for run in runs:
        side, wordings = _read_with_cases(run, field)
        sides.append(side)
        asked.append(case_numbers(side.cases, wordings))
    one, other = asked
    shared = np.intersect1d(one, other)
    keys = [
        np.where(np.isin(numbers, shared), case_numbers(side.cases, ANY_WORDING), numbers)
        for side, numbers in zip(sides, asked, strict=True)
    ]
    return sides, keys


def _keys_of_shared(sides: list[SideItems], cases: list[Ints]) -> list[Ints]:
    """The cases of what both sides judged; of what one alone judged other numbers, below 0 and its own."""
    one, other = sides
    shared = np.intersect1d(one.item_ids, other.item_ids, assume_unique=True)
    return [
        np.where(np.isin(side.item_ids, shared), case_numbers(side.cases, ANY_WORDING), -2 * numbers - place)
        for place, (side, numbers) in enumerate(zip(sides, cases, strict=True))
    ]


def _read(run: Run, field: str) -> SideItems:
    """The run's items, ids ascending, and what it has on them."""
    item_ids, *grades = columns(_rows(run, field), ints, *_GRADES)
    return _side(item_ids, ints([]), grades)


def _read_with_cases(run: Run, field: str) -> tuple[SideItems, Ints]:
    """The same with the items' cases, and beside it the wording each answers."""
    rows = _rows(run, field, "item__case_id", "item__wording")
    item_ids, *grades, cases, wordings = columns(rows, ints, *_GRADES, ints, ints)
    order = np.argsort(item_ids)
    return _side(item_ids, cases, grades), wordings[order]


_GRADES = ints, floats, floats, ints, present, floats


def _rows(run: Run, field: str, *more: str) -> QuerySet[RunItem, tuple[Any, ...]]:
    # Turning 100,000 of these into times takes longer than reading them, and only their absence counts.
    graded_at = Case(When(graded_at=None, then=None), default=Value("then"), output_field=TextField())
    fields = ("item_id", "rubric_version_id", field, "coverage", "errors", graded_at, "passed")
    return RunItem.objects.filter(run=run).order_by().values_list(*fields, *more)


def _side(item_ids: Ints, cases: Ints, read: list[Any]) -> SideItems:
    """As the rows were read, in the order of their items; scores of items with an error are none."""
    versions, scores, coverages, errors, graded, passed = read
    scores[errors > 0] = np.nan
    passed[np.isnan(scores)] = np.nan
    order = np.argsort(item_ids)
    answers = np.ones(len(item_ids), dtype=np.int64)
    grades = ItemGrades(answers, versions, scores, coverages, errors, graded, passed)
    return SideItems(item_ids[order], ints([]), cases[order] if len(cases) else cases, grades.take(order))


def _versions_of(run: Run) -> list[SystemVersion]:
    """Every system version with an answer among the items of the run, which names the one it is over."""
    if run.system_version is not None:
        return [run.system_version]
    found = SystemVersion.objects.filter(items__run_items__run=run).order_by("pk").distinct()
    return list(found.select_related("system"))


def _system_of(run: Run) -> str:
    """The system version whose answers the run judges. Raises Invalid where there are several."""
    names = [str(version) for version in _versions_of(run)]
    if len(names) > 1:
        raise Invalid(
            f"{run} has answers of {len(names)} system versions ({', '.join(names[:5])}): to be paired by "
            f"case, a run has answers of one. Start a run over one of them."
        )
    return "".join(names)
