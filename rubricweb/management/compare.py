"""`rubricweb compare`: how far a run agrees with the people who labelled its items, or with another run."""

import argparse
from collections.abc import Iterator
from typing import Any

from rubricweb import access
from rubricweb.engine.agreement import OptionAgreement, PairAgreement
from rubricweb.engine.agreement.intervals import Figure
from rubricweb.errors import Invalid
from rubricweb.management import run_diff
from rubricweb.management.printed import Table, print_json, terminal
from rubricweb.management.who import acting
from rubricweb.models import Role
from rubricweb.selectors import comparable, comparison, operators
from rubricweb.selectors.comparison import Comparison

FIGURES = ("accuracy", "balanced_accuracy", "kappa", "mcc")
OPTION_FIGURES = ("quadratic_kappa", "adjacent_accuracy", "steps_apart", "value_error", "macro_f1")
SCORE_FIGURES = ("pearson", "spearman", "kendall", "rmse", "mae", "bias")
ALL = "all criteria"
COLUMNS = {
    "n": "n",
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced acc.",
    "kappa": "κ",
    "mcc": "MCC",
    "human_alpha": "people's α",
    "coverage": "coverage",
    "errors": "errors",
}


def run(options: argparse.Namespace) -> int:
    who = acting(options, Role.VIEWER)
    judged = access.run_for(who.team, options.run)
    if options.baseline is not None:
        if options.queue:
            raise Invalid("--queue and --with ask for different comparisons; use one of them.")
        baseline = access.run_for(who.team, options.baseline)
        return run_diff.show(who, judged, baseline, as_json=options.json)
    queues = [operators.queue_called(who.team, name) for name in options.queue]
    queues = queues or comparable.queues_to_compare(judged)
    if not queues:
        raise Invalid(f"Nobody has labelled {judged.dataset} against the rubric of {judged} yet.")
    found = comparison.compare(judged, queues, viewer=who.user)
    if options.json:
        print_json(_as_json(found), indent=2)
    else:
        _print(found)
    return 0


def _rows(found: Comparison) -> Iterator[tuple[str, dict[str, Any]]]:
    """A name and its figures: everything first, then criterion by criterion."""
    overall = {"human_alpha": found.human_alpha, "coverage": found.coverage, "errors": found.errors}
    yield ALL, {**_pair(found.overall), **overall}
    for row in found.criteria:
        pair = row.pair if row.options is None else row.options
        own = {"human_alpha": row.human_alpha, "coverage": _coverage(pair), "errors": row.errors}
        more: dict[str, Any] = {"kind": row.criterion.kind}
        if row.options is not None:
            more |= {name: getattr(row.options, name) for name in OPTION_FIGURES}
        if row.mean_value is not None:
            more |= {"mean_value": row.mean_value}
        yield str(row.criterion.name), {**_pair(pair), **own, **more}


def _pair(pair: PairAgreement | OptionAgreement) -> dict[str, Any]:
    return {"n": pair.n, **{name: getattr(pair, name) for name in FIGURES}}


def _coverage(pair: PairAgreement | OptionAgreement) -> float | None:
    """Share of the labelled units on which the judge gave an answer, abstentions among them."""
    units = pair.n + pair.abstained + pair.missing
    return (units - pair.missing) / units if units else None


def _as_json(found: Comparison) -> dict[str, Any]:
    rows = [{"name": name} | {key: _plain(value) for key, value in row.items()} for name, row in _rows(found)]
    return {
        "run": {"id": found.run.pk, "name": str(found.run)},
        "queues": [{"id": queue.pk, "name": queue.name} for queue in found.queues],
        "raters": found.raters,
        "units": found.units,
        "undecided": found.undecided,
        "adjudicated": found.adjudicated,
        "hidden_items": found.hidden_items,
        "n_binary": found.n_binary,
        "scores": {name: _plain(getattr(found.scores.agreement, name)) for name in SCORE_FIGURES},
        "estimated_mean_score": _plain(found.scores.estimate.estimate),
        "overall": rows[0],
        "criteria": rows[1:],
    }


def _plain(value: Any) -> Any:
    if isinstance(value, Figure):
        return {"value": value.value, "low": value.low, "high": value.high, "n": value.n}
    return value


def _print(found: Comparison) -> None:
    console = terminal()
    names = ", ".join(queue.name for queue in found.queues)
    console.print(f"{found.run} against {found.raters} raters of {names}")
    table = Table()
    table.add_column("criterion")
    for title in COLUMNS.values():
        table.add_column(title, justify="right", no_wrap=True)
    for name, row in _rows(found):
        table.add_row(name, *(_shown(row[key]) for key in COLUMNS), end_section=name == ALL)
    console.print(table)
    for one in found.criteria:
        if one.mean_value is not None:
            console.print(f"{one.criterion.name}: a check, {_shown(one.mean_value)} on average.")
        elif one.options is not None and one.options.quadratic_kappa is not None:
            console.print(
                f"{one.criterion.name}: ordered options, κ with quadratic weights "
                f"{_shown(one.options.quadratic_kappa)}, "
                f"within one step {_shown(one.options.adjacent_accuracy)}."
            )
    if any(row.criterion.kind != "binary" for row in found.criteria):
        console.print(f"All criteria pools the {found.n_binary} labels of binary criteria.")
    scores = found.scores.agreement
    if scores.n:
        console.print(
            f"Scores of {scores.n} items: Pearson {_shown(scores.pearson)}, "
            f"Spearman {_shown(scores.spearman)}, judge less people {_shown(scores.bias)} on average."
        )
    if found.undecided:
        console.print(f"{found.undecided} labelled criteria are left out: people are tied.")
    if found.hidden_items:
        console.print(f"{found.hidden_items} items are left out: you are still to review them blind.")


def _shown(value: Any) -> str:
    """Four decimals; a dash for what is undefined."""
    if isinstance(value, Figure):
        value = value.value
    if value is None:
        return "–"
    return f"{value:.4f}" if isinstance(value, float) else str(value)
