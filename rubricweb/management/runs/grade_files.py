"""`rubricweb grade` from files to a file: needs a judge, and neither tables nor the app."""

import argparse
import asyncio
import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

from rubricweb.engine import DataItem, InvalidFile, RubricDataset
from rubricweb.engine.autograders import AUTOGRADERS, Autograder
from rubricweb.engine.conversations.unseen_parts import unseen_parts, unseen_words
from rubricweb.engine.errors import ConfigurationError, Fault, named_as
from rubricweb.engine.formats.content_ids import name_of
from rubricweb.engine.formats.result_files import VerdictRow, verdicts_csv, verdicts_jsonl
from rubricweb.engine.formats.scores.item_scores import SCORE_WRITERS, ItemScore
from rubricweb.engine.number_format import counted, low_end_words, share
from rubricweb.engine.parsers.plain_text import first_words
from rubricweb.errors import Invalid
from rubricweb.judges.defaults import NoEndpoint, environment_config
from rubricweb.judges.evaluation import EvalResult, evaluate
from rubricweb.judges.offline.lexical import ABOUT, MODEL, SIGNATURE
from rubricweb.judges.offline.server import running_server
from rubricweb.judges.usage import Usage
from rubricweb.management.runs import gates
from rubricweb.management.terminal import installed
from rubricweb.management.terminal.named_files import (
    read_file,
    require_writable,
    rubric_in,
    stored_id,
    write_file,
)
from rubricweb.management.terminal.printed import facts, mean_words, passed_words, terminal
from rubricweb.management.terminal.remarks import remark

ITEMS_OWN = "-"
OUTPUT_FORMATS = {".csv": "csv", ".jsonl": "jsonl"}
VERDICT_WRITERS = {"csv": verdicts_csv, "jsonl": verdicts_jsonl}
# Options that mean something to a stored run alone, by their names among the arguments.
STORED_ONLY = (
    *(
        "judge",
        "repeats",
        "vote",
        "cascade",
        "examples",
        "plan",
        "budget",
        "resume",
        "sample",
        "item",
        "split",
        "json",
    ),
    *("team", "user"),
)


def run(options: argparse.Namespace) -> int:
    _check(options)
    dataset = _dataset(options)
    unseen = sum(unseen_parts(dataset.get_item_prompt(idx)) > 0 for idx in range(len(dataset)))
    if unseen:
        remark(unseen_words(unseen))
    with ExitStack() as stack:
        try:
            grader = AUTOGRADERS[options.autograder](
                reply_format=options.reply_format, abstention=options.abstention, on_error=options.on_error
            )
            judge = _judge(options, stack)
            result = asyncio.run(_evaluated(options, dataset, grader, judge))
        except (ValueError, ConfigurationError) as error:
            raise Invalid("\n".join([str(error), *getattr(error, "__notes__", ())])) from error
    return _finish(options, result, judge)


async def _evaluated(
    options: argparse.Namespace, dataset: RubricDataset, grader: Autograder, judge: str
) -> EvalResult:
    name, resume = options.name or None, not options.no_cache
    return await evaluate(dataset, grader, experiment_name=name, resume=resume, judge=judge)


def _check(options: argparse.Namespace) -> None:
    """Refuses before anything is asked."""
    if not options.no_store:
        remark(f"The app is not installed, so nothing is stored ({installed.HOW}).")
    for name in STORED_ONLY:
        if getattr(options, name):
            raise Invalid(f"--{name} is for runs that are stored, which this one is not.")
    options.autograder = options.autograder or "per_criterion"
    options.reply_format = options.reply_format or "json"
    if options.autograder not in AUTOGRADERS:
        raise Invalid(f"--autograder is {options.autograder}; allowed: {', '.join(AUTOGRADERS)}.")
    if not (options.rubric and options.dataset):
        raise Invalid("Name a RUBRIC and a DATASET. See rubricweb grade --help.")
    if options.base_url and not options.model:
        raise Invalid("--base-url needs --model, the name of the model to ask there.")
    for named in (options.rubric, options.dataset):
        if stored_id(named) is not None:
            raise Invalid(f"{named} is stored; name a file, or grade it without --no-store.")
    if options.output and options.output.suffix not in OUTPUT_FORMATS:
        raise Invalid(f"{options.output} must end in {' or '.join(OUTPUT_FORMATS)}.")
    if options.output:
        require_writable(options.output)
    gates.require_reachable(options)


def _dataset(options: argparse.Namespace) -> RubricDataset:
    """The items, every one under the rubric named; with `-` under the file's and their own.

    They are one system version's answers: the file's, or those `--system` names.
    """
    path = Path(options.dataset)
    named = None if options.rubric == ITEMS_OWN else rubric_in(Path(options.rubric))
    read_file(path)  # says in our words why it cannot be
    try:
        dataset = RubricDataset.from_file(path, rubric=named)
    except InvalidFile as error:
        found = counted(len(error.faults) + error.more, "fault")
        raise Invalid(f"{named_as(path.name, error.read_as)}: {found}.", error.faults) from error
    if named is not None and any(dataset.get_item_rubric(idx) != named for idx in range(len(dataset))):
        raise Invalid(f"{path.name} brings rubrics of its own; name - as RUBRIC to grade by those.")
    return _of_one_system(dataset, options.system, path.name)


def _of_one_system(dataset: RubricDataset, named: Sequence[str], file: str) -> RubricDataset:
    """Several answers to a case are averaged, which those of several versions must not be."""
    versions = list(dict.fromkeys(item.system for item in dataset))
    names = ", ".join(version or "no system named" for version in versions[:5])
    if len(named) > 1:
        raise Invalid("--system takes one version where nothing is stored; grade each by its own command.")
    if named and named[0] not in versions:
        raise Invalid.at("system", repr(named[0]), f"a version with answers in {file}: {names}")
    if not named and len(versions) > 1:
        found = f"answers of {len(versions)} system versions ({names})"
        raise Invalid(f"{Fault('systems', found, 'one of them')}. Name one with --system.")
    return replace(dataset, items=[item for item in dataset if item.system in named]) if named else dataset


def _judge(options: argparse.Namespace, stack: ExitStack) -> str:
    """Points the environment at the judge that the options name, else the offline one; gives its name."""
    if options.base_url:
        os.environ["OPENAI_BASE_URL"] = options.base_url
    if options.model:
        os.environ["OPENAI_MODEL"] = options.model
    try:
        return environment_config().model
    except NoEndpoint:
        os.environ |= {"OPENAI_BASE_URL": stack.enter_context(running_server()), "OPENAI_MODEL": MODEL}
        remark(f"Judge: the {SIGNATURE}. {ABOUT}")
        remark("For a real one set OPENAI_API_KEY or --base-url.")
        return MODEL


def _finish(options: argparse.Namespace, result: EvalResult, judge: str) -> int:
    summary = result.summary(failed_items=options.failed_items)
    mean, usage = summary.score, result.total_token_usage
    table = facts()
    table.add_row("judge", f"{options.autograder} by {judge}")
    table.add_row("items", f"{summary.fully_judged} of {summary.items} fully judged")
    table.add_row("mean score", mean_words(mean, summary.unit))
    if summary.lowest is not None:
        table.add_row("  low end", low_end_words(summary.lowest, summary.below_bar))
    for name, score in summary.groups.items():
        table.add_row(
            f"  {name or 'no group'}", mean_words(score, summary.unit, lowest=summary.group_lowest[name])
        )
    coverages = [one.report.coverage for one in result.item_results if one.report.coverage is not None]
    table.add_row("coverage", share(fmean(coverages) if coverages else None))
    if summary.passed.value is not None:
        table.add_row("passed", passed_words(summary.passed, summary.unit))
    failed = result.filter_failed()
    table.add_row("failed items", str(len(failed)))
    for one in failed[:5]:
        name = name_of(one.item.id, first_words(one.item.submission))
        table.add_row(f"  {name}", str(one.error)[:200])
    table.add_row("tokens", f"{usage.prompt_tokens:,} in, {usage.completion_tokens:,} out")
    table.add_row("cost", _cost(usage))
    terminal().print(table)
    if options.output:
        form = OUTPUT_FORMATS[options.output.suffix]
        if options.autograder == "rubric_as_judge":  # it answers no criterion: a line for each item
            write_file(options.output, SCORE_WRITERS[form](_scores(result, judge)))
        else:
            write_file(options.output, VERDICT_WRITERS[form](_rows(result, judge)))
    again = f"Retry with: the same command{', without --no-cache' * options.no_cache}."
    if not options.name:
        again = "What was judged is not kept; with --name NAME the same command asks only for the rest."
    return gates.exit_code(options, mean=mean, items=summary.items, errored=len(failed), how_to_retry=again)


def _cost(usage: Usage) -> str:
    """What calls of known cost came to, and how many others there were."""
    if not usage.unpriced:
        return f"${usage.cost_usd:.4f}"
    unknown = f"{counted(usage.unpriced, 'call')} of unknown cost"
    return unknown if usage.unpriced == usage.calls else f"${usage.cost_usd:.4f} and {unknown}"


def _rows(result: EvalResult, judge: str) -> Iterator[VerdictRow]:
    for one in result.item_results:
        for entry in one.report.report or ():
            yield VerdictRow(
                item_id=one.item.id,
                criterion=str(entry.name),
                rater=judge,
                verdict=entry.verdict or entry.option,
                reason=entry.reason,
                rater_kind="judge",
                error=str(entry.error) if entry.error else None,
                group=entry.group,
                weight=entry.weight,
                kind=entry.kind,
                value=entry.value,
                **_case(one.item),
            )


def _scores(result: EvalResult, judge: str) -> Iterator[ItemScore]:
    for one in result.item_results:
        report = one.report
        yield ItemScore(
            item_id=one.item.id,
            rater=judge,
            score=report.score,
            raw_score=report.raw_score,
            llm_raw_score=report.llm_raw_score,
            coverage=report.coverage,
            passed=report.passed,
            length_penalty=report.length_penalty,
            reason=report.explanation or "",
            error=one.error,
            checks={str(entry.name): entry.value for entry in report.report or ()},
            **_case(one.item),
        )


def _case(item: DataItem) -> dict[str, Any]:
    attempt = item.attempt if item.case_id or item.system else None
    return {"case_id": item.case_id or None, "system": item.system or None, "attempt": attempt}
