"""`rubricweb compare RUN --with BASELINE`: a run against another one over the same dataset."""

from typing import Any

from rubricweb.engine.agreement.intervals import Figure
from rubricweb.management.printed import Table, print_json, terminal
from rubricweb.management.who import Who
from rubricweb.models import Run
from rubricweb.selectors.run_diff import OnlyIn, RunDiff, Side, require_comparable, run_diff
from rubricweb.selectors.run_diff_changes import CriterionChange
from rubricweb.selectors.run_diff_items import ItemRow, hidden_from, item_changes, item_page

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
        "p_unadjusted": row.mcnemar.p if row.mcnemar else None,
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
    return {"value": figure.value, "low": figure.low, "high": figure.high, "n": figure.n}


# ── For people ───────────────────────────────────────────────────────────────────────────────────


def _print(found: RunDiff, rows: tuple[ItemRow, ...]) -> None:
    console = terminal()
    console.print(f"{found.run} against {found.baseline}, over {found.run.dataset}")
    for one in found.settings:
        console.print(f"  {one.name}: {one.run}, against {one.baseline}")
    difference, test = found.scores.difference, found.scores.wilcoxon
    console.print(
        f"Mean {found.scale} {_signed(difference.value)} over {found.scores.n} items{_interval(difference)}: "
        f"{_number(found.scores.mean_one.value)} became {_number(found.scores.mean_other.value)}. "
        f"Wilcoxon p {_number(test.p)}, Cohen's d {_number(found.scores.cohen_d.value)}."
    )
    counts = found.counts
    console.print(
        f"Items: {counts['regression']} regressions, {counts['fix']} fixes, {counts['unchanged']} unchanged, "
        f"{counts['unpaired']} without a score on both sides."
    )
    for side in found.sides:
        console.print(
            f"  {side.run} ({side.run.state}): {side.graded} of {side.items} items graded, "
            f"coverage {_number(side.coverage)}, {side.errors} errors"
        )
    if found.criteria:
        console.print(_criteria(found))
    for label, only in (("run", found.only_run), ("baseline", found.only_baseline)):
        if only:
            console.print(f"Only in the {label}: {', '.join(one.criterion.name for one in only)}.")
    if found.rest is not None and round(found.rest, 4):
        console.print(f"Limits of the score, length penalties and items' own rubrics: {_signed(found.rest)}.")
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
        "to MET",
        "to UNMET",
        "p (Holm)",
        "adds to Δ",
        "judge noise",
        "errors",
    ):
        table.add_column(title, justify="right", no_wrap=True)
    for row in found.criteria:
        part = row.contribution.value if row.contribution else None
        table.add_row(
            row.criterion.name,
            str(row.n),
            _number(row.baseline_mean),
            _number(row.run_mean),
            "–" if row.to_met is None else str(row.to_met),
            "–" if row.to_unmet is None else str(row.to_unmet),
            _number(row.p),
            _signed(part),
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
            _number(before.score if before else None),
            _number(after.score if after else None),
            _signed(row.change.difference),
            str(row.answers_changed),
        )
    return table


def _interval(figure: Figure) -> str:
    if figure.low is None or figure.high is None:
        return ""
    return f" (95 % interval {_signed(figure.low)} to {_signed(figure.high)})"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}"


def _signed(value: float | None) -> str:
    return "–" if value is None else f"{round(value, 4) or 0.0:+.4f}"
