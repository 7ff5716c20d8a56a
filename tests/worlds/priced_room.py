"""A team with a priced judge that answers two questions at once, and a run of 60 questions for it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection
from django.utils import timezone

from rubricweb.judges.base import JudgeConfig
from rubricweb.judges.event_loop import close_clients
from rubricweb.judges.offline.script import Action, Say, Script
from rubricweb.judges.offline.server import running_server
from rubricweb.models import Run
from rubricweb.services.grading import session
from tests import factories
from tests.factories import Cast

MET = '{"explanation": "It is there.", "criterion_status": "MET"}'


class PricedRoom:
    """The judge answers every question with `answer`; `meanwhile` is done at each of them."""

    def __init__(self, people: Cast, answer: Say) -> None:
        self.people, self.answer, self.url = people, answer, ""
        self.meanwhile: Callable[[], object] = lambda: None
        self.script = Script(self._says)

    def _says(self, _: object) -> Action:
        self.meanwhile()
        connection.close()  # that of the server's thread
        return self.answer

    def started(self, name: str = "run", *, items: int = 6, **options: Any) -> Run:
        """A run of ten questions for each item; `options` are those of `factories.run`."""
        team, ed = self.people.team, self.people.ed
        judge = JudgeConfig(
            name="judge",
            base_url=self.url,
            model="m",
            allow_private_hosts=True,
            concurrency=2,
            input_usd_per_million=10.0,
            output_usd_per_million=100.0,
        )
        criteria = [{"name": f"c{n}", "weight": 1.0, "requirement": f"Names town {n}."} for n in range(10)]
        rows = [{"id": f"i{n}", "submission": f"Town {n} is nice."} for n in range(items)]
        return factories.run(
            team,
            ed,
            dataset=factories.dataset(team, ed, name=name, items=rows),
            rubric_version=factories.version(team, ed, criteria=criteria),
            judge_id="command-line",
            judge=judge,
            **options,
        )


@contextmanager
def priced_room(people: Cast, answer: Say) -> Iterator[PricedRoom]:
    """The room while its judge listens; `script` counts what that was asked."""
    room = PricedRoom(people, answer)
    with running_server(room.script) as room.url:
        yield room
        close_clients()


def graded(run: Run) -> Run:
    """The run once nothing of it is left to grade here."""
    while session.grade(run.pk, now=timezone.now, only_this_run=True):
        pass
    run.refresh_from_db()
    return run
