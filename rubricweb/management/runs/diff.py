"""`rubricweb compare RUN --with BASELINE`: a run against another one over the same dataset."""

from rubricweb.engine.agreement.intervals import CONFIDENCE
from rubricweb.engine.agreement.scores.pairing import Unit
from rubricweb.engine.number_format import counted, figure_text, number, p_text, share, text_of, unseen_words
from rubricweb.engine.number_format import difference as shown_difference
from rubricweb.management.runs import gates
from rubricweb.management.terminal.actor import Actor, note
from rubricweb.management.terminal.printed import Table, terminal
from rubricweb.management.terminal.shapes import print_shape
from rubricweb.models import Run
from rubricweb.selectors.runs.diff.changes import CriterionChange
from rubricweb.selectors.runs.diff.diff import (
    OnlyIn,
    RunDiff,
    require_comparable,
    run_diff,
)
from rubricweb.selectors.runs.diff.items import DiffItemRow, hidden_from, item_changes, item_page
from rubricweb.selectors.runs.diff.without_pair import CasesWithoutPair

SHOWN_ITEMS = 10
FAILS_ON = {"down": ("down",), "open": ("down", "open", "")}
"""The directions at which `--fail-on` ends with 100; "" has too few pairs for an interval."""
DIRECTIONS = {
    "down": "went down",
    "open": "may have gone either way",
    "": "has no interval",
}
NOISE = {"within": "within", "beyond": "beyond", "open": "open", "unknown": "not measured"}


def show(actor: Actor, run: Run, baseline: Run, *, as_json: bool, fail_on: str = "") -> int:
    """Prints the difference and the items that changed most; with `as_json` everything with intervals.

    Gives back the exit code: 1 where nothing has a score on both sides, 100 at what is to `fail_on`.
    """
    require_comparable(run, baseline)
    changes = item_changes(run, baseline, hidden_from(run, actor.user))
    diff = run_diff(run, baseline, viewer=actor.user, changes=changes)
    size = max(1, len(changes)) if as_json else SHOWN_ITEMS
    rows = item_page(changes, run, baseline, size=size).rows
    if as_json:
        from rubricweb.api.runs.diff.schemas import RunDiffWithItems
        from rubricweb.api.schemas import WithFields

        print_shape(RunDiffWithItems, WithFields(diff, items=rows), indent=2)
    else:
        _print(diff, rows)
    if not diff.scores.n:
        note(f"Nothing to compare: no {diff.paired_by} has a score on both sides.")
        return gates.NOTHING
    return _gate(diff, fail_on) if fail_on else 0


def _gate(diff: RunDiff, fail_on: str) -> int:
    """The exit code for `--fail-on`, with why it is not 0 as a note."""
    if diff.hidden_items:
        note(gates.undecided(diff.hidden_items, diff.paired_by))
        return gates.NOTHING
    if diff.direction not in FAILS_ON[fail_on]:
        return 0
    note(f"The mean {diff.scale} {DIRECTIONS[diff.direction]}: --fail-on {fail_on}.")
    return gates.GATE_MISSED


# ── For people ───────────────────────────────────────────────────────────────────────────────────


def _print(diff: RunDiff, rows: tuple[DiffItemRow, ...]) -> None:
    console = terminal()
    console.print(f"{diff.run} against {diff.baseline}, over {diff.run.dataset}")
    units = f"{diff.paired_by}s"
    if diff.paired_by == "case":
        after, before = _named_sides(diff)
        console.print(f"Paired by case: {after} against {before}")
    for one in diff.settings:
        console.print(f"  {one.name}: {one.run}, against {one.baseline}")
    difference, test = diff.scores.difference, diff.scores.wilcoxon
    console.print(
        f"Mean {diff.scale} {text_of(difference, signed=True)} "
        f"over {counted(diff.scores.n, diff.paired_by)}: "
        f"{text_of(diff.scores.mean_one)} became {text_of(diff.scores.mean_other)}. "
        f"Wilcoxon p {p_text(test.p)}, Cohen's d {text_of(diff.scores.cohen_d, signed=True)}."
    )
    if diff.scores.n:
        console.print(_low_end(diff))
    is_off_0 = (difference.low or 0) > 0 or (difference.high or 0) < 0
    if None not in (test.p, difference.low) and ((test.p or 0) < 1 - CONFIDENCE) != is_off_0:
        console.print(
            f"The interval and p differ: the interval is of the mean, and wide where {units} are few; "
            f"Wilcoxon asks by ranks whether {units} moved one way more than the other."
        )
    counts = diff.counts
    console.print(
        f"{units.capitalize()}: {counted(counts['regression'], 'regression')}, "
        f"{counted(counts['fix'], 'fix', 'fixes')}, "
        f"{counts['unchanged']} unchanged, "
        f"{counts['unpaired']} in no difference{_why_unpaired(diff)}."
    )
    for side in diff.sides:
        version = side.judge_version
        judge = f"{version}, " if version is not None and version.is_named else ""
        system = f"{side.system}, " if side.system else ""
        console.print(
            f"  {side.run} ({system}{judge}{side.run.state}): {side.graded} of {side.items} items graded, "
            f"coverage {share(side.coverage)}, {counted(side.errors, 'error')}"
        )
    for side in diff.tries:
        console.print(
            f"  {side.run} ({side.run.pk}) is a try, over {counted(side.size.items, 'item')} of the "
            f"{side.size.dataset_items} there were: a run over all of them may say something else."
        )
    if diff.paired_by == "case":
        _print_without_pair(diff, diff.without_pair)
    if diff.criteria:
        console.print(_criteria(diff))
    for label, only in (("run", diff.only_run), ("baseline", diff.only_baseline)):
        if only:
            console.print(f"Only in the {label}: {', '.join(map(_named_part, only))}.")
    if diff.rest is not None and round(diff.rest, 4):
        rest = figure_text(diff.rest, n=diff.scores.n, signed=True)
        console.print(f"Limits of the score, length penalties and items' own rubrics: {rest}.")
    changed = [row for row in rows if row.change.change in ("regression", "fix")]
    if changed:
        console.print(_items(changed, diff.paired_by))
    if diff.hidden_items:
        hidden = counted(diff.hidden_items, diff.paired_by)
        console.print(f"{hidden} left out: still to be reviewed by you, blind.")


def _low_end(diff: RunDiff) -> str:
    """The lowest scores, what does not pass, and what so many pairs could not have shown."""
    said = [f"Lowest {number(diff.scores.lowest_one, 2)} became {number(diff.scores.lowest_other, 2)}."]
    if (below := diff.below_bar) is not None:
        shares = (text_of(side, percent=True) for side in (below.one, below.other))
        said.append(
            f"Do not pass: {' became '.join(shares)}, {text_of(below.difference, signed=True, percent=True)} "
            f"of {counted(below.difference.n, diff.paired_by)}."
        )
    said.append(unseen_words(diff.scores.n, diff.paired_by, diff.scores.unseen_failures))
    return " ".join(said)


def _named_sides(diff: RunDiff) -> tuple[str, str]:
    """The two system versions; the runs where both are over one, with their ids where they share a name."""
    after, before = (side.system or str(side.run) for side in diff.sides)
    if after == before:
        after, before = str(diff.run), str(diff.baseline)
    if after == before:
        after, before = f"{after} ({diff.run.pk})", f"{before} ({diff.baseline.pk})"
    return after, before


def _why_unpaired(diff: RunDiff) -> str:
    """ ": 2 only in the run, 1 without a score on a side"; "" where nothing is unpaired."""
    why = diff.without_pair
    parts = [
        (why.only_run.n, "only in the run"),
        (why.only_baseline.n, "only in the baseline"),
        (why.reworded.n, "in words that the other was not asked"),
        (why.unscored, "without a score or with an error on a side"),
    ]
    found = ", ".join(f"{n} {words}" for n, words in parts if n)
    return f": {found}" if found else ""


def _print_without_pair(diff: RunDiff, without: CasesWithoutPair) -> None:
    after, before = _named_sides(diff)
    for cases, where in (
        (without.only_run, f"answered only by {after}"),
        (without.only_baseline, f"answered only by {before}"),
        (without.reworded, "in words that the other was not asked"),
    ):
        if cases.names:
            more = ", …" if cases.has_more else ""
            named = f"{', '.join(cases.names)}{more}"
            terminal().print(f"  No pair: {counted(cases.n, 'case')} {where}: {named}")


def _named_part(one: OnlyIn) -> str:
    """The criterion with what it adds to the difference, where that can be said."""
    name: str = one.criterion.name
    return name if one.contribution is None else f"{name} (adds {text_of(one.contribution, signed=True)})"


def _criteria(diff: RunDiff) -> Table:
    table = Table()
    table.add_column("criterion")
    for title in (
        "n",
        "before",
        "after",
        "Δ",
        "better",
        "worse",
        "p (Holm)",
        "adds to Δ",
        "judge noise",
        "errors",
    ):
        table.add_column(title, justify="right", no_wrap=True)
    for row in diff.criteria:
        table.add_row(
            row.criterion.name + (f" (in the baseline: {row.name_before})" if row.name_before else ""),
            str(row.n),
            figure_text(row.baseline_mean, n=row.n),
            figure_text(row.run_mean, n=row.n),
            text_of(row.difference, signed=True),
            "–" if row.better is None else str(row.better),
            "–" if row.worse is None else str(row.worse),
            p_text(row.p) + (" by sign flips" if row.test == "sign_flips" else ""),
            text_of(row.contribution, signed=True),
            _noise(row),
            f"{row.run_errors} / {row.baseline_errors}",
        )
    return table


def _noise(row: CriterionChange) -> str:
    """How changed answers stand to the judge's own flips, and both: what is within noise may be so by few."""
    if row.criterion.kind == "check":
        return "–"
    if row.noise is None:
        return NOISE[row.within_noise]
    changed, flips = (text_of(one, percent=True) for one in (row.changed, row.noise.flip_rate))
    return f"{NOISE[row.within_noise]}: {changed} changed, {flips} flips (n {row.noise.flip_rate.n:,})"


def _named(row: DiffItemRow, paired_by: Unit) -> str:
    """The key of the case or the item, where somebody gave it one; else its number."""
    of_case, item = paired_by == "case", row.item
    return str(item.case if of_case else item)


def _items(rows: list[DiffItemRow], paired_by: Unit) -> Table:
    table = Table()
    table.add_column(paired_by)
    for title in ("before", "after", "Δ", "answers changed"):
        table.add_column(title, justify="right", no_wrap=True)
    for row in rows:
        before, after = row.change.baseline, row.change.run
        table.add_row(
            _named(row, paired_by),
            number(before.score if before else None),
            number(after.score if after else None),
            shown_difference(row.change.difference),
            str(row.answers_changed),
        )
    return table
