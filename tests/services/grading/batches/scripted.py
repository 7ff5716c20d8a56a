"""Batch runs at a server that has batches, and whose answers a script gives."""

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.utils import timezone

from rubricweb.judges.offline.script import Action, Fail, Request, Say, Script
from rubricweb.models import JudgeEndpoint, Run
from rubricweb.services.grading.batches import schedule
from tests import factories
from tests.factories import Cast, WakeUps

MET = json.dumps({"explanation": "as the script says", "criterion_status": "MET"})


class Clock:
    """Now, and later whenever a test says so."""

    def __init__(self) -> None:
        self.ahead = timedelta(0)

    def __call__(self) -> Any:
        return timezone.now() + self.ahead

    def later(self, seconds: float = 60) -> None:
        self.ahead += timedelta(seconds=seconds)


YES = Say(MET, prompt_tokens=1000, completion_tokens=100)


class Judge(Script):
    """Says yes, but for what a test puts into `instead`: (part of the submission, part of the requirement) →
    what it says each time, YES once that is over; and for requests whose form it `refuses`.
    """

    def __init__(self) -> None:
        super().__init__(self.say)
        self.usually: Action = YES
        self.instead: dict[tuple[str, str], list[Action]] = {}
        self.refuses: Callable[[Request], Fail | None] = lambda request: None

    def say(self, request: Request) -> Action:
        if refusal := self.refuses(request):
            return refusal
        for (submission, requirement), actions in self.instead.items():
            if submission in request.submission and requirement in request.requirement and actions:
                return actions.pop(0)
        return self.usually


def started(people: Cast, endpoint: JudgeEndpoint, **options: Any) -> Run:
    return factories.run(
        people.team,
        people.alice,
        dataset=options.pop("dataset", None) or factories.dataset(people.team, people.alice),
        rubric_version=factories.version(people.team, people.alice),
        judge_id="" if "panel" in options else f"endpoint-{endpoint.pk}",
        mode="batch",
        **options,
    )


def until_over(run: Run, clock: Clock, *, steps: int = 40) -> list[int]:
    """Sweeps until no batch of the run waits; for whom workers were notified."""
    wake_ups = WakeUps()
    for _ in range(steps):
        for run_id in schedule.due(clock()):
            schedule.advance(run_id, now=clock, enqueue=wake_ups)
        run.refresh_from_db()
        if run.batches.exists() and not run.batches.filter(stored_at=None).exists():
            return wake_ups.notified
        clock.later()
    raise AssertionError(f"{[(job.state, job.error_message) for job in run.batches.all()]}")
