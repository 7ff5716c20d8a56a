"""Figures of a run while an answer comes in, or after it was summed up; numbers by tests/worlds/attempts.py.

Without the answer to c scores are (3/4 + 1/4) / 2 = 1/2 of two cases and facts (3/4 + 0) / 2 = 3/8; with it
both are 7/12 of three.
"""

from dataclasses import dataclass, field
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from rubricweb.models import Run, RunItem, RunState, RunSummary
from rubricweb.selectors.runs import results
from rubricweb.services.shared.run_summaries import figures_of, summarise
from tests.factories import Cast
from tests.worlds.attempts import attempts_run

pytestmark = pytest.mark.django_db

SCORES = {(0.5, 2), (round(7 / 12, 6), 3)}
FACTS = {(0.375, 2), (round(7 / 12, 6), 3)}


@dataclass
class LateAnswer:
    """One answer of a paused run: it is open until it is stored, right before the query of a number."""

    run: Run
    submission: str
    before: int = 0
    queries: int = 0
    kept: dict[str, Any] = field(default_factory=dict)

    def take_away(self) -> None:
        item = RunItem.objects.filter(run=self.run, item__submission=self.submission)
        self.kept = self.kept or item.values("score", "passed").get()
        item.update(graded_at=None, score=None, passed=None)

    def store(self) -> None:
        item = RunItem.objects.filter(run=self.run, item__submission=self.submission)
        item.update(**self.kept | {"graded_at": timezone.now()})

    def __call__(self, execute: Any, sql: str, *rest: Any) -> Any:
        self.queries += 1
        if self.queries == self.before:
            self.store()
        return execute(sql, *rest)


def late(people: Cast, submission: str) -> LateAnswer:
    graded = attempts_run(people)
    RunSummary.objects.all().delete()
    Run.objects.update(state=RunState.PAUSED, finished_at=None)
    answer = LateAnswer(Run.objects.get(pk=graded.pk), submission)
    answer.take_away()
    return answer


def test_an_answer_stored_between_any_two_queries_is_in_a_figure_or_is_not(people: Cast) -> None:
    answer = late(people, "right curt c")

    def page() -> list[tuple[float | None, int]]:
        found = results.result(answer.run, viewer=people.bob)
        return [(found.mean.value, found.mean.n), (found.groups[0].score.value, found.groups[0].score.n)]

    def summary() -> list[tuple[float | None, int]]:
        kept = figures_of(answer.run).summary
        facts = kept["groups"][0]["score"]
        return [(kept["score_mean"], kept["cases"]), (facts["value"], facts["n"])]

    for read in (page, summary):
        seen = set()
        answer.before = 0
        while answer.queries >= answer.before:
            answer.before, answer.queries = answer.before + 1, 0
            with connection.execute_wrapper(answer):
                scores, facts = ((round(value or 0, 6), n) for value, n in read())
            assert scores in SCORES
            assert facts in FACTS
            seen.add(scores)
            answer.take_away()
        assert seen == SCORES


def test_a_mean_is_not_the_summary_s_once_another_answer_to_a_case_is_there(people: Cast) -> None:
    # Without its wrong answer case a has 1: (1 + 1/4 + 3/4) / 3 = 2/3 of the same three cases.
    answer = late(people, "wrong curt a")
    summarise(answer.run)
    run = Run.objects.get(pk=answer.run.pk)
    before = results.result(run, viewer=people.bob)
    assert (before.mean.value, before.mean.n) == (pytest.approx(2 / 3), 3)
    answer.store()
    after = results.result(run, viewer=people.bob)
    assert (after.mean.value, after.mean.n, after.scored) == (pytest.approx(7 / 12), 3, 6)
    assert after.groups[0].score.value == pytest.approx(7 / 12)
