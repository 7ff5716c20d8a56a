"""A dataset graded by Python alone: several items at a time, resumed from files, counted."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Never

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from rubricweb.engine.autograders.base import Autograder
from rubricweb.engine.autograders.setup_errors import is_setup_error
from rubricweb.engine.datasets import RubricDataset
from rubricweb.engine.published.former_names import refuse_arguments
from rubricweb.engine.report import EvaluationReport, GradingError
from rubricweb.engine.rubric import Rubric
from rubricweb.engine.submission import Submission
from rubricweb.engine.together import together
from rubricweb.judges.evaluation.cached_grader import with_reply_cache
from rubricweb.judges.evaluation.experiment import KeyedLines, opened
from rubricweb.judges.evaluation.fingerprints import grader_digest, item_key
from rubricweb.judges.evaluation.results import EvalResult, EvalTimingStats, ItemResult
from rubricweb.judges.usage import Usage, usage_counter

CONCURRENT_ITEMS = 16


async def evaluate(  # noqa: PLR0913  # scripts written for autorubric call it with these
    dataset: RubricDataset,
    grader: Autograder,
    *,
    fail_fast: bool = False,
    show_progress: bool = True,
    max_concurrent_items: int | None = CONCURRENT_ITEMS,
    experiment_name: str | None = None,
    experiments_dir: Path | str = "experiments",
    resume: bool = True,
    cache: Path | str | None = None,
    judge: str = "",
    **former: Never,
) -> EvalResult:
    """Grade every item of a dataset by the rubric in force for it.

    ``max_concurrent_items`` are graded at a time, None: all. The questions about an item are asked at once:
    calls in flight are at most so many times the questions of an item. An item whose grading raises, or has a
    question without an answer, has failed: it stands apart and in no mean. With ``fail_fast`` nothing new is
    begun after the first one that fails. ``show_progress`` draws a bar on standard error where that is a
    terminal.

    With an ``experiment_name`` every answer and every item is written into a folder of that name in
    ``experiments_dir`` as soon as it is there. Running again takes over what has the same content (rubric,
    item, grader, and what ``judge`` names) and grades the rest, failed items too; ``resume=False`` grades
    everything anew. ``cache`` is a file of answers that evaluations share, instead of one in the folder;
    without a name it alone is kept, and no item. Either way a changed criterion asks that criterion anew and
    no other, where each is a question of its own. Interrupted or killed, it loses the calls in flight.
    Without name and cache nothing is kept.

    Raises ValueError for a number of items below 1, a name that is no file name, and an item without a
    rubric; ExperimentInUse while another evaluation writes into the folder. A judge that is set up wrongly
    (``is_setup_error``: no endpoint, a refused key, a name the generate function does not know) fails every
    item alike: its exception is raised, once, and ends what is in flight; what was kept stays.

    >>> result = asyncio.run(evaluate(dataset, PerCriterionGrader(ask)))
    >>> result.summary().score.value  # over result.successful_items of result.total_items
    """
    refuse_arguments("evaluate", former)
    folder = _folder(experiments_dir, experiment_name)
    if max_concurrent_items is not None and max_concurrent_items < 1:
        allowed = "1 or more, or None for all"
        raise ValueError(f"max_concurrent_items is {max_concurrent_items}; allowed: {allowed}")
    digest = grader_digest(grader, judge)
    tasks = _tasks_of(dataset, digest)
    started, clock = datetime.now(UTC), time.perf_counter()
    with opened(folder, Path(cache) if cache else None) as experiment:
        replies = experiment.replies
        asking = grader if replies is None else with_reply_cache(grader, replies, judge, look=resume)
        run = _Run(asking, tasks, experiment.items, fail_fast)
        results = await run.results(max_concurrent_items or len(tasks) or 1, show_progress, resume=resume)
    graded = [one.duration_seconds for one in results if not one.resumed]
    return EvalResult(
        item_results=results,
        total_items=len(dataset),
        total_token_usage=sum((one.usage for one in results), Usage()),
        timing_stats=EvalTimingStats.from_durations(graded, time.perf_counter() - clock),
        started_at=started,
        completed_at=datetime.now(UTC),
        experiment_name=experiment_name,
        experiment_dir=folder,
    )


def _folder(experiments_dir: Path | str, name: str | None) -> Path | None:
    if name is None:
        return None
    if name in ("", "..") or Path(name).name != name:
        raise ValueError(f"experiment_name is {name!r}; allowed: the name of a folder, not a path")
    return Path(experiments_dir) / name


@dataclass(frozen=True, slots=True)
class _Task:
    idx: int
    dataset: RubricDataset
    rubric: Rubric
    submission: Submission
    key: str


def _tasks_of(dataset: RubricDataset, grader: str) -> list[_Task]:
    tasks = []
    for idx, item in enumerate(dataset):
        rubric = dataset.get_item_rubric(idx)
        prompt, reference = dataset.get_item_prompt(idx), dataset.get_item_reference_submission(idx)
        submission = Submission(item.submission, item.thinking, prompt, reference)
        tasks.append(_Task(idx, dataset, rubric, submission, item_key(grader, rubric, submission)))
    return tasks


class _Run:
    def __init__(
        self, grader: Autograder, tasks: list[_Task], kept: KeyedLines | None, fail_fast: bool
    ) -> None:
        self._grader = grader
        self._tasks = tasks
        self._kept = kept
        self._fail_fast = fail_fast
        self._results: dict[int, ItemResult] = {}
        self._failed = False

    async def results(self, at_a_time: int, show_progress: bool, *, resume: bool) -> list[ItemResult]:
        """Every item's result, in order; without those that were not begun when the first one failed."""
        left = []
        for task in self._tasks:
            earlier = self._earlier(task) if resume else None
            if earlier is not None and earlier.error is None:
                self._results[task.idx] = earlier
            else:
                left.append((task, earlier.usage if earlier else Usage()))
        with _bar(len(self._tasks), show_progress) as (bar, row):
            bar.update(row, completed=len(self._results))
            waiting = iter(left)
            workers = [self._work(waiting, bar, row) for _ in range(min(at_a_time, len(left)))]
            try:
                await together(workers)
            except Exception as error:
                error.add_note(self._what_is_kept())
                raise
        return [self._results[idx] for idx in sorted(self._results)]

    async def _work(self, waiting: Iterator[tuple[_Task, Usage]], bar: Progress, row: TaskID) -> None:
        for task, spent in waiting:  # shared by all workers: each takes the next
            if self._failed and self._fail_fast:
                return
            result = await self._graded(task, spent)
            self._results[task.idx] = result
            self._failed |= result.error is not None
            if self._kept is not None:
                self._kept.put(task.key, _stored(result), item=result.item.id, error=result.error)
            bar.update(row, advance=1)

    async def _graded(self, task: _Task, spent: Usage) -> ItemResult:
        """The item's result; ``spent`` went into it before, when it failed."""
        began = time.perf_counter()
        with usage_counter() as usage:
            try:
                report = await task.rubric.grade(task.submission, self._grader)
            except Exception as error:  # this item's own failure; an interruption passes through
                if is_setup_error(error):
                    raise
                message = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
                failure = GradingError(criterion=None, kind="failed_item", message=message)
                report = EvaluationReport(score=None, coverage=0.0, errors=(failure,))
        seconds = time.perf_counter() - began
        item = task.dataset[task.idx]
        return ItemResult(task.idx, item, report, seconds, _why(report), spent + usage)

    def _what_is_kept(self) -> str:
        graded = f"{len(self._results)} of {len(self._tasks)} items were graded before"
        if self._kept is None:
            return f"{graded}, and are not kept without an experiment_name."
        return f"{graded}, and are kept: the same call goes on."

    def _earlier(self, task: _Task) -> ItemResult | None:
        """What an earlier run of the experiment came to for the same content."""
        stored = self._kept.get(task.key) if self._kept else None
        if stored is None:
            return None
        try:
            report = EvaluationReport.model_validate(stored["report"])
            seconds, usage = float(stored["seconds"]), Usage(**stored["usage"])
        except (KeyError, TypeError, ValueError):  # somebody edited it, or it is of another release
            return None
        item = task.dataset[task.idx]
        return ItemResult(task.idx, item, report, seconds, _why(report), usage, resumed=True)


def _stored(result: ItemResult) -> dict[str, Any]:
    return {
        "report": result.report.model_dump(mode="json"),
        "seconds": result.duration_seconds,
        "usage": asdict(result.usage),
    }


def _why(report: EvaluationReport) -> str | None:
    if not report.errors:
        return None
    return "; ".join(f"{one.criterion}: {one}" if one.criterion else str(one) for one in report.errors)


@contextmanager
def _bar(total: int, shown: bool) -> Iterator[tuple[Progress, TaskID]]:
    bar = Progress(
        TextColumn("Evaluating"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
        disable=not (shown and sys.stderr.isatty()),
    )
    with bar:
        yield bar, bar.add_task("", total=total)
