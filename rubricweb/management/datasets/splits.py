"""`rubricweb datasets split`: the cases of a dataset marked dev or test."""

import argparse
from typing import Any

from rubricweb import access
from rubricweb.engine.number_format import counted
from rubricweb.errors import Invalid
from rubricweb.management.terminal.actor import note, resolve_actor
from rubricweb.management.terminal.printed import moment, say, table, terminal
from rubricweb.management.terminal.shapes import print_shape
from rubricweb.models import Dataset, Role
from rubricweb.selectors.datasets import halves as selected
from rubricweb.selectors.teams import lookup
from rubricweb.services.datasets.halves import drawing
from rubricweb.templatetags.display import count, percent


def split(options: argparse.Namespace) -> int:
    """Which cases are dev and which test; with --dev or --extend, from now on."""
    changes = options.dev is not None or options.extend
    actor = resolve_actor(options, Role.EDITOR if changes else Role.VIEWER)
    dataset = access.access_dataset(actor.team, lookup.dataset_called(actor.team, options.dataset).pk)
    if options.dev is not None and options.extend:
        raise Invalid.at("--extend", "--dev beside it", "one of them: a split is extended with its own share")
    if options.dev is not None:
        drawing.split_cases(dataset, n_dev=options.dev, by=actor.user, seed=options.seed or 0)
    elif options.extend:
        drawing.extend_split(dataset, by=actor.user, seed=options.seed)
    halves = selected.halves(dataset, viewer=actor.user)
    if options.json:
        from rubricweb.api.datasets.split_schemas import DatasetSplit

        print_shape(DatasetSplit, halves)
        return 0
    return _say(dataset, halves)


def _say(dataset: Dataset, halves: selected.Halves) -> int:
    if halves.report is None and not halves.looks:
        note(f"The cases of {dataset} are not split. Split them: rubricweb datasets split DATASET --dev N")
        return 0
    if halves.report is not None:
        _say_draws(halves, halves.report)
    if halves.looks:
        say(f"Looks at the test split: {len(halves.looks)}. Comparing a judge with people on it is the next.")
        rows = table(("look", "when", "by", "run"), ("items", "version", "claims at"))
        for look in halves.looks:
            about = (str(look.number), moment(look.at), str(look.looked_by or ""), str(look.run or "deleted"))
            figures = (
                "withheld" if look.items is None else count(look.items),
                str(look.dataset_version),
                percent(look.confidence, 2),
            )
            rows.add_row(*about, *figures)
        terminal().print(rows)
    return 0


def _say_draws(halves: selected.Halves, report: dict[str, Any]) -> None:
    lines = [f"dev: {counted(halves.dev, 'case')}, test: {counted(halves.test, 'case')}"]
    if halves.without:
        lines.append(f"in neither: {counted(halves.without, 'case')}; --extend draws them")
    if report["largest_difference"] is not None:
        difference = percent(report["largest_difference"], 1)
        lines.append(f"Their shares of a label differ by {difference} at most.")
    if report["same_words"]:
        same = counted(report["same_words"], "answer")
        lines.append(f"{same} in dev with the words of one in test.")
    say(*lines)
    rows = table(("draw", "when", "by"), ("seed", "dev", "test"))
    for draw in halves.draws:
        by = str(draw.created_by or "")
        figures = (str(draw.seed), count(draw.n_dev), count(draw.n_test))
        rows.add_row(str(draw.number), moment(draw.created_at), by, *figures)
    terminal().print(rows)
