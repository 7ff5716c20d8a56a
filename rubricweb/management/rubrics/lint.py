"""`rubricweb lint`: what is likely to go wrong with a rubric, and what a judge makes of it."""

import argparse
import asyncio
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any, cast

from rich import box
from rich.table import Table
from rich.text import Text

from rubricweb import engine
from rubricweb.engine.autograders import PerCriterionGenerateFn, PerCriterionGrader
from rubricweb.engine.errors import ConfigurationError
from rubricweb.engine.lint import RULES, Finding, lint
from rubricweb.engine.meta_review import meta_review
from rubricweb.engine.number_format import number, share
from rubricweb.errors import Invalid
from rubricweb.judges.defaults import NoEndpoint, default_per_criterion_generate_fn, environment_config
from rubricweb.management.terminal.installed import require_app
from rubricweb.management.terminal.named_files import rubric_in, stored_id
from rubricweb.management.terminal.printed import Terminal, print_json, terminal

SEVERITIES = ("warning", "hint")
FOUND = 100


def run(options: argparse.Namespace) -> int:
    rubric = _rubric(options)
    findings = lint(rubric)
    review = _review(rubric, options.model) if options.review else None
    if options.json:
        found: dict[str, Any] = {"findings": [_as_json(finding) for finding in findings]}
        if review is not None:
            found["review"] = review.model_dump(mode="json")
        print_json(found, indent=2)
    else:
        console = terminal()
        _print_findings(console, rubric, findings)
        if review is not None:
            _print_review(console, review)
    failing = SEVERITIES[: SEVERITIES.index(options.fail_on) + 1] if options.fail_on else ()
    return FOUND if any(finding.severity in failing for finding in findings) else 0


def _rubric(options: argparse.Namespace) -> engine.Rubric:
    """The rubric named: a file, which needs no team and no database, or `id:N`."""
    if (number := stored_id(options.rubric)) is None:
        return rubric_in(Path(options.rubric))
    require_app("A stored rubric")
    import django

    django.setup()
    from rubricweb.management.rubrics.rubrics import stored_rubric  # has tables, so only after the set-up

    return stored_rubric(options, number)


def _review(rubric: engine.Rubric, model: str) -> engine.EvaluationReport:
    """The rubric graded against the rubric about rubrics, by the endpoint of the environment."""
    try:
        environment_config()
    except NoEndpoint as error:
        raise Invalid("--review asks a judge: set OPENAI_API_KEY, OPENAI_BASE_URL, or both.") from error
    named: dict[str, Any] = {"model": model} if model else {}
    # Its answer has the shape the grader asks for, which no type says.
    judge = cast(PerCriterionGenerateFn, partial(default_per_criterion_generate_fn, **named))
    try:
        return asyncio.run(meta_review(rubric, PerCriterionGrader(judge)))
    except ConfigurationError as error:
        raise Invalid(f"The judge cannot be asked: {error}") from error


def _as_json(finding: Finding) -> dict[str, Any]:
    """A finding as the API answers it; without its schema, which is not there where only the library is."""
    rule = RULES[finding.rule]
    return asdict(finding) | {"title": rule.title, "explanation": rule.explanation, "reads": rule.reads}


def _print_findings(console: Terminal, rubric: engine.Rubric, findings: Sequence[Finding]) -> None:
    if not findings:
        count = len(rubric.criteria)
        console.print(f"Nothing found in {count} {'criterion' if count == 1 else 'criteria'}.")
        return
    table = Table(box=box.SIMPLE, show_edge=False, pad_edge=False)
    for title in ("criterion", "", "rule", "what"):
        table.add_column(title, no_wrap=title == "rule")
    for finding in findings:
        where = "the rubric" if finding.criterion is None else rubric.names[finding.criterion]
        what = f"{finding.message} {finding.suggestion}".strip()
        table.add_row(Text(where), finding.severity, finding.rule, Text(what))
    console.print(table)


def _print_review(console: Terminal, review: engine.EvaluationReport) -> None:
    table = Table(
        box=box.SIMPLE, show_edge=False, pad_edge=False, title="Judged as a rubric", title_justify="left"
    )
    for title in ("about the rubric", "verdict", "reason"):
        table.add_column(title)
    for criterion in review.report or []:
        said = str(criterion.error) if criterion.error else criterion.reason
        table.add_row(Text(str(criterion.name)), criterion.verdict or "error", Text(said))
    console.print(table)
    score = "none" if review.score is None else number(review.score)
    coverage = "unknown" if review.coverage is None else share(review.coverage)
    console.print(f"score {score}, coverage {coverage}, errors {len(review.errors)}")
