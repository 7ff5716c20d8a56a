"""Questions of one run that wait for money: reserved before they are sent, released with their answers."""

import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from rubricweb.judges.base import JudgeConfig, Question, Reply
from rubricweb.models import Run
from rubricweb.services.grading.asking.open_items import key_of
from rubricweb.services.grading.writer import Writer
from rubricweb.services.runs.budgets import BudgetReservation

# After a refusal: other workers may give back what they reserved.
RETRY_AFTER_SECONDS = 0.5


class Funding:
    """What waits for money, what may be sent, and what is reserved for it.

    `waiting` are questions the budget was not asked about or has no money for, `funded` may be sent.
    """

    def __init__(
        self,
        run: Run,
        judges: Mapping[str, JudgeConfig],
        worker: str,
        writer: Writer,
        now: Callable[[], datetime],
    ) -> None:
        self.waiting: deque[Question] = deque()
        self.funded: deque[Question] = deque()
        self._run = run
        self._judges = judges
        self._budget = BudgetReservation.open(run, worker)
        self._writer = writer
        self._now = now
        self._usd_to_release = 0.0
        self._refused_at: float | None = None

    @property
    def refusal(self) -> str:
        """Why the budget said no the last time, in a sentence."""
        return self._budget.refusal

    @property
    def is_used_up(self) -> bool:
        """Whether questions wait for money that will not come back by itself."""
        return bool(self.waiting) and self._budget.final

    def reserve(self) -> None:
        """Moves from `waiting` to `funded` what the budget allows; asks the database.

        After a refusal it is tried again once an answer came here, for what it left over, and else every half
        second.
        """
        if not self.waiting:
            return
        if self._refused_at is not None and time.monotonic() - self._refused_at < RETRY_AFTER_SECONDS:
            return
        self.release()
        now = self._now()
        while self.waiting:
            question = self.waiting[0]
            key = key_of(question)
            if self._budget.capped and key.expected_usd is None:
                expected = self._budget.expected_cost(self._judges[key.judge], question.prompt)
                if not self._budget.reserve(expected, now):
                    self._refused_at = time.monotonic()
                    return
                key.expected_usd = expected
                question = replace(question, set_aside_usd=expected)
            self.funded.append(question)
            self.waiting.popleft()
        self._refused_at = None

    def book_as_sent(self, questions: Sequence[Question]) -> None:
        """Writes down what these may cost at most, before they are sent; asks the database."""
        most_usd = {
            key_of(one): self._budget.most_cost(self._judges[key_of(one).judge], one.prompt)
            for one in questions
        }
        self._writer.book_at_risk(most_usd, self._now())

    def answered(self, replies: Iterator[Reply]) -> None:
        """Nothing is reserved for these any more, and what they cost is what the next ones may."""
        for reply in replies:
            key = key_of(reply)
            self._budget.released(key.expected_usd)
            if not reply.is_known:
                self._budget.observe_cost(self._judges[key.judge], reply.cost_usd, reply.completion_tokens)
        self._refused_at = None

    def not_sent(self, questions: Sequence[Question]) -> None:
        """Nothing is reserved for these any more, and nothing was spent."""
        for question in questions:
            key = key_of(question)
            self._budget.released(key.expected_usd)
            self._usd_to_release += key.expected_usd or 0.0
            key.expected_usd = None
            self._writer.not_sent(key)

    def withdrawn(self, questions: Sequence[Question]) -> None:
        """These were not sent, and are paid for anew before all others: prices or caps have changed."""
        self.not_sent(questions)
        self.waiting.extendleft(reversed(questions))
        self._usd_to_release += self._budget.release_unused()

    def use_caps(self, budget_usd: float | None, monthly_budget_usd: float | None) -> bool:
        """Goes by these caps of the run and of its team's month from now on; whether they are new.

        If so, what waits to be sent is to be withdrawn: the former caps had let it pass.
        """
        run = self._run
        if (run.budget_usd, run.team.monthly_budget_usd) == (budget_usd, monthly_budget_usd):
            return False
        run.budget_usd, run.team.monthly_budget_usd = budget_usd, monthly_budget_usd
        self._usd_to_release += self._budget.release_unused()
        self._refused_at = None
        return True

    def clear(self) -> list[Question]:
        """Takes out all that was not sent yet."""
        questions = [*self.waiting, *self.funded]
        self.waiting.clear()
        self.funded.clear()
        return questions

    def release(self) -> None:
        """Gives back money that is not needed any more; asks the database."""
        self._writer.write_risks()
        if self._usd_to_release:
            self._writer.release(self._usd_to_release, self._now())
            self._usd_to_release = 0.0

    def close(self) -> None:
        """Gives everything back; what has no answer yet counts as lost. Asks the database."""
        self.release()
        self._writer.book_unanswered_as_lost()
        self._budget.close()
