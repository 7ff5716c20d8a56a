"""What stands beside a run where it is answered with, as the schemas of runs read it."""

from typing import Any

from rubricweb.api.schemas import WithFields
from rubricweb.models import JudgeVersion, Run, User
from rubricweb.selectors.blinding import is_withheld
from rubricweb.selectors.judges import version_told_to
from rubricweb.selectors.runs import errors, results, votes
from rubricweb.selectors.runs.group_means import no_groups
from rubricweb.selectors.runs.listing import RunRow
from rubricweb.selectors.runs.progress import progress
from rubricweb.selectors.shared.clock import database_now
from rubricweb.selectors.withheld_runs import hides_examples, is_withheld_run, stop_reason


def run_in_list(row: RunRow) -> WithFields:
    """A row of the list of runs, for the schema `Run`."""
    return WithFields(
        row.run,
        summary=row.summary,
        withheld=row.withheld,
        stop_reason=row.stop_reason,
        few_shot=_examples(row.run, hidden=row.hides_examples),
        **_judge(row.run, row.version),
    )


def one_run(run: Run, viewer: User) -> WithFields:
    """A run with its summary, unless it holds figures this person must not see yet; for the schema `Run`."""
    withheld = is_withheld(run, viewer)
    return WithFields(
        run,
        summary=None if withheld else getattr(run, "summary", None),
        withheld=withheld,
        stop_reason=stop_reason(run, withheld=is_withheld_run(run, viewer)),
        few_shot=_examples(run, hidden=hides_examples(run, viewer)),
        **_judge(run, version_told_to(run, viewer)),
    )


def _examples(run: Run, *, hidden: bool) -> Any:
    return WithFields(run.few_shot, item_ids=None, digest=None) if hidden else run.few_shot


def _judge(run: Run, told: JudgeVersion | None) -> dict[str, Any]:
    """What its judge is called, and by which version of it the run was graded."""
    name = None if run.judge_version is None else run.judge_version.judge.name
    return {"judge_name": name, "judge_version": told}


def run_in_full(run: Run, viewer: User, result: results.Result | None = None) -> WithFields:
    """A run with everything counted up to now, for the schema `RunInFull`; `result` where it is known."""
    result = result or results.result(run, viewer=viewer)
    return WithFields(
        one_run(run, viewer),
        progress=progress(run, viewer=viewer, now=database_now()),
        score=result.mean,
        lowest=result.low_end.lowest,
        below_bar=result.low_end.below_bar,
        coverage=result.coverage,
        error_classes=errors.error_classes(run, viewer=viewer),
        criteria=result.rates,
        pass_rate=result.passed,
        fully_judged=result.fully_judged,
        errored=result.errored,
        groups=result.groups,
        no_groups=no_groups(run),
        votes=votes.run_votes(run, viewer=viewer),
        hidden_items=result.hidden,
        unit=result.unit,
    )
