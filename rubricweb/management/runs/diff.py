"""`rubricweb compare RUN --with BASELINE`: a run against another one over the same dataset."""

from dataclasses import asdict
from typing import Any

from rubricweb.engine.agreement.intervals import Figure
from rubricweb.engine.number_format import difference as shown_difference
from rubricweb.engine.number_format import figure_text, number, share, text_of, value_of
from rubricweb.management.terminal.printed import Table, print_json, terminal
from rubricweb.management.terminal.who import Who
from rubricweb.models import Run
from rubricweb.selectors.runs.diff.changes import CriterionChange
from rubricweb.selectors.runs.diff.diff import OnlyIn, RunDiff, Side, require_comparable, run_diff
from rubricweb.selectors.runs.diff.items import ItemRow, hidden_from, item_changes, item_page

SHOWN_ITEMS = 10
NOISE = {"within": "within", "beyond": "beyond", "open": "open", "unknown": "not measured"}


def show(who: Who, run: Run, baseline: Run, *, as_json: bool) -> int:
    """Prints the difference and the items that changed most; with `as_json` everything with intervals."""
    require_comparable(run, baseline)
    changes = item_changes(run, baseline, hidden_from(run, who.user))
    found = run_diff(run, baseline, viewer=who.user, changes=changes)
    size = max(1, len(changes)) if as_json else SHOWN_ITEMS
    rows = item_page(changes, run, baseline, size=size).rows
    if as_json:
        print_json(_as_json(found, rows), indent=2)
    else:
        _print(found, rows)
    return 0


# ── JSON ─────────────────────────────────────────────────────────────────────────────────────────


def _as_json(found: RunDiff, rows: tuple[ItemRow, ...]) -> dict[str, Any]:
    test = found.scores.wilcoxon
    return {
        "run": _side(found.sides[0], found.scores.mean_other),
        "baseline": _side(found.sides[1], found.scores.mean_one),
        "settings": [{"name": one.name, "run": one.run, "baseline": one.baseline} for one in found.settings],
        "scale": found.scale,
        "n": found.scores.n,
        "difference": _figure(found.scores.difference),
        "direction": found.direction or None,
        "cohen_d": _figure(found.scores.cohen_d),
        "wilcoxon": {"n": test.n, "zeros": test.zeros, "statistic": test.statistic, "p": test.p},
        "item_counts": dict(found.counts),
        "criteria": [_criterion(row) for row in found.criteria],
        "only_run": [_only(one) for one in found.only_run],
        "only_baseline": [_only(one) for one in found.only_baseline],
        "rest": found.rest,
        "on_own_rubrics": found.on_own_rubrics,
        "hidden_items": found.hidden_items,
        "items": [
            {
                "key": row.item.key,
                "change": row.change.change,
                "difference": row.change.difference,
                "run_score": row.change.run.score if row.change.run else None,
                "baseline_score": row.change.baseline.score if row.change.baseline else None,
                "answers_changed": row.answers_changed,
            }
            for row in rows
        ],
    }


def _side(side: Side, mean: Figure) -> dict[str, Any]:
    return {
        "id": side.run.pk,
        "name": str(side.run),
        "state": side.run.state,
        "items": side.items,
        "graded": side.graded,
        "scored": side.scored,
        "errored": side.errored,
        "coverage": side.coverage,
        "errors": side.errors,
        "mean": _figure(mean),
    }


def _criterion(row: CriterionChange) -> dict[str, Any]:
    return {
        "name": row.criterion.name,
        "kind": row.criterion.kind,
        "weight": row.criterion.weight,
        "baseline_weight": row.before.weight,
        "n": row.n,
        "run_mean": row.run_mean,
        "baseline_mean": row.baseline_mean,
        "difference": _figure(row.difference),
        "changed": _figure(row.changed),
        "to_met": row.to_met,
        "to_unmet": row.to_unmet,
        "better": row.better,
        "worse": row.worse,
        "p_unadjusted": row.p_alone,
        "p": row.p,
        "contribution": _figure(row.contribution),
        "flip_rate": _figure(row.noise.flip_rate if row.noise else None),
        "within_noise": row.within_noise,
        "abstained": row.abstained,
        "run_errors": row.run_errors,
        "baseline_errors": row.baseline_errors,
        "missing": row.missing,
    }


def _only(one: OnlyIn) -> dict[str, Any]:
    return {
        "name": one.criterion.name,
        "weight": one.criterion.weight,
        "contribution": _figure(one.contribution),
    }


def _figure(figure: Figure | None) -> dict[str, Any] | None:
    if figure is None:
        return None
    return asdict(figure)


# ── For people ───────────────────────────────────────────────────────────────────────────────────


def _print(found: RunDiff, rows: tuple[ItemRow, ...]) -> None:
    console = terminal()
    console.print(f"{found.run} against {found.baseline}, over {found.run.dataset}")
    for one in found.settings:
        console.print(f"  {one.name}: {one.run}, against {one.baseline}")
    difference, test = found.scores.difference, found.scores.wilcoxon
    console.print(
        f"Mean {found.scale} {text_of(difference, signed=True)} over {found.scores.n} items: "
        f"{value_of(found.scores.mean_one)} became {value_of(found.scores.mean_other)}. "
        f"Wilcoxon p {number(test.p, 4)}, Cohen's d {text_of(found.scores.cohen_d, signed=True)}."
    )
    counts = found.counts
    console.print(
        f"Items: {counts['regression']} regressions, {counts['fix']} fixes, {counts['unchanged']} unchanged, "
        f"{counts['unpaired']} in no difference, without a score or with an error on a side."
    )
    for side in found.sides:
        console.print(
            f"  {side.run} ({side.run.state}): {side.graded} of {side.items} items graded, "
            f"coverage {share(side.coverage)}, {side.errors} errors"
        )
    if found.criteria:
        console.print(_criteria(found))
    for label, only in (("run", found.only_run), ("baseline", found.only_baseline)):
        if only:
            console.print(f"Only in the {label}: {', '.join(one.criterion.name for one in only)}.")
    if found.rest is not None and round(found.rest, 4):
        rest = figure_text(found.rest, n=found.scores.n, signed=True)
        console.print(f"Limits of the score, length penalties and items' own rubrics: {rest}.")
    changed = [row for row in rows if row.change.change in ("regression", "fix")]
    if changed:
        console.print(_items(changed))
    if found.hidden_items:
        console.print(f"{found.hidden_items} items are left out: you are still to review them blind.")


def _criteria(found: RunDiff) -> Table:
    table = Table()
    table.add_column("criterion")
    for title in (
        "n",
        "before",
        "after",
        "better",
        "worse",
        "p (Holm)",
        "adds to Δ",
        "judge noise",
        "errors",
    ):
        table.add_column(title, justify="right", no_wrap=True)
    for row in found.criteria:
        table.add_row(
            row.criterion.name,
            str(row.n),
            figure_text(row.baseline_mean, n=row.n),
            figure_text(row.run_mean, n=row.n),
            "–" if row.better is None else str(row.better),
            "–" if row.worse is None else str(row.worse),
            number(row.p, 4),
            value_of(row.contribution, signed=True),
            "–" if row.criterion.kind == "check" else NOISE[row.within_noise],
            f"{row.run_errors} / {row.baseline_errors}",
        )
    return table


def _items(rows: list[ItemRow]) -> Table:
    table = Table()
    table.add_column("item")
    for title in ("before", "after", "Δ", "answers changed"):
        table.add_column(title, justify="right", no_wrap=True)
    for row in rows:
        before, after = row.change.baseline, row.change.run
        table.add_row(
            row.item.key,
            number(before.score if before else None),
            number(after.score if after else None),
            shown_difference(row.change.difference),
            str(row.answers_changed),
        )
    return table
