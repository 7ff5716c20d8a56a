"""Runs: a run's rows say what is left to do, and starting, resuming and recovering all do just that.

What may happen to a run, and what each does in which state (– leaves everything as it is):

|             | running         | paused          | finished        | cancelled       | failed          |
| ----------- | --------------- | --------------- | --------------- | --------------- | --------------- |
| pause       | paused          | – ¹             | –               | –               | –               |
| cancel      | cancelled       | cancelled       | –               | – ¹             | –               |
| resume ³    | Conflict        | running ²       | running, or – ² | running ²       | running ²       |
| extend ³    | running, rung   | paused          | running         | cancelled       | failed          |
| all graded  | finished        | finished        | –               | –               | –               |
| give up     | failed          | –               | –               | –               | –               |

¹ Calls that were allowed to finish can still be broken off.
² Nothing is missing: finished, and 0 is returned.
³ Conflict, and nothing changes, where a judge can be asked no more.

Nothing of this may happen to a run that was imported: Conflict, and nothing changes.

Each change holds the run's row, so a double click is one change. Paused has no end time: it is not over.
"""

from rubricweb.services.runs.control import (
    cancel_run,
    extend_run,
    finish_if_done,
    give_up,
    pause_for_money,
    pause_run,
    resume_run,
    set_budget,
    set_budget_and_go_on,
)
from rubricweb.services.runs.starting import needs_judge, start_run

__all__ = [
    "cancel_run",
    "extend_run",
    "finish_if_done",
    "give_up",
    "needs_judge",
    "pause_for_money",
    "pause_run",
    "resume_run",
    "set_budget",
    "set_budget_and_go_on",
    "start_run",
]
